#include "ksp/impls/ttgmres/ttgmres.hpp"
#include "tt/ops/dot.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// The absolute residual norm that ends the solve: what KSPConvergedDefault() tests (ttol), or rtol ||b|| with another test.
PetscReal target(KSP ksp)
{
  const PetscReal own = std::max(ksp->rtol * data_of(ksp).rhs_norm, ksp->abstol);
  return ksp->converged == KSPConvergedDefault && ksp->ttol > 0 ? ksp->ttol : own;
}

// Is the PC the same linear map in every application? Then P^{-1} of the basis vectors need not be kept.
PetscErrorCode pc_is_fixed(PC pc, bool *fixed)
{
  PetscBool is_none, is_kron;

  PetscFunctionBegin;
  *fixed = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCNONE, &is_none));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCTTKRON, &is_kron));
  if (is_none) *fixed = true;
  if (is_kron) {
    PetscInt        n;
    const PetscInt *modes;
    PetscReal       exponentials;
    PetscCall(PCTTKronGetExponentials(pc, &exponentials, NULL));
    PetscCall(PCTTKronGetModes(pc, &n, &modes));
    *fixed = exponentials == 0; // rounded sums are not linear
    if (!*fixed) PetscFunctionReturn(PETSC_SUCCESS);
    for (PetscInt i = 0; i < n; i++) {
      KSP       inner;
      PetscBool preonly;
      PetscCall(PCTTKronGetModeKSP(pc, modes[i], &inner));
      PetscCall(PetscObjectTypeCompare((PetscObject)inner, KSPPREONLY, &preonly));
      *fixed = *fixed && preonly;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The absolute rounding error allowed in step j, after Simoncini & Szyld 2003 (relaxation): an error e made in step j reaches the residual as
// |y_j| e, and |y_j| is at most about `growth` times the residual before that step. The steps to come are guessed from the
// convergence so far, and the errors of all are taken to add up as squares.
PetscReal step_tolerance(const TTGMRES &g, PetscReal beta, PetscReal goal)
{
  const PetscInt  j   = g.small.columns();
  const PetscReal res = g.small.residual();
  PetscReal       n   = 30;
  if (j >= 3) {
    const PetscReal rate = std::log(std::max(res / beta, std::numeric_limits<PetscReal>::min()));
    n                    = std::min<PetscReal>(80, std::max<PetscReal>(15, j * std::log(goal / beta) / std::min<PetscReal>(rate, -1e-3)));
  }
  // what earlier steps have not used
  const PetscReal share = g.relax * goal, left = std::max(0.1 * share, std::sqrt(std::max<PetscReal>(0, share * share - g.small.error() * g.small.error())));
  const PetscReal growth = std::max<PetscReal>(12, 1.25 * g.small.growth());
  return left / (growth * res * std::sqrt(n));
}

PetscErrorCode report(KSP ksp, PetscReal rnorm)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->rnorm = rnorm;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscCall(KSPLogResidualHistory(ksp, rnorm));
  PetscCall(KSPMonitor(ksp, ksp->its, rnorm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Left: r becomes P^{-1} r, and what one norm is in terms of the other is noted: the small problem sees P^{-1} r, the target is for r.
PetscErrorCode precondition_residual(KSP ksp, Train *r)
{
  TTGMRES &g = data_of(ksp);
  Scaled   before, after;

  PetscFunctionBegin;
  g.ratio = 1;
  if (!g.left) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallTT(before = norm(*r));
  if (!g.z) PetscCall(create_vec(space_of(ksp->vec_sol), ksp->vec_sol, g.z.out()));
  PetscCall(set_train(g.V[0], std::move(*r)));
  PetscCall(KSP_PCApply(ksp, g.V[0], g.z));
  *r = train_of(g.z);
  PetscCallTT({
    after   = norm(*r);
    g.ratio = real((after / before).value_or_inf());
  });
  if (!(g.ratio > 0) || !is_finite(g.ratio)) ksp->rnorm = std::numeric_limits<PetscReal>::quiet_NaN(); // a failed or a singular preconditioner
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The steps of one cycle that starts from the residual r. Ends when the residual expected from the small problem and the
// roundings made so far is below the target, when the basis is full, or when going on is useless.
PetscErrorCode cycle(KSP ksp, Train &&r, PetscReal goal)
{
  TTGMRES &g = data_of(ksp);

  PetscFunctionBegin;
  if (g.V.empty()) {
    VecHandle v;
    PetscCall(create_vec(space_of(ksp->vec_sol), ksp->vec_sol, v.out()));
    g.V.push_back(std::move(v));
    g.sketch.emplace_back();
    if (g.keep_z) g.Z.emplace_back();
  }
  PetscCall(precondition_residual(ksp, &r));
  if (PetscIsInfOrNanReal(ksp->rnorm)) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscReal ratio = g.ratio;
  PetscReal       r_norm;
  PetscCallTT({
    const Scaled n = norm(r);
    r_norm         = real(n.value());
    r.set_scale(r.scale() / n);
  });
  g.sketch[0] = TrainSketch();
  g.images.clear();
  PetscCall(set_train(g.V[0], std::move(r)));
  g.small.start(r_norm);
  g.in_cycle = true;
  while (g.small.columns() < g.restart && ksp->its < ksp->max_it) {
    bool happy;
    PetscCall(extend_basis(ksp, step_tolerance(g, r_norm, goal * ratio), &happy));
    if (PetscIsInfOrNanReal(ksp->rnorm)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
    ksp->its++;
    PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
    const PetscReal res = g.small.residual(), expected = std::hypot(res, g.small.error()) / ratio;
    PetscCall(report(ksp, expected));
    PetscCall(PetscInfo(ksp, "Step %" PetscInt_FMT ": least-squares residual %g, roundings add %g, amplification %g\n", g.small.columns(), (double)res, (double)g.small.error(), (double)g.small.growth()));
    if (g.show_ranks && !happy) {
      const Train &v = train_of(g.V[g.small.columns()]);
      std::string  s;
      for (Int k = 1; k < v.d() && k < 40; k++) s += " " + std::to_string((long long)v.r(k));
      PetscCall(PetscPrintf(PetscObjectComm((PetscObject)ksp), "%*s    TT ranks%s\n", (int)((PetscObject)ksp)->tablevel, "", s.c_str()));
    }
    PetscCall((*ksp->converged)(ksp, ksp->its, expected, &ksp->reason, ksp->cnvP));
    // the default test is held back until there is room for the truncation of the solution
    if (ksp->reason > 0 && ksp->converged == KSPConvergedDefault && expected > 0.85 * goal && !happy) ksp->reason = KSP_CONVERGED_ITERATING;
    if (ksp->reason || happy) break;
    // rounding (a rank cap, as a rule) has made more error than is left to gain
    if (g.small.error() > 2 * res && g.small.error() > goal * ratio) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The iterate of the cycle with the smallest TT ranks whose recomputed residual is at the target: from the loosest truncation that
// the expected residual leaves room for, tightened until the true residual agrees or is no longer due to the truncation.
PetscErrorCode finish_cycle(KSP ksp, PetscReal goal, PetscReal *rnorm)
{
  TTGMRES        &g        = data_of(ksp);
  const PetscReal expected = std::hypot(g.small.residual(), g.small.error()) / g.ratio;
  const PetscReal room     = expected < goal ? 0.8 * std::sqrt(goal * goal - expected * expected) : 0.3 * expected;
  PetscReal       delta = room, last = PETSC_MAX_REAL;
  Train           y;

  PetscFunctionBegin;
  for (int attempt = 0;; attempt++) {
    PetscCall(build_iterate(ksp, delta * g.ratio, ksp->vec_sol, &y));
    PetscCall(true_residual(ksp, ksp->vec_sol, 0.1, 0, nullptr, rnorm));
    PetscCall(PetscInfo(ksp, "Truncation to %g: residual expected %g, recomputed %g, target %g\n", (double)delta, (double)expected, (double)*rnorm, (double)goal));
    if (!(*rnorm > goal) || PetscIsInfOrNanReal(*rnorm)) break;
    if (attempt >= 8 || *rnorm <= 1.02 * expected) break;
    // the amplification of the truncation error is known now; when a finer truncation does not help, the difference has other reasons
    const PetscReal made = std::sqrt(std::max<PetscReal>(0, *rnorm * *rnorm - expected * expected));
    if (attempt > 0 && made > 0.9 * last) break;
    last = made;
    delta *= std::min<PetscReal>(0.4, 0.8 * room / made);
  }
  if (!g.keep_z) g.y = std::move(y);
  else {
    if (!g.x0) PetscCall(create_vec(space_of(ksp->vec_sol), ksp->vec_sol, g.x0.out()));
    PetscCall(VecCopy(ksp->vec_sol, g.x0));
    g.x0_zero = false;
  }
  g.in_cycle = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_vectors(KSP ksp)
{
  PetscFunctionBegin;
  PetscCheck(is_vectt(ksp->vec_sol) && is_vectt(ksp->vec_rhs), PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONG,
             "KSPTTGMRES needs vectors of type %s; use -ksp_type gmres or fgmres with vectors of type %s", VECTT, ((PetscObject)ksp->vec_sol)->type_name);
  PetscCall(require_vectt(ksp->vec_sol, "the solution of KSPTTGMRES"));
  PetscCall(require_vectt(ksp->vec_rhs, "the right-hand side of KSPTTGMRES"));
  PetscCallTT(require_same_space(*space_of(ksp->vec_sol), *space_of(ksp->vec_rhs), "solution and right-hand side"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Starts a solve: operator fixed or flexible, initial guess, first residual.
PetscErrorCode begin(KSP ksp, Train *r, PetscReal *rnorm)
{
  TTGMRES &g = data_of(ksp);

  PetscFunctionBegin;
  PetscCall(check_vectors(ksp));
  bool fixed;
  PetscCall(pc_is_fixed(ksp->pc, &fixed));
  g.left = ksp->pc_side == PC_LEFT;
  PetscCheck(!g.left || g.flexible != 1, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP, "KSPTTGMRES with a preconditioner that changes from step to step needs it on the right: no -ksp_ttgmres_flexible with -ksp_pc_side left");
  const bool keep_z = !g.left && (g.flexible < 0 ? !fixed : g.flexible != 0);
  if (keep_z != g.keep_z || (!g.V.empty() && !space_of(g.V[0])->same(*space_of(ksp->vec_sol)))) drop_vectors(g);
  g.keep_z        = keep_z;
  g.y             = Train();
  g.x0_zero       = ksp->guess_zero != 0;
  g.cap_hit       = false;
  g.rank_limited  = false;
  g.in_cycle      = false;
  g.true_residual = -1;
  g.peak_rank     = 0;
  ksp->its        = 0;
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &g.rhs_norm));
  if (g.x0_zero) {
    *r     = train_of(ksp->vec_rhs);
    *rnorm = g.rhs_norm;
    PetscCall(VecSet(ksp->vec_sol, 0.0));
  } else {
    if (!g.x0) PetscCall(create_vec(space_of(ksp->vec_sol), ksp->vec_sol, g.x0.out()));
    PetscCall(VecCopy(ksp->vec_sol, g.x0));
    PetscCall(true_residual(ksp, ksp->vec_sol, 1e-3, 0.1 * ksp->rtol * g.rhs_norm, r, rnorm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode KSPSolve_TTGMRES(KSP ksp)
{
  TTGMRES  &g = data_of(ksp);
  Train     r;
  PetscReal rnorm, before;

  PetscFunctionBegin;
  PetscCall(begin(ksp, &r, &rnorm));
  KSPCheckNorm(ksp, rnorm);
  PetscCall(report(ksp, rnorm));
  PetscCall((*ksp->converged)(ksp, 0, rnorm, &ksp->reason, ksp->cnvP));
  g.true_residual = rnorm;
  while (!ksp->reason) {
    if (ksp->its >= ksp->max_it) {
      ksp->reason = KSP_DIVERGED_ITS;
      break;
    }
    const PetscReal goal = target(ksp);
    before               = rnorm;
    PetscCall(cycle(ksp, std::move(r), goal));
    if (PetscIsInfOrNanReal(ksp->rnorm)) {
      KSPCheckNorm(ksp, ksp->rnorm);
      break;
    }
    const KSPConvergedReason inner = ksp->reason;
    ksp->reason                    = KSP_CONVERGED_ITERATING;
    PetscCall(finish_cycle(ksp, goal, &rnorm));
    KSPCheckNorm(ksp, rnorm);
    g.true_residual = ksp->rnorm = rnorm;
    PetscCall((*ksp->converged)(ksp, ksp->its, rnorm, &ksp->reason, ksp->cnvP));
    if (!ksp->reason && inner < 0) ksp->reason = inner;
    if (ksp->reason) break;
    if (!(before - rnorm > 0.1 * (before - goal))) {
      // next to nothing of what was wanted was gained although the residual was recomputed: the rank cap or the working precision is the limit
      g.rank_limited = g.cap_hit;
      ksp->reason    = KSP_DIVERGED_BREAKDOWN;
      break;
    }
    if (ksp->its >= ksp->max_it) continue;
    // the next cycle is to bring rnorm down to goal: its start needs that relative accuracy and no more
    PetscCall(true_residual(ksp, ksp->vec_sol, std::min<PetscReal>(0.1, 0.3 * goal / rnorm), 0, &r, &rnorm));
  }
  if (ksp->reason == KSP_DIVERGED_ITS && g.cap_hit && rnorm > target(ksp)) g.rank_limited = true;
  g.x_ranks.clear();
  for (Int rk : train_of(ksp->vec_sol).ranks()) g.x_ranks.push_back(rk);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
