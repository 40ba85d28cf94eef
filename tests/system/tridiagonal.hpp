#ifndef PETSCTT_TESTS_SYSTEM_TRIDIAGONAL_HPP
#define PETSCTT_TESTS_SYSTEM_TRIDIAGONAL_HPP

#include <petsctt.h>

#include <functional>

// A tridiagonal matrix, diagonal(i) in row i, laid out as mode k of `like`; of a replicated mode every process has its own. Zeros beside the diagonal are left out.
inline PetscErrorCode tridiagonal(Vec like, PetscInt k, const std::function<PetscScalar(PetscInt)> &diagonal, PetscScalar lower, PetscScalar upper, Mat *M)
{
  Vec      v;
  PetscInt n, N, begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTCreateModeVec(like, k, &v));
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetSize(v, &N));
  PetscCall(MatCreateAIJ(PetscObjectComm((PetscObject)v), n, n, N, N, 3, NULL, 2, NULL, M));
  PetscCall(MatGetOwnershipRange(*M, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall(MatSetValue(*M, i, i, diagonal(i), INSERT_VALUES));
    if (lower != 0.0 && i > 0) PetscCall(MatSetValue(*M, i, i - 1, lower, INSERT_VALUES));
    if (upper != 0.0 && i < N - 1) PetscCall(MatSetValue(*M, i, i + 1, upper, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

#endif
