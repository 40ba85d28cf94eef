// The Kronecker product nearest to an operator.
#include "mat/impls/tt/impl.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/round.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

using Vector = std::vector<Scalar>;

// Divides v by its 2-norm, which is returned; 0 leaves v as it is.
Real normalise(Vector &v)
{
  Real largest = 0, sum = 0;
  for (Scalar a : v) largest = std::max(largest, petsctt::abs(a));
  if (!(largest > 0) || !is_finite(largest)) return largest;
  for (Scalar &a : v) {
    a /= largest;
    sum += abs2(a);
  }
  const Real norm = std::sqrt(sum);
  for (Scalar &a : v) a /= norm;
  return largest * norm;
}

// One contraction of the small train X (cores s0 x m x s1) with a unit vector u on a mode: from the left l(s0) gives (s1), from
// the right r(s1) gives (s0). Normalised, the norm goes into `scale`.
void contract_left(const Core &G, const Vector &u, Vector &l, Scaled &scale)
{
  Vector next((std::size_t)G.r1, 0);
  for (Int j = 0; j < G.r1; j++)
    for (Int b = 0; b < G.n; b++)
      for (Int i = 0; i < G.r0; i++) next[j] += l[i] * G(i, b, j) * conj(u[b]);
  scale *= Scaled(Scalar(normalise(next)));
  l.swap(next);
}

void contract_right(const Core &G, const Vector &u, Vector &r, Scaled &scale)
{
  Vector next((std::size_t)G.r0, 0);
  for (Int j = 0; j < G.r1; j++)
    for (Int b = 0; b < G.n; b++)
      for (Int i = 0; i < G.r0; i++) next[i] += r[j] * G(i, b, j) * conj(u[b]);
  scale *= Scaled(Scalar(normalise(next)));
  r.swap(next);
}

// Alternating least squares for X ~ sigma u_0 (x) ... (x) u_{d-1} with unit vectors: with the others fixed, the best sigma u_k is the
// contraction of X with the conjugates of the others. Sweeps until |sigma| grows by less than 1e-12 of itself, 200 at most: it never
// falls, so every sweep is an improvement. Vectors of modes with fixed[k] stay. Replicated, no messages. Cost per sweep: the entries of X.
struct Alternating {
  const Train             &X;
  const std::vector<bool> &fixed;
  std::vector<Vector>      u;
  Scaled                   sigma; // of modulus |sigma|; its phase is in it when no mode is free to take it

  // Sets u_k to what is best for the environments l, r (unit vectors with the given scales); sigma accordingly.
  void update(Int k, const Vector &l, const Vector &r, const Scaled &scale)
  {
    const Core &G = X.core(k);
    Vector      v((std::size_t)G.n, 0);
    for (Int j = 0; j < G.r1; j++)
      for (Int b = 0; b < G.n; b++)
        for (Int i = 0; i < G.r0; i++) v[b] += l[i] * G(i, b, j) * r[j];
    if (fixed[k]) {
      Scalar s = 0;
      for (Int b = 0; b < G.n; b++) s += v[b] * conj(u[k][b]);
      sigma = scale * Scaled(s);
      return;
    }
    const Real norm = normalise(v);
    sigma           = scale * Scaled(Scalar(norm));
    if (norm > 0) u[k] = v;
  }

  void sweep()
  {
    const Int           d = X.d();
    std::vector<Vector> right((std::size_t)d, Vector(1, 1));
    std::vector<Scaled> scale((std::size_t)d, Scaled(Scalar(1)));
    for (Int k = d - 1; k > 0; k--) {
      right[k - 1] = right[k];
      scale[k - 1] = scale[k];
      contract_right(X.core(k), u[k], right[k - 1], scale[k - 1]);
    }
    Vector left(1, 1);
    Scaled before = X.scale();
    for (Int k = 0; k < d; k++) {
      update(k, left, right[k], before * scale[k]);
      contract_left(X.core(k), u[k], left, before);
    }
  }

  void run()
  {
    Scaled last;
    for (int s = 0; s < 200; s++) {
      sweep();
      if (sigma.is_zero() || !sigma.finite()) break;
      const Real gain = 1 - (s ? petsctt::abs((last / sigma).value()) : 0);
      last            = sigma;
      if (gain < 1e-12) break;
    }
  }
};

// A start: the product of the means, in which a sum of one-mode terms has its largest part.
PetscErrorCode identity_start(const MatTT &t, const CoefficientTrain &c, std::vector<Vector> &u)
{
  Vector w;

  PetscFunctionBegin;
  u.assign((std::size_t)t.space->d(), {});
  for (Int k = 0; k < t.space->d(); k++) {
    const Int m = c.m[k];
    // the Frobenius inner product of basis matrix b with I / sqrt(N) is sqrt(N) times the mean of its diagonal
    PetscCall(factor_weights(t, k, -1, w));
    u[k].assign((std::size_t)m, 0);
    for (std::size_t q = 0; q < c.list[k].size(); q++) {
      const Int f = c.list[k][q];
      for (Int b = 0; b < m; b++) u[k][b] += c.inverse[k][b + m * q] * w[factor_place(t, k, f)] * PetscSqrtReal((PetscReal)t.space->N(k));
    }
    // X is contracted with conj(u): that of <Q_b, I> conjugated once more
    for (Scalar &a : u[k]) a = conj(a);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A start: the rank-one truncation of X. A fixed mode keeps its vector.
void truncation_start(const Train &X, const std::vector<bool> &fixed, std::vector<Vector> &u)
{
  Train        one = X;
  RoundOptions o;
  o.type     = RoundType::qr;
  o.rtol     = 0;
  o.max_rank = 1;
  round(one, o);
  if (one.is_zero()) return;
  for (Int k = 0; k < X.d(); k++) {
    if (fixed[k]) continue;
    const Core &G = one.core(k);
    u[k].assign(G.data(), G.data() + G.n);
    if (normalise(u[k]) == 0) u[k].assign((std::size_t)G.n, 1 / std::sqrt((Real)G.n));
  }
}

// The better result of both starts, from the first process to all.
PetscErrorCode best_product(const MatTT &t, const CoefficientTrain &c, const std::vector<bool> &fixed, std::vector<Vector> &u, Scaled &sigma)
{
  std::vector<Vector> mean;

  PetscFunctionBegin;
  PetscCall(identity_start(t, c, mean));
  PetscCallTT({
    Alternating first{c.train, fixed, mean, Scaled()};
    for (Int k = 0; k < t.space->d(); k++) // a mean of zero is no direction to start from
      if (!fixed[k] && !(normalise(first.u[k]) > 0)) first.u[k].assign(mean[k].size(), 1 / std::sqrt((Real)mean[k].size()));
    Alternating second = first;
    truncation_start(c.train, fixed, second.u);
    first.run();
    second.run();
    Alternating &best = abs_less(first.sigma, second.sigma) ? second : first;
    Vector       all;
    for (const Vector &v : best.u) all.insert(all.end(), v.begin(), v.end());
    Scalar mantissa = best.sigma.mantissa();
    Int    exponent = (Int)best.sigma.exponent2();
    t.space->comm().bcast(all.data(), (Count)all.size());
    t.space->comm().bcast(&mantissa, 1);
    t.space->comm().bcast(&exponent, 1);
    sigma = Scaled(mantissa, exponent);
    u     = best.u;
    auto from = all.begin();
    for (Vector &v : u) {
      std::copy(from, from + v.size(), v.begin());
      from += v.size();
    }
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

// |s|^(1/m) of a number that need not fit one.
Scalar root(const Scaled &s, Int m) { return std::pow((Real)10, s.log10_abs() / (Real)m); }

} // namespace
} // namespace petsctt

/*@
  MatTTGetNearestKronecker - The Kronecker product M_0 (x) ... (x) M_{d-1} nearest to the operator in the Frobenius norm

  Collective

  Input Parameters:
+ A        - a `MATTT`
- identity - for each mode whether M_k is to be the identity there; `NULL`: nowhere

  Output Parameters:
+ M     - d new `MATAIJ`, those of identities `NULL`: with the layout of the mode on all processes, or on `PETSC_COMM_SELF` (the same everywhere) for a
          replicated mode; the caller destroys them
- error - ||A - M_0 (x) ... (x) M_{d-1}|| / ||A|| in the Frobenius norm, or `NULL`

  Level: intermediate

  Notes:
  Each M_k is in the span of the factors of its mode and has the union of their nonzero patterns, and the diagonal. Found by alternating least squares
  over the modes from two starts, the product of the means and the truncation of the operator to block ranks one; the better result is
  taken. It is exact for a single Kronecker product and, up to round-off, for two modes (where it is the truncated singular value decomposition of the rearranged
  operator); for more modes it is a stationary point that none of the modes alone can improve, not provably the nearest of all.

  The scale is shared: every M_k that is not an identity has the same ratio of its Frobenius norm to that of the identity of its size.

  The work is that of `MatTTCompress()`, inner products of the factors of each mode, and does not depend on the product of the modes. Factors known by
  their action only are expanded, up to 20,000 rows.

  At least one mode must not be an identity.

.seealso: `MATTT`, `PCTTKRON`, `PCTTKronSetNearest()`, `MatTTGetProjectedMode()`, `MatTTCompress()`
@*/
PetscErrorCode MatTTGetNearestKronecker(Mat A, const PetscBool identity[], Mat M[], PetscReal *error)
{
  using namespace petsctt;
  CoefficientTrain    c;
  std::vector<Vector> u;
  Scaled              sigma, total;

  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT      &t    = data_of(A);
  const Int         d    = t.space->d();
  MPI_Comm          comm = PetscObjectComm((PetscObject)A);
  std::vector<bool> fixed((std::size_t)d, false);
  if (identity) {
    PetscCall(same_everywhere(comm, identity, sizeof(PetscBool) * (std::size_t)d, "Modes with an identity"));
    for (Int k = 0; k < d; k++) fixed[k] = identity[k];
  }
  const Int m = (Int)std::count(fixed.begin(), fixed.end(), false);
  PetscCheck(m > 0, comm, PETSC_ERR_ARG_WRONG, "All %lld modes are to be identities: nothing is left to find", (long long)d);
  PetscCall(coefficient_train(A, c));
  if (!c.train.is_zero()) {
    PetscCall(best_product(t, c, fixed, u, sigma));
    PetscCallTT(total = norm(c.train));
  }
  if (error) {
    // the difference is orthogonal to the product
    const Real part = sigma.is_zero() ? 0 : petsctt::abs((sigma / total).value());
    *error          = c.train.is_zero() ? 0 : PetscSqrtReal(PetscMax((1 - part) * (1 + part), 0));
  }
  // ||A||_F / ||I||_F of what the free modes have to share; the fixed ones contribute I with its norm sqrt(N)
  Scaled share = sigma;
  for (Int k = 0; k < d; k++) share = share * Scaled(Scalar(1 / PetscSqrtReal((PetscReal)t.space->N(k))));
  const Scalar size = sigma.is_zero() ? Scalar(0) : root(share, m), phase = sigma.is_zero() ? Scalar(0) : sigma.mantissa() / petsctt::abs(sigma.mantissa());
  bool         first = true;
  for (Int k = 0; k < d; k++) {
    M[k] = NULL;
    if (fixed[k]) continue;
    Vector       coefficient(factor_places(t, k), 0);
    const Scalar s = size * PetscSqrtReal((PetscReal)t.space->N(k)) * (first ? phase : Scalar(1));
    first          = false;
    for (std::size_t q = 0; q < c.list[k].size() && !sigma.is_zero(); q++) {
      const Int f   = c.list[k][q];
      Scalar    sum = 0;
      for (Int b = 0; b < c.m[k]; b++) sum += u[k][b] * c.inverse[k][b + c.m[k] * q];
      coefficient[factor_place(t, k, f)] += s * sum;
    }
    PetscCall(factor_sum(t, k, coefficient, &M[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
