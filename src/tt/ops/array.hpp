#ifndef PETSCTT_TT_OPS_ARRAY_HPP
#define PETSCTT_TT_OPS_ARRAY_HPP

#include "tt/scaled.hpp"

#include <limits>

namespace petsctt {

// Largest modulus of a real or imaginary part; Inf when an entry is Inf or NaN (so that MPI_MAX, which does not know NaN,
// may be applied to it).
inline Real max_part(const Scalar *a, Count n)
{
  Real m  = 0;
  bool ok = true;
  for (Count i = 0; i < n; ++i) {
#if defined(PETSC_USE_COMPLEX)
    const Real t = std::max(std::abs(std::real(a[i])), std::abs(std::imag(a[i])));
    ok           = ok && is_finite(a[i]); // std::max above drops a NaN
#else
    const Real t = std::abs(a[i]);
    ok           = ok && t <= std::numeric_limits<Real>::max();
#endif
    if (t > m) m = t;
  }
  return ok ? m : std::numeric_limits<Real>::infinity();
}

// a := a 2^k, exact within the range.
inline void scale_pow2(Scalar *a, Count n, std::int64_t k)
{
  if (k == 0) return;
  if (k > -1000 && k < 1000) {
    const Real f = std::ldexp((Real)1, (int)k);
    for (Count i = 0; i < n; ++i) a[i] *= f;
  } else {
    for (Count i = 0; i < n; ++i) a[i] = ldexp(a[i], k);
  }
}

// Divides by the power of two that brings the largest part into [1,2) and returns its exponent. Arrays that are zero or
// hold NaN or Inf stay as they are, exponent 0. Replicated arrays give the same exponent everywhere.
inline std::int64_t normalize(Scalar *a, Count n)
{
  const std::int64_t e = exponent_of(max_part(a, n));
  scale_pow2(a, n, -e);
  return e;
}

// a := s a as plain numbers. `top` is max_part of the whole array, the same on all processes: when the largest entry leaves the
// range, every process throws PETSC_ERR_FP.
inline void multiply(Scalar *a, Count n, const Scaled &s, Real top)
{
  (void)(s * Scaled(Scalar(top))).value();
  const Scalar m = s.mantissa();
  for (Count i = 0; i < n; ++i) a[i] *= m;
  scale_pow2(a, n, s.exponent2());
}

} // namespace petsctt

#endif
