// Factors of MATSEQDENSE, MATMPIDENSE and MATSCALAPACK by the distributed LU and Cholesky of src/lu.
#include "mat/solver/conflux/conflux.hpp"

#include <memory>

namespace petsctt::conflux {

namespace {

struct DenseFactor : Common {
  MatHandle        A; // for iterative refinement, as long as it is what was factorised
  PetscObjectState state = 0;
};

DenseFactor *factor_of(Mat F) { return static_cast<DenseFactor *>(F->data); }

PetscErrorCode numeric(Mat F, Mat A, const MatFactorInfo *)
{
  DenseFactor       *f = factor_of(F);
  MatHandle          converted;
  Mat                D = A;
  const PetscScalar *a;
  const PetscInt    *rows, *columns;
  PetscInt           lda;
  PetscBool          dense, view;
  PetscViewer        viewer;
  PetscViewerFormat  format;

  PetscFunctionBegin;
  const StageScope stage(events().factorisation);
  PetscCall(check_layouts(F, 'N', A->rmap, A->cmap));
  PetscCall(read_options(F, f->settings));
  F->erroriffailure = A->erroriffailure; // PCLU sets it on the matrix
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, converted.out()));
    D = converted;
    PetscCheck(D->rmap->n == A->rmap->n && D->cmap->n == A->cmap->n, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A matrix of type %s has %" PetscInt_FMT " local rows as a dense one, %" PetscInt_FMT " as it is", ((PetscObject)A)->type_name, D->rmap->n, A->rmap->n);
  }
  PetscCall(MatGetOwnershipRanges(D, &rows));
  PetscCall(MatGetOwnershipRangesColumn(D, &columns));
  PetscCall(MatDenseGetLDA(D, &lda));
  PetscCall(MatDenseGetArrayRead(D, &a));
  PetscCall(f->dense.factor(PetscObjectComm((PetscObject)A), F->factortype, rows, columns, a, lda, f->settings, F));
  PetscCall(MatDenseRestoreArrayRead(D, &a));
  f->A = MatHandle();
  if (f->settings.refine > 0) {
    PetscCall(PetscObjectReference((PetscObject)A));
    f->A = MatHandle(A);
    PetscCall(PetscObjectStateGet((PetscObject)A, &f->state));
  }
  F->assembled = PETSC_TRUE;
  PetscCall(PETSCTT_OPTIONS_VIEWER(PetscObjectComm((PetscObject)F), ((PetscObject)F)->options, ((PetscObject)F)->prefix, "-mat_conflux_view", &viewer, &format, &view));
  if (view) {
    MatConfluxInfo info;
    PetscCall(f->dense.info(&info));
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(print(info, F->factortype, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode lu_symbolic(Mat F, Mat, IS, IS, const MatFactorInfo *)
{
  PetscFunctionBegin;
  F->ops->lufactornumeric = numeric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode cholesky_symbolic(Mat F, Mat, IS, const MatFactorInfo *)
{
  PetscFunctionBegin;
  F->ops->choleskyfactornumeric = numeric;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Whether solves are refined: with another matrix than the one that was factorised they would converge to something else, or not at all.
PetscErrorCode refines(DenseFactor *f, bool *yes)
{
  PetscObjectState state;

  PetscFunctionBegin;
  *yes = f->settings.refine > 0 && f->A;
  if (!*yes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)f->A.get(), &state));
  *yes = state == f->state;
  if (!*yes) PetscCall(PetscInfo(f->A.get(), "The matrix has changed since its factorisation: no refinement\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// X := X + op(A)^-1 (B - op(A) X), `refine` times
PetscErrorCode refine(DenseFactor *f, char op, Vec b, Vec x)
{
  VecHandle          r, dx;
  const PetscScalar *rr;
  PetscScalar       *d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, r.out()));
  PetscCall(VecDuplicate(x, dx.out()));
  for (PetscInt s = 0; s < f->settings.refine; ++s) {
    if (op == 'N') PetscCall(MatMult(f->A, x, r));
    else PetscCall(MatMultTranspose(f->A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecGetArrayRead(r, &rr));
    PetscCall(VecGetArray(dx, &d));
    PetscCall(f->dense.solve(op, 1, rr, 1, d, 1));
    PetscCall(VecRestoreArrayRead(r, &rr));
    PetscCall(VecRestoreArray(dx, &d));
    PetscCall(VecAXPY(x, 1.0, dx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_one(Mat F, char op, Vec b, Vec x)
{
  DenseFactor       *f = factor_of(F);
  const PetscScalar *bb;
  PetscScalar       *xx;
  PetscInt           nb, nx;
  PetscLayout        map_b, map_x;
  bool               refined;

  PetscFunctionBegin;
  const StageScope stage(events().solves);
  PetscCall(VecGetLayout(b, &map_b));
  PetscCall(VecGetLayout(x, &map_x));
  PetscCall(check_layouts(F, op, map_b, map_x));
  PetscCall(VecGetLocalSize(b, &nb));
  PetscCall(VecGetLocalSize(x, &nx));
  PetscCall(VecGetArrayRead(b, &bb));
  PetscCall(VecGetArray(x, &xx));
  PetscCall(f->dense.solve(op, 1, bb, PetscMax(nb, 1), xx, PetscMax(nx, 1)));
  PetscCall(VecRestoreArrayRead(b, &bb));
  PetscCall(VecRestoreArray(x, &xx));
  PetscCall(refines(f, &refined));
  if (refined) PetscCall(refine(f, op, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(solve_one(F, 'N', b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_transpose(Mat F, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(solve_one(F, 'T', b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_many(Mat F, char op, Mat B, Mat X)
{
  DenseFactor       *f = factor_of(F);
  MatHandle          dense_b, dense_x;
  Mat                b = B, x = X;
  const PetscScalar *bb;
  PetscScalar       *xx;
  PetscInt           ldb, ldx, n;
  PetscBool          dense;
  bool               refined;

  PetscFunctionBegin;
  const StageScope stage(events().solves);
  PetscCall(check_layouts(F, op, B->rmap, X->rmap));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    PetscCall(MatConvert(B, MATDENSE, MAT_INITIAL_MATRIX, dense_b.out()));
    b = dense_b;
  }
  PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &dense, MATSEQDENSE, MATMPIDENSE, ""));
  if (!dense) {
    PetscCall(MatConvert(X, MATDENSE, MAT_INITIAL_MATRIX, dense_x.out()));
    x = dense_x;
  }
  PetscCall(MatGetSize(b, NULL, &n));
  if (F->factorerrortype) PetscCall(set_infinite(F, x));
  else {
    PetscCall(MatDenseGetLDA(b, &ldb));
    PetscCall(MatDenseGetLDA(x, &ldx));
    PetscCall(MatDenseGetArrayRead(b, &bb));
    PetscCall(MatDenseGetArrayWrite(x, &xx));
    PetscCall(f->dense.solve(op, n, bb, ldb, xx, ldx));
    PetscCall(MatDenseRestoreArrayWrite(x, &xx));
    PetscCall(MatDenseRestoreArrayRead(b, &bb));
  }
  PetscCall(refines(f, &refined));
  if (refined && !F->factorerrortype)
    for (PetscInt c = 0; c < n; ++c) {
      Vec bc, xc;
      PetscCall(MatDenseGetColumnVecRead(b, c, &bc));
      PetscCall(MatDenseGetColumnVec(x, c, &xc));
      PetscCall(refine(f, op, bc, xc));
      PetscCall(MatDenseRestoreColumnVec(x, c, &xc));
      PetscCall(MatDenseRestoreColumnVecRead(b, c, &bc));
    }
  if (x != X) PetscCall(MatConvert(x, ((PetscObject)X)->type_name, MAT_REUSE_MATRIX, &X)); // MatCopy() between types is not safe in PETSc 3.18
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode matsolve(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(solve_many(F, 'N', B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode matsolve_transpose(Mat F, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(solve_many(F, 'T', B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_mat_info(Mat F, MatInfoType flag, MatInfo *info)
{
  const double entries = (double)F->rmap->N * (double)F->cmap->N;
  PetscMPIInt  size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &size));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size   = 1;
  info->nz_allocated = info->nz_used = flag == MAT_LOCAL ? entries / size : flag == MAT_GLOBAL_MAX ? std::ceil(entries / size) : entries;
  info->memory       = info->nz_allocated * (double)sizeof(PetscScalar);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(Mat F, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;
  MatConfluxInfo    info;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor_of(F)->dense.info(&info));
  if (info.grid[0]) PetscCall(print(info, F->factortype, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt::conflux

PETSC_EXTERN PetscErrorCode MatGetFactor_dense_conflux(Mat A, MatFactorType type, Mat *F)
{
  using namespace petsctt::conflux;
  Mat B;

  PetscFunctionBegin;
  PetscCheck(type == MAT_FACTOR_LU || type == MAT_FACTOR_CHOLESKY, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "conflux factorises dense matrices by LU and Cholesky, not %s", MatFactorTypes[type]);
#if defined(PETSC_USE_COMPLEX)
  if (type == MAT_FACTOR_CHOLESKY) {
    PetscBool set, hermitian;
    PetscCall(MatIsHermitianKnown(A, &set, &hermitian));
    PetscCheck(set && hermitian, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "Cholesky factors by conflux are of Hermitian matrices: MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE) if it is one, or -pc_type lu");
  }
#endif
  PetscCall(create_factor(A, type, new DenseFactor, &B));
  if (type == MAT_FACTOR_LU) B->ops->lufactorsymbolic = lu_symbolic;
  else B->ops->choleskyfactorsymbolic = cholesky_symbolic;
  B->ops->solve             = solve;
  B->ops->solvetranspose    = solve_transpose;
  B->ops->matsolve          = matsolve;
  B->ops->matsolvetranspose = matsolve_transpose;
  B->ops->getinfo           = get_mat_info;
  B->ops->view              = view;
  *F                        = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
