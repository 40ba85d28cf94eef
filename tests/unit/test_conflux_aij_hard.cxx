// MATSOLVERCONFLUX for MATAIJ with matrices that are singular, have such interiors, or entries of very different size.
#include "base/blas.hpp"
#include "conflux_aij_fixture.hpp"

using namespace conflux_aij_fixture;

namespace {

// Interiors may be singular when the matrix is not
TEST(ConfluxAIJ, SingularInteriors)
{
  for (bool stored : {true, false}) {
    const Problem m = saddle(42, 12, stored);
    for (char kind : {'d', 'u'}) {
      expect_solved(m, kind, "", 1e-10);
      expect_solved(renumbered(m, shuffled(m.n, 31)), kind, "", 1e-10);
    }
  }
  Problem swap; // all interiors are zero
  swap.n = 30;
  for (Int i = 0; i < 30; ++i) {
    swap.a[{i, 29 - i}] = 2 + (Real)i;
    swap.a[{i, i}] += 0;
  }
  for (const char *choice : {"always", "never"}) {
    const Options o({std::string("-swap_mat_conflux_repartition ") + choice});
    expect_solved(swap, 'd', "swap_");
  }
  Problem cycle; // interiors of strictly triangular matrices: left and right null vectors have no place in common
  cycle.n = 24;
  for (Int i = 0; i < 24; ++i) cycle.a[{i, (i + 1) % 24}] = 1 + (Real)(i % 3);
  expect_solved(cycle, 'd');
  Problem neumann = stencil(12, 12, 0); // interiors with the constants as null space, held by the interface alone
  for (Int i = 0; i < neumann.n; ++i) {
    Scalar sum = 0;
    for (Int j : {i - 1, i + 1, i - 12, i + 12}) sum += neumann.at(i, j);
    neumann.a[{i, i}] = -sum;
  }
  neumann.a[{0, 0}] += 1;
  expect_solved(neumann, 'd');
}

TEST(ConfluxAIJ, BadlyScaled)
{
  Problem m = stencil(9, 10);
  for (auto &e : m.a) e.second *= std::pow((Real)10, (Real)((e.first.first * 7) % 17 - 8)) * std::pow((Real)10, (Real)((e.first.second * 5) % 13 - 6));
  MatHandle    A;
  FactorHandle F;
  ASSERT_OK(assemble(m, 'd', A.out()));
  ASSERT_OK(factor(A, "", F));
  expect_factored(F);
  // by rows, since norms say nothing here
  VecHandle b, x;
  ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
  ASSERT_OK(set_random(b, 3));
  ASSERT_OK(MatSolve(F, b, x));
  const PetscScalar *from, *to;
  ASSERT_OK(VecGetArrayRead(b, &from));
  ASSERT_OK(VecGetArrayRead(x, &to));
  const std::vector<Scalar> X = whole(A, to), B = whole(A, from);
  for (Int i = 0; i < m.n; ++i) {
    Scalar r = B[(size_t)i];
    Real   s = petsctt::abs(r);
    for (Int j = 0; j < m.n; ++j) {
      r -= m.at(i, j) * X[(size_t)j];
      s += petsctt::abs(m.at(i, j) * X[(size_t)j]);
    }
    EXPECT_LE(petsctt::abs(r), 1e-9 * s) << "row " << i;
  }
  ASSERT_OK(VecRestoreArrayRead(x, &to));
  ASSERT_OK(VecRestoreArrayRead(b, &from));
}

TEST(ConfluxAIJ, SingularIsReported)
{
  Problem zero_row = stencil(6, 8), zero_column = zero_row, twice = zero_row, nothing, neumann = stencil(8, 8, 0);
  for (auto &e : zero_row.a)
    if (e.first.first == 20) e.second = 0;
  for (auto &e : zero_column.a)
    if (e.first.second == 31) e.second = 0;
  for (Int j = 0; j < 48; ++j) twice.a.erase({40, j});
  for (Int j = 0; j < 48; ++j)
    if (twice.at(7, j) != Scalar(0)) twice.a[{40, j}] = twice.at(7, j);
  nothing.n = 12;
  for (Int i = 0; i < neumann.n; ++i) {
    Scalar sum = 0;
    for (Int j : {i - 1, i + 1, i - 8, i + 8}) sum += neumann.at(i, j);
    neumann.a[{i, i}] = -sum;
  }
  for (const auto &test : std::map<std::string, const Problem *>{{"zero row", &zero_row}, {"zero column", &zero_column}, {"equal rows", &twice}, {"zero", &nothing}, {"Neumann", &neumann}})
    for (char kind : {'d', 'f'}) {
      const Problem *m = test.second;
      MatHandle      A, B, X;
      FactorHandle   F;
      MatFactorError error;
      ASSERT_OK(assemble(*m, kind, A.out()));
      ASSERT_OK(factor(A, "", F));
      ASSERT_OK(MatFactorGetError(F, &error));
      EXPECT_EQ((int)error, (int)MAT_FACTOR_NUMERIC_ZEROPIVOT) << test.first << kind;
      VecHandle b, x;
      ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
      ASSERT_OK(set_random(b, 3));
      ASSERT_OK(MatSolve(F, b, x));
      PetscReal norm;
      ASSERT_OK(VecNorm(x, NORM_INFINITY, &norm));
      EXPECT_FALSE(is_finite(norm));
      PetscInt n;
      ASSERT_OK(MatGetLocalSize(A, &n, NULL));
      ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, m->n, 3, NULL, B.out()));
      ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, m->n, 3, NULL, X.out()));
      ASSERT_OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      ASSERT_OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      ASSERT_OK(MatMatSolve(F, B, X));
      ASSERT_OK(MatNorm(X, NORM_FROBENIUS, &norm));
      EXPECT_FALSE(is_finite(norm));
    }
}

// Matrices of all kinds, many of them singular or with singular interiors: what is solved is right, and what is refused is singular
TEST(ConfluxAIJ, AnyMatrix)
{
  int solved = 0, refused = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937 g(1000 + seed);
    Problem      m;
    m.n               = 8 + (Int)(g() % 25);
    const int entries = (int)(1 + g() % 4) * (int)m.n;
    for (int e = 0; e < entries; ++e) {
      const Int i = (Int)(g() % (unsigned)m.n), j = (Int)(g() % (unsigned)m.n);
      m.a[{i, j}] = number(g);
    }
    if (seed % 2)
      for (Int i = 0; i < m.n; ++i) m.a[{i, (i + 3 * (Int)(seed % 5)) % m.n}] += Scalar(1);
    MatHandle      A;
    FactorHandle   F;
    MatFactorError error;
    ASSERT_OK(assemble(m, "du"[seed % 2], A.out()));
    ASSERT_OK(factor(A, "", F));
    ASSERT_OK(MatFactorGetError(F, &error));
    std::vector<Scalar> a((std::size_t)(m.n * m.n)), u(a.size()), vt(a.size());
    std::vector<Real>   sigma((std::size_t)m.n);
    for (const auto &e : m.a) a[(std::size_t)(e.first.first + m.n * e.first.second)] = e.second;
    ASSERT_TRUE(gesvd(m.n, m.n, a.data(), m.n, sigma.data(), u.data(), vt.data()));
    const Real ratio = sigma.back() / sigma.front();
    if (error) {
      EXPECT_EQ((int)error, (int)MAT_FACTOR_NUMERIC_ZEROPIVOT) << "seed " << seed;
      EXPECT_LE(ratio, 1e-11) << "seed " << seed;
      ++refused;
    } else {
      EXPECT_GE(ratio, 1e-17) << "seed " << seed;
      expect_solves(m, A, F, 1e-10, 2);
      ++solved;
    }
  }
  EXPECT_GT(solved, 10);
  EXPECT_GT(refused, 5);
}

TEST(ConfluxAIJ, NotFiniteIsReported)
{
  Problem m   = stencil(6, 8);
  m.a[{9, 9}] = std::numeric_limits<Real>::infinity();
  MatHandle      A;
  FactorHandle   F;
  MatFactorError error;
  ASSERT_OK(assemble(m, 'd', A.out()));
  ASSERT_OK(factor(A, "", F));
  ASSERT_OK(MatFactorGetError(F, &error));
  EXPECT_EQ((int)error, (int)MAT_FACTOR_OTHER);
  // as an error if asked for
  ASSERT_OK(MatSetErrorIfFailure(A, PETSC_TRUE));
  const QuietErrors quiet;
  FactorHandle      G;
  EXPECT_NE((int)factor(A, "", G), 0);
}

} // namespace
