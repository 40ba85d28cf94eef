// MATSOLVERCONFLUX where something goes wrong or is unusual: no factors, other layouts, memory, changed matrices, communicators.
#include "base/buffer.hpp"
#include "base/memory.hpp"
#include "pc_fixture.hpp"

#include <petscksp.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace petsctt;
using namespace petsctt::test;

namespace {

// Well conditioned and without symmetries
Scalar entry(PetscInt i, PetscInt j)
{
  const Real a = std::sin(1 + 12.9898 * (Real)i + 78.233 * (Real)j + 3.7 * (Real)i * (Real)j) + (i == j ? 30 : 0);
#if defined(PETSC_USE_COMPLEX)
  return Scalar(a, std::cos((Real)(i + 2 * j)));
#else
  return a;
#endif
}

PetscErrorCode fill(Mat A, Scalar factor = 1)
{
  PetscInt start, end, N;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = 0; j < N; ++j) PetscCall(MatSetValue(A, i, j, factor * entry(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode square(MatType type, PetscInt N, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(fill(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat A, MatFactorType type, Mat *F)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatGetFactor(A, MATSOLVERCONFLUX, type, F));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(*F, A, NULL, NULL, &info));
  else PetscCall(MatCholeskyFactorSymbolic(*F, A, NULL, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat A, MatFactorType type, Mat F)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorNumeric(F, A, &info));
  else PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode rectangle(PetscInt m, PetscInt N, PetscInt k, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, N, k, NULL, B));
  PetscCall(fill(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ||A x - b|| / ||b||
PetscErrorCode error_of(Mat A, Vec b, Vec x, Real *e)
{
  VecHandle r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, r.out()));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, e));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *e /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ksp_of(Mat A, const char prefix[], KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPPREONLY));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERCONFLUX));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Real tolerance = 1e4 * PETSC_MACHINE_EPSILON;

// Takes almost all memory that a process may have, as long as it lives.
class LittleMemory {
public:
  LittleMemory(int process, double bytes)
  {
    free_cached_memory();
    getrlimit(RLIMIT_AS, &before_);
    if (rank() != process) return;
    long      pages = 0;
    if (std::FILE *f = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(f, "%ld", &pages) != 1) pages = 0;
      std::fclose(f);
    }
    if (!pages) return;
    taken_.reserve(1 << 14);
    rlimit now   = before_;
    now.rlim_cur = (rlim_t)((double)pages * (double)sysconf(_SC_PAGESIZE) + bytes);
    setrlimit(RLIMIT_AS, &now);
    // what has been given back before is there, too
    constexpr std::size_t piece = 1 << 17;
    while (taken_.size() < taken_.capacity()) {
      void *p = std::malloc(piece);
      if (!p) break;
      taken_.push_back(p);
    }
    for (std::size_t s = 0; s < (std::size_t)bytes / piece && !taken_.empty(); ++s, taken_.pop_back()) std::free(taken_.back());
  }
  ~LittleMemory()
  {
    setrlimit(RLIMIT_AS, &before_);
    for (void *p : taken_) std::free(p);
  }

private:
  rlimit              before_;
  std::vector<void *> taken_;
};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_work = false; // the address space is full of shadows
#else
constexpr bool limits_work = true;
#endif

} // namespace

// No factors: solutions are Inf, whatever is asked for, and a KSP says so
TEST(ConfluxFailure, SolvesWithoutFactors)
{
  for (MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    MatHandle A, F, B, X;
    VecHandle x, b;
    ASSERT_OK(square(MATDENSE, 30, A.out()));
    ASSERT_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(symbolic(A, type, F.out()));
    ASSERT_OK(numeric(A, type, F));
    MatConfluxInfo info;
    ASSERT_OK(MatConfluxGetInfo(F, &info));
    EXPECT_EQ(info.smallest_pivot, 0);
    ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, B.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, X.out()));
    for (int kind = 0; kind < 4; ++kind) {
      PetscReal norm;
      ASSERT_OK(VecSet(b, 1));
      ASSERT_OK(VecSet(x, 1));
      ASSERT_OK(fill(X));
      ASSERT_OK(kind == 0 ? MatSolve(F, b, x) : kind == 1 ? MatSolveTranspose(F, b, x) : kind == 2 ? MatMatSolve(F, B, X) : MatMatSolveTranspose(F, B, X));
      ASSERT_OK(kind < 2 ? VecNorm(x, NORM_INFINITY, &norm) : MatNorm(X, NORM_FROBENIUS, &norm));
      EXPECT_FALSE(is_finite(norm)) << kind;
    }
    // and with factors again
    ASSERT_OK(MatShift(A, 2.0));
    ASSERT_OK(numeric(A, type, F));
    PetscReal norm;
    ASSERT_OK(MatMatSolve(F, B, X));
    ASSERT_OK(MatAXPY(B, -2.0, X, SAME_NONZERO_PATTERN));
    ASSERT_OK(MatNorm(B, NORM_FROBENIUS, &norm));
    EXPECT_LE(norm, tolerance);
  }
  for (MatType type : {MATDENSE, MATAIJ}) {
    MatHandle          A;
    KSPHandle          ksp;
    KSPConvergedReason reason;
    ASSERT_OK(square(type, 30, A.out()));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(ksp_of(A, NULL, ksp.out()));
    VecHandle x, b;
    ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
    ASSERT_OK(VecSet(b, 1));
    for (bool transposed : {false, true}) {
      ASSERT_OK(transposed ? KSPSolveTranspose(ksp, b, x) : KSPSolve(ksp, b, x));
      ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << type;
    }
  }
}

// An error where it is asked for, on all processes
TEST(ConfluxFailure, ErrorIfFailure)
{
  for (MatType type : {MATDENSE, MATAIJ}) {
    for (bool finite : {true, false}) {
      MatHandle A, F;
      ASSERT_OK(square(type, 20, A.out()));
      ASSERT_OK(MatZeroEntries(A));
      if (!finite) {
        ASSERT_OK(MatShift(A, NAN));
      }
      ASSERT_OK(symbolic(A, MAT_FACTOR_LU, F.out()));
      ASSERT_OK(MatSetErrorIfFailure(A, PETSC_TRUE));
      const QuietErrors quiet;
      EXPECT_NE((int)numeric(A, MAT_FACTOR_LU, F), 0) << type << finite;
    }
    MatHandle A;
    KSPHandle ksp;
    VecHandle x, b;
    ASSERT_OK(square(type, 20, A.out()));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(ksp_of(A, NULL, ksp.out()));
    ASSERT_OK(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE));
    ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
    ASSERT_OK(VecSet(b, 1));
    const QuietErrors quiet;
    EXPECT_EQ((int)KSPSolve(ksp, b, x), (int)PETSC_ERR_MAT_LU_ZRPVT) << type;
  }
}

// Vectors and matrices with other rows on the processes: PETSC_ERR_ARG_SIZ on all of them. PETSC looks at global sizes only, in most places.
TEST(ConfluxFailure, OtherLayouts)
{
  if (size() == 1) GTEST_SKIP() << "one process has one layout";
  const PetscInt N = 26, n = rank() == size() - 1 ? N : 0;
  for (MatType type : {MATDENSE, MATAIJ}) {
    MatHandle A, F, B, X, other, C;
    VecHandle x, b, y;
    ASSERT_OK(square(type, N, A.out()));
    ASSERT_OK(symbolic(A, MAT_FACTOR_LU, F.out()));
    ASSERT_OK(numeric(A, MAT_FACTOR_LU, F));
    ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
    ASSERT_OK(VecCreateMPI(PETSC_COMM_WORLD, n, N, y.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, N, 3, B.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, N, 3, X.out()));
    ASSERT_OK(rectangle(n, N, 3, other.out()));
    ASSERT_OK(VecSet(b, 1));
    ASSERT_OK(VecSet(y, 1));
    ASSERT_OK(MatCreate(PETSC_COMM_WORLD, C.out()));
    ASSERT_OK(MatSetSizes(C, n, n, N, N));
    ASSERT_OK(MatSetType(C, type));
    ASSERT_OK(MatSetUp(C));
    ASSERT_OK(MatSetOption(C, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    ASSERT_OK(fill(C));
    {
      const QuietErrors quiet;
      EXPECT_EQ((int)MatSolve(F, b, y), (int)PETSC_ERR_ARG_SIZ) << type;
      EXPECT_EQ((int)MatSolveTranspose(F, b, y), (int)PETSC_ERR_ARG_SIZ) << type;
      EXPECT_EQ((int)MatMatSolve(F, B, other), (int)PETSC_ERR_ARG_SIZ) << type;
      EXPECT_EQ((int)MatMatSolve(F, other, X), (int)PETSC_ERR_ARG_SIZ) << type;
      EXPECT_EQ((int)MatMatSolveTranspose(F, B, other), (int)PETSC_ERR_ARG_SIZ) << type;
      EXPECT_EQ((int)numeric(C, MAT_FACTOR_LU, F), (int)PETSC_ERR_ARG_SIZ) << type;
    }
    VecHandle c, z;
    PetscReal e;
    ASSERT_OK(VecDuplicate(b, c.out()));
    ASSERT_OK(VecDuplicate(x, z.out()));
    ASSERT_OK(VecSet(c, 1));
    ASSERT_OK(MatSolve(F, c, z));
    ASSERT_OK(error_of(A, c, z, &e));
    EXPECT_LE(e, tolerance);
  }
}

// Local arrays with room between the columns, of the matrix, the right-hand sides and the solutions
TEST(ConfluxFailure, LeadingDimensions)
{
  const PetscInt N = 33, k = 7;
  PetscInt       m = PETSC_DECIDE, total = N;
  ASSERT_OK(PetscSplitOwnership(PETSC_COMM_WORLD, &m, &total));
  const auto padded = [&](PetscInt columns, PetscInt lda, Mat *A) -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, m, PETSC_DECIDE, N, columns));
    PetscCall(MatSetType(*A, MATDENSE));
    PetscCall(MatDenseSetLDA(*A, lda));
    PetscCall(MatSetUp(*A));
    PetscCall(fill(*A));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  MatHandle A, B, X, F, R, plain;
  PetscReal e, norm;
  ASSERT_OK(padded(N, m + 3, A.out()));
  ASSERT_OK(padded(k, m + 5, B.out()));
  ASSERT_OK(padded(k, m + 2, X.out()));
  ASSERT_OK(symbolic(A, MAT_FACTOR_LU, F.out()));
  ASSERT_OK(numeric(A, MAT_FACTOR_LU, F));
  ASSERT_OK(MatMatSolve(F, B, X));
  ASSERT_OK(square(MATDENSE, N, plain.out()));
  MatHandle Y;
  ASSERT_OK(rectangle(m, N, k, Y.out()));
  ASSERT_OK(MatCopy(X, Y, SAME_NONZERO_PATTERN));
  ASSERT_OK(MatMatMult(plain, Y, MAT_INITIAL_MATRIX, PETSC_DEFAULT, R.out()));
  MatHandle C;
  ASSERT_OK(rectangle(m, N, k, C.out()));
  ASSERT_OK(MatAXPY(R, -1.0, C, SAME_NONZERO_PATTERN));
  ASSERT_OK(MatNorm(R, NORM_FROBENIUS, &e));
  ASSERT_OK(MatNorm(C, NORM_FROBENIUS, &norm));
  EXPECT_LE(e, tolerance * norm);
}

// A preconditioner that is kept while the matrix changes is the inverse of the old one, with refinement as without
TEST(ConfluxFailure, ReusedPreconditioner)
{
  for (int refine : {0, 2})
    for (MatType type : {MATDENSE, MATAIJ}) {
      const Options o({"-mat_conflux_refine " + std::to_string(refine)});
      MatHandle     A, old;
      KSPHandle     ksp;
      VecHandle     x, b;
      PetscReal     e;
      ASSERT_OK(square(type, 40, A.out()));
      ASSERT_OK(MatDuplicate(A, MAT_COPY_VALUES, old.out()));
      ASSERT_OK(ksp_of(A, NULL, ksp.out()));
      ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
      ASSERT_OK(VecSet(b, 1));
      ASSERT_OK(KSPSolve(ksp, b, x));
      ASSERT_OK(error_of(old, b, x, &e));
      EXPECT_LE(e, refine ? 10 * PETSC_MACHINE_EPSILON : tolerance) << type << refine;
      ASSERT_OK(fill(A, -5));
      ASSERT_OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      ASSERT_OK(KSPSolve(ksp, b, x));
      ASSERT_OK(error_of(old, b, x, &e));
      EXPECT_LE(e, tolerance) << type << refine;
      ASSERT_OK(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
      ASSERT_OK(KSPSolve(ksp, b, x));
      ASSERT_OK(error_of(A, b, x, &e));
      EXPECT_LE(e, refine ? 10 * PETSC_MACHINE_EPSILON : tolerance) << type << refine;
      EXPECT_EQ(o.unused(), "");
    }
}

// Each factor has the options of its own prefix
TEST(ConfluxFailure, Prefixes)
{
  const Options o({"-one_mat_conflux_tile 3", "-two_mat_conflux_tile 7"});
  for (const char *prefix : {"one_", "two_"}) {
    MatHandle      A;
    KSPHandle      ksp;
    PC             pc;
    Mat            F;
    MatConfluxInfo info;
    ASSERT_OK(square(MATDENSE, 24, A.out()));
    ASSERT_OK(ksp_of(A, prefix, ksp.out()));
    ASSERT_OK(KSPSetUp(ksp));
    ASSERT_OK(KSPGetPC(ksp, &pc));
    ASSERT_OK(PCFactorGetMatrix(pc, &F));
    ASSERT_OK(MatConfluxGetInfo(F, &info));
    EXPECT_EQ(info.tile, prefix[0] == 'o' ? 3 : 7);
  }
  EXPECT_EQ(o.unused(), "");
}

// A package that is not there is an error, not a reason to take all interiors for singular
TEST(ConfluxFailure, UnknownPackage)
{
  const Options o({"-mat_conflux_interior_mat_solver_type nobody"});
  MatHandle     A, F;
  ASSERT_OK(square(MATAIJ, 24, A.out()));
  const QuietErrors quiet;
  EXPECT_EQ((int)symbolic(A, MAT_FACTOR_LU, F.out()), (int)PETSC_ERR_MISSING_FACTOR);
}

// A tile is not wider than the matrix, of which arrays are made
TEST(ConfluxFailure, WideTiles)
{
  for (MatFactorType type : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    const Options  o({"-mat_conflux_tile 32767"});
    MatHandle      A, F;
    MatConfluxInfo info;
    ASSERT_OK(square(MATDENSE, 50, A.out()));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(MatShift(A, 2));
    ASSERT_OK(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
    free_cached_memory();
    const std::size_t before = peak_memory();
    ASSERT_OK(symbolic(A, type, F.out()));
    ASSERT_OK(numeric(A, type, F));
    EXPECT_LE((double)(peak_memory() - before), 1e6);
    ASSERT_OK(MatConfluxGetInfo(F, &info));
    EXPECT_EQ(info.tile, 50);
    EXPECT_LE(info.memory, 20 * 50 * 50);
  }
}

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

// Solvers on parts of the processes, each with a communicator of its own
TEST(ConfluxFailure, OtherCommunicators)
{
  const std::string half = std::to_string(std::max(1, size() / 2));
  const std::vector<std::vector<std::string>> kinds = {
    {"-c_pc_type redundant", "-c_redundant_pc_type lu", "-c_redundant_pc_factor_mat_solver_type conflux", "-c_pc_redundant_number " + half, "-c_redundant_mat_conflux_repartition never"},
    {"-c_pc_type bjacobi", "-c_sub_pc_type lu", "-c_sub_pc_factor_mat_solver_type conflux"},
    {"-c_pc_type telescope", "-c_pc_telescope_reduction_factor " + std::string(size() > 1 ? "2" : "1"), "-c_telescope_pc_type lu", "-c_telescope_ksp_type preonly",
     "-c_telescope_pc_factor_mat_solver_type conflux"}};
  for (std::size_t s = 0; s < kinds.size(); ++s) {
    if (s == 2 && size() % 2) continue;
    const Options o(kinds[s]);
    MatHandle     A;
    KSPHandle     ksp;
    VecHandle     x, b;
    PetscReal     e;
    ASSERT_OK(square(MATAIJ, 36, A.out()));
    ASSERT_OK(ksp_of(A, "c_", ksp.out()));
    ASSERT_OK(KSPSetType(ksp, KSPGMRES));
    ASSERT_OK(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, s == 1 ? 40 : 2));
    ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
    ASSERT_OK(VecSet(b, 1));
    ASSERT_OK(KSPSolve(ksp, b, x));
    ASSERT_OK(error_of(A, b, x, &e));
    EXPECT_LE(e, 1e-10) << s;
    if (rank() == 0) {
      EXPECT_EQ(o.unused(), "") << s;
    }
  }
}
