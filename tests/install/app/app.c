/* A user's program: a Laplacian in four dimensions, 16^4 unknowns, solved in TT format. Linked to the library. */
#include <petsctt.h>

int main(int argc, char **argv)
{
  enum { D = 4, N = 16 };
  Mat       L, A, factors[D];
  Vec       b, x, r;
  KSP       ksp;
  PetscInt  n[D], N_k[D], start, end;
  PetscReal norm, norm_b;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscTTInitializePackage());
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, 3, NULL, 2, NULL, &L));
  PetscCall(MatGetOwnershipRange(L, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(L, i, i - 1, -1.0, INSERT_VALUES));
    PetscCall(MatSetValue(L, i, i, 2.0, INSERT_VALUES));
    if (i < N - 1) PetscCall(MatSetValue(L, i, i + 1, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(L, MAT_FINAL_ASSEMBLY));
  for (int k = 0; k < D; k++) {
    n[k]   = PETSC_TT_DISTRIBUTED;
    N_k[k] = N;
  }
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, D, n, N_k, &A));
  for (int k = 0; k < D; k++) {
    for (int j = 0; j < D; j++) factors[j] = j == k ? L : NULL;
    PetscCall(MatTTAddTerm(A, 1.0, factors));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecTTSetConstant(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecNorm(b, NORM_2, &norm_b));
  PetscCheck(norm <= 2e-6 * norm_b, PETSC_COMM_WORLD, PETSC_ERR_NOT_CONVERGED, "residual %g of %g", (double)norm, (double)norm_b);
  PetscCheck(PetscAbsReal(norm_b - 256) < 1e-8, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "norm of the right-hand side %g, not 256", (double)norm_b);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "app: solved\n"));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFinalize());
  return 0;
}
