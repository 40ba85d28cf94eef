// Filling, reading and contracting TT vectors through the C API.
#include "test_vec_fixture.hpp"

#include <algorithm>
#include <limits>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

class VecTTValues : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override { VEC_OK(make_vec(N, GetParam(), 2, 5, v.out())); }

  // an ordinary vector over mode k with entries f(i)
  PetscErrorCode mode_vec(Int k, const std::function<Scalar(Int)> &f, Vec *w)
  {
    PetscInt start, end;
    Scalar  *a;
    PetscFunctionBegin;
    PetscCall(VecTTCreateModeVec(v, k, w));
    PetscCall(VecTTGetModeOwnership(v, k, nullptr, &start, &end));
    PetscCall(VecGetArrayWrite(*w, &a));
    for (PetscInt i = start; i < end; ++i) a[i - start] = f(i);
    PetscCall(VecRestoreArrayWrite(*w, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const std::vector<Int> N = {6, 3, 5};
  VecHandle              v;
};

Scalar f0(Int i) { return number(1 + 0.5 * i, -0.25 * i); }
Scalar f2(Int i) { return number(std::cos((Real)i), 0.1 * i); }

TEST_P(VecTTValues, RankOne)
{
  VecHandle a, c;
  VEC_OK(mode_vec(0, f0, a.out()));
  VEC_OK(mode_vec(2, f2, c.out()));
  const Vec vecs[3] = {a, nullptr, c};
  VEC_OK(VecTTSetRankOne(v, vecs));
  EXPECT_LT(distance(dense_of(v), make_dense(N, [](const std::vector<Int> &i) { return f0(i[0]) * f2(i[2]); })), 1e-13);
  EXPECT_EQ(train_of(v).max_rank(), 1);
  VEC_OK(VecTTSetRankOne(v, nullptr));
  EXPECT_LT(distance(dense_of(v), make_dense(N, [](const std::vector<Int> &) { return 1; })), 1e-13);
}

TEST_P(VecTTValues, RankOneRefusesVectorsThatDoNotFit)
{
  VecHandle wrong, right;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, wrong.out()));
  VEC_OK(VecSetSizes(wrong, PETSC_DECIDE, 7));
  VEC_OK(VecSetType(wrong, VECSTANDARD));
  const Vec vecs[3] = {nullptr, wrong, nullptr};
  EXPECT_PETSC_ERROR(VecTTSetRankOne(v, vecs), PETSC_ERR_ARG_SIZ, "mode 1");
  if (size() > 1) {
    VEC_OK(mode_vec(0, f0, right.out()));
    const Vec some[3] = {rank() ? right.get() : nullptr, nullptr, nullptr};
    EXPECT_PETSC_ERROR(VecTTSetRankOne(v, some), PETSC_ERR_ARG_INCOMP, "same on all processes");
  }
}

TEST_P(VecTTValues, CoresBackAndForth)
{
  VecHandle                   w;
  const PetscInt             *r;
  std::vector<PetscInt>       ranks;
  std::vector<const Scalar *> cores(3);
  PetscInt                    r0, n, r1;
  Scalar                      m;
  PetscInt64                  e;
  VEC_OK(VecTTGetRanks(v, &r));
  ranks.assign(r, r + 4);
  for (Int k = 0; k < 3; ++k) {
    VEC_OK(VecTTGetCoreRead(v, k, &r0, &n, &r1, &cores[k]));
    EXPECT_EQ(r0, ranks[k]);
    EXPECT_EQ(r1, ranks[k + 1]);
    EXPECT_EQ(n, space_of(v)->n(k));
  }
  VEC_OK(VecDuplicate(v, w.out()));
  VEC_OK(VecTTSetCores(w, ranks.data(), cores.data()));
  EXPECT_PETSC_ERROR(VecScale(w, 1), 0, ""); // no error: only v is in use
  EXPECT_PETSC_ERROR(VecCopy(w, v), PETSC_ERR_ARG_WRONGSTATE, "VecTTRestoreCoreRead");
  EXPECT_PETSC_ERROR(VecScale(v, 0), PETSC_ERR_ARG_WRONGSTATE, "3 of its cores");
  EXPECT_PETSC_ERROR(VecSwap(w, v), PETSC_ERR_ARG_WRONGSTATE, "3 of its cores");
  for (Int k = 0; k < 3; ++k) VEC_OK(VecTTRestoreCoreRead(v, k, &r0, &n, &r1, &cores[k]));
  EXPECT_EQ(cores[0], nullptr);
  EXPECT_PETSC_ERROR(VecTTRestoreCoreRead(v, 0, nullptr, nullptr, nullptr, nullptr), PETSC_ERR_ORDER, "");
  VEC_OK(VecTTGetScale(v, &m, &e));
  VEC_OK(VecScale(w, m * PetscPowRealInt(2, (PetscInt)e)));
  EXPECT_LT(distance(dense_of(w), dense_of(v)), 1e-14);
  ranks[0] = 2;
  EXPECT_PETSC_ERROR(VecTTSetCores(w, ranks.data(), cores.data()), PETSC_ERR_ARG_OUTOFRANGE, "outer");
  ranks[0] = 1;
  ranks[1] = 0;
  EXPECT_PETSC_ERROR(VecTTSetCores(w, ranks.data(), cores.data()), PETSC_ERR_ARG_OUTOFRANGE, "TT rank 1 is 0");
  ranks[1] = 1;
  EXPECT_PETSC_ERROR(VecTTSetCores(w, ranks.data(), cores.data()), PETSC_ERR_ARG_NULL, "is NULL");
}

// What every process gives of a replicated mode is one thing: round-off is settled, more is an error.
TEST_P(VecTTValues, CopiesOfReplicatedModes)
{
  const PetscInt                   r[4] = {1, 1, 1, 1};
  std::vector<std::vector<Scalar>> data(3);
  std::vector<const Scalar *>      cores(3);
  std::vector<VecHandle>           vecs(3);
  const auto                       fill = [&](Real spread) {
    for (Int k = 0; k < 3; ++k) {
      data[k].clear();
      for (Int i = 0; i < space_of(v)->n(k); ++i) data[k].push_back(f2(space_of(v)->start(k) + i) * (1 + spread * rank()));
      cores[k] = data[k].data();
      vecs[k]  = VecHandle();
      VEC_OK(mode_vec(k, [&](Int i) { return f2(i) * (1 + spread * rank()); }, vecs[k].out()));
    }
  };
  const auto alike = [&] { // of process 0, bit by bit
    for (Int k = 0; k < 3; ++k) {
      if (!space_of(v)->replicated(k)) continue;
      const Core &c = train_of(v).core(k);
      Buffer      first((std::size_t)c.count());
      std::copy(c.data(), c.data() + c.count(), first.data());
      space_of(v)->comm().bcast(first.data(), c.count());
      EXPECT_TRUE(std::equal(first.data(), first.data() + c.count(), c.data())) << "mode " << k;
    }
  };
  bool any = false;
  for (Int k = 0; k < 3; ++k) any = any || (space_of(v)->replicated(k) && size() > 1);
  Vec w = nullptr;
  fill(1e-15);
  const Vec round_off[3] = {vecs[0], vecs[1], vecs[2]};
  VEC_OK(VecTTSetCores(v, r, cores.data()));
  alike();
  VEC_OK(VecTTSetRankOne(v, round_off));
  alike();
  if (!any) return;
  fill(0.1);
  const Vec       apart[3] = {vecs[0], vecs[1], vecs[2]};
  const PetscBool which[3] = {PETSC_TRUE, PETSC_TRUE, PETSC_FALSE}, last[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_TRUE};
  Scalar          sum;
  EXPECT_PETSC_ERROR(VecTTSetCores(v, r, cores.data()), PETSC_ERR_ARG_INCOMP, "is replicated, but its values differ");
  EXPECT_PETSC_ERROR(VecTTSetRankOne(v, apart), PETSC_ERR_ARG_INCOMP, "is replicated, but its values differ");
  EXPECT_PETSC_ERROR(VecTTContractAll(v, apart, &sum), PETSC_ERR_ARG_INCOMP, "is replicated, but its values differ");
  EXPECT_PETSC_ERROR(VecTTContract(v, space_of(v)->replicated(2) ? last : which, apart, &w), PETSC_ERR_ARG_INCOMP, "is replicated, but its values differ");
  alike(); // v is what it was
}

TEST_P(VecTTValues, FullBackAndForth)
{
  VecHandle          full, w, odd;
  PetscInt           start, end, n;
  const Scalar      *a;
  Scalar            *b;
  const Dense        x = dense_of(v);
  VecTTRoundingInfo  info;
  VEC_OK(VecTTGetFull(v, full.out()));
  VEC_OK(VecGetOwnershipRange(full, &start, &end));
  VEC_OK(VecGetArrayRead(full, &a));
  for (PetscInt i = start; i < end; ++i) EXPECT_LT(petsctt::abs(a[i - start] - x.a[i]), 1e-12 * x.norm());
  VEC_OK(VecRestoreArrayRead(full, &a));
  // another layout: all on the last process
  VEC_OK(VecCreate(PETSC_COMM_WORLD, odd.out()));
  VEC_OK(VecSetSizes(odd, rank() == size() - 1 ? 90 : 0, 90));
  VEC_OK(VecSetType(odd, VECSTANDARD));
  VEC_OK(VecGetLocalSize(odd, &n));
  VEC_OK(VecGetArrayWrite(odd, &b));
  for (PetscInt i = 0; i < n; ++i) b[i] = x.a[i];
  VEC_OK(VecRestoreArrayWrite(odd, &b));
  VEC_OK(VecDuplicate(v, w.out()));
  VEC_OK(VecTTSetFull(w, odd));
  EXPECT_LT(distance(dense_of(w), x), 1e-10);
  EXPECT_EQ(train_of(w).max_rank(), 2);
  VEC_OK(VecTTGetRoundingInfo(w, &info));
  EXPECT_EQ(info.roundings, 1);
  VecHandle wrong;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, wrong.out()));
  VEC_OK(VecSetSizes(wrong, PETSC_DECIDE, 91));
  VEC_OK(VecSetType(wrong, VECSTANDARD));
  EXPECT_PETSC_ERROR(VecTTSetFull(w, wrong), PETSC_ERR_ARG_SIZ, "91");
  EXPECT_PETSC_ERROR(VecTTSetFull(w, v), PETSC_ERR_ARG_WRONG, "ordinary");
}

TEST_P(VecTTValues, EntriesAndFibres)
{
  const Dense    x          = dense_of(v);
  const PetscInt index[9]   = {0, 0, 0, 5, 2, 4, 3, 1, 2};
  const PetscInt outside[3] = {0, 3, 0};
  Scalar         value[3];
  VEC_OK(VecTTGetEntries(v, 3, index, value));
  for (int j = 0; j < 3; ++j) EXPECT_LT(petsctt::abs(value[j] - x.a[x.linear({index[3 * j], index[3 * j + 1], index[3 * j + 2]})]), 1e-12 * x.norm());
  EXPECT_PETSC_ERROR(VecTTGetEntries(v, 1, outside, value), PETSC_ERR_ARG_OUTOFRANGE, "3");
  if (size() > 1) {
    const PetscInt differ[3] = {0, rank() ? 1 : 0, 0};
    EXPECT_PETSC_ERROR(VecTTGetEntries(v, 1, differ, value), PETSC_ERR_ARG_INCOMP, "same on all");
    EXPECT_PETSC_ERROR(VecTTGetEntries(v, rank() ? 2 : 1, index, value), PETSC_ERR_ARG_INCOMP, "same on all");
  }
  for (Int k = 0; k < 3; ++k) {
    VecHandle w;
    PetscInt  start, end;
    VEC_OK(VecTTCreateModeVec(v, k, w.out()));
    VEC_OK(VecTTExtract(v, k, index + 6, w));
    VEC_OK(VecTTGetModeOwnership(v, k, nullptr, &start, &end));
    const Scalar *a;
    VEC_OK(VecGetArrayRead(w, &a));
    for (PetscInt i = start; i < end; ++i) {
      std::vector<Int> at(index + 6, index + 9);
      at[k] = i;
      EXPECT_LT(petsctt::abs(a[i - start] - x.a[x.linear(at)]), 1e-12 * x.norm()) << k << " " << i;
    }
    VEC_OK(VecRestoreArrayRead(w, &a));
    VecHandle other;
    VEC_OK(VecTTCreateModeVec(v, (k + 1) % 3, other.out()));
    EXPECT_PETSC_ERROR(VecTTExtract(v, k, index + 6, other), PETSC_ERR_ARG_SIZ, "does not fit");
  }
  VecHandle w;
  VEC_OK(VecTTCreateModeVec(v, 0, w.out()));
  EXPECT_PETSC_ERROR(VecTTExtract(v, 3, index, w), PETSC_ERR_ARG_OUTOFRANGE, "Mode 3");
  EXPECT_PETSC_ERROR(VecTTExtract(v, 0, nullptr, w), PETSC_ERR_ARG_NULL, "3 indices");
  EXPECT_PETSC_ERROR(VecTTGetEntries(v, 2, nullptr, value), PETSC_ERR_ARG_NULL, "2 entries");
  EXPECT_PETSC_ERROR(VecTTGetEntries(v, 2, index, nullptr), PETSC_ERR_ARG_NULL, "2 entries");
  if (size() > 1) EXPECT_PETSC_ERROR(VecTTSetRandom(v, nullptr, 7 + rank()), PETSC_ERR_ARG_INCOMP, "seeds");
}

TEST_P(VecTTValues, Contractions)
{
  const Dense x = dense_of(v);
  VecHandle   w2, y, z;
  VEC_OK(mode_vec(2, f2, w2.out()));
  const Vec       weights[3] = {nullptr, nullptr, w2};
  const PetscBool which[3]   = {PETSC_FALSE, PETSC_TRUE, PETSC_TRUE}, none[3] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, all[3] = {PETSC_TRUE, PETSC_TRUE, PETSC_TRUE};
  VEC_OK(VecTTContract(v, which, weights, y.out()));
  Dense  expected({6});
  Scalar total = 0, got;
  for (std::size_t l = 0; l < x.a.size(); ++l) {
    const std::vector<Int> i = x.multi(l);
    expected.a[i[0]] += x.a[l] * f2(i[2]);
    total += x.a[l] * f2(i[2]);
  }
  EXPECT_LT(distance(dense_of(y), expected), 1e-12);
  PetscReal rtol;
  VEC_OK(VecTTGetRoundRtol(y, &rtol)); // inherited
  EXPECT_EQ(rtol, (PetscReal)1e-12);
  VEC_OK(VecTTContractAll(v, weights, &got));
  EXPECT_LT(petsctt::abs(got - total), 1e-11 * x.norm());
  VEC_OK(VecTTContract(v, none, nullptr, z.out()));
  EXPECT_LT(distance(dense_of(z), x), 1e-13);
  Vec q = nullptr;
  EXPECT_PETSC_ERROR(VecTTContract(v, all, nullptr, &q), PETSC_ERR_ARG_OUTOFRANGE, "VecTTContractAll");
}

INSTANTIATE_TEST_SUITE_P(Distributions, VecTTValues, testing::Values("d", "r", "drr", "rd", "f", "ulr"), [](const auto &info) { return info.param; });

// 400 modes of ones, added 50 times: rank 1, every entry 50, and the norm only as a logarithm.
TEST(VecTTHuge, NormsInLogForm)
{
  const std::vector<Int> N(400, 10);
  VecHandle              x, y;
  PetscReal              log, norm;
  Scalar                 dot, phase;
  PetscInt               size;
  VEC_OK(make_vec(N, "r", 1, 1, x.out()));
  VEC_OK(VecTTSetConstant(x, 1));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecGetSize(y, &size));
  EXPECT_EQ(size, 4000);
  for (int i = 0; i < 50; ++i) VEC_OK(VecAXPY(y, 1, x));
  EXPECT_EQ(train_of(y).max_rank(), 1);
  VEC_OK(VecTTNormLog10(y, &log));
  EXPECT_NEAR(log, 200 + std::log10(50.), 1e-10);
  VEC_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_NEAR(std::log10(norm), log, 1e-10);
  VEC_OK(VecTTDotLog10(y, x, &phase, &log));
  EXPECT_NEAR(log, 400 + std::log10(50.), 1e-10);
  EXPECT_NEAR(PetscRealPart(phase), 1, 1e-12);
  EXPECT_PETSC_ERROR(VecDot(y, x, &dot), PETSC_ERR_FP, "401.69");
  PetscInt index[400] = {0};
  VEC_OK(VecTTGetEntries(y, 1, index, &dot));
  EXPECT_NEAR(PetscRealPart(dot), 50, 1e-9);
  // the norm itself out of range
  VecHandle z;
  VEC_OK(make_vec(std::vector<Int>(800, 10), "r", 1, 1, z.out()));
  VEC_OK(VecTTSetConstant(z, 1));
  EXPECT_PETSC_ERROR(VecNorm(z, NORM_2, &norm), PETSC_ERR_FP, "400");
  EXPECT_PETSC_ERROR(VecNorm(z, NORM_1, &norm), PETSC_ERR_SUP, "10^800");
}

// NaN in what the user gives: no error, a norm that is NaN (a KSP then ends with DIVERGED_NANORINF), whatever is done with it.
TEST(VecTTNaN, FromTheUser)
{
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  VecHandle  x, y, w;
  Real       norm;
  Scalar     s, *a;
  VEC_OK(make_vec({6, 5, 7}, "drr", 2, 1, x.out()));
  VEC_OK(make_vec({6, 5, 7}, "drr", 2, 2, y.out()));
  VEC_OK(VecTTCreateModeVec(x, 0, w.out()));
  VEC_OK(VecSet(w, 1));
  PetscInt start, end;
  VEC_OK(VecTTGetModeOwnership(x, 0, nullptr, &start, &end));
  VEC_OK(VecGetArray(w, &a));
  if (start <= 4 && 4 < end) a[4 - start] = nan;
  VEC_OK(VecRestoreArray(w, &a));
  const Vec vecs[3] = {w, nullptr, nullptr};
  VEC_OK(VecTTSetRankOne(x, vecs));
  VEC_OK(VecNorm(x, NORM_2, &norm));
  EXPECT_TRUE(PetscIsNanReal(norm));
  VEC_OK(VecDot(y, x, &s));
  EXPECT_TRUE(PetscIsNanScalar(s));
  VEC_OK(VecAXPY(y, 1, x));
  VEC_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_TRUE(PetscIsNanReal(norm));
  VEC_OK(VecTTRound(x, 1e-6, 0, nullptr));
  VEC_OK(VecNorm(x, NORM_2, &norm));
  EXPECT_TRUE(PetscIsNanReal(norm));
}

TEST(VecTTOrthogonality, Centre)
{
  VecHandle x;
  PetscInt  left, right;
  VEC_OK(make_vec({4, 5, 6, 3}, "d", 2, 1, x.out()));
  const Dense full = dense_of(x);
  VEC_OK(VecTTOrthogonalize(x, 2));
  VEC_OK(VecTTGetOrthogonality(x, &left, &right));
  EXPECT_GE(left, 2);
  EXPECT_GE(right, 1);
  EXPECT_LT(distance(dense_of(x), full), 1e-13);
  expect_orthogonality_as_claimed(train_of(x));
  EXPECT_PETSC_ERROR(VecTTOrthogonalize(x, 4), PETSC_ERR_ARG_OUTOFRANGE, "Mode 4");
}

} // namespace
