// VecTTCombine() against full arrays; tolerances and modes that vectors share.
#include "test_vec_fixture.hpp"

#include <cmath>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

const std::vector<Int> N = {4, 3, 5};

struct Family {
  std::vector<VecHandle> v;
  std::vector<Vec>       raw;
  std::vector<Dense>     x;

  PetscErrorCode make(int m, const std::string &kinds = "rdr")
  {
    PetscFunctionBegin;
    v.resize(m);
    for (int i = 0; i < m; ++i) {
      PetscCall(make_vec(N, kinds, 2, 20 + i, v[i].out()));
      PetscCall(VecScale(v[i], number(1 + i, 0.5)));
      raw.push_back(v[i]);
      x.push_back(dense_of(v[i]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

Real difference(const Dense &a, const Dense &b)
{
  Real d = 0, n = 0;
  for (std::size_t i = 0; i < a.a.size(); ++i) {
    d = std::hypot(d, petsctt::abs(a.a[i] - b.a[i]));
    n = std::hypot(n, petsctt::abs(b.a[i]));
  }
  return n > 0 ? d / n : d;
}

TEST(VecCombine, ManySumsInPlace)
{
  Family f;
  VEC_OK(f.make(4));
  std::vector<Scalar> C(4 * 2);
  for (int i = 0; i < 8; ++i) C[i] = number(0.3 * i - 1, 0.1 * i);
  std::vector<Dense> want(2, f.x[0]);
  for (int j = 0; j < 2; ++j)
    for (std::size_t p = 0; p < want[j].a.size(); ++p) {
      want[j].a[p] = 0;
      for (int i = 0; i < 4; ++i) want[j].a[p] += C[i + 4 * j] * f.x[i].a[p];
    }
  VEC_OK(VecTTCombine(2, f.raw.data() + 1, 0, 4, C.data(), 4, f.raw.data(), PETSC_DEFAULT)); // columns 1 and 2 are terms too
  EXPECT_LT(difference(dense_of(f.v[1]), want[0]), 1e-10);
  EXPECT_LT(difference(dense_of(f.v[2]), want[1]), 1e-10);
  EXPECT_EQ(difference(dense_of(f.v[3]), f.x[3]), 0);
}

TEST(VecCombine, BetaAndItselfAsTerm)
{
  Family f;
  VEC_OK(f.make(2));
  const Scalar c[2] = {number(2, 1), number(-1, 0)};
  Dense        want(f.x[0]);
  for (std::size_t p = 0; p < want.a.size(); ++p) want.a[p] = (Scalar(3) + c[0]) * f.x[0].a[p] + c[1] * f.x[1].a[p];
  VEC_OK(VecTTCombine(1, f.raw.data(), 3, 2, c, 2, f.raw.data(), 1e-13));
  EXPECT_LT(difference(dense_of(f.v[0]), want), 1e-10);
}

// What is below the tolerance of the terms is zero, and small terms add no ranks.
TEST(VecCombine, ToleranceIsThatOfTheTerms)
{
  Family f;
  VEC_OK(f.make(3));
  VEC_OK(VecCopy(f.v[0], f.v[1]));
  VEC_OK(VecScale(f.v[1], 1 + 1e-9));
  const Scalar minus[1] = {-1};
  PetscReal    norm;
  VEC_OK(VecTTCombine(1, f.raw.data() + 1, 1, 1, minus, 1, f.raw.data(), 1e-6));
  VEC_OK(VecNorm(f.v[1], NORM_2, &norm));
  PetscReal scale;
  VEC_OK(VecNorm(f.v[0], NORM_2, &scale));
  EXPECT_LE(norm, 1e-6 * scale);

  const Scalar    small[2] = {1, 1e-9};
  const Vec       terms[2] = {f.v[0], f.v[2]};
  const PetscInt *r;
  VEC_OK(VecTTCombine(1, f.raw.data() + 1, 0, 2, small, 2, terms, 1e-6));
  VEC_OK(VecTTGetRanks(f.v[1], &r));
  EXPECT_EQ(r[1], 2);
  EXPECT_EQ(r[2], 2);
}

TEST(VecCombine, NoTermsAndBadInput)
{
  Family f;
  VEC_OK(f.make(2));
  const Scalar c[2] = {1, 1};
  Vec          same[2] = {f.v[0], f.v[0]};
  EXPECT_PETSC_ERROR(VecTTCombine(2, same, 0, 1, c, 1, f.raw.data() + 1, PETSC_DEFAULT), PETSC_ERR_ARG_IDN, "are the same vector");
  EXPECT_PETSC_ERROR(VecTTCombine(1, f.raw.data(), 0, 2, c, 1, f.raw.data(), PETSC_DEFAULT), PETSC_ERR_ARG_OUTOFRANGE, "1 apart, but have 2");
  EXPECT_PETSC_ERROR(VecTTCombine(1, f.raw.data(), 0, 1, c, 1, f.raw.data() + 1, 1.5), PETSC_ERR_ARG_OUTOFRANGE, "1.5");
  VecHandle other;
  VEC_OK(make_vec({4, 5, 3}, "rdr", 2, 1, other.out()));
  Vec x[1] = {other};
  EXPECT_PETSC_ERROR(VecTTCombine(1, f.raw.data(), 0, 1, c, 1, x, PETSC_DEFAULT), PETSC_ERR_ARG_INCOMP, "VecTTCombine");
  VEC_OK(VecTTCombine(1, f.raw.data(), 0, 0, nullptr, 0, nullptr, PETSC_DEFAULT));
  PetscReal norm;
  VEC_OK(VecNorm(f.v[0], NORM_2, &norm));
  EXPECT_EQ(norm, 0);
}

TEST(VecShared, ToleranceOfAllDuplicates)
{
  VecHandle v, w, u;
  PetscReal rtol;
  PetscBool shared;
  VEC_OK(make_vec(N, "rdr", 2, 1, v.out()));
  VEC_OK(VecTTRoundRtolIsShared(v, &shared));
  EXPECT_FALSE(shared);
  VEC_OK(VecTTShareRoundRtol(v, 1e-4));
  VEC_OK(VecDuplicate(v, w.out()));
  VEC_OK(VecDuplicate(w, u.out()));
  VEC_OK(VecTTShareRoundRtol(w, 1e-7));
  for (Vec x : {v.get(), w.get(), u.get()}) {
    VEC_OK(VecTTGetRoundRtol(x, &rtol));
    EXPECT_EQ(rtol, 1e-7);
  }
  VEC_OK(VecTTSetRoundRtol(u, 1e-3));
  VEC_OK(VecTTGetRoundRtol(v, &rtol));
  EXPECT_EQ(rtol, 1e-7);
  VEC_OK(VecTTGetRoundRtol(u, &rtol));
  EXPECT_EQ(rtol, 1e-3);
}

// As SLEPc makes vectors since 3.21: from a layout and the name of the type.
TEST(VecShared, ModesOfALayout)
{
  VecHandle   v, w;
  PetscLayout map;
  PetscReal   rtol, product;
  VEC_OK(make_vec(N, "rdr", 2, 1, v.out()));
  VEC_OK(VecTTSetRoundRtol(v, 1e-5));
  VEC_OK(VecTTShareLayout(v));
  VEC_OK(VecGetLayout(v, &map));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, w.out()));
  VEC_OK(VecSetLayout(w, map));
  VEC_OK(VecSetType(w, VECTT));
  VEC_OK(VecTTGetRoundRtol(w, &rtol));
  EXPECT_EQ(rtol, 1e-5);
  VEC_OK(VecCopy(v, w));
  VEC_OK(VecAXPY(w, -1, v));
  VEC_OK(VecNorm(w, NORM_2, &product));
  EXPECT_EQ(product, 0);
}

} // namespace
