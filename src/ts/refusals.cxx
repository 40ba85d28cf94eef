// Time steppers of PETSc that work on arrays or need matrices of stored entries: with tensor trains the error names steppers that work.
// With other vectors nothing changes.
#include "sys/compat.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/tsimpl.h>

namespace petsctt {

namespace {

struct Refused {
  TSType      type;
  const char *needs;
};
constexpr Refused refused[] = {
  {TSPSEUDO, "forms time derivatives in arrays of entries, which vectors of type " VECTT " do not have; use -ts_type beuler with steps that grow, or SNES for the steady state"},
  {TSGLLE,   "works on arrays of entries, which vectors of type " VECTT " do not have; use -ts_type bdf, arkimex or rosw"                                               },
  {TSIRK,    "assembles all stages as one matrix of type kaij, which needs a sparse matrix with stored entries; use -ts_type bdf, arkimex or rosw"                     },
};
constexpr int n_refused = sizeof(refused) / sizeof(refused[0]);

// What PETSc has registered, and its set-up; found anew after every PetscInitialize().
PetscErrorCode (*original_create[n_refused])(TS);
PetscErrorCode (*original_setup[n_refused])(TS);

template <int I> PetscErrorCode setup(TS ts)
{
  PetscFunctionBegin;
  PetscCheck(!is_vectt(ts->vec_sol), PetscObjectComm((PetscObject)ts), PETSC_ERR_SUP, "TS of type %s %s", refused[I].type, refused[I].needs);
  if (original_setup[I]) PetscCall((*original_setup[I])(ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(TS ts)
{
  PetscFunctionBegin;
  PetscCall((*original_create[I])(ts));
  original_setup[I] = ts->ops->setup;
  ts->ops->setup    = setup<I>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(TS) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(TSList, refused[I].type, &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original_create[I] = found;
  PetscCall(TSRegister(refused[I].type, create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

PETSC_EXTERN PetscErrorCode TSRegisterTTRefusals(void)
{
  PetscFunctionBegin;
  static_assert(petsctt::n_refused == 3, "wrap each type");
  PetscCall(TSInitializePackage()); // registers PETSc's own types first
  PetscCall(petsctt::wrap<0>());
  PetscCall(petsctt::wrap<1>());
  PetscCall(petsctt::wrap<2>());
  PetscFunctionReturn(PETSC_SUCCESS);
}
