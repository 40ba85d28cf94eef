#include "tt/blas.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/orthogonalize.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Norm of one core over all processes, scaled by its largest local norm so that squares stay in range.
Scaled core_norm(const Train &x, Int k)
{
  const Core &c     = x.core(k);
  const Comm &comm  = x.space()->comm();
  const Real  local = nrm2(c.count(), c.data());
  if (x.space()->replicated(k)) return Scaled(Scalar(local));
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
  if (x.norm_is_one_core()) return core_norm(x, std::min(x.left(), x.d() - 1)) * x.scale().abs();
  Train y(x);
  // towards the side that is orthogonal already
  const Int centre = y.right() > y.left() ? 0 : y.d() - 1;
  orthogonalize(y, centre);
  return y.is_zero() ? Scaled() : core_norm(y, centre) * y.scale().abs();
}

} // namespace petsctt
