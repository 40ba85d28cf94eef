// Bad input of MATTT: an error that names the numbers, the same on all processes, and nothing hangs.
#include "test_mat_fixture.hpp"

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

int world(int (*what)(MPI_Comm, int *))
{
  int n;
  what(PETSC_COMM_WORLD, &n);
  return n;
}

// The call fails on every process, with these words in the message.
template <class F> void fails(F &&call, const std::string &words)
{
  Quiet     quiet;
  const int error = (int)call();
  int       least;
  MPI_Allreduce(&error, &least, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD);
  EXPECT_NE(least, 0);
  EXPECT_NE(Quiet::text().find(words), std::string::npos) << "message: " << Quiet::text();
}

} // namespace

TEST(MatBadInput, WithoutModes)
{
  MatHandle A;
  MAT_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  MAT_OK(MatSetType(A, MATTT));
  fails([&] { return MatTTAddTerm(A, 1, NULL); }, "MatTTSetModes");
  fails([&] { return MatTTCompress(A, 0); }, "MatTTSetModes");
  fails([&] { return MatZeroEntries(A); }, "MatTTSetModes");
}

TEST(MatBadInput, WrongType)
{
  MatHandle A, T;
  MAT_OK(make_aij(PETSC_COMM_WORLD, PETSC_DECIDE, 8, general(0, 8), A.out()));
  fails([&] { return MatTTAddTerm(A, 1, NULL); }, "must be of type tt");
  const PetscInt N[] = {2, 4};
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, T.out()));
  MAT_OK(MatShift(T, 1));
  VecHandle x, y; // 8 rows as well: PETSc's own checks see no difference
  MAT_OK(MatCreateVecs(A, x.out(), y.out()));
  fails([&] { return MatMult(T, x, y); }, "not tt");
}

TEST(MatBadInput, WrongFactorSizes)
{
  const PetscInt N[] = {9, 4}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  MatHandle      A, F, G;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, n, N, A.out()));
  MAT_OK(make_aij(PETSC_COMM_WORLD, PETSC_DECIDE, 8, general(0, 8), F.out()));
  Mat factors[] = {F, NULL};
  fails([&] { return MatTTAddTerm(A, 1, factors); }, "8 x 8");
  // right size, other layout: everything on the last process
  const int size = world(MPI_Comm_size), rank = world(MPI_Comm_rank);
  if (size > 1) {
    MAT_OK(make_aij(PETSC_COMM_WORLD, rank == size - 1 ? 9 : 0, 9, general(0, 9), G.out()));
    factors[0] = G;
    fails([&] { return MatTTAddTerm(A, 1, factors); }, "local rows");
    MatHandle H;
    MAT_OK(make_aij(PETSC_COMM_SELF, 9, 9, general(0, 9), H.out()));
    factors[0] = H;
    fails([&] { return MatTTAddTerm(A, 1, factors); }, "distributed");
  }
  // nothing of this was kept
  PetscReal log10norm;
  MAT_OK(MatTTNormLog10(A, &log10norm));
  EXPECT_TRUE(std::isinf(log10norm));
}

TEST(MatBadInput, ProcessesDisagree)
{
  const int size = world(MPI_Comm_size), rank = world(MPI_Comm_rank);
  if (size == 1) GTEST_SKIP();
  const PetscInt N[] = {9, 4}, S[] = {1, rank == 0 ? 2 : 3, 1}, right[] = {1, 2, 1};
  MatHandle      A, F;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  MAT_OK(make_aij(PETSC_COMM_SELF, 4, 4, general(0, 4), F.out()));
  Mat factors[] = {NULL, rank == 0 ? F.get() : NULL};
  fails([&] { return MatTTAddTerm(A, 1, factors); }, "differ");
  fails([&] { return MatTTAddTerm(A, rank, NULL); }, "differ");
  fails([&] { return MatTTSetBlockRanks(A, S); }, "differ");
  MAT_OK(MatTTSetBlockRanks(A, right));
  fails([&] { return MatTTSetBlock(A, 0, 0, rank == 0 ? 0 : 1, 1, NULL); }, "differ");
  const PetscInt other[] = {9, rank == 0 ? 4 : 5};
  MatHandle      B;
  fails([&] { return MatCreateTT(PETSC_COMM_WORLD, 2, NULL, other, B.out()); }, "differs");
}

TEST(MatBadInput, BlocksOutOfRange)
{
  const PetscInt N[] = {9, 4}, S[] = {1, 2, 1}, bad[] = {1, 0, 1}, open[] = {1, 2, 2};
  MatHandle      A;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  fails([&] { return MatTTSetBlock(A, 0, 0, 0, 1, NULL); }, "MatTTSetBlockRanks");
  fails([&] { return MatTTSetBlockRanks(A, bad); }, "is 0");
  fails([&] { return MatTTSetBlockRanks(A, open); }, "must be 1");
  MAT_OK(MatTTSetBlockRanks(A, S));
  fails([&] { return MatTTSetBlock(A, 2, 0, 0, 1, NULL); }, "Mode 2");
  fails([&] { return MatTTSetBlock(A, 0, 1, 0, 1, NULL); }, "1 x 2 grid");
  fails([&] { return MatTTCompress(A, -1); }, "-1");
  fails([&] { Mat M; return MatTTGetProjectedMode(A, 5, NULL, &M); }, "Mode 5");
  const PetscInt ref[] = {0, 4};
  fails([&] { Mat M; return MatTTGetProjectedMode(A, 0, ref, &M); }, "Index 4");
}

// 7 x 7 x 7 x 11 and 7 x 11 x 7 x 7 have the same size: PETSc sees no difference.
TEST(MatBadInput, OtherModesOfTheSameSize)
{
  const PetscInt N[] = {7, 7, 7, 11}, M[] = {7, 11, 7, 7};
  MatHandle      A, B;
  VecHandle      x, y, u;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 4, NULL, N, A.out()));
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 4, NULL, M, B.out()));
  MAT_OK(MatShift(A, 1));
  MAT_OK(MatShift(B, 1));
  MAT_OK(MatCreateVecs(A, x.out(), y.out()));
  MAT_OK(MatCreateVecs(B, u.out(), NULL));
  MAT_OK(VecTTSetConstant(x, 1));
  MAT_OK(VecTTSetConstant(u, 1));
  fails([&] { return MatMult(A, u, y); }, "11");
  fails([&] { return MatAXPY(A, 1, B, DIFFERENT_NONZERO_PATTERN); }, "11");
  fails([&] { return MatCopy(A, B, DIFFERENT_NONZERO_PATTERN); }, "11");
}

TEST(MatBadInput, UnassembledFactor)
{
  const PetscInt N[] = {3, 4};
  MatHandle      A, F;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  MAT_OK(MatCreate(PETSC_COMM_SELF, F.out()));
  MAT_OK(MatSetSizes(F, 4, 4, 4, 4));
  MAT_OK(MatSetType(F, MATAIJ));
  MAT_OK(MatSetUp(F));
  Mat factors[] = {NULL, F};
  MAT_OK(MatTTAddTerm(A, 1, factors));
  VecHandle x, y;
  MAT_OK(MatCreateVecs(A, x.out(), y.out()));
  MAT_OK(VecTTSetConstant(x, 1));
  fails([&] { return MatMult(A, x, y); }, "not assembled");
}

TEST(MatBadInput, UnsupportedOperationsNameAnother)
{
  const PetscInt N[] = {3, 4}, i = 0;
  MatHandle      A, L[2];
  PetscScalar    v = 1;
  PetscReal      norm;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  MAT_OK(MatShift(A, 1));
  fails([&] { return MatSetValues(A, 1, &i, 1, &i, &v, INSERT_VALUES); }, "MatTTAddTerm");
  for (Int k = 0; k < 2; k++) {
    MAT_OK(make_factor(*space_of(A.get()), k, "aij", second_difference(), L[k].out()));
    Mat factors[] = {k == 0 ? L[0].get() : NULL, k == 0 ? NULL : L[1].get()};
    MAT_OK(MatTTAddTerm(A, 1, factors));
  }
  fails([&] { return MatNorm(A, NORM_1, &norm); }, "NORM_FROBENIUS");
  std::vector<PetscInt> many(30, 10);
  MatHandle             B, C;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 30, NULL, many.data(), B.out()));
  fails([&] { return MatTTGetAssembled(B, C.out()); }, "10^30.0 rows");
}

TEST(MatOptions, ToleranceOutOfRange)
{
  for (const char *value : {"-1", "1.5"}) {
    MatHandle      A;
    const PetscInt N[] = {3, 4};
    MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
    MAT_OK(MatSetOptionsPrefix(A, "mat_options_test_"));
    MAT_OK(PetscOptionsSetValue(NULL, "-mat_options_test_mat_tt_compress", value));
    fails([&] { return MatSetFromOptions(A); }, std::string("-mat_tt_compress ") + value);
    MAT_OK(PetscOptionsClearValue(NULL, "-mat_options_test_mat_tt_compress"));
  }
}

// Modes from the options database, for programs that do not know the type.
TEST(MatOptions, ModesAndCompression)
{
  MatHandle A, L;
  MAT_OK(MatCreate(PETSC_COMM_WORLD, A.out()));
  MAT_OK(MatSetOptionsPrefix(A, "mat_options_test_"));
  MAT_OK(PetscOptionsSetValue(NULL, "-mat_options_test_mat_type", "tt"));
  MAT_OK(PetscOptionsSetValue(NULL, "-mat_options_test_mat_tt_modes", "8,6,4"));
  MAT_OK(PetscOptionsSetValue(NULL, "-mat_options_test_mat_tt_compress", "1e-12"));
  MAT_OK(MatSetFromOptions(A));
  const PetscInt *N;
  PetscInt        d, rows;
  MAT_OK(MatTTGetModes(A, &d, &N));
  EXPECT_EQ(std::vector<PetscInt>(N, N + d), (std::vector<PetscInt>{8, 6, 4}));
  MAT_OK(MatGetSize(A, &rows, NULL));
  EXPECT_EQ(rows, 8 * 6 * 4);
  for (int copy = 0; copy < 2; copy++) { // two matrices of equal values
    MatHandle F;
    MAT_OK(make_factor(*space_of(A.get()), 1, "aij", second_difference(), F.out()));
    Mat factors[] = {NULL, F, NULL};
    MAT_OK(MatTTAddTerm(A, 1, factors));
    MatHandle G;
    MAT_OK(make_factor(*space_of(A.get()), 0, "aij", second_difference(), G.out()));
    Mat others[] = {G, F, NULL};
    MAT_OK(MatTTAddTerm(A, 1, others));
  }
  EXPECT_EQ(block_ranks(A), (std::vector<PetscInt>{1, 1, 1, 1}));
  for (const char *name : {"-mat_options_test_mat_type", "-mat_options_test_mat_tt_modes", "-mat_options_test_mat_tt_compress"})
    MAT_OK(PetscOptionsClearValue(NULL, name));
}
