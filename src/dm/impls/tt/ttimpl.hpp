#ifndef PETSCTT_DM_IMPLS_TT_TTIMPL_HPP
#define PETSCTT_DM_IMPLS_TT_TTIMPL_HPP

// The implementation of DMTT; seen inside src/dm only.
#include "petscttdm.h"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/dmimpl.h>

#include <vector>

namespace petsctt {

using DMHandle = Handle<DM, DMDestroy>;

// One mode: a DM, whose global vectors lay it out, or a size.
struct DMMode {
  DM       dm = nullptr;      // a reference; null: given by its size, or not at all
  PetscInt n  = PETSC_TT_AUTO; // of a size: how it is stored, as VecCreateTT() takes it
  PetscInt N  = -1;           // of a size; negative: not given yet
};

// What dm->data points to.
struct TensorDM {
  std::vector<DMMode> modes;
  SpacePtr            space; // null before DMSetUp()
};

inline TensorDM &impl(DM dm)
{
  return *static_cast<TensorDM *>(dm->data);
}

// Is dm a DMTT? (An operation pointer decides, as for vectors.)
PetscBool is_dmtt(DM dm);
// PETSC_ERR_ARG_WRONG unless dm is a DMTT; `what` names the function that needs it.
PetscErrorCode require_dmtt(DM dm, const char *what);
// The same, and PETSC_ERR_ARG_WRONGSTATE unless it has been set up.
PetscErrorCode require_set_up(DM dm, const char *what);
// PETSC_ERR_ARG_WRONGSTATE when it has been set up: its modes cannot change any more.
PetscErrorCode require_not_set_up(DM dm, const char *what);
// PETSC_ERR_ARG_OUTOFRANGE unless 0 <= k < d.
PetscErrorCode require_dm_mode(DM dm, PetscInt k);
// PETSC_ERR_ARG_INCOMP unless v is a VECTT with the modes of dm, which is set up.
PetscErrorCode require_vec_of(DM dm, Vec v, const char *what);

// Has the mode a DM that lives on one process of several, so that every process has one of its own, alike?
PetscErrorCode on_one_process(DM dm, DM mode, bool *yes);
// The space of the modes. Makes sure that the processes agree on them first. Collective.
PetscErrorCode make_dm_space(DM dm, SpacePtr *space);
// Modes, their references and the space of `from` for `to`, a DMTT without modes.
PetscErrorCode copy_modes(DM from, DM to);

} // namespace petsctt

PETSC_EXTERN PetscErrorCode DMCreate_TT(DM);

// The operation table, by file.
PetscErrorCode DMDestroy_TT(DM);                               // create.cxx
PetscErrorCode DMView_TT(DM, PetscViewer);                     // view.cxx
PetscErrorCode DMRefine_TT(DM, MPI_Comm, DM *);                // hierarchy.cxx
PetscErrorCode DMCoarsen_TT(DM, MPI_Comm, DM *);
PetscErrorCode DMCreateInterpolation_TT(DM, DM, Mat *, Vec *);
PetscErrorCode DMCopyBegin_TT(DM, Vec, InsertMode, Vec);       // transfer.cxx: all directions between global and local
PetscErrorCode DMCopyEnd_TT(DM, Vec, InsertMode, Vec);

#endif
