#ifndef PETSCTT_TESTS_UNIT_PC_FIXTURE_HPP
#define PETSCTT_TESTS_UNIT_PC_FIXTURE_HPP

// What the tests of PCTTKRON share: small matrices given by a formula, as PETSc matrices of a mode and as functions for the oracle.
#include "dense.hpp"
#include "petsctt.h"
#include "sys/compat.hpp"
#include "sys/handle.hpp"
#include "vec/vectt.hpp"

#include <functional>
#include <petsc/private/petscimpl.h>

namespace petsctt {
namespace test {

using Formula  = std::function<Scalar(Int, Int)>;
using PCHandle = Handle<PC, PCDestroy>;

#define ASSERT_OK(...) ASSERT_EQ((int)(__VA_ARGS__), 0)
#define EXPECT_OK(...) EXPECT_EQ((int)(__VA_ARGS__), 0)

// Calls of PETSc in the scope return their errors without printing them; what() is the message of the first one.
class QuietErrors {
public:
  QuietErrors()
  {
    text().clear();
    PetscPushErrorHandler(keep, nullptr);
  }
  ~QuietErrors() { PetscPopErrorHandler(); }
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

// A non-symmetric, well conditioned matrix that depends on `seed`, full in the band |i - j| <= 2.
inline Formula banded(int seed)
{
  return [seed](Int i, Int j) -> Scalar {
    if (std::abs((double)(i - j)) > 2) return 0;
    const Real re = i == j ? 5 + 0.3 * std::sin((Real)(i + seed)) : 0.7 * std::cos((Real)(3 * i + 5 * j + seed)) - 0.4;
#if defined(PETSC_USE_COMPLEX)
    return Scalar(re, 0.5 * std::sin((Real)(2 * i - j + 7 * seed)));
#else
    return re;
#endif
  };
}

// Stiffness matrix of -u'' with unit mesh width.
inline Formula laplace()
{
  return [](Int i, Int j) { return Scalar(i == j ? 2 : (std::abs((double)(i - j)) == 1 ? -1 : 0)); };
}
inline Formula diagonal(std::function<Scalar(Int)> f)
{
  return [f](Int i, Int j) { return i == j ? f(i) : Scalar(0); };
}

// The AIJ matrix of a formula, laid out as mode k of the space; sequential for a replicated mode. Zeros are not stored.
inline PetscErrorCode mode_matrix(const Space &space, Int k, const Formula &f, Mat *M)
{
  const Int  N = space.N(k), n = space.n(k), start = space.start(k);
  const bool local = space.replicated(k);

  PetscFunctionBegin;
  PetscCall(MatCreate(local ? PETSC_COMM_SELF : PETSC_COMM_WORLD, M));
  PetscCall(MatSetSizes(*M, n, n, N, N));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*M, N, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*M, n, NULL, N, NULL));
  for (Int i = start; i < start + n; i++)
    for (Int j = 0; j < N; j++)
      if (f(i, j) != Scalar(0)) PetscCall(MatSetValue(*M, i, j, f(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y(.., i, ..) = sum_j f(i,j) x(.., j, ..) on mode k, or with f transposed.
inline Dense apply_formula(const Dense &x, Int k, const Formula &f, bool transpose = false)
{
  Dense       y(x.N);
  std::size_t stride = 1;
  for (Int j = 0; j < k; j++) stride *= (std::size_t)x.N[j];
  for (std::size_t l = 0; l < x.a.size(); l++) {
    const Int i = x.multi(l)[k];
    for (Int j = 0; j < x.N[k]; j++) y.a[l] += (transpose ? f(j, i) : f(i, j)) * x.a[l + stride * (std::size_t)j - stride * (std::size_t)i];
  }
  return y;
}

inline Dense scaled(Scalar c, Dense x)
{
  for (Scalar &v : x.a) v *= c;
  return x;
}

// A MATTT over the space; terms are lists of formulas, an empty one being the identity.
struct FormulaTerm {
  Scalar               c;
  std::vector<Formula> factors;
};
inline PetscErrorCode make_operator(const SpacePtr &space, const std::vector<FormulaTerm> &terms, Mat *A)
{
  std::vector<PetscInt> n, N;

  PetscFunctionBegin;
  for (Int k = 0; k < space->d(); k++) {
    n.push_back(space->replicated(k) ? PETSC_TT_REPLICATED : space->n(k));
    N.push_back(space->N(k));
  }
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, space->d(), n.data(), N.data(), A));
  for (const FormulaTerm &term : terms) {
    std::vector<Mat> mats((std::size_t)space->d(), nullptr);
    for (Int k = 0; k < space->d(); k++)
      if (term.factors[k]) PetscCall(mode_matrix(*space, k, term.factors[k], &mats[k]));
    PetscCall(MatTTAddTerm(*A, term.c, mats.data()));
    for (Mat &M : mats) PetscCall(MatDestroy(&M));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}
inline Dense apply_terms(const Dense &x, const std::vector<FormulaTerm> &terms)
{
  Dense sum(x.N);
  for (const FormulaTerm &term : terms) {
    Dense t = scaled(term.c, x);
    for (std::size_t k = 0; k < term.factors.size(); k++)
      if (term.factors[k]) t = apply_formula(t, (Int)k, term.factors[k]);
    sum = combine(1, sum, 1, t);
  }
  return sum;
}

// A random vector of the given inner TT ranks.
inline PetscErrorCode random_vec(const SpacePtr &space, const std::vector<Int> &ranks, std::uint64_t seed, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(create_vec(space, nullptr, v));
  PetscCall(set_train(*v, random_train(space, ranks, seed)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Options for the length of a scope.
class Options {
public:
  explicit Options(const std::vector<std::string> &pairs)
  {
    for (const std::string &pair : pairs) {
      const auto blank = pair.find(' ');
      names_.push_back(pair.substr(0, blank));
      PetscOptionsSetValue(NULL, names_.back().c_str(), blank == std::string::npos ? NULL : pair.substr(blank + 1).c_str());
    }
  }
  ~Options()
  {
    for (const std::string &name : names_) PetscOptionsClearValue(NULL, name.c_str());
  }
  // The first of them that nobody has asked for; "" if all are used.
  std::string unused() const
  {
    for (const std::string &name : names_) {
      PetscBool used;
      PetscOptionsUsed(NULL, name.c_str() + 1, &used); // without the dash
      if (!used) return name;
    }
    return "";
  }

private:
  std::vector<std::string> names_;
};

} // namespace test
} // namespace petsctt

#endif
