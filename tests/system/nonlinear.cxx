static char help[] = "PETSc's nonlinear solvers over tensor trains: A u + u^3 = b with exact Jacobians.\n\n";

/*
  A is the Laplacian of a d-dimensional cube, scaled to unit mesh width, plus the identity; b = 1. The cube of u is two entrywise products, each rounded; the
  Jacobian A + 3 diag(u o u) is a MATTT with a diagonal term. Every solver has to reach the tolerance by a residual that is computed once more from
  its solution, with roundings of 1e-13.

  -known: b is made from a solution of TT rank 2, which has to be found. The eigenvalues of the Jacobian are at least 0.1, those of A, so that the error is at
  most ten times the residual.
*/
#include <petscsnes.h>
#include <petsctt.h>

#include <cmath>
#include <string>
#include <vector>

// 3.19 introduced the name
#if !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

struct Problem {
  Mat      A = NULL;
  Vec      b = NULL, solution = NULL; // known, with -known
  PetscInt evaluations = 0, jacobians = 0;
};

static PetscErrorCode Create(Problem &p, PetscInt d, PetscInt n)
{
  std::vector<PetscInt> N((size_t)d, n);
  std::vector<Mat>      factors((size_t)d, (Mat)NULL);
  Vec                   x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, NULL, N.data(), &p.A));
  PetscCall(MatCreateVecs(p.A, &x, &p.b));
  for (PetscInt k = 0; k < d; k++) {
    PetscBool replicated;
    PetscInt  start, end;
    Mat      &M = factors[(size_t)k];
    PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
    PetscCall(MatCreate(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &M));
    PetscCall(MatSetSizes(M, end - start, end - start, n, n));
    PetscCall(MatSetType(M, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(M, 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(M, 3, NULL, 2, NULL));
    for (PetscInt i = start; i < end; i++) {
      if (i > 0) PetscCall(MatSetValue(M, i, i - 1, -1, INSERT_VALUES));
      PetscCall(MatSetValue(M, i, i, 2, INSERT_VALUES));
      if (i + 1 < n) PetscCall(MatSetValue(M, i, i + 1, -1, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatTTAddTerm(p.A, 1, factors.data()));
    PetscCall(MatDestroy(&M));
  }
  PetscCall(MatShift(p.A, 0.1));
  PetscCall(VecTTSetConstant(p.b, 1));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Function(SNES, Vec u, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;
  Vec      cube;

  PetscFunctionBeginUser;
  p->evaluations++;
  PetscCall(VecDuplicate(f, &cube));
  PetscCall(VecPointwiseMult(cube, u, u));
  PetscCall(VecPointwiseMult(cube, cube, u));
  PetscCall(VecAXPY(cube, -1, p->b));
  PetscCall(MatMultAdd(p->A, u, cube, f)); // A u + (u^3 - b)
  PetscCall(VecDestroy(&cube));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(SNES, Vec u, Mat J, Mat P, void *ctx)
{
  Problem *p = (Problem *)ctx;
  Vec      square;

  PetscFunctionBeginUser;
  p->jacobians++;
  PetscCall(VecDuplicate(u, &square));
  PetscCall(VecPointwiseMult(square, u, u));
  PetscCall(VecTTRound(square, 1e-6, 0, NULL)); // an error of 1e-6 in the Jacobian costs no step
  PetscCall(MatCopy(p->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatTTAddDiagonalVec(P, 3, square));
  if (J != P) PetscCall(MatCopy(P, J, SAME_NONZERO_PATTERN));
  PetscCall(VecDestroy(&square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// || A u + u^3 - b || / || b || with roundings of 1e-13.
static PetscErrorCode TrueResidual(Problem &p, Vec u, PetscReal *residual)
{
  Vec       f;
  PetscReal b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(u, &f));
  PetscCall(VecTTSetRoundRtol(f, 1e-13));
  PetscCall(VecTTSetRoundType(f, VEC_TT_ROUND_QR));
  PetscCall(Function(NULL, u, f, &p));
  PetscCall(VecNorm(f, NORM_2, residual));
  PetscCall(VecNorm(p.b, NORM_2, &b));
  *residual /= b;
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// u = 0.2 + 0.3 times the product of sin(pi x_k), and b = A u + u^3 with roundings of 1e-13.
static PetscErrorCode Known(Problem &p, PetscInt d, PetscInt n)
{
  std::vector<Vec> mode((size_t)d);
  Vec              sines, b;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(p.b, &p.solution));
  PetscCall(VecDuplicate(p.b, &sines));
  PetscCall(VecDuplicate(p.b, &b));
  for (PetscInt k = 0; k < d; k++) {
    PetscInt     start, end;
    PetscScalar *a;
    PetscCall(VecTTCreateModeVec(sines, k, &mode[(size_t)k]));
    PetscCall(VecGetOwnershipRange(mode[(size_t)k], &start, &end));
    PetscCall(VecGetArrayWrite(mode[(size_t)k], &a));
    for (PetscInt i = start; i < end; i++) a[i - start] = std::sin(PETSC_PI * (PetscReal)(i + 1) / (PetscReal)(n + 1));
    PetscCall(VecRestoreArrayWrite(mode[(size_t)k], &a));
  }
  PetscCall(VecTTSetRankOne(sines, mode.data()));
  for (Vec &v : mode) PetscCall(VecDestroy(&v));
  PetscCall(VecTTSetRoundRtol(p.solution, 1e-13));
  PetscCall(VecTTSetRoundRtol(b, 1e-13));
  PetscCall(VecTTSetConstant(p.solution, 0.2));
  PetscCall(VecAXPY(p.solution, 0.3, sines));
  PetscCall(VecSet(p.b, 0));
  PetscCall(Function(NULL, p.solution, b, &p));
  PetscCall(VecCopy(b, p.b));
  p.evaluations = 0;
  PetscCall(VecDestroy(&sines));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Problem             p;
  SNES                snes;
  Mat                 J;
  Vec                 u, r;
  PetscInt            d = 4, n = 10, its, lits;
  PetscReal           residual, rtol, round, error = 0, bound = 0;
  PetscReal           again;
  PetscBool           known = PETSC_FALSE, twice;
  const PetscInt     *ranks;
  SNESConvergedReason reason;
  SNESType            type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-d", &d, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-known", &known, NULL));
  PetscCall(Create(p, d, n));
  if (known) PetscCall(Known(p, d, n));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &J));
  PetscCall(MatCreateVecs(p.A, &u, &r));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, r, Function, &p));
  PetscCall(SNESSetJacobian(snes, J, J, Jacobian, &p));
  PetscCall(SNESSetFromOptions(snes));
  PetscCall(SNESSolve(snes, NULL, u));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-again", &again, &twice));
  if (twice) { // from zero, to another tolerance
    PetscCall(SNESSetTolerances(snes, PETSC_DEFAULT, again, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
    PetscCall(VecSet(u, 0));
    PetscCall(SNESSolve(snes, NULL, u));
  }
  PetscCall(SNESGetConvergedReason(snes, &reason));
  PetscCall(SNESGetIterationNumber(snes, &its));
  PetscCall(SNESGetLinearSolveIterations(snes, &lits));
  PetscCall(SNESGetTolerances(snes, NULL, &rtol, NULL, NULL, NULL));
  PetscCall(SNESGetType(snes, &type));
  PetscCall(VecTTGetRoundRtol(u, &round));
  PetscInt rank = 1;
  PetscCall(VecTTGetRanks(u, &ranks));
  for (PetscInt k = 0; k <= d; k++) rank = PetscMax(rank, ranks[k]);
  const PetscInt evaluations = p.evaluations;
  PetscCall(TrueResidual(p, u, &residual));
  if (known) {
    PetscReal b, norm;
    PetscCall(VecNorm(p.b, NORM_2, &b));
    PetscCall(VecNorm(p.solution, NORM_2, &norm));
    PetscCall(VecAXPY(p.solution, -1, u));
    PetscCall(VecNorm(p.solution, NORM_2, &error));
    error /= norm;
    bound = 10 * 1.5 * rtol * b / norm;
  }
  const bool reached = reason > 0 && residual < 1.5 * rtol && error <= bound; // at u = 0 the residual is b
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %s, %d steps, %d linear iterations, %d functions, %d Jacobians; rounded to %.0e, TT rank %d, recomputed residual %.2e: %s\n", type,
                        SNESConvergedReasons[reason], (int)its, (int)lits, (int)evaluations, (int)p.jacobians, (double)round, (int)rank, (double)residual, reached ? "reached" : "NOT REACHED"));
  if (known) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "error %.2e, at most %.2e\n", (double)error, (double)bound));
  PetscCall(SNESDestroy(&snes));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&p.A));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&p.b));
  PetscCall(VecDestroy(&p.solution));
  PetscCall(PetscFinalize());
  return reached ? 0 : 1;
}
