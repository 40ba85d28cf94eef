// What gives wrong numbers without a word in PETSc if the type does not prevent it: norms that VecSet() stores (T1), norms that
// outlive a change (T2), vectors over other modes that have the same sizes (T3), operations PETSc calls unchecked.
#include "test_vec_fixture.hpp"

#include <functional>
#include <petsc/private/petscimpl.h>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

// T1 where the size is the number of entries: what VecSet() stores is right.
TEST(VecTTTraps, SetStoresTheRightNorm)
{
  VecHandle x;
  Real      norm, cached;
  PetscInt  N;
  VEC_OK(make_vec({7, 7, 7, 11}, "d", 1, 1, x.out()));
  VEC_OK(VecGetSize(x, &N));
  EXPECT_EQ(N, 7 * 7 * 7 * 11);
  VEC_OK(VecSet(x, 2));
  VEC_OK(VecNorm(x, NORM_2, &cached)); // PETSc's
  VEC_OK(PetscObjectStateIncrease((PetscObject)x.get()));
  VEC_OK(VecNorm(x, NORM_2, &norm)); // ours
  EXPECT_NEAR(cached, norm, 1e-12 * norm);
  EXPECT_NEAR(norm, 2 * std::sqrt((Real)N), 1e-12 * norm);
}

// T1 where it is not: refused, with the way out; zero is harmless.
TEST(VecTTTraps, SetIsRefusedWhenTheSizeIsNominal)
{
  VecHandle x;
  Real      log;
  Scalar    sum;
  PetscInt  N;
  const std::vector<Int> modes(40, 100); // 1e80 entries: more than any PetscInt
  VEC_OK(make_vec(modes, "dr", 1, 1, x.out()));
  VEC_OK(VecGetSize(x, &N));
  EXPECT_EQ(N, 4000);
  EXPECT_PETSC_ERROR(VecSet(x, 1), PETSC_ERR_SUP, "VecTTSetConstant");
  VecHandle y;
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecSet(y, 0));
  VEC_OK(VecTTSetConstant(y, 3));
  VEC_OK(VecTTNormLog10(y, &log));
  EXPECT_NEAR(log, 40 + std::log10(3.), 1e-10);
  Real norm;
  VEC_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_NEAR(norm / 3e40, 1, 1e-10);
  // VecMean() and MatNullSpace would divide this by 4000
  EXPECT_PETSC_ERROR(VecSum(y, &sum), PETSC_ERR_SUP, "VecTTContractAll");
  EXPECT_PETSC_ERROR(VecMean(y, &sum), PETSC_ERR_SUP, "VecTTContractAll");
  VEC_OK(VecTTContractAll(y, nullptr, &sum));
  EXPECT_NEAR(PetscRealPart(sum) / 3e80, 1, 1e-10);
}

// T2: after every change the norm is that of the new value, also when the old one was asked for before.
TEST(VecTTTraps, NoStaleNorm)
{
  VecHandle x, y;
  VEC_OK(make_vec({4, 5, 3}, "d", 2, 1, x.out()));
  VEC_OK(make_vec({4, 5, 3}, "d", 2, 2, y.out()));
  Vec        px = x, py = y;
  const Dense full = dense_of(y);
  VecHandle  all;
  VEC_OK(VecTTGetFull(y, all.out()));
  const Scalar two = 2;
  using Change     = std::function<PetscErrorCode()>;
  const std::vector<std::pair<const char *, Change>> changes = {
    {"copy", [&] { return VecCopy(py, px); }},
    {"scale", [&] { return VecScale(px, 3); }},
    {"axpy", [&] { return VecAXPY(px, 2, py); }},
    {"maxpy", [&] { return VecMAXPY(px, 1, &two, &py); }},
    {"shift", [&] { return VecShift(px, 1); }},
    {"pointwise", [&] { return VecPointwiseMult(px, px, py); }},
    {"setrandom", [&] { return VecSetRandom(px, nullptr); }},
    {"swap", [&] { return VecSwap(px, py); }},
    {"VecTTSetConstant", [&] { return VecTTSetConstant(px, 2); }},
    {"VecTTSetRankOne", [&] { return VecTTSetRankOne(px, nullptr); }},
    {"VecTTSetRandom", [&] { return VecTTSetRandom(px, nullptr, 5); }},
    {"VecTTSetFull", [&] { return VecTTSetFull(px, all); }},
    {"VecTTRound", [&] { return VecTTRound(px, 0.5, 1, nullptr); }},
    {"VecTTOrthogonalize", [&] { return VecTTOrthogonalize(px, 1); }},
    {"set_train", [&] { return set_train(px, Train(space_of(px))); }},
    {"change_train", [&] { return change_train(px, [](Train &t) { t = constant(t.space(), 7); }); }},
  };
  for (const auto &c : changes) {
    Real             norm;
    PetscObjectState before, after;
    VEC_OK(VecNorm(px, NORM_2, &norm));
    VEC_OK(PetscObjectStateGet((PetscObject)px, &before));
    VEC_OK(c.second());
    VEC_OK(PetscObjectStateGet((PetscObject)px, &after));
    EXPECT_GT(after, before) << c.first;
    VEC_OK(VecNorm(px, NORM_2, &norm));
    EXPECT_NEAR(norm, dense_of(px).norm(), 1e-10 * (1 + norm)) << c.first;
  }
}

// T3: sizes agree, modes do not. Fresh vectors each time, because newer PETSc leaves the operands of a failed call locked.
TEST(VecTTTraps, OtherModesAreRefused)
{
  using Use = std::function<PetscErrorCode(Vec, Vec)>;
  Scalar                                               s[1];
  Real                                                 r;
  const Scalar                                         one  = 1;
  const std::vector<std::pair<const char *, Use>> uses = {
    {"copy", [&](Vec x, Vec y) { return VecCopy(x, y); }},
    {"swap", [&](Vec x, Vec y) { return VecSwap(x, y); }},
    {"axpy", [&](Vec x, Vec y) { return VecAXPY(x, 1, y); }},
    {"axpby", [&](Vec x, Vec y) { return VecAXPBY(x, 1, 2, y); }},
    {"aypx", [&](Vec x, Vec y) { return VecAYPX(x, 2, y); }},
    {"maxpy", [&](Vec x, Vec y) { return VecMAXPY(x, 1, &one, &y); }},
    {"pointwise", [&](Vec x, Vec y) { return VecPointwiseMult(x, y, y); }},
    {"dot", [&](Vec x, Vec y) { return VecDot(x, y, s); }},
    {"tdot", [&](Vec x, Vec y) { return VecTDot(x, y, s); }},
    {"mdot", [&](Vec x, Vec y) { return VecMDot(x, 1, &y, s); }},
    {"dotnorm2", [&](Vec x, Vec y) { return VecDotNorm2(x, y, s, &r); }},
    {"VecTTDotLog10", [&](Vec x, Vec y) { return VecTTDotLog10(x, y, s, &r); }},
  };
  for (const auto &u : uses) {
    VecHandle x, y;
    VEC_OK(make_vec({7, 7, 7, 11}, "r", 1, 1, x.out()));
    VEC_OK(make_vec({7, 11, 7, 7}, "r", 1, 1, y.out()));
    EXPECT_PETSC_ERROR(u.second(x, y), PETSC_ERR_ARG_INCOMP, "the modes differ");
  }
  if (size() > 1) { // same sizes, other owners
    VecHandle x, y;
    VEC_OK(make_vec({7, 7}, "d", 1, 1, x.out()));
    VEC_OK(make_vec({7, 7}, "dr", 1, 1, y.out()));
    EXPECT_PETSC_ERROR(VecAXPY(x, 1, y), PETSC_ERR_ARG_INCOMP, "the modes differ");
  }
}

// T3 for types: a standard vector of the same sizes.
TEST(VecTTTraps, OtherTypesAreRefused)
{
  const auto make = [](Vec *x, Vec *y) -> PetscErrorCode {
    PetscInt n, N;
    PetscFunctionBegin;
    PetscCall(make_vec({4, 5}, "d", 1, 1, x));
    PetscCall(VecGetLocalSize(*x, &n));
    PetscCall(VecGetSize(*x, &N));
    PetscCall(VecCreate(PETSC_COMM_WORLD, y));
    PetscCall(VecSetSizes(*y, n, N));
    PetscCall(VecSetType(*y, VECSTANDARD));
    PetscCall(VecSet(*y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  Scalar s;
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_NE(quietly([&] { return VecAXPY(x, 1, y); }), 0);
  }
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_NE(quietly([&] { return VecAXPY(y, 1, x); }), 0);
  }
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_NE(quietly([&] { return VecCopy(x, y); }), 0);
  }
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_NE(quietly([&] { return VecCopy(y, x); }), 0);
  }
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_NE(quietly([&] { return VecDot(x, y, &s); }), 0);
  }
  {
    VecHandle x, y;
    VEC_OK(make(x.out(), y.out()));
    EXPECT_PETSC_ERROR(VecTTSetConstant(y, 1), PETSC_ERR_ARG_WRONG, "not tt");
  }
}

// Operations that a train cannot do end in an error that names another way, not in a crash.
TEST(VecTTTraps, UnsupportedOperationsSayWhatToDo)
{
  const auto fresh = [](Vec *x) { return make_vec({4, 5}, "d", 1, 1, x); };
  using Use        = std::function<PetscErrorCode(Vec)>;
  PetscInt           zero = 0;
  Scalar             value = 1, *a;
  const Scalar      *ca;
  Real               r;
  const std::vector<std::pair<Use, const char *>> uses = {
    {[&](Vec x) { return VecPointwiseDivide(x, x, x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecPointwiseMax(x, x, x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecPointwiseMaxAbs(x, x, x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecPointwiseMin(x, x, x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecMaxPointwiseDivide(x, x, &r); }, "VecTTGetFull"},
    {[&](Vec x) { return VecReciprocal(x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecAbs(x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecSqrtAbs(x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecExp(x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecLog(x); }, "VecTTGetFull"},
    {[&](Vec x) { return VecSetValues(x, 1, &zero, &value, INSERT_VALUES); }, "VecTTSetRankOne"},
    {[&](Vec x) { return VecGetValues(x, 1, &zero, &value); }, "VecTTGetEntries"},
    {[&](Vec x) { return VecGetArray(x, &a); }, PetscDefined(USE_DEBUG) ? "" : "-ksp_type ttgmres"},
    {[&](Vec x) { return VecGetArrayRead(x, &ca); }, "VecTTGetCoreRead"},
    {[&](Vec x) { return VecGetArrayRead(x, &ca); }, "-ksp_type ttgmres, gmres or cg"},
    {[&](Vec x) { return VecGetArrayWrite(x, &a); }, "-ksp_type ttgmres, gmres or cg"},
    {[&](Vec x) { return VecPlaceArray(x, &value); }, "VecTTGetCoreRead"},
  };
  for (const auto &u : uses) {
    VecHandle x;
    VEC_OK(fresh(x.out()));
    EXPECT_PETSC_ERROR(u.first(x), PETSC_ERR_SUP, u.second);
  }
}

} // namespace
