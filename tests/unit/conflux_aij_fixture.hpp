// What the tests of MATSOLVERCONFLUX for MATAIJ have in common: matrices whose entries all processes know, and solves with them.
#ifndef PETSCTT_TESTS_CONFLUX_AIJ_FIXTURE_HPP
#define PETSCTT_TESTS_CONFLUX_AIJ_FIXTURE_HPP

#include "pc_fixture.hpp"

#include <map>
#include <random>

namespace conflux_aij_fixture {

using namespace petsctt;
using namespace petsctt::test;

using FactorHandle = MatHandle;
using Entries      = std::map<std::pair<Int, Int>, Scalar>; // on every process

inline Scalar number(std::mt19937 &g)
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
inline Problem stencil(Int p, Int q, double wind = 0.4)
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
inline Problem renumbered(const Problem &m, const std::vector<Int> &number)
{
  Problem r;
  r.n = m.n;
  for (const auto &e : m.a) r.a[{number[(size_t)e.first.first], number[(size_t)e.first.second]}] = e.second;
  return r;
}
inline std::vector<Int> shuffled(Int n, unsigned seed)
{
  std::vector<Int> v;
  for (Int i = 0; i < n; ++i) v.push_back(i);
  std::mt19937 g(seed);
  for (Int i = n - 1; i > 0; --i) std::swap(v[(size_t)i], v[(size_t)(g() % (unsigned)(i + 1))]);
  return v;
}

// Random places, not in pairs; some unknowns have no neighbours at all.
inline Problem scattered(Int n, int per_row, unsigned seed, double diagonal = 8)
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
inline Problem saddle(Int n, Int constraints, bool stored)
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
inline PetscErrorCode assemble(const Problem &m, char kind, Mat *A)
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

inline PetscErrorCode set_random(Vec v, unsigned seed)
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
inline std::vector<Scalar> whole(Mat A, const Scalar *local)
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
inline Real backward_error(const Problem &m, bool transposed, const std::vector<Scalar> &x, std::vector<Scalar> b)
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

inline PetscErrorCode factor(Mat A, const char *prefix, FactorHandle &F)
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

inline void expect_factored(Mat F)
{
  MatFactorError error;
  ASSERT_OK(MatFactorGetError(F, &error));
  EXPECT_EQ((int)error, (int)MAT_FACTOR_NOERROR);
}

// Solves, transposed and with several right-hand sides, with the factors of m.
inline void expect_solves(const Problem &m, Mat A, Mat F, Real tolerance, Int nrhs = 5)
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

inline void expect_solved(const Problem &m, char kind, const char *prefix = "", Real tolerance = 1e4 * macheps, Int nrhs = 5)
{
  MatHandle    A;
  FactorHandle F;
  ASSERT_OK(assemble(m, kind, A.out()));
  ASSERT_OK(factor(A, prefix, F));
  expect_factored(F);
  expect_solves(m, A, F, tolerance, nrhs);
}

} // namespace conflux_aij_fixture

#endif
