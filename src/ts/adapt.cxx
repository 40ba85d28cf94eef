// Step size control for time steps of tensor trains on PETSc 3.18 and 3.19, whose TSErrorWeightedNorm() reads arrays. The controllers stay
// PETSc's own, options and all; those that measure errors are registered anew with a `choose` that lets them read what they need. From 3.20 on
// the vector does it by itself, and nothing is registered.
#include "sys/compat.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/tsimpl.h>

#if defined(PETSCTT_HAVE_VEC_ERRORWNORM)

PETSC_EXTERN PetscErrorCode TSRegisterTTAdapt(void)
{
  return PETSC_SUCCESS;
}

#else

PETSC_EXTERN PetscErrorCode TSAdaptCreate_Basic(TSAdapt);
PETSC_EXTERN PetscErrorCode TSAdaptCreate_DSP(TSAdapt);

namespace petsctt {

namespace {

constexpr int n_controllers                                = 2;
PetscErrorCode (*const create_original[n_controllers])(TSAdapt) = {TSAdaptCreate_Basic, TSAdaptCreate_DSP};
decltype(_TSAdaptOps::choose) original_choose[n_controllers];

template <int I>
PetscErrorCode choose(TSAdapt adapt, TS ts, PetscReal h, PetscInt *next_sc, PetscReal *next_h, PetscBool *accept, PetscReal *wlte, PetscReal *wltea, PetscReal *wlter)
{
  PetscFunctionBegin;
  if (!is_vectt(ts->vec_sol)) {
    PetscCall((*original_choose[I])(adapt, ts, h, next_sc, next_h, accept, wlte, wltea, wlter));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  MPI_Comm comm = PetscObjectComm((PetscObject)ts);
  PetscCheck(adapt->wnormtype == NORM_2, comm, PETSC_ERR_SUP, "Errors of TT vectors are measured in the 2-norm, not in %s: use -ts_adapt_wnormtype 2", NormTypes[adapt->wnormtype]);
  PetscCheck(!ts->vatol && !ts->vrtol, comm, PETSC_ERR_SUP, "Errors of TT vectors are measured with scalar tolerances, not with a vector of them");
  PetscCheck(!(adapt->ignore_max > 0), comm, PETSC_ERR_SUP, "-ts_adapt_max_ignore %g needs the entries of a TT vector one by one", (double)adapt->ignore_max);
  ErrorNormScope scope;
  PetscCall((*original_choose[I])(adapt, ts, h, next_sc, next_h, accept, wlte, wltea, wlter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(TSAdapt adapt)
{
  PetscFunctionBegin;
  PetscCall((*create_original[I])(adapt));
  original_choose[I] = adapt->ops->choose;
  adapt->ops->choose = choose<I>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

PETSC_EXTERN PetscErrorCode TSRegisterTTAdapt(void)
{
  PetscFunctionBegin;
  PetscCall(TSAdaptRegister(TSADAPTBASIC, petsctt::create<0>));
  PetscCall(TSAdaptRegister(TSADAPTDSP, petsctt::create<1>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#endif
