// Linear combinations of the columns.
#include "eps/impls/bvtt/bvtt.hpp"
#include "sys/guard.hpp"

#include <numeric>

namespace petsctt {

PetscErrorCode bvtt_combine(BV bv, PetscInt n, Vec y[], PetscScalar beta, PetscInt m, const PetscScalar C[], PetscInt ldc, const Vec x[])
{
  PetscReal rtol;

  PetscFunctionBegin;
  PetscCall(VecTTGetRoundRtol(data_of(bv).master, &rtol)); // that of y may be another one: y can be anybody's vector
  PetscCall(VecTTCombine(n, y, beta, m, C, ldc, x, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Y := beta Y + alpha X Q, active columns of X and Y, rows X->l.. and columns Y->l.. of Q.
PetscErrorCode BVMult_TT(BV Y, PetscScalar alpha, PetscScalar beta, BV X, Mat Q)
{
  const PetscInt           m = X->k - X->l, n = Y->k - Y->l;
  const PetscScalar       *q;
  PetscInt                 ldq;
  std::vector<PetscScalar> C;

  PetscFunctionBegin;
  if (!Q) {
    for (PetscInt j = 0; j < n; j++) PetscCall(bvtt_combine(Y, 1, columns_of(Y) + Y->l + j, beta, 1, &alpha, 1, columns_of(X) + X->l + j));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallTT(C.resize((std::size_t)m * n));
  PetscCall(MatDenseGetLDA(Q, &ldq));
  PetscCall(MatDenseGetArrayRead(Q, &q));
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++) C[i + (std::size_t)m * j] = alpha * q[X->l + i + (std::size_t)ldq * (Y->l + j)];
  PetscCall(MatDenseRestoreArrayRead(Q, &q));
  PetscCall(bvtt_combine(Y, n, columns_of(Y) + Y->l, beta, m, C.data(), PetscMax(m, 1), columns_of(X) + X->l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// y := beta y + alpha X q; the coefficients are those of the buffer when q is null.
PetscErrorCode BVMultVec_TT(BV X, PetscScalar alpha, PetscScalar beta, Vec y, PetscScalar *q)
{
  const PetscInt           m = X->k - X->l;
  const PetscScalar       *buffer;
  std::vector<PetscScalar> c;

  PetscFunctionBegin;
  PetscCallTT(c.assign(m, 0));
  if (q) std::copy(q, q + m, c.begin());
  else {
    PetscCall(VecGetArrayRead(X->buffer, &buffer));
    std::copy(buffer, buffer + m, c.begin());
    PetscCall(VecRestoreArrayRead(X->buffer, &buffer));
  }
  for (PetscScalar &a : c) a *= alpha;
  PetscCall(bvtt_combine(X, 1, &y, beta, m, c.data(), PetscMax(m, 1), columns_of(X) + X->l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// V(:, s:e-1) := V(:, l:k-1) op(Q)(l:k-1, s:e-1)
PetscErrorCode in_place(BV V, Mat Q, PetscInt s, PetscInt e, bool hermitian)
{
  const PetscInt           m = V->k - V->l, n = e - s;
  const PetscScalar       *q;
  PetscInt                 ldq;
  std::vector<PetscScalar> C;

  PetscFunctionBegin;
  if (n <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallTT(C.resize((std::size_t)m * n));
  PetscCall(MatDenseGetLDA(Q, &ldq));
  PetscCall(MatDenseGetArrayRead(Q, &q));
  for (PetscInt j = 0; j < n; j++)
    for (PetscInt i = 0; i < m; i++)
      C[i + (std::size_t)m * j] = hermitian ? PetscConj(q[s + j + (std::size_t)ldq * (V->l + i)]) : q[V->l + i + (std::size_t)ldq * (s + j)];
  PetscCall(MatDenseRestoreArrayRead(Q, &q));
  PetscCall(bvtt_combine(V, n, columns_of(V) + s, 0, m, C.data(), PetscMax(m, 1), columns_of(V) + V->l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode BVMultInPlace_TT(BV V, Mat Q, PetscInt s, PetscInt e)
{
  return in_place(V, Q, s, e, false);
}

PetscErrorCode BVMultInPlaceTranspose_TT(BV V, Mat Q, PetscInt s, PetscInt e)
{
  return in_place(V, Q, s, e, true);
}

} // namespace petsctt
