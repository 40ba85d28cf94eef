#include "tt/scaled.hpp"

#include "base/error.hpp"

#include <limits>

namespace petsctt {

std::int64_t exponent_of(Real a)
{
  if (a == 0 || !std::isfinite(a)) return 0;
  return std::ilogb(a);
}

static Real ldexp_real(Real m, std::int64_t k)
{
  // ldexp takes an int; beyond +-100000 every double has long become 0 or Inf
  return std::ldexp(m, (int)std::max<std::int64_t>(-100000, std::min<std::int64_t>(100000, k)));
}

Scalar ldexp(Scalar m, std::int64_t k)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(ldexp_real(std::real(m), k), ldexp_real(std::imag(m), k));
#else
  return ldexp_real(m, k);
#endif
}

void Scaled::normalize()
{
  if (!is_finite(m_)) { // NaN and Inf carry no exponent
    e_ = 0;
    return;
  }
  if (m_ == Scalar(0)) {
    e_ = 0;
    return;
  }
  // The larger part decides first, so that |m| itself cannot over- or underflow; then the modulus is brought into [1,2).
#if defined(PETSC_USE_COMPLEX)
  std::int64_t k = exponent_of(std::max(std::abs(std::real(m_)), std::abs(std::imag(m_))));
  m_             = ldexp(m_, -k);
  e_ += k;
#endif
  const std::int64_t l = exponent_of(petsctt::abs(m_));
  m_                   = ldexp(m_, -l);
  e_ += l;
}

Scalar Scaled::value_or_inf() const { return ldexp(m_, e_); }

Scalar Scaled::value() const
{
  const Scalar v = value_or_inf();
  if (finite() && !is_finite(v))
    fail(PETSC_ERR_FP, "Value of modulus 10^%.6f does not fit a PetscScalar: use the logarithmic form", (double)log10_abs());
  return v;
}

Real Scaled::log10_abs() const
{
  if (is_zero()) return -std::numeric_limits<Real>::infinity();
  return std::log10(petsctt::abs(m_)) + (Real)e_ * std::log10((Real)2);
}

Scaled Scaled::sqrt() const
{
  if (is_zero() || !finite()) return *this;
  const std::int64_t odd = e_ & 1; // two's complement: right for negative exponents too
  return Scaled(std::sqrt(ldexp(m_, odd)), (e_ - odd) / 2);
}

Scaled &Scaled::operator*=(const Scaled &b)
{
  m_ *= b.m_;
  e_ += b.e_;
  normalize();
  return *this;
}

Scaled &Scaled::operator+=(const Scaled &b)
{
  if (b.is_zero()) return *this;
  if (is_zero()) return *this = b;
  if (!finite() || !b.finite()) {
    m_ += b.m_;
    normalize();
    return *this;
  }
  const std::int64_t top = std::max(e_, b.e_);
  m_                     = ldexp(m_, e_ - top) + ldexp(b.m_, b.e_ - top);
  e_                     = top;
  normalize();
  return *this;
}

Scaled operator*(Scaled a, const Scaled &b) { return a *= b; }
Scaled operator+(Scaled a, const Scaled &b) { return a += b; }
Scaled operator-(const Scaled &a) { return Scaled(-a.mantissa(), a.exponent2()); }
Scaled operator/(const Scaled &a, const Scaled &b) { return Scaled(a.mantissa() / b.mantissa(), a.exponent2() - b.exponent2()); }

bool abs_less(const Scaled &a, const Scaled &b)
{
  if (b.is_zero()) return false;
  if (a.is_zero()) return true;
  if (a.exponent2() != b.exponent2()) return a.exponent2() < b.exponent2();
  return petsctt::abs(a.mantissa()) < petsctt::abs(b.mantissa());
}

} // namespace petsctt
