// Ties the rounding of TT vectors to the tolerance of the nonlinear solver that works on them. The residual of a nonlinear problem is a difference of rounded
// terms: it does not fall below their rounding errors, and where these are at -snes_rtol, Newton's method stalls just above it. Vectors know of
// -ksp_rtol and -snes_rtol in the options database; of a tolerance set by SNESSetTolerances(), or left at its default, they learn here: when the solver
// is set up, before it makes work vectors from those that it has, and before each solve, since the tolerance may be another one by then.
#include "sys/compat.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/snesimpl.h>

namespace petsctt {

namespace {

const char *const solvers[] = {SNESNEWTONLS, SNESNEWTONTR, SNESNGMRES, SNESANDERSON, SNESNRICHARDSON, SNESQN, SNESNCG};
constexpr int     n_solvers = sizeof(solvers) / sizeof(solvers[0]);

// What PETSc has registered, its set-up and its solve; found anew after every PetscInitialize().
PetscErrorCode (*original_create[n_solvers])(SNES);
PetscErrorCode (*original_setup[n_solvers])(SNES);
PetscErrorCode (*original_solve[n_solvers])(SNES);

PetscErrorCode tie(SNES snes, Vec v)
{
  PetscFunctionBegin;
  if (is_vectt(v)) PetscCall(tie_rounding(v, snes->rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Work vectors and those of the user's functions are duplicates of these as a rule, and inherit the policy.
PetscErrorCode tie_all(SNES snes)
{
  PetscFunctionBegin;
  for (Vec v : {snes->vec_sol, snes->vec_func, snes->vec_sol_update}) PetscCall(tie(snes, v));
  for (PetscInt i = 0; i < snes->nwork; i++) PetscCall(tie(snes, snes->work[i]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode setup(SNES snes)
{
  PetscFunctionBegin;
  PetscCall(tie_all(snes));
  if (original_setup[I]) PetscCall((*original_setup[I])(snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode solve(SNES snes)
{
  PetscFunctionBegin;
  PetscCall(tie_all(snes));
  PetscCall((*original_solve[I])(snes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(SNES snes)
{
  PetscFunctionBegin;
  PetscCall((*original_create[I])(snes));
  original_setup[I] = snes->ops->setup;
  original_solve[I] = snes->ops->solve;
  snes->ops->setup  = setup<I>;
  snes->ops->solve  = solve<I>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(SNES) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(SNESList, solvers[I], &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original_create[I] = found;
  PetscCall(SNESRegister(solvers[I], create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I = 0> PetscErrorCode wrap_all()
{
  PetscFunctionBegin;
  if constexpr (I < n_solvers) {
    PetscCall(wrap<I>());
    PetscCall(wrap_all<I + 1>());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

PETSC_EXTERN PetscErrorCode SNESRegisterTTTolerance(void)
{
  PetscFunctionBegin;
  PetscCall(SNESInitializePackage()); // registers PETSc's own types first
  PetscCall(petsctt::wrap_all());
  PetscFunctionReturn(PETSC_SUCCESS);
}
