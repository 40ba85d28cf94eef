static char help[] = "Diffusion with a random coefficient: Karhunen-Loeve expansion, one solve for all parameters, Monte Carlo to compare.\n\n";

/*
  The problem.  -div(a grad u) = 0 on the unit square, u = 1 at x = 0, u = 0 at x = 1, no flux through the other sides, with a random coefficient of
  mean 1 and a given covariance. Its Karhunen-Loeve expansion, cut after p terms, is

      a(x, y) = 1 + sum_k sqrt(lambda_k) phi_k(x) y_k,    y_k independent, uniform on [-1, 1],

  with the largest eigenvalues lambda_k and eigenfunctions phi_k of the integral operator whose kernel is 3 sigma^2 rho(x - x'): the y_k have the
  variance 1/3, so that a has the covariance sigma^2 rho. They are computed by SLEPc, with a matrix that is applied but not stored.

  Bilinear elements on m x m squares give (A_0 + sum_k y_k A_k) v(y) = b_0 + sum_k y_k b_k for u = (1 - x) + v. All parameters together are one
  linear system of p + 1 modes (x is the Kronecker product):

      A = A_0 x I x ... x I + sum_k A_k x ... x Y x ... x I  (Y on mode k),    b = b_0 x e x ... x e + sum_k b_k x ... x (Y e) x ... x e.

  Y is what multiplication by y_k does to functions of y_k, e what the function 1 is:
    -form collocation  values at n Gauss-Legendre points, times the square roots of their weights: Y = diag(y_j), e = (sqrt(w_j))
    -form chaos        coefficients for the orthonormal Legendre polynomials of degree < n (polynomial chaos): Y is the tridiagonal matrix of their
                       recurrence, e the first unit vector
  In both the Euclidean norm is that of the mean square, so mean, variance and Sobol indices are the same contractions and norms of the train.
  Y of chaos has the Gauss points as eigenvalues: both forms have the same solution up to the tolerance of the solver.

  Statistics.  Q is the mean of u over the quarter (0, 1/2)^2. The first-order Sobol index of y_k is the share of the variance of Q that the mean of Q for given y_k has;
  the total index is the share that is left, on average, when all the others are given. A table shows what each further term of the expansion
  changes.

  Monte Carlo.  The same coefficient at random y, the same mesh, ordinary PETSc matrices and solver (options -mc_ksp_type etc.): mean and variance must
  agree within the sampling error, and the train, evaluated at the samples, must have the very values of Q that these solves have.

  Sample runs.
      ./ex8                                            32 x 32 squares, 5 terms, 400 samples
      ./ex8 -points 5 -ksp_rtol 1e-5                   5 points for every parameter, not as many as each needs
      ./ex8 -form chaos
      ./ex8 -kernel gaussian -terms 10 -sigma 0.15     smooth fields need few terms
      mpiexec -n 2 ./ex8 -m 64 -output out             fields for ParaView in out/field.vti
      ./ex8 -samples 0 -terms 12 -sigma 0.1 -eps_view  without Monte Carlo

  What to look at.
    - The recomputed residual, which with the comparisons decides the exit status.
    - y_1 belongs to a nearly constant phi_1: multiplied by a constant, a has the same u. The variance comes from other terms than that of a.
    - One solve for all parameters against one per sample, whose error falls with the square root of their number: the time for as many samples as asked for, and
      the time, extrapolated, for so many that the standard error of the variance is the error of the train. Both sides are timed with matrices, solves and statistics.
    - The differences of Q at the samples, which is what the train leaves of the discretised problem; -ksp_rtol decides them, and how many points each parameter has.
*/
#include "field/field.hpp"

#include <petsctt.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <slepceps.h>

using Parameters = std::vector<field::Parameter>; // one for each term

struct Options {
  PetscInt      m = 32, terms = 5, points = 0, samples = 400, seed = 1;
  PetscBool     chaos = PETSC_FALSE;
  field::Kernel kernel;
  PetscReal     rtol = 1e-3, check = -1;
  char          output[PETSC_MAX_PATH_LEN] = "";
};

static PetscErrorCode get_options(Options &o)
{
  const char *forms[] = {"collocation", "chaos"}, *kernels[] = {"exponential", "gaussian"};
  PetscInt    form = 0, kernel = 0, two = 2;
  PetscReal   length[] = {o.kernel.lx, o.kernel.ly};
  PetscBool   set, set_rtol, set_check;

  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the random field problem", NULL);
  PetscCall(PetscOptionsInt("-m", "squares in each direction", NULL, o.m, &o.m, NULL));
  PetscCall(PetscOptionsInt("-terms", "of the Karhunen-Loeve expansion", NULL, o.terms, &o.terms, NULL));
  PetscCall(PetscOptionsInt("-points", "or polynomials, for each parameter; 0: as many as each needs", NULL, o.points, &o.points, NULL));
  PetscCall(PetscOptionsEList("-form", "of the functions of a parameter", NULL, forms, 2, forms[0], &form, NULL));
  PetscCall(PetscOptionsEList("-kernel", "covariance", NULL, kernels, 2, kernels[0], &kernel, NULL));
  PetscCall(PetscOptionsReal("-sigma", "standard deviation of the coefficient", NULL, o.kernel.sigma, &o.kernel.sigma, NULL));
  PetscCall(PetscOptionsRealArray("-length", "correlation lengths in x and y", NULL, length, &two, &set));
  PetscCall(PetscOptionsInt("-samples", "of Monte Carlo; 0: none", NULL, o.samples, &o.samples, NULL));
  PetscCall(PetscOptionsInt("-seed", "of Monte Carlo", NULL, o.seed, &o.seed, NULL));
  PetscCall(PetscOptionsReal("-ksp_rtol", "residual of the solve for all parameters", "KSPSetTolerances", o.rtol, &o.rtol, &set_rtol));
  PetscCall(PetscOptionsReal("-check", "most that Q may differ from the solves at the samples, relative to its standard deviation; default: 20 times -ksp_rtol", NULL, o.check, &o.check, &set_check));
  PetscCall(PetscOptionsString("-output", "folder for field.vti; none: no file", NULL, o.output, o.output, sizeof(o.output), NULL));
  PetscOptionsEnd();
  if (!set_check) o.check = 20 * o.rtol;
  if (!set_rtol) PetscCall(PetscOptionsSetValue(NULL, "-ksp_rtol", std::to_string(o.rtol).c_str())); // where vectors look for the accuracy of their roundings
  o.chaos           = form ? PETSC_TRUE : PETSC_FALSE;
  o.kernel.gaussian = kernel != 0;
  o.kernel.lx       = length[0];
  o.kernel.ly       = set && two == 1 ? length[0] : length[1];
  PetscCheck(o.m >= 2 && o.m <= 1000, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-m %" PetscInt_FMT " must be in 2..1000", o.m);
  PetscCheck(o.terms >= 1 && o.terms <= o.m * o.m, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-terms %" PetscInt_FMT " must be in 1..%" PetscInt_FMT ", the number of squares", o.terms, o.m * o.m);
  PetscCheck(o.points == 0 || (o.points >= 2 && o.points <= 1000), PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-points %" PetscInt_FMT " must be in 2..1000, or 0 for as many as each parameter needs", o.points);
  PetscCheck(o.rtol > 0 && o.rtol < 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-ksp_rtol %g must be between 0 and 1", (double)o.rtol);
  PetscCheck(o.check > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-check %g must be positive", (double)o.check);
  PetscCheck(o.kernel.sigma > 0 && o.kernel.lx > 0 && o.kernel.ly > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-sigma %g and -length %g,%g must be positive", (double)o.kernel.sigma, (double)o.kernel.lx, (double)o.kernel.ly);
  PetscCheck(o.samples == 0 || o.samples >= 10, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-samples %" PetscInt_FMT " must be 0, or at least 10 for sampling errors to mean something", o.samples);
  PetscFunctionReturn(0);
}

/* The coefficient must be positive for all y in [-1, 1]^p. */
static PetscErrorCode check_positive(const field::Expansion &a)
{
  PetscReal least = PETSC_MAX_REAL;

  PetscFunctionBeginUser;
  for (PetscInt e = 0; e < a.m * a.m; ++e) {
    PetscReal sum = 1;
    for (const std::vector<PetscReal> &mode : a.mode) sum -= PetscAbsReal(mode[e]);
    least = PetscMin(least, sum);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "coefficient                     1 on average, at least %.3g\n", (double)least));
  PetscCheck(least > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "the coefficient can be as small as %g, it must be positive: reduce -sigma or -terms", (double)least);
  PetscFunctionReturn(0);
}

/* Y as a matrix of mode k, whose ownership it has. */
static PetscErrorCode create_multiplication(Vec like, PetscInt k, const field::Parameter &y, Mat *Y)
{
  PetscBool replicated;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(like, k, &replicated, &start, &end));
  PetscCall(MatCreateAIJ(replicated ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)like), end - start, end - start, y.n, y.n, 3, NULL, 2, NULL, Y));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = PetscMax(0, i - 1); j < PetscMin(y.n, i + 2); ++j)
      if (y.multiplication(i, j) != 0 || i == j) PetscCall(MatSetValue(*Y, i, j, y.multiplication(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*Y, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*Y, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

static PetscErrorCode create_parameter_vec(Vec like, PetscInt k, const std::vector<PetscReal> &values, Vec *v)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecTTCreateModeVec(like, k, v));
  PetscCall(VecGetOwnershipRange(*v, &start, &end));
  PetscCall(VecGetArrayWrite(*v, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = values[i];
  PetscCall(VecRestoreArrayWrite(*v, &a));
  PetscFunctionReturn(0);
}

/* Points, or polynomials, of each parameter. */
static PetscErrorCode set_parameters(const Options &o, const field::Expansion &a, Parameters &y)
{
  std::string list;

  PetscFunctionBeginUser;
  y.resize(a.mode.size());
  for (std::size_t k = 0; k < y.size(); ++k) {
    PetscReal largest = 0;
    for (PetscReal value : a.mode[k]) largest = PetscMax(largest, PetscAbsReal(value));
    PetscCall(y[k].set(o.points ? o.points : field::Parameter::needed(largest, o.rtol), o.chaos));
    list += " " + std::to_string((long long)y[k].n);
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-31s %s\n", o.chaos ? "polynomials of each parameter" : "points of each parameter", list.c_str() + 1));
  PetscFunctionReturn(0);
}

/* The vectors e of the modes from `first` on, which are those of the parameters from the first one on; NULL for the modes before. */
static PetscErrorCode create_ones(Vec like, PetscInt first, const Parameters &y, std::vector<Vec> &ones)
{
  PetscInt d;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(like, &d, NULL));
  ones.assign(d, NULL);
  for (PetscInt k = first; k < d; ++k) {
    const field::Parameter &own = y[k - first];
    std::vector<PetscReal>  e(own.n);
    for (PetscInt j = 0; j < own.n; ++j) e[j] = own.one(j);
    PetscCall(create_parameter_vec(like, k, e, &ones[k]));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode destroy_all(std::vector<Vec> &list)
{
  PetscFunctionBeginUser;
  for (Vec &v : list) PetscCall(VecDestroy(&v));
  PetscFunctionReturn(0);
}

/* A and b of the first p terms. */
static PetscErrorCode create_system(const std::vector<Mat> &space, const std::vector<Vec> &rhs, PetscInt p, const Parameters &y, Mat *A, Vec *b)
{
  std::vector<PetscInt> n(p + 1, PETSC_TT_AUTO), N(p + 1);
  std::vector<Vec>      factors;
  Vec                   one;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(rhs[0], &n[0]));
  PetscCall(VecGetSize(rhs[0], &N[0]));
  for (PetscInt k = 1; k <= p; ++k) N[k] = y[k - 1].n;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, p + 1, n.data(), N.data(), A));
  PetscCall(MatCreateVecs(*A, NULL, b));
  PetscCall(VecTTSetRoundRtol(*b, 1e-13)); // of the sum below
  PetscCall(create_ones(*b, 1, y, factors));
  PetscCall(VecDuplicate(*b, &one));
  for (PetscInt k = 0; k <= p; ++k) {
    std::vector<Mat> matrices(p + 1, NULL); // NULL is the identity
    Vec              e = factors[k], Ye = NULL;
    matrices[0]        = space[k];
    factors[0]         = rhs[k];
    if (k > 0) {
      PetscCall(create_multiplication(*b, k, y[k - 1], &matrices[k]));
      PetscCall(VecDuplicate(e, &Ye));
      PetscCall(MatMult(matrices[k], e, Ye));
      factors[k] = Ye;
    }
    PetscCall(MatTTAddTerm(*A, 1.0, matrices.data()));
    PetscCall(VecTTSetRankOne(k ? one : *b, factors.data()));
    if (k > 0) {
      PetscCall(VecAXPY(*b, 1.0, one));
      factors[k] = e;
      PetscCall(VecDestroy(&Ye));
      PetscCall(MatDestroy(&matrices[k]));
    }
  }
  factors[0] = NULL; // not ours
  PetscCall(destroy_all(factors));
  PetscCall(VecDestroy(&one));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* What one number of terms gives. */
struct Result {
  PetscInt               p = 0, steps = 0, rank = 1;
  PetscReal              residual = 0, rtol = 0, mean = 0, variance = 0;
  std::vector<PetscReal> first, total;
  PetscLogDouble         seconds    = 0;
  Vec                    mean_field = NULL, deviation_field = NULL, Q = NULL;
};

static PetscErrorCode solve(Mat A, Vec b, Vec *x, Result &result)
{
  const PetscInt *r;
  PetscInt        space = 0;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, x));
  PetscCall(VecSetFromOptions(*x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(PCTTKronSetModes(pc, 1, &space)); // A_0^{-1} on the space mode: the mean of the parameters is zero
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, *x));
  PetscCall(KSPGetIterationNumber(ksp, &result.steps));
  PetscCall(KSPGetTolerances(ksp, &result.rtol, NULL, NULL, NULL));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecTTGetRanks(*x, &r));
  result.rank = *std::max_element(r, r + result.p + 2);
  PetscFunctionReturn(0);
}

/* ||b - A x|| / ||b||, with roundings so fine that they do not show. */
static PetscErrorCode true_residual(Mat A, Vec b, Vec x, Result &result)
{
  Vec       residual;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &residual));
  PetscCall(VecTTSetMaxRank(residual, 0));
  PetscCall(VecTTSetRoundRtol(residual, PetscMax(1e-4 * result.rtol, 1e-13)));
  PetscCall(MatMult(A, x, residual));
  PetscCall(VecTTSetRoundRtol(residual, 1e-4));
  PetscCall(VecAYPX(residual, -1.0, b));
  PetscCall(VecNorm(residual, NORM_2, &result.residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  result.residual /= norm;
  PetscCall(VecDestroy(&residual));
  PetscFunctionReturn(0);
}

/* c := x - mean x e x ... x e, exactly; `mean` is the first factor, or NULL with the number mean_value for a train of parameters only. */
static PetscErrorCode centre(Vec x, const Parameters &y, Vec mean, PetscScalar mean_value, Vec *c)
{
  std::vector<Vec> factors;
  Vec              rank_one;

  PetscFunctionBeginUser;
  PetscCall(create_ones(x, mean ? 1 : 0, y, factors));
  if (mean) factors[0] = mean;
  PetscCall(VecDuplicate(x, &rank_one));
  PetscCall(VecDuplicate(x, c));
  PetscCall(VecTTSetMaxRank(*c, 0));
  PetscCall(VecTTSetRoundRtol(*c, 1e-13));
  PetscCall(VecTTSetRankOne(rank_one, factors.data()));
  PetscCall(VecWAXPY(*c, -mean_value, rank_one, x));
  if (mean) factors[0] = NULL; // not ours
  PetscCall(destroy_all(factors));
  PetscCall(VecDestroy(&rank_one));
  PetscFunctionReturn(0);
}

/* || E[c | parameters in `given`] ||^2: all the others are contracted with e. */
static PetscErrorCode conditional_variance(Vec c, const Parameters &y, const std::vector<bool> &given, PetscReal *variance)
{
  std::vector<Vec>       ones;
  std::vector<PetscBool> contract;
  PetscReal              norm;
  Vec                    rest = c;

  PetscFunctionBeginUser;
  for (bool g : given) contract.push_back(g ? PETSC_FALSE : PETSC_TRUE);
  *variance = 0;
  if (std::find(given.begin(), given.end(), true) == given.end()) PetscFunctionReturn(0); // c has the mean 0
  PetscCall(create_ones(c, 0, y, ones));
  PetscCall(VecTTContract(c, contract.data(), ones.data(), &rest));
  PetscCall(VecNorm(rest, NORM_2, &norm));
  *variance = norm * norm;
  PetscCall(VecDestroy(&rest));
  PetscCall(destroy_all(ones));
  PetscFunctionReturn(0);
}

/* Mean, variance and Sobol indices of Q = f . v + constant. */
static PetscErrorCode statistics(Vec x, Vec f, PetscReal constant, const Parameters &y, Result &result)
{
  const PetscInt         p = result.p;
  std::vector<PetscBool> contract(p + 1, PETSC_FALSE);
  std::vector<Vec>       weights(p + 1, NULL), ones;
  PetscScalar            mean;
  PetscReal              norm;
  Vec                    c;

  PetscFunctionBeginUser;
  contract[0] = PETSC_TRUE;
  weights[0]  = f;
  PetscCall(VecTTContract(x, contract.data(), weights.data(), &result.Q));
  PetscCall(create_ones(result.Q, 0, y, ones));
  PetscCall(VecTTContractAll(result.Q, ones.data(), &mean));
  PetscCall(destroy_all(ones));
  result.mean = PetscRealPart(mean) + constant;
  PetscCall(centre(result.Q, y, NULL, mean, &c));
  PetscCall(VecNorm(c, NORM_2, &norm));
  result.variance = norm * norm;
  for (PetscInt k = 0; k < p; ++k) {
    std::vector<bool> only(p, false), others(p, true);
    PetscReal         v;
    only[k]   = true;
    others[k] = false;
    PetscCall(conditional_variance(c, y, only, &v));
    result.first.push_back(result.variance > 0 ? v / result.variance : 0);
    PetscCall(conditional_variance(c, y, others, &v));
    result.total.push_back(result.variance > 0 ? 1 - v / result.variance : 0);
  }
  PetscCall(VecDestroy(&c));
  PetscFunctionReturn(0);
}

/* Mean and standard deviation of u at the unknowns. */
static PetscErrorCode field_statistics(Vec x, Vec g, const Parameters &y, Result &result)
{
  const PetscInt         p = result.p;
  PetscInt               r0, n, r1, index = 0;
  std::vector<PetscBool> contract(p + 1, PETSC_TRUE);
  std::vector<Vec>       ones;
  PetscScalar            scale, *sd;
  const PetscScalar     *core;
  PetscInt64             exponent;
  Vec                    m, c;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(g, &result.mean_field));
  PetscCall(VecDuplicate(g, &result.deviation_field));
  contract[0] = PETSC_FALSE;
  PetscCall(create_ones(x, 1, y, ones));
  PetscCall(VecTTContract(x, contract.data(), ones.data(), &m)); // a train of one mode
  PetscCall(destroy_all(ones));
  PetscCall(VecTTExtract(m, 0, &index, result.mean_field));
  PetscCall(VecDestroy(&m));
  PetscCall(centre(x, y, result.mean_field, 1, &c));
  /* its other cores made right-orthogonal, the mean square over all parameters is the square of a row of the first core */
  PetscCall(VecTTOrthogonalize(c, 0));
  PetscCall(VecTTGetScale(c, &scale, &exponent));
  PetscCall(VecTTGetCoreRead(c, 0, &r0, &n, &r1, &core)); // 1 x n x r1, n unknowns of this process
  PetscCall(VecGetArrayWrite(result.deviation_field, &sd));
  for (PetscInt i = 0; i < n; ++i) {
    PetscReal sum = 0;
    for (PetscInt s = 0; s < r1; ++s) sum += PetscRealPart(core[i + n * s] * PetscConj(core[i + n * s]));
    sd[i] = std::ldexp(PetscAbsScalar(scale), (int)exponent) * PetscSqrtReal(sum);
  }
  PetscCall(VecRestoreArrayWrite(result.deviation_field, &sd));
  PetscCall(VecTTRestoreCoreRead(c, 0, NULL, NULL, NULL, &core));
  PetscCall(VecDestroy(&c));
  PetscCall(VecAXPY(result.mean_field, 1, g));
  PetscFunctionReturn(0);
}

static PetscErrorCode difference(Vec a, Vec b, PetscReal *relative)
{
  Vec       c;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(a, &c));
  PetscCall(VecWAXPY(c, -1, b, a));
  PetscCall(VecNorm(c, NORM_2, relative));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *relative /= norm;
  PetscCall(VecDestroy(&c));
  PetscFunctionReturn(0);
}

static PetscErrorCode print_table(const field::Expansion &a, const std::vector<Result> &results)
{
  const Result &last = results.back();
  PetscReal     sum  = 0;
  PetscInt      k    = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "convergence with the number of terms; relative differences from the last row\n"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6s %9s %6s %6s %9s %12s %12s %10s %10s %9s\n", "terms", "variance", "steps", "rank", "residual", "mean of Q", "std of Q", "mean u", "std u", "seconds"));
  for (const Result &r : results) {
    PetscReal mean, deviation;
    for (; k < r.p; ++k) sum += a.lambda[k];
    PetscCall(difference(r.mean_field, last.mean_field, &mean));
    PetscCall(difference(r.deviation_field, last.deviation_field, &deviation));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6" PetscInt_FMT " %8.2f%% %6" PetscInt_FMT " %6" PetscInt_FMT " %9.1e %12.9f %12.5e %10.1e %10.1e %9.2f\n", r.p, (double)(100 * sum / a.trace), r.steps, r.rank, (double)r.residual,
                          (double)r.mean, (double)PetscSqrtReal(r.variance), (double)mean, (double)deviation, r.seconds));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Sobol indices of Q\n%6s %12s %12s %12s\n", "term", "eigenvalue", "first order", "total"));
  for (PetscInt i = 0; i < last.p; ++i)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6" PetscInt_FMT " %12.5e %12.8f %12.8f\n", i + 1, (double)a.lambda[i], (double)last.first[i], (double)last.total[i]));
  PetscFunctionReturn(0);
}

/* The largest difference of Q at the samples from what the ordinary solves gave, and its root mean square. */
static PetscErrorCode compare_at_samples(const field::MonteCarlo &mc, PetscReal constant, const Parameters &y, const Result &result, PetscReal *largest, PetscReal *rms)
{
  PetscFunctionBeginUser;
  *largest = *rms = 0;
  for (std::size_t s = 0; s < mc.q.size(); ++s) {
    std::vector<Vec> at(result.p, NULL);
    PetscScalar      q;
    for (PetscInt k = 0; k < result.p; ++k) PetscCall(create_parameter_vec(result.Q, k, y[k].evaluation(mc.y[s][k]), &at[k]));
    PetscCall(VecTTContractAll(result.Q, at.data(), &q));
    PetscCall(destroy_all(at));
    const PetscReal e = PetscAbsReal(PetscRealPart(q) + constant - mc.q[s]);
    *largest          = PetscMax(*largest, e);
    *rms += e * e / (PetscReal)mc.q.size();
  }
  *rms = PetscSqrtReal(*rms);
  PetscFunctionReturn(0);
}

/* Agreement within four standard errors, and at the samples within -check. */
static PetscErrorCode compare(const Options &o, const std::vector<Mat> &A, const std::vector<Vec> &b, Vec f, PetscReal constant, Vec g, const Parameters &y, const Result &result, bool *good)
{
  field::MonteCarlo mc;
  const PetscReal   S = (PetscReal)o.samples;
  PetscReal         mean = 0, m2 = 0, m4 = 0, at_samples, rms, distance, spread;
  PetscScalar       sum;

  PetscFunctionBeginUser;
  PetscCall(field::monte_carlo(A, b, f, o.samples, (unsigned long)o.seed, mc));
  for (PetscReal &q : mc.q) {
    q += constant;
    mean += q / S;
  }
  for (PetscReal q : mc.q) {
    m2 += (q - mean) * (q - mean) / (S - 1);
    m4 += std::pow(q - mean, 4) / S;
  }
  const PetscReal mean_error = PetscSqrtReal(m2 / S), variance_error = PetscSqrtReal(PetscMax(m4 - m2 * m2, 0) / S);
  const PetscReal zm = PetscAbsReal(mean - result.mean) / mean_error, zv = PetscAbsReal(m2 - result.variance) / variance_error;
  PetscCall(VecAXPY(mc.mean, 1, g));
  PetscCall(VecAXPY(mc.mean, -1, result.mean_field));
  PetscCall(VecNorm(mc.mean, NORM_2, &distance));
  PetscCall(VecSum(mc.variance, &sum));
  spread = PetscSqrtReal(PetscRealPart(sum) / S);
  PetscCall(compare_at_samples(mc, constant, y, result, &at_samples, &rms));
  at_samples /= PetscSqrtReal(result.variance);
  rms /= PetscSqrtReal(result.variance);
  *good = zm <= 4 && zv <= 4 && distance <= 4 * spread && at_samples <= o.check;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-31s %14s %14s %14s %s\n", "Monte Carlo", "tensor train", "samples", "standard error", "difference in standard errors"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-29s %14.8f %14.8f %14.1e %.2f\n", "mean of Q", (double)result.mean, (double)mean, (double)mean_error, (double)zm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-29s %14.6e %14.6e %14.1e %.2f\n", "variance of Q", (double)result.variance, (double)m2, (double)variance_error, (double)zv));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-29s %14s %14s %14.1e %.2f\n", "mean of u (Euclidean norm)", "", "", (double)spread, (double)(distance / spread)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  differences of Q at the samples, in standard deviations of Q: largest %.1e, allowed %.1e; root mean square %.1e\n",
                        (double)at_samples, (double)o.check, (double)rms));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s\n", *good ? "agreement within the sampling error" : "NO AGREEMENT"));
  PetscCall(field::print_times(result.seconds, mc, variance_error / m2, rms));
  PetscCall(VecDestroy(&mc.mean));
  PetscCall(VecDestroy(&mc.variance));
  PetscFunctionReturn(0);
}

static PetscErrorCode write_fields(const Options &o, const Result &result)
{
  PetscMPIInt       rank;
  int               made = 1;
  const std::string file = std::string(o.output) + "/field.vti";

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    std::error_code error;
    std::filesystem::create_directories(o.output, error);
    made = std::filesystem::is_directory(o.output, error);
  }
  PetscCallMPI(MPI_Bcast(&made, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(made, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "cannot make the folder %s", o.output);
  PetscCall(field::write_vti(file, o.m, {{"mean", result.mean_field, 1, 0}, {"standard_deviation", result.deviation_field, 0, 0}}));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "fields                          %s, with mean standard_deviation\n", file.c_str()));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Options             o;
  Parameters          y;
  field::Expansion    a;
  std::vector<Mat>    space;
  std::vector<Vec>    rhs;
  std::vector<Result> results;
  Vec                 f, g;
  PetscReal           constant;
  PetscLogDouble      start, end;
  bool                good = true;

  PetscCall(SlepcInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(get_options(o));

  PetscCall(PetscTime(&start));
  PetscCall(field::expand(PETSC_COMM_WORLD, o.kernel, o.m, o.terms, a));
  PetscCall(PetscTime(&end));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Karhunen-Loeve expansion        %" PetscInt_FMT " terms, %" PetscInt_FMT " x %" PetscInt_FMT " squares, %.2f seconds\n", o.terms, o.m, o.m, end - start));
  PetscCall(check_positive(a));
  PetscCall(set_parameters(o, a, y));
  for (PetscInt k = 0; k <= o.terms; ++k) {
    Mat A;
    Vec b;
    PetscCall(field::assemble(PETSC_COMM_WORLD, o.m, k ? a.mode[k - 1] : std::vector<PetscReal>((std::size_t)(o.m * o.m), 1), &A, &b));
    space.push_back(A);
    rhs.push_back(b);
  }
  PetscCall(VecDuplicate(rhs[0], &f));
  PetscCall(VecDuplicate(rhs[0], &g));
  PetscCall(field::quarter_mean(o.m, f, &constant));
  PetscCall(field::lift(o.m, g));

  for (PetscInt p = 1; p <= o.terms; p = p == o.terms ? p + 1 : p < 8 ? p + 1 : PetscMin(2 * p, o.terms)) {
    Result r;
    Mat    A;
    Vec    b, x;
    r.p = p;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start)); /* of all that Monte Carlo is timed with as well: matrices, solve, statistics */
    PetscCall(create_system(space, rhs, p, y, &A, &b));
    PetscCall(solve(A, b, &x, r));
    PetscCall(statistics(x, f, constant, y, r));
    PetscCall(field_statistics(x, g, y, r));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&end));
    r.seconds = end - start;
    PetscCall(true_residual(A, b, x, r));
    if (p == o.terms) {
      PetscReal log10_full;
      PetscCall(VecTTGetFullSize(b, NULL, &log10_full));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns                        10^%.1f, %s\n", (double)log10_full, o.chaos ? "Legendre chaos" : "collocation"));
    }
    good = good && r.residual <= 1.0001 * r.rtol;
    results.push_back(r);
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&b));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(print_table(a, results));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "recomputed residual             %.3e, asked for %.1e: %s\n", (double)results.back().residual, (double)results.back().rtol, good ? "reached" : "NOT REACHED"));
  if (o.samples) {
    bool agree;
    PetscCall(compare(o, space, rhs, f, constant, g, y, results.back(), &agree));
    good = good && agree;
  }
  if (o.output[0]) PetscCall(write_fields(o, results.back()));

  for (Result &r : results) {
    PetscCall(VecDestroy(&r.mean_field));
    PetscCall(VecDestroy(&r.deviation_field));
    PetscCall(VecDestroy(&r.Q));
  }
  for (Mat &A : space) PetscCall(MatDestroy(&A));
  PetscCall(destroy_all(rhs));
  PetscCall(VecDestroy(&f));
  PetscCall(VecDestroy(&g));
  PetscCall(SlepcFinalize());
  return good ? 0 : 1;
}
