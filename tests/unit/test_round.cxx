#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/full.hpp"
#include "tt/ops/orthogonalize.hpp"
#include "tt/ops/round.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

static RoundOptions options(Real rtol, Int cap = 0)
{
  RoundOptions o;
  o.type     = RoundType::qr;
  o.rtol     = rtol;
  o.max_rank = cap;
  return o;
}

// x with core entries that decay along the rank index: unfoldings with graded singular values.
static Train graded(const SpacePtr &s, Int r, Real ratio, std::uint64_t seed)
{
  Train x = random_train(s, std::vector<Int>(s->d() + 1, r), seed);
  for (Int k = 0; k + 1 < s->d(); ++k) {
    Core &c = x.core_rw(k);
    for (Int b = 0; b < c.r1; ++b)
      for (Int i = 0; i < c.n; ++i)
        for (Int a = 0; a < c.r0; ++a) c(a, i, b) *= std::pow(ratio, (Real)b);
  }
  return x;
}

static void check_info(const RoundInfo &info, const Train &before, const Train &after)
{
  EXPECT_EQ(info.type, RoundType::qr);
  EXPECT_FALSE(info.estimated);
  EXPECT_EQ(info.rank_in, before.max_rank());
  EXPECT_EQ(info.rank_out, after.max_rank());
  EXPECT_NEAR((double)real((info.norm / norm(after)).value()), 1, 1e-13);
}

TEST(Round, ErrorReturnedIsTheTrueError)
{
  for (const auto &N : std::vector<std::vector<Int>>{{6, 7}, {5, 6, 4, 5}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      const Train    x = graded(s, 6, 0.2, 1);
      const Dense    X = dense(x);
      for (Real rtol : {0., 1e-12, 1e-4, 1e-2, 0.1, 0.5, 0.9}) {
        Train           y    = x;
        const RoundInfo info = round(y, options(rtol));
        y.check();
        const Real error = distance(dense(y), X);
        EXPECT_NEAR((double)info.error, (double)error, 2e-14 + 1e-9 * (double)error) << kinds << rtol;
        EXPECT_LE(info.error, rtol * (1 + 1e-12));
        EXPECT_FALSE(info.cap_hit);
        EXPECT_TRUE(y.norm_is_one_core());
        expect_orthogonality_as_claimed(y);
        check_info(info, x, y);
        EXPECT_TRUE(replicated_bits(info.error));
      }
    }
}

TEST(Round, BestRankOfAMatrix)
{
  // d = 2: the rank is the smallest one that the singular values allow
  const SpacePtr          s = make_space({12, 9}, "d");
  const Train             x = graded(s, 9, 0.3, 2);
  const std::vector<Real> v = singular_values(dense(x), 1);
  Real                    total = 0;
  for (Real t : v) total += t * t;
  for (Real rtol : {1e-1, 1e-2, 1e-3, 1e-5}) {
    Real tail = 0;
    Int  r    = (Int)v.size();
    while (r > 1 && tail + v[r - 1] * v[r - 1] <= rtol * rtol * total) {
      tail += v[r - 1] * v[r - 1];
      --r;
    }
    Train           y    = x;
    const RoundInfo info = round(y, options(rtol));
    EXPECT_EQ(y.max_rank(), r) << rtol;
    EXPECT_NEAR((double)info.error, (double)std::sqrt(tail / total), 1e-12);
  }
}

TEST(Round, QuasiOptimal)
{
  // no unfolding can be approximated better than by its own truncated SVD; TT-SVD loses at most sqrt(d-1)
  const std::vector<Int> N = {5, 6, 5, 4};
  const SpacePtr         s = make_space(N, "dr");
  const Train            x = graded(s, 8, 0.4, 3);
  const Dense            X = dense(x);
  for (Int cap : {1, 2, 3, 4}) {
    Train           y    = x;
    const RoundInfo info = round(y, options(0, cap));
    Real            best = 0;
    for (Int k = 1; k < 4; ++k) {
      const std::vector<Real> v = singular_values(X, k);
      Real                    tail = 0;
      for (std::size_t j = cap; j < v.size(); ++j) tail += v[j] * v[j];
      best = std::max(best, std::sqrt(tail) / X.norm());
    }
    EXPECT_GE(info.error, best * (1 - 1e-12));
    EXPECT_LE(info.error, best * std::sqrt((Real)3) * (1 + 1e-12));
    EXPECT_EQ(y.max_rank(), cap);
  }
}

TEST(Round, RankCapIsRecorded)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({5, 6, 5, 4}, kinds);
    const Train    x = graded(s, 5, 0.5, 4);
    const Dense    X = dense(x);
    for (Int cap : {1, 2, 3}) {
      Train           y    = x;
      const RoundInfo info = round(y, options(1e-10, cap));
      EXPECT_TRUE(info.cap_hit);
      EXPECT_EQ(y.max_rank(), cap);
      EXPECT_NEAR((double)info.error, (double)distance(dense(y), X), 1e-12) << kinds << cap;
      check_info(info, x, y);
    }
    Train y = x; // a cap that does not bite
    EXPECT_FALSE(round(y, options(1e-10, 100)).cap_hit);
    y = x; // one that bites, and the tolerance is met all the same
    EXPECT_FALSE(round(y, options(0.999, 1)).cap_hit);
    EXPECT_EQ(y.max_rank(), 1);
  }
}

TEST(Round, GradedSingularValues)
{
  // sixteen decades: small singular values come out with the accuracy of a backward stable SVD
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({20, 20}, kinds);
    const Train    x = graded(s, 17, 0.1, 5);
    const Dense    X = dense(x);
    for (Real rtol : {1e-3, 1e-6, 1e-9, 1e-12}) {
      Train           y    = x;
      const RoundInfo info = round(y, options(rtol));
      EXPECT_LE(distance(dense(y), X), rtol + 5e-15);
      EXPECT_NEAR((double)info.error, (double)distance(dense(y), X), 5e-15);
      EXPECT_GT(info.error, rtol * 1e-3) << "more rank than needed: " << y.max_rank();
    }
  }
}

TEST(Round, ExactRankIsFound)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({8, 7, 6, 9}, kinds);
    const Train    x = random_train(s, {1, 3, 5, 2, 1}, 6);
    Train          y;
    RoundInfo      info = round_sum(s, {{Scaled(1), &x}, {Scaled(1), &x}}, options(1e-10), y);
    EXPECT_EQ(info.rank_in, 10);
    EXPECT_EQ(y.ranks(), x.ranks()) << kinds;
    EXPECT_LT(distance(dense(y), combine(2, dense(x), 0, dense(x))), 1e-13);
    EXPECT_LT(info.error, 1e-13);
  }
}

TEST(Round, SmallPerturbation)
{
  // X1/||X1|| + e X2/||X2||: rank r at tolerance 10 e, rank 2 r below
  const SpacePtr s = make_space({12, 11, 13, 10}, "d");
  const Train    a = random_train(s, std::vector<Int>(5, 4), 7), b = random_train(s, std::vector<Int>(5, 4), 8);
  const Real     e = 1e-6;
  Train          y;
  RoundInfo      info = round_sum(s, {{Scaled(1) / norm(a), &a}, {Scaled(Scalar(e)) / norm(b), &b}}, options(10 * e), y);
  EXPECT_EQ(y.max_rank(), 4);
  EXPECT_GT(info.error, 0.1 * e);
  EXPECT_LT(info.error, 1.1 * e);
  round_sum(s, {{Scaled(1) / norm(a), &a}, {Scaled(Scalar(e)) / norm(b), &b}}, options(1e-3 * e), y);
  EXPECT_EQ(y.max_rank(), 8);
}

TEST(Round, RankDeficientCores)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({6, 5, 7}, kinds);
    Train          x = random_train(s, {1, 4, 5, 1}, 9);
    for (Int k = 0; k < 3; ++k) {
      Core &c = x.core_rw(k);
      for (Int b = 1; b < c.r1; ++b)
        for (Int i = 0; i < c.n; ++i)
          for (Int a = 0; a < c.r0; ++a) c(a, i, b) = b % 2 ? c(a, i, 0) : Scalar(0);
    }
    const Dense X = dense(x);
    const auto  info = round(x, options(1e-12));
    EXPECT_EQ(x.max_rank(), 1) << kinds;
    EXPECT_LT(distance(dense(x), X), 1e-12) << kinds;
    EXPECT_LT(info.error, 1e-13);
  }
}

TEST(Round, ScalesOfEveryCore)
{
  for (const std::string &kinds : all_kinds())
    for (int e : {150, -150, 300, -300}) {
      const SpacePtr s = make_space({5, 6, 5}, kinds);
      const Train    x = graded(s, 5, 0.3, 10);
      Train          y = x, z = x;
      for (Int k = 0; k < 3; ++k) {
        Core &c = y.core_rw(k);
        for (Count j = 0; j < c.count(); ++j) c.data()[j] *= std::pow((Real)10, (Real)e);
      }
      const RoundInfo scaled = round(y, options(1e-2)), plain = round(z, options(1e-2));
      EXPECT_EQ(y.ranks(), z.ranks()) << kinds << e;
      EXPECT_NEAR((double)scaled.error, (double)plain.error, 1e-13);
      EXPECT_NEAR((double)scaled.norm.log10_abs(), (double)plain.norm.log10_abs() + 3 * e, 1e-9);
      const Scaled back(Scalar(std::pow((Real)10, (Real)-e)));
      y.set_scale(y.scale() * back * back * back);
      EXPECT_LT(distance(dense(y), dense(z)), 1e-12);
    }
}

TEST(Round, NaNAndInf)
{
  for (const auto &N : std::vector<std::vector<Int>>{{6}, {4, 5}, {4, 3, 5}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      for (Int k = 0; k < s->d(); ++k)
        for (Real v : {std::numeric_limits<Real>::quiet_NaN(), std::numeric_limits<Real>::infinity()})
          for (Int centre = -1; centre < s->d(); ++centre) {
            Train x = random_train(s, std::vector<Int>(s->d() + 1, 3), 11);
            if (centre >= 0) orthogonalize(x, centre);
            const Int left = x.left(), right = x.right();
            Core     &c    = x.core_rw(k);
            if (s->start(k) == 0 && s->n(k)) c(0, 0, 0) = v; // one process of those that share the mode
            if (centre == k) x.set_orthogonal(left, right); // the centre may hold anything
            const RoundInfo info = round(x, options(1e-8));
            EXPECT_FALSE(x.scale().finite()) << kinds << " N " << N.size() << " core " << k << " centre " << centre;
            EXPECT_FALSE(info.norm.finite());
            EXPECT_TRUE(std::isnan(info.error));
            EXPECT_EQ(x.max_rank(), 1);
            EXPECT_EQ(info.rank_out, 1);
            EXPECT_FALSE(norm(x).finite());
          }
      Train x = random_train(s, std::vector<Int>(s->d() + 1, 3), 11);
      x.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
      round(x, options(1e-8));
      EXPECT_FALSE(x.scale().finite());
      EXPECT_EQ(x.max_rank(), 1);
    }
}

TEST(Round, ZeroInEveryGuise)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({4, 5, 3}, kinds);
    Train          x(s);
    RoundInfo      info = round(x, options(1e-8));
    EXPECT_TRUE(x.is_zero());
    EXPECT_TRUE(info.norm.is_zero());
    EXPECT_EQ(info.error, 0);
    EXPECT_EQ(info.rank_in, 1);
    EXPECT_EQ(info.rank_out, 1);
    for (Int k = 0; k < 3; ++k) { // a core of zeros that nobody flagged
      x       = random_train(s, {1, 3, 3, 1}, 12);
      Core &c = x.core_rw(k);
      std::fill(c.data(), c.data() + c.count(), Scalar(0));
      info = round(x, options(1e-8));
      EXPECT_TRUE(x.is_zero()) << kinds << k;
      EXPECT_TRUE(info.norm.is_zero());
      EXPECT_EQ(x.max_rank(), 1);
    }
    const SpacePtr one = make_space({4}, kinds);
    x                  = constant(one, 1);
    Core &c            = x.core_rw(0);
    std::fill(c.data(), c.data() + c.count(), Scalar(0));
    round(x, options(1e-8));
    EXPECT_TRUE(x.is_zero());
  }
}

TEST(Round, StartsFromAnyOrthogonality)
{
  const SpacePtr s = make_space({5, 6, 4, 5}, "dr");
  const Train    x = graded(s, 5, 0.3, 13);
  const Dense    X = dense(x);
  for (Int centre = 0; centre < 4; ++centre) {
    Train y = x;
    orthogonalize(y, centre);
    const RoundInfo info = round(y, options(1e-2));
    EXPECT_NEAR((double)info.error, (double)distance(dense(y), X), 1e-13);
    EXPECT_LE(info.error, 1e-2);
    expect_orthogonality_as_claimed(y);
    // a second rounding changes nothing
    Train           z     = y;
    const RoundInfo again = round(z, options(1e-8));
    EXPECT_EQ(z.ranks(), y.ranks());
    EXPECT_LT(again.error, 1e-13);
    EXPECT_LT(distance(dense(z), dense(y)), 1e-13);
  }
}

TEST(Round, AbsoluteTolerance)
{
  const SpacePtr s = make_space({5, 6, 4}, "d");
  const Train    x = graded(s, 5, 0.2, 14);
  const Dense    X = dense(x);
  RoundOptions   o = options(1e-13);
  o.atol           = Scaled(Scalar(1e-2 * X.norm()));
  Train           y    = x;
  const RoundInfo info = round(y, o);
  EXPECT_LE(info.error, 1e-2 * (1 + 1e-12));
  EXPECT_GT(info.error, 1e-5);
  EXPECT_NEAR((double)info.error, (double)distance(dense(y), X), 1e-13);
  // far below the range of plain numbers
  Train z = x;
  z.set_scale(z.scale().times_pow2(-5000));
  o.atol = o.atol.times_pow2(-5000);
  round(z, o);
  EXPECT_EQ(z.ranks(), y.ranks());
}

TEST(Round, TheSameForAllDistributions)
{
  const std::vector<Int> N = {7, 5, 9, 4};
  RoundInfo              first;
  Dense                  F;
  std::vector<Int>       ranks;
  for (const std::string &kinds : all_kinds()) {
    Train           y    = graded(make_space(N, kinds), 6, 0.3, 15);
    const RoundInfo info = round(y, options(1e-3));
    if (ranks.empty()) {
      ranks = y.ranks();
      first = info;
      F     = dense(y);
    }
    EXPECT_EQ(y.ranks(), ranks) << kinds;
    EXPECT_NEAR((double)(info.error / first.error), 1, 1e-9);
    EXPECT_LT(distance(dense(y), F), 1e-12);
  }
  // and the same as one process alone
  const Mode      whole[4] = {replicate(7), replicate(5), replicate(9), replicate(4)};
  Train           alone    = graded(std::make_shared<Space>(PETSC_COMM_SELF, std::vector<Mode>(whole, whole + 4)), 6, 0.3, 15);
  const RoundInfo info     = round(alone, options(1e-3));
  EXPECT_EQ(alone.ranks(), ranks);
  EXPECT_NEAR((double)(info.error / first.error), 1, 1e-9);
}

TEST(Round, BadOptions)
{
  Train x = constant(make_space({4, 5}, "d"), 1);
  EXPECT_ERROR(round(x, options(-1e-3)), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(round(x, options(std::numeric_limits<Real>::quiet_NaN())), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(round(x, options(1e-3, -1)), PETSC_ERR_ARG_OUTOFRANGE);
}

TEST(Round, MoreModesThanAnyDense)
{
  // 1e400 entries: rounded without leaving the range
  const SpacePtr s = make_space(std::vector<Int>(400, 10), "dr");
  const Train    x = random_train(s, std::vector<Int>(401, 2), 16);
  Train          y;
  const auto     info = round_sum(s, {{Scaled(1), &x}, {Scaled(-3), &x}}, options(1e-10), y);
  EXPECT_EQ(y.max_rank(), 2);
  EXPECT_NEAR((double)(info.norm.log10_abs() - norm(x).log10_abs()), std::log10(2.), 1e-9);
  EXPECT_LT(info.error, 1e-10);
}
