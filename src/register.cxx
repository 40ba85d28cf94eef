// The types of this library: one line each. This file stands above all layers, so that none of them needs to look up.
#include "petsctt.h"
#include "base/buffer.hpp"
#include "sys/compat.hpp"
#include "sys/log.hpp"

PETSC_EXTERN PetscErrorCode VecRegisterTTLoading(void); // src/vec: what makes VecLoad() of an untyped vector find our files
PETSC_EXTERN PetscErrorCode VecCreate_TT(Vec);
PETSC_EXTERN PetscErrorCode MatCreate_TT(Mat);
PETSC_EXTERN PetscErrorCode DMCreate_TT(DM);
PETSC_EXTERN PetscErrorCode MatGetFactor_dense_conflux(Mat, MatFactorType, Mat *);
PETSC_EXTERN PetscErrorCode MatGetFactor_aij_conflux(Mat, MatFactorType, Mat *);
PETSC_EXTERN PetscErrorCode PCCreate_TTKron(PC);
PETSC_EXTERN PetscErrorCode KSPCreate_TTGMRES(KSP);
PETSC_EXTERN PetscErrorCode SNESRegisterTTTolerance(void); // src/snes: nonlinear solvers that tell TT vectors how accurate they are to be
PETSC_EXTERN PetscErrorCode TSRegisterTTAdapt(void); // src/ts: step size control that measures TT vectors
PETSC_EXTERN PetscErrorCode TSRegisterTTRefusals(void);
PETSC_EXTERN PetscErrorCode PCRegisterTTRefusals(void); // src/pc, src/ksp: what PETSc has and cannot work says so in words that help
PETSC_EXTERN PetscErrorCode KSPRegisterTTRefusals(void);

static PetscBool initialized = PETSC_FALSE;

/*@C
  PetscTTFreeWorkspace - Returns to the system the memory of TT vectors and workspace that is kept for the next one

  Not Collective

  Level: advanced

  Notes:
  Arrays of 64 kB and more are kept when they are no longer needed, since fresh pages cost more than the arithmetic on them: a rounding
  allocates nothing when one of the same shape went before. On each process, what is kept and what is in use are together at most 5/4 of the
  largest amount that was in use at a time, or 64 MB are kept. Call this after a large solve in a program that then needs the memory for something else.
  `PetscFinalize()` does it.

.seealso: `PetscTTInitializePackage()`, `PetscTTFinalizePackage()`
@*/
PetscErrorCode PetscTTFreeWorkspace(void)
{
  PetscFunctionBegin;
  petsctt::free_cached_memory();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscTTFinalizePackage - Forgets that the types of PETScTT were registered. `PetscFinalize()` calls it.

  Not Collective

  Level: developer

.seealso: `PetscTTInitializePackage()`
@*/
PetscErrorCode PetscTTFinalizePackage(void)
{
  PetscFunctionBegin;
  PetscCall(PetscTTFreeWorkspace());
  initialized = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PetscTTInitializePackage - Registers the types, log events and options of PETScTT: `VECTT`, `MATTT`, `DMTT`, `MATSOLVERCONFLUX`, `PCTTKRON`, `KSPTTGMRES`.

  Not Collective

  Level: developer

  Notes:
  Programs that load the library with -dll_append need not call it. Programs that link the library call it after
  `PetscInitialize()`, unless their first call into the library is one that creates an object (`VecCreateTT()`, `MatCreateTT()`, `DMTTCreate()`).
  It may be called any number of times, and again after a new `PetscInitialize()`.

.seealso: `PetscTTFinalizePackage()`, `VecCreateTT()`, `MatCreateTT()`
@*/
PetscErrorCode PetscTTInitializePackage(void)
{
  PetscFunctionBegin;
  if (initialized) PetscFunctionReturn(PETSC_SUCCESS);
  // Not PetscInitializeCalled: PetscInitialize() loads the libraries of -dll_append before it sets that.
  PetscCheck(PETSC_COMM_WORLD != MPI_COMM_NULL, PETSC_COMM_SELF, PETSC_ERR_ORDER, "Call PetscInitialize() before PetscTTInitializePackage()");
  initialized = PETSC_TRUE;
  PetscCall(PetscRegisterFinalize(PetscTTFinalizePackage));
  PetscCall(petsctt::register_events());
  PetscCall(VecRegisterTTLoading());
  PetscCall(VecRegister(VECTT, VecCreate_TT));
  PetscCall(MatRegister(MATTT, MatCreate_TT));
  PetscCall(DMRegister(DMTT, DMCreate_TT));
  for (MatFactorType factor : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    for (MatType type : {MATSEQDENSE, MATMPIDENSE, "scalapack"}) PetscCall(MatSolverTypeRegister(MATSOLVERCONFLUX, type, factor, MatGetFactor_dense_conflux));
    for (MatType type : {MATSEQAIJ, MATMPIAIJ}) PetscCall(MatSolverTypeRegister(MATSOLVERCONFLUX, type, factor, MatGetFactor_aij_conflux));
  }
  PetscCall(PCRegister(PCTTKRON, PCCreate_TTKron));
  PetscCall(PCRegisterTTRefusals());
  PetscCall(KSPRegister(KSPTTGMRES, KSPCreate_TTGMRES));
  PetscCall(KSPRegisterTTRefusals());
  PetscCall(SNESRegisterTTTolerance());
  PetscCall(TSRegisterTTAdapt());
  PetscCall(TSRegisterTTRefusals());
  PetscFunctionReturn(PETSC_SUCCESS);
}
