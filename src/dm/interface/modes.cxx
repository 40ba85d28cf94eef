// Creation and modes.
#include "dm/impls/tt/ttimpl.hpp"

using namespace petsctt;

/*@
  DMTTCreate - Creates a DM made of one DM, or a size, per mode of a tensor: type `DMTT`

  Collective

  Input Parameters:
+ comm - the communicator
- d    - number of modes; 0 to leave it to `DMTTSetNumModes()` or -dm_tt_modes

  Output Parameter:
. dm - the DM

  Level: beginner

  Notes:
  Give each mode a DM by `DMTTSetModeDM()` or a size by `DMTTSetModeSize()`, call `DMSetFromOptions()` if there are options, and `DMSetUp()`.

.seealso: `DMTT`, `DMTTSetModeDM()`, `DMTTSetModeSize()`, `DMSetUp()`, `DMCreateGlobalVector()`, `DMCreateMatrix()`
@*/
PetscErrorCode DMTTCreate(MPI_Comm comm, PetscInt d, DM *dm)
{
  DMHandle fresh;

  PetscFunctionBegin;
  PetscCheck(dm, comm, PETSC_ERR_ARG_NULL, "The place for the DM is NULL");
  PetscCheck(d >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "The number of modes is %" PetscInt_FMT, d);
  PetscCall(PetscTTInitializePackage());
  PetscCall(DMCreate(comm, fresh.out()));
  PetscCall(DMSetType(fresh, DMTT));
  if (d > 0) PetscCall(DMTTSetNumModes(fresh, d));
  *dm = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTSetNumModes - Sets the number of modes

  Logically Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`
- d  - number of modes

  Level: intermediate

  Notes:
  A number other than the present one drops what the modes were given. `DMGetDimension()` returns d.

.seealso: `DMTT`, `DMTTCreate()`, `DMTTGetNumModes()`, `DMTTSetModeDM()`, `DMTTSetModeSize()`
@*/
PetscErrorCode DMTTSetNumModes(DM dm, PetscInt d)
{
  PetscFunctionBegin;
  PetscCall(require_not_set_up(dm, "DMTTSetNumModes()"));
  PetscCheck(d >= 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "The number of modes is %" PetscInt_FMT ", must be at least 1", d);
  std::vector<DMMode> &modes = impl(dm).modes;
  if ((PetscInt)modes.size() == d) PetscFunctionReturn(PETSC_SUCCESS);
  for (DMMode &mode : modes) PetscCall(DMDestroy(&mode.dm));
  PetscCallTT(modes.assign((std::size_t)d, DMMode()));
  PetscCall(DMSetDimension(dm, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTGetNumModes - Gets the number of modes

  Not Collective

  Input Parameter:
. dm - the DM, of type `DMTT`

  Output Parameter:
. d - number of modes, 0 when it is not known yet

  Level: beginner

.seealso: `DMTT`, `DMTTSetNumModes()`, `DMTTGetModeSize()`, `DMTTGetModeDM()`
@*/
PetscErrorCode DMTTGetNumModes(DM dm, PetscInt *d)
{
  PetscFunctionBegin;
  PetscCall(require_dmtt(dm, "DMTTGetNumModes()"));
  *d = (PetscInt)impl(dm).modes.size();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTSetModeDM - Gives a mode the indices of the global vectors of a DM

  Logically Collective

  Input Parameters:
+ dm   - the DM, of type `DMTT`, before `DMSetUp()`
. k    - the mode
- mode - a DM of any type that makes ordinary vectors, on the processes of `dm` in their order: the mode is distributed as its global vectors are. Or
         one on `PETSC_COMM_SELF`, by each process alike: the mode is replicated

  Options Database Key:
. -dm_tt_mode_<k>_ - prefix of the options of `mode`, if it has not been set up and has no prefix; see `DMTT`

  Level: beginner

  Notes:
  The DM is referenced, not copied; it may be given to several modes. It must have its fields and boundary conditions, a `DMPLEX` its section or discretisation,
  before `DMSetUp()` of `dm`, which sets it up if that was not done.

.seealso: `DMTT`, `DMTTSetModeSize()`, `DMTTGetModeDM()`, `DMTTCreateModeVec()`
@*/
PetscErrorCode DMTTSetModeDM(DM dm, PetscInt k, DM mode)
{
  PetscMPIInt same, inner;

  PetscFunctionBegin;
  PetscCall(require_not_set_up(dm, "DMTTSetModeDM()"));
  PetscCall(require_dm_mode(dm, k));
  MPI_Comm comm = PetscObjectComm((PetscObject)dm);
  PetscCheck(mode, comm, PETSC_ERR_ARG_NULL, "The DM for mode %" PetscInt_FMT " is NULL", k);
  PetscCheck(!is_dmtt(mode), comm, PETSC_ERR_ARG_WRONG, "The DM for mode %" PetscInt_FMT " is a DMTT itself; give its modes one by one", k);
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mode), &inner));
  PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)mode), comm, &same));
  PetscCheck(inner == 1 || same == MPI_IDENT || same == MPI_CONGRUENT, comm, PETSC_ERR_ARG_NOTSAMECOMM,
             "The DM for mode %" PetscInt_FMT " lives on %d processes that are not those of the DMTT in their order; it must be on the same communicator or on one process", k, inner);
  PetscCall(PetscObjectReference((PetscObject)mode));
  DMMode &m = impl(dm).modes[(std::size_t)k];
  PetscCall(DMDestroy(&m.dm));
  m    = DMMode();
  m.dm = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTGetModeDM - Gets the DM of a mode

  Not Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`
- k  - the mode

  Output Parameter:
. mode - its DM, `NULL` for a mode that was given by its size; the reference belongs to `dm`

  Level: beginner

.seealso: `DMTT`, `DMTTSetModeDM()`, `DMTTGetModeSize()`
@*/
PetscErrorCode DMTTGetModeDM(DM dm, PetscInt k, DM *mode)
{
  PetscFunctionBegin;
  PetscCall(require_dmtt(dm, "DMTTGetModeDM()"));
  PetscCall(require_dm_mode(dm, k));
  *mode = impl(dm).modes[(std::size_t)k].dm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTSetModeSize - Gives a mode a size, such as the number of samples of a parameter

  Logically Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`, before `DMSetUp()`
. k  - the mode
. n  - how it is stored: `PETSC_TT_AUTO`, `PETSC_TT_REPLICATED`, `PETSC_TT_DISTRIBUTED` or the number of indices that this process owns, see `VecCreateTT()`
- N  - number of indices

  Options Database Key:
. -dm_tt_modes <N0,N1,...> - the sizes, 0 for modes that stay as they are

  Level: beginner

.seealso: `DMTT`, `DMTTSetModeDM()`, `DMTTGetModeSize()`, `VecCreateTT()`
@*/
PetscErrorCode DMTTSetModeSize(DM dm, PetscInt k, PetscInt n, PetscInt N)
{
  PetscFunctionBegin;
  PetscCall(require_not_set_up(dm, "DMTTSetModeSize()"));
  PetscCall(require_dm_mode(dm, k));
  PetscCheck(N >= 1, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " has size %" PetscInt_FMT ", must be at least 1", k, N);
  DMMode &m = impl(dm).modes[(std::size_t)k];
  PetscCall(DMDestroy(&m.dm));
  m.n = n; // what it may be is checked together with the other processes, in DMSetUp()
  m.N = N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTGetModeSize - Gets the number of indices of a mode

  Not Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`, after `DMSetUp()`
- k  - the mode

  Output Parameters:
+ n - number of indices that this process stores: all of them when the mode is replicated (may be `NULL`)
- N - number of indices (may be `NULL`)

  Level: beginner

.seealso: `DMTT`, `DMTTSetModeSize()`, `DMTTSetModeDM()`, `VecTTGetModeOwnership()`
@*/
PetscErrorCode DMTTGetModeSize(DM dm, PetscInt k, PetscInt *n, PetscInt *N)
{
  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "DMTTGetModeSize()"));
  PetscCall(require_dm_mode(dm, k));
  if (n) *n = impl(dm).space->n(k);
  if (N) *N = impl(dm).space->N(k);
  PetscFunctionReturn(PETSC_SUCCESS);
}
