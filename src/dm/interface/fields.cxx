// Fields over one mode: ordinary vectors of its DM.
#include "dm/impls/tt/ttimpl.hpp"

using namespace petsctt;

namespace {

// Where vectors and matrices over mode k live.
MPI_Comm mode_comm(DM dm, PetscInt k)
{
  const Space &space = *impl(dm).space;
  return space.replicated(k) && space.comm().size() > 1 ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)dm);
}

} // namespace

/*@
  DMTTCreateModeVec - Creates an ordinary vector over one mode: a global vector of its DM

  Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`, after `DMSetUp()`
- k  - the mode

  Output Parameter:
. w - `DMCreateGlobalVector()` of the DM of the mode; for a mode that was given by its size what `VecTTCreateModeVec()` makes. On a replicated mode every
      process has a sequential one of its own

  Level: beginner

.seealso: `DMTT`, `DMTTGetModeField()`, `DMTTGetModeMean()`, `DMTTViewModeVec()`, `DMTTCreateModeMat()`, `VecTTSetRankOne()`
@*/
PetscErrorCode DMTTCreateModeVec(DM dm, PetscInt k, Vec *w)
{
  VecHandle fresh;

  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "DMTTCreateModeVec()"));
  PetscCall(require_dm_mode(dm, k));
  const Space &space = *impl(dm).space;
  if (impl(dm).modes[(std::size_t)k].dm) PetscCall(DMCreateGlobalVector(impl(dm).modes[(std::size_t)k].dm, fresh.out()));
  else {
    PetscCall(VecCreate(mode_comm(dm, k), fresh.out()));
    PetscCall(VecSetSizes(fresh, space.n(k), space.N(k)));
    PetscCall(VecSetType(fresh, VECSTANDARD));
  }
  *w = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTCreateModeMat - Creates a matrix over one mode, to be filled and given to `MatTTAddTerm()`

  Collective

  Input Parameters:
+ dm - the DM, of type `DMTT`, after `DMSetUp()`
- k  - the mode

  Output Parameter:
. M - `DMCreateMatrix()` of the DM of the mode; for a mode that was given by its size a `MATAIJ` with room for the diagonal, which takes more entries at
      the price of allocations. On a replicated mode every process has a sequential one of its own and must set all its entries

  Level: beginner

.seealso: `DMTT`, `DMTTCreateModeVec()`, `DMCreateMatrix()`, `MatTTAddTerm()`
@*/
PetscErrorCode DMTTCreateModeMat(DM dm, PetscInt k, Mat *M)
{
  MatHandle fresh;

  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "DMTTCreateModeMat()"));
  PetscCall(require_dm_mode(dm, k));
  const Space &space = *impl(dm).space;
  if (impl(dm).modes[(std::size_t)k].dm) PetscCall(DMCreateMatrix(impl(dm).modes[(std::size_t)k].dm, fresh.out()));
  else {
    PetscCall(MatCreate(mode_comm(dm, k), fresh.out()));
    PetscCall(MatSetSizes(fresh, space.n(k), space.n(k), space.N(k), space.N(k)));
    PetscCall(MatSetType(fresh, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(fresh, 1, NULL));
    PetscCall(MatMPIAIJSetPreallocation(fresh, 1, NULL, 0, NULL));
    PetscCall(MatSetOption(fresh, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  }
  *M = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  DMTTGetModeField - Computes the field over one mode at given indices of the others: the solution in space at given parameters, for instance

  Collective

  Input Parameters:
+ dm    - the DM, of type `DMTT`, after `DMSetUp()`
. v     - a TT vector with its modes
. k     - the mode
- index - d global indices, the same on all processes; index[k] is not used

  Output Parameter:
. w - a vector as `DMTTCreateModeVec()` makes it, that takes the field

  Level: beginner

.seealso: `DMTT`, `DMTTCreateModeVec()`, `DMTTGetModeMean()`, `DMTTViewModeVec()`, `VecTTExtract()`
@*/
PetscErrorCode DMTTGetModeField(DM dm, Vec v, PetscInt k, const PetscInt index[], Vec w)
{
  PetscFunctionBegin;
  PetscCall(require_vec_of(dm, v, "DMTTGetModeField()"));
  PetscCall(require_dm_mode(dm, k));
  PetscCheck(index, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_NULL, "DMTTGetModeField(): the indices are NULL");
  PetscCall(VecTTExtract(v, k, index, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  DMTTGetModeMean - Computes the mean over all other modes, a field over one mode: the mean solution in space, for instance

  Collective

  Input Parameters:
+ dm      - the DM, of type `DMTT`, after `DMSetUp()`
. v       - a TT vector with its modes
. k       - the mode that stays
- weights - d vectors, one over each mode as `DMTTCreateModeVec()` makes it: the probabilities of its indices, or any quadrature weights; they are used as they
            are, neither normalised nor conjugated. `NULL` for 1/N_j on mode j, and instead of the array for all. weights[k] is not used

  Output Parameter:
. w - a vector as `DMTTCreateModeVec()` makes it: w(i) = sum over the other indices of v(..., i, ...) times their weights

  Level: beginner

  Notes:
  With v replaced by its square (`VecPointwiseMult()`) it is the second moment, and so the variance.

.seealso: `DMTT`, `DMTTCreateModeVec()`, `DMTTGetModeField()`, `DMTTViewModeVec()`, `VecTTContract()`
@*/
PetscErrorCode DMTTGetModeMean(DM dm, Vec v, PetscInt k, const Vec weights[], Vec w)
{
  std::vector<VecHandle> own;
  std::vector<Vec>       all;
  std::vector<PetscBool> contracted;
  std::vector<PetscInt>  given;
  VecHandle              rest;
  PetscInt               where;
  const PetscInt         zero = 0;

  PetscFunctionBegin;
  PetscCall(require_vec_of(dm, v, "DMTTGetModeMean()"));
  PetscCall(require_dm_mode(dm, k));
  const Space &space = *impl(dm).space;
  PetscCallTT({
    own.resize((std::size_t)space.d());
    all.assign((std::size_t)space.d(), nullptr);
    contracted.assign((std::size_t)space.d(), PETSC_TRUE);
    given.push_back(k);
    for (PetscInt j = 0; j < space.d(); ++j) given.push_back(j != k && weights && weights[j]);
  });
  // before the vectors that are missing are made, which all processes do together
  PetscCall(first_difference(PetscObjectComm((PetscObject)dm), given, &where));
  PetscCheck(where != 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG, "DMTTGetModeMean(): the mode differs between processes (here %" PetscInt_FMT ")", k);
  PetscCheck(where < 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG, "DMTTGetModeMean(): the weights of mode %" PetscInt_FMT " are NULL on some processes only", where - 1);
  contracted[(std::size_t)k] = PETSC_FALSE;
  for (PetscInt j = 0; j < space.d(); ++j) {
    if (j == k) continue;
    all[(std::size_t)j] = weights ? weights[j] : nullptr;
    if (all[(std::size_t)j]) continue;
    PetscCall(VecTTCreateModeVec(v, j, own[(std::size_t)j].out()));
    PetscCall(VecSet(own[(std::size_t)j], 1.0 / (PetscReal)space.N(j))); // by the modes one by one: their product may leave the range
    all[(std::size_t)j] = own[(std::size_t)j];
  }
  PetscCall(VecTTContract(v, contracted.data(), all.data(), rest.out()));
  PetscCall(VecTTExtract(rest, 0, &zero, w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  DMTTViewModeVec - Views an ordinary vector over one mode

  Collective

  Input Parameters:
+ dm     - the DM, of type `DMTT`, after `DMSetUp()`
. k      - the mode
. w      - a vector over it, as `DMTTCreateModeVec()` makes it
- viewer - a viewer on the processes of `dm`, or `NULL` for standard output

  Level: beginner

  Notes:
  On a distributed mode this is `VecView()`: the DM of the mode knows how to write its vectors to VTK files, HDF5 and so on. On a replicated mode of several
  processes the first one writes, if the viewer can be given to one process (ASCII can). To write a VTK file of such a mode, open the viewer on `PETSC_COMM_SELF` on one
  process and call `VecView()` there.

.seealso: `DMTT`, `DMTTCreateModeVec()`, `DMTTGetModeField()`, `DMTTGetModeMean()`, `VecView()`
@*/
PetscErrorCode DMTTViewModeVec(DM dm, PetscInt k, Vec w, PetscViewer viewer)
{
  PetscInt    wrong, n, N;
  PetscMPIInt rank;
  PetscBool   vtk;
  PetscViewer sub;
  MPI_Comm    comm;

  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "DMTTViewModeVec()"));
  PetscCall(require_dm_mode(dm, k));
  comm               = PetscObjectComm((PetscObject)dm);
  const Space &space = *impl(dm).space;
  PetscCheck(w, comm, PETSC_ERR_ARG_NULL, "DMTTViewModeVec(): the vector is NULL");
  PetscCall(VecGetLocalSize(w, &n));
  PetscCall(VecGetSize(w, &N));
  wrong = n != space.n(k) || N != space.N(k);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_MAX, comm));
  PetscCheck(!wrong, comm, PETSC_ERR_ARG_SIZ,
             "The vector of size %" PetscInt_FMT " is not one over mode %" PetscInt_FMT ", which has %" PetscInt_FMT " indices; DMTTCreateModeVec() creates vectors that fit", N, k, space.N(k));
  if (!viewer) PetscCall(PetscViewerASCIIGetStdout(comm, &viewer));
  if (!(space.replicated(k) && space.comm().size() > 1)) {
    PetscCall(VecView(w, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERVTK, &vtk));
  PetscCheck(!vtk, comm, PETSC_ERR_SUP,
             "Every process has a vector of its own over the replicated mode %" PetscInt_FMT ": for a VTK file open a viewer on PETSC_COMM_SELF on one process and call VecView() there", k);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &sub));
  if (rank == 0) PetscCall(VecView(w, sub));
  PetscCall(PetscViewerFlush(sub));
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &sub));
  PetscCall(PetscViewerFlush(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
