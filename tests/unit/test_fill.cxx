#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

TEST(Fill, ConstantIsOrthogonalAndExact)
{
  for (const std::string &kinds : all_kinds()) {
    const Train x = constant(make_space({5, 3, 2, 4}, kinds), Scalar(-2.5));
    EXPECT_EQ(x.max_rank(), 1);
    EXPECT_TRUE(x.norm_is_one_core());
    expect_orthogonality_as_claimed(x, 1e-14);
    for (Scalar v : dense(x).a) EXPECT_NEAR((double)petsctt::abs(v + Scalar(2.5)), 0, 1e-14);
    EXPECT_NEAR((double)real(norm(x).value()), 2.5 * std::sqrt(120.), 1e-12);
  }
  EXPECT_TRUE(constant(make_space({5, 3}, "d"), Scalar(0)).is_zero());
  EXPECT_FALSE(constant(make_space({5, 3}, "d"), Scalar(std::numeric_limits<Real>::quiet_NaN())).scale().finite());
  const Train one_mode = constant(make_space({6}, "d"), Scalar(3));
  EXPECT_NEAR((double)real(norm(one_mode).value()), 3 * std::sqrt(6.), 1e-13);
}

TEST(Fill, RankOne)
{
  const std::vector<Int> N = {4, 6, 3};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr      space = make_space(N, kinds);
    const auto          u     = [](Int i) { return Scalar(i + 1); };
    const auto          v     = [](Int i) { return Scalar(i - 1.5) * Scalar(1e200); };
    std::vector<Scalar> a, b;
    for (Int i = 0; i < space->n(0); ++i) a.push_back(u(space->start(0) + i));
    for (Int i = 0; i < space->n(2); ++i) b.push_back(v(space->start(2) + i));
    a.push_back(0); // data() of an empty vector may be null, which would mean ones
    b.push_back(0);
    const Train x = rank_one(space, {a.data(), nullptr, b.data()});
    const Dense e = make_dense(N, [&](const std::vector<Int> &i) { return u(i[0]) * v(i[2]); });
    Dense       g = dense(x);
    for (std::size_t l = 0; l < g.a.size(); ++l) EXPECT_LT(petsctt::abs(g.a[l] / e.a[l] - Scalar(1)), 1e-14);
    // the product of the norms overflows when squared
    EXPECT_NEAR((double)norm(x).log10_abs(), 200 + std::log10(std::sqrt(30.) * std::sqrt(6.) * std::sqrt(2.75)), 1e-12);

    std::fill(b.begin(), b.end(), Scalar(0));
    EXPECT_TRUE(rank_one(space, {a.data(), nullptr, b.data()}).is_zero());
  }
  EXPECT_ERROR(rank_one(make_space(N, "d"), {nullptr, nullptr}), PETSC_ERR_ARG_SIZ);
}

TEST(Fill, RandomDependsOnGlobalIndicesOnly)
{
  const std::vector<Int> N = {5, 2, 7};
  for (const std::string &kinds : all_kinds()) {
    const Train x = random_train(make_space(N, kinds), {1, 3, 4, 1}, 42);
    EXPECT_EQ(x.ranks(), (std::vector<Int>{1, 3, 4, 1}));
    for (Int k = 0; k < 3; ++k) {
      const std::vector<Scalar> c = whole_core(x, k);
      for (std::size_t j = 0; j < c.size(); ++j) ASSERT_EQ(c[j], gaussian(42, k, j)) << kinds << " core " << k << " entry " << j;
    }
    EXPECT_EQ(x.scale().value(), Scalar(1));
    EXPECT_EQ(x.left() + x.right(), 0);
  }
}

TEST(Fill, ClipRanks)
{
  const SpacePtr s = make_space({2, 3, 4, 5}, "d");
  const Int      top = std::numeric_limits<Int>::max();
  EXPECT_EQ(clip_ranks(*s, {1, 99, 99, 99, 1}), (std::vector<Int>{1, 2, 6, 5, 1}));
  EXPECT_EQ(clip_ranks(*s, {top, top, top, top, top}), (std::vector<Int>{1, 2, 6, 5, 1}));
  EXPECT_EQ(clip_ranks(*s, {1, 1, 99, 99, 1}), (std::vector<Int>{1, 1, 3, 5, 1}));
  EXPECT_EQ(clip_ranks(*s, {1, 2, 4, 5, 1}), (std::vector<Int>{1, 2, 4, 5, 1}));
  EXPECT_ERROR(clip_ranks(*s, {1, 2, 1}), PETSC_ERR_ARG_SIZ);
  EXPECT_ERROR(clip_ranks(*s, {1, 2, 0, 2, 1}), PETSC_ERR_ARG_OUTOFRANGE);
  const SpacePtr big = make_space({1000000, 1000000, 1000000, 1000000}, "d");
  EXPECT_EQ(clip_ranks(*big, {1, top, 3, top, 1}), (std::vector<Int>{1, 1000000, 3, 1000000, 1}));
}
