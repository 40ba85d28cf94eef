// Finer and coarser DMs, mode by mode.
#include "dm/impls/tt/ttimpl.hpp"

#include <map>

using namespace petsctt;

namespace {

// A new DMTT whose modes have the refined (coarsened) DMs of those of `dm`; modes that are sizes, or have a DM that does not know how, stay as they
// are. A DM that several modes share is refined once. Collective.
PetscErrorCode change_level(DM dm, MPI_Comm comm, bool finer, DM *out)
{
  const char      *what = finer ? "DMRefine()" : "DMCoarsen()";
  MPI_Comm         mine = PetscObjectComm((PetscObject)dm);
  PetscMPIInt      same = MPI_IDENT;
  std::map<DM, DM> done;
  DMHandle         fresh;

  PetscFunctionBegin;
  PetscCall(require_set_up(dm, what));
  if (comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_compare(comm, mine, &same));
  PetscCheck(same == MPI_IDENT || same == MPI_CONGRUENT, mine, PETSC_ERR_SUP, "%s of a DMTT cannot move to another communicator", what);
  PetscCall(DMTTCreate(mine, (PetscInt)impl(dm).modes.size(), fresh.out()));
  PetscCall(copy_modes(dm, fresh));
  impl(fresh).space.reset();
  PetscCall(DMSetOptionsPrefix(fresh, ((PetscObject)dm)->prefix));
  for (DMMode &mode : impl(fresh).modes) {
    DM old = mode.dm, next = nullptr;
    if (!old || !(finer ? old->ops->refine : old->ops->coarsen)) continue;
    const auto found = done.find(old);
    if (found != done.end()) {
      next = found->second;
      PetscCall(PetscObjectReference((PetscObject)next));
    } else {
      if (finer) PetscCall(DMRefine(old, PetscObjectComm((PetscObject)old), &next));
      else PetscCall(DMCoarsen(old, PetscObjectComm((PetscObject)old), &next));
      if (!next) continue; // DMRefine() found nothing to do
      done[old] = next;
    }
    mode.dm = next;
    PetscCall(DMDestroy(&old)); // one reference of it; impl(dm) has another
  }
  PetscCheck(!done.empty(), mine, PETSC_ERR_SUP, "%s: none of the %d modes of the DM has a DM that can be %s", what, (int)impl(dm).modes.size(), finer ? "refined" : "coarsened");
  PetscCall(DMSetUp(fresh));
  *out = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode DMRefine_TT(DM dm, MPI_Comm comm, DM *fine)
{
  PetscFunctionBegin;
  PetscCall(change_level(dm, comm, true, fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMCoarsen_TT(DM dm, MPI_Comm comm, DM *coarse)
{
  PetscFunctionBegin;
  PetscCall(change_level(dm, comm, false, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A MATTT is square. Multigrid belongs to the modes.
PetscErrorCode DMCreateInterpolation_TT(DM coarse, DM, Mat *, Vec *)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)coarse), PETSC_ERR_SUP,
          "A DMTT has no interpolation between levels, so neither PCMG nor grid sequencing works on all modes together; "
          "multigrid on mode k is -pc_type ttkron -pc_ttkron_mode_<k>_pc_type mg or gamg");
}
