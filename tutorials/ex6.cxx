static char help[] = "Time steps in many dimensions: the heat equation, or Allen-Cahn, by PETSc's TS on tensor trains.\n\n";

/*
  The maths.  On the grid of n^d interior points of the unit cube, mesh width h = 1/(n+1),

      u' = A u + c (u - u^3) + g(t),      A = nu sum_k  I x ... x L x ... x I,   L = tridiag(1, -2, 1)/h^2.

  With c = 0, the default, and g = 0 it is the heat equation; with c > 0 the Allen-Cahn equation. The products of sines

      phi_m = x_k sin(m_k pi x_k),      A phi_m = lambda_m phi_m,      lambda_m = nu sum_k (2 cos(m_k pi h) - 2)/h^2,

  are eigenvectors. From a sum of three of them the heat equation goes on as u(t) = sum_m exp(lambda_m t) phi_m, whose TT ranks are at most 3. For c > 0 the
  source g(t) = -c (u - u^3) at this u makes the same function the solution, so that the error of the time steps is known for any d.

  The full vector of the default has 32^6 = 1e9 entries; nothing here has that size. Every stage of every step is rounded, which is what keeps the ranks
  low: the difference of two steps is small, and its directions that do not matter go.

  u^3 is two entrywise products. The exact Jacobian, A + c I - 3 c diag(u o u), is a MATTT to which MatTTAddDiagonalVec() adds the diagonal matrix of a
  tensor train; with PCTTKRON the linear systems take few iterations.

  Sample runs.
      ./ex6                                             the heat equation, BDF with step size control
      ./ex6 -d 10 -ts_rtol 1e-6                         1e15 entries
      ./ex6 -c 5                                        Allen-Cahn, Newton's method in every step
      ./ex6 -c 5 -imex -ts_type arkimex                 diffusion implicit, reaction explicit
      ./ex6 -ts_type cn -ts_adapt_type none -ts_dt 0.01 fixed steps
      ./ex6 -n 8 -ts_type rk                            explicit: steps as small as stability wants
      mpiexec -n 4 ./ex6 -n 100                         modes split over the processes
      ./ex6 -ts_view -ts_adapt_monitor -ksp_converged_reason -log_view

  What to look at.
    - The error is that of the steps, near -ts_rtol; it falls with it. The ranks stay at those of the solution.
    - Step size control measures errors by norms: RMS(error)/(atol + rtol RMS(u)). It works on every PETSc; see -ts_adapt_type basic, dsp.
    - -vec_tt_round_rtol larger than what a step gains (1e-5, say, with -ts_rtol 1e-6): the rounding errors look like truncation errors, steps
      are rejected and shrink. By default vectors are rounded to 1e-3 times the smallest of -ksp_rtol, -snes_rtol and -ts_rtol.
    - Allen-Cahn: the truncation error of the steps, unlike the solution, has no small ranks, and roundings far below it keep its ranks. Newton's method
      is therefore asked for a relative residual of 1e-5 in each step only: with -snes_rtol 1e-8 ranks and times are several times as large.
*/
#include <petscts.h>
#include <petsctt.h>

#include <cmath>
#include <vector>

struct Problem {
  PetscInt  d = 6, n = 32;
  PetscReal nu = 0.1, c = 0;
  PetscBool imex = PETSC_FALSE;
  Mat       A    = NULL;
  Vec       phi[3] = {NULL, NULL, NULL}, exact = NULL;
  PetscReal lambda[3] = {0, 0, 0};
};

static PetscErrorCode CreateLaplacian(Problem *p)
{
  const PetscReal       h = 1.0 / (PetscReal)(p->n + 1);
  std::vector<PetscInt> N((size_t)p->d, p->n);
  std::vector<Mat>      factors((size_t)p->d, (Mat)NULL);
  Vec                   x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, p->d, NULL, N.data(), &p->A));
  PetscCall(MatCreateVecs(p->A, &x, NULL));
  for (PetscInt k = 0; k < p->d; k++) {
    PetscBool replicated;
    PetscInt  start, end;
    Mat       L;
    PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
    PetscCall(MatCreate(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, &L));
    PetscCall(MatSetSizes(L, end - start, end - start, p->n, p->n));
    PetscCall(MatSetType(L, MATAIJ));
    PetscCall(MatSeqAIJSetPreallocation(L, 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(L, 3, NULL, 2, NULL));
    for (PetscInt i = start; i < end; i++) {
      if (i > 0) PetscCall(MatSetValue(L, i, i - 1, 1 / (h * h), INSERT_VALUES));
      PetscCall(MatSetValue(L, i, i, -2 / (h * h), INSERT_VALUES));
      if (i + 1 < p->n) PetscCall(MatSetValue(L, i, i + 1, 1 / (h * h), INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(L, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(L, MAT_FINAL_ASSEMBLY));
    factors[(size_t)k] = L;
    PetscCall(MatTTAddTerm(p->A, p->nu, factors.data())); // NULL means identity
    factors[(size_t)k] = NULL;
    PetscCall(MatDestroy(&L)); // the operator holds a reference
  }
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

// phi_m for m_k = 1, but for every second mode m_k = m, and its eigenvalue.
static PetscErrorCode CreateEigenvector(Problem *p, PetscInt m, Vec *phi, PetscReal *lambda)
{
  const PetscReal  h = 1.0 / (PetscReal)(p->n + 1);
  std::vector<Vec> mode((size_t)p->d);

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(p->A, phi, NULL));
  *lambda = 0;
  for (PetscInt k = 0; k < p->d; k++) {
    const PetscReal waves = (PetscReal)(k % 2 ? 1 : m);
    PetscScalar    *a;
    PetscInt        start, end;
    PetscCall(VecTTCreateModeVec(*phi, k, &mode[(size_t)k]));
    PetscCall(VecGetOwnershipRange(mode[(size_t)k], &start, &end));
    PetscCall(VecGetArrayWrite(mode[(size_t)k], &a));
    for (PetscInt i = start; i < end; i++) a[i - start] = std::sin(waves * PETSC_PI * h * (PetscReal)(i + 1));
    PetscCall(VecRestoreArrayWrite(mode[(size_t)k], &a));
    *lambda += p->nu * (2 * std::cos(waves * PETSC_PI * h) - 2) / (h * h);
  }
  PetscCall(VecTTSetRankOne(*phi, mode.data()));
  for (Vec &v : mode) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

static PetscErrorCode Exact(Problem *p, PetscReal t, Vec u)
{
  PetscScalar a[3];

  PetscFunctionBeginUser;
  for (int m = 0; m < 3; m++) a[m] = std::exp(p->lambda[m] * t) / (1 + m);
  PetscCall(VecSet(u, 0));
  PetscCall(VecMAXPY(u, 3, a, p->phi)); // one sum, rounded once
  PetscFunctionReturn(0);
}

// f += a (v - v^3)
static PetscErrorCode AddReaction(Vec f, PetscReal a, Vec v)
{
  Vec cube;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(f, &cube));
  PetscCall(VecPointwiseMult(cube, v, v));
  PetscCall(VecPointwiseMult(cube, cube, v));
  PetscCall(VecAXPBYPCZ(f, a, -a, 1, v, cube));
  PetscCall(VecDestroy(&cube));
  PetscFunctionReturn(0);
}

// All of the right-hand side, or with -imex all but A u.
static PetscErrorCode RHSFunction(TS, PetscReal t, Vec u, Vec f, void *ctx)
{
  Problem *p = (Problem *)ctx;

  PetscFunctionBeginUser;
  if (p->imex) PetscCall(VecSet(f, 0));
  else PetscCall(MatMult(p->A, u, f));
  if (p->c != 0) {
    PetscCall(Exact(p, t, p->exact));
    PetscCall(AddReaction(f, p->c, u));
    PetscCall(AddReaction(f, -p->c, p->exact));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode RHSJacobian(TS, PetscReal, Vec u, Mat J, Mat P, void *ctx)
{
  Problem *p = (Problem *)ctx;

  PetscFunctionBeginUser;
  PetscCall(MatCopy(p->A, P, SAME_NONZERO_PATTERN)); // the factors are referenced, not copied
  if (p->c != 0) {
    Vec square;
    PetscCall(VecDuplicate(u, &square));
    PetscCall(VecPointwiseMult(square, u, u));
    PetscCall(VecTTRound(square, 1e-4, 0, NULL)); // a Jacobian that is right to 1e-4 serves Newton's method well
    PetscCall(MatShift(P, p->c));
    PetscCall(MatTTAddDiagonalVec(P, -3 * p->c, square));
    PetscCall(VecDestroy(&square));
  }
  if (J != P) PetscCall(MatCopy(P, J, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(0);
}

// With -imex: u' - A u on the left.
static PetscErrorCode IFunction(TS, PetscReal, Vec u, Vec udot, Vec f, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(MatMult(((Problem *)ctx)->A, u, f));
  PetscCall(VecAYPX(f, -1, udot));
  PetscFunctionReturn(0);
}

static PetscErrorCode IJacobian(TS, PetscReal, Vec, Vec, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  PetscCall(MatCopy(((Problem *)ctx)->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatScale(P, -1));
  PetscCall(MatShift(P, shift));
  if (J != P) PetscCall(MatCopy(P, J, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(0);
}

// ||u - exact|| / ||exact|| and the largest TT rank of u.
static PetscErrorCode Measure(Problem *p, PetscReal t, Vec u, PetscReal *error, PetscInt *rank)
{
  const PetscInt *r;
  PetscReal       norm;
  Vec             e;

  PetscFunctionBeginUser;
  PetscCall(Exact(p, t, p->exact));
  PetscCall(VecNorm(p->exact, NORM_2, &norm));
  PetscCall(VecDuplicate(u, &e));
  PetscCall(VecWAXPY(e, -1, u, p->exact));
  PetscCall(VecNorm(e, NORM_2, error));
  *error /= norm;
  PetscCall(VecDestroy(&e));
  PetscCall(VecTTGetRanks(u, &r));
  *rank = 1;
  for (PetscInt k = 0; k <= p->d; k++) *rank = PetscMax(*rank, r[k]);
  PetscFunctionReturn(0);
}

static PetscErrorCode Monitor(TS ts, PetscInt step, PetscReal t, Vec u, void *ctx)
{
  PetscReal dt, error;
  PetscInt  rank;

  PetscFunctionBeginUser;
  if (step < 0) PetscFunctionReturn(0); // an interpolated solution
  PetscCall(TSGetTimeStep(ts, &dt));
  PetscCall(Measure((Problem *)ctx, t, u, &error, &rank));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%4d   %9.3e   %9.3e   %2d        %.1e\n", (int)step, (double)t, (double)dt, (int)rank, (double)error));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Problem           p;
  TS                ts;
  SNES              snes;
  KSP               ksp;
  PC                pc;
  Mat               J;
  Vec               u;
  PetscReal         end = 0.2, error, check = 1e-2, log10size, t;
  PetscInt          rank, steps, rejected, nonlinear, linear;
  TSConvergedReason reason;
  TSType            type;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of ex6", "");
  PetscCall(PetscOptionsInt("-d", "Number of dimensions", "ex6.cxx", p.d, &p.d, NULL));
  PetscCall(PetscOptionsInt("-n", "Points in each", "ex6.cxx", p.n, &p.n, NULL));
  PetscCall(PetscOptionsReal("-nu", "Diffusivity", "ex6.cxx", p.nu, &p.nu, NULL));
  PetscCall(PetscOptionsReal("-c", "Coefficient of the reaction u - u^3", "ex6.cxx", p.c, &p.c, NULL));
  PetscCall(PetscOptionsBool("-imex", "Diffusion on the left-hand side, the rest on the right", "ex6.cxx", p.imex, &p.imex, NULL));
  PetscCall(PetscOptionsReal("-end", "Final time", "ex6.cxx", end, &end, NULL));
  PetscCall(PetscOptionsReal("-check", "Fail when the error at the end is larger", "ex6.cxx", check, &check, NULL));
  PetscOptionsEnd();
  PetscCheck(p.d >= 1 && p.n >= 4 && p.nu > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Need -d >= 1, -n >= 4 and -nu > 0");

  PetscCall(CreateLaplacian(&p));
  for (PetscInt m = 0; m < 3; m++) PetscCall(CreateEigenvector(&p, m + 1, &p.phi[m], &p.lambda[m]));
  PetscCall(MatCreateVecs(p.A, &u, &p.exact));
  PetscCall(MatDuplicate(p.A, MAT_COPY_VALUES, &J));

  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, p.c == 0 ? TS_LINEAR : TS_NONLINEAR));
  PetscCall(TSSetRHSFunction(ts, NULL, RHSFunction, &p));
  if (p.imex) {
    PetscCall(TSSetIFunction(ts, NULL, IFunction, &p));
    PetscCall(TSSetIJacobian(ts, J, J, IJacobian, &p));
  } else PetscCall(TSSetRHSJacobian(ts, J, J, RHSJacobian, &p));
  PetscCall(TSSetType(ts, p.imex ? TSARKIMEX : TSBDF));
  PetscCall(TSSetMaxTime(ts, end));
  PetscCall(TSSetTimeStep(ts, end / 1000)); // step size control finds a better one
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSMonitorSet(ts, Monitor, &p, NULL));
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESSetTolerances(snes, PETSC_DEFAULT, 1e-5, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT)); // vectors are rounded to 1e-3 of this: see above
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(TSSetFromOptions(ts));

  PetscCall(VecTTGetFullSize(u, NULL, &log10size));
  PetscCall(TSGetType(ts, &type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s in %d dimensions, %d points each: 10^%.1f unknowns; TS of type %s\n", p.c == 0 ? "heat equation" : "Allen-Cahn equation", (int)p.d, (int)p.n,
                        (double)log10size, type));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "step   time        next step   TT rank   error\n"));
  PetscCall(Exact(&p, 0, u));
  PetscCall(TSSolve(ts, u));

  PetscCall(TSGetConvergedReason(ts, &reason));
  PetscCall(TSGetSolveTime(ts, &t));
  PetscCall(TSGetStepNumber(ts, &steps));
  PetscCall(TSGetStepRejections(ts, &rejected));
  PetscCall(TSGetSNESIterations(ts, &nonlinear));
  PetscCall(TSGetKSPIterations(ts, &linear));
  PetscCall(Measure(&p, t, u, &error, &rank));
  const PetscBool good = error <= check && reason > 0 ? PETSC_TRUE : PETSC_FALSE;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d steps, %d rejected, %d nonlinear and %d linear iterations; largest TT rank %d, error %.2e%s\n", TSConvergedReasons[reason], (int)steps,
                        (int)rejected, (int)nonlinear, (int)linear, (int)rank, (double)error, good ? "" : ": TOO LARGE"));
  PetscCall(VecViewFromOptions(u, NULL, "-solution_view")); // -solution_view ::ascii_info

  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&p.A));
  for (Vec &v : p.phi) PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&p.exact));
  PetscCall(VecDestroy(&u));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
