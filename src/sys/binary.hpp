#ifndef PETSCTT_SYS_BINARY_HPP
#define PETSCTT_SYS_BINARY_HPP

#include <petscviewer.h>

#include <cstddef>
#include <functional>

namespace petsctt {

// The file of a PETSCVIEWERBINARY from where the viewer stands, as bytes on disk: how many there are, and get(offset, count, to), which says whether it
// could. To be looked at before anything is read or allocated: PETSc reports a file that ends early on one process only, or when it is too late.
struct Ahead {
  std::function<bool(PetscInt64, std::size_t, unsigned char *)> get; // on process 0 at least
  PetscInt64                                                    left = -1; // -1: not known (a pipe). The same on all processes
};

// Does not move the viewer. Collective on it.
PetscErrorCode look_ahead(PetscViewer viewer, Ahead *file);

// Fails unless the object and the viewer are on the same processes, with which reading or writing would hang. Collective on both.
PetscErrorCode require_same_processes(PetscObject object, PetscViewer viewer);

} // namespace petsctt

#endif
