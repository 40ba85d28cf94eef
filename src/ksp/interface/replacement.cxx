#include "petscttksp.h"

#include "sys/compat.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/kspimpl.h>

/*@C
   KSPMonitorTTReplaceResidual - Makes PETSc's conjugate gradients go on with the residual of the current iterate in place of the one from
   their recurrence

   Collective

   Input Parameters:
+  ksp   - the solver, of type KSPCG or KSPFCG, with vectors of type VECTT
.  it    - iteration number
.  rnorm - residual norm, not used
-  ctx   - not used

   Level: intermediate

   Notes:
   A monitor, to be set by `KSPMonitorSet(ksp, KSPMonitorTTReplaceResidual, NULL, NULL)`.

   Conjugate gradients update the iterate x and the residual r separately. Each rounding of x, in particular one cut short by a rank cap, makes an error
   that r never learns of, so r goes on falling while b - A x stays where it is. This monitor computes r = b - A x after every step, rounded
   as the vectors are. The errors of earlier roundings are then corrected by later steps and the best accuracy that the rank cap allows is
   reached. It costs one product with A more per step. The low-rank CG of Kressner and Tobler does the same; beside, it takes its
   coefficients from p^H r and z^H A p as KSPFCG does with -ksp_fcg_mmax 1 -ksp_fcg_truncation_type standard. KSPCG, with r^H z for both, differs
   from it by rounding errors only.

   The norm that is tested for convergence is that of the recurrence for one step, from the residual before. It needs -ksp_norm_type
   unpreconditioned (or none), with which these solvers take up the residual again after their monitors.

   References:
+  * - D. Kressner, C. Tobler, Low-rank tensor Krylov subspace methods for parametrized linear systems, SIAM J. Matrix Anal. Appl. 32 (2011)
-  * - H. van der Vorst, Q. Ye, Residual replacement strategies for Krylov subspace iterative methods, SIAM J. Sci. Comput. 22 (2000)

.seealso: `KSPTTGMRES`, `KSPMonitorSet()`, `VecTTSetMaxRank()`
@*/
PetscErrorCode KSPMonitorTTReplaceResidual(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  PetscBool known;
  Mat       A;

  PetscFunctionBegin;
  (void)rnorm;
  (void)ctx;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &known, KSPCG, KSPFCG, ""));
  PetscCheck(known, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "the residual of a KSP of type %s cannot be replaced; those of %s and %s can, and %s needs no replacement", ((PetscObject)ksp)->type_name, KSPCG, KSPFCG,
             KSPTTGMRES);
  PetscCheck(ksp->normtype == KSP_NORM_UNPRECONDITIONED || ksp->normtype == KSP_NORM_NONE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "the residual can be replaced only with -ksp_norm_type unpreconditioned or none, not with %s", KSPNormTypes[ksp->normtype]);
  PetscCall(petsctt::require_vectt(ksp->vec_sol, "the solution"));
  if (it == 0) PetscFunctionReturn(PETSC_SUCCESS); // it is b - A x already
  const Vec r = ksp->work[0]; // where both keep it
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
  PetscCall(VecAYPX(r, -1.0, ksp->vec_rhs));
  PetscFunctionReturn(PETSC_SUCCESS);
}
