// Creation and modes.
#include "vec/interface/check.hpp"

using namespace petsctt;

/*@
  VecCreateTT - Creates a vector in tensor-train form, of type `VECTT`, whose value is zero

  Collective

  Input Parameters:
+ comm - the communicator
. d    - number of modes
. n    - how each mode is stored, or `NULL` for `PETSC_TT_AUTO` everywhere: `PETSC_TT_AUTO`, `PETSC_TT_REPLICATED`, `PETSC_TT_DISTRIBUTED` or the
         number of indices of the mode that this process owns (on all processes or on none)
- N    - sizes of the modes

  Output Parameter:
. v - the vector

  Options Database Keys:
. -tt_replicate_max <32> - modes up to this size are stored on every process when n[k] is `PETSC_TT_AUTO`

  Level: beginner

  Notes:
  The options of `VECTT` are read here already. Duplicates share the modes and inherit the rounding policy.

.seealso: `VECTT`, `VecTTSetModes()`, `VecTTSetRankOne()`, `VecTTSetConstant()`, `VecTTSetFull()`, `VecTTCreateModeVec()`
@*/
PetscErrorCode VecCreateTT(MPI_Comm comm, PetscInt d, const PetscInt n[], const PetscInt N[], Vec *v)
{
  Vec x;

  PetscFunctionBegin;
  PetscCheck(v, comm, PETSC_ERR_ARG_NULL, "The place for the vector is NULL");
  PetscCall(PetscTTInitializePackage());
  PetscCall(VecCreate(comm, &x));
  const PetscErrorCode ierr = VecTTSetModes(x, d, n, N);
  if (ierr) PetscCall(VecDestroy(&x));
  PetscCall(ierr);
  *v = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace petsctt {

PetscErrorCode adopt_space(Vec v, const SpacePtr &space)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)v);
  std::string why;
  bool        agree = true;
  PetscErrorCode (*stand_in)(Vec, const SpacePtr &) = nullptr; // a sequential vector that was to be a VECTT, see VecCreate_TT()

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)v, "VecTTSetModes_C", &stand_in));
  if (is_vectt(v) && space_of(v)) {
    PetscCheck(space->same(*space_of(v)), comm, PETSC_ERR_ARG_WRONGSTATE, "The modes of the vector are set already, to %s; they cannot become %s", space_of(v)->describe().c_str(),
               space->describe().c_str());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (v->map->n >= 0 || v->map->N >= 0) {
    PetscCall(PetscLayoutSetUp(v->map));
    PetscCall(sizes_agree(v, *space, &agree, why));
    PetscCheck(agree, comm, PETSC_ERR_ARG_SIZ, "%s", why.c_str());
  }
  if (is_vectt(v)) PetscCall(set_space(v, space));
  else if (stand_in) PetscCall(convert(v, space));
  else PetscCall(build(v, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

// Fails unless v is a VECTT, or has no type and was not promised another one.
static PetscErrorCode may_become_vectt(Vec v)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)v);
  const char *type = ((PetscObject)v)->type_name;
  PetscErrorCode (*stand_in)(Vec, const SpacePtr &) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)v, "VecTTSetModes_C", &stand_in));
  PetscCheck(is_vectt(v) || !type || stand_in, comm, PETSC_ERR_ARG_WRONG, "The vector is of type %s already, not " VECTT, type);
  PetscCheck(type || !v->ops->create || v->ops->create == VecCreate_TT, comm, PETSC_ERR_ARG_WRONG, "The vector was given another type than " VECTT " already");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetModes - Sets the sizes and the distribution of the modes of a TT vector

  Collective

  Input Parameters:
+ v - the vector; it becomes a `VECTT` if it has no type yet
. d - number of modes
. n - how each mode is stored, or `NULL`; see `VecCreateTT()`
- N - sizes of the modes

  Level: intermediate

  Notes:
  The modes can be set once. Sizes set before by `VecSetSizes()` must be the nominal ones of the modes, see `VECTT`.

.seealso: `VECTT`, `VecCreateTT()`, `VecTTGetModes()`, `VecTTLoad()`
@*/
PetscErrorCode VecTTSetModes(Vec v, PetscInt d, const PetscInt n[], const PetscInt N[])
{
  SpacePtr space;

  PetscFunctionBegin;
  PetscCheck(v, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "The vector is NULL");
  PetscCall(PetscTTInitializePackage());
  PetscCall(may_become_vectt(v));
  PetscCall(make_space(PetscObjectComm((PetscObject)v), d, n, N, &space));
  PetscCall(adopt_space(v, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTLoad - Loads a TT vector from a file, with the modes that it has there

  Collective

  Input Parameters:
+ v      - the vector; it becomes a `VECTT` if it has no type yet, with the modes of the file if it has none
- viewer - a `PETSCVIEWERBINARY` or `PETSCVIEWERHDF5` opened for reading; in HDF5 the vector is found by its name, `PetscObjectSetName()`

  Level: beginner

  Notes:
  Files are written by `VecView()`, on any number of processes. Where `v` has modes this is `VecLoad()`. Into a vector without modes `VecLoad()` reads
  from a binary file only, and one process alone notices a truncated one; this function reads both kinds and fails on all processes alike.

  A vector that is of another type, holds other modes, or a file that is no TT vector, truncated, or of other scalars is an error that says so.

.seealso: `VECTT`, `VecTTSetModes()`, `MATTT`
@*/
PetscErrorCode VecTTLoad(Vec v, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCheck(v, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "The vector is NULL");
  PetscCheck(viewer, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_NULL, "The viewer is NULL");
  PetscCall(PetscTTInitializePackage());
  PetscCall(may_become_vectt(v));
  PetscCall(load_train(v, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTGetModes - Gets the sizes of the modes

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameters:
+ d - number of modes (may be `NULL`)
- N - their sizes (may be `NULL`); the array belongs to the vector

  Level: beginner

.seealso: `VECTT`, `VecTTSetModes()`, `VecTTGetModeOwnership()`, `VecTTGetFullSize()`
@*/
PetscErrorCode VecTTGetModes(Vec v, PetscInt *d, const PetscInt *N[])
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetModes"));
  if (d) *d = space_of(v)->d();
  if (N) *N = impl(v).N.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetModeOwnership - Says which indices of a mode this process stores

  Not Collective

  Input Parameters:
+ v - the TT vector
- k - the mode

  Output Parameters:
+ replicated - `PETSC_TRUE` when every process stores the whole mode (may be `NULL`)
. start      - first index (may be `NULL`)
- end        - one more than the last index (may be `NULL`)

  Level: intermediate

  Notes:
  On one process every mode is reported as replicated.

.seealso: `VECTT`, `VecTTGetModes()`, `VecTTCreateModeVec()`
@*/
PetscErrorCode VecTTGetModeOwnership(Vec v, PetscInt k, PetscBool *replicated, PetscInt *start, PetscInt *end)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetModeOwnership"));
  PetscCall(require_mode(v, k));
  const Space &space = *space_of(v);
  if (replicated) *replicated = space.replicated(k) ? PETSC_TRUE : PETSC_FALSE;
  if (start) *start = space.start(k);
  if (end) *end = space.start(k) + space.n(k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTCreateModeVec - Creates an ordinary vector over one mode

  Collective

  Input Parameters:
+ v - the TT vector
- k - the mode

  Output Parameter:
. w - the vector: on the communicator of v with the local sizes of the mode when that is distributed, a sequential one of the whole
      mode on every process when it is replicated

  Level: beginner

.seealso: `VECTT`, `VecTTSetRankOne()`, `VecTTExtract()`, `VecTTContract()`, `VecTTGetModeOwnership()`
@*/
PetscErrorCode VecTTCreateModeVec(Vec v, PetscInt k, Vec *w)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTCreateModeVec"));
  PetscCall(require_mode(v, k));
  const Space &space = *space_of(v);
  const bool   self  = space.replicated(k) && space.comm().size() > 1;
  PetscCall(VecCreate(self ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)v), w));
  PetscCall(VecSetSizes(*w, space.n(k), space.N(k)));
  PetscCall(VecSetType(*w, VECSTANDARD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetFullSize - Gets the number of entries of the tensor, the product of the modes

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameters:
+ size  - the product as a real number, infinite when it leaves the range (may be `NULL`)
- log10 - its decimal logarithm (may be `NULL`)

  Level: beginner

.seealso: `VECTT`, `VecTTGetModes()`
@*/
PetscErrorCode VecTTGetFullSize(Vec v, PetscReal *size, PetscReal *log10)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetFullSize"));
  if (size) *size = space_of(v)->full_size();
  if (log10) *log10 = space_of(v)->log10_full_size();
  PetscFunctionReturn(PETSC_SUCCESS);
}
