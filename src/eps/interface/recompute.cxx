// What counts in the end: eigenvalues and residuals computed anew from the eigenvectors as they are, after all roundings.
#include "eps/interface/hooks.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr PetscReal product_rtol = 1e-13; // of A x in a Rayleigh quotient
constexpr PetscReal residual_rtol = 1e-3; // of a residual, of which the norm alone is wanted

// One vector x, and for a pair of complex conjugates with real scalars two, x + i xi. Products with the matrices have fine roundings.
struct Work {
  VecHandle x, xi, w, Bx, Bxi, r;
  bool      tt = false;

  PetscErrorCode create(BV V)
  {
    VecType type;

    PetscFunctionBegin;
    for (VecHandle *v : {&x, &xi, &w, &Bx, &Bxi, &r}) PetscCall(BVCreateVec(V, v->out()));
    PetscCall(VecGetType(x, &type));
    tt = type && std::string(type) == VECTT;
    if (tt) {
      for (VecHandle *v : {&w, &Bx, &Bxi}) {
        PetscCall(VecTTSetRoundRtol(*v, product_rtol));
        PetscCall(VecTTSetMaxRank(*v, 0));
      }
      PetscCall(VecTTSetRoundRtol(r, residual_rtol));
      PetscCall(VecTTSetMaxRank(r, 0));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode apply_b(Mat B, Vec x, Vec Bx)
{
  PetscFunctionBegin;
  if (B) PetscCall(MatMult(B, x, Bx));
  else PetscCall(VecCopy(x, Bx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// || A x - b ||. With MATTT the difference is one rounded sum: no digits cancel in A x rounded before. Other matrices, shells for instance, would round A x as
// coarsely as r, so that their product goes through w, whose rounding is fine.
PetscErrorCode norm_of_difference(Mat A, Vec x, Vec b, Work &t, PetscReal *norm)
{
  PetscBool own;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATTT, &own));
  if (own || !t.tt) PetscCall(MatResidual(A, b, x, t.r));
  else {
    PetscCall(MatMult(A, x, t.w));
    PetscCall(VecWAXPY(t.r, -1, b, t.w));
  }
  PetscCall(VecNorm(t.r, NORM_2, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// lambda := x^H A x / x^H B x, which makes the residual smallest for B = 1 and is right to second order for Hermitian problems; then
// ||A x - lambda B x|| / ||lambda x||, or the absolute one for lambda = 0.
PetscErrorCode one_pair(Mat A, Mat B, Work &t, PetscScalar *lambda, PetscReal *residual)
{
  PetscScalar xAx, xBx;
  PetscReal   norm, norm_x;

  PetscFunctionBegin;
  PetscCall(MatMult(A, t.x, t.w));
  PetscCall(apply_b(B, t.x, t.Bx));
  PetscCall(VecDot(t.w, t.x, &xAx));
  PetscCall(VecDot(t.Bx, t.x, &xBx));
  PetscCall(VecNorm(t.x, NORM_2, &norm_x));
  const PetscScalar quotient = xAx / xBx;
  if (PetscAbsScalar(xBx) > 0 && !PetscIsInfOrNanScalar(quotient)) *lambda = quotient;
  PetscCall(VecScale(t.Bx, *lambda));
  PetscCall(norm_of_difference(A, t.x, t.Bx, t, &norm));
  *residual = norm / norm_x;
  if (PetscAbsScalar(*lambda) > 0) *residual /= PetscAbsScalar(*lambda);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Real scalars: ||A (x + i xi) - (re + i im) B (x + i xi)|| / ||(re + i im) (x + i xi)||, by real and imaginary part
//   A x - (re B x - im B xi),   A xi - (im B x + re B xi).
PetscErrorCode conjugate_pair(Mat A, Mat B, Work &t, PetscReal re, PetscReal im, PetscReal *residual)
{
  PetscReal norm[2], norm_x[2];
  VecHandle b;

  PetscFunctionBegin;
  PetscCall(apply_b(B, t.x, t.Bx));
  PetscCall(apply_b(B, t.xi, t.Bxi));
  PetscCall(VecDuplicate(t.Bx, b.out()));
  PetscCall(VecSet(b, 0));
  PetscCall(VecAXPBYPCZ(b, re, -im, 0, t.Bx, t.Bxi));
  PetscCall(norm_of_difference(A, t.x, b, t, &norm[0]));
  PetscCall(VecAXPBYPCZ(b, im, re, 0, t.Bx, t.Bxi));
  PetscCall(norm_of_difference(A, t.xi, b, t, &norm[1]));
  PetscCall(VecNorm(t.x, NORM_2, &norm_x[0]));
  PetscCall(VecNorm(t.xi, NORM_2, &norm_x[1]));
  *residual = SlepcAbs(norm[0], norm[1]) / (SlepcAbs(norm_x[0], norm_x[1]) * SlepcAbs(re, im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode largest_rank(Vec x, PetscInt *largest)
{
  PetscInt        d;
  const PetscInt *r;

  PetscFunctionBegin;
  PetscCall(VecTTGetModes(x, &d, NULL));
  PetscCall(VecTTGetRanks(x, &r));
  *largest = *std::max_element(r, r + d + 1);
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
    PetscCall(PetscViewerASCIIPrintf(viewer, "         %12.4e   %12" PetscInt_FMT "\n", (double)h.residuals[c], ranks[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode recompute_pairs(EPS eps)
{
  EPSHooks             &h = *hooks_of(eps);
  Mat                   A, B = NULL;
  PetscInt              nmat;
  Work                  t;
  std::vector<PetscInt> ranks;

  PetscFunctionBegin;
  PetscCallTT({
    h.residuals.assign(eps->nconv, -1);
    ranks.assign(eps->nconv, 0);
  });
  if (eps->nconv == 0) PetscFunctionReturn(PETSC_SUCCESS);
  // what EPSGetEigenvector() would do first. It is not called itself: it takes it that of two conjugates the one with positive imaginary part comes
  // first, which SLEPc sees to after this
  if (eps->state < EPS_STATE_EIGENVECTORS) PetscTryTypeMethod(eps, computevectors);
  eps->state = EPS_STATE_EIGENVECTORS;
  PetscCall(STGetNumMatrices(eps->st, &nmat));
  PetscCall(STGetMatrix(eps->st, 0, &A));
  if (nmat > 1) PetscCall(STGetMatrix(eps->st, 1, &B));
  PetscCall(t.create(eps->V));
  for (PetscInt i = 0; i < eps->nconv; i++) {
    PetscScalar lambda = eps->eigr[i];
    const bool  pair   = !PetscDefined(USE_COMPLEX) && eps->eigi[i] != PetscScalar(0) && i + 1 < eps->nconv;
    PetscCall(BVCopyVec(eps->V, i, t.x));
    if (t.tt) PetscCall(largest_rank(t.x, &ranks[i]));
    if (pair) {
      PetscCall(BVCopyVec(eps->V, i + 1, t.xi));
      if (t.tt) PetscCall(largest_rank(t.xi, &ranks[i + 1]));
      PetscCall(conjugate_pair(A, B, t, PetscRealPart(eps->eigr[i]), PetscRealPart(eps->eigi[i]), &h.residuals[i]));
      eps->errest[i] = eps->errest[i + 1] = h.residuals[i + 1] = h.residuals[i];
      i++;
      continue;
    }
    PetscCall(one_pair(A, B, t, &lambda, &h.residuals[i]));
    PetscCall(PetscInfo(eps, "Pair %" PetscInt_FMT ": %.14g from the iteration, Rayleigh quotient %.14g, residual %g\n", i, (double)PetscRealPart(eps->eigr[i]), (double)PetscRealPart(lambda),
                        (double)h.residuals[i]));
    eps->eigr[i]   = lambda;
    eps->errest[i] = h.residuals[i];
  }
  if (h.table) PetscCall(print_table(eps, ranks, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
