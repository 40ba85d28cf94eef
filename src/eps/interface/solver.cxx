// Default linear solvers of the spectral transformation.
#include "eps/interface/hooks.hpp"

#include <slepc/private/stimpl.h>

namespace petsctt {

namespace {

// Was this chosen by the user, as far as one can tell: by an option?
PetscErrorCode has_option(PetscObject object, const char *name, PetscBool *has)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(object->options, object->prefix, name, has));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// SLEPc takes an LU factorisation for shift-and-invert and (block) Jacobi to precondition, neither of which there is for a train of matrices. Called before SLEPc
// chooses and, where it chose while the operator was not known yet, once more.
PetscErrorCode set_linear_solver(EPS eps)
{
  KSP       ksp;
  PC        pc;
  PetscBool factored, precond, ksp_given, pc_given, none, given;
  PetscReal rtol;

  PetscFunctionBegin;
  PetscCall(STGetKSP(eps->st, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(has_option((PetscObject)ksp, "-ksp_type", &ksp_given));
  PetscCall(has_option((PetscObject)pc, "-pc_type", &pc_given));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &factored, PCLU, PCCHOLESKY, PCREDUNDANT, PCJACOBI, PCBJACOBI, PCILU, PCICC, ""));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &none, KSPPREONLY, KSPBCGS, KSPGMRES, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)eps->st, STPRECOND, &precond));

  const bool free_ksp = !ksp_given && (!((PetscObject)ksp)->type_name || (factored && none && !precond));
  const bool free_pc  = !pc_given && (!((PetscObject)pc)->type_name || factored);
  if (free_pc) PetscCall(PCSetType(pc, PCTTKRON));
  if (!free_ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  // What the solves leave is noise in the operator: less of it than the eigensolver is to reach. A tolerance the user has set stays.
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(has_option((PetscObject)ksp, "-ksp_rtol", &given));
  if (rtol != SLEPC_DEFAULT_TOL || given) PetscFunctionReturn(PETSC_SUCCESS);
  hooks_of(eps)->own_ksp  = true;
  hooks_of(eps)->ksp_rtol = rtol;
  PetscCall(set_linear_tolerance(eps, linear_rtol(eps)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_linear_tolerance(EPS eps, PetscReal rtol)
{
  EPSHooks &h = *hooks_of(eps);
  KSP       ksp;
  PetscReal now, abstol, dtol;
  PetscInt  maxits;

  PetscFunctionBegin;
  if (!h.own_ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(STGetKSP(eps->st, &ksp));
  PetscCall(KSPGetTolerances(ksp, &now, &abstol, &dtol, &maxits));
  h.own_ksp = now == h.ksp_rtol;
  if (!h.own_ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetTolerances(ksp, rtol, abstol, dtol, maxits));
  h.ksp_rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
