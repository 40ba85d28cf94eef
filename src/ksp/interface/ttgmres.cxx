#include "petscttksp.h"

#include "sys/compat.hpp"

#include <petsc/private/petscimpl.h>

/*@
   KSPTTGMRESSetRestart - Sets the number of basis vectors after which KSPTTGMRES restarts

   Logically Collective

   Input Parameters:
+  ksp     - the solver
-  restart - basis vectors per cycle, at least 1 (default 100)

   Options Database Key:
.  -ksp_ttgmres_restart <restart> - basis vectors per cycle

   Level: intermediate

   Note:
   Does nothing when the solver is of another type.

.seealso: `KSPTTGMRES`, `KSPTTGMRESGetRestart()`
@*/
PetscErrorCode KSPTTGMRESSetRestart(KSP ksp, PetscInt restart)
{
  PetscFunctionBegin;
  PetscTryMethod(ksp, "KSPTTGMRESSetRestart_C", (KSP, PetscInt), (ksp, restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESGetRestart - Gets the number of basis vectors per cycle

   Not Collective

   Input Parameter:
.  ksp - the solver, of type KSPTTGMRES

   Output Parameter:
.  restart - basis vectors per cycle

   Level: intermediate

.seealso: `KSPTTGMRES`, `KSPTTGMRESSetRestart()`
@*/
PetscErrorCode KSPTTGMRESGetRestart(KSP ksp, PetscInt *restart)
{
  PetscFunctionBegin;
  PetscUseMethod(ksp, "KSPTTGMRESGetRestart_C", (KSP, PetscInt *), (ksp, restart));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESSetWindow - Sets how many of the last basis vectors a new one is orthogonalised against

   Logically Collective

   Input Parameters:
+  ksp    - the solver
-  window - number of vectors (default 2); 0 for all

   Options Database Key:
.  -ksp_ttgmres_window <window> - number of vectors

   Level: intermediate

   Notes:
   The residual is minimised over the whole space in either case, through the Gram matrix of the basis. A short window makes
   a step cheaper and its TT ranks smaller; the basis gets less well conditioned. Does nothing when the solver is of another type.

.seealso: `KSPTTGMRES`, `KSPTTGMRESGetWindow()`
@*/
PetscErrorCode KSPTTGMRESSetWindow(KSP ksp, PetscInt window)
{
  PetscFunctionBegin;
  PetscTryMethod(ksp, "KSPTTGMRESSetWindow_C", (KSP, PetscInt), (ksp, window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESGetWindow - Gets how many of the last basis vectors a new one is orthogonalised against

   Not Collective

   Input Parameter:
.  ksp - the solver, of type KSPTTGMRES

   Output Parameter:
.  window - number of vectors; 0 for all

   Level: intermediate

.seealso: `KSPTTGMRES`, `KSPTTGMRESSetWindow()`
@*/
PetscErrorCode KSPTTGMRESGetWindow(KSP ksp, PetscInt *window)
{
  PetscFunctionBegin;
  PetscUseMethod(ksp, "KSPTTGMRESGetWindow_C", (KSP, PetscInt *), (ksp, window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESSetFlexible - Says whether the preconditioner may change from step to step

   Logically Collective

   Input Parameters:
+  ksp      - the solver
-  flexible - PETSC_TRUE: the preconditioned basis vectors are kept (twice the memory); PETSC_FALSE: the preconditioner is one
              linear map

   Options Database Key:
.  -ksp_ttgmres_flexible <bool> - the preconditioner may change

   Level: intermediate

   Notes:
   Without this call the solver decides: PCNONE, and PCTTKRON with KSPPREONLY on all its modes, are taken as linear maps, anything
   else is not. Does nothing when the solver is of another type.

.seealso: `KSPTTGMRES`
@*/
PetscErrorCode KSPTTGMRESSetFlexible(KSP ksp, PetscBool flexible)
{
  PetscFunctionBegin;
  PetscTryMethod(ksp, "KSPTTGMRESSetFlexible_C", (KSP, PetscBool), (ksp, flexible));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESGetTrueResidualNorm - Gets the norm of b - A x recomputed from the solution that the last solve returned

   Not Collective

   Input Parameter:
.  ksp - the solver, of type KSPTTGMRES

   Output Parameter:
.  norm - Frobenius norm of b - A x, absolute; -1 before the first solve

   Level: beginner

.seealso: `KSPTTGMRES`, `KSPGetResidualNorm()`
@*/
PetscErrorCode KSPTTGMRESGetTrueResidualNorm(KSP ksp, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscUseMethod(ksp, "KSPTTGMRESGetTrueResidualNorm_C", (KSP, PetscReal *), (ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESGetRankLimited - Says whether the rank cap kept the last solve from converging

   Not Collective

   Input Parameter:
.  ksp - the solver, of type KSPTTGMRES

   Output Parameter:
.  limited - PETSC_TRUE when the solve ended without convergence and roundings were bound by the cap

   Level: beginner

.seealso: `KSPTTGMRES`, `VecTTSetMaxRank()`, `VecTTGetRoundingInfo()`
@*/
PetscErrorCode KSPTTGMRESGetRankLimited(KSP ksp, PetscBool *limited)
{
  PetscFunctionBegin;
  PetscUseMethod(ksp, "KSPTTGMRESGetRankLimited_C", (KSP, PetscBool *), (ksp, limited));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
   KSPTTGMRESGetLastBasisVec - Gets the newest vector of the Krylov basis while KSPTTGMRES is iterating

   Not Collective

   Input Parameter:
.  ksp - the solver, of type KSPTTGMRES

   Output Parameter:
.  v - the vector, NULL before the first step and after the solve; do not change or destroy it

   Level: developer

   Note:
   For monitors: its TT ranks (`VecTTGetRanks()`) tell what the current step costs. The solution has none before the end of the cycle.

.seealso: `KSPTTGMRES`, `KSPMonitorSet()`
@*/
PetscErrorCode KSPTTGMRESGetLastBasisVec(KSP ksp, Vec *v)
{
  PetscFunctionBegin;
  PetscUseMethod(ksp, "KSPTTGMRESGetLastBasisVec_C", (KSP, Vec *), (ksp, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
