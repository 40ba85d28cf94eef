#ifndef PETSCTT_VEC_VECTT_HPP
#define PETSCTT_VEC_VECTT_HPP

// How the layers above reach the numbers of a VECTT. Nothing else of its implementation is visible outside src/vec.
#include "petscttvec.h"
#include "tt/ops/round.hpp"
#include "tt/train.hpp"

namespace petsctt {

// Is v a VECTT? (An operation pointer decides, not the name; optimised PETSc does not check types.)
PetscBool      is_vectt(Vec v);
// PETSC_ERR_ARG_WRONG unless v is a VECTT whose modes are set; `what` names the argument.
PetscErrorCode require_vectt(Vec v, const char *what);

// Read access; the reference is valid until v changes.
const Train &train_of(Vec v);
// Replaces the train. The only ways by which cores change: both raise the object state and drop cached norms.
PetscErrorCode set_train(Vec v, Train &&x);
// In-place change: call f(Train &) through this.
template <class F> PetscErrorCode change_train(Vec v, F &&f);
PetscErrorCode may_change(Vec v);    // what it calls first: an error while cores of v are in use
PetscErrorCode train_changed(Vec v); // and last: raises the state, drops cached norms
Train         &train_rw(Vec v);      // only for change_train

// The vector's rounding policy as options for src/tt, and what its last rounding did.
RoundOptions   round_options(Vec v);
PetscErrorCode record_rounding(Vec v, const RoundInfo &info);

// A solver that works on v is to reach rtol: unless the tolerance of v was set by the user, it will be no more than 1e-3 times this. Not collective.
PetscErrorCode tie_rounding(Vec v, Real rtol);

// y := round(sum), with y's policy, recorded and state raised: what every operation that grows ranks ends with.
PetscErrorCode assign_rounded_sum(Vec y, const std::vector<Term> &terms);

// A new VECTT over `space` (no options read), policy copied from `like` when it is not null. The layouts are those of DESIGN 3.
PetscErrorCode create_vec(const SpacePtr &space, Vec like, Vec *v);
// The space of v.
const SpacePtr &space_of(Vec v);

// Modes as the C API gives them (VecCreateTT(), MatCreateTT()): n[k] is PETSC_TT_AUTO, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED
// or a local size; n null means PETSC_TT_AUTO for all. Checks that the processes agree on d, N and the kinds. `comm` must outlive
// the space: pass PetscObjectComm() of the object that will hold it. Collective.
PetscErrorCode make_space(MPI_Comm comm, PetscInt d, const PetscInt n[], const PetscInt N[], SpacePtr *space);

// Are the integers in a the same on all processes, which must give equally many?  *where is the first that is not, or -1. Collective, one reduction.
PetscErrorCode first_difference(MPI_Comm comm, const std::vector<PetscInt> &a, PetscInt *where);

// The nominal layout of vectors over `space`: N = product of the modes when it fits a PetscInt, otherwise their sum, n = PETSc's
// even split of N. `product` tells which (may be null). MATTT uses the same for its rows and columns. Not collective.
PetscErrorCode nominal_sizes(const Space &space, PetscInt *n, PetscInt *N, bool *product);

// Before PETSc 3.20 (later this does nothing): while it lives, VecGetArrayRead() of two TT vectors one after the other gives arrays of one entry each on every process,
// u and y, such that |u - y| and max(|u|, |y|) are the root mean squares of their difference and of the larger of them: what TS needs to measure the
// error of a step, and reads from arrays. VecGetLocalSize() is 1. For src/ts alone.
class ErrorNormScope {
public:
  ErrorNormScope();
  ~ErrorNormScope();
  ErrorNormScope(const ErrorNormScope &)            = delete;
  ErrorNormScope &operator=(const ErrorNormScope &) = delete;
};

// The nominal global index (first mode fastest) of an entry; only where the layout is the product. Not collective.
PetscErrorCode nominal_index(const Space &space, const std::vector<Int> &index, PetscInt *i);

template <class F> PetscErrorCode change_train(Vec v, F &&f)
{
  if (const PetscErrorCode code = may_change(v)) return code;
  f(train_rw(v)); // may throw: call inside PetscCallTT
  return train_changed(v);
}

} // namespace petsctt

#endif
