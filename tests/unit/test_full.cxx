#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/full.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

static Dense as_dense(const Train &x)
{
  Dense  out;
  Buffer b = to_full(x);
  for (Int k = 0; k < x.d(); ++k) out.N.push_back(x.space()->N(k));
  out.a.assign(b.data(), b.data() + b.size());
  return out;
}

static Dense random_dense(const std::vector<Int> &N, std::uint64_t seed)
{
  Dense X(N);
  fill_gaussian(seed, 0, 0, (Count)X.a.size(), X.a.data());
  return X;
}

TEST(Full, FromTrain)
{
  for (const auto &N : std::vector<std::vector<Int>>{{7}, {4, 3}, {3, 1, 4, 2}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      Train          x = random_train(s, std::vector<Int>(N.size() + 1, 3), 1);
      x.set_scale(Scaled(is_complex ? std::sqrt(Scalar(-2)) : Scalar(-2)));
      EXPECT_LT(distance(as_dense(x), dense(x)), 1e-14) << kinds;
      for (Scalar v : as_dense(Train(s)).a) EXPECT_EQ(v, Scalar(0));
    }
  const SpacePtr s = make_space({10, 10}, "d");
  EXPECT_ERROR(to_full(constant(s, 1), 99), PETSC_ERR_SUP);
  EXPECT_EQ(to_full(constant(s, 1), 100).size(), 100u);
  EXPECT_ERROR(to_full(constant(make_space(std::vector<Int>(400, 10), "d"), 1)), PETSC_ERR_SUP);
  Train big = constant(s, 1);
  big.set_scale(big.scale().times_pow2(3000));
  EXPECT_ERROR(to_full(big), PETSC_ERR_FP);
  const Train nan = constant(s, Scalar(std::numeric_limits<Real>::quiet_NaN()));
  EXPECT_FALSE(is_finite(to_full(nan)[3]));
}

TEST(Full, ExactDecomposition)
{
  for (const auto &N : std::vector<std::vector<Int>>{{7}, {4, 3}, {3, 1, 4, 2}, {2, 2, 2, 2, 2, 2}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      const Dense    X = random_dense(N, 2);
      RoundOptions   o;
      Train          x;
      o.rtol               = 0;
      const RoundInfo info = from_full(s, X.a.data(), o, x);
      x.check();
      EXPECT_LT(distance(dense(x), X), 1e-13) << kinds;
      EXPECT_EQ(x.ranks(), clip_ranks(*s, std::vector<Int>(N.size() + 1, 1000)));
      EXPECT_EQ(info.error, 0);
      EXPECT_FALSE(info.cap_hit);
      EXPECT_FALSE(info.estimated);
      EXPECT_EQ(info.rank_out, x.max_rank());
      EXPECT_EQ(info.rank_in, x.max_rank());
      EXPECT_LT(std::abs(real(info.norm.value()) / X.norm() - 1), 1e-14);
      EXPECT_TRUE(x.norm_is_one_core());
      expect_orthogonality_as_claimed(x);
      EXPECT_LT(std::abs(real(norm(x).value()) / X.norm() - 1), 1e-14);
    }
}

TEST(Full, ErrorIsTheTrueError)
{
  const std::vector<Int> N = {6, 5, 4, 6};
  const SpacePtr         s = make_space(N, "dr");
  const Dense            X = random_dense(N, 3);
  Real                   last = 0;
  for (Real rtol : {0.01, 0.1, 0.3, 0.5, 0.8, 0.99}) {
    RoundOptions o;
    Train        x;
    o.rtol               = rtol;
    const RoundInfo info = from_full(s, X.a.data(), o, x);
    const Real      true_error = distance(dense(x), X);
    EXPECT_NEAR((double)info.error, (double)true_error, 1e-13);
    EXPECT_LE(info.error, rtol);
    EXPECT_GE(info.error, last);
    last = info.error;
  }
  EXPECT_GT(last, 0.5);
  for (Int cap : {1, 2, 5}) {
    RoundOptions o;
    Train        x;
    o.rtol               = 1e-10;
    o.max_rank           = cap;
    const RoundInfo info = from_full(s, X.a.data(), o, x);
    EXPECT_TRUE(info.cap_hit);
    EXPECT_EQ(x.max_rank(), cap);
    EXPECT_NEAR((double)info.error, (double)distance(dense(x), X), 1e-13);
  }
  // an absolute tolerance: the larger of the two counts
  RoundOptions o;
  Train        x;
  o.rtol               = 1e-12;
  o.atol               = Scaled(Scalar(0.3 * X.norm()));
  const RoundInfo info = from_full(s, X.a.data(), o, x);
  EXPECT_GT(info.error, 0.1);
  EXPECT_LE(info.error, 0.3);
}

TEST(Full, ZeroNaNAndExtremeScales)
{
  const std::vector<Int> N = {4, 3, 2};
  const SpacePtr         s = make_space(N, "d");
  Dense                  X(N);
  RoundOptions           o;
  Train                  x;
  EXPECT_TRUE(from_full(s, X.a.data(), o, x).norm.is_zero());
  EXPECT_TRUE(x.is_zero());
  X                 = random_dense(N, 4);
  const double norm = (double)X.norm();
  for (Real f : {1e300, 1e-300}) {
    Dense Y = X;
    for (Scalar &v : Y.a) v *= f;
    o.rtol               = 1e-14;
    const RoundInfo info = from_full(s, Y.a.data(), o, x);
    EXPECT_NEAR((double)info.norm.log10_abs(), std::log10(norm) + std::log10((double)f), 1e-11);
    const Dense Z = dense(x);
    for (std::size_t l = 0; l < Z.a.size(); ++l) EXPECT_LT(petsctt::abs(Z.a[l] / f - X.a[l]), 1e-13 * norm);
  }
  X.a[7] = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(from_full(s, X.a.data(), o, x).norm.finite());
  EXPECT_FALSE(petsctt::norm(x).finite());
  EXPECT_EQ(x.max_rank(), 1);
  o.rtol = -1;
  EXPECT_ERROR(from_full(s, X.a.data(), o, x), PETSC_ERR_ARG_OUTOFRANGE);
  o.rtol     = 0;
  o.max_rank = -1;
  EXPECT_ERROR(from_full(s, X.a.data(), o, x), PETSC_ERR_ARG_OUTOFRANGE);
  o.max_rank = 0;
  EXPECT_ERROR(from_full(make_space(std::vector<Int>(400, 10), "d"), X.a.data(), o, x), PETSC_ERR_SUP);
}

// Only process 0 reads the array.
TEST(Full, OneProcessDecides)
{
  const std::vector<Int> N = {4, 3, 5};
  const Dense            X = random_dense(N, 5);
  Train                  x;
  RoundOptions           o;
  o.rtol = 1e-14;
  from_full(make_space(N, "d"), rank() == 0 ? X.a.data() : nullptr, o, x);
  EXPECT_LT(distance(dense(x), X), 1e-13);
}
