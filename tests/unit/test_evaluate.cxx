#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/evaluate.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

static const Scalar some = is_complex ? Scalar(2) + std::sqrt(Scalar(-1)) : Scalar(-1.5);

TEST(Entries, AgainstDense)
{
  const std::vector<Int> N = {4, 3, 1, 5};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    Train          x = random_train(s, {1, 3, 2, 4, 1}, 1);
    x.set_scale(Scaled(some));
    const Dense      X = dense(x);
    std::vector<Int> index;
    for (std::size_t l = 0; l < X.a.size(); ++l)
      for (Int i : X.multi(l)) index.push_back(i);
    Dense Y(N);
    entries(x, (Int)X.a.size(), index.data(), Y.a.data());
    EXPECT_LT(distance(Y, X), 1e-14) << kinds;
    entries(x, 0, nullptr, nullptr);
    for (Int d = 0; d < 4; ++d) {
      std::vector<Int> bad = {0, 0, 0, 0};
      Scalar           v;
      bad[d] = N[d];
      EXPECT_ERROR(entries(x, 1, bad.data(), &v), PETSC_ERR_ARG_OUTOFRANGE);
      bad[d] = -1;
      EXPECT_ERROR(entries(x, 1, bad.data(), &v), PETSC_ERR_ARG_OUTOFRANGE);
    }
    entries(Train(s), 5, index.data(), Y.a.data());
    EXPECT_EQ(Y.a[4], Scalar(0));
  }
}

TEST(Entries, FarApartAndOutOfRange)
{
  const SpacePtr s = make_space({2, 2, 2}, "d");
  Train          x(s); // (1, 10^200) in every mode: entries 1 .. 10^600
  for (Int k = 0; k < 3; ++k)
    for (Int i = 0; i < s->n(k); ++i) x.core_rw(k)(0, i, 0) = s->start(k) + i ? 1e200 : 1;
  x.set_scale(Scaled(1));
  const Int small[6] = {0, 0, 0, 1, 0, 0}, large[3] = {1, 1, 1};
  Scalar    v[2];
  entries(x, 2, small, v);
  EXPECT_EQ(v[0], Scalar(1));
  EXPECT_EQ(v[1], Scalar(1e200));
  EXPECT_ERROR(entries(x, 1, large, v), PETSC_ERR_FP);
  x.set_scale(Scaled(Scalar(1e-300)) * Scaled(Scalar(1e-300)));
  entries(x, 1, large, v);
  EXPECT_LT(petsctt::abs(v[0] - Scalar(1)), 1e-14);
}

TEST(Fibre, AgainstDense)
{
  const std::vector<Int> N = {4, 3, 6, 2};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    Train          x = random_train(s, {1, 3, 5, 2, 1}, 2);
    x.set_scale(Scaled(some));
    const Dense X = dense(x);
    const Real  n = X.norm();
    for (Int k = 0; k < 4; ++k) {
      std::vector<Int>    index = {3, 2, 4, 1};
      std::vector<Scalar> v(s->n(k) + 1, Scalar(-99));
      index[k] = -5; // ignored
      fibre(x, k, index.data(), v.data());
      for (Int i = 0; i < s->n(k); ++i) {
        index[k] = s->start(k) + i;
        EXPECT_LT(petsctt::abs(v[i] - X.a[X.linear(index)]), 1e-14 * n) << kinds;
      }
      EXPECT_EQ(v[s->n(k)], Scalar(-99)) << "wrote past the end";
      fibre(Train(s), k, index.data(), v.data());
      for (Int i = 0; i < s->n(k); ++i) EXPECT_EQ(v[i], Scalar(0));
      index[(k + 1) % 4] = 77;
      EXPECT_ERROR(fibre(x, k, index.data(), v.data()), PETSC_ERR_ARG_OUTOFRANGE);
    }
    EXPECT_ERROR(fibre(x, 4, nullptr, nullptr), PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_ERROR(fibre(x, -1, nullptr, nullptr), PETSC_ERR_ARG_OUTOFRANGE);
  }
}

TEST(Fibre, RangeIsCheckedOnAllProcesses)
{
  const SpacePtr      s = make_space({5, 3}, "d");
  Train               x = constant(s, 1);
  std::vector<Scalar> v(s->n(0) + 1);
  const Int           index[2] = {0, 1};
  x.set_scale(x.scale().times_pow2(4000));
  EXPECT_ERROR(fibre(x, 0, index, v.data()), PETSC_ERR_FP);
  x.set_scale(x.scale().times_pow2(-8000));
  fibre(x, 0, index, v.data());
  for (Int i = 0; i < s->n(0); ++i) EXPECT_EQ(v[i], Scalar(0));
}

// Weights with global values w(k,i) and the local parts of them.
static Scalar weight(Int k, Int i) { return gaussian(77, (std::uint64_t)k, (std::uint64_t)i); }
static std::vector<std::vector<Scalar>> local_weights(const Space &s)
{
  std::vector<std::vector<Scalar>> w(s.d());
  for (Int k = 0; k < s.d(); ++k) {
    for (Int i = 0; i < s.n(k); ++i) w[k].push_back(weight(k, s.start(k) + i));
    w[k].push_back(0);
  }
  return w;
}

TEST(Contract, AllSubsetsAgainstDense)
{
  const std::vector<Int> N = {4, 3, 2, 5};
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space(N, kinds);
    Train          x = random_train(s, {1, 3, 5, 4, 1}, 3);
    x.set_scale(Scaled(some));
    const Dense X = dense(x);
    const auto  w = local_weights(*s);
    for (int subset = 0; subset < 16; ++subset) {
      std::vector<bool>           contracted(4);
      std::vector<const Scalar *> weights(4, nullptr); // mode 2: ones
      std::vector<Mode>           modes;
      std::vector<Int>            M;
      for (Int k = 0; k < 4; ++k) {
        contracted[k] = subset >> k & 1;
        if (k != 2) weights[k] = w[k].data();
        if (!contracted[k]) {
          modes.push_back(s->mode(k));
          M.push_back(N[k]);
        }
      }
      Dense E(M); // no modes at all: one entry
      for (std::size_t l = 0; l < X.a.size(); ++l) {
        Scalar           f = 1;
        std::vector<Int> i = X.multi(l), j;
        for (Int k = 0; k < 4; ++k) {
          if (contracted[k]) f *= k == 2 ? Scalar(1) : weight(k, i[k]);
          else j.push_back(i[k]);
        }
        E.a[E.linear(j)] += f * X.a[l];
      }
      if (subset == 15) {
        EXPECT_LT(petsctt::abs(contract_all(x, weights).value() - E.a[0]), 1e-13 * X.norm()) << kinds;
        EXPECT_ERROR(contract(x, contracted, weights, s), PETSC_ERR_ARG_WRONG);
      } else {
        const auto  rest = std::make_shared<Space>(PETSC_COMM_WORLD, modes);
        const Train y    = contract(x, contracted, weights, rest);
        y.check();
        EXPECT_LT(distance(dense(y), E), 1e-13) << kinds << subset;
        EXPECT_TRUE(contract(Train(s), contracted, weights, rest).is_zero());
      }
    }
    EXPECT_TRUE(contract_all(Train(s), std::vector<const Scalar *>(4, nullptr)).is_zero());
  }
}

TEST(Contract, BadInput)
{
  const SpacePtr                    s = make_space({4, 3}, "d"), one = make_space({4}, "d"), other = make_space({5}, "d");
  const Train                       x = constant(s, 1);
  const std::vector<const Scalar *> w(2, nullptr);
  EXPECT_NO_THROW(contract(x, {false, true}, w, one));
  EXPECT_ERROR(contract(x, {false, true}, w, other), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(contract(x, {true, false}, w, one), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(contract(x, {false, false}, w, one), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(contract(x, {false}, w, one), PETSC_ERR_ARG_SIZ);
  EXPECT_ERROR(contract(x, {false, true}, {nullptr}, one), PETSC_ERR_ARG_SIZ);
  EXPECT_ERROR(contract_all(x, {nullptr}), PETSC_ERR_ARG_SIZ);
}

TEST(Contract, SumOfFourHundredModes)
{
  const SpacePtr s = make_space(std::vector<Int>(400, 10), "dr");
  EXPECT_NEAR((double)contract_all(constant(s, 1), std::vector<const Scalar *>(400, nullptr)).log10_abs(), 400, 1e-10);
  std::vector<bool> all_but_one(400, true);
  all_but_one[123] = false;
  const Train y    = contract(constant(s, 1), all_but_one, std::vector<const Scalar *>(400, nullptr), make_space({10}, s->replicated(123) ? "r" : "d"));
  EXPECT_NEAR((double)norm(y).log10_abs(), 399.5, 1e-10);
}

static Extremes dense_extremes(const Dense &X)
{
  std::size_t lo = 0, hi = 0;
  for (std::size_t l = 1; l < X.a.size(); ++l) {
    if (real(X.a[l]) < real(X.a[lo])) lo = l;
    if (real(X.a[l]) > real(X.a[hi])) hi = l;
  }
  return {real(X.a[lo]), real(X.a[hi]), X.multi(lo), X.multi(hi)};
}

TEST(Extremes, AgainstDense)
{
  for (const auto &N : std::vector<std::vector<Int>>{{7}, {4, 3}, {1, 9, 1}, {5, 4, 3, 6}, {700, 3, 300}})
    for (const std::string &kinds : std::vector<std::string>{"d", "r", "rd", "l"}) {
      const SpacePtr s = make_space(N, kinds);
      Train          x = random_train(s, std::vector<Int>(N.size() + 1, 4), 4);
      x.set_scale(Scaled(some));
      const Dense    X = dense(x);
      const Extremes e = dense_extremes(X), g = extremes(x, 1e6);
      EXPECT_EQ(g.argmin, e.argmin) << kinds;
      EXPECT_EQ(g.argmax, e.argmax) << kinds;
      EXPECT_LT(std::abs(g.min - e.min), 1e-13 * std::abs(e.min));
      EXPECT_LT(std::abs(g.max - e.max), 1e-13 * std::abs(e.max));
    }
}

TEST(Extremes, TiesGoToTheFirst)
{
  for (const std::string &kinds : std::vector<std::string>{"d", "r", "dr"}) {
    const SpacePtr s = make_space({30, 40, 50}, kinds);
    const Extremes c = extremes(constant(s, Scalar(0.1)), 1e6);
    EXPECT_EQ(c.argmin, (std::vector<Int>{0, 0, 0}));
    EXPECT_EQ(c.argmax, (std::vector<Int>{0, 0, 0}));
    EXPECT_NEAR((double)c.min, 0.1, 1e-15);
    // symmetric: the same value at mirrored places, up to round-off
    std::vector<std::vector<Scalar>> v(3);
    std::vector<const Scalar *>      p;
    for (Int k = 0; k < 3; ++k) {
      for (Int i = 0; i < s->n(k); ++i) v[k].push_back(std::cos(2 * 3.14159265358979323846 * (Real)(s->start(k) + i) / (Real)(s->N(k) - 1)) + 0.3);
      v[k].push_back(0);
      p.push_back(v[k].data());
    }
    const Extremes e = extremes(rank_one(s, p), 1e6);
    EXPECT_EQ(e.argmax, (std::vector<Int>{0, 0, 0}));
    EXPECT_NEAR((double)e.max, 1.3 * 1.3 * 1.3, 1e-13);
    const Extremes z = extremes(Train(s), 1e6);
    EXPECT_EQ(z.min, 0);
    EXPECT_EQ(z.argmax, (std::vector<Int>{0, 0, 0}));
  }
}

TEST(Extremes, BadInput)
{
  const SpacePtr s = make_space({30, 40, 50}, "d");
  EXPECT_ERROR(extremes(constant(s, 1), 59999), PETSC_ERR_SUP);
  EXPECT_NO_THROW(extremes(constant(s, 1), 60000));
  EXPECT_ERROR(extremes(constant(make_space(std::vector<Int>(400, 10), "d"), 1), 1e300), PETSC_ERR_SUP);
  EXPECT_ERROR(extremes(constant(s, Scalar(std::numeric_limits<Real>::quiet_NaN())), 1e6), PETSC_ERR_FP);
  Train x = random_train(s, {1, 2, 2, 1}, 5);
  if (s->start(1) == 0 && s->n(1)) x.core_rw(1)(0, 0, 0) = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_ERROR(extremes(x, 1e6), PETSC_ERR_FP);
  Train big = constant(s, 1);
  big.set_scale(big.scale().times_pow2(5000));
  EXPECT_ERROR(extremes(big, 1e6), PETSC_ERR_FP);
}
