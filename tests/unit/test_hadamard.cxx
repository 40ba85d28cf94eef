#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/hadamard.hpp"
#include "tt/ops/orthogonalize.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

TEST(Hadamard, AgainstDense)
{
  const std::vector<Int> N = {4, 3, 5};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    Train          x = random_train(s, {1, 2, 4, 1}, 1), y = random_train(s, {1, 3, 2, 1}, 2);
    x.set_scale(Scaled(Scalar(-3), 700));
    y.set_scale(Scaled(Scalar(0.5), -699));
    const Train z = hadamard(x, y);
    EXPECT_EQ(z.ranks(), (std::vector<Int>{1, 6, 8, 1}));
    x.set_scale(Scaled(-3));
    y.set_scale(Scaled(1));
    const Dense X = dense(x), Y = dense(y);
    Dense       Z = X;
    for (std::size_t l = 0; l < Z.a.size(); ++l) Z.a[l] = X.a[l] * Y.a[l];
    EXPECT_LT(distance(dense(z), Z), 1e-14) << kinds;
    // the documented order of the rank index
    for (Int i = 0; i < s->n(1); ++i)
      for (Int ay = 0; ay < 3; ++ay)
        for (Int ax = 0; ax < 2; ++ax) EXPECT_EQ(z.core(1)(ax + 2 * ay, i, 1 + 4 * 1), x.core(1)(ax, i, 1) * y.core(1)(ay, i, 1));
  }
}

TEST(Hadamard, ZeroAndNaN)
{
  const SpacePtr s = make_space({4, 3}, "d");
  const Train    x = random_train(s, {1, 2, 1}, 3);
  EXPECT_TRUE(hadamard(x, Train(s)).is_zero());
  EXPECT_TRUE(hadamard(Train(s), x).is_zero());
  EXPECT_EQ(hadamard(x, Train(s)).max_rank(), 1);
  Train bad = x;
  bad.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
  EXPECT_FALSE(norm(hadamard(x, bad)).finite());
}

TEST(Hadamard, RanksBeyondTheIndexType)
{
  if (sizeof(Int) > 4) GTEST_SKIP() << "such ranks fit";
  const SpacePtr s = make_space({2, 2}, "d");
  Train          x(s);
  for (Int k = 0; k < 2; ++k) x.set_core(k, Core(k ? 50000 : 1, s->n(k), k ? 1 : 50000)); // 50000^2 does not fit 32 bits
  x.set_scale(Scaled(1));
  EXPECT_ERROR(hadamard(x, x), PETSC_ERR_ARG_OUTOFRANGE);
}

TEST(Hadamard, Conjugate)
{
  const SpacePtr s = make_space({4, 3, 5}, "dr");
  Train          x = random_train(s, {1, 2, 4, 1}, 5);
  x.set_scale(Scaled(is_complex ? std::sqrt(Scalar(-1)) : Scalar(2)));
  orthogonalize(x, 1);
  const Dense X = dense(x);
  conjugate(x);
  Dense C = X;
  for (Scalar &v : C.a) v = petsctt::conj(v);
  EXPECT_LT(distance(dense(x), C), 1e-15);
  EXPECT_EQ(x.left(), 1);
  EXPECT_EQ(x.right(), 1);
  expect_orthogonality_as_claimed(x);
}

TEST(Hadamard, DifferentSpaces)
{
  EXPECT_ERROR(hadamard(constant(make_space({4, 6}, "d"), 1), constant(make_space({6, 4}, "d"), 1)), PETSC_ERR_ARG_INCOMP);
}
