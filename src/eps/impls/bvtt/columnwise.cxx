// Operations column by column.
#include "eps/impls/bvtt/bvtt.hpp"

#include <slepcvec.h>

namespace petsctt {

namespace {

// M(i,j) := y_i^H x_j
PetscErrorCode BVDot_TT(BV X, BV Y, Mat M)
{
  PetscScalar *m;
  PetscInt     ldm;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(M, &ldm));
  PetscCall(MatDenseGetArray(M, &m));
  if (Y->k > Y->l)
    for (PetscInt j = X->l; j < X->k; j++) PetscCall(VecMDot(columns_of(X)[j], Y->k - Y->l, columns_of(Y) + Y->l, m + (std::size_t)ldm * j + Y->l));
  PetscCall(MatDenseRestoreArray(M, &m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The vector that meets the columns in an inner product: y, or B y.
PetscErrorCode other_side(BV X, Vec y, Vec *z)
{
  PetscFunctionBegin;
  *z = y;
  if (X->matrix) {
    PetscCall(BV_IPMatMult(X, y));
    *z = X->Bx;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVDotVec_TT(BV X, Vec y, PetscScalar *q)
{
  PetscScalar *to = q;
  Vec          z;

  PetscFunctionBegin;
  PetscCall(other_side(X, y, &z));
  if (!q) PetscCall(VecGetArray(X->buffer, &to));
  if (X->k > X->l) PetscCall(VecMDot(z, X->k - X->l, columns_of(X) + X->l, to));
  if (!q) PetscCall(VecRestoreArray(X->buffer, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVDotVecBegin_TT(BV X, Vec y, PetscScalar *q)
{
  Vec z;

  PetscFunctionBegin;
  PetscCall(other_side(X, y, &z));
  PetscCall(VecMDotBegin(z, X->k - X->l, columns_of(X) + X->l, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVDotVecEnd_TT(BV X, Vec y, PetscScalar *q)
{
  PetscFunctionBegin;
  PetscCall(VecMDotEnd(X->matrix ? X->Bx : y, X->k - X->l, columns_of(X) + X->l, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVScale_TT(BV bv, PetscInt j, PetscScalar alpha)
{
  PetscFunctionBegin;
  if (j >= 0) PetscCall(VecScale(columns_of(bv)[j], alpha));
  for (PetscInt i = bv->l; i < bv->k && j < 0; i++) PetscCall(VecScale(columns_of(bv)[i], alpha));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVNorm_TT(BV bv, PetscInt j, NormType type, PetscReal *value)
{
  PetscReal norm;

  PetscFunctionBegin;
  if (j >= 0) {
    PetscCall(VecNorm(columns_of(bv)[j], type, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(type == NORM_FROBENIUS, PetscObjectComm((PetscObject)bv), PETSC_ERR_SUP, "BV of type " BVTT ": the %s of all columns together is not there, only the Frobenius norm",
             NormTypes[type]);
  *value = 0;
  for (PetscInt i = bv->l; i < bv->k; i++) {
    PetscCall(VecNorm(columns_of(bv)[i], NORM_2, &norm));
    *value = SlepcAbs(*value, norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVNormBegin_TT(BV bv, PetscInt j, NormType type, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCheck(j >= 0, PetscObjectComm((PetscObject)bv), PETSC_ERR_SUP, "BV of type " BVTT ": split-phase norms are those of one column");
  PetscCall(VecNormBegin(columns_of(bv)[j], type, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVNormEnd_TT(BV bv, PetscInt j, NormType type, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(VecNormEnd(columns_of(bv)[j], type, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// eigi[i] != 0, real scalars: columns i and i+1 are the real and the imaginary part of one vector.
PetscErrorCode BVNormalize_TT(BV bv, PetscScalar *eigi)
{
  PetscFunctionBegin;
  for (PetscInt i = bv->l; i < bv->k; i++) {
    Vec *v = columns_of(bv) + i;
    if (!PetscDefined(USE_COMPLEX) && eigi && eigi[i] != PetscScalar(0)) {
      PetscCall(VecNormalizeComplex(v[0], v[1], PETSC_TRUE, NULL));
      i++;
    } else PetscCall(VecNormalize(v[0], NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVMatMult_TT(BV V, Mat A, BV W)
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < V->k - V->l; j++) PetscCall(MatMult(A, columns_of(V)[V->l + j], columns_of(W)[W->l + j]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVCopy_TT(BV V, BV W)
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < V->k - V->l; j++) PetscCall(VecCopy(columns_of(V)[V->l + j], columns_of(W)[W->l + j]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVCopyColumn_TT(BV V, PetscInt j, PetscInt i)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(columns_of(V)[j], columns_of(V)[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVGetColumn_TT(BV bv, PetscInt j, Vec *)
{
  PetscFunctionBegin;
  bv->cv[BVAvailableVec] = columns_of(bv)[j];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVRestoreColumn_TT(BV bv, PetscInt j, Vec *)
{
  PetscFunctionBegin;
  bv->cv[j == bv->ci[0] ? 0 : 1] = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode no_arrays(BV bv)
{
  SETERRQ(PetscObjectComm((PetscObject)bv), PETSC_ERR_SUP,
          "The columns of a BV of type " BVTT " are tensor trains and have no array of entries; of the block orthogonalisations gs, chol and svqb work without "
          "(-bv_orthog_block), of the eigensolvers krylovschur, arnoldi, lanczos, subspace, gd, jd, rqcg and power");
}

PetscErrorCode BVGetArray_TT(BV bv, PetscScalar **)
{
  return no_arrays(bv);
}

PetscErrorCode BVGetArrayRead_TT(BV bv, const PetscScalar **)
{
  return no_arrays(bv);
}

PetscErrorCode BVGetMat_TT(BV bv, Mat *)
{
  return no_arrays(bv);
}

PetscErrorCode BVView_TT(BV bv, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (ascii) {
    PetscReal rtol;
    PetscCall(VecTTGetRoundRtol(data_of(bv).master, &rtol));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  linear combinations rounded to %g of what is added up\n", (double)rtol));
    if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < bv->m; j++) PetscCall(VecView(columns_of(bv)[j], viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void bvtt_set_columnwise_ops(BVOps ops)
{
  ops->dot           = BVDot_TT;
  ops->dotvec        = BVDotVec_TT;
  ops->dotvec_begin  = BVDotVecBegin_TT;
  ops->dotvec_end    = BVDotVecEnd_TT;
  ops->scale         = BVScale_TT;
  ops->norm          = BVNorm_TT;
  ops->norm_begin    = BVNormBegin_TT;
  ops->norm_end      = BVNormEnd_TT;
  ops->normalize     = BVNormalize_TT;
  ops->matmult       = BVMatMult_TT;
  ops->copy          = BVCopy_TT;
  ops->copycolumn    = BVCopyColumn_TT;
  ops->getcolumn     = BVGetColumn_TT;
  ops->restorecolumn = BVRestoreColumn_TT;
  ops->getarray      = BVGetArray_TT;
  ops->getarrayread  = BVGetArrayRead_TT;
  ops->getmat        = BVGetMat_TT;
  ops->view          = BVView_TT;
}

} // namespace petsctt
