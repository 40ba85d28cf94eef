#include "ksp/impls/ttgmres/ttgmres.hpp"

#include <algorithm>
#include <string>

namespace petsctt {

void drop_vectors(TTGMRES &g)
{
  g.V.clear();
  g.Z.clear();
  g.sketch.clear();
  g.images.clear();
  g.x0    = VecHandle();
  g.z     = VecHandle();
  g.w     = VecHandle();
  g.trial = VecHandle();
  g.y     = Train();
}

namespace {

PetscErrorCode KSPSetUp_TTGMRES(KSP ksp)
{
  Mat A, P;

  PetscFunctionBegin;
  PetscCheck(ksp->pc_side == PC_RIGHT || ksp->pc_side == PC_LEFT, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "KSPTTGMRES preconditions from the right or the left");
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCheck(A, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE, "KSPTTGMRES has no operator: call KSPSetOperators()");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPReset_TTGMRES(KSP ksp)
{
  PetscFunctionBegin;
  drop_vectors(data_of(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *const composed[] = {"KSPTTGMRESSetRestart_C", "KSPTTGMRESGetRestart_C", "KSPTTGMRESSetWindow_C", "KSPTTGMRESGetWindow_C",
                                "KSPTTGMRESSetFlexible_C", "KSPTTGMRESGetTrueResidualNorm_C", "KSPTTGMRESGetRankLimited_C", "KSPTTGMRESGetLastBasisVec_C"};

PetscErrorCode KSPDestroy_TTGMRES(KSP ksp)
{
  PetscFunctionBegin;
  delete static_cast<TTGMRES *>(ksp->data);
  ksp->data = nullptr;
  for (const char *name : composed) PetscCall(PetscObjectComposeFunction((PetscObject)ksp, name, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string ranks_of(const TTGMRES &g)
{
  std::string s;
  for (std::size_t k = 0; k < g.x_ranks.size() && k < 40; k++) s += (k ? "," : "") + std::to_string((long long)g.x_ranks[k]);
  return g.x_ranks.size() > 40 ? s + ",..." : s;
}

PetscErrorCode KSPView_TTGMRES(KSP ksp, PetscViewer viewer)
{
  const TTGMRES &g = data_of(ksp);
  PetscBool      ascii, string;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &string));
  if (string) PetscCall(PetscViewerStringSPrintf(viewer, "restart %" PetscInt_FMT, g.restart));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  restart=%" PetscInt_FMT ", each new basis vector orthogonalised against %s, dots %s\n", g.restart,
                                   g.window > 0 ? ("the last " + std::to_string((long long)g.window)).c_str() : "all", g.sketched ? "sketched" : "exact"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  preconditioner taken as %s\n", g.flexible > 0 || (g.flexible < 0 && g.keep_z) ? "variable (flexible)" : "one linear map"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  roundings may use %g of the target residual\n", (double)g.relax));
  if (g.true_residual >= 0) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: recomputed residual norm %.6e, relative to the right-hand side %.6e\n", (double)g.true_residual,
                                     g.rhs_norm > 0 ? (double)(g.true_residual / g.rhs_norm) : 0.));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: TT ranks of the solution %s, largest TT rank of the basis %" PetscInt_FMT "\n", ranks_of(g).c_str(), g.peak_rank));
    if (g.rank_limited) PetscCall(PetscViewerASCIIPrintf(viewer, "  last solve: the rank cap (-vec_tt_max_rank) kept it from converging\n"));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What -ksp_converged_reason prints in addition to PETSc's line.
PetscErrorCode view_reason(KSP ksp, void *)
{
  PetscBool   same, wanted = PETSC_FALSE;
  PetscViewer viewer = PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)ksp));

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPTTGMRES, &same));
  PetscCall(PetscOptionsHasName(((PetscObject)ksp)->options, ((PetscObject)ksp)->prefix, "-ksp_converged_reason", &wanted));
  if (!same || !wanted) PetscFunctionReturn(PETSC_SUCCESS);
  const TTGMRES &g = data_of(ksp);
  PetscCall(PetscViewerASCIIAddTab(viewer, ((PetscObject)ksp)->tablevel));
  PetscCall(PetscViewerASCIIPrintf(viewer, "Recomputed relative residual %.6e, TT ranks %s\n", g.rhs_norm > 0 ? (double)(g.true_residual / g.rhs_norm) : (double)g.true_residual, ranks_of(g).c_str()));
  if (g.rank_limited) PetscCall(PetscViewerASCIIPrintf(viewer, "The rank cap kept the solve from converging: raise -vec_tt_max_rank or -ksp_rtol\n"));
  PetscCall(PetscViewerASCIISubtractTab(viewer, ((PetscObject)ksp)->tablevel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_restart(KSP ksp, PetscInt restart)
{
  PetscFunctionBegin;
  PetscCheck(restart >= 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "Restart %" PetscInt_FMT " must be at least 1", restart);
  data_of(ksp).restart = restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_restart(KSP ksp, PetscInt *restart)
{
  PetscFunctionBegin;
  *restart = data_of(ksp).restart;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_window(KSP ksp, PetscInt window)
{
  PetscFunctionBegin;
  PetscCheck(window >= 0, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "Window %" PetscInt_FMT " must not be negative (0: all basis vectors)", window);
  data_of(ksp).window = window;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_window(KSP ksp, PetscInt *window)
{
  PetscFunctionBegin;
  *window = data_of(ksp).window;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_flexible(KSP ksp, PetscBool flexible)
{
  PetscFunctionBegin;
  data_of(ksp).flexible = flexible ? 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_last_basis_vec(KSP ksp, Vec *v)
{
  const TTGMRES    &g = data_of(ksp);
  const std::size_t j = (std::size_t)g.small.columns();

  PetscFunctionBegin;
  *v = g.in_cycle && !g.V.empty() ? g.V[std::min(j, g.V.size() - 1)].get() : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_true_residual(KSP ksp, PetscReal *norm)
{
  PetscFunctionBegin;
  *norm = data_of(ksp).true_residual;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_rank_limited(KSP ksp, PetscBool *limited)
{
  PetscFunctionBegin;
  *limited = data_of(ksp).rank_limited ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSetFromOptions_TTGMRES(KSP ksp, OptionItems PetscOptionsObject)
{
  TTGMRES  &g = data_of(ksp);
  PetscInt  restart = g.restart, window = g.window;
  PetscReal relax = g.relax;
  PetscBool flexible = g.flexible > 0 ? PETSC_TRUE : PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "KSP TT-GMRES options");
  PetscCall(PetscOptionsInt("-ksp_ttgmres_restart", "Basis vectors per cycle", "KSPTTGMRESSetRestart", restart, &restart, &set));
  if (set) PetscCall(set_restart(ksp, restart));
  PetscCall(PetscOptionsInt("-ksp_ttgmres_window", "Last basis vectors to orthogonalise against (0: all)", "KSPTTGMRESSetWindow", window, &window, &set));
  if (set) PetscCall(set_window(ksp, window));
  PetscCall(PetscOptionsBool("-ksp_ttgmres_flexible", "Allow the preconditioner to change from step to step", "KSPTTGMRESSetFlexible", flexible, &flexible, &set));
  if (set) PetscCall(set_flexible(ksp, flexible));
  PetscCall(PetscOptionsBool("-ksp_ttgmres_sketched_dots", "Dots of basis vectors from random images of them", "KSPTTGMRES", g.sketched, &g.sketched, NULL));
  PetscCall(PetscOptionsReal("-ksp_ttgmres_relax", "Share of the target residual that roundings may use", "KSPTTGMRES", relax, &relax, &set));
  if (set) {
    PetscCheck(relax > 0 && relax < 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_OUTOFRANGE, "-ksp_ttgmres_relax %g must be between 0 and 1", (double)relax);
    g.relax = relax;
  }
  PetscCall(PetscOptionsBool("-ksp_ttgmres_monitor_ranks", "Print the TT ranks of each new basis vector", "KSPTTGMRES", g.show_ranks, &g.show_ranks, NULL));
  PetscOptionsHeadEnd();
  // The recomputed residual and a rank cap that bites are said next to PETSc's reason.
  bool there = false;
  for (PetscInt i = 0; i < ksp->numberreasonviews; i++) there = there || ksp->reasonview[i] == view_reason;
  if (!there) PetscCall(KSPConvergedReasonViewSet(ksp, view_reason, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// In the middle of a cycle the iterate is built from the basis, for monitors of the true residual.
PetscErrorCode KSPBuildSolution_TTGMRES(KSP ksp, Vec v, Vec *V)
{
  TTGMRES &g = data_of(ksp);

  PetscFunctionBegin;
  Vec x = v ? v : ksp->vec_sol;
  if (g.in_cycle && g.small.columns() > 0) PetscCall(build_iterate(ksp, 0.1 * g.small.residual(), x, nullptr));
  else if (v) PetscCall(VecCopy(ksp->vec_sol, v)); // not KSPBuildSolutionDefault(): vec_sol is x, not y with x = P^{-1} y
  if (V) *V = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

/*MC
   KSPTTGMRES - GMRES for tensor-train vectors: preconditioned from the right or the left, restarted, with one rounding per step whose tolerance is
   relaxed as the residual falls, ended by the residual b - A x recomputed from the rounded solution.

   Options Database Keys:
+  -ksp_ttgmres_restart <100>      - basis vectors per cycle. A restart is expensive here: the residual of an approximate solution
                                     has much larger TT ranks than the Krylov vectors of one long cycle
.  -ksp_ttgmres_window <2>         - orthogonalise a new vector against that many last ones; 0: against all. The least-squares
                                     problem uses the Gram matrix of the basis, so it is right for any window
.  -ksp_ttgmres_sketched_dots <true> - take that matrix from random images of the basis vectors, which rounding computes anyhow:
                                     the residual is then minimal up to a factor of about 1.1. False: from exact dots
.  -ksp_ttgmres_flexible <bool>    - keep the preconditioned basis, for preconditioners that change from step to step. By default off
                                     for PCNONE and for PCTTKRON with KSPPREONLY on its modes, on for all others
.  -ksp_ttgmres_relax <0.5>        - share of the target residual that all roundings of a solve may use together
.  -ksp_ttgmres_monitor_ranks      - print the TT ranks of each new basis vector
-  -vec_tt_max_rank, -vec_tt_round_type, -vec_tt_round_seed - the rounding policy of the solution vector holds for the basis too

   Level: beginner

   Notes:
   The monitored residual is what the least-squares problem and the known rounding errors let expect. At the end of each cycle the
   solution is truncated as far as the target allows, b - A x is formed from it, and only that norm decides about
   KSP_CONVERGED_RTOL. It is printed by -ksp_converged_reason and -ksp_view and returned by KSPGetResidualNorm() and
   KSPTTGMRESGetTrueResidualNorm().

   Without -ksp_ttgmres_flexible the unknown of the iteration is y with x = P^{-1} y. Truncation acts on y, which is of the size of the
   right-hand side: an error in y reaches the residual multiplied by the norm of A P^{-1} only, not by that of A.

   When a cycle gains nothing because roundings are bound by a rank cap the reason is KSP_DIVERGED_BREAKDOWN,
   KSPTTGMRESGetRankLimited() returns PETSC_TRUE, and -ksp_converged_reason says so. The same reason without that flag means
   that the working precision is exhausted.

   With -ksp_pc_side left the small problems minimise P^{-1} (b - A x) and P must be the same linear map in every step. The monitored residual is then that norm times the ratio
   of the two norms at the start of the cycle; it is still b - A x, recomputed, that decides. The right side is the default, and usually the better one: its
   least-squares problem sees the residual that is asked for.

   Only the unpreconditioned norm is supported. Operators other than MATTT work through MatMult().

   References:
+  * - S. V. Dolgov, TT-GMRES: solution to a linear system in the structured tensor format, Russ. J. Numer. Anal. Math. Modelling 28 (2013)
.  * - V. Simoncini and D. B. Szyld, Theory of inexact Krylov subspace methods, SIAM J. Sci. Comput. 25 (2003)
-  * - H. Al Daas et al., Randomized algorithms for rounding in the tensor-train format, SIAM J. Sci. Comput. 45 (2023)

.seealso: `KSPCreate()`, `KSPSetType()`, `VECTT`, `MATTT`, `PCTTKRON`, `KSPTTGMRESSetRestart()`, `KSPTTGMRESSetWindow()`, `KSPTTGMRESSetFlexible()`
M*/
PETSC_EXTERN PetscErrorCode KSPCreate_TTGMRES(KSP ksp)
{
  using namespace petsctt;

  PetscFunctionBegin;
  PetscCallTT(ksp->data = new TTGMRES);
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 4));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  ksp->ops->setup          = KSPSetUp_TTGMRES;
  ksp->ops->solve          = KSPSolve_TTGMRES;
  ksp->ops->reset          = KSPReset_TTGMRES;
  ksp->ops->destroy        = KSPDestroy_TTGMRES;
  ksp->ops->view           = KSPView_TTGMRES;
  ksp->ops->setfromoptions = KSPSetFromOptions_TTGMRES;
  ksp->ops->buildsolution  = KSPBuildSolution_TTGMRES;
  ksp->ops->buildresidual  = KSPBuildResidualDefault;
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESSetRestart_C", set_restart));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESGetRestart_C", get_restart));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESSetWindow_C", set_window));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESGetWindow_C", get_window));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESSetFlexible_C", set_flexible));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESGetTrueResidualNorm_C", get_true_residual));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESGetRankLimited_C", get_rank_limited));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPTTGMRESGetLastBasisVec_C", get_last_basis_vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}
