#ifndef PETSCTT_TESTS_UNIT_TEST_MAT_FIXTURE_HPP
#define PETSCTT_TESTS_UNIT_TEST_MAT_FIXTURE_HPP

// What the tests of MATTT share: factors of many types given by a formula that every process can evaluate, operators applied to full arrays.
#include "petscttmat.h"
#include "mat/mattt.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "tt/ops/fill.hpp"
#include "tt/ops/full.hpp"
#include "vec/vectt.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <petsc/private/petscimpl.h>
#include <string>
#include <vector>

namespace petsctt {
namespace test_mat {

#define MAT_OK(...) \
  do { \
    const int mat_ok_ = (int)(__VA_ARGS__); \
    ASSERT_EQ(mat_ok_, 0); \
  } while (0)

using Formula = std::function<Scalar(Int, Int)>;

inline Scalar number(Real re, Real im)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(re, im);
#else
  return re + 0 * im;
#endif
}

// Not symmetric, with entries off the diagonal that reach far (so that every process has ghosts).
inline Formula general(int seed, Int N)
{
  return [=](Int i, Int j) -> Scalar {
    const bool there = i == j || std::abs((double)(i - j)) == 1 || (i * 7 + 3) % N == j || (i + seed) % 5 == 0;
    return there ? number(std::cos(1.3 * i - 0.7 * j + seed) + (i == j ? 3 : 0), std::sin(0.9 * i * j + seed)) : Scalar(0);
  };
}
inline Formula symmetric(int seed)
{
  return [=](Int i, Int j) { return std::abs((double)(i - j)) <= 2 ? number(1.0 / (1 + i + j) + (i == j ? 2 + seed : 0), 0.1 * (i + j)) : Scalar(0); };
}
inline Formula diagonal(int seed)
{
  return [=](Int i, Int j) { return i == j ? number(1 + std::sin((Real)(i + seed)), 0.3 * i) : Scalar(0); };
}
inline Formula second_difference()
{
  return [](Int i, Int j) { return Scalar(i == j ? 2 : std::abs((double)(i - j)) == 1 ? -1 : 0); };
}
inline Formula central_difference()
{
  return [](Int i, Int j) { return Scalar(j == i + 1 ? 0.5 : j == i - 1 ? -0.5 : 0); };
}
inline Formula unit()
{
  return [](Int i, Int j) { return Scalar(i == j ? 1 : 0); };
}

// AIJ matrix of a formula on `comm` with n local rows. Rows without entries stay empty.
inline PetscErrorCode make_aij(MPI_Comm comm, Int n, Int N, const Formula &f, Mat *M)
{
  PetscInt start, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, M));
  PetscCall(MatSetSizes(*M, n, n, N, N));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSetUp(*M));
  PetscCall(MatSetOption(*M, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*M, &start, &end));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = 0; j < N; j++)
      if (f(i, j) != Scalar(0)) PetscCall(MatSetValue(*M, i, j, f(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode shell_mult(Mat S, Vec x, Vec y)
{
  Mat M;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &M));
  PetscCall(MatMult(M, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode shell_mult_transpose(Mat S, Vec x, Vec y)
{
  Mat M;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &M));
  PetscCall(MatMultTranspose(M, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode shell_destroy(Mat S)
{
  Mat M;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &M));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The matrix of a formula in type "aij", "dense", "baij", "sbaij", "shell", "diagonal", "constantdiagonal".
inline PetscErrorCode make_factor(MPI_Comm comm, Int n, Int N, const std::string &type, const Formula &f, Mat *M)
{
  MatHandle A;

  PetscFunctionBegin;
  PetscCall(make_aij(comm, n, N, f, A.out()));
  if (type == "aij") *M = A.release();
  else if (type == "shell") {
    PetscCall(MatCreateShell(comm, n, n, N, N, A.get(), M));
    PetscCall(MatShellSetOperation(*M, MATOP_MULT, (void (*)(void))shell_mult));
    PetscCall(MatShellSetOperation(*M, MATOP_MULT_TRANSPOSE, (void (*)(void))shell_mult_transpose));
    PetscCall(MatShellSetOperation(*M, MATOP_DESTROY, (void (*)(void))shell_destroy));
    (void)A.release();
  } else if (type == "diagonal") {
#if defined(MATDIAGONAL)
    Vec d;
    PetscCall(MatCreateVecs(A, &d, NULL));
    PetscCall(MatGetDiagonal(A, d));
    PetscCall(MatCreateDiagonal(d, M));
    PetscCall(VecDestroy(&d));
#else
    *M = A.release(); // no such type yet
#endif
  } else if (type == "constantdiagonal") PetscCall(MatCreateConstantDiagonal(comm, n, n, N, N, f(0, 0), M));
  else {
    if (type == "sbaij") PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatConvert(A, type.c_str(), MAT_INITIAL_MATRIX, M));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A factor of mode k of a space; sequential for a replicated mode.
inline PetscErrorCode make_factor(const Space &space, Int k, const std::string &type, const Formula &f, Mat *M)
{
  PetscFunctionBegin;
  PetscCall(make_factor(space.replicated(k) ? PETSC_COMM_SELF : PETSC_COMM_WORLD, space.n(k), space.N(k), type, f, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Dense Kronecker oracle: y += c (f_0 x f_1 x ...) x, first mode fastest; an empty function stands for the identity.
inline std::vector<Scalar> kron_times(const std::vector<Int> &N, Scalar c, const std::vector<Formula> &f, std::vector<Scalar> x, Apply how)
{
  std::size_t stride = 1;
  for (std::size_t k = 0; k < N.size(); k++) {
    if (f[k]) {
      std::vector<Scalar> y(x.size(), 0);
      for (std::size_t p = 0; p < x.size(); p++) {
        const Int i = (Int)(p / stride % (std::size_t)N[k]);
        for (Int j = 0; j < N[k]; j++) {
          const Scalar a = how == Apply::plain ? f[k](i, j) : how == Apply::transpose ? f[k](j, i) : conj(f[k](j, i));
          if (a != Scalar(0)) y[p] += a * x[p + stride * (std::size_t)j - stride * (std::size_t)i];
        }
      }
      x.swap(y);
    }
    stride *= (std::size_t)N[k];
  }
  for (Scalar &v : x) v *= how == Apply::hermitian ? conj(c) : c;
  return x;
}

inline std::vector<Scalar> full_of(const Train &x)
{
  const Buffer b = to_full(x);
  return std::vector<Scalar>(b.data(), b.data() + b.size());
}

inline std::vector<Scalar> full_of(Vec x)
{
  return full_of(train_of(x));
}

inline Real norm_of(const std::vector<Scalar> &a)
{
  Real s = 0;
  for (Scalar v : a) s += abs2(v);
  return std::sqrt(s);
}

// ||a - b|| / ||b||
inline Real distance(const std::vector<Scalar> &a, const std::vector<Scalar> &b)
{
  if (a.size() != b.size()) return 1e300;
  std::vector<Scalar> d(a.size());
  for (std::size_t p = 0; p < a.size(); p++) d[p] = a[p] - b[p];
  const Real n = norm_of(b);
  return norm_of(d) / (n > 0 ? n : 1);
}

inline std::vector<Scalar> sum(std::vector<Scalar> a, const std::vector<Scalar> &b)
{
  for (std::size_t p = 0; p < a.size(); p++) a[p] += b[p];
  return a;
}

// Calls of PETSc in the scope return their errors without printing them; text() is the message of the first one.
class Quiet {
public:
  Quiet()
  {
    text().clear();
    PetscPushErrorHandler(keep, nullptr);
  }
  ~Quiet() { PetscPopErrorHandler(); }
  static std::string &text()
  {
    static std::string t;
    return t;
  }

private:
  static PetscErrorCode keep(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *message, void *)
  {
    if (type == PETSC_ERROR_INITIAL && message) text() = message;
    return code;
  }
};

// A random vector of given TT ranks over the space of A.
inline PetscErrorCode random_vec(Mat A, std::vector<Int> ranks, std::uint64_t seed, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(create_vec(space_of(A), nullptr, v));
  PetscCallTT({
    Train x = random_train(space_of(A), std::move(ranks), seed);
    PetscCall(set_train(*v, std::move(x)));
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline std::vector<PetscInt> block_ranks(Mat A)
{
  const PetscInt *S;
  PetscInt        d;
  if (MatTTGetModes(A, &d, NULL) || MatTTGetBlockRanks(A, &S)) return {};
  return std::vector<PetscInt>(S, S + d + 1);
}

} // namespace test_mat
} // namespace petsctt

#endif
