#ifndef PETSCTT_TESTS_SYSTEM_EPS_CHECK_HPP
#define PETSCTT_TESTS_SYSTEM_EPS_CHECK_HPP

// What the programs in this folder share: a small operator with known eigenvalues.
#include <petsctt.h>
#include <petsctteps.h>

#include "../tridiagonal.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// sum_k (1 + k/4) tridiag(-1 - c, 2, -1 + c): its eigenvalues are sums of (1 + k/4) (2 - 2 sqrt(1 - c^2) cos(j pi/(n+1))), and it is symmetric for
// c = 0. The middle mode is distributed. identity: the same modes, s times the identity.
inline PetscErrorCode SmallOperator(const std::vector<PetscInt> &N, PetscReal c, Mat *A)
{
  const PetscInt        d = (PetscInt)N.size();
  std::vector<PetscInt> kinds(N.size(), PETSC_TT_REPLICATED);
  std::vector<Mat>      factors(N.size(), (Mat)NULL);
  Vec                   x;

  PetscFunctionBegin;
  if (d > 1) kinds[1] = PETSC_TT_DISTRIBUTED;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, kinds.data(), N.data(), A));
  PetscCall(MatCreateVecs(*A, &x, NULL));
  for (PetscInt k = 0; k < d; k++) {
    const PetscReal f = 1 + 0.25 * (PetscReal)k;
    PetscCall(tridiagonal(x, k, [f](PetscInt) { return PetscScalar(f * 2); }, f * (-1 - c), f * (-1 + c), &factors[k]));
    PetscCall(MatTTAddTerm(*A, 1, factors.data()));
    PetscCall(MatDestroy(&factors[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

inline std::vector<PetscReal> SmallEigenvalues(const std::vector<PetscInt> &N, PetscReal c)
{
  std::vector<PetscReal> all(1, 0);
  for (size_t k = 0; k < N.size(); k++) {
    std::vector<PetscReal> next;
    for (PetscReal a : all)
      for (PetscInt j = 1; j <= N[k]; j++) next.push_back(a + (1 + 0.25 * (PetscReal)k) * (2 - 2 * std::sqrt(1 - c * c) * std::cos((PetscReal)j * PETSC_PI / (PetscReal)(N[k] + 1))));
    all = next;
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A failed check ends the program on all processes.
#define CHECK(condition, ...) PetscCheck(condition, PETSC_COMM_WORLD, PETSC_ERR_PLIB, __VA_ARGS__)

// Runs the call with PETSc's messages off; returns its code.
static std::string last_message;
inline PetscErrorCode RememberError(MPI_Comm, int, const char *, const char *, PetscErrorCode n, PetscErrorType p, const char *message, void *)
{
  if (p == PETSC_ERROR_INITIAL) last_message = message ? message : "";
  return n;
}
template <class F> int Quietly(F f)
{
  last_message.clear();
  if (PetscPushErrorHandler(RememberError, NULL)) return -1;
  const int code = (int)f();
  if (PetscPopErrorHandler()) return -1;
  return code;
}

#endif
