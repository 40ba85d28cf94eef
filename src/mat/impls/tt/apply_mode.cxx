#include "mat/impls/tt/ghost.hpp"
#include "mat/impls/tt/impl.hpp"
#include "base/blas.hpp"

#include <algorithm>

namespace petsctt {

namespace {

// Y(:, i, :) := d_i X(:, i, :)
PetscErrorCode apply_diagonal(Mat M, Apply how, const Core &X, Core &Y)
{
  PetscFunctionBegin;
  Buffer d;
  PetscCallTT(d = Buffer((std::size_t)X.n));
  PetscCall(diagonal_of(M, X.n, d.data()));
  const Scalar *x = X.data();
  Scalar       *y = Y.data();
  for (Int b = 0; b < X.r1; b++)
    for (Int i = 0; i < X.n; i++, x += X.r0, y += X.r0) {
      const Scalar di = how == Apply::hermitian ? conj(d[(std::size_t)i]) : d[(std::size_t)i];
      for (Int a = 0; a < X.r0; a++) y[a] = di * x[a];
    }
  flops() += (is_complex ? 6.0 : 1.0) * (double)X.count();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void conjugate(Scalar *a, Count n)
{
  if (is_complex)
    for (Count p = 0; p < n; p++) a[p] = conj(a[p]);
}

// n x n matrix A on one process. Slab b of Y, r0 x n, is X_b A^T; for r0 = 1 all slabs are one product A X.
void dense_local(const Scalar *A, Count lda, Apply how, const Core &X, Core &Y)
{
  const Count n = X.n, r0 = X.r0, r1 = X.r1;
  if (r0 == 1) {
    const char t = how == Apply::plain ? 'N' : how == Apply::transpose ? 'T' : 'C';
    gemm(t, 'N', n, r1, n, 1, A, lda, X.data(), n, 0, Y.data(), n);
    return;
  }
  Core        copy;
  const Core *from = &X;
  if (how == Apply::hermitian && is_complex) { // X conj(A) = conj(conj(X) A)
    copy = X;
    conjugate(copy.data(), copy.count());
    from = &copy;
  }
  for (Count b = 0; b < r1; b++)
    gemm('N', how == Apply::plain ? 'T' : 'N', r0, n, n, 1, from->data() + r0 * n * b, r0, A, lda, 0, Y.data() + r0 * n * b, r0);
  if (how == Apply::hermitian) conjugate(Y.data(), Y.count());
}

// Rows of this process of an N x N matrix: A is n x N. The rows of X are w = r0 r1 contiguous entries in what is sent; plain: all rows
// of X come here (one allgather); transposed: contributions to all rows of Y are summed (one reduction of N w words) and
// each process keeps its own.
PetscErrorCode dense_distributed(MPI_Comm comm, const Scalar *A, Count lda, const PetscInt *ranges, Apply how, const Core &X, Core &Y)
{
  PetscMPIInt size, rank, n;
  Int         w;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  w             = X.r0 * X.r1;
  const Count N = ranges[size];
  Buffer      mine, all;
  PetscCallTT(mine = Buffer((std::size_t)((Count)w * X.n)); all = Buffer((std::size_t)(w * N)));
  for (Int i = 0; i < X.n; i++) gather_row(X, i, mine.data() + (Count)w * i);
  if (how == Apply::hermitian) conjugate(mine.data(), (Count)w * X.n);
  std::fill(Y.data(), Y.data() + Y.count(), Scalar(0));
  if (how == Apply::plain) {
    PetscMPIInt              width;
    MPI_Datatype             row;
    std::vector<PetscMPIInt> counts((std::size_t)size), starts((std::size_t)size);
    PetscCall(PetscMPIIntCast(w, &width));
    for (PetscMPIInt p = 0; p < size; p++) {
      PetscCall(PetscMPIIntCast(ranges[p], &starts[p]));
      PetscCall(PetscMPIIntCast(ranges[p + 1] - ranges[p], &counts[p]));
    }
    PetscCall(PetscMPIIntCast(X.n, &n));
    PetscCallMPI(MPI_Type_contiguous(width, MPIU_SCALAR, &row));
    PetscCallMPI(MPI_Type_commit(&row));
    PetscCallMPI(MPI_Allgatherv(mine.data(), n, row, all.data(), counts.data(), starts.data(), row, comm));
    PetscCallMPI(MPI_Type_free(&row));
    PetscCallTT(gemm('N', 'T', w, X.n, N, 1, all.data(), w, A, lda, 0, mine.data(), w));
    for (Int i = 0; i < X.n; i++) scatter_add_row(mine.data() + (Count)w * i, Y, i);
  } else {
    PetscCallTT(gemm('N', 'N', w, N, X.n, 1, mine.data(), w, A, lda, 0, all.data(), w); Comm(comm).sum(all.data(), w * N));
    if (how == Apply::hermitian) conjugate(all.data(), w * N);
    for (Int i = 0; i < Y.n; i++) scatter_add_row(all.data() + (Count)w * (ranges[rank] + i), Y, i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode apply_dense(Mat M, Apply how, const Core &X, Core &Y)
{
  const PetscScalar *a;
  const PetscInt    *ranges;
  PetscInt           lda;
  Mat                local;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLocalMatrix(M, &local));
  PetscCall(MatDenseGetLDA(local, &lda));
  PetscCall(MatDenseGetArrayRead(local, &a));
  if (is_type(M, MATMPIDENSE)) {
    PetscCall(MatGetOwnershipRanges(M, &ranges));
    PetscCall(dense_distributed(PetscObjectComm((PetscObject)M), a, std::max<PetscInt>(lda, 1), ranges, how, X, Y));
  } else PetscCallTT(dense_local(a, std::max<PetscInt>(lda, 1), how, X, Y));
  PetscCall(MatDenseRestoreArrayRead(local, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Column (a, b) of a core is n entries with stride r0.
void get_column(const Core &X, Int a, Int b, Scalar *x)
{
  for (Int i = 0; i < X.n; i++) x[i] = X(a, i, b);
}

void put_column(const Scalar *y, Int a, Int b, Core &Y)
{
  for (Int i = 0; i < Y.n; i++) Y(a, i, b) = y[i];
}

// Any matrix with MatMult(), column by column.
PetscErrorCode apply_columns(Mat M, Apply how, const Core &X, Core &Y)
{
  Vec                x, y;
  PetscScalar       *ax;
  const PetscScalar *ay;

  PetscFunctionBegin;
  if (how == Apply::plain) PetscCall(MatCreateVecs(M, &x, &y));
  else PetscCall(MatCreateVecs(M, &y, &x));
  for (Int b = 0; b < X.r1; b++)
    for (Int a = 0; a < X.r0; a++) {
      PetscCall(VecGetArrayWrite(x, &ax));
      get_column(X, a, b, ax);
      PetscCall(VecRestoreArrayWrite(x, &ax));
      if (how == Apply::plain) PetscCall(MatMult(M, x, y));
      else if (how == Apply::transpose) PetscCall(MatMultTranspose(M, x, y));
      else PetscCall(MatMultHermitianTranspose(M, x, y));
      PetscCall(VecGetArrayRead(y, &ay));
      put_column(ay, a, b, Y);
      PetscCall(VecRestoreArrayRead(y, &ay));
    }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A matrix whose type has products with dense matrices: all columns at once.
PetscErrorCode apply_block(Mat M, const Core &X, Core &Y)
{
  MatHandle          B, C;
  PetscScalar       *x;
  const PetscScalar *y;
  PetscInt           N, lda;
  const Int          w = X.r0 * X.r1;

  PetscFunctionBegin;
  PetscCall(MatGetSize(M, &N, NULL));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)M), X.n, PETSC_DECIDE, N, w, NULL, B.out()));
  PetscCall(MatDenseGetArrayWrite(B, &x));
  PetscCall(MatDenseGetLDA(B, &lda));
  for (Int c = 0; c < w; c++) get_column(X, c % X.r0, c / X.r0, x + (Count)lda * c);
  PetscCall(MatDenseRestoreArrayWrite(B, &x));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMatMult(M, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, C.out()));
  PetscCall(MatDenseGetLDA(C, &lda));
  PetscCall(MatDenseGetArrayRead(C, &y));
  for (Int c = 0; c < w; c++) put_column(y + (Count)lda * c, c % X.r0, c / X.r0, Y);
  PetscCall(MatDenseRestoreArrayRead(C, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_generic(Mat M, Apply how, const Core &X, Core &Y)
{
  PetscBool has_mult;

  PetscFunctionBegin;
  PetscCall(MatHasOperation(M, MATOP_MULT, &has_mult));
  const bool blocked = is_type(M, MATSEQBAIJ) || is_type(M, MATMPIBAIJ) || is_type(M, MATSEQSBAIJ) || is_type(M, MATMPISBAIJ);
  if (how == Apply::plain && ((blocked && X.r0 * X.r1 > 1) || !has_mult)) PetscCall(apply_block(M, X, Y));
  else PetscCall(apply_columns(M, how, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode apply_mode(Mat M, Apply how, const Core &X, Core &Y)
{
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCallTT(if (Y.r0 != X.r0 || Y.n != X.n || Y.r1 != X.r1) Y = Core(X.r0, X.n, X.r1));
  if (!M) {
    std::copy(X.data(), X.data() + X.count(), Y.data());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetLocalSize(M, &m, &n));
  PetscCheck(m == X.n && n == X.n, PETSC_COMM_SELF, PETSC_ERR_ARG_SIZ,
             "Matrix has %" PetscInt_FMT " local rows and %" PetscInt_FMT " local columns, but this process owns %" PetscInt_FMT " indices of the mode", m,
             n, (PetscInt)X.n);
  if (is_type(M, MATSEQAIJ) || is_type(M, MATMPIAIJ)) PetscCall(apply_aij(M, how, X, Y));
  else if (is_diagonal_type(M)) PetscCall(apply_diagonal(M, how, X, Y));
  else if (is_type(M, MATSEQDENSE) || is_type(M, MATMPIDENSE)) PetscCall(apply_dense(M, how, X, Y));
  else PetscCall(apply_generic(M, how, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
