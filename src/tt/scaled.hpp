#ifndef PETSCTT_TT_SCALED_HPP
#define PETSCTT_TT_SCALED_HPP

#include "base/numbers.hpp"

namespace petsctt {

// A number m * 2^e with 1 <= |m| < 2 (or m = 0, e = 0): norms and dots of trains, whose plain values overflow for a few
// hundred modes. Scaling by powers of two is exact, so keeping the scale apart never changes an answer.
// NaN and Inf live in m and spread as they do in floating-point arithmetic.
class Scaled {
public:
  Scaled() = default;
  Scaled(Scalar value) : m_(value) { normalize(); }
  Scaled(Scalar mantissa, std::int64_t exponent2) : m_(mantissa), e_(exponent2) { normalize(); }

  Scalar       mantissa() const { return m_; }
  std::int64_t exponent2() const { return e_; }
  bool         is_zero() const { return m_ == Scalar(0); }
  bool         finite() const { return is_finite(m_); }

  Scalar value() const;      // throws PETSC_ERR_FP naming log10 of the modulus when it does not fit; underflows to 0
  Scalar value_or_inf() const;
  Real   log10_abs() const;  // -Inf for zero
  Scaled abs() const { return Scaled(petsctt::abs(m_), e_); }
  Scaled conj() const { return Scaled(petsctt::conj(m_), e_); }
  Scaled sqrt() const;       // principal root
  Scaled times_pow2(std::int64_t k) const { return is_zero() ? *this : Scaled(m_, e_ + k); }

  Scaled &operator*=(const Scaled &b);
  Scaled &operator+=(const Scaled &b);

private:
  void         normalize();
  Scalar       m_ = 0;
  std::int64_t e_ = 0;
};

Scaled operator*(Scaled a, const Scaled &b);
Scaled operator+(Scaled a, const Scaled &b);
Scaled operator-(const Scaled &a);
Scaled operator/(const Scaled &a, const Scaled &b);
bool   abs_less(const Scaled &a, const Scaled &b); // |a| < |b|

// m times 2^k, exact unless it leaves the range.
Scalar ldexp(Scalar m, std::int64_t k);
// The exponent e with 2^e <= |a| < 2^(e+1); 0 for a = 0, NaN, Inf.
std::int64_t exponent_of(Real a);

} // namespace petsctt

#endif
