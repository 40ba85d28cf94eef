#include "dense.hpp"
#include "tt/ops/dot.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

// sum |x| |y|: what the round-off of a dot product is measured against.
static Real magnitude(const Dense &x, const Dense &y)
{
  Real s = 0;
  for (std::size_t l = 0; l < x.a.size(); ++l) s += petsctt::abs(x.a[l]) * petsctt::abs(y.a[l]);
  return s;
}

TEST(Dot, AgainstDense)
{
  const std::vector<Int> N = {5, 3, 6, 2};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    for (const auto &ranks : {std::pair<std::vector<Int>, std::vector<Int>>{{1, 4, 7, 2, 1}, {1, 2, 3, 1, 1}}, {{1, 1, 2, 2, 1}, {1, 5, 9, 2, 1}}}) {
      Train        x = random_train(s, ranks.first, 1), y = random_train(s, ranks.second, 2);
      const Scalar i = is_complex ? std::sqrt(Scalar(-1)) : Scalar(-1);
      x.set_scale(Scaled(Scalar(3) * i));
      y.set_scale(Scaled(Scalar(1) + Scalar(2) * i));
      const Dense X = dense(x), Y = dense(y);
      for (bool conjugate : {true, false}) {
        const Scalar v = dot(x, y, conjugate).value();
        EXPECT_LT(petsctt::abs(v - dense_dot(X, Y, conjugate)), 1e-13 * magnitude(X, Y)) << kinds << conjugate;
        EXPECT_TRUE(replicated_bits(real(v)));
      }
      EXPECT_LT(std::abs(real(dot(x, x).value()) / (X.norm() * X.norm()) - 1), 1e-12);
      EXPECT_LT(std::abs(real(norm(x).value()) / X.norm() - 1), 1e-12);
    }
  }
}

TEST(Dot, ConjugatesTheSecond)
{
  const SpacePtr s = make_space({3, 2}, "d");
  const Scalar   i = is_complex ? std::sqrt(Scalar(-1)) : Scalar(2);
  const Train    x = constant(s, i), y = constant(s, 1);
  EXPECT_LT(petsctt::abs(dot(x, y).value() - Scalar(6) * i), 1e-13);
  EXPECT_LT(petsctt::abs(dot(y, x).value() - Scalar(6) * petsctt::conj(i)), 1e-13);
  EXPECT_LT(petsctt::abs(dot(y, x, false).value() - Scalar(6) * i), 1e-13);
}

// Many at once, with one sum per distributed mode; zeros, infinities and cores far out of range among them.
TEST(Dot, Several)
{
  const SpacePtr s = make_space({5, 3, 6}, "drd");
  const Train    x = random_train(s, {1, 4, 3, 1}, 1);
  Train          a = random_train(s, {1, 2, 6, 1}, 2), tiny = a, huge = a, infinite = a;
  for (Int k : {0, 1}) {
    Core c = tiny.core(k);
    for (Count i = 0; i < (Count)c.r0 * c.n * c.r1; ++i) c.data()[i] *= (Real)1e-300;
    tiny.set_core(k, c);
  }
  huge.set_scale(Scaled(Scalar(1), 5000));
  infinite.set_scale(Scaled(Scalar(std::numeric_limits<Real>::infinity())));
  const Train                zero = constant(s, 0);
  std::vector<const Train *> all  = {&a, &zero, &tiny, &huge, &infinite, &x};
  for (bool conjugate : {true, false}) {
    const Count sent = Comm::counts().messages;
    dots(x, {&a, &x, &huge}, conjugate);
    const Count three = Comm::counts().messages - sent;
    dot(x, a, conjugate);
    EXPECT_EQ(Comm::counts().messages - sent, 2 * three); // as many for one as for three
    const std::vector<Scaled> v = dots(x, all, conjugate);
    ASSERT_EQ(v.size(), all.size());
    EXPECT_TRUE(dots(x, {}, conjugate).empty());
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Scaled w = dot(x, *all[j], conjugate);
      EXPECT_EQ(v[j].finite(), w.finite()) << j;
      if (!w.finite()) continue; // NaN is equal to nothing
      EXPECT_EQ(v[j].mantissa(), w.mantissa()) << j;
      EXPECT_EQ(v[j].exponent2(), w.exponent2()) << j;
    }
    EXPECT_FALSE(v[4].finite());
  }
}

// Blocks of columns and both orders of contraction: ranks beyond one block.
TEST(Dot, LargeRanks)
{
  const SpacePtr s = make_space({300, 9, 300}, "dr");
  const Train    x = random_train(s, {1, 130, 120, 1}, 3), y = random_train(s, {1, 20, 150, 1}, 4);
  // (x, y) by the cores contracted as plain matrices: X_{0}^H Y_0 and so on
  const auto          c0 = whole_core(x, 0), c1 = whole_core(x, 1), c2 = whole_core(x, 2), e0 = whole_core(y, 0), e1 = whole_core(y, 1), e2 = whole_core(y, 2);
  std::vector<Scalar> M(130 * 20, Scalar(0)), W(120 * 150, Scalar(0));
  for (int a = 0; a < 130; ++a)
    for (int b = 0; b < 20; ++b)
      for (int i = 0; i < 300; ++i) M[a + 130 * b] += c0[i + 300 * a] * petsctt::conj(e0[i + 300 * b]);
  for (int i = 0; i < 9; ++i)
    for (int a1 = 0; a1 < 120; ++a1) {
      std::vector<Scalar> t(20, Scalar(0));
      for (int b = 0; b < 20; ++b)
        for (int a = 0; a < 130; ++a) t[b] += M[a + 130 * b] * c1[a + 130 * (i + 9 * a1)];
      for (int b1 = 0; b1 < 150; ++b1)
        for (int b = 0; b < 20; ++b) W[a1 + 120 * b1] += t[b] * petsctt::conj(e1[b + 20 * (i + 9 * b1)]);
    }
  Scalar v = 0;
  for (int a = 0; a < 120; ++a)
    for (int b = 0; b < 150; ++b)
      for (int i = 0; i < 300; ++i) v += W[a + 120 * b] * c2[a + 120 * i] * petsctt::conj(e2[b + 150 * i]);
  const Real scale = real(norm(x).value()) * real(norm(y).value());
  EXPECT_LT(petsctt::abs(dot(x, y).value() - v), 1e-13 * scale);
  EXPECT_LT(petsctt::abs(dot(y, x).value() - petsctt::conj(v)), 1e-13 * scale);
}

TEST(Dot, ReplicatedModesSendNothing)
{
  const SpacePtr   s = make_space({20, 10, 5}, "r");
  const Train      x = random_train(s, {1, 4, 4, 1}, 5), y = random_train(s, {1, 3, 2, 1}, 6);
  const CommCounts before = Comm::counts();
  dot(x, y);
  EXPECT_EQ(Comm::counts().messages, before.messages);
  EXPECT_EQ(Comm::counts().words, before.words);
}

// One sum per distributed mode, however large the ranks.
TEST(Dot, OneReductionPerDistributedMode)
{
  int rounds = 0;
  while ((1 << rounds) < size()) ++rounds;
  const SpacePtr s = make_space({20, 10, 5, 9}, "drdd");
  const Train    x = random_train(s, {1, 4, 4, 3, 1}, 5);
  const Count    before = Comm::counts().messages;
  dot(x, x);
  EXPECT_EQ(Comm::counts().messages - before, 3 * rounds);
}

TEST(Dot, FourHundredModes)
{
  for (const char *kinds : {"d", "r", "dr"}) {
    const Train x = constant(make_space(std::vector<Int>(400, 10), kinds), 1);
    EXPECT_NEAR((double)norm(x).log10_abs(), 200, 1e-11);
    EXPECT_NEAR((double)dot(x, x).log10_abs(), 400, 1e-11);
    EXPECT_ERROR((void)dot(x, x).value(), PETSC_ERR_FP);
  }
  // the same from raw ones, whose partial sums leave the range when no scale is taken out
  const SpacePtr s = make_space(std::vector<Int>(400, 10), "d");
  Train          x(s);
  for (Int k = 0; k < 400; ++k) std::fill(x.core_rw(k).data(), x.core_rw(k).data() + x.core(k).count(), Scalar(1));
  x.set_scale(Scaled(1));
  EXPECT_NEAR((double)norm(x).log10_abs(), 200, 1e-11);
  EXPECT_NEAR((double)dot(x, x).log10_abs(), 400, 1e-11);
}

TEST(Dot, ScalesOfEveryCore)
{
  const std::vector<Int> N = {3, 4, 3};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    const Train    x = random_train(s, {1, 2, 3, 1}, 7), y = random_train(s, {1, 3, 2, 1}, 8);
    const Scalar   reference = dot(x, y).value();
    for (int e : {150, -150, 250, -250, 300, -300}) {
      Train X = x, Y = y;
      for (Int k = 0; k < 3; ++k) {
        const Scalar f = std::pow((Real)10, (Real)(k == 1 ? -e : e)), g = std::pow((Real)10, (Real)e);
        for (Count j = 0; j < X.core(k).count(); ++j) X.core_rw(k).data()[j] *= f;
        for (Count j = 0; j < Y.core(k).count(); ++j) Y.core_rw(k).data()[j] *= g;
      }
      const Scaled v = dot(X, Y), w = dot(X, X), n = norm(X);
      EXPECT_NEAR((double)v.log10_abs(), std::log10(petsctt::abs(reference)) + 4 * e, 1e-9) << kinds << e;
      EXPECT_NEAR((double)w.log10_abs(), (double)dot(x, x).log10_abs() + 2 * e, 1e-9) << kinds << e;
      EXPECT_NEAR((double)n.log10_abs(), (double)norm(x).log10_abs() + e, 1e-9) << kinds << e;
    }
  }
}

TEST(Dot, ZeroAndNaN)
{
  for (const char *kinds : {"d", "r", "l"}) {
    const SpacePtr s = make_space({4, 3, 5}, kinds);
    const Train    zero(s), x = random_train(s, {1, 2, 2, 1}, 9);
    EXPECT_TRUE(dot(zero, x).is_zero());
    EXPECT_TRUE(dot(x, zero).is_zero());
    EXPECT_TRUE(norm(zero).is_zero());
    for (Int k = 0; k < 3; ++k) {
      Train bad = x;
      if (s->start(k) == 0 && s->n(k) > 0) bad.core_rw(k)(0, 0, 0) = std::numeric_limits<Real>::quiet_NaN(); // on one process, or on all if replicated
      else bad.core_rw(k);
      EXPECT_FALSE(dot(bad, x).finite());
      EXPECT_FALSE(dot(x, bad).finite());
      EXPECT_FALSE(norm(bad).finite());
    }
    Train bad = x;
    bad.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
    EXPECT_FALSE(dot(bad, x).finite());
    EXPECT_FALSE(norm(bad).finite());
  }
}

// Orthogonal cores: cores that cancel must not give a norm of sqrt(machine epsilon).
TEST(Dot, NormOfTheNearlyCancelling)
{
  const SpacePtr s = make_space({6, 5, 4}, "d");
  const Train    x = random_train(s, {1, 3, 3, 1}, 10);
  Train          y(s); // (x - (1+1e-10) x) with the ranks of a sum
  for (Int k = 0; k < 3; ++k) {
    const Core &a = x.core(k);
    Core        c(k == 0 ? 1 : 2 * a.r0, a.n, k == 2 ? 1 : 2 * a.r1);
    std::fill(c.data(), c.data() + c.count(), Scalar(0));
    for (Int j = 0; j < 2; ++j)
      for (Int p = 0; p < a.r0; ++p)
        for (Int i = 0; i < a.n; ++i)
          for (Int q = 0; q < a.r1; ++q)
            c((k == 0 ? 0 : j * a.r0) + p, i, (k == 2 ? 0 : j * a.r1) + q) = a(p, i, q) * (k == 0 && j == 1 ? Scalar(-1 - 1e-10) : Scalar(1));
    y.set_core(k, std::move(c));
  }
  y.set_scale(Scaled(1));
  y.check();
  EXPECT_NEAR((double)real((norm(y) / norm(x)).value()), 1e-10, 1e-14);
}

TEST(Dot, DifferentSpaces)
{
  const Train x = constant(make_space({4, 6}, "d"), 1), y = constant(make_space({6, 4}, "d"), 1), z = constant(make_space({24}, "d"), 1);
  EXPECT_ERROR(dot(x, y), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(dot(x, z), PETSC_ERR_ARG_INCOMP);
  if (size() > 1) EXPECT_ERROR(dot(x, constant(make_space({4, 6}, "r"), 1)), PETSC_ERR_ARG_INCOMP);
}
