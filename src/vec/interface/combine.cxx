// Many linear combinations of the same vectors.
#include "sys/log.hpp"
#include "tt/ops/random_sum.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace petsctt;

namespace {

// The terms c_i x_i of one combination, the large ones. Those left out are so small that their norms add up to less than `budget`.
std::vector<Term> large_terms(PetscInt m, const PetscScalar c[], const Vec x[], const std::vector<Real> &norms, Real budget, std::vector<TrainSketch> &sketches)
{
  std::vector<PetscInt> order(m);
  std::vector<char>     dropped(m, 0);
  std::vector<Term>     terms;

  std::iota(order.begin(), order.end(), 0);
  const auto size = [&](PetscInt i) { return petsctt::abs(c[i]) * norms[i]; };
  std::stable_sort(order.begin(), order.end(), [&](PetscInt i, PetscInt j) { return size(i) < size(j); });
  Real sum = 0;
  for (PetscInt i : order) {
    sum += size(i);
    if (!(sum <= budget)) break; // NaN is never left out
    dropped[i] = 1;
  }
  for (PetscInt i = 0; i < m; ++i)
    if (!dropped[i]) terms.push_back({Scaled(c[i]), &train_of(x[i]), nullptr, &sketches[i]});
  return terms;
}

// out := the sum, rounded with y's policy but for the tolerance, which is the absolute one.
RoundInfo sum_up(Vec y, std::vector<Term> terms, Real atol, Train &out)
{
  RoundInfo info;
  terms.erase(std::remove_if(terms.begin(), terms.end(), [](const Term &t) { return t.coefficient.is_zero() || t.train->is_zero(); }), terms.end());
  if (terms.size() <= 1) { // exact
    out = terms.empty() ? Train(space_of(y)) : *terms[0].train;
    if (!terms.empty()) out.set_scale(out.scale() * terms[0].coefficient);
    info.rank_in = info.rank_out = out.max_rank();
    return info;
  }
  RoundOptions o = round_options(y);
  o.rtol         = 0;
  o.atol         = Scaled(Scalar(atol));
  info   = round_sum(space_of(y), terms, o, out);
  // rounding leaves rank one at least; what cancels to less than the tolerance is nothing but round-off
  if (info.norm.finite() && !abs_less(o.atol, info.norm.abs())) out = Train(space_of(y));
  return info;
}

} // namespace

/*@
  VecTTCombine - Computes y_j = beta y_j + sum_i C(i,j) x_i for many j, each sum rounded once

  Collective

  Input Parameters:
+ n    - number of results
. y    - the vectors that take the results
. beta - their factor; they are not read when it is zero
. m    - number of terms
. C    - coefficients, m x n, first index fastest, columns `ldc` apart; the same on all processes
. ldc  - at least m
. x    - the terms
- rtol - tolerance, or `PETSC_DEFAULT` for that of the rounding policy of each y_j

  Level: advanced

  Notes:
  All vectors are of type `VECTT` with the same modes. Some of the y_j may be among the x_i (but no vector twice among the y_j): all sums are computed
  before the first of them is stored, so V <- V C is done in place.

  The Frobenius error of y_j is at most about rtol s_j with s_j^2 = |beta|^2 ||y_j||^2 + sum_i |C(i,j)|^2 ||x_i||^2, which is ||y_j||^2 for orthonormal
  terms. It is relative to what is added up, not to the result: where terms cancel, digits that the terms did not have are not kept either, and a
  result below the tolerance is zero. Terms whose norms add up to less than a tenth of the tolerance are left out.

  The sums are not formed. With -vec_tt_round_type randomized or auto the random contractions of the x_i with a sketch are made
  once and serve all sums. -vec_tt_max_rank holds. A sum of one term is not rounded.

.seealso: `VECTT`, `VecMAXPY()`, `VecTTSetRoundRtol()`, `VecTTRound()`, `BVMult()`, `BVMultInPlace()`
@*/
PetscErrorCode VecTTCombine(PetscInt n, Vec y[], PetscScalar beta, PetscInt m, const PetscScalar C[], PetscInt ldc, const Vec x[], PetscReal rtol)
{
  PetscReal norm;

  PetscFunctionBegin;
  PetscCheck(n >= 0 && m >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "VecTTCombine: %" PetscInt_FMT " results and %" PetscInt_FMT " terms", n, m);
  if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(y && (m == 0 || (C && x)), PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "VecTTCombine: an array is missing");
  PetscCheck(ldc >= m, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "VecTTCombine: columns of coefficients are %" PetscInt_FMT " apart, but have %" PetscInt_FMT " entries", ldc, m);
  PetscCheck(rtol < 1 && !PetscIsNanReal(rtol), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "VecTTCombine: the tolerance %g is not smaller than 1", (double)rtol);
  for (PetscInt j = 0; j < n; ++j) {
    PetscCall(require_same(y[0], y[j], "VecTTCombine"));
    for (PetscInt i = 0; i < j; ++i)
      PetscCheck(y[i] != y[j], PetscObjectComm((PetscObject)y[j]), PETSC_ERR_ARG_IDN, "VecTTCombine: results %" PetscInt_FMT " and %" PetscInt_FMT " are the same vector", i, j);
  }
  for (PetscInt i = 0; i < m; ++i) PetscCall(require_same(y[0], x[i], "VecTTCombine"));

  std::vector<Real>        norms, y_norms(n, 0);
  std::vector<TrainSketch> sketches, y_sketches(1);
  std::vector<Train>       results;
  std::vector<RoundInfo>   infos;
  PetscCallTT({
    norms.resize(m);
    sketches.resize(m);
    results.resize(n);
    infos.resize(n);
  });
  for (PetscInt i = 0; i < m; ++i) {
    PetscCall(VecNorm(x[i], NORM_2, &norm));
    norms[i] = norm;
  }
  for (PetscInt j = 0; j < n && beta != PetscScalar(0); ++j) {
    PetscCall(VecNorm(y[j], NORM_2, &norm));
    y_norms[j] = PetscAbsScalar(beta) * norm;
  }
  {
    LogScope log(events().round, (PetscObject)y[0]);
    PetscCallTT(for (PetscInt j = 0; j < n; ++j) {
      const PetscScalar *c    = C + (std::size_t)ldc * j;
      Real               size = y_norms[j];
      for (PetscInt i = 0; i < m; ++i) size = std::hypot(size, petsctt::abs(c[i]) * norms[i]);
      const Real        tolerance = (rtol >= 0 ? rtol : round_options(y[j]).rtol) * size;
      std::vector<Term> terms     = large_terms(m, c, x, norms, 0.1 * tolerance, sketches);
      // the same train twice is one term
      PetscScalar own = beta;
      for (auto t = terms.begin(); t != terms.end();) {
        if (t->train == &train_of(y[j]) && beta != PetscScalar(0)) {
          own += t->coefficient.value();
          t = terms.erase(t);
        } else ++t;
      }
      if (beta != PetscScalar(0)) terms.push_back({Scaled(own), &train_of(y[j])});
      infos[j] = sum_up(y[j], std::move(terms), 0.9 * tolerance, results[j]);
    });
  }
  for (PetscInt j = 0; j < n; ++j) {
    PetscCall(set_train(y[j], std::move(results[j])));
    PetscCall(record_rounding(y[j], infos[j]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
