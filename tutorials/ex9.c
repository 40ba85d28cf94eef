static char help[] = "From one solve per parameter value to one solve for all: an existing PETSc code, before and after.\n\n";

/*
  The problem.  Heat conduction in the unit square whose quarters have the conductivities 1 + y_i, i = 1..4, u = 0 on the boundary, source 1. On a
  grid of m x m points

      (A_0 + sum_i y_i A_i) u(y) = f,

  wanted for all combinations of n values of each y_i: n^4 solves one after the other, or one solve with a tensor train of five modes, the unknowns
  and four parameters. docs/migration.md goes through the differences.

  Sample runs.
      ./ex9                          20 x 20 points, 5 values of each parameter: 625 combinations, and the 625 solves beside it
      ./ex9 -n 101 -loop 0           1e8 combinations, without them
      mpiexec -n 3 ./ex9 -m 50 -n 21 -loop 0 -ksp_monitor
      ./ex9 -ksp_rtol 1e-8 -pc_ttkron_mode_0_pc_type gamg -pc_ttkron_mode_0_ksp_type cg

  What to look at: the mean of u over the square, its mean and variance over the parameters, agree between both to the tolerance asked for; the time.
*/
#include <petsctt.h>

enum { P = 4 };

/* --- begin assemble: what the existing code has already */
/* A_i of the quarter i (i = 0: all): edges between neighbouring points conduct with the mean of both. */
static PetscErrorCode Assemble(PetscInt m, Mat A[P + 1], Vec *f)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  for (int i = 0; i <= P; i++) {
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m, 5, NULL, 4, NULL, &A[i]));
    PetscCall(MatGetOwnershipRange(A[i], &begin, &end));
    for (PetscInt row = begin; row < end; row++) {
      const PetscInt x = row % m, y = row / m, dx[4] = {-1, 1, 0, 0}, dy[4] = {0, 0, -1, 1};
      PetscReal      diagonal = 0;
      for (int e = 0; e < 4; e++) {
        const PetscInt  p = x + dx[e], q = y + dy[e];
        const PetscBool inside = (PetscBool)(p >= 0 && p < m && q >= 0 && q < m);
        const int       here   = 1 + (2 * x >= m) + 2 * (2 * y >= m), there = inside ? 1 + (2 * p >= m) + 2 * (2 * q >= m) : here;
        const PetscReal a = i == 0 ? 1.0 : 0.5 * ((here == i) + (there == i));
        diagonal += a;
        if (inside && a != 0) PetscCall(MatSetValue(A[i], row, p + m * q, -a, INSERT_VALUES));
      }
      PetscCall(MatSetValue(A[i], row, row, diagonal, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(A[i], MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A[i], MAT_FINAL_ASSEMBLY));
  }
  PetscCall(MatCreateVecs(A[0], NULL, f));
  PetscCall(VecSet(*f, 1.0 / (PetscReal)((m + 1) * (m + 1))));
  PetscFunctionReturn(0);
}
/* --- end assemble */

static PetscReal Value(PetscInt n, PetscInt j)
{
  return n > 1 ? 10.0 * (PetscReal)j / (PetscReal)(n - 1) : 0;
}

/* --- begin before: a loop over the values of the parameters */
static PetscErrorCode Loop(PetscInt n, Mat A[], Vec f, PetscReal *mean, PetscReal *variance)
{
  PetscInt  all = 1, N;
  PetscReal sum = 0, sum2 = 0;
  Mat       S;
  Vec       u;
  KSP       ksp;

  PetscFunctionBeginUser;
  for (int i = 0; i < P; i++) all *= n;
  PetscCall(MatDuplicate(A[0], MAT_COPY_VALUES, &S));
  PetscCall(VecDuplicate(f, &u));
  PetscCall(VecGetSize(f, &N));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "loop_"));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  for (PetscInt s = 0; s < all; s++) {
    PetscScalar q;
    PetscInt    rest = s;
    PetscCall(MatCopy(A[0], S, SAME_NONZERO_PATTERN));
    for (int i = 1; i <= P; i++, rest /= n) PetscCall(MatAXPY(S, Value(n, rest % n), A[i], SUBSET_NONZERO_PATTERN));
    PetscCall(KSPSetOperators(ksp, S, S));
    PetscCall(KSPSolve(ksp, f, u));
    PetscCall(VecSum(u, &q)); /* the quantity of interest: the mean of u over the square */
    sum += PetscRealPart(q) / (PetscReal)N;
    sum2 += PetscRealPart(q) * PetscRealPart(q) / ((PetscReal)N * (PetscReal)N);
  }
  *mean     = sum / (PetscReal)all;
  *variance = sum2 / (PetscReal)all - *mean * *mean;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(0);
}
/* --- end before */

/* --- begin operator: the same matrices, all values of the parameters */
static PetscErrorCode CreateOperator(PetscInt m, PetscInt n, Mat A[], Mat *T)
{
  PetscInt N[P + 1] = {m * m, n, n, n, n}, begin, end;
  Mat      D, factors[P + 1];

  PetscFunctionBeginUser;
  /* D = diag(values of a parameter) */
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 1, NULL, 0, NULL, &D));
  PetscCall(MatGetOwnershipRange(D, &begin, &end));
  for (PetscInt j = begin; j < end; j++) PetscCall(MatSetValue(D, j, j, Value(n, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(D, MAT_FINAL_ASSEMBLY));
  /* T = A_0 x I x I x I x I + A_1 x D x I x I x I + ...; NULL is the identity */
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, P + 1, NULL, N, T));
  for (int i = 0; i <= P; i++) {
    for (int k = 0; k <= P; k++) factors[k] = NULL;
    factors[0] = A[i];
    if (i > 0) factors[i] = D;
    PetscCall(MatTTAddTerm(*T, 1.0, factors));
  }
  PetscCall(MatAssemblyBegin(*T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&D)); /* T holds references */
  PetscFunctionReturn(0);
}
/* --- end operator */

/* --- begin after: one solve */
static PetscErrorCode Solve(Mat T, Vec f, Vec *u, KSPConvergedReason *reason)
{
  Vec b, factors[P + 1] = {f, NULL, NULL, NULL, NULL}; /* f x 1 x 1 x 1 x 1: NULL is a vector of ones */
  KSP ksp;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(T, u, &b));
  PetscCall(VecTTSetRankOne(b, factors));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, T, T));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON)); /* the operator at the mean of the parameters */
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *u));
  PetscCall(KSPGetConvergedReason(ksp, reason)); /* decided by the recomputed residual */
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(0);
}
/* --- end after */

/* --- begin statistics: mean and variance over all parameters of the mean of u over the square */
static PetscErrorCode Statistics(PetscInt n, Vec u, PetscReal *mean, PetscReal *variance)
{
  const PetscBool over_space[P + 1] = {PETSC_TRUE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  const PetscInt *N;
  PetscScalar     sum, sum2;
  PetscReal       all = 1;
  Vec             q;

  PetscFunctionBeginUser;
  for (int i = 0; i < P; i++) all *= (PetscReal)n;
  PetscCall(VecTTGetModes(u, NULL, &N));
  PetscCall(VecTTContract(u, over_space, NULL, &q)); /* a train over the four parameters */
  PetscCall(VecScale(q, 1.0 / (PetscReal)N[0]));
  PetscCall(VecTTContractAll(q, NULL, &sum));
  PetscCall(VecDot(q, q, &sum2));
  *mean     = PetscRealPart(sum) / all;
  *variance = PetscRealPart(sum2) / all - *mean * *mean;
  PetscCall(VecDestroy(&q));
  PetscFunctionReturn(0);
}
/* --- end statistics */

/* --- begin point: the field at one combination of the parameters is an ordinary Vec, here compared with its equation */
static PetscErrorCode Point(PetscInt n, Mat A[], Vec f, Vec u, PetscReal *residual)
{
  const PetscInt index[P + 1] = {0, 0, n / 2, n - 1, n / 3}; /* the first is not used */
  PetscReal      norm;
  Vec            field, r;
  Mat            S;

  PetscFunctionBeginUser;
  PetscCall(VecTTCreateModeVec(u, 0, &field));
  PetscCall(VecTTExtract(u, 0, index, field));
  PetscCall(MatDuplicate(A[0], MAT_COPY_VALUES, &S));
  for (int i = 1; i <= P; i++) PetscCall(MatAXPY(S, Value(n, index[i]), A[i], SUBSET_NONZERO_PATTERN));
  PetscCall(VecDuplicate(f, &r));
  PetscCall(MatResidual(S, f, field, r));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(f, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&field));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&S));
  PetscFunctionReturn(0);
}
/* --- end point */

int main(int argc, char **argv)
{
  PetscInt           m = 20, n = 5;
  PetscBool          loop = PETSC_TRUE;
  PetscReal          mean = 0, variance = 0, mean_loop = 0, variance_loop = 0, residual = 0;
  PetscLogDouble     t0, t1;
  Mat                A[P + 1], T;
  Vec                f, u;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of this program", NULL);
  PetscCall(PetscOptionsBoundedInt("-m", "points in each direction", NULL, m, &m, NULL, 2));
  PetscCall(PetscOptionsBoundedInt("-n", "values of each parameter", NULL, n, &n, NULL, 1));
  PetscCall(PetscOptionsBool("-loop", "also solve for one combination after the other, to compare", NULL, loop, &loop, NULL));
  PetscOptionsEnd();
  PetscCall(Assemble(m, A, &f));
  PetscCall(PetscTime(&t0));
  PetscCall(CreateOperator(m, n, A, &T));
  PetscCall(Solve(T, f, &u, &reason));
  PetscCall(Statistics(n, u, &mean, &variance));
  PetscCall(PetscTime(&t1));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "one solve    mean %.10g  variance %.10g  %s, %.2f s\n", (double)mean, (double)variance, KSPConvergedReasons[reason], t1 - t0));
  PetscCall(Point(n, A, f, u, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual of the field at one combination %.2e\n", (double)residual));
  if (loop) {
    PetscCall(PetscTime(&t0));
    PetscCall(Loop(n, A, f, &mean_loop, &variance_loop));
    PetscCall(PetscTime(&t1));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.0f solves   mean %.10g  variance %.10g  %.2f s\n", PetscPowReal((double)n, P), (double)mean_loop, (double)variance_loop, t1 - t0));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "relative difference of the means %.1e, of the variances %.1e\n", (double)PetscAbsReal(mean / mean_loop - 1), (double)PetscAbsReal(variance / variance_loop - 1)));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&T));
  for (int i = 0; i <= P; i++) PetscCall(MatDestroy(&A[i]));
  PetscCall(PetscFinalize());
  return reason > 0 ? 0 : 1;
}
