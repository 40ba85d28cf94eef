#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/round.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

TEST(Sum, AgainstDense)
{
  for (const auto &N : std::vector<std::vector<Int>>{{7}, {4, 6}, {3, 1, 5, 4}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr   s = make_space(N, kinds);
      std::vector<Int> r(N.size() + 1, 2);
      Train            x = random_train(s, r, 1), y = random_train(s, std::vector<Int>(N.size() + 1, 3), 2), z = random_train(s, r, 3);
      const Scalar     i = is_complex ? std::sqrt(Scalar(-1)) : Scalar(-1.5);
      y.set_scale(Scaled(i));
      z.set_scale(Scaled(Scalar(1e-3)));
      const Dense X = dense(x), Y = dense(y), Z = dense(z), S = combine(1, combine(Scalar(2) * i, X, -0.25, Y), 1e3, Z);
      const std::vector<Term> terms = {{Scaled(Scalar(2) * i), &x}, {Scaled(-0.25), &y}, {Scaled(1e3), &z}};
      const Train             sum   = form_sum(s, terms);
      sum.check();
      EXPECT_LT(distance(dense(sum), S), 1e-14) << kinds;
      for (Int k = 1; k < s->d(); ++k) EXPECT_EQ(sum.r(k), x.r(k) + y.r(k) + z.r(k)) << "TT ranks add";
      RoundOptions o;
      o.rtol = 1e-12;
      Train           out;
      const RoundInfo info = round_sum(s, terms, o, out);
      EXPECT_LT(distance(dense(out), S), 1e-12) << kinds;
      EXPECT_NEAR((double)real(info.norm.value()), (double)S.norm(), 1e-11 * S.norm());
      // the result may be one of the terms
      round_sum(s, terms, o, x);
      EXPECT_LT(distance(dense(x), S), 1e-12);
    }
}

TEST(Sum, ZeroAddsNoRank)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({4, 5, 6}, kinds);
    const Train    zero(s), x = random_train(s, {1, 3, 2, 1}, 4);
    RoundOptions   o;
    Train          out;
    const Train    sum = form_sum(s, {{Scaled(1), &zero}, {Scaled(1), &x}, {Scaled(0), &x}});
    EXPECT_EQ(sum.ranks(), x.ranks());
    EXPECT_EQ(distance(dense(sum), dense(x)), 0);
    o.rtol = 1e-14;
    round_sum(s, {{Scaled(5), &zero}, {Scaled(1), &x}}, o, out);
    EXPECT_EQ(out.ranks(), x.ranks());
    EXPECT_LT(distance(dense(out), dense(x)), 1e-13);
    EXPECT_TRUE(form_sum(s, {}).is_zero());
    EXPECT_TRUE(form_sum(s, {{Scaled(1), &zero}, {Scaled(2), &zero}}).is_zero());
    EXPECT_TRUE(round_sum(s, {}, o, out).norm.is_zero());
    EXPECT_TRUE(out.is_zero());
    EXPECT_TRUE(out.space()->same(*s));
  }
}

TEST(Sum, Cancellation)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({6, 5, 6}, kinds);
    const Train    x = random_train(s, {1, 3, 3, 1}, 5);
    RoundOptions   o;
    Train          out;
    o.rtol         = 1e-8;
    RoundInfo info = round_sum(s, {{Scaled(1), &x}, {Scaled(-1), &x}}, o, out);
    // what is left is round-off: of the order of epsilon, not of its root
    EXPECT_LT((double)(info.norm.is_zero() ? -100 : (info.norm / norm(x)).log10_abs()), -14.);
    const Train y = random_train(s, {1, 3, 3, 1}, 6);
    info          = round_sum(s, {{Scaled(1), &x}, {Scaled(1e-10), &y}, {Scaled(-1), &x}}, o, out);
    EXPECT_NEAR((double)real((info.norm / norm(y)).value()), 1e-10, 1e-14 * (double)real((norm(x) / norm(y)).value()));
  }
}

TEST(Sum, ScalesFarApart)
{
  const SpacePtr s = make_space({6, 5, 6}, "dr");
  const Train    x = random_train(s, {1, 3, 3, 1}, 7), y = random_train(s, {1, 2, 2, 1}, 8);
  RoundOptions   o;
  Train          out;
  o.rtol = 1e-10;
  round_sum(s, {{Scaled(Scalar(1), 3000), &x}, {Scaled(Scalar(1), -3000), &y}}, o, out);
  EXPECT_EQ(out.ranks(), x.ranks());
  EXPECT_NEAR((double)(norm(out).log10_abs() - norm(x).log10_abs()), 3000 * std::log10(2.), 1e-9);
  round_sum(s, {{Scaled(Scalar(1), -3000), &x}, {Scaled(Scalar(1), -3000), &y}}, o, out);
  EXPECT_EQ(out.r(1), 5);
  out.set_scale(out.scale().times_pow2(3000));
  EXPECT_LT(distance(dense(out), combine(1, dense(x), 1, dense(y))), 1e-10);
}

TEST(Sum, NaNSpreads)
{
  const Real     nan = std::numeric_limits<Real>::quiet_NaN();
  const SpacePtr s = make_space({6, 5}, "d");
  const Train    x = random_train(s, {1, 3, 1}, 9), zero(s);
  Train          bad = x, out;
  RoundOptions   o;
  bad.set_scale(Scaled(Scalar(nan)));
  EXPECT_FALSE(form_sum(s, {{Scaled(1), &x}, {Scaled(1), &bad}}).scale().finite());
  EXPECT_FALSE(form_sum(s, {{Scaled(Scalar(nan)), &x}}).scale().finite());
  EXPECT_FALSE(round_sum(s, {{Scaled(1), &bad}, {Scaled(1), &x}}, o, out).norm.finite());
  bad = x;
  if (s->start(1) == 0 && s->n(1)) bad.core_rw(1)(0, 0, 0) = nan;
  else bad.core_rw(1);
  EXPECT_FALSE(round_sum(s, {{Scaled(1), &x}, {Scaled(1), &bad}}, o, out).norm.finite());
  EXPECT_FALSE(out.scale().finite());
  EXPECT_EQ(out.max_rank(), 1);
}

TEST(Sum, ManyTerms)
{
  const SpacePtr     s = make_space({8, 9, 10}, "dr");
  std::vector<Train> x;
  std::vector<Term>  terms;
  Dense              S({8, 9, 10});
  for (int j = 0; j < 30; ++j) x.push_back(random_train(s, {1, 2, 2, 1}, 10 + j));
  for (int j = 0; j < 30; ++j) {
    terms.push_back({Scaled(Scalar(j - 14.5)), &x[j]});
    S = combine(1, S, j - 14.5, dense(x[j]));
  }
  RoundOptions o;
  Train        out;
  o.rtol               = 1e-12;
  const RoundInfo info = round_sum(s, terms, o, out);
  EXPECT_EQ(info.rank_in, 60);
  EXPECT_EQ(out.ranks(), (std::vector<Int>{1, 8, 10, 1}));
  EXPECT_LT(distance(dense(out), S), 1e-12);
}

TEST(Sum, DifferentSpaces)
{
  const SpacePtr a = make_space({4, 6}, "d"), b = make_space({6, 4}, "d");
  const Train    x = constant(a, 1), y = constant(b, 1), zero(b);
  RoundOptions   o;
  Train          out;
  EXPECT_ERROR(form_sum(a, {{Scaled(1), &x}, {Scaled(1), &y}}), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(form_sum(b, {{Scaled(1), &x}}), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(form_sum(a, {{Scaled(1), &x}, {Scaled(1), &zero}}), PETSC_ERR_ARG_INCOMP);
  EXPECT_ERROR(round_sum(a, {{Scaled(1), &x}, {Scaled(1), &y}}, o, out), PETSC_ERR_ARG_INCOMP);
}
