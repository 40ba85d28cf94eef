#ifndef PETSCTT_VEC_INTERFACE_CHECK_HPP
#define PETSCTT_VEC_INTERFACE_CHECK_HPP

// Checks of what the user gives, such that all processes fail alike and none is left waiting.
#include "sys/agree.hpp"
#include "vec/impls/tt/ttimpl.hpp"

namespace petsctt {

// Error unless 0 <= k < d.
PetscErrorCode require_mode(Vec v, PetscInt k);

// a[0..n-1], which every process gives for the replicated mode k, become those of process 0: copies that differed by round-off would part for good. What
// differs by more, 1e-8 of the largest, is an error; `message` says so for agree() unless something is in it already. Collective.
void settle_replicas(const Space &space, PetscInt k, Scalar *a, Count n, std::string &message);

// Read access to the arrays of ordinary vectors over the modes, one per mode or null. Gives them back when it goes out of scope.
class ModeArrays {
public:
  ~ModeArrays();
  // vecs null: none. Modes with used[k] = false are skipped; used null: none is. Checks that every vector fits its mode, and that
  // the processes agree on which are given, and on the values of those of replicated modes. Collective.
  PetscErrorCode                      get(const Space &space, const Vec vecs[], const PetscBool used[]);
  // Null where no vector was given, and only there: a process without indices of a mode gets a pointer too.
  const std::vector<const Scalar *> &pointers() const { return pointers_; }

private:
  std::vector<Vec>            vecs_;
  std::vector<const Scalar *> arrays_, pointers_;
  std::vector<Buffer>         replicas_; // of replicated modes, as process 0 has them
};

// Error on all processes unless w is an ordinary vector over mode k. Collective.
PetscErrorCode require_mode_vec(const Space &space, PetscInt k, Vec w);

} // namespace petsctt

#endif
