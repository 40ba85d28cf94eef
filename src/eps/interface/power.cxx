// The power method on tensor trains. SLEPc's normalises a vector by its first entry that is not zero and needs arrays for that; the sign of
// the vector does not matter when the eigenvalue comes from an inner product.
#include "eps/interface/hooks.hpp"
#include "sys/guard.hpp"

namespace petsctt {

PetscErrorCode power_check(EPS eps)
{
  PetscBool         nonlinear;
  EPSPowerShiftType shift;

  PetscFunctionBegin;
  PetscCall(EPSPowerGetNonlinear(eps, &nonlinear));
  PetscCall(EPSPowerGetShiftType(eps, &shift));
  PetscCheck(!nonlinear && !eps->twosided && shift == EPS_POWER_SHIFT_CONSTANT, PetscObjectComm((PetscObject)eps), PETSC_ERR_SUP,
             "The power method on tensor trains is the linear, one-sided one with a constant shift; use -eps_type rqcg, jd or krylovschur for others");
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The next start vector, in column k: the user's, if there is one, or a random one.
PetscErrorCode start(EPS eps, PetscInt k, PetscBool *dependent)
{
  PetscFunctionBegin;
  if (k >= eps->nini) PetscCall(BVSetRandomColumn(eps->V, k));
  PetscCall(BVOrthonormalizeColumn(eps->V, k, PETSC_TRUE, NULL, dependent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// v_k := Op v_k, orthogonalised against the converged vectors and normalised. theta: Rayleigh quotient; residual: ||Op v - V h - theta v||.
PetscErrorCode step(EPS eps, PetscInt k, Vec y, Vec e, PetscScalar *h, PetscScalar *theta, PetscReal *residual, PetscReal *norm)
{
  Vec v;

  PetscFunctionBegin;
  PetscCall(BVGetColumn(eps->V, k, &v));
  PetscCall(STApply(eps->st, v, y));
  PetscCall(BVRestoreColumn(eps->V, k, &v));
  PetscCall(BVSetActiveColumns(eps->V, 0, k));
  PetscCall(BVOrthogonalizeVec(eps->V, y, k > 0 ? h : NULL, norm, NULL));
  PetscCall(BVSetActiveColumns(eps->V, k, k + 1));
  PetscCall(BVDotVec(eps->V, y, theta));
  PetscCall(BVGetColumn(eps->V, k, &v));
  PetscCall(VecWAXPY(e, -*theta, v, y));
  PetscCall(BVRestoreColumn(eps->V, k, &v));
  PetscCall(BVNormVec(eps->V, e, NORM_2, residual));
  if (*norm > 0) {
    PetscCall(BVInsertVec(eps->V, k, y));
    PetscCall(BVScaleColumn(eps->V, k, 1 / *norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode power_solve(EPS eps)
{
  PetscInt                 k = 0, ld;
  PetscScalar             *T, theta;
  PetscReal                residual, norm;
  PetscBool                dependent;
  std::vector<PetscScalar> h;
  Vec                      e = eps->work[0], y = eps->work[1];

  PetscFunctionBegin;
  PetscCallTT(h.assign(PetscMax(eps->ncv, 1), 0));
  PetscCall(DSGetLeadingDimension(eps->ds, &ld));
  PetscCall(start(eps, 0, &dependent));
  while (eps->reason == EPS_CONVERGED_ITERATING) {
    eps->its++;
    PetscCall(step(eps, k, y, e, h.data(), &theta, &residual, &norm));
    eps->eigr[k] = theta;
    PetscCall((*eps->converged)(eps, theta, 0, residual, &eps->errest[k], eps->convergedctx));
    const PetscInt shown = k + 1;
    if (eps->errest[k] < eps->tol) {
      PetscCall(DSGetArray(eps->ds, DS_MAT_A, &T)); // Op V = V T
      for (PetscInt i = 0; i < k; i++) T[i + ld * k] = h[i];
      T[k + ld * k] = theta;
      PetscCall(DSRestoreArray(eps->ds, DS_MAT_A, &T));
      eps->nconv = ++k;
    } else if (norm == 0) eps->reason = EPS_DIVERGED_BREAKDOWN;
    if (!eps->reason) PetscCall((*eps->stopping)(eps, eps->its, eps->max_it, eps->nconv, eps->nev, &eps->reason, eps->stoppingctx));
    PetscCall(EPSMonitor(eps, eps->its, eps->nconv, eps->eigr, eps->eigi, eps->errest, shown));
    if (!eps->reason && k == shown) {
      PetscCall(start(eps, k, &dependent));
      if (dependent) eps->reason = EPS_DIVERGED_BREAKDOWN;
    }
  }
  PetscCall(DSSetDimensions(eps->ds, eps->nconv, 0, 0));
  PetscCall(DSSetState(eps->ds, DS_STATE_RAW));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
