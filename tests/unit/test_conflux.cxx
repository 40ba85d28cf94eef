// MATSOLVERCONFLUX for dense matrices, as PETSc's users meet it.
#include "petscttlu.h"
#include "sys/handle.hpp"

#include <gtest/gtest.h>

#include <petscksp.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using petsctt::KSPHandle;
using petsctt::MatHandle;
using petsctt::VecHandle;

namespace {

PetscMPIInt world_size()
{
  PetscMPIInt s;
  MPI_Comm_size(PETSC_COMM_WORLD, &s);
  return s;
}

PetscScalar entry(PetscInt i, PetscInt j)
{
  const PetscReal a = std::sin(1 + 12.9898 * (PetscReal)i + 78.233 * (PetscReal)j + 3.7 * (PetscReal)i * (PetscReal)j);
#if defined(PETSC_USE_COMPLEX)
  return PetscScalar(a, std::cos((PetscReal)(i + 2 * j)));
#else
  return a;
#endif
}

PetscErrorCode fill(Mat A)
{
  PetscInt start, end, N;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = 0; j < N; ++j) PetscCall(MatSetValue(A, i, j, entry(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn((PetscErrorCode)0);
}

// All rows on the last process but one, columns spread by PETSc, if uneven; types seqdense or mpidense by the communicator
PetscErrorCode dense(PetscInt N, bool uneven, Mat *A)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  const PetscInt m = uneven ? (rank == PetscMax(0, world_size() - 2) ? N : 0) : PETSC_DECIDE;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, N, N, NULL, A));
  PetscCall(fill(*A));
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode factored(Mat A, Mat *F, const char options[] = "")
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(MatGetFactor(A, MATSOLVERCONFLUX, MAT_FACTOR_LU, F));
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatLUFactorSymbolic(*F, A, NULL, NULL, &info));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  for (const char *name : {"-mat_conflux_grid", "-mat_conflux_tile", "-mat_conflux_refine"}) PetscCall(PetscOptionsClearValue(NULL, name));
  PetscFunctionReturn((PetscErrorCode)0);
}

// ||op(A) x - b|| / ||b||
PetscErrorCode error_of(Mat A, bool transposed, Vec b, Vec x, PetscReal *e)
{
  VecHandle r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, r.out()));
  if (transposed) PetscCall(MatMultTranspose(A, x, r));
  else PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, e));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) *e /= norm;
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode values(Vec v)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  for (PetscInt i = start; i < end; ++i) PetscCall(VecSetValue(v, i, entry(i, 101), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscFunctionReturn((PetscErrorCode)0);
}

const PetscReal tolerance = 1e4 * PETSC_MACHINE_EPSILON;

PetscErrorCode solves(PetscInt N, bool uneven, const char options[])
{
  MatHandle A, F;
  VecHandle x, b;
  PetscReal e;

  PetscFunctionBegin;
  PetscCall(dense(N, uneven, A.out()));
  PetscCall(factored(A, F.out(), options));
  PetscCall(MatCreateVecs(A, x.out(), b.out()));
  PetscCall(values(b));
  PetscCall(MatSolve(F, b, x));
  PetscCall(error_of(A, false, b, x, &e));
  EXPECT_LE(e, tolerance);
  PetscCall(values(x));
  PetscCall(MatSolveTranspose(F, x, b));
  PetscCall(error_of(A, true, x, b, &e));
  EXPECT_LE(e, tolerance);
  // several right-hand sides at a time
  for (PetscInt n : {1, 4, 13}) {
    MatHandle   B, X, R;
    PetscInt    m, k;
    PetscReal   norm;
    PetscCall(MatGetLocalSize(A, &m, &k));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, N, n, NULL, B.out()));
    PetscCall(MatCreateDense(PETSC_COMM_WORLD, k, PETSC_DECIDE, N, n, NULL, X.out()));
    PetscCall(fill(B));
    PetscCall(MatMatSolve(F, B, X));
    PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, R.out()));
    PetscCall(MatAXPY(R, -1.0, B, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(R, NORM_FROBENIUS, &e));
    PetscCall(MatNorm(B, NORM_FROBENIUS, &norm));
    EXPECT_LE(e, tolerance * norm);
    if (uneven) continue; // PETSc compares the rows of both matrices here
    PetscCall(fill(X));
    PetscCall(MatMatSolveTranspose(F, X, B));
    MatHandle T;
    PetscCall(MatTransposeMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, T.out()));
    PetscCall(MatAXPY(T, -1.0, X, SAME_NONZERO_PATTERN));
    PetscCall(MatNorm(T, NORM_FROBENIUS, &e));
    PetscCall(MatNorm(X, NORM_FROBENIUS, &norm));
    EXPECT_LE(e, tolerance * norm);
  }
  PetscFunctionReturn((PetscErrorCode)0);
}

PetscErrorCode ksp_of(Mat A, KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPPREONLY));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERCONFLUX));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn((PetscErrorCode)0);
}

} // namespace

TEST(Conflux, Solves)
{
  const std::string p = std::to_string(world_size());
  for (PetscInt N : {0, 1, 2, 3, 29, 64})
    for (const std::string &options : {std::string(""), std::string("-mat_conflux_tile 5"), "-mat_conflux_grid " + p + ",1,1 -mat_conflux_tile 7", "-mat_conflux_grid 1," + p + ",1", "-mat_conflux_grid 1,1," + p + " -mat_conflux_tile 3"}) {
      SCOPED_TRACE(options + " N=" + std::to_string(N));
      EXPECT_EQ((int)solves(N, false, options.c_str()), 0);
    }
}

TEST(Conflux, RowsOnOneProcess)
{
  EXPECT_EQ((int)solves(31, true, ""), 0);
  EXPECT_EQ((int)solves(31, true, "-mat_conflux_tile 4"), 0);
}

TEST(Conflux, KSP)
{
  MatHandle          A;
  KSPHandle          ksp;
  VecHandle          x, b;
  PetscReal          e;
  KSPConvergedReason reason;
  ASSERT_EQ((int)dense(40, false, A.out()), 0);
  ASSERT_EQ((int)ksp_of(A, ksp.out()), 0);
  ASSERT_EQ((int)MatCreateVecs(A, x.out(), b.out()), 0);
  ASSERT_EQ((int)values(b), 0);
  ASSERT_EQ((int)KSPSolve(ksp, b, x), 0);
  ASSERT_EQ((int)error_of(A, false, b, x, &e), 0);
  EXPECT_LE(e, tolerance);
  // the matrix changes: it is factorised again
  ASSERT_EQ((int)MatShift(A, 7.0), 0);
  ASSERT_EQ((int)KSPSolve(ksp, b, x), 0);
  ASSERT_EQ((int)error_of(A, false, b, x, &e), 0);
  EXPECT_LE(e, tolerance);
  // a singular one: no abort, but a reason, and the row
  ASSERT_EQ((int)MatZeroEntries(A), 0);
  ASSERT_EQ((int)MatShift(A, 1.0), 0);
  PetscInt start, end;
  ASSERT_EQ((int)MatGetOwnershipRange(A, &start, &end), 0);
  if (start <= 17 && 17 < end) {
    ASSERT_EQ((int)MatSetValue(A, 17, 17, 0.0, INSERT_VALUES), 0);
  }
  ASSERT_EQ((int)MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)KSPSolve(ksp, b, x), 0);
  ASSERT_EQ((int)KSPGetConvergedReason(ksp, &reason), 0);
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  PC        pc;
  Mat       F;
  PetscReal pivot;
  PetscInt  row;
  ASSERT_EQ((int)KSPGetPC(ksp, &pc), 0);
  ASSERT_EQ((int)PCFactorGetMatrix(pc, &F), 0);
  ASSERT_EQ((int)MatFactorGetErrorZeroPivot(F, &pivot, &row), 0);
  EXPECT_EQ(row, 17);
  // and back again
  ASSERT_EQ((int)MatShift(A, 2.0), 0);
  ASSERT_EQ((int)KSPSolve(ksp, b, x), 0);
  ASSERT_EQ((int)KSPGetConvergedReason(ksp, &reason), 0);
  EXPECT_GT(reason, 0);
  // not a number
  if (start <= 3 && 3 < end) {
    ASSERT_EQ((int)MatSetValue(A, 3, 30, std::numeric_limits<PetscReal>::quiet_NaN(), INSERT_VALUES), 0);
  }
  ASSERT_EQ((int)MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)KSPSolve(ksp, b, x), 0);
  ASSERT_EQ((int)KSPGetConvergedReason(ksp, &reason), 0);
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
}

TEST(Conflux, MatSolveOfKSP)
{
  MatHandle A, B, X, R;
  KSPHandle ksp;
  PetscReal e, norm;
  ASSERT_EQ((int)dense(33, false, A.out()), 0);
  ASSERT_EQ((int)ksp_of(A, ksp.out()), 0);
  ASSERT_EQ((int)MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 33, 9, NULL, B.out()), 0);
  ASSERT_EQ((int)MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 33, 9, NULL, X.out()), 0);
  ASSERT_EQ((int)fill(B), 0);
  ASSERT_EQ((int)fill(X), 0);
  ASSERT_EQ((int)KSPMatSolve(ksp, B, X), 0);
  ASSERT_EQ((int)MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, R.out()), 0);
  ASSERT_EQ((int)MatAXPY(R, -1.0, B, SAME_NONZERO_PATTERN), 0);
  ASSERT_EQ((int)MatNorm(R, NORM_FROBENIUS, &e), 0);
  ASSERT_EQ((int)MatNorm(B, NORM_FROBENIUS, &norm), 0);
  EXPECT_LE(e, tolerance * norm);
}

TEST(Conflux, ScaLAPACK)
{
  MatHandle A, S, F;
  VecHandle x, b;
  PetscReal e;
  ASSERT_EQ((int)dense(37, false, A.out()), 0);
  if (MatConvert(A, MATSCALAPACK, MAT_INITIAL_MATRIX, S.out())) GTEST_SKIP() << "PETSc has no ScaLAPACK";
  ASSERT_EQ((int)factored(S, F.out()), 0);
  ASSERT_EQ((int)MatCreateVecs(S, x.out(), b.out()), 0);
  ASSERT_EQ((int)values(b), 0);
  ASSERT_EQ((int)MatSolve(F, b, x), 0);
  ASSERT_EQ((int)error_of(S, false, b, x, &e), 0);
  EXPECT_LE(e, tolerance);
  // right-hand sides and solutions in its own layout
  MatHandle B, BS, X, R;
  PetscReal norm;
  ASSERT_EQ((int)MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 37, 37, NULL, B.out()), 0);
  ASSERT_EQ((int)fill(B), 0);
  ASSERT_EQ((int)MatConvert(B, MATSCALAPACK, MAT_INITIAL_MATRIX, BS.out()), 0);
  ASSERT_EQ((int)MatDuplicate(BS, MAT_COPY_VALUES, X.out()), 0);
  ASSERT_EQ((int)MatMatSolve(F, BS, X), 0);
  ASSERT_EQ((int)MatMatMult(S, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, R.out()), 0);
  ASSERT_EQ((int)MatAXPY(R, -1.0, BS, SAME_NONZERO_PATTERN), 0);
  ASSERT_EQ((int)MatNorm(R, NORM_FROBENIUS, &e), 0);
  ASSERT_EQ((int)MatNorm(BS, NORM_FROBENIUS, &norm), 0);
  EXPECT_LE(e, tolerance * norm);
}

TEST(Conflux, Info)
{
  MatHandle      A, F;
  MatConfluxInfo info;
  const int      p = world_size();
  ASSERT_EQ((int)dense(60, false, A.out()), 0);
  ASSERT_EQ((int)factored(A, F.out(), ("-mat_conflux_grid 1," + std::to_string(p) + ",1 -mat_conflux_tile 6").c_str()), 0);
  ASSERT_EQ((int)MatConfluxGetInfo(F, &info), 0);
  EXPECT_EQ(info.grid[0], 1);
  EXPECT_EQ(info.grid[1], p);
  EXPECT_EQ(info.grid[2], 1);
  EXPECT_EQ(info.tile, 6);
  EXPECT_EQ(info.n, 60);
  EXPECT_GT(info.growth, 0);
  EXPECT_GT(info.smallest_pivot, 0);
  if (p == 1) EXPECT_EQ(info.words, 0);
  else EXPECT_NEAR(info.words / info.words_model, 1, 0.1);
  // a grid that does not fit is refused on all processes
  PetscErrorCode ierr;
  MatHandle      G;
  MatFactorInfo  factor;
  ASSERT_EQ((int)MatGetFactor(A, MATSOLVERCONFLUX, MAT_FACTOR_LU, G.out()), 0);
  ASSERT_EQ((int)MatConfluxSetGrid(G, p + 1, 1, 1), 0);
  ASSERT_EQ((int)MatFactorInfoInitialize(&factor), 0);
  ASSERT_EQ((int)MatLUFactorSymbolic(G, A, NULL, NULL, &factor), 0);
  ASSERT_EQ((int)PetscPushErrorHandler(PetscReturnErrorHandler, NULL), 0);
  ierr = MatLUFactorNumeric(G, A, &factor);
  EXPECT_EQ((int)ierr, (int)PETSC_ERR_ARG_OUTOFRANGE);
  ASSERT_EQ((int)MatConfluxSetGrid(G, 0, 0, 0), 0);
  ASSERT_EQ((int)MatConfluxSetMemory(G, 1e-6), 0);
  ierr = MatLUFactorNumeric(G, A, &factor);
  EXPECT_EQ((int)ierr, (int)PETSC_ERR_MEM);
  ASSERT_EQ((int)PetscPopErrorHandler(), 0);
}

TEST(Conflux, Refinement)
{
  // growth: ones in the last column and the diagonal, -1 below
  MatHandle A, F, G;
  VecHandle x, b;
  PetscReal plain, refined;
  PetscInt  start, end;
  const PetscInt N = 45;
  ASSERT_EQ((int)dense(N, false, A.out()), 0);
  ASSERT_EQ((int)MatZeroEntries(A), 0);
  ASSERT_EQ((int)MatGetOwnershipRange(A, &start, &end), 0);
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = 0; j < N; ++j) ASSERT_EQ((int)MatSetValue(A, i, j, i == j || j == N - 1 ? 1.0 : i > j ? -0.9 - 1e-3 * std::sin((PetscReal)(i + 3 * j)) : 0.0, INSERT_VALUES), 0);
  ASSERT_EQ((int)MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY), 0);
  ASSERT_EQ((int)factored(A, F.out()), 0);
  ASSERT_EQ((int)factored(A, G.out(), "-mat_conflux_refine 2"), 0);
  ASSERT_EQ((int)MatCreateVecs(A, x.out(), b.out()), 0);
  ASSERT_EQ((int)values(b), 0);
  ASSERT_EQ((int)MatSolve(F, b, x), 0);
  ASSERT_EQ((int)error_of(A, false, b, x, &plain), 0);
  ASSERT_EQ((int)MatSolve(G, b, x), 0);
  ASSERT_EQ((int)error_of(A, false, b, x, &refined), 0);
  EXPECT_LE(refined, 20 * PETSC_MACHINE_EPSILON);
  EXPECT_LE(refined, plain);
}

TEST(Conflux, Cholesky)
{
  // A + A^H + 40 I
  for (PetscInt N : {1, 2, 30, 50}) {
    MatHandle     A, H, F;
    VecHandle     x, b;
    PetscReal     e;
    MatFactorInfo info;
    ASSERT_EQ((int)dense(N, false, A.out()), 0);
    ASSERT_EQ((int)MatHermitianTranspose(A, MAT_INITIAL_MATRIX, H.out()), 0);
    ASSERT_EQ((int)MatAXPY(A, 1.0, H, SAME_NONZERO_PATTERN), 0);
    ASSERT_EQ((int)MatShift(A, 40.0), 0);
    ASSERT_EQ((int)MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE), 0);
    ASSERT_EQ((int)MatFactorInfoInitialize(&info), 0);
    ASSERT_EQ((int)MatGetFactor(A, MATSOLVERCONFLUX, MAT_FACTOR_CHOLESKY, F.out()), 0);
    ASSERT_EQ((int)MatCholeskyFactorSymbolic(F, A, NULL, &info), 0);
    ASSERT_EQ((int)MatCholeskyFactorNumeric(F, A, &info), 0);
    ASSERT_EQ((int)MatCreateVecs(A, x.out(), b.out()), 0);
    ASSERT_EQ((int)values(b), 0);
    ASSERT_EQ((int)MatSolve(F, b, x), 0);
    ASSERT_EQ((int)error_of(A, false, b, x, &e), 0);
    EXPECT_LE(e, tolerance);
    ASSERT_EQ((int)MatSolveTranspose(F, b, x), 0);
    ASSERT_EQ((int)error_of(A, true, b, x, &e), 0);
    EXPECT_LE(e, tolerance);
    // indefinite: the pivot is reported
    MatFactorError error;
    PetscReal      pivot;
    PetscInt       row, start, end;
    ASSERT_EQ((int)MatGetOwnershipRange(A, &start, &end), 0);
    if (start <= N / 2 && N / 2 < end) {
      ASSERT_EQ((int)MatSetValue(A, N / 2, N / 2, -1.0, INSERT_VALUES), 0);
    }
    ASSERT_EQ((int)MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY), 0);
    ASSERT_EQ((int)MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY), 0);
    ASSERT_EQ((int)MatCholeskyFactorNumeric(F, A, &info), 0);
    ASSERT_EQ((int)MatFactorGetError(F, &error), 0);
    EXPECT_EQ(error, MAT_FACTOR_NUMERIC_ZEROPIVOT);
    ASSERT_EQ((int)MatFactorGetErrorZeroPivot(F, &pivot, &row), 0);
    EXPECT_EQ(row, N / 2);
  }
}
