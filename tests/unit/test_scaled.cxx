#include "dense.hpp"
#include "tt/scaled.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

TEST(Scaled, RoundTripIsExact)
{
  for (double v : {1., -1., 0.1, 3e200, -7e-250, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324}) {
    const Scaled s{Scalar(v)};
    EXPECT_EQ(s.value(), Scalar(v));
    EXPECT_GE(petsctt::abs(s.mantissa()), 1);
    EXPECT_LT(petsctt::abs(s.mantissa()), 2);
  }
  EXPECT_TRUE(Scaled(Scalar(0)).is_zero());
  EXPECT_EQ(Scaled(Scalar(0)).exponent2(), 0);
  EXPECT_EQ(Scaled().value(), Scalar(0));
}

TEST(Scaled, ArithmeticBeyondTheRange)
{
  const Scaled a(Scalar(3), 4000), b(Scalar(-5), -9000);
  EXPECT_EQ((a * b).mantissa(), Scalar(-15. / 8));
  EXPECT_EQ((a * b).exponent2(), -4997);
  EXPECT_EQ((a * b / a).value_or_inf(), b.value_or_inf());
  EXPECT_EQ((a / b * b).mantissa(), a.mantissa());
  EXPECT_EQ((a + b).mantissa(), a.mantissa()); // b is far below the last digit
  EXPECT_EQ((b + a).exponent2(), a.exponent2());
  EXPECT_TRUE((a + -a).is_zero());
  EXPECT_NEAR((double)a.log10_abs(), std::log10(3.) + 4000 * std::log10(2.), 1e-10);
  EXPECT_EQ(Scaled(Scalar(4), 4001).sqrt().exponent2(), 2001);
  const Scaled r = Scaled(Scalar(3), -4001).sqrt();
  EXPECT_NEAR((double)real((r * r / Scaled(Scalar(3), -4001)).value()), 1, 4 * macheps);
  EXPECT_EQ(a.times_pow2(-4000).value(), Scalar(3));
  EXPECT_TRUE(Scaled().times_pow2(5).is_zero());
}

TEST(Scaled, PlainValueThatDoesNotFit)
{
  const Scaled big(Scalar(1), 4000);
  EXPECT_ERROR((void)big.value(), PETSC_ERR_FP);
  try {
    (void)big.value();
  } catch (const Error &e) {
    EXPECT_NE(std::string(e.what()).find("1204.1"), std::string::npos) << e.what(); // log10 of 2^4000
  }
  EXPECT_EQ(Scaled(Scalar(1), -4000).value(), Scalar(0));
}

TEST(Scaled, SpecialValuesSpread)
{
  const Real   inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  const Scaled one(Scalar(1));
  EXPECT_FALSE((Scaled(Scalar(nan)) * one).finite());
  EXPECT_FALSE((Scaled(Scalar(nan)) + one).finite());
  EXPECT_FALSE((one + Scaled(Scalar(inf))).finite());
  EXPECT_FALSE((Scaled(Scalar(nan)) * Scaled()).finite()) << "NaN times zero is NaN";
  EXPECT_FALSE((one / Scaled()).finite());
  EXPECT_FALSE(Scaled(Scalar(nan)).is_zero());
}

TEST(Scaled, Comparison)
{
  const Scaled a(Scalar(1.5), 10), b(Scalar(-1.25), 11), zero;
  EXPECT_TRUE(abs_less(a, b));
  EXPECT_FALSE(abs_less(b, a));
  EXPECT_TRUE(abs_less(zero, Scaled(Scalar(1), -100000)));
  EXPECT_FALSE(abs_less(zero, zero));
  EXPECT_TRUE(abs_less(a, Scaled(Scalar(-1.75), 10)));
}

#if defined(PETSC_USE_COMPLEX)
TEST(Scaled, Complex)
{
  const Scalar v(3e-5, -4e200);
  const Scaled s(v);
  EXPECT_EQ(s.value(), v);
  EXPECT_EQ(s.conj().value(), std::conj(v));
  EXPECT_NEAR((double)(real(s.abs().value()) / 4e200), 1, 4 * macheps);
  const Scaled i(Scalar(0, 1));
  EXPECT_EQ((i * i).value(), Scalar(-1));
  const Real tiny = 1e-320;
  EXPECT_EQ(Scaled(Scalar(tiny, tiny)).value(), Scalar(tiny, tiny));
  const Scaled both(Scalar(1.7e308, 1.7e308)); // the modulus overflows, the parts do not
  EXPECT_TRUE(both.finite());
  EXPECT_EQ(both.value(), Scalar(1.7e308, 1.7e308));
}
#endif

TEST(Scaled, ExponentAndLdexp)
{
  EXPECT_EQ(exponent_of(1), 0);
  EXPECT_EQ(exponent_of(0.75), -1);
  EXPECT_EQ(exponent_of(5e-324), -1074);
  EXPECT_EQ(exponent_of(0), 0);
  EXPECT_EQ(exponent_of(std::numeric_limits<Real>::infinity()), 0);
  EXPECT_EQ(petsctt::ldexp(Scalar(3), 2), Scalar(12));
  EXPECT_EQ(petsctt::ldexp(Scalar(1), (std::int64_t)1 << 40), Scalar(std::numeric_limits<Real>::infinity()));
  EXPECT_EQ(petsctt::ldexp(Scalar(1), -((std::int64_t)1 << 40)), Scalar(0));
}
