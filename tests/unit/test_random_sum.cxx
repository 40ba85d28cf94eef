// Sums of many terms by sketching, lazy terms and dots with them: against the dense oracle and against the sweeps of round().
#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/random_sum.hpp"
#include "tt/ops/round.hpp"

#include <limits>
#include <memory>

using namespace petsctt;
using namespace petsctt::test;

static RoundOptions options(Real rtol, RoundType type = RoundType::randomized, Int cap = 0)
{
  RoundOptions o;
  o.type     = type;
  o.rtol     = rtol;
  o.max_rank = cap;
  o.seed     = 17;
  return o;
}

// m trains whose sum has graded singular values: term j has size ratio^j.
struct Terms {
  std::vector<Train> trains;
  std::vector<Term>  terms;
  Dense              sum;

  Terms(const SpacePtr &s, int m, Int r, Real ratio, std::uint64_t seed)
  {
    for (int j = 0; j < m; ++j) trains.push_back(random_train(s, std::vector<Int>(s->d() + 1, r), seed + j));
    for (int j = 0; j < m; ++j) {
      const Scalar c = std::pow(ratio, (Real)j) * (j % 2 ? -1 : 1);
      terms.push_back({Scaled(c), &trains[j]});
      const Dense x = dense(trains[j]);
      sum           = j ? combine(1, sum, c, x) : combine(c, x, 0, x);
    }
  }
};

TEST(RandomSum, ToleranceAndEstimate)
{
  for (const auto &N : std::vector<std::vector<Int>>{{14, 13}, {8, 9, 10, 7}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      const Terms    t(s, 12, 2, 0.3, 1);
      for (Real rtol : {1e-1, 1e-3, 1e-6, 1e-9}) {
        Train           y, z;
        const RoundInfo info = round_sum(s, t.terms, options(rtol), y), exact = round_sum(s, t.terms, options(rtol, RoundType::qr), z);
        y.check();
        const Real error = distance(dense(y), t.sum);
        EXPECT_EQ(info.type, RoundType::randomized);
        EXPECT_TRUE(info.estimated);
        EXPECT_FALSE(info.cap_hit);
        EXPECT_EQ(info.rank_in, 24);
        EXPECT_EQ(info.rank_out, y.max_rank());
        EXPECT_LE(error, rtol) << kinds;
        EXPECT_LE(info.error, 1.5 * rtol) << kinds;
        EXPECT_LE(error, 2 * info.error + 1e-13) << "the estimate is too small: " << kinds << rtol;
        EXPECT_LE(y.max_rank(), exact.rank_out + 3) << kinds << rtol;
        EXPECT_NEAR((double)(real(info.norm.value()) / t.sum.norm()), 1, 1.1 * (double)rtol);
        EXPECT_TRUE(y.norm_is_one_core());
        expect_orthogonality_as_claimed(y);
        EXPECT_TRUE(replicated_bits(info.error));
      }
    }
}

TEST(RandomSum, ExactRankIsFound)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({10, 9, 11, 8}, kinds);
    const Train    x = random_train(s, {1, 3, 5, 4, 1}, 2);
    std::vector<Term> terms;
    Real              c = 0;
    for (int j = 0; j < 15; ++j) {
      terms.push_back({Scaled(Scalar(j - 3.5)), &x});
      c += j - 3.5;
    }
    Train           y;
    const RoundInfo info = round_sum(s, terms, options(1e-10), y);
    EXPECT_EQ(info.rank_in, 75);
    EXPECT_EQ(y.ranks(), x.ranks()) << kinds;
    EXPECT_LT(distance(dense(y), combine(c, dense(x), 0, dense(x))), 1e-11);
  }
}

TEST(RandomSum, TheSameForAllDistributions)
{
  std::vector<Int> ranks;
  Dense            first;
  for (const std::string &kinds : all_kinds()) {
    const Terms t(make_space({9, 8, 7, 10}, kinds), 10, 3, 0.3, 3);
    Train       y;
    round_sum(t.trains[0].space(), t.terms, options(1e-4), y);
    if (ranks.empty()) {
      ranks = y.ranks();
      first = dense(y);
    }
    EXPECT_EQ(y.ranks(), ranks) << kinds;
    EXPECT_LT(distance(dense(y), first), 1e-10) << kinds;
  }
}

TEST(RandomSum, KeptSketchesChangeNothing)
{
  const SpacePtr s = make_space({9, 8, 7, 10}, "dr");
  Terms          t(s, 10, 3, 0.5, 4);
  Train          fresh, kept;
  round_sum(s, t.terms, options(1e-3), fresh);
  std::vector<std::unique_ptr<TrainSketch>> sketches;
  for (Term &term : t.terms) {
    sketches.push_back(std::make_unique<TrainSketch>());
    term.sketch = sketches.back().get();
  }
  for (int again = 0; again < 3; ++again) {
    round_sum(s, t.terms, options(1e-3), kept);
    EXPECT_EQ(kept.ranks(), fresh.ranks());
    EXPECT_LT(distance(dense(kept), dense(fresh)), 1e-10);
  }
  // a sum of some of them, to a smaller tolerance: sketches grow by columns
  std::vector<Term> some(t.terms.begin(), t.terms.begin() + 4);
  Dense             S = combine(1, dense(t.trains[0]), -0.5, dense(t.trains[1]));
  S                   = combine(1, S, 0.25, dense(t.trains[2]));
  S                   = combine(1, S, -0.125, dense(t.trains[3]));
  round_sum(s, some, options(1e-9), kept);
  EXPECT_LT(distance(dense(kept), S), 1e-9);
  RoundOptions o = options(1e-3); // another seed: the sketches are made anew
  o.seed         = 18;
  round_sum(s, t.terms, o, kept);
  EXPECT_LT(distance(dense(kept), t.sum), 1e-3);
}

TEST(RandomSum, LazyTerms)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr          s = make_space({6, 7, 5}, kinds);
    const Terms             t(s, 8, 3, 0.5, 5);
    std::vector<PlainTrain> lazy;
    std::vector<Term>       terms = t.terms;
    for (const Train &x : t.trains) lazy.emplace_back(x);
    for (std::size_t j = 0; j < terms.size(); j += 2) {
      terms[j].train = nullptr;
      terms[j].lazy  = &lazy[j];
    }
    for (RoundType type : {RoundType::qr, RoundType::randomized, RoundType::automatic}) {
      Train y;
      round_sum(s, terms, options(1e-6, type), y);
      EXPECT_LT(distance(dense(y), t.sum), 1e-6) << kinds;
    }
    for (std::size_t j = 0; j < 3; ++j) {
      const Scalar a = dot(lazy[j], t.trains[j + 1]).value(), b = dot(t.trains[j], t.trains[j + 1]).value();
      EXPECT_LT(petsctt::abs(a - b), 1e-12 * real(norm(t.trains[j]).value() * norm(t.trains[j + 1]).value()));
    }
    EXPECT_TRUE(dot(PlainTrain(t.trains[0]), Train(s)).is_zero());
    const Train zero(s);
    EXPECT_TRUE(dot(PlainTrain(zero), t.trains[0]).is_zero());
  }
}

TEST(RandomSum, RankCap)
{
  const SpacePtr s = make_space({9, 8, 7, 10}, "dr");
  const Terms    t(s, 10, 3, 0.7, 6);
  for (Int cap : {1, 2, 4}) {
    Train           y;
    const RoundInfo info = round_sum(s, t.terms, options(1e-8, RoundType::randomized, cap), y);
    EXPECT_TRUE(info.cap_hit);
    EXPECT_LE(y.max_rank(), cap);
    const Real error = distance(dense(y), t.sum);
    EXPECT_LT(std::abs(info.error - error), 0.3 * error) << cap;
  }
}

TEST(RandomSum, Cancellation)
{
  const SpacePtr    s = make_space({9, 8, 7, 10}, "d");
  const Train       x = random_train(s, {1, 5, 5, 5, 1}, 7), e = random_train(s, {1, 2, 2, 2, 1}, 8);
  std::vector<Term> terms;
  for (int j = 0; j < 10; ++j) terms.push_back({Scaled(Scalar(j % 2 ? -1 : 1)), &x});
  terms.push_back({Scaled(Scalar(1e-6)), &e});
  Train y;
  round_sum(s, terms, options(1e-4), y);
  EXPECT_EQ(y.ranks(), e.ranks());
  EXPECT_LT(distance(dense(y), combine(1e-6, dense(e), 0, dense(e))), 1e-4);
  terms.pop_back();
  const RoundInfo info = round_sum(s, terms, options(1e-4), y);
  EXPECT_LT((double)(info.norm.is_zero() ? -100 : (info.norm / norm(x)).log10_abs()), -13.);
}

TEST(RandomSum, Scales)
{
  const SpacePtr s = make_space({9, 8, 7}, "dr");
  Terms          t(s, 10, 2, 0.3, 9);
  Train          plain;
  round_sum(s, t.terms, options(1e-4), plain);
  for (int e : {150, -150, 280, -280}) {
    std::vector<Train> x = t.trains;
    std::vector<Term>  terms;
    for (std::size_t j = 0; j < x.size(); ++j) {
      for (Int k = 0; k < 3; ++k)
        for (Count i = 0; i < x[j].core(k).count(); ++i) x[j].core_rw(k).data()[i] *= std::pow((Real)10, (Real)e);
      terms.push_back({t.terms[j].coefficient.times_pow2(5000), &x[j]});
    }
    Train y;
    round_sum(s, terms, options(1e-4), y);
    EXPECT_EQ(y.ranks(), plain.ranks()) << e;
    const Scaled back(Scalar(std::pow((Real)10, (Real)-e)));
    y.set_scale((y.scale() * back * back * back).times_pow2(-5000));
    EXPECT_LT(distance(dense(y), dense(plain)), 1e-9) << e;
  }
}

TEST(RandomSum, ZeroNaNAndOneMode)
{
  const Real     nan = std::numeric_limits<Real>::quiet_NaN();
  const SpacePtr s = make_space({5, 6, 7}, "d");
  const Train    zero(s), x = random_train(s, {1, 3, 3, 1}, 10);
  Train          y;
  round_sum(s, {}, options(1e-4), y);
  EXPECT_TRUE(y.is_zero());
  round_sum(s, {{Scaled(1), &zero}}, options(1e-4), y);
  EXPECT_TRUE(y.is_zero());
  round_sum(s, {{Scaled(1), &zero}, {Scaled(2), &x}}, options(1e-9), y);
  EXPECT_LT(distance(dense(y), combine(2, dense(x), 0, dense(x))), 1e-9);
  Train hidden = x; // zero without the flag
  for (Count i = 0; i < hidden.core(1).count(); ++i) hidden.core_rw(1).data()[i] = 0;
  hidden.core_rw(1);
  const RoundInfo none = round_sum(s, {{Scaled(1), &hidden}, {Scaled(2), &hidden}}, options(1e-9), y);
  EXPECT_TRUE(y.is_zero());
  EXPECT_TRUE(none.norm.is_zero());
  for (Int k = 0; k < 3; ++k) {
    Train bad = x;
    if (s->start(k) == 0 && s->n(k)) bad.core_rw(k)(0, 0, 0) = nan;
    else bad.core_rw(k);
    const RoundInfo info = round_sum(s, {{Scaled(1), &x}, {Scaled(1), &bad}}, options(1e-9), y);
    EXPECT_FALSE(info.norm.finite()) << k;
    EXPECT_FALSE(y.scale().finite());
    EXPECT_EQ(y.max_rank(), 1);
    EXPECT_FALSE(dot(PlainTrain(bad), x).finite());
  }
  const SpacePtr one = make_space({9}, "d");
  const Train    a = random_train(one, {1, 1}, 11), b = random_train(one, {1, 1}, 12);
  round_sum(one, {{Scaled(1), &a}, {Scaled(-2), &b}}, options(1e-9), y);
  EXPECT_LT(distance(dense(y), combine(1, dense(a), -2, dense(b))), 1e-13);
}

TEST(RandomSum, AutomaticTakesItForWideSums)
{
  const SpacePtr s = make_space({60, 50, 40}, "dr");
  const Terms    t(s, 20, 8, 0.5, 13);
  Train          y;
  const auto     info = round_sum(s, t.terms, options(1e-4, RoundType::automatic), y);
  EXPECT_EQ(info.type, RoundType::randomized);
  EXPECT_LT(distance(dense(y), t.sum), 1e-4);
  const std::vector<Term> few(t.terms.begin(), t.terms.begin() + 2);
  EXPECT_EQ(round_sum(s, few, options(1e-4, RoundType::automatic), y).type, RoundType::gram);
  EXPECT_EQ(round_sum(s, few, options(1e-8, RoundType::automatic), y).type, RoundType::qr);
}
