#include "tt/ops/round.hpp"

#include "tt/blas.hpp"
#include "tt/error.hpp"
#include "tt/ops/budget.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/orthogonalize.hpp"
#include "tt/ops/random_sum.hpp"
#include "tt/ops/sweep.hpp"
#include "tt/ops/two_sweeps.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

struct Cut {
  Int    t;         // TT rank kept; 0: not finite, -1: all zero, -2: the SVD did not converge
  Real   tail2;     // squared relative error of this truncation
  bool   cap_hit;
  Buffer basis;     // p x t (to the right) or t x p (to the left): what Q is multiplied by
  Buffer carry;     // t x n or n x t: goes into the neighbour
  std::int64_t e;   // exponent taken out of carry
};

// Singular value decomposition of the triangle and the choice of the rank: on one process.
Cut choose(const Buffer &triangle, Count p, Count n, bool to_right, Real allowed2, Int max_rank)
{
  Cut         c{};
  const Count rows = to_right ? p : n, cols = to_right ? n : p, q = std::min(p, n);
  for (Count i = 0; i < p * n; ++i)
    if (!is_finite(triangle[i])) return c;
  Buffer a(triangle);
  c.e = take_exponent(a.data(), p * n);
  std::vector<Real> s(q);
  Buffer            U((std::size_t)rows * q), VT((std::size_t)q * cols);
  if (!gesvd(rows, cols, a.data(), rows, s.data(), U.data(), VT.data())) {
    c.t = -2;
    return c;
  }
  if (!(s[0] > 0)) {
    c.t = -1;
    return c;
  }
  c.t = kept(s, allowed2, &c.tail2);
  if (max_rank > 0 && c.t > max_rank) {
    c.t       = max_rank;
    c.cap_hit = true;
    Real total2 = 0, tail2 = 0;
    for (Int i = (Int)q; i-- > 0;) {
      total2 += s[i] * s[i];
      if (i >= c.t) tail2 += s[i] * s[i];
    }
    c.tail2 = tail2 / total2;
  }
  const Count t = c.t;
  c.basis       = Buffer((std::size_t)p * t);
  c.carry       = Buffer((std::size_t)n * t);
  if (to_right) { // A = U S V^H: Q U_t stays, S V^H goes on
    std::copy(U.data(), U.data() + p * t, c.basis.data());
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < t; ++i) c.carry[i + j * t] = s[i] * VT[i + j * q];
  } else { // V^H Q stays, U S goes on
    for (Count j = 0; j < p; ++j)
      for (Count i = 0; i < t; ++i) c.basis[i + j * t] = VT[i + j * q];
    for (Count j = 0; j < t; ++j)
      for (Count i = 0; i < n; ++i) c.carry[i + j * n] = s[j] * U[i + j * n];
  }
  return c;
}

// Hands the decision of process 0 to all: header (rank, error, exponent, cap), carry, and the basis where every process needs it.
void share(const Comm &comm, Cut &c, Count p, Count n, bool with_basis)
{
  Scalar head[4] = {(Real)c.t, c.tail2, (Real)c.e, (Real)c.cap_hit};
  comm.bcast(head, 4);
  c.t       = (Int)std::lround(real(head[0]));
  c.tail2   = real(head[1]);
  c.e       = (std::int64_t)std::llround(real(head[2]));
  c.cap_hit = real(head[3]) != 0;
  if (c.t <= 0) return;
  if (comm.rank() != 0) c.carry = Buffer((std::size_t)n * c.t);
  comm.bcast(c.carry.data(), n * (Count)c.t);
  if (!with_basis) return;
  if (comm.rank() != 0) c.basis = Buffer((std::size_t)p * c.t);
  comm.bcast(c.basis.data(), p * (Count)c.t);
}

void make_nan(Train &x)
{
  x.set_zero();
  x.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
}

// One truncation: core k, orthogonal on its other side, is compressed towards its neighbour. False when the sweep is over
// because the train turned out to be zero or not finite.
bool truncate(Train &x, Int k, bool to_right, Budget &budget, Int max_rank, bool *cap_hit)
{
  const Space       &space = *x.space();
  Core              &core  = x.core_rw(k);
  const Count        m = (Count)core.n * (to_right ? core.r0 : core.r1), n = to_right ? core.r1 : core.r0;
  Tsqr               f(space.comm(), to_right ? Tsqr::Shape::tall : Tsqr::Shape::wide, long_sizes(space, k, to_right ? core.r0 : core.r1), m, n, core.data());
  const Count        p = f.p();
  Cut                c{};
  if (space.comm().rank() == 0) c = choose(f.triangle(), p, n, to_right, budget.next(), max_rank);
  share(space.comm(), c, p, n, !f.distributed());
  PETSCTT_REQUIRE(c.t != -2, PETSC_ERR_CONV_FAILED, "The singular value decomposition of a %lld x %lld factor at core %lld did not converge", (long long)p, (long long)n, (long long)k);
  if (c.t <= 0) {
    if (c.t == 0) make_nan(x);
    else x.set_zero();
    return false;
  }
  (c.cap_hit ? budget.cap2 : budget.used2) += c.tail2 * (1 - budget.used2 - budget.cap2);
  --budget.steps;
  *cap_hit = *cap_hit || c.cap_hit;
  Core q(to_right ? core.r0 : c.t, core.n, to_right ? c.t : core.r1);
  f.apply(c.basis.data(), c.t, q.data());
  core = std::move(q);
  multiply_core(x.core_rw(to_right ? k + 1 : k - 1), to_right, c.carry.data(), c.t);
  x.set_scale(x.scale().times_pow2(c.e));
  return true;
}

} // namespace

RoundInfo round(Train &x, const RoundOptions &o)
{
  PETSCTT_REQUIRE(o.rtol >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rounding tolerance %g must not be negative", (double)o.rtol);
  PETSCTT_REQUIRE(o.max_rank >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rank cap %lld must not be negative (0: none)", (long long)o.max_rank);
  const Int       d    = x.d();
  const RoundType type = o.type == RoundType::automatic ? choose_round_type(x, o) : o.type;
  if (o.type == RoundType::randomized) { // a single train is not randomised unless asked for: its sweeps are cheaper
    const PlainTrain lazy(x);
    Train            out(x.space());
    RoundInfo        r = randomized_round_sum(x.space(), {{Scaled(Scalar(1)), &lazy}}, o, out);
    x                  = std::move(out);
    return r;
  }
  if (d > 1 && x.left() <= x.right()) { // otherwise the sweep to the left alone is left to do, or the shorter way
    const PlainTrain lazy(x);
    Train            out(x.space());
    const RoundType  method = type == RoundType::gram ? RoundType::gram : RoundType::qr;
    RoundInfo        r      = two_sweeps(x.space(), {{Scaled(Scalar(1)), &lazy}}, o, method, out);
    x                       = std::move(out);
    return r;
  }
  RoundInfo info;
  info.type    = RoundType::qr;
  info.rank_in = x.max_rank();
  if (!x.scale().finite()) make_nan(x);
  else if (!x.is_zero()) {
    // The truncating sweep starts from the side that costs no or the shorter orthogonalisation.
    const bool to_right = x.right() >= x.left();
    const Int  first    = to_right ? 0 : d - 1;
    orthogonalize(x, first);
    x.set_scale(x.scale().times_pow2(bring_into_range(*x.space(), first, x.core_rw(first))));
    x.set_orthogonal(first, d - 1 - first);
    Budget budget;
    Real   rtol = o.rtol;
    if (!o.atol.is_zero()) {
      const Scaled norm_x = norm(x);
      if (!norm_x.is_zero() && norm_x.finite()) rtol = std::max(rtol, std::min<Real>(1, real((o.atol / norm_x).value_or_inf())));
    }
    budget.eps2  = rtol * rtol;
    budget.steps = d - 1;
    bool alive   = true;
    for (Int j = 0; alive && j < d - 1; ++j) alive = truncate(x, to_right ? j : d - 1 - j, to_right, budget, o.max_rank, &info.cap_hit);
    if (alive) x.set_orthogonal(to_right ? d - 1 : 0, to_right ? 0 : d - 1);
    info.error = std::sqrt(budget.used2 + budget.cap2);
    info.cap_hit = info.cap_hit && budget.used2 + budget.cap2 > budget.eps2; // a cap that bit without harm is none
  }
  info.rank_out = x.max_rank();
  info.norm     = norm(x);
  if (!info.norm.finite() && x.scale().finite()) make_nan(x); // a single core is never factored
  else if (info.norm.is_zero() && !x.is_zero()) x.set_zero();
  return info;
}

} // namespace petsctt
