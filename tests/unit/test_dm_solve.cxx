// KSPSetDM(), SNESSetDM(), TSSetDM() with a DMTT: solvers get their vectors and operators from it and the callbacks of the user.
#include "test_dm_fixture.hpp"

#include "petsctt.h"

#include <petscts.h>

using namespace petsctt;
using namespace petsctt::test_dm;

namespace {

using SNESHandle = Handle<SNES, SNESDestroy>;
using TSHandle   = Handle<TS, TSDestroy>;

constexpr PetscInt rod_points = 17, parameters = 4;

Scalar parameter(Int j)
{
  return Scalar(1 + j);
}

// A rod on all processes and a parameter of four samples.
PetscErrorCode rod_and_parameter(DM *dm)
{
  DMHandle da;

  PetscFunctionBegin;
  PetscCall(line(PETSC_COMM_WORLD, rod_points, da.out()));
  PetscCall(DMTTCreate(PETSC_COMM_WORLD, 2, dm));
  PetscCall(DMTTSetModeDM(*dm, 0, da));
  PetscCall(DMTTSetModeSize(*dm, 1, PETSC_TT_AUTO, parameters));
  PetscCall(DMSetUp(*dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A = tridiag(-1, 2, -1) x I + I x diag(parameter), whatever A held before
PetscErrorCode fill_operator(DM dm, Mat A)
{
  MatHandle L, D;
  VecHandle diagonal;
  PetscInt  start, end, N;

  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  PetscCall(DMTTGetModeSize(dm, 0, NULL, &N));
  PetscCall(DMTTCreateModeMat(dm, 0, L.out()));
  PetscCall(MatGetOwnershipRange(L, &start, &end));
  for (PetscInt i = start; i < end; ++i) {
    if (i > 0) PetscCall(MatSetValue(L, i, i - 1, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(L, i, i, 2.0, INSERT_VALUES));
    if (i + 1 < N) PetscCall(MatSetValue(L, i, i + 1, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(L, MAT_FINAL_ASSEMBLY));
  PetscCall(DMTTCreateModeMat(dm, 1, D.out()));
  PetscCall(DMTTCreateModeVec(dm, 1, diagonal.out()));
  PetscCall(fill(diagonal, parameter));
  PetscCall(MatDiagonalSet(D, diagonal, INSERT_VALUES));
  const Mat first[2] = {L, nullptr}, second[2] = {nullptr, D};
  PetscCall(MatTTAddTerm(A, 1.0, first));
  PetscCall(MatTTAddTerm(A, 1.0, second));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 1 - A x by loops
Dense dense_residual(const Dense &x)
{
  return make_dense(x.N, [&](const std::vector<Int> &i) {
    const auto at = [&](Int p) { return p < 0 || p >= rod_points ? Scalar(0) : x.a[x.linear({p, i[1]})]; };
    return Scalar(1) - (Scalar(2) + parameter(i[1])) * at(i[0]) + at(i[0] - 1) + at(i[0] + 1);
  });
}

PetscErrorCode use_pc(KSP ksp, const char type[])
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int calls = 0;

PetscErrorCode ksp_operators(KSP ksp, Mat, Mat P, void *)
{
  DM dm;

  PetscFunctionBegin;
  ++calls;
  PetscCall(KSPGetDM(ksp, &dm));
  PetscCall(fill_operator(dm, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ksp_rhs(KSP, Vec b, void *)
{
  PetscFunctionBegin;
  PetscCall(VecTTSetConstant(b, 1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class DMTTSolve : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override { VEC_OK(rod_and_parameter(dm.out())); }
  DMHandle dm;
};

TEST_P(DMTTSolve, KSP)
{
  KSPHandle          ksp;
  Mat                A;
  Vec                x, b;
  VecHandle          r;
  PetscReal          residual, norm;
  KSPConvergedReason reason;

  calls = 0;
  VEC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  VEC_OK(KSPSetDM(ksp, dm));
  VEC_OK(KSPSetComputeOperators(ksp, ksp_operators, NULL));
  VEC_OK(KSPSetComputeRHS(ksp, ksp_rhs, NULL));
  VEC_OK(KSPSetType(ksp, GetParam()));
  VEC_OK(use_pc(ksp, PCTTKRON));
  VEC_OK(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, 60));
  VEC_OK(KSPSetFromOptions(ksp));
  VEC_OK(KSPSolve(ksp, NULL, NULL));
  VEC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  EXPECT_EQ(calls, 1);
  VEC_OK(KSPGetOperators(ksp, &A, NULL));
  VEC_OK(KSPGetRhs(ksp, &b));
  VEC_OK(KSPGetSolution(ksp, &x));
  VEC_OK(VecDuplicate(b, r.out()));
  VEC_OK(VecTTSetRoundRtol(r, 1e-13));
  VEC_OK(MatMult(A, x, r));
  VEC_OK(VecAYPX(r, -1.0, b));
  VEC_OK(VecNorm(r, NORM_2, &residual));
  VEC_OK(VecNorm(b, NORM_2, &norm));
  EXPECT_LT(residual, 1e-6 * norm);
  VEC_OK(KSPSolve(ksp, NULL, NULL)); // again: the operator stays
  EXPECT_EQ(calls, 1);
  VEC_OK(KSPSetComputeOperators(ksp, ksp_operators, NULL)); // anew: the terms are not added twice
  VEC_OK(KSPSolve(ksp, NULL, NULL));
  EXPECT_EQ(calls, 2);
  VEC_OK(KSPGetSolution(ksp, &x));
  VEC_OK(KSPGetOperators(ksp, &A, NULL));
  VEC_OK(MatMult(A, x, r));
  VEC_OK(VecAYPX(r, -1.0, b));
  VEC_OK(VecNorm(r, NORM_2, &residual));
  EXPECT_LT(residual, 1e-6 * norm);
  const Dense solution = dense_of(x);
  EXPECT_LT(distance(dense_residual(solution), Dense(solution.N)), 1e-6 * norm);
}
INSTANTIATE_TEST_SUITE_P(Types, DMTTSolve, testing::Values(KSPTTGMRES, KSPFGMRES, KSPCG));

PetscErrorCode type_of_pc(KSP ksp, std::string &type)
{
  PC     pc;
  PCType name;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &name));
  type = name ? name : "";
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ksp_with(DM dm, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  if (dm) PetscCall(KSPSetDM(*ksp, dm));
  PetscCall(KSPSetComputeOperators(*ksp, ksp_operators, NULL));
  PetscCall(KSPSetComputeRHS(*ksp, ksp_rhs, NULL));
  PetscCall(KSPSetType(*ksp, KSPTTGMRES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// On a DMTT the preconditioner is ours, whether PETSc chooses it before it knows the operator or later, unless the user says otherwise.
TEST(DMTTSolvePreconditioner, IsOursByDefault)
{
  DMHandle           dm, rod;
  std::string        type;
  KSPConvergedReason reason;

  VEC_OK(rod_and_parameter(dm.out()));
  for (bool options : {true, false}) {
    KSPHandle ksp;
    VEC_OK(ksp_with(dm, ksp.out()));
    if (options) {
      VEC_OK(KSPSetFromOptions(ksp));
    }
    VEC_OK(KSPSolve(ksp, NULL, NULL));
    VEC_OK(type_of_pc(ksp, type));
    EXPECT_EQ(type, PCTTKRON);
    VEC_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT(reason, 0);
  }
  for (bool option : {false, true}) {
    KSPHandle ksp;
    VEC_OK(ksp_with(dm, ksp.out()));
    VEC_OK(option ? PetscOptionsSetValue(NULL, "-pc_type", "none") : use_pc(ksp, PCNONE));
    VEC_OK(KSPSetFromOptions(ksp));
    VEC_OK(type_of_pc(ksp, type));
    EXPECT_EQ(type, PCNONE);
    VEC_OK(PetscOptionsClearValue(NULL, "-pc_type"));
  }
  { // a DM of another type
    KSPHandle ksp;
    VEC_OK(line(PETSC_COMM_WORLD, 9, rod.out()));
    VEC_OK(ksp_with(rod, ksp.out()));
    VEC_OK(KSPSetFromOptions(ksp));
    VEC_OK(type_of_pc(ksp, type));
    EXPECT_NE(type, PCTTKRON);
  }
}

// What cannot work says what does, on all processes.
TEST(DMTTSolvePreconditioner, RefusalsNameOneThatWorks)
{
  for (const char *name : {"bjacobi", "lu", "jacobi", "sor", "asm", "gamg", "mg", "mg 2"}) {
    DMHandle  dm;
    KSPHandle ksp;
    VEC_OK(rod_and_parameter(dm.out()));
    VEC_OK(ksp_with(dm, ksp.out()));
    VEC_OK(PetscOptionsInsertString(NULL, std::string(name) == "mg 2" ? "-pc_type mg -pc_mg_levels 2" : (std::string("-pc_type ") + name).c_str()));
    VEC_OK(KSPSetFromOptions(ksp));
    EXPECT_PETSC_ERROR(KSPSolve(ksp, NULL, NULL), PETSC_ERR_SUP, "ttkron");
    VEC_OK(PetscOptionsClearValue(NULL, "-pc_type"));
    VEC_OK(PetscOptionsClearValue(NULL, "-pc_mg_levels"));
  }
}

// F(u) = A u + u^2 / 10 - 1
PetscErrorCode residual_of(DM dm, Vec u, Vec F)
{
  MatHandle A;
  VecHandle square, one;

  PetscFunctionBegin;
  PetscCall(DMCreateMatrix(dm, A.out()));
  PetscCall(fill_operator(dm, A));
  PetscCall(VecDuplicate(u, square.out()));
  PetscCall(VecDuplicate(u, one.out()));
  PetscCall(VecPointwiseMult(square, u, u));
  PetscCall(VecTTSetConstant(one, 1.0));
  PetscCall(MatMult(A, u, F));
  PetscCall(VecAXPBYPCZ(F, 0.1, -1.0, 1.0, square, one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode snes_function(SNES snes, Vec u, Vec F, void *)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(SNESGetDM(snes, &dm));
  PetscCall(residual_of(dm, u, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode snes_local_function(DM dm, Vec u, Vec F, void *)
{
  PetscFunctionBegin;
  PetscCall(residual_of(dm, u, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The linear part: u is below 1/2, so that the steps contract.
PetscErrorCode snes_jacobian(SNES snes, Vec, Mat, Mat P, void *)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(SNESGetDM(snes, &dm));
  PetscCall(fill_operator(dm, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST(DMTTSolveNonlinear, SNES)
{
  for (bool local : {false, true}) { // and with the preconditioner that is ours by default
    DMHandle            dm;
    SNESHandle          snes;
    KSP                 ksp;
    Vec                 u;
    SNESConvergedReason reason;

    VEC_OK(rod_and_parameter(dm.out()));
    VEC_OK(SNESCreate(PETSC_COMM_WORLD, snes.out()));
    VEC_OK(SNESSetDM(snes, dm));
    if (local) VEC_OK(DMSNESSetFunctionLocal(dm, snes_local_function, NULL));
    else VEC_OK(SNESSetFunction(snes, NULL, snes_function, NULL));
    VEC_OK(SNESSetJacobian(snes, NULL, NULL, snes_jacobian, NULL));
    VEC_OK(SNESSetTolerances(snes, 1e-10, 1e-7, 0, 30, PETSC_DEFAULT));
    VEC_OK(SNESGetKSP(snes, &ksp));
    VEC_OK(KSPSetType(ksp, KSPTTGMRES));
    VEC_OK(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    VEC_OK(SNESSetFromOptions(snes));
    VEC_OK(SNESSolve(snes, NULL, NULL));
    VEC_OK(SNESGetConvergedReason(snes, &reason));
    EXPECT_GT(reason, 0);
    VEC_OK(SNESGetSolution(snes, &u));
    const Dense x = dense_of(u);
    Dense       r = dense_residual(x); // 1 - A x
    for (std::size_t i = 0; i < r.a.size(); ++i) r.a[i] -= Real(0.1) * x.a[i] * x.a[i];
    EXPECT_LT(r.norm(), 1e-5);
    EXPECT_GT(x.norm(), 0.1);
  }
}

TEST(DMTTSolveNonlinear, GridSequenceIsRefused)
{
  DMHandle   dm;
  SNESHandle snes;

  VEC_OK(rod_and_parameter(dm.out()));
  VEC_OK(SNESCreate(PETSC_COMM_WORLD, snes.out()));
  VEC_OK(SNESSetDM(snes, dm));
  VEC_OK(SNESSetFunction(snes, NULL, snes_function, NULL));
  VEC_OK(SNESSetJacobian(snes, NULL, NULL, snes_jacobian, NULL));
  VEC_OK(SNESSetGridSequence(snes, 1));
  VEC_OK(SNESSetTolerances(snes, 1e-2, 1e-1, 0, 30, PETSC_DEFAULT));
  VEC_OK(SNESSetFromOptions(snes));
  EXPECT_PETSC_ERROR(SNESSolve(snes, NULL, NULL), PETSC_ERR_SUP, "no interpolation");
}

// du/dt = -A u
PetscErrorCode ts_function(TS ts, PetscReal, Vec u, Vec udot, Vec F, void *)
{
  DM        dm;
  MatHandle A;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMCreateMatrix(dm, A.out()));
  PetscCall(fill_operator(dm, A));
  PetscCall(MatMult(A, u, F));
  PetscCall(VecAXPY(F, 1.0, udot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ts_jacobian(TS ts, PetscReal, Vec, Vec, PetscReal shift, Mat, Mat P, void *)
{
  DM dm;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(fill_operator(dm, P));
  PetscCall(MatShift(P, shift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// From an eigenvector in space for every parameter, implicit Euler steps divide by 1 + dt (lambda + parameter).
TEST(DMTTSolveInTime, TS)
{
  DMHandle        dm;
  TSHandle        ts;
  SNES            snes;
  KSP             ksp;
  TSAdapt         adapt;
  VecHandle       u, phi;
  TSConvergedReason reason;
  const PetscInt  steps = 4;
  const PetscReal dt    = 0.05;

  VEC_OK(rod_and_parameter(dm.out()));
  VEC_OK(DMCreateGlobalVector(dm, u.out()));
  VEC_OK(VecTTSetRoundRtol(u, 1e-11));
  VEC_OK(DMTTCreateModeVec(dm, 0, phi.out()));
  const auto mode = [](Int i) { return Scalar(std::sin(PETSC_PI * (Real)(i + 1) / (Real)(rod_points + 1))); };
  VEC_OK(fill(phi, mode));
  const Vec vecs[2] = {phi, nullptr};
  VEC_OK(VecTTSetRankOne(u, vecs));

  VEC_OK(TSCreate(PETSC_COMM_WORLD, ts.out()));
  VEC_OK(TSSetDM(ts, dm));
  VEC_OK(TSSetIFunction(ts, NULL, ts_function, NULL));
  VEC_OK(TSSetIJacobian(ts, NULL, NULL, ts_jacobian, NULL));
  VEC_OK(TSSetType(ts, TSBEULER));
  VEC_OK(TSGetAdapt(ts, &adapt));
  VEC_OK(TSAdaptSetType(adapt, TSADAPTNONE));
  VEC_OK(TSSetTimeStep(ts, dt));
  VEC_OK(TSSetMaxSteps(ts, steps));
  VEC_OK(TSSetMaxTime(ts, 1e3));
  VEC_OK(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  VEC_OK(TSGetSNES(ts, &snes));
  VEC_OK(SNESSetType(snes, SNESKSPONLY));
  VEC_OK(SNESGetKSP(snes, &ksp));
  VEC_OK(KSPSetType(ksp, KSPTTGMRES));
  VEC_OK(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  VEC_OK(TSSetFromOptions(ts)); // the preconditioner is ours by default
  VEC_OK(TSSolve(ts, u));
  VEC_OK(TSGetConvergedReason(ts, &reason));
  EXPECT_EQ(reason, TS_CONVERGED_ITS);
  const Real  lambda = 2 - 2 * std::cos(PETSC_PI / (Real)(rod_points + 1));
  const Dense x      = dense_of(u);
  const Dense exact  = make_dense(x.N, [&](const std::vector<Int> &i) { return mode(i[0]) / Scalar(std::pow(1 + dt * (lambda + PetscRealPart(parameter(i[1]))), (Real)steps)); });
  EXPECT_LT(distance(x, exact), 1e-7);
}

// The solvers of PCTTKRON know the DM of their mode: geometric multigrid on one mode is an option.
TEST(DMTTSolveOptions, MultigridOnAMode)
{
  DMHandle           dm;
  KSPHandle          ksp;
  KSPConvergedReason reason;
  PC                 pc, inner;
  KSP                mode;
  PetscInt           levels;

  VEC_OK(rod_and_parameter(dm.out()));
  for (const char *option : {"-pc_ttkron_mode_0_pc_type mg", "-pc_ttkron_mode_0_pc_mg_levels 2", "-pc_ttkron_mode_0_pc_mg_galerkin both",
                             "-pc_ttkron_mode_0_mg_coarse_pc_type redundant"})
    VEC_OK(PetscOptionsInsertString(NULL, option));
  VEC_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  VEC_OK(KSPSetDM(ksp, dm));
  VEC_OK(KSPSetComputeOperators(ksp, ksp_operators, NULL));
  VEC_OK(KSPSetComputeRHS(ksp, ksp_rhs, NULL));
  VEC_OK(KSPSetType(ksp, KSPTTGMRES));
  VEC_OK(use_pc(ksp, PCTTKRON));
  VEC_OK(KSPSetFromOptions(ksp));
  VEC_OK(KSPSolve(ksp, NULL, NULL));
  VEC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  VEC_OK(KSPGetPC(ksp, &pc));
  VEC_OK(PCTTKronGetModeKSP(pc, 0, &mode));
  VEC_OK(KSPGetPC(mode, &inner));
  VEC_OK(PCMGGetLevels(inner, &levels));
  EXPECT_EQ(levels, 2);
  DM       handed, of_mode;
  DMHandle fine, line;
  VEC_OK(DMTTGetModeDM(dm, 0, &of_mode));
  VEC_OK(PCGetDM(inner, &handed));
  EXPECT_EQ(handed, of_mode);
  // another DMTT, another DM for the mode
  VEC_OK(DMRefine(dm, MPI_COMM_NULL, fine.out()));
  VEC_OK(KSPReset(ksp));
  VEC_OK(KSPSetDM(ksp, fine));
  VEC_OK(KSPSolve(ksp, NULL, NULL));
  VEC_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT(reason, 0);
  VEC_OK(DMTTGetModeDM(fine, 0, &of_mode));
  VEC_OK(PCGetDM(inner, &handed));
  EXPECT_EQ(handed, of_mode);
  // what the user has set stays
  VEC_OK(DMClone(of_mode, line.out()));
  VEC_OK(KSPReset(ksp));
  VEC_OK(KSPSetDM(mode, line));
  VEC_OK(KSPSetDMActive(mode, PETSC_FALSE));
  VEC_OK(KSPSolve(ksp, NULL, NULL));
  VEC_OK(PCGetDM(inner, &handed));
  EXPECT_EQ(handed, line.get());
  for (const char *option : {"-pc_ttkron_mode_0_pc_type", "-pc_ttkron_mode_0_pc_mg_levels", "-pc_ttkron_mode_0_pc_mg_galerkin", "-pc_ttkron_mode_0_mg_coarse_pc_type"})
    VEC_OK(PetscOptionsClearValue(NULL, option));
}

} // namespace
