#ifndef PETSCTT_EPS_INTERFACE_HOOKS_HPP
#define PETSCTT_EPS_INTERFACE_HOOKS_HPP

// What is done around SLEPc's own eigensolvers when the operator is of type MATTT, or the vectors of type VECTT.
#include "petsctteps.h"
#include "sys/compat.hpp"

#include <slepc/private/epsimpl.h>

#include <string>
#include <vector>

namespace petsctt {

// Attached to an EPS: the operations of its own type, and what the last solve found.
struct EPSHooks {
  struct _EPSOps         own;
  std::string            type;
  bool                   tt      = false; // the last set-up was for tensor trains
  bool                   table   = false; // -eps_tt_residuals
  PetscReal              relax   = 1e-2;  // -eps_tt_relax
  PetscReal              follow  = 1;     // of that in this solve: smaller once the errors it allows have kept a pair from converging
  PetscReal              error   = 0;     // of the first pair that had not converged, when
  PetscInt               nconv   = -1;    // so many had
  PetscReal              rounding = 0;    // relative error of roundings now, where it is relaxed
  bool                   own_ksp  = false; // the linear solver of the ST was chosen by us, and so was its tolerance:
  PetscReal              ksp_rtol = 0;
  PetscErrorCode (*stopping)(EPS, PetscInt, PetscInt, PetscInt, PetscInt, EPSConvergedReason *, void *) = nullptr; // what ours stand in for
  PetscErrorCode (*converged)(EPS, PetscScalar, PetscScalar, PetscReal, PetscReal *, void *)            = nullptr;
  std::vector<PetscReal> residuals;       // ||A x - lambda B x|| / ||lambda x||, in the order of the columns of eps->V; of conjugates with real scalars the same twice
};

// Of the EPS; of the roundings, a thousandth of it; of linear solves, a hundredth.
PetscReal tolerance_of(EPS eps);
PetscReal rounding_rtol(EPS eps);
PetscReal linear_rtol(EPS eps);

// Null when the EPS was made by a constructor that is not ours.
EPSHooks *hooks_of(EPS eps);

// Is the first matrix of the problem a MATTT?  False while there is none.
PetscErrorCode operator_is_tt(EPS eps, bool *yes);

// EPSPOWER on tensor trains; in place of SLEPc's, which looks at single entries.
PetscErrorCode power_check(EPS eps);
PetscErrorCode power_solve(EPS eps);

// Linear solver and preconditioner that work on MATTT, where nothing was chosen or SLEPc's own default is in place.
PetscErrorCode set_linear_solver(EPS eps);
// Its tolerance, where that is ours; one that somebody has set since is no longer.
PetscErrorCode set_linear_tolerance(EPS eps, PetscReal rtol);

// EPSLANCZOS: an error unless the reorthogonalisation works; before its own set-up, may_set, it is chosen where nobody else has.
PetscErrorCode lanczos_check(EPS eps, bool may_set);
// The order of eigenvalues by which EPSLANCZOS chooses the vector it restarts from, for the time of a solve.
class LanczosOrderScope {
public:
  LanczosOrderScope(EPS eps, bool wanted);
  ~LanczosOrderScope();
  LanczosOrderScope(const LanczosOrderScope &)            = delete;
  LanczosOrderScope &operator=(const LanczosOrderScope &) = delete;

private:
  EPS eps_;
};

// Rayleigh quotients and residuals of the converged pairs, from the eigenvectors; fills EPSHooks::residuals, eigenvalues and error estimates.
PetscErrorCode recompute_pairs(EPS eps);

} // namespace petsctt

PETSC_EXTERN PetscErrorCode EPSRegisterTTHooks(void);
PETSC_EXTERN PetscErrorCode BVRegisterTTTypes(void);

#endif
