#ifndef PETSCTT_VEC_INTERFACE_CHECK_HPP
#define PETSCTT_VEC_INTERFACE_CHECK_HPP

// Checks of what the user gives, such that all processes fail alike and none is left waiting.
#include "vec/impls/tt/ttimpl.hpp"

namespace petsctt {

// Error on all processes unless a[0..n-1] are the same on all. `what` names them. Collective.
PetscErrorCode require_replicated(MPI_Comm comm, Count n, const PetscInt a[], const char *what);

// Error unless 0 <= k < d.
PetscErrorCode require_mode(Vec v, PetscInt k);

// Read access to the arrays of ordinary vectors over the modes, one per mode or null. Gives them back when it goes out of scope.
class ModeArrays {
public:
  ~ModeArrays();
  // vecs null: none. Modes with used[k] = false are skipped; used null: none is. Checks that every vector fits its mode, and that
  // the processes agree on which are given. Collective.
  PetscErrorCode                      get(const Space &space, const Vec vecs[], const PetscBool used[]);
  // Null where no vector was given, and only there: a process without indices of a mode gets a pointer too.
  const std::vector<const Scalar *> &pointers() const { return pointers_; }

private:
  std::vector<Vec>            vecs_;
  std::vector<const Scalar *> arrays_, pointers_;
};

// Error on all processes unless w is an ordinary vector over mode k. Collective.
PetscErrorCode require_mode_vec(const Space &space, PetscInt k, Vec w);

} // namespace petsctt

#endif
