// Global and local vectors. A tensor train has no ghost entries: the neighbours of an entry are reached through the cores, whose ghost
// rows MATTT exchanges when it is applied. A local vector is therefore one with the modes of the global ones, on the same processes.
#include "dm/impls/tt/ttimpl.hpp"

using namespace petsctt;

// INSERT_VALUES copies, ADD_VALUES adds and rounds by the policy of `to`; what PETSc hands us as INSERT_ALL_VALUES or ADD_ALL_VALUES arrives
// here as one of them. Collective.
PetscErrorCode DMCopyBegin_TT(DM dm, Vec from, InsertMode mode, Vec to)
{
  PetscFunctionBegin;
  PetscCall(require_vec_of(dm, from, "Copy between global and local vectors"));
  PetscCall(require_vec_of(dm, to, "Copy between global and local vectors"));
  PetscCheck(mode == INSERT_VALUES || mode == ADD_VALUES, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "Copies between vectors of a DMTT insert or add (INSERT_VALUES, ADD_VALUES), not InsertMode %d", (int)mode);
  if (mode == ADD_VALUES) PetscCall(VecAXPY(to, 1.0, from));
  else if (from != to) PetscCall(VecCopy(from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode DMCopyEnd_TT(DM, Vec, InsertMode, Vec)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
