// What libpetsctt_slepc registers, and its entry point for -dll_append.
#include "petsctteps.h"
#include "sys/compat.hpp"

#include "eps/impls/bvtt/bvtt.hpp"
#include "eps/interface/hooks.hpp"

PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_petsctt(void); // libpetsctt: compares the PETSc that runs with the one it was built for

namespace petsctt {

namespace {

PetscBool initialized = PETSC_FALSE;

PetscErrorCode forget(void)
{
  PetscFunctionBegin;
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// SLEPc asks for one of its own types of basis vectors before it knows the type of the vectors. When it is told, the constructor looks.
const char *const types[] = {BVVECS, BVCONTIGUOUS, BVSVEC, BVMAT};
constexpr int     n_types = sizeof(types) / sizeof(types[0]);
PetscErrorCode (*original[n_types])(BV);

PetscErrorCode has_tt_vectors(BV bv, PetscBool *yes)
{
  VecType type = NULL;

  PetscFunctionBegin;
#if PETSCTT_BV_HAS_TEMPLATE
  if (bv->t) PetscCall(VecGetType(bv->t, &type));
#else
  PetscCall(BVGetVecType(bv, &type));
#endif
  PetscCall(PetscStrcmp(type, VECTT, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(BV bv)
{
  PetscBool tt = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(has_tt_vectors(bv, &tt));
  if (tt) {
    PetscCall(PetscObjectChangeTypeName((PetscObject)bv, BVTT));
    PetscCall(BVCreate_TT(bv));
  } else PetscCall((*original[I])(bv));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(BV) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(BVList, types[I], &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original[I] = found;
  PetscCall(BVRegister(types[I], create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

PETSC_EXTERN PetscErrorCode BVRegisterTTTypes(void)
{
  PetscFunctionBegin;
  static_assert(petsctt::n_types == 4, "wrap each type");
  PetscCall(petsctt::wrap<0>());
  PetscCall(petsctt::wrap<1>());
  PetscCall(petsctt::wrap<2>());
  PetscCall(petsctt::wrap<3>());
  PetscCall(BVRegister(BVTT, BVCreate_TT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscTTInitializeSlepc - Makes SLEPc work with `VECTT` and `MATTT`: registers `BVTT`, and prepares the types of `BV` and `EPS`

  Not Collective

  Level: intermediate

  Notes:
  It is part of the library libpetsctt_slepc, which is built where SLEPc is found. A program that loads that library with -dll_append need not call this
  function, nor load libpetsctt beside it. A program that is linked to it calls this function after `SlepcInitialize()`; `PetscTTInitializePackage()` is called from here.

  The eigensolvers krylovschur, arnoldi, lanczos, subspace, gd, jd, rqcg and power work on operators of type `MATTT`; the others say that
  they do not. Where no linear solver was chosen for the spectral transformation it is `KSPTTGMRES` with `PCTTKRON`, and `PCTTKRON` where
  SLEPc would take a block Jacobi preconditioner. lanczos reorthogonalises fully, whatever its default, and restarts from the wanted end of the spectrum with
  shift-and-invert too; -eps_lanczos_reorthog refuses anything else. Rounding follows the tolerance of the `EPS`, see `BVTT`. Eigenvalues and residuals are computed
  anew in the end, see `EPSTTGetResidualNorm()`. Problems with other matrices and vectors are left alone.

.seealso: `BVTT`, `EPSTTGetResidualNorm()`, `PetscTTInitializePackage()`
@*/
PetscErrorCode PetscTTInitializeSlepc(void)
{
  PetscFunctionBegin;
  PetscCall(PetscTTInitializePackage());
  if (petsctt::initialized) PetscFunctionReturn(PETSC_SUCCESS);
  petsctt::initialized = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(petsctt::forget));
  PetscCall(EPSInitializePackage());
  PetscCall(BVInitializePackage());
  PetscCall(BVRegisterTTTypes());
  PetscCall(EPSRegisterTTHooks());
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What PETSc calls when the library is loaded by -dll_append or -dll_prepend. The name is fixed by that of the file.
PETSCTT_EXTERN PetscErrorCode PetscDLLibraryRegister_petsctt_slepc(void);
PetscErrorCode                PetscDLLibraryRegister_petsctt_slepc(void)
{
  PetscInt major, minor, subminor, release;

  PetscFunctionBegin;
  PetscCall(PetscDLLibraryRegister_petsctt());
  PetscCall(SlepcGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == SLEPC_VERSION_MAJOR && minor == SLEPC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB, "This libpetsctt_slepc was built for SLEPc %d.%d, but the program runs SLEPc %d.%d",
             SLEPC_VERSION_MAJOR, SLEPC_VERSION_MINOR, (int)major, (int)minor);
  PetscCall(PetscTTInitializeSlepc());
  PetscFunctionReturn(PETSC_SUCCESS);
}
