// DMTT: modes, layouts, vectors, matrices, fields, clones, levels, views and what it refuses. Solvers are in test_dm_solve.cxx.
#include "test_dm_fixture.hpp"

#include "mat/mattt.hpp"

using namespace petsctt;
using namespace petsctt::test_dm;

namespace {

Scalar f0(Int i) { return number(1 + 0.5 * i, -0.25 * i); }
Scalar f1(Int i) { return number(2 - 0.3 * i, 0.1 * i); }
Scalar f2(Int i) { return number(std::cos((Real)i), 0.2 * i); }
Scalar f3(Int i) { return number(1.0 / (1 + i), 0.4); }

// Four kinds of modes: a grid on all processes, a size stored by every process, a line that every process has of its own, a distributed size.
class DMTTModes : public testing::Test {
protected:
  void SetUp() override
  {
    VEC_OK(grid(PETSC_COMM_WORLD, 7, 8, plane.out()));
    VEC_OK(line(PETSC_COMM_SELF, 6, own.out()));
    VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 4, dm.out()));
    VEC_OK(DMTTSetModeDM(dm, 0, plane));
    VEC_OK(DMTTSetModeSize(dm, 1, PETSC_TT_REPLICATED, 3));
    VEC_OK(DMTTSetModeDM(dm, 2, own));
    VEC_OK(DMTTSetModeSize(dm, 3, PETSC_TT_DISTRIBUTED, 7));
    VEC_OK(DMSetFromOptions(dm));
    VEC_OK(DMSetUp(dm));
  }

  // f0 x f1 x f2 x f3 + 2 f3 x f2 x f1 x f0
  PetscErrorCode example(Vec *v)
  {
    VecHandle x, y, w[4], u[4];
    Scalar (*f[4])(Int) = {f0, f1, f2, f3};

    PetscFunctionBegin;
    PetscCall(DMCreateGlobalVector(dm, x.out()));
    PetscCall(VecTTSetRoundRtol(x, 1e-14));
    PetscCall(VecDuplicate(x, y.out()));
    for (PetscInt k = 0; k < 4; ++k) {
      PetscCall(DMTTCreateModeVec(dm, k, w[k].out()));
      PetscCall(DMTTCreateModeVec(dm, k, u[k].out()));
      PetscCall(fill(w[k], f[k]));
      PetscCall(fill(u[k], f[3 - k]));
    }
    const Vec first[4] = {w[0], w[1], w[2], w[3]}, second[4] = {u[0], u[1], u[2], u[3]};
    PetscCall(VecTTSetRankOne(x, first));
    PetscCall(VecTTSetRankOne(y, second));
    PetscCall(VecAXPY(x, 2.0, y));
    *v = x.release();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static Scalar exact(Int i, Int j, Int k, Int l) { return f0(i) * f1(j) * f2(k) * f3(l) + Scalar(2) * f3(i) * f2(j) * f1(k) * f0(l); }

  const Int N[4] = {56, 3, 6, 7};
  DMHandle  plane, own, dm;
};

TEST_F(DMTTModes, LayoutsAreThoseOfTheModes)
{
  VecHandle v, w;
  PetscInt  d, n, M, start, end, begin, stop;
  PetscBool replicated;
  DM        mode;

  VEC_OK(DMCreateGlobalVector(dm, v.out()));
  VEC_OK(DMTTGetNumModes(dm, &d));
  EXPECT_EQ(d, 4);
  VEC_OK(DMGetDimension(dm, &d));
  EXPECT_EQ(d, 4);
  for (PetscInt k = 0; k < 4; ++k) {
    VecHandle field;
    VEC_OK(DMTTGetModeSize(dm, k, &n, &M));
    EXPECT_EQ(M, N[k]);
    VEC_OK(VecTTGetModeOwnership(v, k, &replicated, &start, &end));
    EXPECT_EQ(end - start, n);
    EXPECT_EQ(replicated, k == 1 || k == 2 || size() == 1 ? PETSC_TRUE : PETSC_FALSE);
    VEC_OK(DMTTCreateModeVec(dm, k, field.out()));
    VEC_OK(VecGetOwnershipRange(field, &begin, &stop));
    EXPECT_EQ(begin, start);
    EXPECT_EQ(stop, end);
    VEC_OK(DMTTGetModeDM(dm, k, &mode));
    EXPECT_EQ(mode, k == 0 ? plane.get() : k == 2 ? own.get() : nullptr);
  }
  VEC_OK(DMCreateGlobalVector(plane, w.out())); // the part of the grid that a process has, not an even split
  VEC_OK(VecGetLocalSize(w, &n));
  VEC_OK(DMTTGetModeSize(dm, 0, &d, nullptr));
  EXPECT_EQ(d, n);
}

TEST_F(DMTTModes, VectorsAndMatricesBelongTogether)
{
  VecHandle v, local, left, right;
  MatHandle A;
  DM        from;

  VEC_OK(DMCreateMatrix(dm, A.out()));
  EXPECT_TRUE(is_mattt(A));
  VEC_OK(MatGetDM(A, &from));
  EXPECT_EQ(from, dm.get());
  VEC_OK(MatCreateVecs(A, right.out(), left.out()));
  VEC_OK(example(v.out()));
  VEC_OK(VecGetDM(v, &from));
  EXPECT_EQ(from, dm.get());
  VEC_OK(MatMult(A, v, left)); // no terms: zero
  EXPECT_TRUE(train_of(left).is_zero());
  for (PetscInt k : {0, 3}) { // one matrix of a DM, one of a size, both diagonal
    MatHandle M;
    VecHandle diagonal;
    VEC_OK(DMTTCreateModeMat(dm, k, M.out()));
    VEC_OK(DMTTCreateModeVec(dm, k, diagonal.out()));
    VEC_OK(fill(diagonal, f1));
    VEC_OK(MatDiagonalSet(M, diagonal, INSERT_VALUES));
    Mat factors[4] = {nullptr, nullptr, nullptr, nullptr};
    factors[k]     = M;
    VEC_OK(MatTTAddTerm(A, k + 1, factors));
  }
  VEC_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  VEC_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  VEC_OK(MatMult(A, v, left));
  EXPECT_LT(distance(dense_of(left), make_dense({56, 3, 6, 7}, [&](const std::vector<Int> &i) { return (f1(i[0]) + Scalar(4) * f1(i[3])) * exact(i[0], i[1], i[2], i[3]); })), 1e-12);
}

TEST_F(DMTTModes, CopiesBetweenGlobalAndLocal)
{
  VecHandle g, sum;
  Vec       l, l2;

  VEC_OK(example(g.out()));
  const Dense once = dense_of(g), twice = map(once, [](Scalar a) { return Scalar(2) * a; });
  VEC_OK(DMGetLocalVector(dm, &l));
  VEC_OK(DMGlobalToLocal(dm, g, INSERT_VALUES, l));
  EXPECT_LT(distance(dense_of(l), once), 1e-13);
  VEC_OK(VecDuplicate(g, sum.out()));
  VEC_OK(DMLocalToGlobal(dm, l, ADD_VALUES, sum));
  EXPECT_LT(distance(dense_of(sum), once), 1e-13);
  VEC_OK(DMLocalToGlobal(dm, l, ADD_VALUES, sum));
  EXPECT_LT(distance(dense_of(sum), twice), 1e-12);
  VEC_OK(DMLocalToGlobal(dm, l, INSERT_VALUES, sum));
  EXPECT_LT(distance(dense_of(sum), once), 1e-13);
  VEC_OK(DMGetLocalVector(dm, &l2));
  VEC_OK(DMLocalToLocalBegin(dm, l, INSERT_VALUES, l2));
  VEC_OK(DMLocalToLocalEnd(dm, l, INSERT_VALUES, l2));
  EXPECT_LT(distance(dense_of(l2), once), 1e-13);
  EXPECT_PETSC_ERROR(DMGlobalToLocalBegin(dm, g, MAX_VALUES, l), PETSC_ERR_SUP, "insert or add");
  VEC_OK(DMRestoreLocalVector(dm, &l));
  VEC_OK(DMRestoreLocalVector(dm, &l2));
}

TEST_F(DMTTModes, Fields)
{
  VecHandle      v, w[4], weights[4];
  const PetscInt index[4] = {7, 2, 4, 5};

  VEC_OK(example(v.out()));
  for (PetscInt k = 0; k < 4; ++k) {
    VEC_OK(DMTTCreateModeVec(dm, k, w[k].out()));
    VEC_OK(DMTTGetModeField(dm, v, k, index, w[k]));
    EXPECT_LT(distance_from(w[k], [&](Int i) { return exact(k == 0 ? i : 7, k == 1 ? i : 2, k == 2 ? i : 4, k == 3 ? i : 5); }), 1e-12);
    VEC_OK(DMTTCreateModeVec(dm, k, weights[k].out()));
    VEC_OK(fill(weights[k], [](Int i) { return number(1 + i, 2); }));
  }
  for (PetscInt k : {0, 2}) {
    for (bool weighted : {false, true}) {
      const Vec some[4] = {weights[0], nullptr, weights[2], weights[3]};
      VEC_OK(DMTTGetModeMean(dm, v, k, weighted ? some : nullptr, w[k]));
      std::vector<Scalar> mean((std::size_t)N[k], 0);
      for (Int i = 0; i < N[0]; ++i)
        for (Int j = 0; j < N[1]; ++j)
          for (Int l = 0; l < N[2]; ++l)
            for (Int m = 0; m < N[3]; ++m) {
              const auto weight = [&](Int mode, Int at) { return weighted && mode != 1 ? number(1 + at, 2) : Scalar(1) / Scalar(N[mode]); };
              const Scalar others = (k == 0 ? weight(2, l) : weight(0, i)) * weight(1, j) * weight(3, m);
              mean[(std::size_t)(k == 0 ? i : l)] += exact(i, j, l, m) * others;
            }
      Real scale = 0;
      for (Scalar a : mean) scale = std::max<Real>(scale, PetscAbsScalar(a));
      EXPECT_LT(distance_from(w[k], [&](Int i) { return mean[(std::size_t)i]; }), 1e-12 * scale);
    }
  }
}

TEST_F(DMTTModes, FieldsThatDoNotFitAreRefused)
{
  VecHandle      v, w, stranger;
  const PetscInt index[4] = {0, 0, 0, 0}, outside[4] = {0, 3, 0, 0}, Nother[4] = {56, 3, 6, 8};

  VEC_OK(example(v.out()));
  VEC_OK(DMTTCreateModeVec(dm, 0, w.out()));
  VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 4, nullptr, Nother, stranger.out()));
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, stranger, 0, index, w), PETSC_ERR_ARG_INCOMP, "modes differ");
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, w, 0, index, w), PETSC_ERR_ARG_WRONG, "not tt");
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, v, 0, outside, w), PETSC_ERR_ARG_OUTOFRANGE, "Index 3");
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, v, 4, index, w), PETSC_ERR_ARG_OUTOFRANGE, "Mode 4 is outside 0..3");
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, v, 3, index, w), PETSC_ERR_ARG_SIZ, "mode 3");
  EXPECT_PETSC_ERROR(DMTTGetModeField(dm, v, 0, nullptr, w), PETSC_ERR_ARG_NULL, "indices");
  EXPECT_PETSC_ERROR(DMTTGetModeMean(dm, v, 3, nullptr, w), PETSC_ERR_ARG_SIZ, "does not fit");
  if (size() > 1) { // would have some processes make weights that others have
    const Vec some[4] = {nullptr, nullptr, rank() == 0 ? (Vec)w : nullptr, nullptr};
    EXPECT_PETSC_ERROR(DMTTGetModeMean(dm, v, 0, some, w), PETSC_ERR_ARG_WRONG, "weights of mode 2 are NULL on some");
    EXPECT_PETSC_ERROR(DMTTGetModeMean(dm, v, rank() == 0 ? 1 : 0, nullptr, w), PETSC_ERR_ARG_WRONG, "mode differs");
  }
  EXPECT_PETSC_ERROR(DMTTViewModeVec(dm, 3, w, nullptr), PETSC_ERR_ARG_SIZ, "not one over mode 3");
  EXPECT_PETSC_ERROR(DMGlobalToLocalBegin(dm, stranger, INSERT_VALUES, v), PETSC_ERR_ARG_INCOMP, "modes differ");
}

TEST_F(DMTTModes, WorkVectorsAreKept)
{
  Vec       a, b, c, named;
  VecHandle copy;
  PetscBool exists;

  VEC_OK(DMGetGlobalVector(dm, &a));
  VEC_OK(DMGetGlobalVector(dm, &b));
  EXPECT_NE(a, b);
  Vec first = a;
  VEC_OK(VecDuplicate(a, copy.out()));
  VEC_OK(DMRestoreGlobalVector(dm, &a));
  VEC_OK(DMGetGlobalVector(dm, &c));
  EXPECT_EQ(c, first);
  EXPECT_TRUE(is_vectt(c));
  VEC_OK(VecTTSetConstant(c, 2));
  VEC_OK(VecCopy(c, copy));
  VEC_OK(DMRestoreGlobalVector(dm, &b));
  VEC_OK(DMRestoreGlobalVector(dm, &c));
  VEC_OK(DMGetNamedGlobalVector(dm, "kept", &named));
  VEC_OK(VecTTSetConstant(named, 3));
  VEC_OK(DMRestoreNamedGlobalVector(dm, "kept", &named));
  VEC_OK(DMHasNamedGlobalVector(dm, "kept", &exists));
  EXPECT_TRUE(exists);
  VEC_OK(DMGetNamedGlobalVector(dm, "kept", &named));
  EXPECT_LT(distance(dense_of(named), make_dense({56, 3, 6, 7}, [](const std::vector<Int> &) { return Scalar(3); })), 1e-13);
  VEC_OK(DMRestoreNamedGlobalVector(dm, "kept", &named));
  VEC_OK(DMGetNamedLocalVector(dm, "kept", &named));
  VEC_OK(DMRestoreNamedLocalVector(dm, "kept", &named));
}

TEST_F(DMTTModes, CloneAndLifetime)
{
  DMHandle  clone;
  VecHandle v, w;
  PetscInt  context = 5, *got = nullptr;

  VEC_OK(DMSetApplicationContext(dm, &context));
  VEC_OK(DMClone(dm, clone.out()));
  VEC_OK(DMGetApplicationContext(clone, &got));
  EXPECT_EQ(got, &context);
  VEC_OK(example(v.out()));
  const Dense before = dense_of(v);
  { // nothing but the vectors and the clone is left
    DM d = dm.release(), p = plane.release(), o = own.release();
    VEC_OK(DMDestroy(&d));
    VEC_OK(DMDestroy(&p));
    VEC_OK(DMDestroy(&o));
  }
  VEC_OK(DMCreateGlobalVector(clone, w.out()));
  VEC_OK(VecAXPY(w, 1.0, v));
  EXPECT_LT(distance(dense_of(w), before), 1e-13);
  clone = DMHandle();
  VEC_OK(VecScale(w, 2.0));
  EXPECT_LT(distance(dense_of(w), map(before, [](Scalar a) { return Scalar(2) * a; })), 1e-12);
}

TEST_F(DMTTModes, ViewShowsTheModesAndTheirDMs)
{
  std::string text;
  VecHandle   w;

  VEC_OK(text_of([&](PetscViewer viewer) { return DMView(dm, viewer); }, text));
  for (const char *words : {"type: tt", "4 modes: 56 x 3", "mode 0: 56 indices", "mode 1: 3 indices", "mode 2: 6 indices", "mode 3: 7 indices", "type: da", "M 7 N 8"})
    EXPECT_NE(text.find(words), std::string::npos) << words << " in\n" << text;
  VEC_OK(DMTTCreateModeVec(dm, 2, w.out()));
  VEC_OK(fill(w, [](Int i) { return Scalar(i == 4 ? 1234.5 : 0); }));
  VEC_OK(text_of([&](PetscViewer viewer) { return DMTTViewModeVec(dm, 2, w, viewer); }, text));
  const std::size_t at = text.find("1234.5");
  EXPECT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.find("1234.5", at + 1), std::string::npos) << "written more than once:\n" << text;
}

TEST_F(DMTTModes, ModesOfADMThatIsSetUpStay)
{
  PetscBool set;

  EXPECT_PETSC_ERROR(DMTTSetModeSize(dm, 1, PETSC_TT_AUTO, 4), PETSC_ERR_ARG_WRONGSTATE, "set up already");
  EXPECT_PETSC_ERROR(DMTTSetModeDM(dm, 1, plane), PETSC_ERR_ARG_WRONGSTATE, "set up already");
  EXPECT_PETSC_ERROR(DMTTSetNumModes(dm, 2), PETSC_ERR_ARG_WRONGSTATE, "set up already");
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_modes", "0,9,0,9"));
  VEC_OK(DMSetFromOptions(dm));
  VEC_OK(PetscOptionsClearValue(NULL, "-dm_tt_modes"));
  VEC_OK(PetscOptionsHasName(NULL, NULL, "-dm_tt_modes", &set));
  EXPECT_FALSE(set);
  PetscInt M;
  VEC_OK(DMTTGetModeSize(dm, 1, nullptr, &M));
  EXPECT_EQ(M, 3);
}

TEST_F(DMTTModes, OtherTypesOfVectorsAndMatricesAreRefused)
{
  Vec v;
  Mat A;

  VEC_OK(DMSetVecType(dm, VECSTANDARD));
  VEC_OK(DMSetMatType(dm, MATAIJ));
  EXPECT_PETSC_ERROR(DMCreateGlobalVector(dm, &v), PETSC_ERR_SUP, "not standard");
  EXPECT_PETSC_ERROR(DMCreateMatrix(dm, &A), PETSC_ERR_SUP, "not aij");
}

TEST_F(DMTTModes, FinerAndCoarser)
{
  DMHandle  fine, coarse;
  VecHandle v;
  PetscInt  M, level;
  Mat       P;
  DM        mode;

  VEC_OK(DMRefine(dm, PETSC_COMM_WORLD, fine.out()));
  VEC_OK(DMTTGetModeSize(fine, 0, nullptr, &M));
  EXPECT_EQ(M, 13 * 15);
  VEC_OK(DMTTGetModeSize(fine, 1, nullptr, &M));
  EXPECT_EQ(M, 3);
  VEC_OK(DMTTGetModeSize(fine, 2, nullptr, &M));
  EXPECT_EQ(M, 11);
  VEC_OK(DMGetRefineLevel(fine, &level));
  EXPECT_EQ(level, 1);
  VEC_OK(DMCreateGlobalVector(fine, v.out()));
  VEC_OK(DMCoarsen(fine, MPI_COMM_NULL, coarse.out()));
  VEC_OK(DMTTGetModeSize(coarse, 0, nullptr, &M));
  EXPECT_EQ(M, 56);
  VEC_OK(DMTTGetModeDM(dm, 0, &mode));
  EXPECT_EQ(mode, plane.get());
  EXPECT_PETSC_ERROR(DMCreateInterpolation(dm, fine, &P, NULL), PETSC_ERR_SUP, "no interpolation");
}

TEST(DMTTCreation, DMsOfOneTypeSharedByModes)
{
  DMHandle  da, dm, fine;
  DM        a, b;
  PetscInt  M;
  PetscReal log10;
  VecHandle v;

  VEC_OK(line(PETSC_COMM_WORLD, 8, da.out()));
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 3, dm.out()));
  for (PetscInt k = 0; k < 3; ++k) VEC_OK(DMTTSetModeDM(dm, k, da));
  VEC_OK(DMSetUp(dm));
  VEC_OK(DMRefine(dm, MPI_COMM_NULL, fine.out()));
  VEC_OK(DMTTGetModeDM(fine, 0, &a));
  VEC_OK(DMTTGetModeDM(fine, 2, &b));
  EXPECT_EQ(a, b);
  VEC_OK(DMTTGetModeSize(fine, 2, nullptr, &M));
  EXPECT_EQ(M, 15);
  VEC_OK(DMCreateGlobalVector(fine, v.out()));
  VEC_OK(VecTTGetFullSize(v, nullptr, &log10));
  EXPECT_NEAR(log10, 3 * std::log10(15.0), 1e-12);
}

TEST(DMTTCreation, Plex)
{
  DMHandle       plex, dm;
  VecHandle      v, w, f;
  const PetscInt index[2] = {0, 3};
  PetscInt       M;

  VEC_OK(squares(plex.out()));
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 2, dm.out()));
  VEC_OK(DMTTSetModeDM(dm, 0, plex));
  VEC_OK(DMTTSetModeSize(dm, 1, PETSC_TT_AUTO, 6));
  VEC_OK(DMSetUp(dm));
  VEC_OK(DMTTGetModeSize(dm, 0, nullptr, &M));
  EXPECT_EQ(M, 20);
  VEC_OK(DMCreateGlobalVector(dm, v.out()));
  VEC_OK(DMTTCreateModeVec(dm, 0, w.out()));
  VEC_OK(DMTTCreateModeVec(dm, 1, f.out()));
  VEC_OK(fill(w, f0));
  VEC_OK(fill(f, f1));
  const Vec vecs[2] = {w, f};
  VEC_OK(VecTTSetRankOne(v, vecs));
  VEC_OK(VecSet(w, 0.0));
  VEC_OK(DMTTGetModeField(dm, v, 0, index, w));
  EXPECT_LT(distance_from(w, [](Int i) { return f0(i) * f1(3); }), 1e-12);
}

TEST(DMTTCreation, FromOptionsOnly)
{
  DMHandle    dm;
  VecHandle   v;
  PetscReal   log10;
  PetscInt    d, M;
  const char *modes = "4,50,3";

  VEC_OK(PetscOptionsSetValue(NULL, "-here_dm_tt_modes", modes));
  VEC_OK(DMCreate(PETSC_COMM_WORLD, dm.out()));
  VEC_OK(DMSetType(dm, DMTT));
  VEC_OK(DMSetOptionsPrefix(dm, "here_"));
  VEC_OK(DMSetFromOptions(dm));
  VEC_OK(DMSetUp(dm));
  VEC_OK(PetscOptionsClearValue(NULL, "-here_dm_tt_modes"));
  VEC_OK(DMTTGetNumModes(dm, &d));
  EXPECT_EQ(d, 3);
  VEC_OK(DMTTGetModeSize(dm, 1, nullptr, &M));
  EXPECT_EQ(M, 50);
  VEC_OK(DMCreateGlobalVector(dm, v.out()));
  VEC_OK(VecTTGetFullSize(v, nullptr, &log10));
  EXPECT_NEAR(log10, std::log10(600.0), 1e-12);
}

// A DM that the program has neither set up nor named takes its options under the prefix of the mode.
TEST(DMTTCreation, OptionsOfTheDMOfAMode)
{
  DMHandle da, dm;
  PetscInt M;

  VEC_OK(DMDACreate1d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, 7, 1, 1, NULL, da.out()));
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 2, dm.out()));
  VEC_OK(DMTTSetModeDM(dm, 1, da));
  VEC_OK(DMTTSetModeSize(dm, 0, PETSC_TT_AUTO, 4));
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_mode_1_da_refine", "2"));
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_modes", "6,0"));
  VEC_OK(DMSetFromOptions(dm));
  VEC_OK(DMSetUp(dm));
  VEC_OK(PetscOptionsClearValue(NULL, "-dm_tt_modes"));
  VEC_OK(PetscOptionsClearValue(NULL, "-dm_tt_mode_1_da_refine"));
  VEC_OK(DMTTGetModeSize(dm, 1, nullptr, &M));
  EXPECT_EQ(M, 25);
  VEC_OK(DMTTGetModeSize(dm, 0, nullptr, &M));
  EXPECT_EQ(M, 6);
}

TEST(DMTTCreation, ManyModes)
{
  DMHandle    dm;
  VecHandle   v, w;
  std::string text;

  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 400, dm.out()));
  for (PetscInt k = 0; k < 400; ++k) VEC_OK(DMTTSetModeSize(dm, k, PETSC_TT_AUTO, 10));
  VEC_OK(DMSetUp(dm));
  VEC_OK(DMCreateGlobalVector(dm, v.out()));
  VEC_OK(VecTTSetConstant(v, 3));
  VEC_OK(DMTTCreateModeVec(dm, 7, w.out()));
  VEC_OK(DMTTGetModeMean(dm, v, 7, nullptr, w)); // 1e399 weights, none of which may be formed
  EXPECT_LT(distance_from(w, [](Int) { return Scalar(3); }), 1e-12);
  VEC_OK(text_of([&](PetscViewer viewer) { return DMView(dm, viewer); }, text));
  EXPECT_NE(text.find("10^400 entries"), std::string::npos) << text;
  EXPECT_NE(text.find("(376 modes in the middle"), std::string::npos) << text;
}

TEST(DMTTCreation, BadInput)
{
  DMHandle  dm, other, da, self;
  Vec       v;
  PetscInt  n;
  DM        none = nullptr;
  VecHandle w;

  EXPECT_PETSC_ERROR(DMTTCreate(PETSC_COMM_WORLD, -1, &none), PETSC_ERR_ARG_OUTOFRANGE, "-1");
  VEC_OK(line(PETSC_COMM_WORLD, 9, da.out()));
  EXPECT_PETSC_ERROR(DMTTSetModeSize(da, 0, PETSC_TT_AUTO, 3), PETSC_ERR_ARG_WRONG, "type da, not tt");
  EXPECT_PETSC_ERROR(DMTTGetNumModes(nullptr, &n), PETSC_ERR_ARG_NULL, "NULL");
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 0, dm.out()));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_WRONGSTATE, "no modes");
  EXPECT_PETSC_ERROR(DMTTSetModeSize(dm, 0, PETSC_TT_AUTO, 3), PETSC_ERR_ARG_WRONGSTATE, "no modes yet");
  VEC_OK(DMTTSetNumModes(dm, 2));
  EXPECT_PETSC_ERROR(DMTTSetNumModes(dm, 0), PETSC_ERR_ARG_OUTOFRANGE, "at least 1");
  EXPECT_PETSC_ERROR(DMTTSetModeSize(dm, 2, PETSC_TT_AUTO, 3), PETSC_ERR_ARG_OUTOFRANGE, "Mode 2 is outside 0..1");
  EXPECT_PETSC_ERROR(DMTTSetModeSize(dm, 0, PETSC_TT_AUTO, 0), PETSC_ERR_ARG_OUTOFRANGE, "size 0");
  EXPECT_PETSC_ERROR(DMTTSetModeDM(dm, 0, nullptr), PETSC_ERR_ARG_NULL, "NULL");
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 1, other.out()));
  EXPECT_PETSC_ERROR(DMTTSetModeDM(dm, 0, other), PETSC_ERR_ARG_WRONG, "DMTT itself");
  EXPECT_PETSC_ERROR(DMCreateGlobalVector(dm, &v), PETSC_ERR_ARG_WRONGSTATE, "DMSetUp()");
  VEC_OK(DMTTSetModeDM(dm, 0, da));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_WRONGSTATE, "Mode 1 has neither");
  VEC_OK(DMTTSetModeSize(dm, 1, PETSC_TT_AUTO, 3));
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_modes", "5,5"));
  EXPECT_PETSC_ERROR(DMSetFromOptions(dm), PETSC_ERR_ARG_WRONG, "mode 0 has a DM");
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_modes", "5,5,5"));
  EXPECT_PETSC_ERROR(DMSetFromOptions(dm), PETSC_ERR_ARG_INCOMP, "lists 3 modes, the DM has 2");
  VEC_OK(PetscOptionsSetValue(NULL, "-dm_tt_modes", "0,-5"));
  EXPECT_PETSC_ERROR(DMSetFromOptions(dm), PETSC_ERR_ARG_OUTOFRANGE, "size -5");
  VEC_OK(PetscOptionsClearValue(NULL, "-dm_tt_modes"));
  VEC_OK(DMSetUp(dm)); // still usable after all that
  VEC_OK(DMCreateGlobalVector(dm, w.out()));
}

TEST(DMTTCreation, ProcessesThatDisagree)
{
  DMHandle dm, a, b, self;

  if (size() == 1) return;
  VEC_OK(line(PETSC_COMM_WORLD, 8, a.out()));
  VEC_OK(line(PETSC_COMM_WORLD, 8, b.out()));
  VEC_OK(line(PETSC_COMM_SELF, rank() ? 6 : 7, self.out()));
  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 2, dm.out()));
  VEC_OK(DMTTSetModeSize(dm, 1, PETSC_TT_AUTO, 3));
  VEC_OK(DMTTSetModeDM(dm, 0, rank() ? a : b));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "Mode 0: all processes must give it the same DM");
  VEC_OK(DMTTSetModeDM(dm, 0, rank() ? a : self));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "Mode 0: all processes must give it the same DM");
  VEC_OK(DMTTSetModeDM(dm, 0, self));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "size of mode 0 differs");
  if (rank()) VEC_OK(DMTTSetModeDM(dm, 0, a));
  else VEC_OK(DMTTSetModeSize(dm, 0, PETSC_TT_AUTO, 6));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "Mode 0: all processes must give it the same DM");
  VEC_OK(DMTTSetModeSize(dm, 0, PETSC_TT_AUTO, rank() ? 6 : 5));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "size of mode 0 differs");
  VEC_OK(DMTTSetNumModes(dm, rank() ? 1 : 2));
  EXPECT_PETSC_ERROR(DMSetUp(dm), PETSC_ERR_ARG_INCOMP, "number of modes differs");
}

// A group of processes, or the same ones in another order, is no communicator for a mode.
TEST(DMTTCreation, OtherCommunicators)
{
  DMHandle dm, da;
  MPI_Comm reversed, copy;

  VEC_OK(DMTTCreate(PETSC_COMM_WORLD, 1, dm.out()));
  ASSERT_EQ(MPI_Comm_split(PETSC_COMM_WORLD, 0, -rank(), &reversed), 0);
  VEC_OK(line(reversed, 12, da.out()));
  if (size() > 1) EXPECT_PETSC_ERROR(DMTTSetModeDM(dm, 0, da), PETSC_ERR_ARG_NOTSAMECOMM, "in their order");
  da = DMHandle();
  ASSERT_EQ(MPI_Comm_free(&reversed), 0);
  ASSERT_EQ(MPI_Comm_dup(PETSC_COMM_WORLD, &copy), 0);
  DMHandle second;
  VEC_OK(line(copy, 12, second.out()));
  VEC_OK(DMTTSetModeDM(dm, 0, second));
  VEC_OK(DMSetUp(dm));
  VecHandle v;
  VEC_OK(DMCreateGlobalVector(dm, v.out()));
  second = DMHandle();
  ASSERT_EQ(MPI_Comm_free(&copy), 0);
}

} // namespace
