#ifndef PETSCTT_MAT_IMPLS_TT_CSR_HPP
#define PETSCTT_MAT_IMPLS_TT_CSR_HPP

#include "base/numbers.hpp"

// Sparse rows times blocks of columns: the kernels of the AIJ fast path. Local, no PETSc objects.
namespace petsctt {

// Row i has entries va[p] in columns ja[p], ia[i] <= p < ia[i+1].
struct Csr {
  Int           rows;
  const Int    *ia, *ja;
  const Scalar *va;
};

// Y(i, 0..w-1) := sum over j of a_ij X(j, 0..w-1) for all rows i; row j of X starts at X + j*ldx and is contiguous, Y likewise.
// With `conjugated` conj(a_ij) instead. Cost 2 w nnz flops; the matrix is read ceil(w/16) times (8 for complex scalars).
void csr_times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy, Int w);

// Y(j, 0..w-1) += sum over i of a_ij X(i, 0..w-1): the transposed matrix.
void csr_transposed_times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy, Int w);

// y(0..w-1) += a x(0..w-1)
void add_row(Scalar a, bool conjugated, const Scalar *x, Scalar *y, Count w);

} // namespace petsctt

#endif
