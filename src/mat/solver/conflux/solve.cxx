// MatSolve(), MatMatSolve() and their transposed ones, of factors of dense and of sparse matrices: arrays for Common::solve().
#include "mat/solver/conflux/conflux.hpp"

#include <algorithm>
#include <limits>

namespace petsctt::conflux {

namespace {

PetscErrorCode check_ready(Mat F)
{
  PetscFunctionBegin;
  PetscCheck(common(F)->ready, PetscObjectComm((PetscObject)F), PETSC_ERR_ORDER, "There are no factors yet: the numeric factorisation comes before solves");
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <char op> PetscErrorCode solve(Mat F, Vec b, Vec x)
{
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           m, n;
  PetscLayout        map_b, map_x;

  PetscFunctionBegin;
  const StageScope stage(events().solves);
  PetscCall(check_ready(F));
  PetscCall(VecGetLayout(b, &map_b));
  PetscCall(VecGetLayout(x, &map_x));
  PetscCall(check_layouts(F, op, map_b, map_x));
  PetscCall(VecGetLocalSize(b, &m));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArrayWrite(x, &to));
  PetscCallTT(PetscThrowTT(common(F)->solve(F, op, 1, from, PetscMax(m, 1), to, PetscMax(n, 1))));
  PetscCall(VecRestoreArrayWrite(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// As MatSolve() does if there are no factors; PETSc leaves it to MatMatSolve() of the type. X: a dense matrix.
PetscErrorCode set_infinite(Mat X)
{
  PetscScalar *x;
  PetscInt     m, n, ld;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(X, &m, NULL));
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCall(MatDenseGetLDA(X, &ld));
  PetscCall(MatDenseGetArrayWrite(X, &x));
  for (PetscInt c = 0; c < n; ++c) std::fill_n(x + (Count)c * ld, m, Scalar(std::numeric_limits<Real>::infinity()));
  PetscCall(MatDenseRestoreArrayWrite(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// M itself if it is dense, or else a copy that is
PetscErrorCode as_dense(Mat M, MatHandle &copy, Mat *D)
{
  PetscBool dense;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)M, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) PetscCall(MatConvert(M, MATDENSE, MAT_INITIAL_MATRIX, copy.out()));
  *D = dense ? M : copy.get();
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <char op> PetscErrorCode matsolve(Mat F, Mat B, Mat X)
{
  MatHandle          copy_b, copy_x;
  Mat                b, x;
  const PetscScalar *from;
  PetscScalar       *to;
  PetscInt           ldb, ldx, k;

  PetscFunctionBegin;
  const StageScope stage(events().solves);
  PetscCall(check_ready(F));
  PetscCall(check_layouts(F, op, B->rmap, X->rmap));
  PetscCall(as_dense(X, copy_x, &x));
  if (F->factorerrortype) {
    PetscCall(PetscInfo(F, "MatFactorError %d\n", (int)F->factorerrortype));
    PetscCall(set_infinite(x));
    // KSPMatSolve() of KSPPREONLY repeats this by an operation that dense matrices do not have in PETSc 3.18, and would fail instead of saying why
    if (!x->ops->setinf) x->ops->setinf = set_infinite;
  } else {
    PetscCall(as_dense(B, copy_b, &b));
    PetscCall(MatGetSize(b, NULL, &k));
    PetscCall(MatDenseGetLDA(b, &ldb));
    PetscCall(MatDenseGetLDA(x, &ldx));
    PetscCall(MatDenseGetArrayRead(b, &from));
    PetscCall(MatDenseGetArrayWrite(x, &to));
    PetscCallTT(PetscThrowTT(common(F)->solve(F, op, k, from, ldb, to, ldx)));
    PetscCall(MatDenseRestoreArrayWrite(x, &to));
    PetscCall(MatDenseRestoreArrayRead(b, &from));
  }
  if (x != X) PetscCall(MatConvert(x, ((PetscObject)X)->type_name, MAT_REUSE_MATRIX, &X)); // MatCopy() between types is not safe in PETSc 3.18
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void set_solves(Mat F)
{
  F->ops->solve             = solve<'N'>;
  F->ops->solvetranspose    = solve<'T'>;
  F->ops->matsolve          = matsolve<'N'>;
  F->ops->matsolvetranspose = matsolve<'T'>;
}

} // namespace petsctt::conflux
