// Trains with known TT ranks, norms and entries.
#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/evaluate.hpp"
#include "tt/ops/full.hpp"
#include "tt/ops/hadamard.hpp"
#include "tt/ops/round.hpp"
#include "tt/random.hpp"

using namespace petsctt;
using namespace petsctt::test;

static RoundOptions options(Real rtol)
{
  RoundOptions o;
  o.rtol = rtol;
  return o;
}

// The local part of f at the points of mode k, as a rank-one train with ones elsewhere; d functions in general.
template <class F> static Train product(const SpacePtr &s, F f)
{
  std::vector<std::vector<Scalar>> v(s->d());
  std::vector<const Scalar *>      p;
  for (Int k = 0; k < s->d(); ++k) {
    for (Int i = 0; i < s->n(k); ++i) v[k].push_back(f(k, s->start(k) + i));
    v[k].push_back(0);
    p.push_back(v[k].data());
  }
  return rank_one(s, p);
}

static Real point(Int k, Int i) { return 0.1 * (Real)(i + 1) + 0.03 * (Real)k; }

TEST(ClosedForms, SumOfCoordinatesHasRankTwo)
{
  for (const char *kinds : {"d", "r", "dr"}) {
    const SpacePtr     s = make_space({6, 5, 7, 4, 5}, kinds);
    std::vector<Train> x;
    std::vector<Term>  terms;
    for (Int k = 0; k < 5; ++k) x.push_back(product(s, [k](Int j, Int i) { return Scalar(j == k ? point(k, i) : 1); }));
    for (const Train &t : x) terms.push_back({Scaled(1), &t});
    Train           y;
    const RoundInfo info = round_sum(s, terms, options(1e-12), y);
    EXPECT_EQ(info.rank_in, 5);
    EXPECT_EQ(y.ranks(), (std::vector<Int>{1, 2, 2, 2, 2, 1}));
    const Dense E = make_dense({6, 5, 7, 4, 5}, [](const std::vector<Int> &i) {
      Real t = 0;
      for (Int k = 0; k < 5; ++k) t += point(k, i[k]);
      return Scalar(t);
    });
    EXPECT_LT(distance(dense(y), E), 1e-13);
  }
}

TEST(ClosedForms, SineOfSumHasRankTwo)
{
  const std::vector<Int> N = {6, 5, 7, 4};
  const auto             f = [](const std::vector<Int> &i) {
    Real t = 0;
    for (Int k = 0; k < 4; ++k) t += point(k, i[k]);
    return Scalar(std::sin(t));
  };
  const Dense E = make_dense(N, f);
  for (const char *kinds : {"d", "r", "rd"}) {
    const SpacePtr s = make_space(N, kinds);
    Train          x;
    from_full(s, E.a.data(), options(1e-12), x);
    EXPECT_EQ(x.ranks(), (std::vector<Int>{1, 2, 2, 2, 1}));
    EXPECT_LT(distance(dense(x), E), 1e-12);
    // sin(a+b+c+d) as a sum of the eight products with an odd number of sines
    std::vector<Train> p;
    std::vector<Term>  terms;
    std::vector<Real>  sign;
    for (int odd = 0; odd < 16; ++odd) {
      const int bits = __builtin_popcount(odd);
      if (bits % 2 == 0) continue;
      p.push_back(product(s, [odd](Int k, Int i) { return Scalar(odd >> k & 1 ? std::sin(point(k, i)) : std::cos(point(k, i))); }));
      sign.push_back(bits == 1 ? 1 : -1);
    }
    for (std::size_t j = 0; j < p.size(); ++j) terms.push_back({Scaled(Scalar(sign[j])), &p[j]});
    Train           y;
    const RoundInfo info = round_sum(s, terms, options(1e-12), y);
    EXPECT_EQ(info.rank_in, 8);
    EXPECT_EQ(y.ranks(), (std::vector<Int>{1, 2, 2, 2, 1}));
    EXPECT_LT(distance(dense(y), E), 1e-12);
  }
}

TEST(ClosedForms, SquareOfSineHasRankThree)
{
  const SpacePtr s = make_space({9, 8, 7}, "d");
  const auto     sine = [](const std::vector<Int> &i) { return Scalar(std::sin(point(0, i[0]) + point(1, i[1]) + point(2, i[2]))); };
  const Dense    E    = make_dense({9, 8, 7}, sine);
  Train          x;
  from_full(s, E.a.data(), options(1e-13), x);
  Train y = hadamard(x, x);
  EXPECT_EQ(y.max_rank(), 4);
  round(y, options(1e-11));
  EXPECT_EQ(y.max_rank(), 3);
  const Dense S = make_dense({9, 8, 7}, [&](const std::vector<Int> &i) { return sine(i) * sine(i); });
  EXPECT_LT(distance(dense(y), S), 1e-11);
}

// Every entry 50, norm 10^200 * 50, by fifty additions one after another and by one sum of fifty.
static void check_fifty(const Train &x)
{
  EXPECT_EQ(x.max_rank(), 1);
  EXPECT_NEAR((double)norm(x).log10_abs(), 200 + std::log10(50.), 1e-10);
  EXPECT_ERROR((void)dot(x, x).value(), PETSC_ERR_FP);
  EXPECT_NEAR((double)dot(x, x).log10_abs(), 400 + 2 * std::log10(50.), 1e-10);
  std::vector<Int> index(3 * 400, 0);
  for (Int k = 0; k < 400; ++k) {
    index[400 + k] = 9;
    index[800 + k] = (7 * k) % 10;
  }
  Scalar v[3];
  entries(x, 3, index.data(), v);
  for (Scalar t : v) EXPECT_LT(petsctt::abs(t - Scalar(50)), 1e-8);
}

TEST(ClosedForms, OnesOnFourHundredModesAddedFiftyTimes)
{
  const SpacePtr s    = make_space(std::vector<Int>(400, 10), "drrr");
  const Train    ones = constant(s, 1);
  Train          x(s), y(s);
  for (int j = 0; j < 50; ++j) round_sum(s, {{Scaled(1), &x}, {Scaled(1), &ones}}, options(1e-10), x);
  check_fifty(x);
  const RoundInfo info = round_sum(s, std::vector<Term>(50, Term{Scaled(1), &ones}), options(1e-10), y);
  EXPECT_EQ(info.rank_in, 50);
  check_fifty(y);
}

TEST(ClosedForms, ExponentialOfAProduct)
{
  const Int   n = 101;
  const Dense E = make_dense({n, n}, [n](const std::vector<Int> &i) { return Scalar(std::exp(-(Real)i[0] / (n - 1) * (Real)i[1] / (n - 1))); });
  for (const char *kinds : {"d", "r", "dr"}) {
    const SpacePtr s = make_space({n, n}, kinds);
    Train          x;
    from_full(s, E.a.data(), options(1e-3), x);
    EXPECT_LE(x.max_rank(), 3);
    EXPECT_LT(distance(dense(x), E), 1e-3);
    from_full(s, E.a.data(), options(1e-14), x);
    EXPECT_GE(x.max_rank(), 7);
    EXPECT_LE(x.max_rank(), 9);
    EXPECT_LT(distance(dense(x), E), 3e-14);
    Train y = x; // the same ranks by rounding the accurate train
    round(y, options(1e-3));
    EXPECT_LE(y.max_rank(), 3);
    EXPECT_LT(distance(dense(y), E), 1e-3);
  }
}

TEST(ClosedForms, BestApproximationOfNoise)
{
  // Gaussian tensor 32^3 (complex: N(0,1) + i N(0,1)): the mean squared error falls monotonically to 0
  const std::vector<Int> N = {32, 32, 32};
  Dense                  X(N);
  fill_gaussian(1, 2, 0, (Count)X.a.size(), X.a.data());
  if (is_complex)
    for (Scalar &v : X.a) v *= std::sqrt((Real)2);
  const SpacePtr s = make_space(N, "d");
  Train          exact, x;
  from_full(s, X.a.data(), options(0), exact);
  EXPECT_EQ(exact.ranks(), (std::vector<Int>{1, 32, 32, 1}));
  EXPECT_LT(distance(dense(exact), X), 1e-13);
  Real last = std::numeric_limits<Real>::infinity();
  for (Int cap : {1, 2, 4, 8, 16, 24, 31, 32}) {
    RoundOptions o = options(0);
    o.max_rank     = cap;
    x              = exact;
    const RoundInfo info = round(x, o);
    const Real      mean = std::pow(combine(1, dense(x), -1, X).norm(), 2) / (Real)X.a.size();
    EXPECT_LT(mean, last);
    EXPECT_NEAR((double)std::sqrt(mean), (double)(info.error * X.norm() / std::sqrt((Real)X.a.size())), 1e-12);
    last = mean;
  }
  EXPECT_LT(last, 1e-24);
}

TEST(ClosedForms, HilbertTrain)
{
  // cores 1/(i+j+k-2) (1-based), all positive: the sum of all entries by contraction against the dense one
  const std::vector<Int> N = {6, 6, 6, 6};
  for (const char *kinds : {"d", "r", "rd"}) {
    const SpacePtr s = make_space(N, kinds);
    Train          x(s);
    for (Int k = 0; k < 4; ++k) {
      Core c(k == 0 ? 1 : 4, s->n(k), k == 3 ? 1 : 4);
      for (Int b = 0; b < c.r1; ++b)
        for (Int i = 0; i < c.n; ++i)
          for (Int a = 0; a < c.r0; ++a) c(a, i, b) = Scalar(1) / (Real)(a + s->start(k) + i + b + 1);
      x.set_core(k, std::move(c));
    }
    x.set_scale(Scaled(1));
    const Dense X   = dense(x);
    Scalar      sum = 0;
    for (Scalar v : X.a) sum += v;
    EXPECT_LT(petsctt::abs(contract_all(x, std::vector<const Scalar *>(4, nullptr)).value() / sum - Scalar(1)), 1e-13);
    EXPECT_LT(petsctt::abs(dot(x, constant(s, 1)).value() / sum - Scalar(1)), 1e-13);
    Train           y    = x;
    const RoundInfo info = round(y, options(1e-6));
    EXPECT_LT(y.max_rank(), 4);
    EXPECT_NEAR((double)info.error, (double)distance(dense(y), X), 1e-13);
  }
}

TEST(ClosedForms, MeanVarianceAndExtremesOfASum)
{
  // x_1 + x_2 + x_3 on {0..9}^3: mean 13.5, variance 3 * 8.25, extremes 0 and 27
  const SpacePtr     s = make_space({10, 10, 10}, "dr");
  std::vector<Train> x;
  for (Int k = 0; k < 3; ++k) x.push_back(product(s, [k](Int j, Int i) { return Scalar(j == k ? (Real)i : 1); }));
  Train y;
  round_sum(s, {{Scaled(1), &x[0]}, {Scaled(1), &x[1]}, {Scaled(1), &x[2]}}, options(1e-13), y);
  const std::vector<const Scalar *> ones(3, nullptr);
  const Real                        mean = real(contract_all(y, ones).value()) / 1000;
  EXPECT_NEAR((double)mean, 13.5, 1e-11);
  EXPECT_NEAR((double)(real(dot(y, y).value()) / 1000 - mean * mean), 24.75, 1e-9);
  const Extremes e = extremes(y, 1000);
  EXPECT_NEAR((double)e.min, 0, 1e-11);
  EXPECT_NEAR((double)e.max, 27, 1e-11);
  EXPECT_EQ(e.argmax, (std::vector<Int>{9, 9, 9}));
  EXPECT_EQ(e.argmin, (std::vector<Int>{0, 0, 0}));
}
