// Application of PCTTKRON: the solver of each active mode on all columns of its core.
#include "pc/impls/ttkron/ttkron.hpp"

#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "tt/ops/fill.hpp"
#include "vec/vectt.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

constexpr Count tile = 64; // rows; a tile of a slice stays in the first-level cache

// The columns (a,b), c0 <= a + r0 b < c1, of a core r0 x n x r1 with entry (a,i,b) at a + r0 (i + n b), to and from the columns of
// B, n x (c1-c0), column-major. Calls f(entry of the core, entry of B).
template <class F> void for_columns(Count r0, Count n, Count c0, Count c1, F f)
{
  for (Count b = c0 / r0; b * r0 < c1; b++) {
    const Count a0 = std::max(c0 - b * r0, Count(0)), a1 = std::min(c1 - b * r0, r0);
    for (Count i0 = 0; i0 < n; i0 += tile) {
      const Count i1 = std::min(i0 + tile, n);
      for (Count a = a0; a < a1; a++) {
        for (Count i = i0; i < i1; i++) f(a + r0 * (i + n * b), i + n * (a + r0 * b - c0));
      }
    }
  }
}

void grow(Buffer &buffer, Count n)
{
  if ((Count)buffer.size() < n) buffer = Buffer((std::size_t)n);
}

// What went wrong in the solves of one mode on this process.
struct Outcome {
  PCFailedReason     failure = PC_NOERROR;
  KSPConvergedReason reason  = KSP_CONVERGED_ITERATING;
};

PetscErrorCode note_outcome(KSP ksp, Outcome *outcome)
{
  PC                 pc;
  PCFailedReason     failure;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetFailedReason(pc, &failure));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason >= 0 || reason == KSP_DIVERGED_ITS) PetscFunctionReturn(PETSC_SUCCESS);
  outcome->reason = reason;
  if (failure != PC_NOERROR) outcome->failure = failure;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// X := M^{-1} B, both n x columns, by the block solver of the KSP. No copies: B and X wrap the arrays.
PetscErrorCode solve_block(KronMode &mode, Int n, Int columns, const Scalar *B, Scalar *X, Outcome *outcome)
{
  MPI_Comm  comm = PetscObjectComm((PetscObject)mode.ksp);
  PetscInt  N;
  MatHandle b, x;

  PetscFunctionBegin;
  PetscCall(MatGetSize(mode.M, &N, NULL));
  PetscCall(MatCreateDense(comm, n, PETSC_DECIDE, N, columns, const_cast<Scalar *>(B), b.out()));
  PetscCall(MatCreateDense(comm, n, PETSC_DECIDE, N, columns, X, x.out()));
  PetscCall(MatAssemblyBegin(b, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(b, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPMatSolve(mode.ksp, b, x));
  PetscCall(note_outcome(mode.ksp, outcome));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same column by column, for solvers without a block form and for transposes. No column is left out after a failure: the
// processes of a replicated mode, each on its own, and those of a distributed one must do the same solves.
PetscErrorCode solve_columns(KronMode &mode, bool transpose, Int n, Int columns, const Scalar *B, Scalar *X, Outcome *outcome)
{
  PetscFunctionBegin;
  if (!mode.b) {
    MPI_Comm    comm = PetscObjectComm((PetscObject)mode.ksp);
    PetscMPIInt size;
    PetscInt    N;
    PetscCall(MatGetSize(mode.M, &N, NULL));
    PetscCallMPI(MPI_Comm_size(comm, &size));
    for (Vec *v : {&mode.b, &mode.x}) {
      if (size == 1) PetscCall(VecCreateSeqWithArray(comm, 1, N, NULL, v));
      else PetscCall(VecCreateMPIWithArray(comm, 1, n, N, NULL, v));
    }
  }
  for (Int c = 0; c < columns; c++) {
    PetscCall(VecPlaceArray(mode.b, B + (Count)n * c));
    PetscCall(VecPlaceArray(mode.x, X + (Count)n * c));
    if (transpose) PetscCall(KSPSolveTranspose(mode.ksp, mode.b, mode.x));
    else PetscCall(KSPSolve(mode.ksp, mode.b, mode.x));
    PetscCall(note_outcome(mode.ksp, outcome));
    PetscCall(VecResetArray(mode.b));
    PetscCall(VecResetArray(mode.x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// out := (I (x) M^{-1} (x) I) in, by blocks of columns. Collective on the communicator of the mode's solver.
// Words moved on this process: none when r0 = 1, otherwise every entry twice.
PetscErrorCode solve_core(Kron &kron, Int k, bool transpose, const Core &in, Core &out, Outcome *outcome)
{
  KronMode    &mode  = kron.modes[k];
  const Count  total = (Count)in.r0 * in.r1;
  PetscBool    guess, hypre;
  PetscInt     N;
  PC           inner;

  PetscFunctionBegin;
  // The block form of BoomerAMG ends with an error of hypre (seen with PETSc 3.22.5 and hypre 2.32).
  PetscCall(KSPGetPC(mode.ksp, &inner));
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCHYPRE, &hypre));
  const bool block = !transpose && !hypre && mode.ksp->ops->matsolve;
  PetscCall(KSPGetInitialGuessNonzero(mode.ksp, &guess));
  if (guess) std::fill(out.data(), out.data() + out.count(), Scalar(0)); // zero, not what the memory held before
  PetscCall(MatGetSize(mode.M, &N, NULL));
  const Count columns = std::min<Count>(kron_columns(kron, N), total);
  if (in.r0 > 1) {
    PetscCallTT(grow(kron.in, columns * in.n); grow(kron.out, columns * in.n));
  }
  for (Count c0 = 0; c0 < total; c0 += columns) {
    const Count   c1 = std::min(c0 + columns, total);
    const Scalar *B  = in.data() + (Count)in.n * c0;
    Scalar       *X  = out.data() + (Count)in.n * c0;
    if (in.r0 > 1) {
      Scalar *packed = kron.in.data();
      for_columns(in.r0, in.n, c0, c1, [&](Count core, Count entry) { packed[entry] = in.data()[core]; });
      B = packed;
      X = kron.out.data();
      if (guess) std::fill(X, X + in.n * (c1 - c0), Scalar(0));
    }
    if (block) PetscCall(solve_block(mode, in.n, (Int)(c1 - c0), B, X, outcome));
    else PetscCall(solve_columns(mode, transpose, in.n, (Int)(c1 - c0), B, X, outcome));
    if (in.r0 > 1) for_columns(in.r0, in.n, c0, c1, [&](Count core, Count entry) { out.data()[core] = X[entry]; });
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Is there a NaN or Inf in the core on any process?
PetscErrorCode spoilt(MPI_Comm comm, const Core &core, bool *bad)
{
  int any;

  PetscFunctionBegin;
  any = !std::all_of(core.data(), core.data() + core.count(), [](Scalar a) { return is_finite(a); });
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, comm));
  *bad = any;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_nan(Vec y)
{
  PetscFunctionBegin;
  PetscCallTT(Train t = constant(space_of(y), Scalar(1)); t.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN()))); PetscCall(set_train(y, std::move(t))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_vectors(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, "input of PCTTKRON"));
  PetscCall(require_vectt(y, "output of PCTTKRON"));
  PetscCallTT(require_same_space(*space_of(x), *space_of(y), "input and output of PCTTKRON"));
  if (kron_space(pc)) PetscCallTT(require_same_space(*kron_space(pc), *space_of(x), "operator and vectors of PCTTKRON"));
  if (!kron_of(pc).inverse) PetscCall(kron_check_matrices(pc, space_of(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

Int kron_columns(const Kron &kron, Int N)
{
  const Int limit = (Int)std::max<Count>(1, std::numeric_limits<std::int32_t>::max() / std::max<Count>(N, 1));
  return kron.block > 0 ? std::min(kron.block, limit) : limit;
}

PetscErrorCode kron_apply(PC pc, bool transpose, Vec x, Vec y)
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  PetscCall(kron_refresh(pc));
  PetscCall(check_vectors(pc, x, y));
  const Train &in = train_of(x);
  if (kron.failed || !in.scale().finite()) {
    PetscCall(set_nan(y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (in.is_zero()) {
    PetscCallTT(PetscCall(set_train(y, Train(in.space()))));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kron.inverse) {
    PetscCall(kron_apply_exponentials(pc, transpose, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSetFailedReason(pc, PC_NOERROR)); // of an earlier application
  Train out;
  PetscCallTT(out = Train(in.space()));
  for (Int k = 0; k < in.d(); k++) {
    if (!std::binary_search(kron.active.begin(), kron.active.end(), k)) {
      PetscCallTT(out.set_core(k, in.core(k)));
      continue;
    }
    Outcome outcome;
    Core    solved;
    bool    failed, bad = false;
    PetscCallTT(solved = Core(in.core(k).r0, in.core(k).n, in.core(k).r1));
    PetscCall(solve_core(kron, k, transpose, in.core(k), solved, &outcome));
    // a solver that gives up on NaN or Inf has not failed: they pass through, and the KSP says what they are
    int trouble = outcome.failure != PC_NOERROR || outcome.reason < 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &trouble, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
    if (trouble) {
      PetscCall(spoilt(PetscObjectComm((PetscObject)pc), in.core(k), &bad));
      if (!bad) PetscCall(kron_agree(pc, k, outcome.failure, outcome.reason, "a solve", &failed));
      PetscCall(set_nan(y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCallTT(out.set_core(k, std::move(solved)));
  }
  PetscCallTT(out.set_scale(in.scale() * kron.factor));
  // what set_core took away: the cores before the first active mode and after the last are those of x
  out.set_orthogonal(std::min(in.left(), kron.active.front()), std::min(in.right(), in.d() - 1 - kron.active.back()));
  PetscCallTT(PetscCall(set_train(y, std::move(out))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
