// MATSOLVERCONFLUX where memory is limited, or one process has none left.
#include "conflux_fixture.hpp"

using namespace conflux_fixture;

// What a process takes is within the limit, and what it says it takes is what it takes
TEST(ConfluxFailure, MemoryLimit)
{
  const PetscInt N = 640;
  MatHandle      A;
  ASSERT_OK(square(MATDENSE, N, A.out()));
  MatHandle H;
  ASSERT_OK(MatHermitianTranspose(A, MAT_INITIAL_MATRIX, H.out()));
  ASSERT_OK(MatAXPY(A, 1.0, H, SAME_NONZERO_PATTERN));
  ASSERT_OK(MatShift(A, (PetscReal)N));
  ASSERT_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  const double block = (double)N * (double)N / size() * sizeof(PetscScalar) / 1048576;
  for (MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    int done = 0;
    for (double blocks : {0.9, 1.8, 2.5, 6.}) {
      MatHandle      F;
      MatConfluxInfo info;
      ASSERT_OK(symbolic(A, type, F.out()));
      ASSERT_OK(MatConfluxSetMemory(F, (PetscReal)(blocks * block)));
      free_cached_memory();
      const std::size_t before = peak_memory();
      PetscErrorCode    code;
      for (int again = 0; again < 2; ++again) { // the same factor, the second time
        {
          const QuietErrors quiet;
          code = numeric(A, type, F);
        }
        if (code) break;
        double most = (double)(peak_memory() - before) / 1048576;
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
        ASSERT_OK(MatConfluxGetInfo(F, &info));
        const double said = (double)info.memory * sizeof(PetscScalar) / 1048576;
        EXPECT_LE(said, blocks * block);
        EXPECT_LE(most, 1.25 * said) << type << " " << blocks; // arrays come in sizes of an eighth to a quarter
        ++done;
      }
      EXPECT_TRUE(!code || code == PETSC_ERR_MEM);
      EXPECT_TRUE(!code || blocks < 3) << type;
      EXPECT_TRUE(code || blocks > 1 || type == MAT_FACTOR_CHOLESKY);
    }
    EXPECT_GE(done, 2);
  }
}

// One process alone has no memory left: all fail, none waits, and when there is memory again it works
TEST(ConfluxFailure, OneProcessWithoutMemory)
{
  if (!limits_work) GTEST_SKIP() << "the address space cannot be limited";
  const PetscInt N = 1000 * (PetscInt)std::ceil(std::sqrt((double)size())); // 8 MB on each
  MatHandle      A, G;
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N, N, NULL, A.out()));
  ASSERT_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatShift(A, 1.0));
  ASSERT_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  const std::string p = std::to_string(size());
  for (MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    const Options o({"-mat_conflux_grid " + p + ",1,1"});
    MatHandle     F;
    ASSERT_OK(symbolic(A, type, F.out()));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(MatShift(A, 1.0));
    {
      const QuietErrors  quiet;
      const LittleMemory little(0, 2e6);
      EXPECT_EQ((int)numeric(A, type, F), (int)PETSC_ERR_MEM);
    }
    ASSERT_OK(MatZeroEntries(A)); // a zero pivot needs no time
    ASSERT_OK(MatShift(A, type == MAT_FACTOR_LU ? 0.0 : -1.0));
    ASSERT_OK(numeric(A, type, F));
    MatFactorError error;
    ASSERT_OK(MatFactorGetError(F, &error));
    EXPECT_EQ((int)error, (int)MAT_FACTOR_NUMERIC_ZEROPIVOT);
  }
  if (size() == 1) return;
  // one that has rows but no work
  MatHandle      R;
  const PetscInt all = 2500, mine = rank() == size() - 1 ? all : 0;
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, mine, mine, all, all, NULL, R.out()));
  ASSERT_OK(MatAssemblyBegin(R, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(R, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatSetOption(R, MAT_HERMITIAN, PETSC_TRUE));
  for (MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    const Options      o({"-mat_conflux_grid 1,1,1"});
    MatHandle          S;
    ASSERT_OK(symbolic(R, type, S.out()));
    const QuietErrors  quiet;
    const LittleMemory little(size() - 1, 2e6);
    EXPECT_EQ((int)numeric(R, type, S), (int)PETSC_ERR_MEM);
  }
  // many right-hand sides
  const PetscInt n = 1200, k = 512;
  MatHandle      B, X, F;
  ASSERT_OK(square(MATDENSE, n, G.out()));
  ASSERT_OK(MatZeroEntries(G));
  ASSERT_OK(MatShift(G, 2.0));
  ASSERT_OK(MatSetOption(G, MAT_HERMITIAN, PETSC_TRUE));
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, k, NULL, B.out()));
  ASSERT_OK(MatSetRandom(B, NULL));
  ASSERT_OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, X.out()));
  ASSERT_OK(symbolic(G, MAT_FACTOR_CHOLESKY, F.out()));
  ASSERT_OK(numeric(G, MAT_FACTOR_CHOLESKY, F));
  {
    const QuietErrors  quiet;
    const LittleMemory little(0, 1e6);
    EXPECT_EQ((int)MatMatSolve(F, B, X), (int)PETSC_ERR_MEM);
  }
  ASSERT_OK(MatMatSolve(F, B, X));
  ASSERT_OK(MatAXPY(B, -2.0, X, SAME_NONZERO_PATTERN));
  PetscReal norm;
  ASSERT_OK(MatNorm(B, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, 1e-10);
}

namespace {

// With a factor of 2 I of order n on all processes, k right-hand sides of which one process cannot take what the solve needs beside `bytes`: an error on all, and
// solutions when there is memory again.
void expect_agreement(PetscInt n, PetscInt k, double bytes)
{
  MatHandle A, F, B, X;
  PetscReal norm;
  ASSERT_OK(square(MATDENSE, n, A.out()));
  ASSERT_OK(MatZeroEntries(A));
  ASSERT_OK(MatShift(A, 2.0));
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, k, NULL, B.out()));
  ASSERT_OK(MatSetRandom(B, NULL));
  ASSERT_OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, X.out()));
  const Options o({"-mat_conflux_grid 1," + std::to_string(size()) + ",1"});
  ASSERT_OK(symbolic(A, MAT_FACTOR_LU, F.out()));
  ASSERT_OK(numeric(A, MAT_FACTOR_LU, F));
  {
    const QuietErrors  quiet;
    const LittleMemory little(0, bytes);
    EXPECT_EQ((int)MatMatSolve(F, B, X), (int)PETSC_ERR_MEM);
  }
  if (k > 1000) return; // that takes its time
  ASSERT_OK(MatMatSolve(F, B, X));
  ASSERT_OK(MatAXPY(B, -2.0, X, SAME_NONZERO_PATTERN));
  ASSERT_OK(MatNorm(B, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, tolerance);
}

} // namespace

// Few right-hand sides: the processes agree the first time
TEST(ConfluxFailure, OneProcessWithoutMemoryForFew)
{
  if (!limits_work || size() == 1) GTEST_SKIP() << "one process, or the address space cannot be limited";
  expect_agreement(600, 40, 5e5);
}

// So many that the factors move, which takes more of them at a time
TEST(ConfluxFailure, OneProcessWithoutMemoryForMany)
{
  if (!limits_work || size() == 1 || size() > 4) GTEST_SKIP() << "one process, or many that need little each, or the address space cannot be limited";
  expect_agreement(1000, 4000, 2.1e7);
}
