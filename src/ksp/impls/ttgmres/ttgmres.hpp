#ifndef PETSCTT_KSP_IMPLS_TTGMRES_TTGMRES_HPP
#define PETSCTT_KSP_IMPLS_TTGMRES_TTGMRES_HPP

// Inside src/ksp/impls/ttgmres only.
#include "petscttksp.h"

#include "ksp/impls/ttgmres/projected.hpp"
#include "mat/mattt.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "tt/ops/random_sum.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/kspimpl.h>

#include <memory>
#include <vector>

namespace petsctt {

struct TTGMRES {
  // user parameters
  PetscInt  restart    = 100;   // basis vectors per cycle
  PetscInt  window     = 2;     // orthogonalise against that many last basis vectors; 0: against all
  PetscInt  flexible   = -1;    // 1: keep P^{-1} v_j; 0: P is linear and fixed; -1: decided from the PC
  PetscBool sketched   = PETSC_TRUE; // dots of the basis from random images of its vectors
  PetscReal relax      = 0.5;   // share of the target that the roundings of the basis may use
  PetscBool show_ranks = PETSC_FALSE;

  // state of a solve
  std::vector<VecHandle>   V, Z;   // basis, and P^{-1} basis when flexible
  std::vector<TrainSketch> sketch; // of the basis vectors
  std::vector<Scalar>      images; // columns x vectors: random images of the basis vectors (sketched)
  PetscInt                 image_columns = 0;
  std::vector<std::vector<Scalar>> gram; // exact dots v_i^H v_j of the basis vectors: column j with i <= j; sketched: inside the window only
  Projected                small;
  Train                    y;      // x = x0 + P^{-1} y, left: x = x0 + y, from earlier cycles (not flexible)
  VecHandle                x0, z, w, trial;
  bool                     keep_z = false, x0_zero = true, in_cycle = false, cap_hit = false;
  bool                     left = false;         // P^{-1} A instead of A P^{-1}; the basis then spans x itself
  PetscReal                ratio = 1;            // left: ||P^{-1} r|| / ||r|| of the residual that the cycle started from; 1 else
  bool                     rank_limited = false; // the last solve ended because of the rank cap
  PetscReal                true_residual = -1;   // of the last solve, absolute
  PetscReal                rhs_norm = 0;
  PetscInt                 peak_rank = 0;
  std::vector<PetscInt>    x_ranks;
};

inline TTGMRES &data_of(KSP ksp) { return *static_cast<TTGMRES *>(ksp->data); }

// Drops the vectors of a solve.
void drop_vectors(TTGMRES &g);

// r := b - A x, rounded to the relative error rtol or the absolute one atol, whichever is larger; *norm is that of the residual itself:
// what rounding dropped is added to the norm of what is left. r may be null.
PetscErrorCode true_residual(KSP ksp, Vec x, PetscReal rtol, PetscReal atol, Train *r, PetscReal *norm);

// x := the iterate at this point of the cycle, such that its residual (left: that times P^{-1}) changes by about `delta` at most.
PetscErrorCode build_iterate(KSP ksp, PetscReal delta, Vec x, Train *y);

// One step of a cycle: from v_j to v_{j+1}, whose rounding may make the absolute error atol. *happy: there is no new direction, the cycle is over.
// Not finite: ksp->rnorm is NaN.
PetscErrorCode extend_basis(KSP ksp, PetscReal atol, bool *happy);

PetscErrorCode KSPSolve_TTGMRES(KSP ksp);

} // namespace petsctt

#endif
