#include "mat/impls/tt/impl.hpp"
#include "sys/binary.hpp"

#include <set>

namespace petsctt {

namespace {

std::string join(const std::vector<PetscInt> &numbers)
{
  std::string      s;
  const std::size_t n = numbers.size(), most = 24;
  for (std::size_t k = 0; k < n; k++) {
    if (n > most && k == most - 4) s += ", ...", k = n - 4;
    s += (k ? ", " : "") + std::to_string(numbers[k]);
  }
  return s;
}

PetscErrorCode view_factor(Mat M, PetscViewer viewer, double *nonzeros, double *bytes)
{
  PetscInt    m, n;
  MatInfo     info;
  PetscBool   has;
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(MatGetSize(M, &m, &n));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)M), &size));
  PetscCall(MatHasOperation(M, MATOP_GETINFO, &has));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s %s, %" PetscInt_FMT " x %" PetscInt_FMT " on %d process%s", ((PetscObject)M)->name ? ((PetscObject)M)->name : "factor",
                                   ((PetscObject)M)->type_name, m, n, size, size == 1 ? "" : "es"));
  if (has) {
    PetscCall(MatGetInfo(M, MAT_GLOBAL_SUM, &info));
    *nonzeros += info.nz_used;
    *bytes += info.nz_used * (sizeof(PetscScalar) + sizeof(PetscInt)) + (double)m * sizeof(PetscInt);
    PetscCall(PetscViewerASCIIPrintf(viewer, ", %.0f non-zeros", info.nz_used));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_ascii(Mat A, PetscViewer viewer)
{
  PetscViewerFormat format;

  PetscFunctionBegin;
  MatTT &t = data_of(A);
  if (!t.space) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "modes not set\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(prepare(A));
  const Int             d = t.space->d();
  std::vector<PetscInt> s(1, 1), blocks;
  double                coefficients = 0, nonzeros = 0, bytes = 0;
  for (const BlockCore &core : t.used) {
    std::set<std::pair<Int, Int>> places;
    for (const Entry &e : core.entries) places.insert({e.i, e.j});
    s.push_back(core.s1);
    blocks.push_back((PetscInt)places.size());
    coefficients += (double)core.entries.size();
  }
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(PetscViewerASCIIPrintf(viewer, "modes: %s (r: replicated), 10^%.4g rows\n", t.space->describe().c_str(), (double)t.space->log10_full_size()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "block ranks: %s\n", join(s).c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "non-zero blocks: %s\n", join(blocks).c_str()));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (Int k = 0; k < d; k++) {
    for (const DiagonalCore &v : t.factors[k].diagonals) {
      if (k >= 16 && format != PETSC_VIEWER_ASCII_INFO_DETAIL) continue;
      bytes += (double)t.space->N(k) * (double)v.r0 * (double)v.r1 * (double)sizeof(Scalar);
      PetscCall(PetscViewerASCIIPrintf(viewer, "mode %lld: core %lld x %lld x %lld of a TT vector as diagonals\n", (long long)k, (long long)v.r0, (long long)t.space->N(k),
                                       (long long)v.r1));
    }
    for (std::size_t f = 0; f < t.factors[k].user.size(); f++) {
      if (k < 16 || format == PETSC_VIEWER_ASCII_INFO_DETAIL) {
        PetscCall(PetscViewerASCIIPrintf(viewer, "mode %lld: ", (long long)k));
        PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
        PetscCall(view_factor(t.factors[k].user[f], viewer, &nonzeros, &bytes));
        PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
      }
    }
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  if (d > 16 && format != PETSC_VIEWER_ASCII_INFO_DETAIL)
    PetscCall(PetscViewerASCIIPrintf(viewer, "(factors of modes 16 to %lld: see ::ascii_info_detail)\n", (long long)d - 1));
  PetscCall(PetscViewerASCIIPrintf(viewer, "factors shown: %.0f non-zeros, %.0f bytes; coefficients: %.0f, %.0f bytes\n", nonzeros, bytes, coefficients,
                                   coefficients * (double)sizeof(Entry)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatView_TT(Mat A, PetscViewer viewer)
{
  PetscBool ascii, binary, hdf5;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERHDF5, &hdf5));
  if (binary || hdf5) PetscCall(require_same_processes((PetscObject)A, viewer));
  if (ascii) PetscCall(view_ascii(A, viewer));
  else if (binary) PetscCall(MatView_TT_Binary(A, viewer));
  else if (hdf5) PetscCall(MatView_TT_HDF5(A, viewer));
  else
    SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Viewer of type %s cannot show a MATTT; use ascii, binary or hdf5, or view MatTTGetAssembled()",
            ((PetscObject)viewer)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
