#include "tt/ops/round.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/budget.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/random_sum.hpp"
#include "tt/ops/sweep.hpp"
#include "tt/ops/sweep_rows.hpp"
#include "tt/ops/two_sweeps.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

constexpr Real eps = std::numeric_limits<Real>::epsilon();

struct Cut {
  Int    t = 0;   // TT rank kept; 0: not finite, -1: all zero, -2: the SVD did not converge
  Real   tail2 = 0; // squared relative error of this truncation
  bool   cap_hit = false;
  Buffer V;       // r0 x t: left singular vectors of the core, r0 x (n r1)
  std::vector<Real> s;
};

// Singular values of core = R^H Q from R, and the choice of the rank, which is at most `points`: on one process.
Cut choose(const Scalar *R, Count n, Count points, Real allowed2, Int max_rank)
{
  Cut c;
  for (Count i = 0; i < n * n; ++i)
    if (!is_finite(R[i])) return c;
  Buffer A((std::size_t)(n * n)), U((std::size_t)(n * n)), VT((std::size_t)(n * n));
  std::copy(R, R + n * n, A.data());
  c.s.resize((std::size_t)n);
  if (!gesvd(n, n, A.data(), n, c.s.data(), U.data(), VT.data())) c.t = -2;
  else if (!(c.s[0] > 0)) c.t = -1;
  if (c.t < 0) return c;
  Real total2 = 0;
  for (Real v : c.s) total2 += v * v;
  c.t = kept(c.s, allowed2, &c.tail2);
  while (c.t > 1 && (c.t > points || c.s[c.t - 1] <= eps * c.s[0])) { // round-off: directions are arbitrary
    c.tail2 += c.s[c.t - 1] * c.s[c.t - 1] / total2;
    --c.t;
  }
  if (max_rank > 0 && c.t > max_rank) {
    c.t       = max_rank;
    c.cap_hit = true;
    c.tail2   = 0;
    for (Int i = (Int)n; i-- > c.t;) c.tail2 += c.s[i] * c.s[i] / total2;
  }
  c.s.resize((std::size_t)c.t);
  c.V = Buffer((std::size_t)(n * c.t));
  for (Int j = 0; j < c.t; ++j)
    for (Count i = 0; i < n; ++i) c.V[i + n * j] = conj(VT[j + n * i]);
  return c;
}

// Hands the decision of process 0 to all.
void share(const Comm &comm, Cut &c, Count n)
{
  Scalar head[3] = {(Real)c.t, c.tail2, (Real)c.cap_hit};
  comm.bcast(head, 3);
  c.t       = (Int)std::lround(real(head[0]));
  c.tail2   = real(head[1]);
  c.cap_hit = real(head[2]) != 0;
  if (c.t <= 0) return;
  Buffer both((std::size_t)(n * c.t + c.t));
  if (comm.rank() == 0) {
    std::copy(c.V.data(), c.V.data() + n * c.t, both.data());
    std::copy(c.s.begin(), c.s.end(), both.data() + n * c.t);
  }
  comm.bcast(both.data(), (Count)both.size());
  c.s.resize((std::size_t)c.t);
  for (Int j = 0; j < c.t; ++j) c.s[j] = real(both[n * c.t + j]);
  c.V = std::move(both);
}

void make_nan(Train &x)
{
  x.set_zero();
  x.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
}

// q := S^-1 V^H core and its Gram matrix H = q q^H over all processes.
Core project(const Space &space, Int k, const Core &core, const Cut &c, Buffer &H)
{
  const Count r0 = core.r0, t = c.t, m = (Count)core.n * core.r1;
  Core        q((Int)t, core.n, core.r1);
  Buffer      M((std::size_t)(r0 * t));
  for (Count j = 0; j < t; ++j)
    for (Count i = 0; i < r0; ++i) M[i + r0 * j] = c.V[i + r0 * j] / c.s[j];
  gemm('C', 'N', t, m, r0, 1, M.data(), r0, core.data(), r0, 0, q.data(), t);
  H = Buffer((std::size_t)(t * t));
  H.fill(0);
  gram_rows(t, m, q.data(), t, 0, H.data(), t);
  if (!space.replicated(k)) space.comm().sum(H.data(), t * t);
  return q;
}

// One truncation of the sweep to the left: core k, right of which all cores are right-orthogonal and left of which left-orthogonal, becomes
// right-orthogonal of TT rank t. From the triangle of its horizontal unfolding, without that one's Q, as in ops/two_sweeps.hpp. False when the
// sweep is over because the train turned out to be zero or not finite.
bool truncate(Train &x, Int k, Budget &budget, Int max_rank, bool *cap_hit)
{
  const Space &space = *x.space();
  Core        &core  = x.core_rw(k);
  const Count  r0    = core.r0;
  RFactor      f(r0);
  add_local_r(CoreRows(core), f);
  if (!space.replicated(k)) f.reduce(space.comm());
  Cut c;
  if (space.comm().rank() == 0) {
    try {
      c = choose(f.R(), r0, (Count)space.N(k) * core.r1, budget.next(), max_rank);
    } catch (...) { // no memory, or sizes beyond LAPACK: the others wait
      c   = Cut();
      c.t = -3;
    }
  }
  share(space.comm(), c, r0);
  PETSCTT_REQUIRE(c.t != -3, PETSC_ERR_LIB, "The triangle with %lld columns at core %lld could not be factored on the first process: no memory, or beyond the range of LAPACK", (long long)r0, (long long)k);
  PETSCTT_REQUIRE(c.t != -2, PETSC_ERR_CONV_FAILED, "The singular value decomposition of a %lld x %lld factor at core %lld did not converge", (long long)r0, (long long)r0, (long long)k);
  if (c.t <= 0) {
    if (c.t == 0) make_nan(x);
    else x.set_zero();
    return false;
  }
  (c.cap_hit ? budget.cap2 : budget.used2) += c.tail2 * (1 - budget.used2 - budget.cap2);
  --budget.steps;
  *cap_hit = *cap_hit || c.cap_hit;
  const Count t = c.t;
  Buffer      H, carry((std::size_t)(r0 * t)); // carry = core q^H
  Core        q   = project(space, k, core, c, H);
  Real        off = 0;
  for (Count j = 0; j < t; ++j) {
    for (Count i = 0; i < r0; ++i) carry[i + r0 * j] = c.V[i + r0 * j] * c.s[j];
    for (Count i = 0; i <= j; ++i) off = std::max(off, petsctt::abs(H[i + t * j] - Scalar(i == j ? 1 : 0)));
  }
  if (!(off <= 0.1) || potrf(t, H.data(), t) != 0) { // nearly dependent: an orthonormal basis by reflectors
    Tsqr g(space.comm(), Tsqr::Shape::wide, long_sizes(space, k, core.r1), (Count)core.n * core.r1, t, q.data());
    Core basis((Int)t, core.n, core.r1);
    g.apply(nullptr, g.p(), basis.data());
    q = std::move(basis);
    gemm('N', 'C', r0, t, (Count)core.n * core.r1, 1, core.data(), r0, q.data(), t, 0, carry.data(), r0);
    if (!space.replicated(k)) space.comm().sum(carry.data(), r0 * t);
  } else if (off > 4 * eps) { // H = F^H F: F^-H q is orthonormal; F is close to the identity, so that its inverse, which is faster, is as accurate
    Buffer inverse((std::size_t)(t * t));
    inverse.fill(0);
    for (Count j = 0; j < t; ++j) inverse[j + t * j] = 1;
    trsm('L', 'U', 'N', 'N', t, t, 1, H.data(), t, inverse.data(), t);
    trmm('L', 'U', 'C', 'N', t, (Count)core.n * core.r1, 1, inverse.data(), t, q.data(), t);
    trmm('R', 'U', 'C', 'N', r0, t, 1, H.data(), t, carry.data(), r0);
  }
  core = std::move(q);
  multiply_core(x.core_rw(k - 1), false, carry.data(), t);
  x.set_scale(x.scale().times_pow2(bring_into_range(space, k - 1, x.core_rw(k - 1))));
  return true;
}

RoundHook hook = nullptr;

} // namespace

void set_round_hook(RoundHook h)
{
  hook = h;
}

RoundScope::RoundScope(RoundType method) : method_(method), flops_(petsctt::flops())
{
  if (hook) hook(method_, true);
}

RoundScope::~RoundScope()
{
  if (hook) hook(method_, false);
}

double RoundScope::flops() const
{
  return petsctt::flops() - flops_;
}

namespace {

RoundInfo round_as_asked(Train &x, const RoundOptions &o)
{
  PETSCTT_REQUIRE(o.rtol >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rounding tolerance %g must not be negative", (double)o.rtol);
  PETSCTT_REQUIRE(o.max_rank >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rank cap %lld must not be negative (0: none)", (long long)o.max_rank);
  const Int       d    = x.d();
  const RoundType type = o.type == RoundType::automatic ? choose_round_type(x, o) : o.type;
  const bool      left = d > 1 && x.left() >= d - 1; // only to be truncated
  if (o.type == RoundType::randomized && !left) { // a single train is not randomised unless asked for: its sweeps are cheaper
    const PlainTrain lazy(x);
    Train            out(x.space());
    RoundInfo        r = randomized_round_sum(x.space(), {{Scaled(Scalar(1)), &lazy}}, o, out);
    x                  = std::move(out);
    return r;
  }
  if (d > 1 && !left) {
    const PlainTrain lazy(x);
    Train            out(x.space());
    const RoundType  method = type == RoundType::gram ? RoundType::gram : RoundType::qr;
    RoundInfo        r      = two_sweeps(x.space(), {{Scaled(Scalar(1)), &lazy}}, o, method, out);
    x                       = std::move(out);
    return r;
  }
  const RoundScope scope(RoundType::qr);
  RoundInfo        info;
  info.type    = RoundType::qr;
  info.rank_in = x.max_rank();
  if (!x.scale().finite()) make_nan(x);
  else if (!x.is_zero()) {
    x.set_scale(x.scale().times_pow2(bring_into_range(*x.space(), d - 1, x.core_rw(d - 1))));
    x.set_orthogonal(d - 1, 0);
    Budget budget;
    Real   rtol = o.rtol;
    if (!o.atol.is_zero()) {
      const Scaled norm_x = norm(x);
      if (!norm_x.is_zero() && norm_x.finite()) rtol = std::max(rtol, std::min<Real>(1, real((o.atol / norm_x).value_or_inf())));
    }
    budget.eps2  = rtol * rtol;
    budget.steps = d - 1;
    bool alive   = true;
    for (Int k = d - 1; alive && k > 0; --k) alive = truncate(x, k, budget, o.max_rank, &info.cap_hit);
    if (alive) x.set_orthogonal(0, d - 1);
    info.error = std::sqrt(budget.used2 + budget.cap2);
    info.cap_hit = info.cap_hit && budget.used2 + budget.cap2 > budget.eps2; // a cap that bit without harm is none
  }
  info.rank_out = x.max_rank();
  info.norm     = norm(x);
  if (!info.norm.finite() && x.scale().finite()) make_nan(x); // a single core is never factored
  else if (info.norm.is_zero() && !x.is_zero()) x.set_zero();
  info.flops = scope.flops();
  return info;
}

} // namespace

RoundInfo round(Train &x, const RoundOptions &o)
{
  RoundInfo info = round_as_asked(x, o);
  complete(x, info);
  return info;
}

void complete(Train &x, RoundInfo &info)
{
  info.rank_in  = std::max<Int>(info.rank_in, 1);
  info.rank_out = x.max_rank();
  if (!info.norm.finite()) info.error = std::numeric_limits<Real>::quiet_NaN();
  settle_scale(x, info.norm);
}

void settle_scale(Train &x, const Scaled &norm)
{
  const Int left = x.left(), right = x.right(), d = x.d(), centre = left >= d - 1 ? d - 1 : 0;
  if (x.is_zero() || norm.is_zero() || !norm.finite() || (centre == 0 && right < d - 1)) return;
  const std::int64_t shift = norm.exponent2() - x.scale().exponent2();
  if (std::abs(shift) < 4) return;
  Core &c = x.core_rw(centre);
  for (Count p = 0; p < c.count(); ++p) c.data()[p] = ldexp(c.data()[p], -shift);
  x.set_scale(x.scale().times_pow2(shift));
  x.set_orthogonal(left, right);
}

} // namespace petsctt
