#include "preconditioner.hpp"

#include <numeric>

namespace cookies {

namespace {

struct CorrectedMean {
  PC  mean = NULL; // M^{-1} on mode 0
  Mat B    = NULL;
  Vec y    = NULL, w = NULL;
};

PetscErrorCode apply(PC pc, Vec x, Vec z)
{
  CorrectedMean *c;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(PCApply(c->mean, x, c->y));
  PetscCall(MatMult(c->B, c->y, c->w));
  PetscCall(VecAYPX(c->w, -1.0, x));
  PetscCall(PCApply(c->mean, c->w, z));
  PetscFunctionReturn(0);
}

// The inner preconditioner is made when it is needed: another -pc_type may have replaced this one by then.
PetscErrorCode set_up(PC pc)
{
  CorrectedMean *c;
  Mat            A, P;
  const char    *prefix;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &c));
  if (!c->mean) {
    PetscCall(PCCreate(PetscObjectComm((PetscObject)pc), &c->mean));
    PetscCall(PetscObjectIncrementTabLevel((PetscObject)c->mean, (PetscObject)pc, 1));
    PetscCall(PCGetOptionsPrefix(pc, &prefix));
    PetscCall(PCSetOptionsPrefix(c->mean, prefix));
  }
  PetscCall(PCGetOperators(pc, &A, &P));
  PetscCall(PCSetOperators(c->mean, A, P));
  PetscCall(PCSetType(c->mean, PCTTKRON));
  PetscCall(PCSetFromOptions(c->mean));
  PetscCall(PCSetUp(c->mean));
  PetscCall(PCSetUpOnBlocks(c->mean));
  PetscFunctionReturn(0);
}

PetscErrorCode view(PC pc, PetscViewer viewer)
{
  CorrectedMean *c;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  M^{-1} - M^{-1} B M^{-1}, M the operator at the mean of the parameters:\n"));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (c->mean) PetscCall(PCView(c->mean, viewer));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(0);
}

PetscErrorCode destroy(PC pc)
{
  CorrectedMean *c;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &c));
  PetscCall(PCDestroy(&c->mean));
  PetscCall(MatDestroy(&c->B));
  PetscCall(VecDestroy(&c->y));
  PetscCall(VecDestroy(&c->w));
  delete c;
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode create_diagonal(Vec like, PetscInt k, const std::vector<PetscReal> &values, Mat *D)
{
  const PetscInt N = (PetscInt)values.size();
  PetscBool      replicated;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(like, k, &replicated, &start, &end));
  PetscCall(MatCreateAIJ(replicated ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)like), end - start, end - start, N, N, 1, NULL, 0, NULL, D));
  for (PetscInt j = start; j < end; ++j) PetscCall(MatSetValue(*D, j, j, values[j], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode set_corrected_mean(PC pc, Vec like, const std::vector<Mat> &space, const std::vector<PetscReal> &alpha)
{
  CorrectedMean         *c = new CorrectedMean;
  PetscInt               d, n0;
  const PetscInt        *N;
  std::vector<PetscReal> g;

  PetscFunctionBeginUser;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, c));
  PetscCall(PCShellSetName(pc, "corrected mean"));
  PetscCall(PCShellSetDestroy(pc, destroy));
  PetscCall(PCShellSetSetUp(pc, set_up));
  PetscCall(PCShellSetApply(pc, apply));
  PetscCall(PCShellSetApplyTranspose(pc, apply)); // symmetric
  PetscCall(PCShellSetView(pc, view));

  const PetscReal m = std::accumulate(alpha.begin(), alpha.end(), (PetscReal)0) / (PetscReal)alpha.size();
  for (PetscReal a : alpha) g.push_back((m + 2) * (a - m) / (a + 2));
  PetscCall(VecTTGetModes(like, &d, &N));
  std::vector<PetscInt> n(d, PETSC_TT_AUTO);
  PetscCall(MatGetLocalSize(space[0], &n0, NULL));
  n[0] = n0;
  PetscCall(MatCreateTT(PetscObjectComm((PetscObject)pc), d, n.data(), N, &c->B));
  for (PetscInt i = 1; i < d; ++i) {
    std::vector<Mat> factors(d, NULL);
    factors[0] = space[i];
    PetscCall(create_diagonal(like, i, g, &factors[i]));
    PetscCall(MatTTAddTerm(c->B, 1.0, factors.data()));
    PetscCall(MatDestroy(&factors[i]));
  }
  PetscCall(MatAssemblyBegin(c->B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(c->B, MAT_FINAL_ASSEMBLY));
  PetscCall(VecDuplicate(like, &c->y));
  PetscCall(VecDuplicate(like, &c->w));
  PetscCall(VecTTSetMaxRank(c->w, 0)); // a cap here would make the preconditioner another map for every vector
  PetscFunctionReturn(0);
}

} // namespace cookies
