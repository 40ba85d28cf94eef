static char help[] = "Convection-diffusion in many dimensions, preconditioned by the nearest Kronecker product.\n\n";

/*
  The problem.  -Laplace u + (c/sqrt(d)) (1, ..., 1) . grad u = f on the unit cube in d dimensions, u = 0 on its boundary, by finite
  differences on n interior points in every direction, h = 1/(n+1):

      A = sum_k  I x ... x T_k x ... x I,    T_k = L + (c/sqrt(d)) C,    L = tridiag(-1, 2, -1)/h^2,    C = tridiag(-1, 1, 0)/h  (upwind for c > 0; (0, -1, 1)/h otherwise)

  (x: the Kronecker product). n^d unknowns: 50^10 = 1e17 by the options -d 10 -n 50. A is not symmetric, so the solver is GMRES, and the
  vectors are tensor trains of d cores of n points.

  The preconditioner.  Of all Kronecker products P = M_1 x ... x M_d the one nearest to A in the Frobenius norm is easily had: only inner
  products of the factors L, C and I of each mode are needed, never A itself (MatTTGetNearestKronecker()). Its inverse is the product of the
  inverses, one solver of n unknowns per mode, applied to all columns of that mode's core: TT ranks do not grow. With -pc_ttkron_nearest
  PCTTKRON is that product: up to a scale, that of the T_k + (d-1) m I with m the mean of T's diagonal.

  Nearest in that norm is not yet best for GMRES. -pc_ttkron_stretch t makes it the product of T_k + (d/t - 1) m I. For random right-hand sides, in which all
  eigenvectors have a share, t = 1.8 is good; for smooth ones, the small eigenvalues count, and t can be near d, where the
  product is that of the T_k. The program takes 1.8 and 0.8 d (at least 1) unless told otherwise.

  One product hardly does better: over all right-hand sides alike, products of (T_k + s)^-p with the best s and p need 9 steps to 1e-4 too, and with p = 1 11 from the left. A
  sum of products does: -pc_ttkron_exponentials 1e-2 makes the preconditioner sum_q w_q exp(-a_q T_1) x ... x exp(-a_q T_d), which is A^{-1} up to one
  per cent (PCTTKronSetExponentials()). Each application is rounded, so it costs more, but a few steps are enough from either side, and the TT ranks of the Krylov
  vectors stay near those of the solution.

  Reference for problem and figures: M. Roehrig-Zoellner, M. J. Becklas, J. Thies, A. Basermann, Performance of linear solvers in tensor-train
  format on current multicore architectures (2023): with n = 20, d = 6, c = 0.1 and a random right-hand side of TT rank 2, 9 steps to a residual of 1e-4
  (18 without preconditioner) and 35 to 1e-8 (80 without).

  Sample runs.
      ./ex4                                              n = 20, d = 6, c = 0.1, random right-hand side of rank 2, to 1e-4
      ./ex4 -ksp_rtol 1e-8                               the same to 1e-8
      ./ex4 -pc_type none                                without preconditioner
      ./ex4 -pc_ttkron_stretch 1                         the nearest product as it is
      ./ex4 -pc_ttkron_nearest 0                         with the product of the projections, ttkron's default
      ./ex4 -pc_ttkron_exponentials 1e-2                 with a sum of products of exponentials
      ./ex4 -seeds 10                                    ten random right-hand sides: steps on average and at most
      ./ex4 -d 10 -n 50 -c 10 -rhs ones                  1e17 unknowns
      ./ex4 -d 10 -n 50 -c 10 -rhs ones -pc_ttkron_exponentials 1e-2 -ksp_rtol 1e-8
      ./ex4 -ksp_pc_side left                            preconditioned from the left
      ./ex4 -d 4 -n 8 -ksp_pc_side left -ksp_type gmres -vec_tt_round_rtol 1e-9    PETSc's own GMRES
      mpiexec -n 2 ./ex4 -d 3 -n 200 -c 50 -rhs ones     modes of more than 32 points are distributed
      ./ex4 -d 4 -n 6 -compare                           against the assembled matrix and its LU factors

  What to look at.
    - The residual is recomputed from the solution, with roundings so fine that they do not show; it decides the exit status.
    - TT ranks of the Krylov vectors: they, not the number of unknowns, are what a solve costs.
*/
#include <petsctt.h>

#include <algorithm>
#include <string>
#include <vector>

struct Options {
  PetscInt  d = 6, n = 20, rhs_rank = 2, seed = 1, seeds = 1, most_steps = 0;
  PetscReal c       = 0.1;
  PetscBool random  = PETSC_TRUE;
  PetscBool compare = PETSC_FALSE;
};

static PetscErrorCode get_options(Options &o)
{
  const char *kinds[] = {"ones", "random"};
  PetscInt    kind    = 1;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the convection-diffusion problem", NULL);
  PetscCall(PetscOptionsInt("-d", "dimensions", NULL, o.d, &o.d, NULL));
  PetscCall(PetscOptionsInt("-n", "points in each", NULL, o.n, &o.n, NULL));
  PetscCall(PetscOptionsReal("-c", "strength of the convection", NULL, o.c, &o.c, NULL));
  PetscCall(PetscOptionsEList("-rhs", "right-hand side", NULL, kinds, 2, kinds[kind], &kind, NULL));
  PetscCall(PetscOptionsInt("-rhs_rank", "TT ranks of a random right-hand side", NULL, o.rhs_rank, &o.rhs_rank, NULL));
  PetscCall(PetscOptionsInt("-seed", "of a random right-hand side", NULL, o.seed, &o.seed, NULL));
  PetscCall(PetscOptionsInt("-seeds", "number of random right-hand sides, from -seed on", NULL, o.seeds, &o.seeds, NULL));
  PetscCall(PetscOptionsBool("-compare", "with the solution by LU factors of the assembled matrix", NULL, o.compare, &o.compare, NULL));
  PetscCall(PetscOptionsInt("-most_steps", "fail if the solver needs more; 0: never", NULL, o.most_steps, &o.most_steps, NULL));
  PetscOptionsEnd();
  o.random = kind ? PETSC_TRUE : PETSC_FALSE;
  PetscCheck(o.d >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-d %" PetscInt_FMT ": at least one dimension is needed", o.d);
  PetscCheck(o.n >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT ": at least 2 points are needed", o.n);
  PetscCheck(o.rhs_rank >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-rhs_rank %" PetscInt_FMT " must be positive", o.rhs_rank);
  PetscCheck(o.seeds >= 1 && (o.random || o.seeds == 1), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-seeds %" PetscInt_FMT " must be positive, and 1 for a right-hand side that is not random", o.seeds);
  PetscCheck(PetscIsNormalReal(o.c) || o.c == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-c %g must be a finite number", (double)o.c);
  PetscFunctionReturn(0);
}

/* A default that the user's own option overrides. It goes through the options, because that is where vectors look
   for the accuracy of their roundings when -vec_tt_round_rtol is not given. */
static PetscErrorCode set_default(const char name[], const char value[])
{
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, name, &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, name, value));
  PetscFunctionReturn(0);
}

/* tridiag(lower, diagonal, upper) with the rows of mode k of the operator; of a replicated mode every process has its own copy. */
static PetscErrorCode create_tridiagonal(Vec x, PetscInt k, PetscInt n, PetscReal lower, PetscReal diagonal, PetscReal upper, Mat *M)
{
  PetscBool replicated;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
  PetscCall(MatCreateAIJ(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, end - start, end - start, n, n, 3, NULL, 2, NULL, M));
  for (PetscInt i = start; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(*M, i, i - 1, lower, INSERT_VALUES));
    PetscCall(MatSetValue(*M, i, i, diagonal, INSERT_VALUES));
    if (i + 1 < n) PetscCall(MatSetValue(*M, i, i + 1, upper, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* The right-hand side, of norm 1. */
static PetscErrorCode set_rhs(const Options &o, PetscInt seed, Vec b)
{
  std::vector<PetscInt> r(o.d + 1, o.rhs_rank);
  PetscReal             norm;

  PetscFunctionBeginUser;
  r.front() = r.back() = 1;
  if (o.random) PetscCall(VecTTSetRandom(b, r.data(), seed));
  else PetscCall(VecTTSetConstant(b, 1));
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, 1 / norm));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_system(const Options &o, Mat *A, Vec *b)
{
  const PetscReal       h = 1 / (PetscReal)(o.n + 1), speed = o.c / PetscSqrtReal((PetscReal)o.d);
  std::vector<PetscInt> n(o.d, PETSC_TT_AUTO), N(o.d, o.n);
  Mat                   L, C;

  PetscFunctionBeginUser;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, o.d, n.data(), N.data(), A));
  PetscCall(MatCreateVecs(*A, NULL, b));
  PetscCall(create_tridiagonal(*b, 0, o.n, -1 / (h * h), 2 / (h * h), -1 / (h * h), &L)); // alike on all modes
  if (o.c >= 0) PetscCall(create_tridiagonal(*b, 0, o.n, -1 / h, 1 / h, 0, &C));
  else PetscCall(create_tridiagonal(*b, 0, o.n, 0, -1 / h, 1 / h, &C));
  for (PetscInt k = 0; k < o.d; k++) {
    std::vector<Mat> factors(o.d, NULL); // NULL is the identity
    factors[k] = L;
    PetscCall(MatTTAddTerm(*A, 1.0, factors.data()));
    factors[k] = C;
    PetscCall(MatTTAddTerm(*A, speed, factors.data()));
  }
  PetscCall(MatDestroy(&L));
  PetscCall(MatDestroy(&C));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(set_rhs(o, o.seed, *b));
  PetscFunctionReturn(0);
}

/* A line per step, and the largest TT rank of the Krylov vectors. */
struct Progress {
  PetscLogDouble start = 0;
  PetscReal      first = 0;
  PetscInt       peak  = 1;
};

static PetscErrorCode largest_rank(Vec x, PetscInt *largest)
{
  PetscInt        d;
  const PetscInt *r;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, NULL));
  PetscCall(VecTTGetRanks(x, &r));
  *largest = *std::max_element(r, r + d + 1);
  PetscFunctionReturn(0);
}

static PetscErrorCode show_progress(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  Progress      *p = (Progress *)ctx;
  PetscLogDouble now;
  PetscBool      ttgmres;
  PetscInt       r = 0;
  Vec            v = NULL;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&now));
  if (it == 0) {
    p->first = rnorm;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6s  %10s  %9s  %s\n", "step", "residual", "seconds", "largest TT rank of the newest vector"));
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPTTGMRES, &ttgmres));
  if (ttgmres) PetscCall(KSPTTGMRESGetLastBasisVec(ksp, &v));
  if (v) PetscCall(largest_rank(v, &r));
  p->peak = PetscMax(p->peak, r);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6" PetscInt_FMT "  %10.3e  %9.2f", it, (double)(p->first > 0 ? rnorm / p->first : rnorm), now - p->start));
  if (r) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %" PetscInt_FMT, r));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b||, with roundings so fine that they do not show. */
static PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal rtol, PetscReal *residual)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecTTSetMaxRank(r, 0));
  PetscCall(VecTTSetRoundRtol(r, PetscMax(1e-4 * rtol, 1e-13)));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecTTSetRoundRtol(r, 1e-4));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

/* Further right-hand sides: the mean and the largest number of steps, of `its` of the first as well; `residual` becomes the largest. */
static PetscErrorCode solve_more(const Options &o, KSP ksp, Mat A, Vec b, Vec x, PetscReal rtol, PetscInt *its, PetscReal *residual)
{
  PetscInt    most = *its, sum = *its;
  std::string list = std::to_string((long long)*its);

  PetscFunctionBeginUser;
  PetscCall(KSPMonitorCancel(ksp));
  for (PetscInt s = 1; s < o.seeds; ++s) {
    PetscReal own;
    PetscCall(set_rhs(o, o.seed + s, b));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, its));
    PetscCall(true_residual(A, b, x, rtol, &own));
    *residual = PetscMax(*residual, own);
    sum += *its;
    most = PetscMax(most, *its);
    list += " " + std::to_string((long long)*its);
  }
  *its = most;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "steps for seeds %-2" PetscInt_FMT " to %-2" PetscInt_FMT "        %s: mean %.1f, at most %" PetscInt_FMT "; residuals at most %.3e\n",
                        o.seed, o.seed + o.seeds - 1, list.c_str(), (double)sum / (double)o.seeds, most, (double)*residual));
  PetscFunctionReturn(0);
}

/* The same system as ordinary PETSc objects, solved by LU: relative difference of the solutions. */
static PetscErrorCode compare_with_lu(Mat A, Vec b, Vec x, PetscReal *difference)
{
  Mat       B;
  Vec       full_b, full_x, y;
  KSP       ksp;
  PC        pc;
  PetscReal norm, rows;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetFullSize(b, &rows, NULL));
  PetscCheck(rows <= 1e6, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-compare: %g unknowns are too many to factor the assembled matrix", (double)rows);
  PetscCall(MatTTGetAssembled(A, &B));
  PetscCall(VecTTGetFull(b, &full_b));
  PetscCall(VecTTGetFull(x, &full_x));
  PetscCall(VecDuplicate(full_b, &y));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "compare_"));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_DEFAULT, PETSC_DEFAULT, 10000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCBJACOBI)); // LU on one process
  PetscCall(PetscOptionsInsertString(NULL, "-compare_sub_pc_type lu"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, full_b, y));
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(y, -1, full_x));
  PetscCall(VecNorm(y, NORM_2, difference));
  *difference /= norm;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&full_b));
  PetscCall(VecDestroy(&full_x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_vector(Vec x, const Progress &p)
{
  PetscInt        d;
  const PetscInt *N, *r;
  PetscReal       full, stored = 0;
  std::string     ranks;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, &N));
  PetscCall(VecTTGetRanks(x, &r));
  for (PetscInt k = 0; k < d; ++k) stored += (PetscReal)r[k] * (PetscReal)N[k] * (PetscReal)r[k + 1];
  for (PetscInt k = 0; k <= PetscMin(d, 20); ++k) ranks += (k ? " " : "") + std::to_string(r[k]);
  PetscCall(VecTTGetFullSize(x, &full, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "TT ranks of the solution        %s%s\n", ranks.c_str(), d > 20 ? " ..." : ""));
  if (p.peak > 1) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "largest TT rank of the basis    %" PetscInt_FMT "\n", p.peak));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "storage                         %.3g numbers instead of %.3g\n", (double)stored, (double)full));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Options            o;
  Progress           progress;
  Mat                A;
  Vec                b, x;
  KSP                ksp;
  PC                 pc;
  KSPType            type;
  PCType             pc_type;
  KSPConvergedReason reason;
  PCSide             side;
  PetscInt           its, terms = 0;
  PetscBool          nearest = PETSC_FALSE, kron;
  PetscReal          rtol, residual, full, error = -1, stretch = 1, difference = 0, exponentials = 0;
  PetscLogDouble     end;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(get_options(o));
  PetscCall(set_default("-ksp_rtol", "1e-4"));
  PetscCall(create_system(o, &A, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecTTGetFullSize(b, &full, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns                        %" PetscInt_FMT "^%" PetscInt_FMT " = %.3g, convection %g\n", o.n, o.d, (double)full, (double)o.c));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(PCTTKronSetNearest(pc, PETSC_TRUE));
  PetscCall(PCTTKronSetStretch(pc, o.random ? PetscMin(1.8, 1 + 0.2 * (PetscReal)(o.d - 1)) : PetscMax(1, 0.8 * (PetscReal)o.d)));
  PetscCall(KSPMonitorSet(ksp, show_progress, &progress, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscTime(&progress.start));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(PetscTime(&end));

  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetPCSide(ksp, &side));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetType(pc, &pc_type));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCTTKRON, &kron));
  if (kron) {
    PetscCall(PCTTKronGetNearest(pc, &nearest, &error));
    PetscCall(PCTTKronGetStretch(pc, &stretch));
    PetscCall(PCTTKronGetExponentials(pc, &exponentials, &terms));
  }
  PetscCall(true_residual(A, b, x, rtol, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "preconditioner                  %s, %s side", pc_type, PCSides[side]));
  if (terms) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ": sum of %" PetscInt_FMT " products of exponentials, error %g", terms, (double)exponentials));
  else if (nearest) PetscCall(PetscPrintf(PETSC_COMM_WORLD, ": nearest Kronecker product, off by %.4g of the operator's norm, stretch %g", (double)error, (double)stretch));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\nsolver                          %s, %" PetscInt_FMT " steps, %s, %.2f seconds\n", type, its, KSPConvergedReasons[reason], end - progress.start));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "recomputed residual             %.3e, asked for %.1e: %s\n", (double)residual, (double)rtol, residual <= 1.0001 * rtol ? "reached" : "NOT REACHED"));
  PetscCall(print_vector(x, progress));
  if (o.compare) {
    PetscCall(compare_with_lu(A, b, x, &difference));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "difference from ordinary PETSc  %.3e of the norm\n", (double)difference));
  }
  if (o.seeds > 1) PetscCall(solve_more(o, ksp, A, b, x, rtol, &its, &residual));
  const bool reached = residual <= 1.0001 * rtol, fast = o.most_steps <= 0 || its <= o.most_steps;
  if (!fast) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " steps are more than the %" PetscInt_FMT " of -most_steps\n", its, o.most_steps));

  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(PetscFinalize());
  return reached && fast && difference <= 100 * rtol ? 0 : 1;
}
