#include "tt/random.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace petsctt;

// The known-answer vectors published with Random123 (Salmon et al. 2011), philox4x32, 10 rounds.
TEST(Random, PhiloxKnownAnswers)
{
  using C = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (C{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  const std::uint32_t f = 0xffffffffu;
  EXPECT_EQ(philox4x32({f, f, f, f}, {f, f}), (C{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(philox4x32({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}),
            (C{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

TEST(Random, RunsAgreeWithSingleDraws)
{
  for (std::uint64_t first : {std::uint64_t(0), std::uint64_t(1), std::uint64_t(7), std::uint64_t(1) << 40}) {
    for (Count count : {0, 1, 2, 5, 8}) {
      std::vector<Scalar> a(count + 1, Scalar(-77));
      fill_gaussian(12, 3, first, count, a.data());
      for (Count j = 0; j < count; ++j) EXPECT_EQ(a[j], gaussian(12, 3, first + j));
      EXPECT_EQ(a[count], Scalar(-77)) << "wrote past the end";
    }
  }
}

TEST(Random, SeedStreamIndexAllMatter)
{
  EXPECT_NE(gaussian(1, 2, 3), gaussian(2, 2, 3));
  EXPECT_NE(gaussian(1, 2, 3), gaussian(1, 3, 3));
  EXPECT_NE(gaussian(1, 2, 3), gaussian(1, 2, 4));
  EXPECT_NE(gaussian(std::uint64_t(1) << 32, 2, 3), gaussian(0, 2, 3));
  EXPECT_NE(uniform(1, 2, std::uint64_t(1) << 32), uniform(1, 2, 0));
  EXPECT_EQ(uniform(1, 2, 3), uniform(1, 2, 3));
}

TEST(Random, MomentsOfUniform)
{
  const int m = 200000;
  double    mean = 0, square = 0, lo = 1, hi = 0;
  for (int i = 0; i < m; ++i) {
    const double u = uniform(5, 6, i);
    mean += u / m;
    square += u * u / m;
    lo = std::min(lo, u);
    hi = std::max(hi, u);
  }
  EXPECT_NEAR(mean, 0.5, 5 * 0.2887 / std::sqrt((double)m));
  EXPECT_NEAR(square, 1. / 3, 5 * 0.2981 / std::sqrt((double)m));
  EXPECT_GT(lo, 0);
  EXPECT_LT(lo, 1e-3);
  EXPECT_LT(hi, 1);
  EXPECT_GT(hi, 1 - 1e-3);
}

TEST(Random, MomentsOfGaussian)
{
  const int           m = 200000;
  std::vector<Scalar> g(m);
  fill_gaussian(9, 1, 0, m, g.data());
  Scalar mean = 0, pseudo = 0, neighbour = 0;
  double second = 0, fourth = 0;
  for (int i = 0; i < m; ++i) {
    mean += g[i] / (Real)m;
    pseudo += g[i] * g[i] / (Real)m; // E g^2: 1 for real, 0 for circular complex numbers
    if (i) neighbour += g[i] * petsctt::conj(g[i - 1]) / (Real)m;
    second += abs2(g[i]) / m;
    fourth += abs2(g[i]) * abs2(g[i]) / m;
  }
  const double s = 5 / std::sqrt((double)m);
  EXPECT_LT(petsctt::abs(mean), s);
  EXPECT_LT(petsctt::abs(neighbour), s);
  EXPECT_NEAR(second, 1, 1.5 * s);
  EXPECT_LT(petsctt::abs(pseudo - Scalar(is_complex ? 0 : 1)), 1.5 * s);
  EXPECT_NEAR(fourth, is_complex ? 2 : 3, 10 * s);
}
