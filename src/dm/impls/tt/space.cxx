// What a DMTT must be to be used, and the space that its modes make.
#include "dm/impls/tt/ttimpl.hpp"

namespace petsctt {

PetscBool is_dmtt(DM dm)
{
  return dm && dm->ops->destroy == DMDestroy_TT ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode require_dmtt(DM dm, const char *what)
{
  PetscFunctionBegin;
  PetscCheck(dm, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: the DM is NULL", what);
  PetscCheck(is_dmtt(dm), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG, "%s: the DM is of type %s, not " DMTT, what,
             ((PetscObject)dm)->type_name ? ((PetscObject)dm)->type_name : "(not set)");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_set_up(DM dm, const char *what)
{
  PetscFunctionBegin;
  PetscCall(require_dmtt(dm, what));
  PetscCheck(impl(dm).space, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "%s: the DM is not set up; call DMSetUp() after its modes are given", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_not_set_up(DM dm, const char *what)
{
  PetscFunctionBegin;
  PetscCall(require_dmtt(dm, what));
  PetscCheck(!impl(dm).space, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "%s: the DM is set up already, with the modes %s, which cannot change any more", what,
             impl(dm).space->describe().c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_dm_mode(DM dm, PetscInt k)
{
  const PetscInt d = (PetscInt)impl(dm).modes.size();

  PetscFunctionBegin;
  PetscCheck(d > 0, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "The DM has no modes yet; call DMTTSetNumModes() or give -dm_tt_modes");
  PetscCheck(k >= 0 && k < d, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " is outside 0..%" PetscInt_FMT, k, d - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_vec_of(DM dm, Vec v, const char *what)
{
  PetscFunctionBegin;
  PetscCall(require_set_up(dm, what));
  PetscCall(require_vectt(v, what));
  if (space_of(v) != impl(dm).space) PetscCallTT(require_same_space(*impl(dm).space, *space_of(v), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode on_one_process(DM dm, DM mode, bool *yes)
{
  PetscMPIInt outer, inner;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)dm), &outer));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mode), &inner));
  *yes = inner == 1 && outer > 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What all processes must have in common before anything collective is called on the DMs of the modes: for each mode what it is given
// by, and which object it is; PETSc draws the tags of objects on a communicator in the same order everywhere.
PetscErrorCode check_agreement(DM dm)
{
  const std::vector<DMMode> &modes = impl(dm).modes;
  MPI_Comm                   comm  = PetscObjectComm((PetscObject)dm);
  std::vector<PetscInt>      signature;
  PetscInt                   where;

  PetscFunctionBegin;
  PetscCall(first_difference(comm, {(PetscInt)modes.size()}, &where));
  PetscCheck(where < 0, comm, PETSC_ERR_ARG_INCOMP, "The number of modes differs between processes (here %" PetscInt_FMT ")", (PetscInt)modes.size());
  for (const DMMode &mode : modes) {
    bool self = false;
    if (mode.dm) PetscCall(on_one_process(dm, mode.dm, &self));
    signature.push_back(mode.dm ? (self ? -2 : ((PetscObject)mode.dm)->tag) : (mode.N < 0 ? -1 : -3));
  }
  PetscCall(first_difference(comm, signature, &where));
  PetscCheck(where < 0, comm, PETSC_ERR_ARG_INCOMP, "Mode %" PetscInt_FMT ": all processes must give it the same DM, a DM of their own each, or a size", where);
  for (std::size_t k = 0; k < modes.size(); ++k)
    PetscCheck(modes[k].dm || modes[k].N >= 0, comm, PETSC_ERR_ARG_WRONGSTATE,
               "Mode %d has neither a DM nor a size; call DMTTSetModeDM() or DMTTSetModeSize(), or give -dm_tt_modes", (int)k);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Options and set-up of the DM of mode k, unless the user has done it. In a DM that had no prefix, that of the mode.
PetscErrorCode set_up_mode(DM dm, PetscInt k, DM mode)
{
  PetscFunctionBegin;
  if (mode->setupcalled) PetscFunctionReturn(PETSC_SUCCESS);
  if (dm->setfromoptionscalled && !mode->setfromoptionscalled) {
    if (!((PetscObject)mode)->prefix) {
      char own[64];
      PetscCall(PetscSNPrintf(own, sizeof(own), "dm_tt_mode_%" PetscInt_FMT "_", k));
      PetscCall(DMSetOptionsPrefix(mode, ((PetscObject)dm)->prefix));
      PetscCall(DMAppendOptionsPrefix(mode, own));
    }
    PetscCall(DMSetFromOptions(mode));
  }
  PetscCall(DMSetUp(mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode make_dm_space(DM dm, SpacePtr *space)
{
  const std::vector<DMMode> &modes = impl(dm).modes;
  MPI_Comm                   comm  = PetscObjectComm((PetscObject)dm);
  std::vector<PetscInt>      n, N;

  PetscFunctionBegin;
  PetscCall(check_agreement(dm));
  for (std::size_t k = 0; k < modes.size(); ++k) {
    n.push_back(modes[k].n);
    N.push_back(modes[k].N);
    if (!modes[k].dm) continue;
    VecHandle g;
    bool      self;
    PetscCall(set_up_mode(dm, (PetscInt)k, modes[k].dm));
    PetscCall(DMCreateGlobalVector(modes[k].dm, g.out()));
    PetscCheck(!is_vectt(g), comm, PETSC_ERR_SUP, "Mode %d: the DM makes vectors of type " VECTT "; a mode needs ordinary ones", (int)k);
    PetscCall(VecGetSize(g, &N[k]));
    PetscCall(VecGetLocalSize(g, &n[k]));
    PetscCall(on_one_process(dm, modes[k].dm, &self));
    if (self) n[k] = PETSC_TT_REPLICATED;
  }
  PetscCall(make_space(comm, (PetscInt)modes.size(), n.data(), N.data(), space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
