#include "mat/impls/tt/impl.hpp"

#include <algorithm>

namespace petsctt {

PetscErrorCode require_modes(Mat A)
{
  PetscFunctionBegin;
  PetscCall(require_mattt(A, "the matrix"));
  PetscCheck(data_of(A).space, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The modes of the MATTT are not set: call MatTTSetModes(), use -mat_tt_modes or load it from a file");
  PetscFunctionReturn(PETSC_SUCCESS);
}

MPI_Comm mode_comm(const Space &space, Int k)
{
  return space.replicated(k) ? PETSC_COMM_SELF : space.comm().mpi();
}

PetscBool is_type(Mat M, const char *base)
{
  PetscBool yes = PETSC_FALSE;
  return PetscObjectBaseTypeCompare((PetscObject)M, base, &yes) ? PETSC_FALSE : yes;
}

PetscBool is_diagonal_type(Mat M)
{
  PetscBool yes = PETSC_FALSE;
  return PetscObjectTypeCompareAny((PetscObject)M, &yes, "diagonal", "constantdiagonal", "") ? PETSC_FALSE : yes;
}

PetscErrorCode diagonal_of(Mat M, Int n, Scalar *diagonal)
{
  Vec                v;
  const PetscScalar *a;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(M, NULL, &v));
  PetscCall(MatGetDiagonal(M, v));
  PetscCall(VecGetLocalSize(v, &m));
  PetscCheck(m == n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Diagonal has local size %" PetscInt_FMT " instead of %" PetscInt_FMT, m, n);
  PetscCall(VecGetArrayRead(v, &a));
  std::copy(a, a + n, diagonal);
  PetscCall(VecRestoreArrayRead(v, &a));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode diagonal_as_aij(Mat M, Mat *out)
{
  PetscInt n, N, start, end;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(M, &n, NULL));
  PetscCall(MatGetSize(M, &N, NULL));
  PetscCall(MatGetOwnershipRange(M, &start, &end));
  std::vector<Scalar>   d((std::size_t)n);
  std::vector<PetscInt> ia((std::size_t)n + 1), ja((std::size_t)n);
  PetscCall(diagonal_of(M, n, d.data()));
  for (PetscInt i = 0; i < n; i++) ia[i + 1] = i + 1, ja[i] = start + i;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)M), out));
  PetscCall(MatSetSizes(*out, n, n, N, N));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*out, ia.data(), ja.data(), d.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*out, ia.data(), ja.data(), d.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode as_aij(Mat M, Mat *out)
{
  constexpr PetscInt limit = 20000; // rows of a matrix known by its action only: that many products

  PetscFunctionBegin;
  if (is_type(M, MATSEQAIJ) || is_type(M, MATMPIAIJ)) {
    PetscCall(PetscObjectReference((PetscObject)M));
    *out = M;
  } else if (is_diagonal_type(M)) PetscCall(diagonal_as_aij(M, out));
  else if (is_type(M, MATSEQDENSE) || is_type(M, MATMPIDENSE) || is_type(M, MATSEQBAIJ) || is_type(M, MATMPIBAIJ) || is_type(M, MATSEQSBAIJ) ||
           is_type(M, MATMPISBAIJ))
    PetscCall(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, out));
  else {
    PetscInt N;
    PetscCall(MatGetSize(M, &N, NULL));
    PetscCheck(N <= limit, PetscObjectComm((PetscObject)M), PETSC_ERR_SUP,
               "The entries of a factor of type %s with %" PetscInt_FMT " rows are needed; above %" PetscInt_FMT
               " rows this needs a factor of type aij, baij, dense or diagonal",
               ((PetscObject)M)->type_name, N, limit);
    PetscCall(MatComputeOperator(M, MATAIJ, out));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode as_redundant_aij(Mat M, Mat *out)
{
  PetscMPIInt size;
  Mat         B;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)M), &size));
  PetscCall(as_aij(M, &B));
  if (size == 1) *out = B;
  else {
    PetscCall(MatCreateRedundantMatrix(B, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, out));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
