// MATSOLVERCONFLUX where something goes wrong or is unusual: no factors, other layouts, changed matrices, communicators.
#include "conflux_fixture.hpp"

using namespace conflux_fixture;

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

// Solves that come before the numeric factorisation, or after one that has not ended
TEST(ConfluxFailure, SolvesBeforeFactors)
{
  for (MatType type : {MATDENSE, MATAIJ})
    for (bool analysed : {false, true}) {
      MatHandle     A, F, B, X;
      VecHandle     x, b;
      MatFactorInfo info;
      ASSERT_OK(square(type, 30, A.out()));
      ASSERT_OK(MatGetFactor(A, MATSOLVERCONFLUX, MAT_FACTOR_LU, F.out()));
      ASSERT_OK(MatFactorInfoInitialize(&info));
      if (analysed) {
        ASSERT_OK(MatLUFactorSymbolic(F, A, NULL, NULL, &info));
      }
      ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
      ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, B.out()));
      ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, X.out()));
      ASSERT_OK(VecSet(b, 1));
      const QuietErrors quiet;
      EXPECT_EQ((int)MatSolve(F, b, x), (int)PETSC_ERR_ORDER) << type << analysed;
      EXPECT_EQ((int)MatMatSolve(F, B, X), (int)PETSC_ERR_ORDER) << type << analysed;
    }
}

// Many right-hand sides at once without factors: the KSP says so
TEST(ConfluxFailure, KSPMatSolveWithoutFactors)
{
  for (MatType type : {MATDENSE, MATAIJ}) {
    MatHandle          A, B, X;
    KSPHandle          ksp;
    KSPConvergedReason reason;
    ASSERT_OK(square(type, 30, A.out()));
    ASSERT_OK(MatZeroEntries(A));
    ASSERT_OK(ksp_of(A, NULL, ksp.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, B.out()));
    ASSERT_OK(rectangle(PETSC_DECIDE, 30, 4, X.out()));
    ASSERT_OK(KSPMatSolve(ksp, B, X));
    ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << type;
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
