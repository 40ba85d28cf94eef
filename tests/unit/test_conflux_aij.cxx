// MatSolverType "conflux" for MATAIJ against the matrix itself, entry by entry, and against another package.
#include "base/blas.hpp"
#include "mat/solver/conflux/aij_cover.hpp"
#include "mat/solver/conflux/aij_graph.hpp"
#include "pc_fixture.hpp"

#include <map>
#include <random>

using namespace petsctt;
using namespace petsctt::test;

PETSC_EXTERN PetscErrorCode MatGetFactor_aij_conflux(Mat, MatFactorType, Mat *);

namespace {

using FactorHandle = MatHandle;
using Entries      = std::map<std::pair<Int, Int>, Scalar>; // on every process

Scalar number(std::mt19937 &g)
{
  std::uniform_real_distribution<double> d(-1, 1);
  const double                           re = d(g), im = d(g);
#if defined(PETSC_USE_COMPLEX)
  return Scalar(re, im);
#else
  (void)im;
  return re;
#endif
}

struct Problem {
  Int     n = 0;
  Entries a;
  Scalar  at(Int i, Int j) const
  {
    const auto e = a.find({i, j});
    return e == a.end() ? Scalar(0) : e->second;
  }
};

// Convection-diffusion on a p x q grid.
Problem stencil(Int p, Int q, double wind = 0.4)
{
  Problem m;
  m.n = p * q;
  for (Int y = 0; y < q; ++y)
    for (Int x = 0; x < p; ++x) {
      const Int i = x + p * y;
      m.a[{i, i}] = 4;
      if (x > 0) m.a[{i, i - 1}] = -1 - wind;
      if (x + 1 < p) m.a[{i, i + 1}] = -1 + wind;
      if (y > 0) m.a[{i, i - p}] = -1 - wind / 2;
      if (y + 1 < q) m.a[{i, i + p}] = -1 + wind / 2;
    }
  return m;
}

// Unknown i becomes unknown number[i].
Problem renumbered(const Problem &m, const std::vector<Int> &number)
{
  Problem r;
  r.n = m.n;
  for (const auto &e : m.a) r.a[{number[(size_t)e.first.first], number[(size_t)e.first.second]}] = e.second;
  return r;
}
std::vector<Int> shuffled(Int n, unsigned seed)
{
  std::vector<Int> v;
  for (Int i = 0; i < n; ++i) v.push_back(i);
  std::mt19937 g(seed);
  for (Int i = n - 1; i > 0; --i) std::swap(v[(size_t)i], v[(size_t)(g() % (unsigned)(i + 1))]);
  return v;
}

// Random places, not in pairs; some unknowns have no neighbours at all.
Problem scattered(Int n, int per_row, unsigned seed, double diagonal = 8)
{
  Problem      m;
  std::mt19937 g(seed);
  m.n = n;
  for (Int i = 0; i < n; ++i) {
    m.a[{i, i}] = Scalar(diagonal) + number(g);
    if (i % 7 == 3) continue;
    for (int s = 0; s < per_row; ++s) m.a[{i, (Int)(g() % (unsigned)n)}] += number(g);
  }
  return m;
}

// [K B; B^T 0] with the zero block present or not.
Problem saddle(Int n, Int constraints, bool stored)
{
  Problem      m = stencil(n, 1, 0.1);
  std::mt19937 g(3);
  m.n += constraints;
  for (Int c = 0; c < constraints; ++c) {
    for (Int s = 0; s < 3; ++s) {
      const Int    i = (c * (n / constraints) + s) % n;
      const Scalar v = number(g) + Scalar(2);
      m.a[{n + c, i}] = v;
      m.a[{i, n + c}] = v;
    }
    if (stored) m.a[{n + c, n + c}] = 0;
  }
  return m;
}

// One letter for the distribution: d even, f all on the first process, l all on the last, u uneven with empty processes
PetscErrorCode assemble(const Problem &m, char kind, Mat *A)
{
  PetscFunctionBegin;
  const Mode mode = make_mode(m.n, kind);
  const Int  begin = mode.starts[rank()], end = mode.starts[rank() + 1];
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, end - begin, end - begin, m.n, m.n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (const auto &e : m.a)
    if (e.first.first >= begin && e.first.first < end) PetscCall(MatSetValue(*A, e.first.first, e.first.second, e.second, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_random(Vec v, unsigned seed)
{
  PetscInt     begin, end;
  PetscScalar *a;
  std::mt19937 g(seed);

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt i = 0; i < end; ++i) {
    const Scalar r = number(g);
    if (i >= begin) a[i - begin] = r;
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// All entries of a vector with the layout of A's rows, on every process.
std::vector<Scalar> whole(Mat A, const Scalar *local)
{
  PetscInt n, begin, end;
  MatGetSize(A, &n, NULL);
  MatGetOwnershipRange(A, &begin, &end);
  std::vector<Scalar> all((size_t)n, 0);
  for (PetscInt i = begin; i < end; ++i) all[(size_t)i] = local[i - begin];
  if (n) MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)n, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD);
  return all;
}

// ||A x - b|| / (||A|| ||x|| + ||b||) in the largest entries
Real backward_error(const Problem &m, bool transposed, const std::vector<Scalar> &x, std::vector<Scalar> b)
{
  Real top_x = 0, top_b = 0, top_r = 0, norm = 0;
  std::vector<Real> sums((size_t)m.n, 0);
  for (Scalar v : b) top_b = std::max(top_b, petsctt::abs(v));
  for (Scalar v : x) {
    if (!is_finite(v)) return PETSC_INFINITY;
    top_x = std::max(top_x, petsctt::abs(v));
  }
  for (const auto &e : m.a) {
    const size_t i = (size_t)(transposed ? e.first.second : e.first.first), j = (size_t)(transposed ? e.first.first : e.first.second);
    b[i] -= e.second * x[j];
    sums[i] += petsctt::abs(e.second);
  }
  for (Scalar v : b) top_r = std::max(top_r, petsctt::abs(v));
  for (Real s : sums) norm = std::max(norm, s);
  return top_r / std::max(norm * top_x + top_b, PETSC_MACHINE_EPSILON);
}

PetscErrorCode factor(Mat A, const char *prefix, FactorHandle &F)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatSetOptionsPrefixFactor(A, prefix));
  PetscCall(MatGetFactor(A, "conflux", MAT_FACTOR_LU, F.out()));
  PetscCall(MatLUFactorSymbolic(F, A, NULL, NULL, &info));
  PetscCall(MatLUFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void expect_factored(Mat F)
{
  MatFactorError error;
  ASSERT_OK(MatFactorGetError(F, &error));
  EXPECT_EQ((int)error, (int)MAT_FACTOR_NOERROR);
}

// Solves, transposed and with several right-hand sides, with the factors of m.
void expect_solves(const Problem &m, Mat A, Mat F, Real tolerance, Int nrhs = 5)
{
  VecHandle          b, x;
  const PetscScalar *from, *to;
  ASSERT_OK(MatCreateVecs(A, x.out(), b.out()));
  ASSERT_OK(set_random(b, 11));
  for (bool transposed : {false, true}) {
    ASSERT_OK(transposed ? MatSolveTranspose(F, b, x) : MatSolve(F, b, x));
    ASSERT_OK(VecGetArrayRead(b, &from));
    ASSERT_OK(VecGetArrayRead(x, &to));
    EXPECT_LE(backward_error(m, transposed, whole(A, to), whole(A, from)), tolerance) << (transposed ? "transposed" : "plain");
    ASSERT_OK(VecRestoreArrayRead(x, &to));
    ASSERT_OK(VecRestoreArrayRead(b, &from));
  }
  PetscInt n;
  ASSERT_OK(MatGetLocalSize(A, &n, NULL));
  MatHandle B, X;
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, m.n, nrhs, NULL, B.out()));
  ASSERT_OK(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, m.n, nrhs, NULL, X.out()));
  PetscScalar *fill;
  PetscInt     ldb, ldx, begin, end;
  ASSERT_OK(MatGetOwnershipRange(A, &begin, &end));
  ASSERT_OK(MatDenseGetLDA(B, &ldb));
  ASSERT_OK(MatDenseGetLDA(X, &ldx));
  ASSERT_OK(MatDenseGetArrayWrite(B, &fill));
  for (Int c = 0; c < nrhs; ++c)
    for (Int i = begin; i < end; ++i) fill[i - begin + c * ldb] = std::sin((Real)(i * (c + 1) + c));
  ASSERT_OK(MatDenseRestoreArrayWrite(B, &fill));
  ASSERT_OK(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  for (bool transposed : {false, true}) {
    ASSERT_OK(transposed ? MatMatSolveTranspose(F, B, X) : MatMatSolve(F, B, X));
    ASSERT_OK(MatDenseGetArrayRead(B, &from));
    ASSERT_OK(MatDenseGetArrayRead(X, &to));
    for (Int c = 0; c < nrhs; ++c) EXPECT_LE(backward_error(m, transposed, whole(A, to + c * ldx), whole(A, from + c * ldb)), tolerance) << "column " << c;
    ASSERT_OK(MatDenseRestoreArrayRead(X, &to));
    ASSERT_OK(MatDenseRestoreArrayRead(B, &from));
  }
}

void expect_solved(const Problem &m, char kind, const char *prefix = "", Real tolerance = 1e4 * macheps, Int nrhs = 5)
{
  MatHandle    A;
  FactorHandle F;
  ASSERT_OK(assemble(m, kind, A.out()));
  ASSERT_OK(factor(A, prefix, F));
  expect_factored(F);
  expect_solves(m, A, F, tolerance, nrhs);
}

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
