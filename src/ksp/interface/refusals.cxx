// Solvers of PETSc that work on the arrays of PETSc's own vectors and refuse all others as "Only coded for PETSc vectors": with tensor
// trains the error names solvers that work. With other vectors nothing changes.
#include "sys/compat.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/kspimpl.h>

namespace petsctt {

namespace {

const char *const array_types[] = {KSPIBCGS, KSPFBCGSR};
constexpr int     n_array_types = sizeof(array_types) / sizeof(array_types[0]);

// What PETSc has registered, and what it solves with; found anew after every PetscInitialize().
PetscErrorCode (*original_create[n_array_types])(KSP);
PetscErrorCode (*original_solve[n_array_types])(KSP);

template <int I> PetscErrorCode solve(KSP ksp)
{
  PetscFunctionBegin;
  PetscCheck(!is_vectt(ksp->vec_rhs), PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "KSP of type %s needs arrays of entries, which vectors of type " VECTT " do not have; use -ksp_type ttgmres, gmres or bcgs", array_types[I]);
  PetscCall((*original_solve[I])(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall((*original_create[I])(ksp));
  original_solve[I] = ksp->ops->solve;
  ksp->ops->solve   = solve<I>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(KSP) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(KSPList, array_types[I], &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original_create[I] = found;
  PetscCall(KSPRegister(array_types[I], create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

// Call after another KSPRegister(), which has PETSc's own types registered first.
PETSC_EXTERN PetscErrorCode KSPRegisterTTRefusals(void)
{
  PetscFunctionBegin;
  static_assert(petsctt::n_array_types == 2, "wrap each type");
  PetscCall(petsctt::wrap<0>());
  PetscCall(petsctt::wrap<1>());
  PetscFunctionReturn(PETSC_SUCCESS);
}
