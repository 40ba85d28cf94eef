#ifndef PETSCTT_BASE_BLAS_HPP
#define PETSCTT_BASE_BLAS_HPP

#include "base/buffer.hpp"
#include "base/numbers.hpp"

// Column-major BLAS/LAPACK on raw arrays, with counts checked against the range of the BLAS integer. Flags are 'N', 'T', 'C';
// 'C' is a transpose for real scalars. Empty matrices are allowed everywhere. Flops are added to flops().
namespace petsctt {

// C := alpha op(A) op(B) + beta C; op(A) is m x k, op(B) k x n. beta = 0 never reads C.
void gemm(char ta, char tb, Count m, Count n, Count k, Scalar alpha, const Scalar *A, Count lda, const Scalar *B, Count ldb, Scalar beta,
          Scalar *C, Count ldc);

// Householder QR of A (m x n, lda): reflectors below the diagonal and tau (min(m,n) entries).
void geqrf(Count m, Count n, Scalar *A, Count lda, Scalar *tau);
// C (m x c, ldc) := Q C or Q^H C for the k = min reflectors stored in A (m x k, lda).
void ormqr(char trans, Count m, Count c, Count k, const Scalar *A, Count lda, const Scalar *tau, Scalar *C, Count ldc);
// Overwrites the first k columns of A (m x k) by the explicit Q.
void orgqr(Count m, Count k, Scalar *A, Count lda, const Scalar *tau);
// The same for A = L Q: reflectors right of the diagonal, rows. ormlq applies from the right: C (c x n) := C Q or C Q^H.
void gelqf(Count m, Count n, Scalar *A, Count lda, Scalar *tau);
void ormlq_right(char trans, Count c, Count n, Count k, const Scalar *A, Count lda, const Scalar *tau, Scalar *C, Count ldc);
void orglq(Count k, Count n, Scalar *A, Count lda, const Scalar *tau);

// Thin SVD A = U diag(s) V^H, A (m x n, lda) destroyed; U m x p, VT p x n, p = min(m,n), packed. Divide and conquer, with the QR
// iteration as a fall-back. Returns false when neither converged.
bool gesvd(Count m, Count n, Scalar *A, Count lda, Real *s, Scalar *U, Scalar *VT);

// B (m x n) := alpha op(A) B (side 'L') or B op(A) (side 'R') with triangular A.
void trmm(char side, char uplo, char trans, char diag, Count m, Count n, Scalar alpha, const Scalar *A, Count lda, Scalar *B, Count ldb);
void trsm(char side, char uplo, char trans, char diag, Count m, Count n, Scalar alpha, const Scalar *A, Count lda, Scalar *B, Count ldb);

// Upper triangle of C (n x n, ldc) := A^H A + beta C, A m x n (lda), beta real.
void gram(Count m, Count n, const Scalar *A, Count lda, Real beta, Scalar *C, Count ldc);

// The same of rows: upper triangle of C (n x n) := A A^H + beta C, A n x m.
void gram_rows(Count n, Count m, const Scalar *A, Count lda, Real beta, Scalar *C, Count ldc);

// Eigenvalues (ascending) and vectors (columns of A) of a Hermitian A (n x n, packed), of which the upper triangle is read. Returns false when
// the iteration did not converge.
bool eigen(Count n, Scalar *A, Real *lambda);

// Upper Cholesky factor of A (n x n, lda) in its upper triangle: A = U^H U. Returns 0, or the order of the first leading minor that is not
// positive.
Count potrf(Count n, Scalar *A, Count lda);

// L U = P A of A (m x n, lda) in place with partial pivoting; pivots[s] is the row (from 0) that row s was exchanged with, min(m,n) of them.
// Returns 0, or s + 1 for the first s with a pivot that is exactly zero; the factorisation is complete then, too.
Count getrf(Count m, Count n, Scalar *A, Count lda, int *pivots);

// Euclidean norm without overflow; scaling by a plain number.
Real nrm2(Count n, const Scalar *x);
void scal(Count n, Scalar alpha, Scalar *x);

// Floating-point operations of this process since the start (real ones: a complex multiply-add counts 8).
double &flops();

} // namespace petsctt

#endif
