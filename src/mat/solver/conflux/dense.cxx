// Factors of MATSEQDENSE, MATMPIDENSE and MATSCALAPACK by the distributed LU and Cholesky of src/lu.
#include "base/buffer.hpp"
#include "mat/solver/conflux/conflux.hpp"

namespace petsctt::conflux {

namespace {

struct DenseFactor : Common {
  MatHandle        A; // for iterative refinement, as long as it is what was factorised
  PetscObjectState state = 0;

  PetscErrorCode solve(Mat F, char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx) override;
  PetscErrorCode refines(bool *yes) const;
  PetscErrorCode refine(char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx);
};

// Whether solves are refined: with another matrix than the one that was factorised they would converge to something else, or not at all.
PetscErrorCode DenseFactor::refines(bool *yes) const
{
  PetscObjectState now;

  PetscFunctionBegin;
  *yes = settings.refine > 0 && A;
  if (!*yes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectStateGet((PetscObject)A.get(), &now));
  *yes = now == state;
  if (!*yes) PetscCall(PetscInfo(A.get(), "The matrix has changed since its factorisation: no refinement\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// X := X + op(A)^-1 (B - op(A) X), `refine` times, for some right-hand sides at a time
PetscErrorCode DenseFactor::refine(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  constexpr Count block = 64;
  VecHandle       vb, vx;
  PetscInt        m, n;

  PetscFunctionBegin;
  if (op == 'N') PetscCall(MatCreateVecs(A, vx.out(), vb.out()));
  else PetscCall(MatCreateVecs(A, vb.out(), vx.out()));
  PetscCall(VecGetLocalSize(vb, &m));
  PetscCall(VecGetLocalSize(vx, &n));
  const Count ldr = PetscMax(m, 1), ldd = PetscMax(n, 1);
  PetscCall(agree_on_memory(PetscObjectComm((PetscObject)A.get()), (double)PetscMin(block, nrhs) * (double)(ldr + ldd), "residuals"));
  Buffer r((std::size_t)(ldr * PetscMin(block, nrhs))), d((std::size_t)(ldd * PetscMin(block, nrhs)));
  r.fill(0); // some libraries read what they are to overwrite
  for (Count first = 0; first < nrhs; first += block) {
    const Count k = PetscMin(block, nrhs - first);
    for (PetscInt s = 0; s < settings.refine; ++s) {
      for (Count c = 0; c < k; ++c) { // the residual, of which the arrays of both vectors are columns
        const Scalar *from = b + (first + c) * ldb;
        Scalar       *to   = r.data() + c * ldr;
        PetscCall(VecPlaceArray(vx, x + (first + c) * ldx));
        PetscCall(VecPlaceArray(vb, to));
        PetscCall(op == 'N' ? MatMult(A, vx, vb) : MatMultTranspose(A, vx, vb));
        PetscCall(VecResetArray(vb));
        PetscCall(VecResetArray(vx));
        for (PetscInt i = 0; i < m; ++i) to[i] = from[i] - to[i];
      }
      PetscCall(dense.solve(op, k, r.data(), ldr, d.data(), ldd));
      for (Count c = 0; c < k; ++c)
        for (PetscInt i = 0; i < n; ++i) x[i + (first + c) * ldx] += d[(std::size_t)(i + c * ldd)];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DenseFactor::solve(Mat, char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  bool refined;

  PetscFunctionBegin;
  PetscCall(dense.solve(op, k, b, ldb, x, ldx));
  PetscCall(refines(&refined));
  if (refined) PetscCall(refine(op, k, b, ldb, x, ldx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

DenseFactor *factor_of(Mat F) { return static_cast<DenseFactor *>(common(F)); }

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
  f->ready = false;
  PetscCall(f->dense.factor(PetscObjectComm((PetscObject)A), F->factortype, rows, columns, a, lda, f->settings, F));
  PetscCall(MatDenseRestoreArrayRead(D, &a));
  f->A = MatHandle();
  if (f->settings.refine > 0) {
    PetscCall(PetscObjectReference((PetscObject)A));
    f->A = MatHandle(A);
    PetscCall(PetscObjectStateGet((PetscObject)A, &f->state));
  }
  F->assembled = PETSC_TRUE;
  f->ready     = true;
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
  B->ops->getinfo = get_mat_info;
  B->ops->view    = view;
  *F              = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
