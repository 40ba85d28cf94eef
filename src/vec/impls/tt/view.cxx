#include "sys/binary.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>
#include <cmath>

using namespace petsctt;

namespace {

// Long lists are cut in the middle unless everything was asked for.
PetscErrorCode print_list(PetscViewer viewer, const char *name, const std::vector<std::string> &items, bool all)
{
  const std::size_t most = 24, n = items.size();
  std::string       line;

  PetscFunctionBegin;
  for (std::size_t i = 0; i < n; ++i) {
    if (!all && n > most && i == most / 2) {
      line += " ... ";
      i = n - most / 2;
    }
    line += (line.empty() ? "" : " ") + items[i];
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s: ", name));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  for (std::size_t at = 0; at < line.size(); at += 4000) // PetscViewerASCIIPrintf() has a limit
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s", line.substr(at, 4000).c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string describe_mode(const Space &space, Int k)
{
  const Mode &m = space.mode(k);
  std::string s = std::to_string((long long)m.N);
  if (space.comm().size() == 1) return s;
  if (m.replicated) return s + "(replicated)";
  Int least = m.N, most = 0;
  for (int p = 0; p < space.comm().size(); ++p) {
    least = std::min(least, m.local(p));
    most  = std::max(most, m.local(p));
  }
  return s + "(" + std::to_string((long long)least) + (most > least ? "-" + std::to_string((long long)most) : "") + " each)";
}

PetscErrorCode view_storage(Vec v, PetscViewer viewer)
{
  const Train &x      = train_of(v);
  const double word   = sizeof(PetscScalar);
  double       mine   = word * (double)x.local_entries(), all;
  const double log_full = (double)x.space()->log10_full_size() + std::log10(word), log_ratio = log_full - std::log10(word * x.global_entries());

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)v)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "stored: %.6g bytes on process 0, %.6g on all\n", mine, all));
  if (log_ratio < 6 && log_full < 15)
    PetscCall(PetscViewerASCIIPrintf(viewer, "full tensor: %.0f entries, %.6g bytes, %.4g times as much as its TT form\n", (double)x.space()->full_size(), std::pow(10., log_full), std::pow(10., log_ratio)));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "full tensor: 10^%.2f entries, 10^%.2f bytes, 10^%.2f times as much as its TT form\n", (double)x.space()->log10_full_size(), log_full, log_ratio));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_state(Vec v, PetscViewer viewer)
{
  const Train &x = train_of(v);
  const Int    d = x.d();

  PetscFunctionBegin;
  if (x.is_zero()) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "value: zero\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "orthogonality: %" PetscInt_FMT " cores from the left, %" PetscInt_FMT " from the right%s\n", std::min(x.left(), d), std::min(x.right(), d),
                                   x.norm_is_one_core() ? " (the norm is that of one core)" : ""));
  const Scalar m = x.scale().mantissa();
  if (is_complex)
    PetscCall(PetscViewerASCIIPrintf(viewer, "scale: (%g + %gi) * 2^%lld\n", (double)PetscRealPart(m), (double)PetscImaginaryPart(m), (long long)x.scale().exponent2()));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "scale: %g * 2^%lld\n", (double)PetscRealPart(m), (long long)x.scale().exponent2()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_rounding(Vec v, PetscViewer viewer)
{
  const VecTT             &x = impl(v);
  const VecTTRoundingInfo &i = x.info;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "rounding: type %s, rtol %g%s, max rank ", VecTTRoundTypes[to_public(x.policy.type)], (double)effective_rtol(x.policy),
                                   x.policy.shared_rtol ? " (shared)" : x.policy.rtol_set ? "" : " (from that of the solver)"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
  if (x.policy.max_rank) PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT "\n", x.policy.max_rank));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "none\n"));
  PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
  if (i.roundings) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "last rounding: %s, largest TT rank %" PetscInt_FMT " to %" PetscInt_FMT ", relative error %g%s%s, %.3g flops on the first process\n", VecTTRoundTypes[i.type], i.rank_in, i.rank_out,
                                     (double)i.error, i.estimated ? " (estimated)" : "", i.cap_hit ? ", max rank kept the tolerance from being met" : "", (double)i.flops));
    PetscCall(PetscViewerASCIIPrintf(viewer, "roundings: %" PetscInt_FMT " (qr %" PetscInt_FMT ", gram %" PetscInt_FMT ", randomized %" PetscInt_FMT "), of which %" PetscInt_FMT " limited by max rank\n",
                                     i.roundings, i.by_type[0], i.by_type[1], i.by_type[2], i.cap_hits));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "roundings: none so far\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_ascii(Vec v, PetscViewer viewer)
{
  PetscViewerFormat        format;
  std::vector<std::string> modes, ranks;

  PetscFunctionBegin;
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCheck(format == PETSC_VIEWER_DEFAULT || format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL || format == PETSC_VIEWER_ASCII_COMMON,
             PetscObjectComm((PetscObject)v), PETSC_ERR_SUP, "Viewer format %s needs the entries of a TT vector; use ascii_info, ascii_info_detail, or view the result of VecTTGetFull() or VecTTExtract()",
             PetscViewerFormats[format]);
  const bool detail = format == PETSC_VIEWER_ASCII_INFO_DETAIL;
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (!impl(v).space) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "modes: not set\n"));
  } else {
    const Train &x = train_of(v);
    PetscCallTT({
      for (Int k = 0; k < x.d(); ++k) modes.push_back(describe_mode(*x.space(), k));
      for (Int k = 0; k <= x.d(); ++k) ranks.push_back(std::to_string((long long)x.r(k)));
    });
    PetscCall(PetscViewerASCIIPrintf(viewer, "order: %" PetscInt_FMT "\n", x.d()));
    PetscCall(print_list(viewer, "modes", modes, detail));
    PetscCall(print_list(viewer, "TT ranks", ranks, detail));
    PetscCall(view_storage(v, viewer));
    PetscCall(view_state(v, viewer));
    PetscCall(view_rounding(v, viewer));
    if (detail) {
      for (Int k = 0; k < x.d(); ++k)
        PetscCall(PetscViewerASCIIPrintf(viewer, "core %" PetscInt_FMT ": %" PetscInt_FMT " x %s x %" PetscInt_FMT ", %.6g bytes once\n", k, x.r(k), modes[k].c_str(), x.r(k + 1),
                                         (double)sizeof(PetscScalar) * (double)x.r(k) * (double)x.space()->N(k) * (double)x.r(k + 1)));
    }
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode VecView_TT(Vec v, PetscViewer viewer)
{
  PetscBool ascii, binary, hdf5, string;
  Vec       packed;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERHDF5, &hdf5));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (binary || hdf5) PetscCall(require_same_processes((PetscObject)v, viewer));
  if (ascii) PetscCall(view_ascii(v, viewer));
  else if (string) {
    PetscCall(require_vectt(v, "VecView"));
    PetscCall(PetscViewerStringSPrintf(viewer, "TT vector of order %" PetscInt_FMT ", largest TT rank %" PetscInt_FMT, train_of(v).d(), train_of(v).max_rank()));
  } else if (hdf5) {
    PetscCall(require_vectt(v, "VecView"));
    PetscCall(view_hdf5(v, viewer));
  } else if (binary) {
    PetscCall(require_vectt(v, "VecView"));
    PetscCall(pack(v, &packed));
    if (((PetscObject)v)->name) PetscCall(PetscObjectSetName((PetscObject)packed, ((PetscObject)v)->name));
    PetscCall(VecView(packed, viewer));
    PetscCall(VecDestroy(&packed));
  } else
    SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_SUP, "A viewer of type %s needs the entries of a TT vector; view the result of VecTTGetFull() or VecTTExtract()",
            ((PetscObject)viewer)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}
