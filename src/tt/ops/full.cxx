#include "tt/ops/full.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/fill.hpp"
#include "tt/ops/gather.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace petsctt {

Buffer to_full(const Train &x, double limit)
{
  const Space &space = *x.space();
  PETSCTT_REQUIRE(space.full_size() <= limit, PETSC_ERR_SUP, "The full tensor %s has 10^%.3f entries; the limit is %g", space.describe().c_str(),
                  (double)space.log10_full_size(), limit);
  Count  rows = 1;
  Buffer F(1); // rows x r_k: all that modes 0..k-1 give
  F[0] = 1;
  Scaled scale = x.scale();
  for (Int k = 0; k < x.d(); ++k) {
    const Count  r0 = x.r(k), r1 = x.r(k + 1), N = space.N(k);
    const Buffer C = gather_core(x, k);
    Buffer       next((std::size_t)(rows * N * r1));
    gemm('N', 'N', rows, N * r1, r0, 1, F.data(), rows, C.data(), r0, 0, next.data(), rows);
    rows *= N;
    F     = std::move(next);
    scale = scale.times_pow2(normalize(F.data(), (Count)F.size()));
  }
  multiply(F.data(), rows, scale, max_part(F.data(), rows));
  return F;
}

namespace {

enum class Outcome { ok, zero, nan, no_convergence, no_memory, failed };

// What process 0 makes of the array: whole cores r_{k-1} x N_k x r_k and the figures that go with them.
struct Decomposition {
  Outcome             outcome = Outcome::ok;
  std::vector<Int>    ranks;
  std::vector<Buffer> cores;
  std::int64_t        e       = 0; // value = 2^e cores
  Real                error   = 0; // relative
  bool                cap_hit = false;
};

// Smallest number of singular values, at least one, whose tail stays below `allowed` (squared); the tail comes back squared.
Count keep(const std::vector<Real> &s, Real allowed, Real *tail)
{
  Count t = (Count)s.size();
  *tail   = 0;
  while (t > 1 && *tail + s[t - 1] * s[t - 1] <= allowed) {
    *tail += s[t - 1] * s[t - 1];
    --t;
  }
  return t;
}

// The errors of the successive projections are orthogonal to each other: their squares add up exactly, and what an early mode
// leaves of its share a later one may use.
void tt_svd(const Space &space, Buffer A, const RoundOptions &o, Decomposition &out)
{
  const Int   d    = space.d();
  const Count size = (Count)A.size();
  if (!is_finite(max_part(A.data(), size))) {
    out.outcome = Outcome::nan;
    return;
  }
  out.e           = normalize(A.data(), size);
  const Real norm = nrm2(size, A.data());
  if (norm == 0) {
    out.outcome = Outcome::zero;
    return;
  }
  Real rtol = o.rtol;
  if (!o.atol.is_zero()) rtol = std::max(rtol, std::min<Real>(1, real((o.atol.abs() / Scaled(Scalar(norm), out.e)).value_or_inf())));
  const Real budget = rtol * norm * rtol * norm;
  Real       used   = 0, capped = 0; // what the cap forces must not make the other truncations keep everything
  Count      r0 = 1, rest = size;
  out.ranks.assign(1, 1);
  for (Int k = 0; k < d - 1; ++k) {
    rest /= space.N(k);
    const Count       m = r0 * space.N(k), p = std::min(m, rest);
    std::vector<Real> s(p);
    Buffer            U((std::size_t)(m * p)), VT((std::size_t)(p * rest));
    if (!gesvd(m, rest, A.data(), m, s.data(), U.data(), VT.data())) {
      out.outcome = Outcome::no_convergence;
      return;
    }
    Real  tail;
    Count r1 = keep(s, std::max<Real>(0, budget - used) / (d - 1 - k), &tail);
    if (o.max_rank > 0 && r1 > o.max_rank) {
      for (; r1 > o.max_rank; --r1) tail += s[r1 - 1] * s[r1 - 1];
      capped += tail;
    } else {
      used += tail;
    }
    Buffer core((std::size_t)(m * r1));
    std::copy(U.data(), U.data() + m * r1, core.data());
    A = Buffer((std::size_t)(r1 * rest)); // diag(s) V^H goes on
    for (Count j = 0; j < rest; ++j)
      for (Count a = 0; a < r1; ++a) A[a + r1 * j] = s[a] * VT[a + p * j];
    out.cores.push_back(std::move(core));
    out.ranks.push_back((Int)r1);
    r0 = r1;
  }
  out.cores.push_back(std::move(A));
  out.ranks.push_back(1);
  out.error   = std::sqrt(used + capped) / norm;
  out.cap_hit = capped > 0 && used + capped > budget;
}

// Nothing may leave process 0 alone: the others wait for its outcome.
Decomposition decompose(const Space &space, const Scalar *full, const RoundOptions &o)
{
  Decomposition out;
  try {
    Buffer A((std::size_t)space.full_size());
    std::copy(full, full + A.size(), A.data());
    tt_svd(space, std::move(A), o, out);
  } catch (const std::bad_alloc &) {
    out.outcome = Outcome::no_memory;
  } catch (const Error &) {
    out.outcome = Outcome::failed;
  }
  return out;
}

void share(const Space &space, Decomposition &c)
{
  Scalar head[4] = {(Real)(int)c.outcome, (Real)c.e, c.error, c.cap_hit ? (Real)1 : (Real)0};
  space.comm().bcast(head, 4);
  c.outcome = (Outcome)(int)real(head[0]);
  c.e       = (std::int64_t)real(head[1]);
  c.error   = real(head[2]);
  c.cap_hit = real(head[3]) != 0;
  if (c.outcome != Outcome::ok) return;
  c.ranks.resize(space.d() + 1);
  c.cores.resize(space.d());
  space.comm().bcast(c.ranks.data(), space.d() + 1);
  for (Int k = 0; k < space.d(); ++k) {
    const Count n = (Count)c.ranks[k] * space.N(k) * c.ranks[k + 1];
    if (space.comm().rank() != 0) c.cores[k] = Buffer((std::size_t)n);
    space.comm().bcast(c.cores[k].data(), n);
  }
}

// The local part of a whole core.
Core local_part(const Space &space, Int k, Int r0, Int r1, const Buffer &whole)
{
  Core        C(r0, space.n(k), r1);
  const Count run = (Count)r0 * C.n;
  for (Int b = 0; b < r1; ++b) {
    const Scalar *from = whole.data() + (Count)r0 * (space.start(k) + (Count)space.N(k) * b);
    std::copy(from, from + run, C.data() + run * b);
  }
  return C;
}

void check_options(const Space &space, const RoundOptions &o)
{
  PETSCTT_REQUIRE(o.rtol >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rounding tolerance %g must not be negative", (double)o.rtol);
  PETSCTT_REQUIRE(o.max_rank >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Rank cap %lld must not be negative (0: none)", (long long)o.max_rank);
  PETSCTT_REQUIRE(space.full_size() < 0x1p52, PETSC_ERR_SUP, "The full tensor %s has 10^%.3f entries", space.describe().c_str(),
                  (double)space.log10_full_size());
}

} // namespace

RoundInfo from_full(const SpacePtr &space_ptr, const Scalar *full, const RoundOptions &o, Train &out)
{
  const Space &space = *space_ptr;
  const Int    d     = space.d();
  check_options(space, o);
  Decomposition c;
  if (space.comm().rank() == 0) c = decompose(space, full, o);
  share(space, c);
  PETSCTT_REQUIRE(c.outcome != Outcome::no_memory, PETSC_ERR_MEM, "No memory for the decomposition of the full tensor %s on process 0", space.describe().c_str());
  PETSCTT_REQUIRE(c.outcome != Outcome::no_convergence, PETSC_ERR_CONV_FAILED, "A singular value decomposition of the full tensor %s did not converge",
                  space.describe().c_str());
  PETSCTT_REQUIRE(c.outcome != Outcome::failed, PETSC_ERR_LIB, "An unfolding of the full tensor %s is beyond LAPACK's reach on process 0", space.describe().c_str());

  Train     x(space_ptr);
  RoundInfo info;
  info.type = RoundType::qr;
  // As if rounded from the exact train of the array, whose TT ranks are the smaller sides of its unfoldings.
  const std::vector<Int> largest = clip_ranks(space, std::vector<Int>(d + 1, std::numeric_limits<Int>::max()));
  info.rank_in                   = *std::max_element(largest.begin(), largest.end());
  if (c.outcome == Outcome::nan) {
    x.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
    info.error = std::numeric_limits<Real>::quiet_NaN();
    info.norm  = x.scale();
  } else if (c.outcome == Outcome::ok) {
    for (Int k = 0; k < d; ++k) x.set_core(k, local_part(space, k, c.ranks[k], c.ranks[k + 1], c.cores[k]));
    x.set_scale(Scaled(Scalar(1), c.e));
    x.set_orthogonal(d - 1, 0);
    info.error   = c.error;
    info.cap_hit = c.cap_hit;
    info.norm    = Scaled(Scalar(nrm2((Count)c.cores[d - 1].size(), c.cores[d - 1].data())), c.e);
  }
  info.rank_out = x.max_rank();
  out           = std::move(x);
  return info;
}

} // namespace petsctt
