// PCTTKRON against its definition: what it makes of x, multiplied by the Kronecker product of the mode matrices, is x.
#include "pc_fixture.hpp"
#include "tt/ops/orthogonalize.hpp"

using namespace petsctt;
using namespace petsctt::test;
using std::string;
using std::vector;

namespace {

const vector<Int> sizes = {7, 3, 5, 4};
const vector<Int> ranks = {1, 2, 4, 3, 1};

// An operator that ttkron does not look into, laid out as the vectors.
PetscErrorCode opaque_operator(Vec x, Mat *A)
{
  PetscInt n, N;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, NULL, A));
  PetscFunctionReturn(0);
}

struct Case {
  string      kinds;
  vector<Int> modes;
  bool        transpose = false;
  PetscInt    block     = PETSC_DECIDE;
  string      options   = ""; // one more option
};

// User matrices on the given modes: solution, state of the result, orthogonality.
void check_user_matrices(const Case &c)
{
  SCOPED_TRACE("kinds " + c.kinds + " modes " + testing::PrintToString(c.modes) + (c.transpose ? " transposed " : " ") + c.options + " block " + std::to_string(c.block));
  const SpacePtr space = make_space(sizes, c.kinds);
  Options        options({"-test_pc_ttkron_block " + std::to_string((long long)c.block), c.options.empty() ? "-test_nothing" : c.options});
  VecHandle      x, y;
  MatHandle      A;
  PCHandle       pc;
  ASSERT_OK(random_vec(space, ranks, 11, x.out()));
  ASSERT_OK(change_train(x, [](Train &t) { orthogonalize(t, 2); }));
  ASSERT_OK(random_vec(space, {1, 1, 1, 1, 1}, 12, y.out()));
  ASSERT_OK(opaque_operator(x, A.out()));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOptionsPrefix(pc, "test_"));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  for (Int k : c.modes) {
    MatHandle M;
    ASSERT_OK(mode_matrix(*space, k, banded((int)k), M.out()));
    ASSERT_OK(PCTTKronSetModeMat(pc, k, M));
  }
  ASSERT_OK(PCSetFromOptions(pc));

  PetscReal        stale, fresh;
  PetscObjectState before, after;
  ASSERT_OK(VecNorm(y, NORM_2, &stale));
  ASSERT_OK(PetscObjectStateGet((PetscObject)y.get(), &before));
  ASSERT_OK(c.transpose ? PCApplyTranspose(pc, x, y) : PCApply(pc, x, y));
  ASSERT_OK(PetscObjectStateGet((PetscObject)y.get(), &after));
  EXPECT_GT(after, before);

  const Dense want = dense(train_of(x)), got = dense(train_of(y));
  Dense       back = got;
  for (Int k : c.modes) back = apply_formula(back, k, banded((int)k), c.transpose);
  EXPECT_LT(distance(back, want), c.options.empty() ? 1e-12 : 1e-8);
  ASSERT_OK(VecNorm(y, NORM_2, &fresh));
  EXPECT_NEAR(fresh, got.norm(), 1e-12 * got.norm());

  EXPECT_EQ(train_of(y).ranks(), train_of(x).ranks());
  EXPECT_EQ(train_of(y).left(), std::min(train_of(x).left(), c.modes.front()));
  EXPECT_EQ(train_of(y).right(), std::min(train_of(x).right(), 3 - c.modes.back()));
  expect_orthogonality_as_claimed(train_of(y));

  const PetscInt *active;
  PetscInt        n;
  ASSERT_OK(PCTTKronGetModes(pc, &n, &active));
  EXPECT_EQ(vector<Int>(active, active + n), c.modes);
}

} // namespace

TEST(PCTTKron, UserMatricesOnEveryDistribution)
{
  for (const vector<Int> &modes : vector<vector<Int>>{{0}, {1, 2}}) check_user_matrices({"d", modes});
  for (const char *kinds : {"d", "r", "f", "ulfdr"}) check_user_matrices({kinds, {0, 1, 2, 3}});
}

TEST(PCTTKron, Transpose)
{
  for (const char *kinds : {"d", "r", "ulfdr"}) check_user_matrices({kinds, {0, 1, 2, 3}, true});
}

TEST(PCTTKron, ColumnBlocks)
{
  for (PetscInt block : {1, 3}) {
    check_user_matrices({"d", {0, 1, 2, 3}, false, block});
    check_user_matrices({"rd", {0, 1, 2, 3}, true, block});
  }
}

TEST(PCTTKron, InnerSolversWithoutBlockForm)
{
  check_user_matrices({"d", {0, 2}, false, PETSC_DECIDE, "-test_pc_ttkron_mode_2_ksp_type gmres"});
  check_user_matrices({"d", {0, 2}, true, PETSC_DECIDE, "-test_pc_ttkron_mode_2_ksp_type bicg"});
  check_user_matrices({"drr", {0, 2}, false, PETSC_DECIDE, "-test_pc_ttkron_mode_2_pc_type redundant"});
}

TEST(PCTTKron, ParallelMatrixOnReplicatedMode)
{
  const SpacePtr replicated = make_space(sizes, "r"), distributed = make_space(sizes, "d");
  VecHandle      x, y;
  MatHandle      A, M;
  PCHandle       pc;
  ASSERT_OK(make_operator(replicated, {{1, {{}, {}, {}, {}}}}, A.out()));
  ASSERT_OK(mode_matrix(*distributed, 2, banded(2), M.out()));
  ASSERT_OK(random_vec(replicated, ranks, 11, x.out()));
  ASSERT_OK(VecDuplicate(x, y.out()));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  ASSERT_OK(PCTTKronSetModeMat(pc, 2, M));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(apply_formula(dense(train_of(y)), 2, banded(2)), dense(train_of(x))), 1e-12);
}

// Dense matrices have no parallel factorisation in PETSc itself.
TEST(PCTTKron, DenseMatrix)
{
  const SpacePtr space = make_space(sizes, "d");
  VecHandle      x, y;
  MatHandle      A, M, D;
  PCHandle       pc;
  ASSERT_OK(random_vec(space, ranks, 11, x.out()));
  ASSERT_OK(VecDuplicate(x, y.out()));
  ASSERT_OK(opaque_operator(x, A.out()));
  ASSERT_OK(mode_matrix(*space, 0, banded(2), M.out()));
  ASSERT_OK(MatConvert(M, MATDENSE, MAT_INITIAL_MATRIX, D.out()));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  ASSERT_OK(PCTTKronSetModeMat(pc, 0, D));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(apply_formula(dense(train_of(y)), 0, banded(2)), dense(train_of(x))), 1e-12);
}

TEST(PCTTKron, ZeroAndNaNPassThrough)
{
  const SpacePtr space = make_space(sizes, "d");
  for (const char *type : {"preonly", "gmres"}) {
    Options        options({string("-pc_ttkron_mode_0_ksp_type ") + type});
    VecHandle      x, y;
    MatHandle      A, M;
    PCHandle       pc;
    PetscReal      norm;
    PCFailedReason reason;
    ASSERT_OK(create_vec(space, nullptr, x.out()));
    ASSERT_OK(random_vec(space, ranks, 3, y.out()));
    ASSERT_OK(opaque_operator(x, A.out()));
    ASSERT_OK(mode_matrix(*space, 0, banded(2), M.out()));
    ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    ASSERT_OK(PCSetOperators(pc, A, A));
    ASSERT_OK(PCSetType(pc, PCTTKRON));
    ASSERT_OK(PCSetFromOptions(pc));
    ASSERT_OK(PCTTKronSetModeMat(pc, 0, M));
    ASSERT_OK(PCApply(pc, x, y));
    EXPECT_TRUE(train_of(y).is_zero());

    Train t = random_train(space, ranks, 5);
    ASSERT_OK(set_train(x, Train(t)));
    ASSERT_OK(change_train(x, [](Train &z) { z.set_scale(Scaled(Scalar(NAN))); }));
    ASSERT_OK(PCApply(pc, x, y));
    ASSERT_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_TRUE(PetscIsNanReal(norm));

    ASSERT_OK(set_train(x, std::move(t)));
    ASSERT_OK(change_train(x, [](Train &z) {
      Core &c = z.core_rw(0);
      if (c.count()) c.data()[0] = NAN;
    }));
    ASSERT_OK(PCApply(pc, x, y));
    ASSERT_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_TRUE(PetscIsInfOrNanReal(norm));
    ASSERT_OK(PCGetFailedReason(pc, &reason));
    EXPECT_EQ(reason, PC_NOERROR);

    VecHandle good;
    ASSERT_OK(random_vec(space, ranks, 7, good.out()));
    ASSERT_OK(PCApply(pc, good, y));
    EXPECT_LT(distance(apply_formula(dense(train_of(y)), 0, banded(2)), dense(train_of(good))), 1e-4);
  }
}

TEST(PCTTKron, BadInput)
{
  const SpacePtr space = make_space(sizes, "d"), other = make_space({7, 5, 3, 4}, "d");
  auto           attempt = [&](const std::function<PetscErrorCode(PC)> &set, const SpacePtr &vectors) {
    VecHandle x, y;
    MatHandle A;
    PCHandle  pc;
    EXPECT_OK(random_vec(vectors, {1, 2, 2, 2, 1}, 3, x.out()));
    EXPECT_OK(VecDuplicate(x, y.out()));
    EXPECT_OK(opaque_operator(x, A.out()));
    EXPECT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    EXPECT_OK(PCSetOperators(pc, A, A));
    EXPECT_OK(PCSetType(pc, PCTTKRON));
    QuietErrors    quiet;
    PetscErrorCode code = set(pc);
    if (!code) code = PCApply(pc, x, y);
    return code;
  };
  auto with_matrix = [&](Int k, Int of) {
    return [&space, k, of](PC pc) {
      MatHandle      M;
      PetscErrorCode code = mode_matrix(*space, of, banded(1), M.out());
      return code ? code : PCTTKronSetModeMat(pc, k, M);
    };
  };
  EXPECT_EQ((int)attempt(with_matrix(0, 0), space), 0);
  EXPECT_EQ((int)attempt(with_matrix(1, 2), space), PETSC_ERR_ARG_SIZ);
  EXPECT_NE(QuietErrors::text().find("5 rows, the mode 3 points"), string::npos) << QuietErrors::text();
  EXPECT_EQ((int)attempt(with_matrix(2, 2), other), PETSC_ERR_ARG_SIZ);
  EXPECT_EQ((int)attempt(with_matrix(4, 2), space), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)attempt(with_matrix(-1, 2), space), PETSC_ERR_ARG_OUTOFRANGE);
  // no matrix, and an operator that cannot be projected
  EXPECT_EQ((int)attempt([](PC) { return (PetscErrorCode)0; }, space), PETSC_ERR_ARG_WRONG);
  const PetscInt twice[] = {1, 2, 1}, negative[] = {-3}, none[] = {0};
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronSetModes(pc, 3, twice); }, space), PETSC_ERR_ARG_WRONG);
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronSetModes(pc, 1, negative); }, space), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronSetModes(pc, 1, none); }, space), PETSC_ERR_ARG_WRONG);
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronSetReference(pc, none); }, space), PETSC_ERR_ARG_WRONGSTATE);
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronSetBlockSize(pc, 0); }, space), PETSC_ERR_ARG_OUTOFRANGE);
  KSP ksp;
  EXPECT_EQ((int)attempt([&](PC pc) { return PCTTKronGetModeKSP(pc, 0, &ksp); }, space), PETSC_ERR_ARG_WRONGSTATE);
  if (size() > 1) { // rows elsewhere, and a sequential matrix for a distributed mode
    const SpacePtr first = make_space(sizes, "f"), replicated = make_space(sizes, "r");
    EXPECT_EQ((int)attempt(with_matrix(0, 0), first), PETSC_ERR_ARG_SIZ);
    auto sequential = [&](PC pc) {
      MatHandle      M;
      PetscErrorCode code = mode_matrix(*replicated, 0, banded(1), M.out());
      return code ? code : PCTTKronSetModeMat(pc, 0, M);
    };
    EXPECT_EQ((int)attempt(sequential, space), PETSC_ERR_ARG_INCOMP);
    EXPECT_EQ((int)attempt(with_matrix(0, 0), replicated), PETSC_ERR_ARG_INCOMP);
  }
}
