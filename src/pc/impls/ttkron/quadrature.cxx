#include "pc/impls/ttkron/quadrature.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

const Real pi = std::acos(Real(-1));

// For x in [1, ratio]; the parts of the error meant to be eps/3 each.
ExponentialSum rule(Real ratio, Real eps)
{
  ExponentialSum s;
  const Real     h     = pi * pi / std::log(50 / eps);
  const Real     right = std::log(std::log(3 / eps));
  const Real     left  = std::min(right, std::log(std::cbrt(3 * eps) / ratio));
  const Int      first = (Int)std::floor(left / h), last = (Int)std::ceil(right / h);
  // sums of h e^u and h e^{2u} over all points before the first, by geometric series
  const Real edge = (Real)(first - 1) * h, weight = h * std::exp(edge) / -std::expm1(-h), moment = h * std::exp(2 * edge) / -std::expm1(-2 * h);
  s.weight.push_back(weight);
  s.exponent.push_back(moment / weight);
  for (Int q = first; q <= last; q++) {
    s.weight.push_back(h * std::exp((Real)q * h));
    s.exponent.push_back(std::exp((Real)q * h));
  }
  return s;
}

Real largest_error(const ExponentialSum &s, Real ratio)
{
  const int points = 400;
  Real      worst  = 0;
  for (int i = 0; i < points; i++) {
    const Real x   = std::pow(ratio, (Real)i / (points - 1));
    Real       sum = 0;
    for (std::size_t q = 0; q < s.weight.size(); q++) sum += s.weight[q] * std::exp(-s.exponent[q] * x);
    worst = std::max(worst, std::abs(1 - x * sum));
  }
  return worst;
}

} // namespace

ExponentialSum exponential_sum(Real least, Real largest, Real eps)
{
  PETSCTT_REQUIRE(least > 0 && largest >= least && is_finite(largest), PETSC_ERR_ARG_OUTOFRANGE,
                  "1/x as a sum of exponentials on [%g, %g]: the interval must be positive and finite", (double)least, (double)largest);
  PETSCTT_REQUIRE(eps >= 1e-12 && eps < 1, PETSC_ERR_ARG_OUTOFRANGE, "1/x as a sum of exponentials: the tolerance %g must be in [1e-12, 1)", (double)eps);
  const Real     ratio = largest / least;
  ExponentialSum s;
  Real           inner = eps;
  for (int attempt = 0; attempt < 20; attempt++, inner *= 0.7) {
    s       = rule(ratio, inner);
    s.error = largest_error(s, ratio);
    if (s.error <= eps) break;
  }
  for (Real &w : s.weight) w /= least;
  for (Real &a : s.exponent) a /= least;
  return s;
}

} // namespace petsctt
