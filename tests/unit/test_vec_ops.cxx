// The operation table of VECTT against full arrays.
#include "test_vec_fixture.hpp"

#include <algorithm>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

constexpr Real tol = 1e-10;

class VecTTOps : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override
  {
    for (int i = 0; i < 3; ++i) {
      VEC_OK(make_vec(N, GetParam(), 2, 10 + i, v[i].out()));
      // complex values of both parts, and scales that differ
      VEC_OK(VecScale(v[i], number(1.5 + i, 0.5 - i)));
      x[i] = dense_of(v[i]);
    }
    VEC_OK(VecDuplicate(v[0], w.out()));
    VEC_OK(VecTTSetRandom(w, nullptr, 99)); // results must not depend on what was there
  }
  const std::vector<Int> N = {4, 3, 5};
  VecHandle              v[3], w;
  Dense                  x[3];
};

TEST_P(VecTTOps, LinearCombinations)
{
  const Scalar a = number(0.7, -0.3), b = number(-1.2, 0.4), c = number(0.25, 1);
  VEC_OK(VecCopy(v[0], w));
  EXPECT_LT(distance(dense_of(w), x[0]), tol);
  VEC_OK(VecAXPY(w, a, v[1]));
  EXPECT_LT(distance(dense_of(w), combine(1, x[0], a, x[1])), tol);
  VEC_OK(VecCopy(v[0], w));
  VEC_OK(VecAXPBY(w, a, b, v[1]));
  EXPECT_LT(distance(dense_of(w), combine(b, x[0], a, x[1])), tol);
  VEC_OK(VecCopy(v[0], w));
  VEC_OK(VecAYPX(w, b, v[1]));
  EXPECT_LT(distance(dense_of(w), combine(b, x[0], 1, x[1])), tol);
  VEC_OK(VecWAXPY(w, a, v[0], v[1]));
  EXPECT_LT(distance(dense_of(w), combine(a, x[0], 1, x[1])), tol);
  VEC_OK(VecCopy(v[2], w));
  VEC_OK(VecAXPBYPCZ(w, a, b, c, v[0], v[1]));
  EXPECT_LT(distance(dense_of(w), combine(1, combine(a, x[0], b, x[1]), c, x[2])), tol);
  VEC_OK(VecShift(w, b));
  EXPECT_LT(distance(dense_of(w), map(combine(1, combine(a, x[0], b, x[1]), c, x[2]), [&](Scalar s) { return s + b; })), tol);
}

TEST_P(VecTTOps, ManyAtOnce)
{
  const Scalar a[3] = {number(0.7, -0.3), 0, number(2, 1)};
  Vec          y[3] = {v[0], v[1], v[2]};
  VEC_OK(VecCopy(v[1], w));
  VEC_OK(VecMAXPY(w, 3, a, y));
  EXPECT_LT(distance(dense_of(w), combine(1, combine(a[0], x[0], 1, x[1]), a[2], x[2])), tol);
  Scalar d[3], t[3];
  VEC_OK(VecMDot(v[0], 3, y, d));
  VEC_OK(VecMTDot(v[0], 3, y, t));
  for (int j = 0; j < 3; ++j) {
    const Real scale = x[0].norm() * x[j].norm();
    EXPECT_LT(petsctt::abs(d[j] - dense_dot(x[0], x[j], true)), tol * scale);
    EXPECT_LT(petsctt::abs(t[j] - dense_dot(x[0], x[j], false)), tol * scale);
  }
}

TEST_P(VecTTOps, ScaleSetSwapConjugate)
{
  const Scalar a = number(-0.5, 2);
  VEC_OK(VecCopy(v[0], w));
  VEC_OK(VecScale(w, a));
  EXPECT_LT(distance(dense_of(w), combine(a, x[0], 0, x[0])), tol);
  VEC_OK(VecConjugate(w));
  EXPECT_LT(distance(dense_of(w), map(x[0], [&](Scalar s) { return petsctt::conj(a * s); })), tol);
  VEC_OK(VecSwap(v[0], v[1]));
  EXPECT_LT(distance(dense_of(v[0]), x[1]), tol);
  EXPECT_LT(distance(dense_of(v[1]), x[0]), tol);
  VEC_OK(VecSet(w, a));
  EXPECT_LT(distance(dense_of(w), map(x[0], [&](Scalar) { return a; })), tol);
  Real norm;
  VEC_OK(VecNorm(w, NORM_2, &norm));
  EXPECT_NEAR(norm, petsctt::abs(a) * std::sqrt(60.), 1e-12);
  VEC_OK(VecZeroEntries(w));
  VEC_OK(VecNorm(w, NORM_2, &norm));
  EXPECT_EQ(norm, 0);
  EXPECT_TRUE(train_of(w).is_zero());
}

TEST_P(VecTTOps, PointwiseMultWithAliases)
{
  Dense p(x[0]);
  for (std::size_t i = 0; i < p.a.size(); ++i) p.a[i] *= x[1].a[i];
  VEC_OK(VecPointwiseMult(w, v[0], v[1]));
  EXPECT_LT(distance(dense_of(w), p), tol);
  VEC_OK(VecCopy(v[0], w));
  VEC_OK(VecPointwiseMult(w, w, v[1]));
  EXPECT_LT(distance(dense_of(w), p), tol);
  VEC_OK(VecPointwiseMult(v[0], v[0], v[0]));
  EXPECT_LT(distance(dense_of(v[0]), map(x[0], [](Scalar s) { return s * s; })), tol);
}

TEST_P(VecTTOps, DotsAndNorms)
{
  const Real scale = x[0].norm() * x[1].norm();
  Scalar     d, nm;
  Real       r, both[2];
  VEC_OK(VecDot(v[0], v[1], &d));
  EXPECT_LT(petsctt::abs(d - dense_dot(x[0], x[1], true)), tol * scale);
  VEC_OK(VecTDot(v[0], v[1], &d));
  EXPECT_LT(petsctt::abs(d - dense_dot(x[0], x[1], false)), tol * scale);
  VEC_OK(VecDot(v[0], v[0], &d));
  EXPECT_LT(petsctt::abs(d - Scalar(x[0].norm() * x[0].norm())), tol * scale);
  PetscReal nr;
  VEC_OK(VecDotNorm2(v[0], v[1], &d, &nr));
  EXPECT_LT(petsctt::abs(d - dense_dot(x[0], x[1], true)), tol * scale);
  EXPECT_NEAR(nr, x[1].norm() * x[1].norm(), tol * nr);
  for (NormType type : {NORM_2, NORM_FROBENIUS}) {
    VEC_OK(VecNorm(v[0], type, &r));
    EXPECT_NEAR(r, x[0].norm(), tol * r);
  }
  Real one = 0, inf = 0;
  for (Scalar s : x[0].a) {
    one += petsctt::abs(s);
    inf = std::max(inf, petsctt::abs(s));
  }
  VEC_OK(VecNorm(v[0], NORM_1, &r));
  EXPECT_NEAR(r, one, tol * one);
  VEC_OK(VecNorm(v[0], NORM_INFINITY, &r));
  EXPECT_NEAR(r, inf, tol * inf);
  VEC_OK(VecNorm(v[0], NORM_1_AND_2, both));
  EXPECT_NEAR(both[0], one, tol * one);
  EXPECT_NEAR(both[1], x[0].norm(), tol * one);
  (void)nm;
}

TEST_P(VecTTOps, SplitPhase)
{
  Scalar d, t, m[2];
  Real   r;
  Vec    y[2] = {v[1], v[2]};
  VEC_OK(VecDotBegin(v[0], v[1], &d));
  VEC_OK(VecTDotBegin(v[0], v[1], &t));
  VEC_OK(VecNormBegin(v[0], NORM_2, &r));
  VEC_OK(VecMDotBegin(v[0], 2, y, m));
  VEC_OK(VecDotEnd(v[0], v[1], &d));
  VEC_OK(VecTDotEnd(v[0], v[1], &t));
  VEC_OK(VecNormEnd(v[0], NORM_2, &r));
  VEC_OK(VecMDotEnd(v[0], 2, y, m));
  const Real scale = x[0].norm() * (x[1].norm() + x[2].norm());
  EXPECT_LT(petsctt::abs(d - dense_dot(x[0], x[1], true)), tol * scale);
  EXPECT_LT(petsctt::abs(t - dense_dot(x[0], x[1], false)), tol * scale);
  EXPECT_NEAR(r, x[0].norm(), tol * r);
  EXPECT_LT(petsctt::abs(m[0] - dense_dot(x[0], x[1], true)), tol * scale);
  EXPECT_LT(petsctt::abs(m[1] - dense_dot(x[0], x[2], true)), tol * scale);
}

TEST_P(VecTTOps, SumMeanMaxMin)
{
  Scalar   s, sum = 0;
  Real     r;
  PetscInt i;
  for (Scalar a : x[0].a) sum += a;
  VEC_OK(VecSum(v[0], &s));
  EXPECT_LT(petsctt::abs(s - sum), tol * x[0].norm() * 8);
  VEC_OK(VecMean(v[0], &s));
  EXPECT_LT(petsctt::abs(s - sum / (Real)60), tol * x[0].norm());
  std::size_t hi = 0, lo = 0;
  for (std::size_t j = 0; j < x[0].a.size(); ++j) {
    if (PetscRealPart(x[0].a[j]) > PetscRealPart(x[0].a[hi])) hi = j;
    if (PetscRealPart(x[0].a[j]) < PetscRealPart(x[0].a[lo])) lo = j;
  }
  VEC_OK(VecMax(v[0], &i, &r));
  EXPECT_EQ(i, (PetscInt)hi);
  EXPECT_NEAR(r, PetscRealPart(x[0].a[hi]), tol * x[0].norm());
  VEC_OK(VecMin(v[0], &i, &r));
  EXPECT_EQ(i, (PetscInt)lo);
  EXPECT_NEAR(r, PetscRealPart(x[0].a[lo]), tol * x[0].norm());
  VEC_OK(VecMax(v[0], nullptr, &r));
}

INSTANTIATE_TEST_SUITE_P(Distributions, VecTTOps, testing::Values("d", "r", "drr", "rd", "f", "ulr"), [](const auto &info) { return info.param; });

TEST(VecTTAlgebra, ZeroAddsNoRank)
{
  VecHandle x, y;
  VEC_OK(make_vec({5, 6, 7}, "d", 3, 1, x.out()));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecAXPY(y, 2, x)); // zero + 2 x: x itself, not rounded
  const PetscInt *r;
  VEC_OK(VecTTGetRanks(y, &r));
  for (int k = 0; k <= 3; ++k) EXPECT_EQ(r[k], train_of(x).r(k));
  VecTTRoundingInfo info;
  VEC_OK(VecTTGetRoundingInfo(y, &info));
  EXPECT_EQ(info.roundings, 0);
  EXPECT_LT(distance(dense_of(y), combine(2, dense_of(x), 0, dense_of(x))), 1e-14);
  VEC_OK(VecAXPY(y, -2, x));
  Real norm;
  VEC_OK(VecNorm(y, NORM_2, &norm));
  VEC_OK(VecNorm(x, NORM_2, &norm));
}

// Sums of vectors that are multiples of few have the rank of those few, and the rounding says what it did.
TEST(VecTTAlgebra, SumsAreRounded)
{
  VecHandle         x, y;
  VecTTRoundingInfo info;
  VEC_OK(make_vec({6, 5, 7, 4}, "d", 2, 3, x.out()));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecCopy(x, y));
  for (int i = 0; i < 5; ++i) VEC_OK(VecAXPY(y, 1, x));
  EXPECT_EQ(train_of(y).max_rank(), 2);
  EXPECT_LT(distance(dense_of(y), combine(6, dense_of(x), 0, dense_of(x))), 1e-11);
  VEC_OK(VecTTGetRoundingInfo(y, &info));
  EXPECT_EQ(info.roundings, 5);
  EXPECT_EQ(info.rank_out, 2);
  EXPECT_FALSE(info.cap_hit);
  EXPECT_LE(info.error, 1e-12);
  // a cap that bites is recorded
  VEC_OK(VecTTSetMaxRank(y, 1));
  VEC_OK(VecAXPY(y, 1, x));
  EXPECT_EQ(train_of(y).max_rank(), 1);
  VEC_OK(VecTTGetRoundingInfo(y, &info));
  EXPECT_TRUE(info.cap_hit);
  EXPECT_EQ(info.cap_hits, 1);
  EXPECT_GT(info.error, 1e-3);
}

TEST(VecTTAlgebra, NaNSpreadsToTheNorm)
{
  VecHandle x, y;
  Real      norm;
  VEC_OK(make_vec({4, 4}, "d", 1, 3, x.out()));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecCopy(x, y));
  VEC_OK(VecAXPY(y, PetscSqrtReal(-1. * (1 + (x == nullptr))), x)); // NaN
  VEC_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_TRUE(PetscIsNanReal(norm));
  VEC_OK(VecSet(y, 0)); // and is gone with the value
  VEC_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_EQ(norm, 0);
}

// What TS measures the error of a step by: RMS(u - y) / (atol + rtol max(RMS(u), RMS(y))), here from three modes and from one.
TEST(VecTTAlgebra, ErrorOfATimeStep)
{
  const PetscReal atol = 0.2, rtol = 0.1;
  for (const std::vector<Int> &N : std::vector<std::vector<Int>>{{6, 5, 4}, {7}}) {
    VecHandle x, y;
    VEC_OK(make_vec(N, "d", 2, 3, x.out()));
    VEC_OK(make_vec(N, "d", 2, 4, y.out()));
    const Dense     u = dense_of(x), v = dense_of(y);
    const PetscReal points = std::sqrt((Real)u.a.size()), expected = combine(1, u, -1, v).norm() / points / (atol + rtol * std::max(u.norm(), v.norm()) / points);
    PetscReal       error = 0;
#if defined(PETSCTT_HAVE_VEC_ERRORWNORM)
    PetscReal a, r;
    PetscInt  n[3];
    VEC_OK(VecErrorWeightedNorms(x, y, nullptr, NORM_2, atol, nullptr, rtol, nullptr, -1, &error, n, &a, n + 1, &r, n + 2));
#else
    ErrorNormScope     scope;
    const PetscScalar *a, *b;
    VEC_OK(VecGetArrayRead(x, &a));
    VEC_OK(VecGetArrayRead(y, &b));
    error = PetscAbsScalar(a[0] - b[0]) / (atol + rtol * std::max(PetscAbsScalar(a[0]), PetscAbsScalar(b[0])));
    VEC_OK(VecRestoreArrayRead(x, &a));
    VEC_OK(VecRestoreArrayRead(y, &b));
#endif
    EXPECT_NEAR(error, expected, 1e-12 * expected);
  }
}

// Every supported split of the modes gives the same random vector, and one generator gives different ones in turn.
TEST(VecTTAlgebra, RandomIsReproducible)
{
  RandomHandle random;
  VecHandle    x, y, z;
  VEC_OK(PetscRandomCreate(PETSC_COMM_WORLD, random.out()));
  VEC_OK(PetscRandomSetFromOptions(random));
  VEC_OK(make_vec({6, 5, 4}, "d", 1, 3, x.out()));
  VEC_OK(make_vec({6, 5, 4}, "rdr", 1, 3, y.out()));
  VEC_OK(VecDuplicate(x, z.out()));
  VEC_OK(VecSetRandom(x, random));
  VEC_OK(VecSetRandom(z, random));
  EXPECT_GT(distance(dense_of(x), dense_of(z)), 0.01);
  VEC_OK(PetscRandomSeed(random));
  VEC_OK(VecSetRandom(y, random));
  EXPECT_LT(distance(dense_of(x), dense_of(y)), 1e-14);
  VEC_OK(VecSetRandom(y, nullptr));
  EXPECT_GT(dense_of(y).norm(), 0);
}

} // namespace
