#include "mat/impls/tt/impl.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/vecimpl.h>

namespace petsctt {

void release_factors(MatTT &t)
{
  for (Factors &mode : t.factors)
    for (auto *list : {&mode.user, &mode.ready})
      for (Mat &M : *list) (void)MatDestroy(&M);
  t.factors.assign(t.factors.size(), Factors());
}

MatTT::~MatTT()
{
  release_factors(*this);
}

PetscBool is_mattt(Mat A)
{
  return A && A->ops->mult == MatMult_TT ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode require_mattt(Mat A, const char *what)
{
  PetscFunctionBegin;
  PetscCheck(A, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s is a null Mat", what);
  PetscCheck(is_mattt(A), PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "%s must be of type %s, not %s", what, MATTT,
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "(not set)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

const SpacePtr &space_of(Mat A)
{
  return data_of(A).space;
}

PetscErrorCode operator_changed(Mat A)
{
  PetscFunctionBegin;
  data_of(A).merged = false;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The layout is that of a VECTT over the space: nominal.
PetscErrorCode set_space(Mat A, const SpacePtr &space)
{
  MatTT   &t = data_of(A);
  PetscInt n, N;

  PetscFunctionBegin;
  PetscCall(nominal_sizes(*space, &n, &N, nullptr));
  for (PetscLayout map : {A->rmap, A->cmap}) {
    PetscCheck(map->N < 0 || map->N == N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
               "The matrix already has global size %" PetscInt_FMT ", but its modes %s need %" PetscInt_FMT, map->N, space->describe().c_str(), N);
    if (map->setupcalled) {
      PetscCall(agree(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
                      map->n == n ? "" : "The matrix already has local size " + std::to_string(map->n) + ", but its modes need " + std::to_string(n)));
      continue;
    }
    PetscCall(PetscLayoutSetLocalSize(map, n));
    PetscCall(PetscLayoutSetSize(map, N));
    PetscCall(PetscLayoutSetUp(map));
  }
  t.space = space;
  release_factors(t);
  t.factors.assign((std::size_t)space->d(), Factors());
  t.given      = zero_blocks(space->d());
  t.block_form = false;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_index(MatTT &t, Int k, Mat M, Int *f)
{
  Factors &mode = t.factors[k];

  PetscFunctionBegin;
  *f = identity_factor;
  if (!M) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t g = 0; g < mode.user.size(); g++)
    if (mode.user[g] == M) {
      *f = (Int)g;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  PetscCall(PetscObjectReference((PetscObject)M));
  *f = (Int)mode.user.size();
  mode.user.push_back(M);
  mode.ready.push_back(NULL);
  mode.state.push_back(-1);
  mode.frozen.push_back(-1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode MatDestroy_TT(Mat A)
{
  PetscFunctionBegin;
  delete static_cast<MatTT *>(A->data);
  A->data = NULL;
  for (const char *name : {"MatConvert_tt_aij_C", "MatConvert_tt_seqaij_C", "MatConvert_tt_mpiaij_C"})
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetUp_TT(Mat A)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  A->preallocated = PETSC_TRUE;
  A->assembled    = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAssemblyBegin_TT(Mat, MatAssemblyType)
{
  return PETSC_SUCCESS; // factors are assembled by their owner
}

// New vectors read the options of their type (not -vec_type), so that -vec_tt_max_rank and the like reach every solver.
PetscErrorCode create_one(const SpacePtr &space, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(create_vec(space, NULL, v));
  PetscObjectOptionsBegin((PetscObject)*v);
  PetscTryTypeMethod(*v, setfromoptions, PetscOptionsObject);
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateVecs_TT(Mat A, Vec *right, Vec *left)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  if (right) PetscCall(create_one(space_of(A), right));
  if (left) PetscCall(create_one(space_of(A), left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_TT(Mat A, OptionItems PetscOptionsObject)
{
  MatTT             &t = data_of(A);
  constexpr PetscInt most = 4096;
  PetscInt           d    = most;
  PetscReal          compress_rtol;
  PetscBool          set, compress;

  PetscFunctionBegin;
  std::vector<PetscInt> N((std::size_t)most);
  PetscOptionsHeadBegin(PetscOptionsObject, "MATTT options");
  PetscCall(PetscOptionsIntArray("-mat_tt_modes", "Global sizes of the modes, first one fastest", "MatTTSetModes", N.data(), &d, &set));
  PetscCall(PetscOptionsReal("-mat_tt_compress", "Compress the operator before its first use to this relative Frobenius error", "MatTTCompress",
                             PetscMax(t.compress_rtol, 0), &compress_rtol, &compress));
  PetscOptionsHeadEnd();
  if (compress) {
    PetscCheck(compress_rtol >= 0 && compress_rtol < 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "-mat_tt_compress %g must be in [0, 1)", (double)compress_rtol);
    t.compress_rtol = compress_rtol;
  }
  if (set && !t.space) PetscCall(MatTTSetModes(A, d, NULL, N.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// MatSetValues() has marked the matrix as not assembled by now; it stays as it was.
PetscErrorCode MatSetValues_TT(Mat A, PetscInt, const PetscInt[], PetscInt, const PetscInt[], const PetscScalar[], InsertMode)
{
  PetscFunctionBegin;
  A->assembled     = PETSC_TRUE;
  A->was_assembled = PETSC_FALSE;
  A->insertmode    = NOT_SET_VALUES;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "A MATTT has no stored entries; build it with MatTTAddTerm() or MatTTSetBlock()");
}

// Operations that programs try on matrices and for which there is something better to say than "not there".
#define PETSCTT_UNSUPPORTED(name, arguments, alternative) \
  PetscErrorCode name arguments \
  { \
    SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "A MATTT has no stored entries; " alternative); \
  }
PETSCTT_UNSUPPORTED(MatGetRow_TT, (Mat, PetscInt, PetscInt *, PetscInt *[], PetscScalar *[]), "use MatTTGetAssembled() for small ones")
PETSCTT_UNSUPPORTED(MatGetValues_TT, (Mat, PetscInt, const PetscInt[], PetscInt, const PetscInt[], PetscScalar[]),
                    "use MatTTGetAssembled() for small ones")
PETSCTT_UNSUPPORTED(MatDiagonalScale_TT, (Mat, Vec, Vec), "scale the factors with MatDiagonalScale() before MatTTAddTerm()")
PETSCTT_UNSUPPORTED(MatCreateSubMatrix_TT, (Mat, IS, IS, MatReuse, Mat *), "take submatrices of the factors or of MatTTGetAssembled()")
PETSCTT_UNSUPPORTED(MatZeroRows_TT, (Mat, PetscInt, const PetscInt[], PetscScalar, Vec, Vec), "eliminate boundary rows in the factors")
PETSCTT_UNSUPPORTED(MatRealPart_TT, (Mat), "take the real part of the factors and add terms with MatTTAddTerm()")
PETSCTT_UNSUPPORTED(MatSetRandom_TT, (Mat, PetscRandom), "use MatSetRandom() on the factors")

} // namespace
} // namespace petsctt

/*MC
  MATTT - "tt": a linear operator on tensors of d modes, given as a train of block matrices: core k is a grid of blocks, each a sum of
  scaled PETSc matrices or identities. A sum of Kronecker products is a special case.

  Options Database Keys:
+ -mat_type tt              - chosen by `MatSetFromOptions()`
. -mat_tt_modes <N0,N1,...> - global sizes of the modes
- -mat_tt_compress <rtol>   - `MatTTCompress()` before the first use

  Level: beginner

  Notes:
  The factors are the user's own matrices, of any type that has `MatMult()`; they are referenced, not copied. `MATAIJ` factors are applied to all
  TT ranks at once with one exchange of ghost rows. On a replicated mode a parallel factor is copied to every process.

  States of the train that are equal up to a scalar are merged before the first use, so that a Laplacian given as d terms
  has block rank 2.

  The diagonal matrix of a `VECTT` is added by `MatTTAddDiagonalVec()`: Jacobians of entrywise nonlinearities are operators of this type.

  `MatView()` and `MatLoad()` write and read the merged form and its factors by rows, in PETSc's binary and HDF5 viewers, on any number
  of processes; docs/files.md describes the files. A matrix without modes gets those of the file.

.seealso: `MatCreateTT()`, `MatTTAddTerm()`, `MatTTAddDiagonalVec()`, `MatTTSetBlockRanks()`, `MatTTCompress()`, `VECTT`
M*/
extern "C" PETSC_VISIBILITY_PUBLIC PetscErrorCode MatCreate_TT(Mat A)
{
  using namespace petsctt;
  PetscFunctionBegin;
  PetscCallTT(A->data = new MatTT);

  auto *ops                      = A->ops;
  ops->mult                      = MatMult_TT;
  ops->multadd                   = MatMultAdd_TT;
  ops->multtranspose             = MatMultTranspose_TT;
  ops->multtransposeadd          = MatMultTransposeAdd_TT;
  ops->multhermitiantranspose    = MatMultHermitianTranspose_TT;
  ops->multhermitiantransposeadd = MatMultHermitianTransposeAdd_TT;
  ops->residual                  = MatResidual_TT;
  ops->scale                     = MatScale_TT;
  ops->shift                     = MatShift_TT;
  ops->axpy                      = MatAXPY_TT;
  ops->aypx                      = MatAYPX_TT;
  ops->zeroentries               = MatZeroEntries_TT;
  ops->copy                      = MatCopy_TT;
  ops->duplicate                 = MatDuplicate_TT;
  ops->transpose                 = MatTranspose_TT;
  ops->conjugate                 = MatConjugate_TT;
  ops->issymmetric               = MatIsSymmetric_TT;
  ops->ishermitian               = MatIsHermitian_TT;
  ops->getdiagonal               = MatGetDiagonal_TT;
  ops->norm                      = MatNorm_TT;
  ops->getinfo                   = MatGetInfo_TT;
  ops->getvecs                   = MatCreateVecs_TT;
  ops->view                      = MatView_TT;
  ops->load                      = MatLoad_TT;
  ops->setup                     = MatSetUp_TT;
  ops->setfromoptions            = MatSetFromOptions_TT;
  ops->assemblybegin             = MatAssemblyBegin_TT;
  ops->assemblyend               = MatAssemblyBegin_TT;
  ops->destroy                   = MatDestroy_TT;
  ops->setvalues                 = MatSetValues_TT;
  ops->getrow                    = MatGetRow_TT;
  ops->getvalues                 = MatGetValues_TT;
  ops->diagonalscale             = MatDiagonalScale_TT;
  ops->diagonalset               = MatDiagonalSet_TT;
  ops->createsubmatrix           = MatCreateSubMatrix_TT;
  ops->zerorows                  = MatZeroRows_TT;
  ops->zerorowscolumns           = MatZeroRows_TT;
  if (is_complex) ops->realpart  = MatRealPart_TT;
  ops->setrandom                 = MatSetRandom_TT;

  A->assembled    = PETSC_TRUE; // there is nothing to assemble: the factors are
  A->preallocated = PETSC_TRUE;
  for (const char *name : {"MatConvert_tt_aij_C", "MatConvert_tt_seqaij_C", "MatConvert_tt_mpiaij_C"})
    PetscCall(PetscObjectComposeFunction((PetscObject)A, name, MatConvert_TT_AIJ));
  PetscCall(PetscObjectChangeTypeName((PetscObject)A, MATTT));
  PetscFunctionReturn(PETSC_SUCCESS);
}
