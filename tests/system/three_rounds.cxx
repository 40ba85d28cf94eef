// PetscInitialize() and PetscFinalize() three times in one process: the types are there each time, by name as by function, files can be
// loaded into vectors without type, and nothing of one round is used in the next. Objects of the last round that nobody destroys do no
// harm either.
#include <petsctt.h>

static PetscErrorCode one_round(int round, PetscBool leave)
{
  const PetscInt N[3] = {40, 5, 6};
  Vec            x, y, z;
  PetscReal      norm, logarithm, difference;
  PetscViewer    viewer;
  PetscBool      tt;
  KSP            ksp;
  PC             pc;
  Mat            A;
  char           name[32];

  PetscFunctionBeginUser;
  if (round % 2) PetscCall(PetscTTInitializePackage()); // else VecCreateTT() does it
  PetscCall(VecCreateTT(PETSC_COMM_WORLD, 3, NULL, N, &x));
  PetscCall(VecTTSetRandom(x, NULL, round));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecWAXPY(y, 2, x, x));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecTTNormLog10(x, &logarithm));
  PetscCheck(PetscAbsReal(PetscLog10Real(norm / 3) - logarithm) < 1e-10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "norms differ: %g, 10^%g", (double)norm, (double)logarithm);

  PetscCall(PetscSNPrintf(name, sizeof(name), "three_rounds_%d.bin", round));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(VecView(y, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscOptionsSetValue(NULL, "-vec_type", VECTT));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &z));
  PetscCall(VecLoad(z, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)z, VECTT, &tt));
  PetscCheck(tt, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "round %d: the vector that was loaded is of another type", round);
  PetscCall(VecAXPY(z, -3, x));
  PetscCall(VecNorm(z, NORM_2, &difference));
  PetscCheck(difference < 1e-10 * norm, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "round %d: what was loaded differs by %g", round, (double)difference);

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetType(A, MATTT));
  if (!leave) {
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  MPI_Init(&argc, &argv); // else PetscFinalize() would end MPI
  for (int round = 0; round < 3; ++round) {
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(one_round(round, round == 2 ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "round %d ends\n", round));
    PetscCall(PetscFinalize());
  }
  MPI_Finalize();
  return 0;
}
