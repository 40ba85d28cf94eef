static char help[] = "Every eigensolver on a small operator in tensor-train form against closed forms; those that cannot work say so.\n\n";

#include "check.hpp"

struct Case {
  const char *name, *type, *options;
  PetscReal   c;       // of SmallOperator()
  bool        inverse; // shift-and-invert at 0
  PetscInt    nev;
};

static const Case cases[] = {
  {"krylovschur", EPSKRYLOVSCHUR, "", 0, false, 2},
  {"krylovschur, inverse", EPSKRYLOVSCHUR, "", 0, true, 2},
  {"krylovschur, not symmetric", EPSKRYLOVSCHUR, "", 0.3, true, 1},
  {"arnoldi", EPSARNOLDI, "", 0, true, 2},
  {"lanczos", EPSLANCZOS, "", 0, false, 2},
  {"lanczos, inverse", EPSLANCZOS, "-eps_ncv 6", 0, true, 2},
  {"subspace", EPSSUBSPACE, "-eps_ncv 6", 0, true, 2},
  {"power", EPSPOWER, "", 0, true, 2},
  {"gd", EPSGD, "", 0, false, 2},
  {"jd", EPSJD, "", 0, false, 2},
  {"rqcg", EPSRQCG, "", 0, false, 2},
};

static PetscErrorCode Run(const Case &t, const std::vector<PetscInt> &N, PetscInt nev, const char *only)
{
  Mat                          A;
  EPS                          eps;
  ST                           st;
  PetscInt                     nconv;
  const std::vector<PetscReal> exact = SmallEigenvalues(N, t.c);

  PetscFunctionBeginUser;
  if (only[0] && t.type != std::string(only)) PetscFunctionReturn(0);
  PetscCall(SmallOperator(N, t.c, &A));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(PetscOptionsInsertString(NULL, t.options));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, t.c == 0 ? EPS_HEP : EPS_NHEP));
  PetscCall(EPSSetType(eps, t.type));
  PetscCall(EPSSetDimensions(eps, nev, PETSC_DEFAULT, PETSC_DEFAULT));
  if (t.inverse) {
    PetscCall(EPSGetST(eps, &st));
    PetscCall(STSetType(st, STSINVERT));
    PetscCall(EPSSetTarget(eps, 0));
    PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
  } else PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &nconv));
  CHECK(nconv >= nev, "%s: %d of %d converged", t.name, (int)nconv, (int)nev);
  PetscReal largest = 0, residual = 0, r, e;
  for (PetscInt i = 0; i < nev; i++) {
    PetscScalar value;
    PetscCall(EPSGetEigenvalue(eps, i, &value, NULL));
    largest = PetscMax(largest, PetscAbsScalar(value - exact[i]) / exact[i]);
    PetscCall(EPSTTGetResidualNorm(eps, i, &r));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_RELATIVE, &e));
    CHECK(PetscAbsReal(r - e) < 1e-3 * r + 1e-10, "%s: residual %g, but SLEPc computes %g", t.name, (double)r, (double)e);
    residual = PetscMax(residual, r);
  }
  CHECK(largest < 1e-8, "%s: eigenvalues are off by %g", t.name, (double)largest);
  CHECK(residual < 1e-6, "%s: residuals up to %g", t.name, (double)residual);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-28s eigenvalues to 1e-8, residuals below 1e-6\n", t.name));
  PetscCall(PetscOptionsClearValue(NULL, "-eps_ncv"));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode Refusals(const std::vector<PetscInt> &N)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 0, &A));
  for (const char *type : {EPSLOBPCG, EPSLAPACK, EPSCISS, EPSLYAPII}) {
    EPS eps;
    PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
    PetscCall(EPSSetOperators(eps, A, NULL));
    PetscCall(EPSSetProblemType(eps, EPS_HEP));
    PetscCall(EPSSetType(eps, type));
    CHECK(Quietly([&] { return EPSSetUp(eps); }) == PETSC_ERR_SUP && last_message.find("use -eps_type krylovschur") != std::string::npos, "%s: %s", type, last_message.c_str());
    PetscCall(EPSDestroy(&eps));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

// Reorthogonalisations that count on more digits than rounded vectors have.
static PetscErrorCode LanczosRefusal(const std::vector<PetscInt> &N)
{
  Mat A;
  EPS eps;

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 0, &A));
  for (EPSLanczosReorthogType type : {EPS_LANCZOS_REORTHOG_PARTIAL, EPS_LANCZOS_REORTHOG_LOCAL}) {
    PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
    PetscCall(EPSSetOperators(eps, A, NULL));
    PetscCall(EPSSetProblemType(eps, EPS_HEP));
    PetscCall(EPSSetType(eps, EPSLANCZOS));
    PetscCall(EPSLanczosSetReorthog(eps, type));
    if (type == EPS_LANCZOS_REORTHOG_LOCAL) PetscCall(PetscOptionsSetValue(NULL, "-eps_lanczos_reorthog", "local"));
    CHECK(Quietly([&] { return EPSSetUp(eps); }) == PETSC_ERR_SUP && last_message.find(type == EPS_LANCZOS_REORTHOG_LOCAL ? "LOCAL relies" : "PARTIAL relies") != std::string::npos, "lanczos: %s",
          last_message.c_str());
    PetscCall(EPSDestroy(&eps));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-eps_lanczos_reorthog"));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

// Eigenvalues that are complex: those of a real operator come as conjugates, which shift-and-invert turns around. The residual is SLEPc's.
static PetscErrorCode Conjugates(const std::vector<PetscInt> &N)
{
  Mat         A;
  EPS         eps;
  ST          st;
  PetscInt    nconv;
  PetscReal   r, e;
  PetscScalar re, im;
  bool        any = false;

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 1.5, &A));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_NHEP));
  PetscCall(EPSGetST(eps, &st));
  PetscCall(STSetType(st, STSINVERT));
  PetscCall(EPSSetTarget(eps, 0));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
  PetscCall(EPSSetDimensions(eps, 2, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &nconv));
  CHECK(nconv >= 2, "complex eigenvalues: %d of 2 converged", (int)nconv);
  for (PetscInt i = 0; i < 2; i++) {
    PetscCall(EPSGetEigenvalue(eps, i, &re, &im));
    any = any || PetscAbsReal(PetscDefined(USE_COMPLEX) ? PetscImaginaryPart(re) : PetscRealPart(im)) > 1e-3;
    PetscCall(EPSTTGetResidualNorm(eps, i, &r));
    PetscCall(EPSComputeError(eps, i, EPS_ERROR_RELATIVE, &e));
    CHECK(r < 1e-6 && PetscAbsReal(r - e) < 1e-3 * r + 1e-10, "complex eigenvalues: residual %g, but SLEPc computes %g", (double)r, (double)e);
  }
  CHECK(any, "complex eigenvalues: there is none");
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(0);
}

static PetscErrorCode ShellCreateVecs(Mat S, Vec *right, Vec *left)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatCreateVecs(A, right, left));
  PetscFunctionReturn(0);
}

// A shell that makes vectors of type VECTT: what the residual is computed from is accurate all the same.
static PetscErrorCode Shell(const std::vector<PetscInt> &N)
{
  Mat         A, S;
  EPS         eps;
  Vec         x;
  PetscInt    n, global;
  PetscScalar value;
  PetscReal   r;

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 0, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &global));
  PetscCall(MatCreateShell(PETSC_COMM_WORLD, n, n, global, global, A, &S));
  PetscCall(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))ShellMult));
  PetscCall(MatShellSetOperation(S, MATOP_CREATE_VECS, (void (*)(void))ShellCreateVecs));
  PetscCall(MatShellSetVecType(S, VECTT));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, S, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetEigenvalue(eps, 0, &value, NULL));
  const PetscReal exact = SmallEigenvalues(N, 0)[0];
  CHECK(PetscAbsScalar(value - exact) < 1e-8 * exact, "shell: eigenvalue off by %g", (double)PetscAbsScalar(value - exact));
  PetscCall(EPSTTGetResidualNorm(eps, 0, &r));
  CHECK(r < 1e-6, "shell: residual %g", (double)r);
  PetscCall(EPSDestroy(&eps));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

// A second solve to a finer tolerance, and one that is to stay away from the eigenvector that is known.
static PetscErrorCode Again(const std::vector<PetscInt> &N)
{
  Mat                          A;
  EPS                          eps;
  ST                           st;
  KSP                          ksp;
  Vec                          x;
  PetscScalar                  value;
  PetscReal                    r, rtol;
  const std::vector<PetscReal> exact = SmallEigenvalues(N, 0);

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 0, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSGetST(eps, &st));
  PetscCall(STSetType(st, STSINVERT));
  PetscCall(EPSSetTarget(eps, 0));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
  for (PetscReal tol : {1e-3, 1e-9}) {
    PetscCall(EPSSetTolerances(eps, tol, 200));
    PetscCall(EPSSetDimensions(eps, 1, PETSC_DEFAULT, PETSC_DEFAULT)); // a change of the tolerance alone does not make SLEPc solve again
    PetscCall(EPSSolve(eps));
    PetscCall(EPSTTGetResidualNorm(eps, 0, &r));
    CHECK(r < 20 * tol, "residual %g after a solve to %g", (double)r, (double)tol);
    PetscCall(STGetKSP(st, &ksp));
    PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
    CHECK(rtol <= 0.1 * tol, "linear solves to %g in a solve to %g", (double)rtol, (double)tol);
  }
  PetscCall(EPSGetEigenvector(eps, 0, x, NULL));
  PetscCall(EPSSetDeflationSpace(eps, 1, &x));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetEigenvalue(eps, 0, &value, NULL));
  CHECK(PetscAbsScalar(value - exact[1]) < 1e-8 * exact[1], "without the first eigenvector the first eigenvalue is off by %g", (double)PetscAbsScalar(value - exact[1]));
  PetscCall(EPSDestroy(&eps));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(0);
}

// A x = lambda B x with B = 2 times the identity: half the eigenvalues. And a matrix that is not ours is left alone.
static PetscErrorCode Others(const std::vector<PetscInt> &N)
{
  Mat         A, B, F;
  EPS         eps;
  ST          st;
  PetscScalar value;
  PetscReal   r;

  PetscFunctionBeginUser;
  PetscCall(SmallOperator(N, 0, &A));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatZeroEntries(B));
  PetscCall(MatShift(B, 2));
  PetscCall(MatTTGetAssembled(A, &F));
  for (int own = 0; own < 2; own++) {
    PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
    PetscCall(EPSSetOperators(eps, own ? A : F, own ? B : NULL));
    PetscCall(EPSSetProblemType(eps, own ? EPS_GHEP : EPS_HEP));
    if (own) {
      PetscCall(EPSGetST(eps, &st));
      PetscCall(STSetType(st, STSINVERT));
      PetscCall(EPSSetTarget(eps, 0));
      PetscCall(EPSSetWhichEigenpairs(eps, EPS_TARGET_MAGNITUDE));
    } else PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
    PetscCall(EPSSolve(eps)); // no EPSSetFromOptions()
    PetscCall(EPSGetEigenvalue(eps, 0, &value, NULL));
    const PetscReal exact = SmallEigenvalues(N, 0)[0] / (own ? 2 : 1);
    CHECK(PetscAbsScalar(value - exact) < 1e-8 * exact, "%s: eigenvalue off by %g", own ? "generalised" : "assembled", (double)PetscAbsScalar(value - exact));
    const int code = Quietly([&] { return EPSTTGetResidualNorm(eps, 0, &r); });
    CHECK(code == (own ? 0 : PETSC_ERR_ARG_WRONGSTATE) && (!own || r < 1e-6), "EPSTTGetResidualNorm: code %d", code);
    PetscCall(EPSDestroy(&eps));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&F));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  char only[64] = "";

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializeSlepc());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-only", only, sizeof(only), NULL));
  for (const Case &t : cases) PetscCall(Run(t, {4, 5, 3}, t.nev, only));
  if (!only[0]) {
    PetscCall(Refusals({4, 5, 3}));
    PetscCall(LanczosRefusal({4, 5, 3}));
    PetscCall(Conjugates({4, 5, 3}));
    PetscCall(Shell({4, 5, 3}));
    PetscCall(Again({4, 5, 3}));
    PetscCall(Others({4, 5, 3}));
  }
  PetscCall(SlepcFinalize());
  return 0;
}
