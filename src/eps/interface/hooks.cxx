// SLEPc's eigensolvers, each registered anew under its own name with a constructor that lets us look in at four points: the choice of the spectral
// transformation, set-up, solve, and the transformation back. With other matrices and vectors than ours nothing is changed.
#include "eps/interface/hooks.hpp"
#include "eps/interface/defaults.hpp"
#include "sys/guard.hpp"

#include <map>
#include <utility>

namespace petsctt {

namespace {

PetscReal default_tolerance = 1e-11;

// The solvers that need nothing but operations on vectors come first.
const char *const types[] = {EPSKRYLOVSCHUR, EPSARNOLDI, EPSLANCZOS, EPSSUBSPACE, EPSGD, EPSJD, EPSRQCG, EPSPOWER,
                             EPSLOBPCG, EPSLAPACK, EPSCISS, EPSLYAPII, EPSARPACK, "blzpack", EPSTRLAN, EPSBLOPEX, EPSPRIMME, EPSFEAST, EPSSCALAPACK, EPSELPA, EPSELEMENTAL, EPSEVSL, "chase"};
constexpr int     n_types = sizeof(types) / sizeof(types[0]), n_supported = 8;
PetscErrorCode (*original[n_types])(EPS);

PetscErrorCode require_supported(EPS eps)
{
  EPSHooks &h = *hooks_of(eps);

  PetscFunctionBegin;
  for (int i = n_supported; i < n_types; i++)
    PetscCheck(h.type != types[i], PetscObjectComm((PetscObject)eps), PETSC_ERR_SUP,
               "EPS of type %s needs arrays of entries, which vectors of type " VECTT " do not have; use -eps_type krylovschur, arnoldi, lanczos, subspace, gd, jd, rqcg or power",
               types[i]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_default_st(EPS eps)
{
  EPSHooks &h  = *hooks_of(eps);
  bool      tt = false;

  PetscFunctionBegin;
  PetscCall(operator_is_tt(eps, &tt));
  if (tt) PetscCall(require_supported(eps));
  if (h.own.setdefaultst) PetscCall((*h.own.setdefaultst)(eps));
  if (tt) PetscCall(set_linear_solver(eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode after_solve(EPS eps)
{
  EPSHooks &h = *hooks_of(eps);

  PetscFunctionBegin;
  if (h.tt) PetscCall(recompute_pairs(eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode back_transform(EPS eps)
{
  PetscFunctionBegin;
  if (hooks_of(eps)->own.backtransform) PetscCall((*hooks_of(eps)->own.backtransform)(eps));
  PetscCall(after_solve(eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Solvers whose iterates correct themselves: what a rounding does to one of them is an error of the next start, not of the result. The others keep
// products A V of a growing basis, or their coefficients, and with them every error that was made on the way.
bool self_correcting(const EPSHooks &h)
{
  for (const char *type : {EPSSUBSPACE, EPSPOWER, EPSRQCG})
    if (h.type == type) return true;
  return false;
}

// Roundings, and linear solves that are ours, are as accurate as the first pair that has not converged lets expect to be of use; where the error of that
// pair stays what it was, more accurate: how far a rounding of one vector reaches into others depends on the operator.
PetscErrorCode relax(EPS eps, PetscReal error)
{
  EPSHooks       &h     = *hooks_of(eps);
  const PetscReal limit = 1e-2, base = rounding_rtol(eps);

  PetscFunctionBegin;
  h.rounding = PetscMax(base, PetscMin(limit, h.follow * h.relax * error));
  // subspace iteration locks a pair when its residual, a combination of basis vectors, is below the tolerance: roundings must not hide that it is not
  if (h.type == EPSSUBSPACE) h.rounding = PetscMin(h.rounding, 100 * base);
  PetscTryMethod(eps->V, "BVTTSetDefaultRtol_C", (BV, PetscReal), (eps->V, h.rounding));
  if (eps->categ == EPS_CATEGORY_PRECOND) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(set_linear_tolerance(eps, PetscMax(linear_rtol(eps), PetscMin(limit, 10 * h.follow * h.relax * error))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode stopping(EPS eps, PetscInt its, PetscInt max_it, PetscInt nconv, PetscInt nev, EPSConvergedReason *reason, void *ctx)
{
  PetscFunctionBegin;
  PetscCall((*hooks_of(eps)->stopping)(eps, its, max_it, nconv, nev, reason, ctx));
  if (nconv < eps->ncv) {
    EPSHooks       &h     = *hooks_of(eps);
    const PetscReal error = eps->errest[nconv];
    if (nconv == h.nconv && !(error < 0.9 * h.error)) h.follow = PetscMax(0.1 * h.follow, PETSC_SQRT_MACHINE_EPSILON);
    h.nconv = nconv;
    h.error = error;
    PetscCall(relax(eps, error));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A x rounded to the TT ranks of x has no share of the residual A x - lambda x left: a residual below what roundings take away now says nothing. It counts as a few times
// that, so that a pair is locked only after the roundings have become finer than the tolerance.
PetscErrorCode converged(EPS eps, PetscScalar re, PetscScalar im, PetscReal residual, PetscReal *error, void *ctx)
{
  EPSHooks &h = *hooks_of(eps);

  PetscFunctionBegin;
  PetscCall((*h.converged)(eps, re, im, residual, error, ctx));
  if (h.rounding > 100 * rounding_rtol(eps)) *error = PetscMax(*error, 5 * h.rounding);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Our tests in place of those that are set, for the time of a solve.
struct TestsScope {
  TestsScope(EPS eps, bool relaxed) : eps_(relaxed ? eps : NULL)
  {
    if (!eps_) return;
    hooks_of(eps)->stopping  = eps->stopping;
    hooks_of(eps)->converged = eps->converged;
    eps->stopping            = petsctt::stopping;
    eps->converged           = petsctt::converged;
  }
  ~TestsScope()
  {
    if (!eps_) return;
    eps_->stopping  = hooks_of(eps_)->stopping;
    eps_->converged = hooks_of(eps_)->converged;
  }
  EPS eps_;
};

PetscErrorCode solve(EPS eps)
{
  EPSHooks         &h = *hooks_of(eps);
  DefaultRtolScope  rtol(rounding_rtol(eps));
  const bool        relaxed = h.tt && h.relax > 0 && self_correcting(h);
  TestsScope        tests(eps, relaxed);

  PetscFunctionBegin;
  h.follow = 1;
  h.nconv  = -1;
  if (relaxed) PetscCall(relax(eps, 1));
  else if (h.tt) { // the tolerance may be another than at set-up
    PetscTryMethod(eps->V, "BVTTSetDefaultRtol_C", (BV, PetscReal), (eps->V, rounding_rtol(eps)));
    PetscCall(set_linear_tolerance(eps, linear_rtol(eps)));
  }
  {
    LanczosOrderScope order(eps, h.tt && h.type == EPSLANCZOS);
    PetscCall((*h.own.solve)(eps));
  }
  if (relaxed) PetscCall(relax(eps, 0));
  if (h.tt && eps->categ == EPS_CATEGORY_PRECOND) { // eigenvalues are final, nothing is transformed back
    eps->state = EPS_STATE_SOLVED;
    PetscCall(BVSetActiveColumns(eps->V, 0, eps->nconv));
    PetscCall(after_solve(eps));
    eps->ops->computevectors = NULL; // done: not once more when somebody asks for them
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The constructor and the own set-up both set operations: what is not ours by now is theirs.
void take_over(EPS eps)
{
  EPSHooks &h = *hooks_of(eps);
  if (eps->ops->solve != solve) h.own.solve = eps->ops->solve;
  if (eps->ops->backtransform != back_transform) h.own.backtransform = eps->ops->backtransform;
  if (eps->ops->setdefaultst != set_default_st) h.own.setdefaultst = eps->ops->setdefaultst;
  if (h.own.solve) eps->ops->solve = solve;
  eps->ops->backtransform = back_transform;
  eps->ops->setdefaultst  = set_default_st;
}

PetscErrorCode setup(EPS eps)
{
  EPSHooks        &h = *hooks_of(eps);
  DefaultRtolScope scope(rounding_rtol(eps));
  BV               V;
  PetscBool        is_bvtt, table = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(operator_is_tt(eps, &h.tt));
  PetscCall(PetscOptionsGetBool(((PetscObject)eps)->options, ((PetscObject)eps)->prefix, "-eps_tt_residuals", &table, NULL));
  h.table = table;
  PetscCall(PetscOptionsGetReal(((PetscObject)eps)->options, ((PetscObject)eps)->prefix, "-eps_tt_relax", &h.relax, NULL));
  PetscCheck(h.relax >= 0 && h.relax < 1, PetscObjectComm((PetscObject)eps), PETSC_ERR_ARG_OUTOFRANGE, "-eps_tt_relax %g is outside [0,1)", (double)h.relax);
  eps->ops->computevectors = h.own.computevectors;
  // These work on all their vectors at a time, where SLEPc's default, at least fifteen more than wanted, costs as many times the work for little.
  // The unwanted ones have not converged, and the largest TT ranks.
  if (h.tt && (h.type == EPSRQCG || h.type == EPSSUBSPACE) && eps->ncv < 0 && eps->mpd < 0) eps->ncv = PetscMin(eps->n, PetscMax(eps->nev, 1) + (h.type == EPSRQCG ? 0 : 2));
  if (h.tt && h.type == EPSLANCZOS) PetscCall(lanczos_check(eps, true));
  PetscCall((*h.own.setup)(eps));
  h.own.computevectors = eps->ops->computevectors;
  take_over(eps);
  PetscCall(EPSGetBV(eps, &V));
  PetscCall(PetscObjectTypeCompare((PetscObject)V, BVTT, &is_bvtt));
  if (is_bvtt && !h.tt) { // a shell on vectors of type VECTT
    h.tt = true;
    PetscCall(require_supported(eps));
    if (h.type == EPSLANCZOS) PetscCall(lanczos_check(eps, false));
  }
  if (!h.tt) PetscFunctionReturn(PETSC_SUCCESS);
  if (is_bvtt) PetscTryMethod(V, "BVTTSetDefaultRtol_C", (BV, PetscReal), (V, default_rtol()));
  if (h.type == EPSPOWER) {
    PetscCall(power_check(eps));
    h.own.solve = power_solve;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// By EPS: an entry lives from the constructor to the destroy operation of a type.
std::map<EPS, EPSHooks> &all_hooks()
{
  static std::map<EPS, EPSHooks> all;
  return all;
}

PetscErrorCode destroy(EPS eps)
{
  PetscErrorCode (*own)(EPS) = hooks_of(eps)->own.destroy;

  PetscFunctionBegin;
  all_hooks().erase(eps);
  if (own) PetscCall((*own)(eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(EPS eps)
{
  PetscFunctionBegin;
  PetscCall((*original[I])(eps));
  PetscCallTT({
    EPSHooks &h = all_hooks()[eps];
    h           = EPSHooks();
    h.type      = types[I];
    h.own       = *eps->ops;
  });
  eps->ops->destroy = destroy;
  eps->ops->setup = setup;
  take_over(eps);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(EPS) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(EPSList, types[I], &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original[I] = found;
  PetscCall(EPSRegister(types[I], create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int... I> PetscErrorCode wrap_all(std::integer_sequence<int, I...>)
{
  PetscErrorCode (*const each[])() = {wrap<I>...};

  PetscFunctionBegin;
  for (auto f : each) PetscCall((*f)());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscReal tolerance_of(EPS eps)
{
  return eps->tol > 0 ? eps->tol : SLEPC_DEFAULT_TOL;
}

// Not so close to the machine precision that round-off is taken for signal.
PetscReal rounding_rtol(EPS eps)
{
  return PetscMax(1e-3 * tolerance_of(eps), 450 * PETSC_MACHINE_EPSILON);
}

PetscReal linear_rtol(EPS eps)
{
  return PetscMax(1e-2 * tolerance_of(eps), 1e-12);
}

PetscReal default_rtol()
{
  return default_tolerance;
}

DefaultRtolScope::DefaultRtolScope(PetscReal rtol) : saved_(default_tolerance)
{
  default_tolerance = rtol;
}

DefaultRtolScope::~DefaultRtolScope()
{
  default_tolerance = saved_;
}

EPSHooks *hooks_of(EPS eps)
{
  const auto found = all_hooks().find(eps);
  return found == all_hooks().end() ? nullptr : &found->second;
}

PetscErrorCode operator_is_tt(EPS eps, bool *yes)
{
  PetscInt  nmat = 0;
  Mat       A;
  PetscBool same = PETSC_FALSE;

  PetscFunctionBegin;
  if (eps->st) PetscCall(STGetNumMatrices(eps->st, &nmat));
  if (nmat > 0) {
    PetscCall(STGetMatrix(eps->st, 0, &A));
    PetscCall(PetscObjectTypeCompare((PetscObject)A, MATTT, &same));
  }
  *yes = same;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

// Call after EPSInitializePackage(), which has SLEPc's own types registered.
PETSC_EXTERN PetscErrorCode EPSRegisterTTHooks(void)
{
  PetscFunctionBegin;
  PetscCall(petsctt::wrap_all(std::make_integer_sequence<int, petsctt::n_types>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  EPSTTGetResidualNorm - Gets the residual of an eigenpair that was computed anew from the rounded eigenvector at the end of `EPSSolve()`

  Not Collective

  Input Parameters:
+ eps - the eigensolver, after `EPSSolve()`, with an operator of type `MATTT`
- i   - number of the eigenpair, as for `EPSGetEigenpair()`

  Output Parameter:
. norm - ||A x - lambda B x|| / ||lambda x||, B = I for a standard problem; not divided by |lambda| where that is zero

  Options Database Key:
. -eps_tt_residuals - prints a table of all pairs: eigenvalue, this residual, and the largest TT rank of the eigenvector

  Level: intermediate

  Notes:
  The residuals a solver monitors are those of its recurrences or, with a spectral transformation, those of another operator, and know nothing
  of later roundings. After the solve lambda is replaced by the Rayleigh quotient of x, whose error is quadratic in that of x for Hermitian problems,
  the difference A x - lambda B x is formed as one sum, and its relative norm also becomes what `EPSGetErrorEstimate()` returns. -eps_error_relative
  computes the same by `MatMult()` and `VecAXPY()`, with vectors that are rounded to -bv_tt_rtol.

  With real scalars the eigenvalues of two complex conjugates are left as the solver found them; both have the residual of x_re + i x_im.
  All this takes the eigenvectors: `EPSGetInvariantSubspace()`, which SLEPc gives before them only, is there for Hermitian problems.

.seealso: `BVTT`, `MATTT`, `EPSComputeError()`, `EPSGetErrorEstimate()`
@*/
PetscErrorCode EPSTTGetResidualNorm(EPS eps, PetscInt i, PetscReal *norm)
{
  petsctt::EPSHooks *h = petsctt::hooks_of(eps);

  PetscFunctionBegin;
  PetscCheck(h && h->tt && eps->state >= EPS_STATE_SOLVED, PetscObjectComm((PetscObject)eps), PETSC_ERR_ARG_WRONGSTATE, "EPSTTGetResidualNorm: nothing was solved with operators of type " MATTT);
  PetscCheck(i >= 0 && i < (PetscInt)h->residuals.size(), PetscObjectComm((PetscObject)eps), PETSC_ERR_ARG_OUTOFRANGE, "EPSTTGetResidualNorm: pair %" PetscInt_FMT ", there are %" PetscInt_FMT, i,
             (PetscInt)h->residuals.size());
  *norm = h->residuals[eps->perm[i]];
  PetscFunctionReturn(PETSC_SUCCESS);
}
