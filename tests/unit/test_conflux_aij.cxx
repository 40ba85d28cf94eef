// MatSolverType "conflux" for MATAIJ against the matrix itself, entry by entry, and against another package.
#include "conflux_aij_fixture.hpp"
#include "mat/solver/conflux/aij_cover.hpp"
#include "mat/solver/conflux/aij_graph.hpp"

using namespace conflux_aij_fixture;

PETSC_EXTERN PetscErrorCode MatGetFactor_aij_conflux(Mat, MatFactorType, Mat *);

namespace {

TEST(ConfluxAIJ, Cover)
{
  std::mt19937 g(5);
  for (int round = 0; round < 200; ++round) {
    const PetscInt        left = 1 + (PetscInt)(g() % 7), right = 1 + (PetscInt)(g() % 7);
    std::vector<PetscInt> first{0}, to;
    for (PetscInt l = 0; l < left; ++l) {
      for (PetscInt r = 0; r < right; ++r)
        if (g() % 3 == 0) to.push_back(r);
      first.push_back((PetscInt)to.size());
    }
    std::vector<char> in_left, in_right;
    minimum_vertex_cover(right, first, to, in_left, in_right);
    const auto covers = [&](const std::vector<char> &a, const std::vector<char> &b) {
      for (PetscInt l = 0; l < left; ++l)
        for (PetscInt e = first[(size_t)l]; e < first[(size_t)l + 1]; ++e)
          if (!a[(size_t)l] && !b[(size_t)to[(size_t)e]]) return false;
      return true;
    };
    EXPECT_TRUE(covers(in_left, in_right));
    int found = 0, best = 100;
    for (char c : in_left) found += c;
    for (char c : in_right) found += c;
    for (unsigned bits = 0; bits < (1u << (left + right)); ++bits) { // all sets
      std::vector<char> a, b;
      for (PetscInt l = 0; l < left; ++l) a.push_back((bits >> l) & 1);
      for (PetscInt r = 0; r < right; ++r) b.push_back((bits >> (left + r)) & 1);
      const int size = __builtin_popcount(bits);
      if (size < best && covers(a, b)) best = size;
    }
    EXPECT_EQ(found, best);
  }
}

// No edge joins interiors of two processes; on strips of a grid the separator has no more than one line of each cut.
TEST(ConfluxAIJ, Separator)
{
  const int P = size();
  for (bool bad : {false, true}) {
    Problem m = stencil(9, 4 * P);
    if (bad) m = renumbered(m, shuffled(m.n, 17));
    MatHandle A;
    ASSERT_OK(assemble(m, 'd', A.out()));
    Graph             g;
    std::vector<char> in;
    Split             s;
    ASSERT_OK(graph_of(A, &g));
    ASSERT_OK(separator(PetscObjectComm((PetscObject)A.get()), g, &in));
    ASSERT_OK(split(PetscObjectComm((PetscObject)A.get()), g, in, &s));
    std::vector<Int> where((size_t)m.n, 0); // 1 + process of interior unknowns
    for (PetscInt i : s.interior) where[(size_t)i] = 1 + rank();
    MPI_Allreduce(MPI_IN_PLACE, where.data(), (int)m.n, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    Int interior = 0;
    for (Int w : where) interior += w > 0;
    EXPECT_EQ(interior + (Int)s.interface.size(), m.n);
    for (PetscInt i : s.interface) EXPECT_EQ(where[(size_t)i], 0);
    for (const auto &e : m.a) {
      const Int a = where[(size_t)e.first.first], b = where[(size_t)e.first.second];
      EXPECT_TRUE(!a || !b || a == b);
    }
    if (bad) continue;
    EXPECT_LE((Int)s.interface.size(), 9 * (P - 1));
  }
}

TEST(ConfluxAIJ, Stencil)
{
  for (char kind : {'d', 'u', 'f', 'l'})
    for (Int p : {1, 5, 12}) expect_solved(stencil(p, 13), kind);
}

TEST(ConfluxAIJ, SmallAndEmpty)
{
  for (Int n : {0, 1, 2, 3}) expect_solved(stencil(n, 1), 'd');
}

TEST(ConfluxAIJ, ManyRightHandSides) { expect_solved(stencil(7, 9), 'd', "", 1e4 * macheps, 300); }

TEST(ConfluxAIJ, UnsymmetricPattern)
{
  for (char kind : {'d', 'u'})
    for (unsigned seed : {1, 2, 3}) expect_solved(scattered(60, 2, seed), kind);
  Problem m = scattered(40, 0, 4); // couplings in one direction only
  for (Int i = 1; i < 40; ++i) m.a[{i, i - 1}] = 3;
  for (Int i = 0; i < 20; ++i) m.a[{i, 39 - i}] = -2;
  expect_solved(m, 'd');
}

TEST(ConfluxAIJ, DisconnectedParts)
{
  Problem m = stencil(5, 5), twice;
  twice.n   = 75;
  for (const auto &e : m.a)
    for (Int s : {0, 25, 50}) twice.a[{e.first.first + s, e.first.second + s}] = e.second;
  for (char kind : {'d', 'u'}) {
    expect_solved(twice, kind);
    expect_solved(renumbered(twice, shuffled(75, 9)), kind);
  }
}

TEST(ConfluxAIJ, BadPartition)
{
  const Problem m = renumbered(stencil(14, 15), shuffled(210, 23));
  for (const char *choice : {"auto", "always", "never"}) {
    const Options o({std::string("-part_mat_conflux_repartition ") + choice});
    for (char kind : {'d', 'u', 'f'}) expect_solved(m, kind, "part_");
  }
}

TEST(ConfluxAIJ, Packages)
{
  for (const char *package : {"petsc", "umfpack", "mumps"}) {
    MatHandle A;
    PetscBool there;
    ASSERT_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, NULL, A.out()));
    ASSERT_OK(MatGetFactorAvailable(A, package, MAT_FACTOR_LU, &there));
    if (!there) continue;
    const Options o({std::string("-pack_mat_conflux_interior_mat_solver_type ") + package});
    expect_solved(stencil(8, 11), 'd', "pack_");
    expect_solved(scattered(50, 3, 8), 'u', "pack_");
    expect_solved(saddle(40, 9, true), 'd', "pack_", 1e-10);
    EXPECT_EQ(o.unused(), "");
  }
}

// New values in the same pattern, a new pattern without a new symbolic factorisation, and recovery from a singular matrix
TEST(ConfluxAIJ, Refactor)
{
  Problem       m = stencil(9, 11);
  MatHandle     A, C;
  FactorHandle  F;
  MatFactorInfo info;
  ASSERT_OK(MatFactorInfoInitialize(&info));
  ASSERT_OK(assemble(m, 'd', A.out()));
  ASSERT_OK(factor(A, "", F));
  expect_solves(m, A, F, 1e4 * macheps);
  std::mt19937 g(99);
  for (int round = 0; round < 3; ++round) {
    for (auto &e : m.a) e.second += Scalar(0.1) * number(g);
    Problem now = m;
    for (auto &e : now.a)
      if (round == 1 && e.first.first == 5) e.second = 0;
    for (const auto &e : now.a) {
      if (rank() != 0) break;
      ASSERT_OK(MatSetValue(A, e.first.first, e.first.second, e.second, INSERT_VALUES));
    }
    ASSERT_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    ASSERT_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    ASSERT_OK(MatLUFactorNumeric(F, A, &info));
    if (round == 1) {
      MatFactorError error;
      ASSERT_OK(MatFactorGetError(F, &error));
      EXPECT_EQ((int)error, (int)MAT_FACTOR_NUMERIC_ZEROPIVOT);
    } else {
      expect_factored(F);
      expect_solves(m, A, F, 1e4 * macheps);
    }
  }
  const Problem other = renumbered(stencil(11, 9), shuffled(99, 41));
  ASSERT_OK(assemble(other, 'd', C.out()));
  ASSERT_OK(MatLUFactorNumeric(F, C, &info));
  expect_factored(F);
  expect_solves(other, C, F, 1e4 * macheps);
}

// Through KSP, one and many right-hand sides, against another package; changed operators
TEST(ConfluxAIJ, InsideKSP)
{
  const Problem m = stencil(10, 12);
  MatHandle     A;
  KSPHandle     ksp;
  PC            pc;
  ASSERT_OK(assemble(m, 'd', A.out()));
  const Options o({"-inner_pc_factor_mat_solver_type conflux", "-inner_mat_conflux_repartition never", "-inner_mat_conflux_tile 8"});
  ASSERT_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  ASSERT_OK(KSPSetOptionsPrefix(ksp, "inner_"));
  ASSERT_OK(KSPSetType(ksp, KSPPREONLY));
  ASSERT_OK(KSPGetPC(ksp, &pc));
  ASSERT_OK(PCSetType(pc, PCLU));
  ASSERT_OK(KSPSetOperators(ksp, A, A));
  ASSERT_OK(KSPSetFromOptions(ksp));
  VecHandle b, x, y;
  ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
  ASSERT_OK(VecDuplicate(b, y.out()));
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(set_random(b, 8));
    ASSERT_OK(KSPSolve(ksp, b, x));
    ASSERT_OK(MatMult(A, x, y));
    ASSERT_OK(VecAXPY(y, -1, b));
    PetscReal norm;
    ASSERT_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_LE(norm, 1e4 * macheps * (Real)m.n);
    ASSERT_OK(MatShift(A, 3));
  }
  ASSERT_OK(MatShift(A, -3));
  EXPECT_EQ(o.unused(), "");
  PetscInt n;
  ASSERT_OK(MatGetLocalSize(A, &n, NULL));
  MatHandle B, X, R;
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, m.n, 17, NULL, B.out()));
  ASSERT_OK(MatSetRandom(B, NULL));
  ASSERT_OK(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, X.out()));
  ASSERT_OK(KSPMatSolve(ksp, B, X));
  ASSERT_OK(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, R.out()));
  ASSERT_OK(MatAXPY(R, -1, B, SAME_NONZERO_PATTERN));
  PetscReal norm;
  ASSERT_OK(MatNorm(R, NORM_FROBENIUS, &norm));
  EXPECT_LE(norm, 1e4 * macheps * (Real)m.n);
}

TEST(ConfluxAIJ, CholeskyAndView)
{
  const Problem m = stencil(9, 9, 0);
  MatHandle     A;
  FactorHandle  F;
  MatFactorInfo info;
  MatInfo       found;
  ASSERT_OK(assemble(m, 'd', A.out()));
  ASSERT_OK(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  ASSERT_OK(MatFactorInfoInitialize(&info));
  ASSERT_OK(MatGetFactor(A, "conflux", MAT_FACTOR_CHOLESKY, F.out()));
  ASSERT_OK(MatCholeskyFactorSymbolic(F, A, NULL, &info));
  ASSERT_OK(MatCholeskyFactorNumeric(F, A, &info));
  expect_solves(m, A, F, 1e4 * macheps);
  ASSERT_OK(MatGetInfo(F, MAT_GLOBAL_SUM, &found));
  EXPECT_GT(found.nz_used, 0);
  EXPECT_GT(found.memory, 0);
  MatSolverType type;
  ASSERT_OK(MatFactorGetSolverType(F, &type));
  EXPECT_STREQ(type, "conflux");
  ViewerHandle viewer;
  ASSERT_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", viewer.out()));
  ASSERT_OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  ASSERT_OK(MatView(F, viewer));
}

} // namespace
