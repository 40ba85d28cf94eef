// What counts in the end: eigenvalues and residuals computed anew from the eigenvectors as they are, after all roundings.
#include "eps/interface/hooks.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr PetscReal product_rtol = 1e-13; // of A x in a Rayleigh quotient
constexpr PetscReal residual_rtol = 1e-3; // of a residual, of which the norm alone is wanted

struct Work {
  VecHandle x, xi, w, Bx, r;
  bool      tt = false;

  PetscErrorCode create(BV V)
  {
    VecType type;

    PetscFunctionBegin;
    for (VecHandle *v : {&x, &xi, &w, &Bx, &r}) PetscCall(BVCreateVec(V, v->out()));
    PetscCall(VecGetType(x, &type));
    tt = type && std::string(type) == VECTT;
    if (tt) {
      for (VecHandle *v : {&w, &Bx}) {
        PetscCall(VecTTSetRoundRtol(*v, product_rtol));
        PetscCall(VecTTSetMaxRank(*v, 0));
      }
      PetscCall(VecTTSetRoundRtol(r, residual_rtol));
      PetscCall(VecTTSetMaxRank(r, 0));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

// lambda := x^H A x / x^H B x, which makes the residual smallest for B = 1 and is right to second order for Hermitian problems; then
// ||A x - lambda B x|| / ||lambda x||, or the absolute one for lambda = 0. The difference is one rounded sum: no digits cancel in A x rounded before.
PetscErrorCode one_pair(Mat A, Mat B, Work &t, PetscScalar *lambda, PetscReal *residual)
{
  PetscScalar xAx, xBx;
  PetscReal   norm, norm_x;

  PetscFunctionBegin;
  PetscCall(MatMult(A, t.x, t.w));
  if (B) PetscCall(MatMult(B, t.x, t.Bx));
  else PetscCall(VecCopy(t.x, t.Bx));
  PetscCall(VecDot(t.w, t.x, &xAx));
  PetscCall(VecDot(t.Bx, t.x, &xBx));
  PetscCall(VecNorm(t.x, NORM_2, &norm_x));
  const PetscScalar quotient = xAx / xBx;
  if (PetscAbsScalar(xBx) > 0 && !PetscIsInfOrNanScalar(quotient)) *lambda = quotient;
  PetscCall(VecScale(t.Bx, *lambda));
  PetscCall(MatResidual(A, t.Bx, t.x, t.r));
  PetscCall(VecNorm(t.r, NORM_2, &norm));
  *residual = norm / norm_x;
  if (PetscAbsScalar(*lambda) > 0) *residual /= PetscAbsScalar(*lambda);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print_table(EPS eps, const std::vector<PetscInt> &ranks, const EPSHooks &h)
{
  const PetscViewer viewer = PETSC_VIEWER_STDOUT_(PetscObjectComm((PetscObject)eps));

  PetscFunctionBegin;
  PetscCall(SlepcSortEigenvalues(eps->sc, eps->nconv, eps->eigr, eps->eigi, eps->perm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %" PetscInt_FMT " eigenpairs, recomputed\n", h.type.c_str(), eps->nconv));
  PetscCall(PetscViewerASCIIPrintf(viewer, "             eigenvalue          ||Ax-kBx||/||kx||   largest TT rank\n"));
  for (PetscInt i = 0; i < eps->nconv; i++) {
    const PetscInt  c = eps->perm[i];
    const PetscReal im = PetscDefined(USE_COMPLEX) ? PetscImaginaryPart(eps->eigr[c]) : PetscRealPart(eps->eigi[c]);
    if (im == 0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %24.14e", (double)PetscRealPart(eps->eigr[c])));
    else PetscCall(PetscViewerASCIIPrintf(viewer, "  %.14e%+.14ei", (double)PetscRealPart(eps->eigr[c]), (double)im));
    if (h.residuals[c] >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "         %12.4e   %12" PetscInt_FMT "\n", (double)h.residuals[c], ranks[c]));
    else PetscCall(PetscViewerASCIIPrintf(viewer, "         (not computed)  %11" PetscInt_FMT "\n", ranks[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode recompute_pairs(EPS eps)
{
  EPSHooks             &h = *hooks_of(eps);
  Mat                   A, B = NULL;
  PetscInt              nmat, d;
  const PetscInt       *r;
  Work                  t;
  std::vector<PetscInt> ranks, perm;

  PetscFunctionBegin;
  PetscCallTT({
    h.residuals.assign(eps->nconv, -1);
    ranks.assign(eps->nconv, 0);
    perm.assign(eps->perm, eps->perm + eps->nconv);
  });
  if (eps->nconv == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(STGetNumMatrices(eps->st, &nmat));
  PetscCall(STGetMatrix(eps->st, 0, &A));
  if (nmat > 1) PetscCall(STGetMatrix(eps->st, 1, &B));
  PetscCall(t.create(eps->V));
  for (PetscInt i = 0; i < eps->nconv; i++) eps->perm[i] = i; // not sorted yet: eigenvectors by column
  for (PetscInt i = 0; i < eps->nconv; i++) {
    PetscScalar lambda = eps->eigr[i];
    const bool  pair   = !PetscDefined(USE_COMPLEX) && eps->eigi[i] != PetscScalar(0);
    PetscCall(EPSGetEigenvector(eps, i, t.x, t.xi));
    if (t.tt) {
      PetscCall(VecTTGetModes(t.x, &d, NULL));
      PetscCall(VecTTGetRanks(t.x, &r));
      ranks[i] = *std::max_element(r, r + d + 1);
    }
    if (pair) continue; // real and imaginary part in two vectors
    PetscCall(one_pair(A, B, t, &lambda, &h.residuals[i]));
    PetscCall(PetscInfo(eps, "Pair %" PetscInt_FMT ": %.14g from the iteration, Rayleigh quotient %.14g, residual %g\n", i, (double)PetscRealPart(eps->eigr[i]), (double)PetscRealPart(lambda),
                        (double)h.residuals[i]));
    eps->eigr[i]   = lambda;
    eps->errest[i] = h.residuals[i];
  }
  std::copy(perm.begin(), perm.end(), eps->perm);
  if (h.table) PetscCall(print_table(eps, ranks, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
