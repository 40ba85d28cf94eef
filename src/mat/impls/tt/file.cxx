#include "mat/impls/tt/file.hpp"
#include "sys/binary.hpp"

#include <algorithm>
#include <petscviewer.h>

namespace petsctt {

PetscErrorCode describe_operator(Mat A, StoredOperator &h)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t     = data_of(A);
  const Space &space = *t.space;
  PetscCallTT({
    h.d = space.d();
    h.list.resize((std::size_t)h.d);
    h.S.assign(1, 1);
    for (Int k = 0; k < h.d; k++) {
      std::vector<Int> &list = h.list[k];
      for (const Entry &e : t.used[k].entries)
        if (e.f != identity_factor) list.push_back(e.f); // diagonals are written, and come back, as sparse matrices
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      h.N.push_back(space.N(k));
      h.kind.push_back(space.comm().size() == 1 ? 2 : space.replicated(k) ? 1 : 0);
      h.S.push_back(t.used[k].s1);
      h.F.push_back((PetscInt64)list.size());
      h.E.push_back((PetscInt64)t.used[k].entries.size());
    }
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode in_range(MPI_Comm comm, const char *what, const std::vector<PetscInt64> &a, PetscInt64 from, PetscInt64 to)
{
  PetscFunctionBegin;
  for (PetscInt64 v : a)
    PetscCheck(v >= from && v <= to, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file is damaged: %s %lld is not in %lld..%lld", what, (long long)v,
               (long long)from, (long long)to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_operator(MPI_Comm comm, const StoredOperator &h)
{
  PetscFunctionBegin;
  PetscCall(in_range(comm, "mode size", h.N, 1, PETSC_MAX_INT));
  PetscCall(in_range(comm, "storage of a mode", h.kind, 0, 2));
  PetscCall(in_range(comm, "block rank", h.S, 1, 1000000000));
  PetscCall(in_range(comm, "outer block rank", {h.S.front(), h.S.back()}, 1, 1));
  PetscCall(in_range(comm, "number of entries", h.E, 0, 500000000));
  for (Int k = 0; k < h.d; k++) PetscCall(in_range(comm, "number of factors", {h.F[k]}, 0, h.E[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_modes(Mat A, const StoredOperator &h)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  const SpacePtr space = space_of(A);
  if (!space) {
    std::vector<PetscInt> N(h.N.begin(), h.N.end()), n;
    for (PetscInt64 kind : h.kind) n.push_back(kind == 0 ? PETSC_TT_DISTRIBUTED : kind == 1 ? PETSC_TT_REPLICATED : PETSC_TT_AUTO);
    PetscCall(MatTTSetModes(A, h.d, n.data(), N.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(space->d() == h.d, comm, PETSC_ERR_ARG_SIZ, "The MATTT in the file has %lld modes, the matrix %lld", (long long)h.d, (long long)space->d());
  for (Int k = 0; k < h.d; k++)
    PetscCheck(space->N(k) == h.N[k], comm, PETSC_ERR_ARG_SIZ, "Mode %lld of the MATTT in the file has size %lld, that of the matrix %lld", (long long)k,
               (long long)h.N[k], (long long)space->N(k));
  PetscCall(MatZeroEntries_TT(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void entries_of(const BlockCore &core, const std::vector<Int> &list, std::vector<PetscInt64> &where, std::vector<Scalar> &c)
{
  for (const Entry &e : core.entries) {
    const PetscInt64 f = e.f == identity_factor ? -1 : std::lower_bound(list.begin(), list.end(), e.f) - list.begin();
    where.insert(where.end(), {(PetscInt64)e.i, (PetscInt64)e.j, f});
    c.push_back(e.c);
  }
}

PetscErrorCode blocks_of(MPI_Comm comm, const StoredOperator &h, Int k, const std::vector<PetscInt64> &where, const std::vector<Scalar> &c, BlockCore &core)
{
  PetscFunctionBegin;
  core.s0 = (Int)h.S[k];
  core.s1 = (Int)h.S[k + 1];
  for (PetscInt64 p = 0; p < h.E[k]; p++) {
    PetscCall(in_range(comm, "block row", {where[3 * p]}, 0, h.S[k] - 1));
    PetscCall(in_range(comm, "block column", {where[3 * p + 1]}, 0, h.S[k + 1] - 1));
    PetscCall(in_range(comm, "factor number", {where[3 * p + 2]}, -1, h.F[k] - 1));
    PetscCallTT(core.entries.push_back({(Int)where[3 * p], (Int)where[3 * p + 1], (Int)where[3 * p + 2], c[p]}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode take_blocks(Mat A, BlockTrain &&blocks)
{
  PetscFunctionBegin;
  MatTT &t     = data_of(A);
  t.given      = std::move(blocks);
  t.block_form = true;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode share_of(const Space &space, Int k, Mat M, Share &out)
{
  MatHandle  B;
  const Mode mode = space.replicated(k) ? split_evenly(space.N(k), space.comm().size()) : space.mode(k);
  const Int  n    = mode.local(space.comm().rank());

  PetscFunctionBegin;
  out.start = mode.start(space.comm().rank());
  PetscCall(as_aij(M, B.out()));
  for (PetscInt i = out.start; i < out.start + n; i++) {
    PetscInt           m;
    const PetscInt    *ja;
    const PetscScalar *va;
    PetscCall(MatGetRow(B, i, &m, &ja, &va));
    PetscCallTT({
      out.lengths.push_back(m);
      out.columns.insert(out.columns.end(), ja, ja + m);
      out.values.insert(out.values.end(), va, va + m);
    });
    PetscCall(MatRestoreRow(B, i, &m, &ja, &va));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_of_rows(const Space &space, Int k, const PetscInt ia[], const PetscInt ja[], const PetscScalar va[], Mat *M)
{
  const PetscInt N = space.N(k), n = space.n(k);

  PetscFunctionBegin;
  PetscCall(MatCreate(mode_comm(space, k), M));
  PetscCall(MatSetSizes(*M, n, n, N, N));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*M, ia, ja, va));
  PetscCall(MatMPIAIJSetPreallocationCSR(*M, ia, ja, va));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLoad_TT(Mat A, PetscViewer viewer)
{
  PetscBool binary, hdf5;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERHDF5, &hdf5));
  PetscCheck(binary || hdf5, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "A MATTT is loaded from a binary or HDF5 viewer, not one of type %s",
             ((PetscObject)viewer)->type_name);
  PetscCall(require_same_processes((PetscObject)A, viewer));
  if (binary) PetscCall(MatLoad_TT_Binary(A, viewer));
  else PetscCall(MatLoad_TT_HDF5(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
