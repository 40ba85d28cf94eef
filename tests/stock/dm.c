/* A program that knows PETSc only and takes the type of its DM from the command line. With -dll_append libpetsctt.so -dm_type tt -dm_tt_modes 40,5,7
   KSP, SNES and TS get vectors and operators in tensor-train form from it. */
#include <petscdm.h>
#include <petscts.h>

static PetscErrorCode three(KSP ksp, Mat A, Mat B, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)A;
  (void)ctx;
  PetscCall(MatZeroEntries(B));
  PetscCall(MatShift(B, 3.0));
  PetscFunctionReturn(0);
}

static PetscErrorCode six(KSP ksp, Vec b, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)ctx;
  PetscCall(VecSet(b, 6.0));
  PetscFunctionReturn(0);
}

/* u^2 + u = 6, whose solution is 2; the Jacobian at the solution is 5. */
static PetscErrorCode function(SNES snes, Vec u, Vec F, void *ctx)
{
  PetscFunctionBeginUser;
  (void)snes;
  (void)ctx;
  PetscCall(VecPointwiseMult(F, u, u));
  PetscCall(VecAXPY(F, 1.0, u));
  PetscCall(VecShift(F, -6.0));
  PetscFunctionReturn(0);
}

static PetscErrorCode jacobian(SNES snes, Vec u, Mat A, Mat B, void *ctx)
{
  PetscFunctionBeginUser;
  (void)snes;
  (void)u;
  (void)A;
  (void)ctx;
  PetscCall(MatZeroEntries(B));
  PetscCall(MatShift(B, 5.0));
  PetscFunctionReturn(0);
}

/* u' = -u */
static PetscErrorCode ifunction(TS ts, PetscReal t, Vec u, Vec udot, Vec F, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  (void)ctx;
  PetscCall(VecCopy(u, F));
  PetscCall(VecAXPY(F, 1.0, udot));
  PetscFunctionReturn(0);
}

static PetscErrorCode ijacobian(TS ts, PetscReal t, Vec u, Vec udot, PetscReal shift, Mat A, Mat B, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  (void)u;
  (void)udot;
  (void)A;
  (void)ctx;
  PetscCall(MatZeroEntries(B));
  PetscCall(MatShift(B, 1.0 + shift));
  PetscFunctionReturn(0);
}

/* || u - value || small against || u ||? */
static PetscErrorCode check(DM dm, Vec u, PetscReal value, const char *what)
{
  Vec       w;
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalVector(dm, &w));
  PetscCall(VecSet(w, value));
  PetscCall(VecNorm(w, NORM_2, &norm));
  PetscCall(VecAXPY(w, -1.0, u));
  PetscCall(VecNorm(w, NORM_2, &error));
  PetscCall(DMRestoreGlobalVector(dm, &w));
  PetscCheck(error <= 1e-5 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: the solution differs from %g by %g of its norm", what, (double)value, (double)(error / norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "stock: %s solved\n", what));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char      type[64] = DMDA;
  DM        dm, clone, other;
  KSP       ksp;
  SNES      snes;
  TS        ts;
  TSAdapt   adapt;
  Vec       u, l;
  PetscInt  m;
  PetscReal exact = 1;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dm_type", type, sizeof(type), NULL));
  PetscCall(DMCreate(PETSC_COMM_WORLD, &dm));
  PetscCall(DMSetType(dm, type));
  PetscCall(DMSetFromOptions(dm));
  PetscCall(DMSetUp(dm));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, dm));
  PetscCall(KSPSetComputeOperators(ksp, three, NULL));
  PetscCall(KSPSetComputeRHS(ksp, six, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, NULL, NULL));
  PetscCall(KSPGetSolution(ksp, &u));
  PetscCall(check(dm, u, 2, "KSP"));
  PetscCall(KSPDestroy(&ksp));

  PetscCall(DMClone(dm, &clone)); /* callbacks stay with the DM */
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetDM(snes, clone));
  PetscCall(SNESSetFunction(snes, NULL, function, NULL));
  PetscCall(SNESSetJacobian(snes, NULL, NULL, jacobian, NULL));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(DMCreateGlobalVector(clone, &u));
  PetscCall(VecSet(u, 2.5));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(check(dm, u, 2, "SNES"));
  PetscCall(SNESDestroy(&snes));
  PetscCall(DMDestroy(&clone));

  PetscCall(DMClone(dm, &other));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetDM(ts, other));
  PetscCall(TSSetIFunction(ts, NULL, ifunction, NULL));
  PetscCall(TSSetIJacobian(ts, NULL, NULL, ijacobian, NULL));
  PetscCall(TSSetType(ts, TSBEULER));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));
  PetscCall(TSSetTimeStep(ts, 0.1));
  PetscCall(TSSetMaxSteps(ts, 5));
  PetscCall(TSSetMaxTime(ts, 100));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_STEPOVER));
  PetscCall(TSSetFromOptions(ts));
  PetscCall(VecSet(u, 1.0));
  PetscCall(TSSolve(ts, u));
  for (m = 0; m < 5; m++) exact /= 1.1;
  PetscCall(check(dm, u, exact, "TS"));
  PetscCall(TSDestroy(&ts));
  PetscCall(DMDestroy(&other));

  PetscCall(DMGetLocalVector(dm, &l));
  PetscCall(DMGlobalToLocal(dm, u, INSERT_VALUES, l));
  PetscCall(VecSet(u, 0.0));
  PetscCall(DMLocalToGlobal(dm, l, ADD_VALUES, u));
  PetscCall(check(dm, u, exact, "copy"));
  PetscCall(DMRestoreLocalVector(dm, &l));
  PetscCall(VecDestroy(&u));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "stock: a DM of type %s\n", type));
  PetscCall(PetscFinalize());
  return 0;
}
