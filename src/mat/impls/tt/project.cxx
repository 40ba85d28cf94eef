#include "mat/impls/tt/impl.hpp"

#include <algorithm>

namespace petsctt {

std::size_t factor_place(const MatTT &t, Int k, Int f)
{
  const std::size_t matrices = t.factors[k].user.size();
  return f >= 0 ? (std::size_t)f : matrices + (f == identity_factor ? 0 : 1 + (std::size_t)diagonal_number(f));
}

std::size_t factor_places(const MatTT &t, Int k)
{
  const auto &d = t.factors[k].diagonals;
  return t.factors[k].user.size() + 1 + (d.empty() ? 0 : (std::size_t)(d.back().first + d.back().r0 * d.back().r1));
}

PetscErrorCode factor_weights(const MatTT &t, Int k, PetscInt at, std::vector<Scalar> &w)
{
  const Space &space = *t.space;
  const Int    n = space.n(k), start = space.start(k);

  PetscFunctionBegin;
  PetscCallTT(w.assign(factor_places(t, k), 0));
  std::vector<bool>   done(w.size(), false);
  std::vector<Scalar> own((std::size_t)n);
  for (const Entry &e : t.used[k].entries) {
    const std::size_t place = factor_place(t, k, e.f);
    if (e.f == identity_factor || done[place]) continue;
    done[place]            = true;
    const Scalar *diagonal = own.data();
    if (is_diagonal_factor(e.f)) diagonal = diagonal_entries(t.factors[k], e.f);
    else PetscCall(diagonal_of(t.factors[k].ready[e.f], n, own.data()));
    if (at >= 0) w[place] = at >= start && at < start + n ? diagonal[at - start] : Scalar(0);
    else
      for (Int i = 0; i < n; i++) w[place] += diagonal[i] / (Real)space.N(k);
  }
  if (!space.replicated(k)) PetscCallTT(space.comm().sum(w.data(), (Count)w.size()));
  w[factor_place(t, k, identity_factor)] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_sum(const MatTT &t, Int k, const std::vector<Scalar> &c, Mat *M)
{
  const PetscInt      n = t.space->n(k), N = t.space->N(k), start = t.space->start(k);
  const std::size_t   matrices = t.factors[k].user.size();
  MatHandle           sum;
  std::vector<Scalar> diagonal; // the identity and the diagonals are one

  PetscFunctionBegin;
  PetscCallTT(diagonal.assign((std::size_t)n, c[matrices]));
  std::vector<bool> done(c.size(), false);
  for (const Entry &e : t.used[k].entries) {
    const std::size_t place = factor_place(t, k, e.f);
    if (!is_diagonal_factor(e.f) || done[place] || c[place] == Scalar(0)) continue;
    done[place] = true;
    const Scalar *d = diagonal_entries(t.factors[k], e.f);
    for (PetscInt i = 0; i < n; i++) diagonal[(std::size_t)i] += c[place] * d[i];
  }
  // The sum starts from an explicit diagonal, so that every solver finds one.
  PetscCall(MatCreate(mode_comm(*t.space, k), sum.out()));
  PetscCall(MatSetSizes(sum, n, n, N, N));
  PetscCall(MatSetType(sum, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(sum, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(sum, 1, NULL, 0, NULL));
  for (PetscInt i = start; i < start + n; i++) PetscCall(MatSetValue(sum, i, i, diagonal[(std::size_t)(i - start)], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(sum, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(sum, MAT_FINAL_ASSEMBLY));
  for (std::size_t f = 0; f < matrices; f++) {
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

  A term diag(v) of `MatTTAddDiagonalVec()` gives the diagonal matrix of the means of v over all other modes, or of the part of v at the reference
  indices.

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
    for (const Entry &e : t.used[j].entries) next[e.j] += left[e.i] * e.c * w[factor_place(t, j, e.f)];
    left.swap(next);
  }
  for (Int j = d - 1; j > k; j--) {
    PetscCall(factor_weights(t, j, ref ? ref[j] : -1, w));
    next.assign((std::size_t)t.used[j].s0, 0);
    for (const Entry &e : t.used[j].entries) next[e.i] += e.c * w[factor_place(t, j, e.f)] * right[e.j];
    right.swap(next);
  }
  std::vector<Scalar> c(factor_places(t, k), 0);
  for (const Entry &e : t.used[k].entries) c[factor_place(t, k, e.f)] += left[e.i] * e.c * right[e.j];

  PetscCall(factor_sum(t, k, c, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}
