static char help[] = "Applies an operator in tensor-train form and compares with the assembled one.\n\n";

/*
  The maths.  On a grid of d modes of n interior points of (0, 1) with mesh width h = 1/(n+1),

      A = sum_k  I x ... x T_k x ... x I  +  s T_0 x T_1 x I x ... x I      (x: the Kronecker product, first mode fastest)

  with T = L + c C, L = tridiag(-1, 2, -1)/h^2 and the upwind difference C = tridiag(-1, 1, 0)/h: the sum discretises
  -Laplace u + c (1, ..., 1) . grad u, the last term couples two directions. The assembled matrix has n^d rows. MATTT keeps the n x n
  factors only: a product with a tensor train of TT ranks r applies each factor once to all r_k r_{k+1} columns of a core, and
  never forms a Kronecker product. The result has TT ranks S_k r_k, with the block ranks S_k of the operator, and is rounded by
  MatMult() with the policy of the result vector.

  The sum is given as 2 d terms, one for L and one for c C on each mode, which would make 2 d + 1 states between two modes. States of the block
  train that are equal up to a scalar are merged without being asked: "the rest is identities", "T still to come" and, between modes 0
  and 1, "T_0 of the coupling was applied" remain. The last one is given here with T_0 and T_1 as matrices of their own: that T_0 = L_0 + c C_0
  is seen by MatTTCompress() only, which compares numbers, and brings the block ranks down to 2.

  Sample runs.
      ./ex2                                  3 modes of 20 points, compared with the assembled matrix
      mpiexec -n 4 ./ex2 -n 40               the modes are split over the processes
      ./ex2 -d 200 -n 100                    1e400 rows: nothing to compare with, but one entry of A 1 is known
      ./ex2 -operator_view ::ascii_info      modes, block ranks, factors
      ./ex2 -log_view                        events MatTTApply, MatTTGhost, VecTTRound

  What to look at.
    - The differences from the assembled products are round-off, those after MatTTCompress() too.
    - The block ranks do not depend on d.
    - The Frobenius norm of the operator comes as a logarithm: it does not fit a number for d = 200.
*/
#include <petsctt.h>

#include <cmath>
#include <vector>

// Tridiagonal matrix with the rows of mode k; of a replicated mode every process has its own copy.
static PetscErrorCode CreateTridiagonal(Vec x, PetscInt k, PetscInt n, PetscReal lower, PetscReal diagonal, PetscReal upper, Mat *M)
{
  PetscBool replicated;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
  PetscCall(MatCreate(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, M));
  PetscCall(MatSetSizes(*M, end - start, end - start, n, n));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*M, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*M, 3, NULL, 2, NULL));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(*M, i, i - 1, lower, INSERT_VALUES));
    PetscCall(MatSetValue(*M, i, i, diagonal, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(*M, i, i + 1, upper, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode BuildOperator(Mat A, Vec x, PetscInt d, PetscInt n, PetscReal c, PetscReal s)
{
  const PetscReal  h = 1.0 / (PetscReal)(n + 1);
  std::vector<Mat> factors((size_t)d, (Mat)NULL);

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < d; k++) {
    Mat L, C;
    PetscCall(CreateTridiagonal(x, k, n, -1 / (h * h), 2 / (h * h), -1 / (h * h), &L));
    PetscCall(CreateTridiagonal(x, k, n, -1 / h, 1 / h, 0, &C));
    factors[(size_t)k] = L;
    PetscCall(MatTTAddTerm(A, 1, factors.data())); // NULL means identity
    factors[(size_t)k] = C;
    PetscCall(MatTTAddTerm(A, c, factors.data()));
    factors[(size_t)k] = NULL;
    PetscCall(MatDestroy(&L)); // the operator holds a reference
    PetscCall(MatDestroy(&C));
  }
  for (PetscInt k = 0; k < 2 && d > 1; k++)
    PetscCall(CreateTridiagonal(x, k, n, -1 / (h * h) - c / h, 2 / (h * h) + c / h, -1 / (h * h), &factors[(size_t)k]));
  if (d > 1) PetscCall(MatTTAddTerm(A, s, factors.data()));
  for (Mat &T : factors) PetscCall(MatDestroy(&T));
  PetscFunctionReturn(0);
}

static PetscErrorCode PrintBlockRank(Mat A, PetscInt d, const char *when)
{
  const PetscInt *S;
  PetscInt        largest = 1;

  PetscFunctionBeginUser;
  PetscCall(MatTTGetBlockRanks(A, &S));
  for (PetscInt k = 0; k <= d; k++) largest = PetscMax(largest, S[k]);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest block rank %s: %d\n", when, (int)largest));
  PetscFunctionReturn(0);
}

// Prints whether || y - B x || / || y || is round-off, for y = A x (or A^T x) computed as a train and B the assembled A.
static PetscErrorCode Compare(Mat B, Vec x, Vec y, PetscBool transposed, const char *what, PetscBool *failed)
{
  Vec       fx, fy, fb;
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetFull(x, &fx));
  PetscCall(VecTTGetFull(y, &fy));
  PetscCall(VecDuplicate(fy, &fb));
  if (transposed) PetscCall(MatMultTranspose(B, fx, fb));
  else PetscCall(MatMult(B, fx, fb));
  PetscCall(VecNorm(fb, NORM_2, &norm));
  PetscCall(VecAXPY(fb, -1, fy));
  PetscCall(VecNorm(fb, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-34s differs from the assembled one by %s\n", what, error < 1e-12 * norm ? "< 1e-12" : "more than 1e-12"));
  if (!(error < 1e-12 * norm)) *failed = PETSC_TRUE;
  PetscCall(VecDestroy(&fx));
  PetscCall(VecDestroy(&fy));
  PetscCall(VecDestroy(&fb));
  PetscFunctionReturn(0);
}

// Products of A with a random train against the assembled matrix.
static PetscErrorCode CompareAll(Mat A, Vec x, Vec y, PetscInt d, PetscBool *failed)
{
  Mat                   B;
  std::vector<PetscInt> ranks((size_t)d + 1, 4);

  PetscFunctionBeginUser;
  ranks.front() = ranks.back() = 1;
  PetscCall(VecTTSetRandom(x, ranks.data(), 1));
  PetscCall(MatTTGetAssembled(A, &B));
  PetscCall(MatMult(A, x, y));
  PetscCall(Compare(B, x, y, PETSC_FALSE, "A x", failed));
  PetscCall(MatMultTranspose(A, x, y));
  PetscCall(Compare(B, x, y, PETSC_TRUE, "A^T x", failed));
  PetscCall(MatTTCompress(A, 0));
  PetscCall(PrintBlockRank(A, d, "after MatTTCompress()"));
  PetscCall(MatMult(A, x, y));
  PetscCall(Compare(B, x, y, PETSC_FALSE, "A x, compressed,", failed));
  PetscCall(MatShift(A, 10));
  PetscCall(MatShift(B, 10));
  PetscCall(MatMult(A, x, y));
  PetscCall(Compare(B, x, y, PETSC_FALSE, "(A + 10 I) x", failed));
  PetscCall(MatShift(A, -10));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

// Entry (0, ..., 0) of A 1: the first row of T has the sum q = 1/h^2 + c/h, so it is d q + s q^2.
static PetscErrorCode CheckEntry(Mat A, Vec x, Vec y, PetscInt d, PetscInt n, PetscReal c, PetscReal s, PetscBool *failed)
{
  const PetscReal       h = 1.0 / (PetscReal)(n + 1), q = 1 / (h * h) + c / h, exact = (PetscReal)d * q + (d > 1 ? s * q * q : 0);
  std::vector<PetscInt> corner((size_t)d, 0);
  PetscScalar           value;
  PetscReal             log10norm;

  PetscFunctionBeginUser;
  PetscCall(VecTTSetConstant(x, 1));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecTTGetEntries(y, 1, corner.data(), &value));
  PetscCall(MatTTNormLog10(A, &log10norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "first entry of A 1: %.8e, exact %.8e\n", (double)PetscRealPart(value), (double)exact));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Frobenius norm of A: 10^%.6f\n", (double)log10norm));
  if (!(PetscAbsScalar(value - exact) < 1e-8 * exact)) *failed = PETSC_TRUE;
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat       A;
  Vec       x, y;
  PetscInt  d = 3, n = 20;
  PetscReal c = 5, s = 1e-3, full, log10full;
  PetscBool failed = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of ex2", "");
  PetscCall(PetscOptionsInt("-d", "Number of modes", "ex2.cxx", d, &d, NULL));
  PetscCall(PetscOptionsInt("-n", "Points of every mode", "ex2.cxx", n, &n, NULL));
  PetscCall(PetscOptionsReal("-c", "Convection", "ex2.cxx", c, &c, NULL));
  PetscCall(PetscOptionsReal("-s", "Coupling of the first two modes", "ex2.cxx", s, &s, NULL));
  PetscOptionsEnd();
  PetscCheck(d >= 1 && n >= 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Need -d >= 1 and -n >= 2");

  std::vector<PetscInt> N((size_t)d, n), kind((size_t)d, PETSC_TT_DISTRIBUTED);
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, kind.data(), N.data(), &A));
  PetscCall(MatSetFromOptions(A)); // -mat_tt_compress
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecTTSetRoundRtol(y, 1e-13)); // the policy that MatMult() rounds its result with
  PetscCall(BuildOperator(A, x, d, n, c, s));
  PetscCall(VecTTGetFullSize(x, &full, &log10full));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "operator on %d modes of %d points: 10^%.1f rows, %d terms\n", (int)d, (int)n, (double)log10full, 2 * (int)d + (d > 1)));
  PetscCall(PrintBlockRank(A, d, "as applied"));
  PetscCall(MatViewFromOptions(A, NULL, "-operator_view"));

  if (full <= 1e6) PetscCall(CompareAll(A, x, y, d, &failed));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "too large to assemble: no comparison\n"));
  PetscCall(CheckEntry(A, x, y, d, n, c, s, &failed));

  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, failed ? "FAILED\n" : "done\n"));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
