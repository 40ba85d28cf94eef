#include "mat/impls/tt/impl.hpp"

#include <algorithm>

namespace petsctt {

PetscErrorCode factor_weights(const MatTT &t, Int k, PetscInt at, std::vector<Scalar> &w)
{
  const Space &space = *t.space;
  const Int    n = space.n(k), start = space.start(k);

  PetscFunctionBegin;
  PetscCallTT(w.assign(t.factors[k].user.size() + 1, 0)); // the last one belongs to the identity
  std::vector<bool>   done(w.size(), false);
  std::vector<Scalar> diagonal((std::size_t)n);
  for (const Entry &e : t.used[k].entries) {
    if (e.f == identity_factor || done[e.f]) continue;
    done[e.f] = true;
    PetscCall(diagonal_of(t.factors[k].ready[e.f], n, diagonal.data()));
    if (at >= 0) w[e.f] = at >= start && at < start + n ? diagonal[at - start] : Scalar(0);
    else
      for (Int i = 0; i < n; i++) w[e.f] += diagonal[i] / (Real)space.N(k);
  }
  if (!space.replicated(k)) PetscCallTT(space.comm().sum(w.data(), (Count)w.size()));
  w.back() = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_sum(const MatTT &t, Int k, const std::vector<Scalar> &c, Mat *M)
{
  const PetscInt n = t.space->n(k), N = t.space->N(k), start = t.space->start(k);
  MatHandle      sum;

  PetscFunctionBegin;
  // The sum starts from an explicit diagonal, so that every solver finds one.
  PetscCall(MatCreate(mode_comm(*t.space, k), sum.out()));
  PetscCall(MatSetSizes(sum, n, n, N, N));
  PetscCall(MatSetType(sum, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(sum, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(sum, 1, NULL, 0, NULL));
  for (PetscInt i = start; i < start + n; i++) PetscCall(MatSetValue(sum, i, i, c.back(), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(sum, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(sum, MAT_FINAL_ASSEMBLY));
  for (std::size_t f = 0; f + 1 < c.size(); f++) {
    if (c[f] == Scalar(0)) continue;
    MatHandle factor;
    PetscCall(as_aij(t.factors[k].ready[f], factor.out()));
    PetscCall(MatAXPY(sum, c[f], factor, DIFFERENT_NONZERO_PATTERN));
  }
  // MatAXPY() with a new pattern leaves a sequential matrix with the function table of the old one: when rows with equal patterns (inodes)
  // are new, its factorisation goes wrong without a word (PETSc 3.18). A copy has the right one.
  if (is_type(sum, MATSEQAIJ)) PetscCall(MatDuplicate(sum, MAT_COPY_VALUES, M));
  else *M = sum.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

Scalar weight(const std::vector<Scalar> &w, Int f)
{
  return f == identity_factor ? w.back() : w[f];
}

} // namespace
} // namespace petsctt

/*@
  MatTTGetProjectedMode - An ordinary matrix of one mode that stands for the operator there: the sum over its Kronecker terms of
  c (prod over j != k of w_j) A_k, with w_j the mean of the diagonal of the term's factor of mode j, or one entry of it

  Collective

  Input Parameters:
+ A   - a `MATTT`
. k   - the mode
- ref - `NULL`, or for each mode the index of the diagonal entry to take (global, 0-based); the mean where it is negative

  Output Parameter:
. M - a new `MATAIJ`: with the layout of the mode on all processes, or on `PETSC_COMM_SELF` (the same everywhere) for a replicated mode

  Level: intermediate

  Notes:
  For A_0 x I x ... + sum_i A_i x ... D_i ... mode 0 gives A_0 + sum_i mean(D_i) A_i: the operator at the mean parameters.
  Computed through the block train by products of a matrix with a vector of its block ranks.

.seealso: `MATTT`, `PCTTKRON`, `MatTTAddTerm()`, `MatTTGetNearestKronecker()`
@*/
PetscErrorCode MatTTGetProjectedMode(Mat A, PetscInt k, const PetscInt ref[], Mat *M)
{
  using namespace petsctt;

  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t    = data_of(A);
  const Int    d    = t.space->d();
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscCheck(k >= 0 && k < d, comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " must be in 0..%lld", k, (long long)d - 1);
  if (ref) {
    for (Int j = 0; j < d; j++)
      PetscCheck(j == k || ref[j] < t.space->N(j), comm, PETSC_ERR_ARG_OUTOFRANGE, "Index %" PetscInt_FMT " of mode %lld must be below its size %lld", ref[j],
                 (long long)j, (long long)t.space->N(j));
    PetscCall(same_everywhere(comm, ref, sizeof(PetscInt) * (std::size_t)d, "Reference indices"));
  }
  // left[s]: the product of the weighted cores before k; right[s]: of those after it
  std::vector<Scalar> left(1, 1), right(1, 1), w, next;
  for (Int j = 0; j < k; j++) {
    PetscCall(factor_weights(t, j, ref ? ref[j] : -1, w));
    next.assign((std::size_t)t.used[j].s1, 0);
    for (const Entry &e : t.used[j].entries) next[e.j] += left[e.i] * e.c * weight(w, e.f);
    left.swap(next);
  }
  for (Int j = d - 1; j > k; j--) {
    PetscCall(factor_weights(t, j, ref ? ref[j] : -1, w));
    next.assign((std::size_t)t.used[j].s0, 0);
    for (const Entry &e : t.used[j].entries) next[e.i] += e.c * weight(w, e.f) * right[e.j];
    right.swap(next);
  }
  std::vector<Scalar> c(t.factors[k].user.size() + 1, 0);
  for (const Entry &e : t.used[k].entries) c[e.f == identity_factor ? c.size() - 1 : (std::size_t)e.f] += left[e.i] * e.c * right[e.j];

  PetscCall(factor_sum(t, k, c, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
