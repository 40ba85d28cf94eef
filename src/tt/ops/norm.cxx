#include "base/blas.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/sweep.hpp"
#include "tt/ops/two_sweeps.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Norm of a core of mode k over all processes, scaled by its largest local norm so that squares stay in range.
Scaled core_norm(const Space &space, Int k, const Core &c)
{
  const Comm &comm  = space.comm();
  const Real  local = nrm2(c.count(), c.data());
  if (space.replicated(k)) return Scaled(Scalar(local));
  // NaN does not survive a maximum reliably: it is sent through as Inf and comes back as NaN from Inf - Inf
  Real top = std::isnan(local) ? std::numeric_limits<Real>::infinity() : local;
  comm.max(&top, 1);
  if (top == 0) return Scaled();
  if (!is_finite(top)) return Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN()));
  const std::int64_t e = exponent_of(top);
  Scalar             s = abs2(ldexp(Scalar(local), -e));
  comm.sum(&s, 1);
  return Scaled(std::sqrt(s), e);
}

} // namespace

Scaled norm(const Train &x)
{
  if (x.is_zero()) return Scaled();
  if (!x.scale().finite()) return Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN()));
  // Without anything known from the left, the first sweep of rounding does it.
  if (x.d() > 1 && x.left() == 0 && x.right() < x.d() - 1) {
    const PlainTrain lazy(x);
    return norm_of_sum(x.space(), {{Scaled(Scalar(1)), &lazy}});
  }
  // The triangle of each unfolding goes into the next core; Q does not matter for the norm and is never made. Cores that are
  // orthogonal on either side do not matter at all.
  const Space &space = *x.space();
  const Int    first = std::min(x.left(), x.d() - 1), last = std::max(first, x.d() - 1 - x.right());
  Core         c;     // what is left of the cores up to k
  std::int64_t e = 0; // exponent taken out of it
  for (Int k = first; k < last; ++k) {
    if (k == first) c = x.core(k);
    e += bring_into_range(space, k, c);
    Tsqr        f(space.comm(), Tsqr::Shape::tall, long_sizes(space, k, c.r0), (Count)c.r0 * c.n, c.r1, c.data());
    const Count p = f.p(), r = c.r1;
    Buffer      message((std::size_t)(p * r + 1));
    if (f.at_root()) {
      std::copy(f.triangle().data(), f.triangle().data() + p * r, message.data());
      message[p * r] = (Real)take_exponent(message.data(), p * r);
    }
    if (f.distributed()) space.comm().bcast(message.data(), p * r + 1);
    e += (std::int64_t)real(message[p * r]);
    const Core &right = x.core(k + 1);
    Core        next((Int)p, right.n, right.r1);
    gemm('N', 'N', p, (Count)right.n * right.r1, r, 1, message.data(), p, right.data(), r, 0, next.data(), p);
    c = std::move(next);
  }
  return core_norm(space, last, first < last ? c : x.core(last)).times_pow2(e) * x.scale().abs();
}

} // namespace petsctt
