/* A program that knows PETSc only. With -dll_append libpetsctt.so -vec_type tt -vec_tt_dim 4 -ksp_type ttgmres it runs on tensor trains. */
#include <petscksp.h>

static PetscErrorCode twice(Mat A, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  (void)A;
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, 2.0));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A;
  Vec       b, x;
  KSP       ksp;
  PetscInt  n;
  PetscReal norm, error;
  VecType   vec_type;
  KSPType   ksp_type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &b));
  PetscCall(VecSetSizes(b, PETSC_DECIDE, 4096));
  PetscCall(VecSetFromOptions(b));
  PetscCall(VecSet(b, 3.0));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCheck(PetscAbsReal(norm - 192) < 1e-9, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "norm %g, not 192", (double)norm);
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, 4096, 4096, NULL, &A));
  PetscCall(MatShellSetOperation(A, MATOP_MULT, (void (*)(void))twice));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecAXPY(x, -0.5, b));
  PetscCall(VecNorm(x, NORM_2, &error));
  PetscCheck(error <= 1e-4 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "error %g", (double)error);
  PetscCall(VecGetType(b, &vec_type));
  PetscCall(KSPGetType(ksp, &ksp_type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "stock: solved with vectors of type %s and KSP type %s\n", vec_type, ksp_type));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFinalize());
  return 0;
}
