static char help[] = "Diffusion with uncertain coefficients (the \"cookies\" problem) for all parameter values at once.\n\n";

/*
  The problem.  On a square with p round inclusions D_1, ..., D_p (2x2 or 3x3 of them), with the diffusion coefficient raised by
  alpha_i in the i-th one, find u(x; alpha_1, ..., alpha_p) with

      -div( (1 + sum_i alpha_i chi_(D_i)) grad u ) = 1,    u = 0 on the boundary.

  P1 elements on a triangulation that follows the discs give (A_0 + sum_i alpha_i A_i) u(alpha) = f. With n samples of every
  parameter, all n^p systems together are one linear system of d = p + 1 modes:

      A = A_0 x I x ... x I + sum_i A_i x I x ... x diag(alpha) x ... x I   (diag(alpha) on mode i; x is the Kronecker product),
      b = f x 1 x ... x 1.

  For the 2x2 mesh and 101 samples it has 1580 x 101^4 = 1.6e11 unknowns. The solution is sought as a tensor train: a chain of d small
  cores whose storage grows with d n r^2 rather than n^d. PETSc's Krylov solvers need nothing but products with A, linear combinations
  and inner products; PETScTT does these on the cores and rounds the results to the TT ranks that the accuracy needs.

  Reference: D. Kressner, C. Tobler, Low-rank tensor Krylov subspace methods for parametrized linear systems, SIAM J. Matrix Anal.
  Appl. 32 (2011). Mesh and matrices: (c) Tobler and Kressner, see share/petsctt/data/cookies/COPYRIGHT.txt.

  Sample runs.
      ./ex3                                              2x2, 101 samples, relative residual 1e-6
      mpiexec -n 2 ./ex3 -output out                     the same; fields for ParaView in out/cookies.vtu
      ./ex3 -samples 11 -ksp_rtol 1e-8                   a small one
      ./ex3 -samples 11 -point 10,20,30,40,0,0,0,100     Q (and with -output the field) at two parameter points
      ./ex3 -mesh 3x3 -ksp_rtol 1e-3                     nine parameters: 3644 x 101^9 unknowns
      ./ex3 -mesh my.msh -samples 21 -alpha_max 10       any Gmsh 2.2 mesh with surfaces disc1, ..., discp and a line boundary
      ./ex3 -ksp_type cg -ksp_norm_type unpreconditioned -ksp_max_it 50 -pc_type ttkron -vec_tt_max_rank 20 -replace_residual
                                                         PETSc's own CG with all TT ranks capped, as in the paper: the cap, not
                                                         the number of iterations, limits the accuracy, and the program says so:
                                                         caps 10, 20, 30 end near 2e-2, 5e-4, 4e-5, with a few seconds' work.
                                                         Leave out -replace_residual and watch the recurrence deceive itself
      ./ex3 -ksp_view -ksp_converged_reason -log_view    as with every PETSc program

  What to look at.
    - The residual is recomputed from the solution at the end. Krylov recurrences go on converging when rounding has long spoiled the
      solution; only the recomputed number counts here, and decides the exit status.
    - TT ranks and storage against the full tensor.
    - Statistics of Q(alpha) = f^T u(alpha) = integral of u, over all n^p parameter points, come from contractions of the train.
    - The preconditioner: by default one made for this problem (cookies/preconditioner.hpp). Compare with -pc_type ttkron, the solver with
      A at the mean of the parameters that one would take without thinking: it needs seven times as many steps.
    - -pc_ttkron_mode_0_pc_type etc. choose the solver for A at the mean of the parameters in either.
*/
#include "cookies/cookies.hpp"
#include "cookies/known.hpp"
#include "cookies/preconditioner.hpp"
#include "cookies/statistics.hpp"

#include <petsctt.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

struct Options {
  char      mesh[PETSC_MAX_PATH_LEN]   = "2x2";
  char      output[PETSC_MAX_PATH_LEN] = "";
  PetscInt  samples                    = 101;
  PetscReal alpha_max                  = 100;
  PetscReal check                      = 0;
  PetscBool progress                   = PETSC_TRUE;
  PetscBool replace_residual           = PETSC_FALSE;

  PetscReal              alpha(PetscInt j) const { return alpha_max * (PetscReal)j / (PetscReal)(samples - 1); }
  std::vector<PetscReal> alphas() const
  {
    std::vector<PetscReal> a;
    for (PetscInt j = 0; j < samples; ++j) a.push_back(alpha(j));
    return a;
  }
};

/* Wall-clock time per phase, which is a stage in -log_view as well. */
struct Clock {
  std::vector<std::pair<std::string, PetscLogDouble>> phases;
  PetscLogDouble                                      start = 0;

  PetscErrorCode begin(const char name[])
  {
    PetscLogStage stage;

    PetscFunctionBeginUser;
    PetscCall(PetscLogStageRegister(name, &stage));
    PetscCall(PetscLogStagePush(stage));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&start));
    phases.emplace_back(name, 0);
    PetscFunctionReturn(0);
  }
  PetscErrorCode end()
  {
    PetscLogDouble now;

    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    PetscCall(PetscTime(&now));
    phases.back().second = now - start;
    PetscCall(PetscLogStagePop());
    PetscFunctionReturn(0);
  }
};

static PetscErrorCode get_options(Options &o)
{
  PetscFunctionBeginUser;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of the cookies problem", NULL);
  PetscCall(PetscOptionsString("-mesh", "2x2, 3x3 or a Gmsh file", NULL, o.mesh, o.mesh, sizeof(o.mesh), NULL));
  PetscCall(PetscOptionsInt("-samples", "samples of every parameter", NULL, o.samples, &o.samples, NULL));
  PetscCall(PetscOptionsReal("-alpha_max", "the samples are spaced evenly in [0, alpha_max]", NULL, o.alpha_max, &o.alpha_max, NULL));
  PetscCall(PetscOptionsString("-output", "folder for cookies.vtu; none: no files", NULL, o.output, o.output, sizeof(o.output), NULL));
  PetscCall(PetscOptionsReal("-check", "fail if a value differs from the known one by more, relatively; 0: never", NULL, o.check, &o.check, NULL));
  PetscCall(PetscOptionsBool("-progress", "a line per iteration", NULL, o.progress, &o.progress, NULL));
  PetscCall(PetscOptionsBool("-replace_residual", "-ksp_type cg, fcg: compute b - A x in every step", "KSPMonitorTTReplaceResidual", o.replace_residual, &o.replace_residual, NULL));
  PetscOptionsEnd();
  PetscCheck(o.samples >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-samples %" PetscInt_FMT ": at least 2 samples are needed", o.samples);
  PetscCheck(o.alpha_max > 0 && o.alpha_max < PETSC_INFINITY, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-alpha_max %g: must be positive and finite", (double)o.alpha_max);
  PetscFunctionReturn(0);
}

/* A default that the user's own option overrides. It goes through the options, because that is where vectors look
   for the accuracy of their roundings when -vec_tt_round_rtol is not given. */
static PetscErrorCode set_default_tolerance(const char rtol[])
{
  PetscBool set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_rtol", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-ksp_rtol", rtol));
  PetscFunctionReturn(0);
}

/* The parameter points of -point, p numbers each, as indices of samples; by default some that every user can compare. */
static PetscErrorCode get_points(const Options &o, PetscInt p, std::vector<PetscInt> &points)
{
  std::vector<PetscReal> values(1000 * p);
  PetscInt               count = (PetscInt)values.size();
  PetscBool              set;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-point", values.data(), &count, &set));
  if (!set) {
    const PetscReal cycle[] = {1, 10, 50, 100};
    count                   = 0;
    for (int kind = 0; kind < 4; ++kind)
      for (PetscInt i = 0; i < p; ++i) values[count++] = kind == 0 ? 0 : kind == 1 ? 1 : kind == 2 ? cycle[i % 4] : o.alpha_max;
  }
  PetscCheck(count > 0 && count % p == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_SIZ, "-point has %" PetscInt_FMT " numbers; each point needs %" PetscInt_FMT ", one per disc", count, p);
  points.clear();
  for (PetscInt a = 0; a < count; a += p) {
    std::vector<PetscInt> index(p);
    bool                  on_grid = true;
    for (PetscInt i = 0; i < p; ++i) {
      const PetscReal v = values[a + i], step = o.alpha(1);
      const PetscReal j = v / step;
      const bool      in = j > -0.5 && j < (PetscReal)o.samples - 0.5;
      index[i]           = in ? (PetscInt)(j + 0.5) : 0;
      if (in && PetscAbsReal(o.alpha(index[i]) - v) <= 1e-9 * o.alpha_max) continue;
      PetscCheck(!set, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-point: %g is not a sample of the parameters, which are 0, %g, %g, ..., %g", (double)v, (double)step, (double)(2 * step), (double)o.alpha_max);
      on_grid = false;
    }
    if (on_grid) points.insert(points.end(), index.begin(), index.end());
  }
  PetscFunctionReturn(0);
}

static std::string point_name(const Options &o, PetscInt p, const PetscInt index[], const char separator[])
{
  std::string name;
  char        number[32];
  for (PetscInt i = 0; i < p; ++i) {
    std::snprintf(number, sizeof(number), "%s%g", i ? separator : "", (double)o.alpha(index[i]));
    name += number;
  }
  return name;
}

/* The operator and the right-hand side: what a program that has A_0, ..., A_p and f must add. */
static PetscErrorCode create_system(const Options &o, const std::vector<Mat> &space, Vec f, Mat *A, Vec *b)
{
  const PetscInt        d = (PetscInt)space.size();
  std::vector<PetscInt> n(d, PETSC_TT_AUTO), N(d, o.samples);

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(f, &n[0]));
  PetscCall(VecGetSize(f, &N[0]));
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, n.data(), N.data(), A));
  PetscCall(MatCreateVecs(*A, NULL, b));
  for (PetscInt i = 0; i < d; ++i) {
    std::vector<Mat> factors(d, NULL); // NULL is the identity
    factors[0] = space[i];
    if (i > 0) PetscCall(cookies::create_diagonal(*b, i, o.alphas(), &factors[i]));
    PetscCall(MatTTAddTerm(*A, 1.0, factors.data()));
    if (i > 0) PetscCall(MatDestroy(&factors[i]));
  }
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  std::vector<Vec> factors(d, NULL); // NULL is a vector of ones
  factors[0] = f;
  PetscCall(VecTTSetRankOne(*b, factors.data()));
  PetscFunctionReturn(0);
}

/* "1 29 160 150 39 1" */
static PetscErrorCode rank_list(Vec x, std::string &list)
{
  PetscInt        d;
  const PetscInt *r;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, NULL));
  PetscCall(VecTTGetRanks(x, &r));
  list.clear();
  for (PetscInt k = 0; k <= d; ++k) list += (k ? " " : "") + std::to_string(r[k]);
  PetscFunctionReturn(0);
}

struct Progress {
  PetscLogDouble start;
  PetscReal      first;
};

static PetscErrorCode show_progress(KSP ksp, PetscInt it, PetscReal rnorm, void *ctx)
{
  Progress      *p = (Progress *)ctx;
  PetscLogDouble now;
  Vec            x;
  PetscBool      gmres;
  std::string    ranks;

  PetscFunctionBeginUser;
  PetscCall(PetscTime(&now));
  if (it == 0) {
    p->first = rnorm;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6s  %10s  %9s  %s\n", "iter", "residual", "seconds", "TT ranks of the newest vector"));
  }
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPTTGMRES, &gmres));
  if (gmres) PetscCall(KSPTTGMRESGetLastBasisVec(ksp, &x));
  else PetscCall(KSPGetSolution(ksp, &x));
  if (x) PetscCall(rank_list(x, ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%6" PetscInt_FMT "  %10.3e  %9.2f  %s\n", it, (double)(p->first > 0 ? rnorm / p->first : rnorm), now - p->start, ranks.c_str()));
  PetscFunctionReturn(0);
}

/* The default preconditioner is one linear map up to roundings, which KSPTTGMRES cannot know of a PCSHELL, unless its inner solver is an
   iterative one. */
static PetscErrorCode set_flexible(KSP ksp, PC pc)
{
  PetscBool shell, said, iterative;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSHELL, &shell));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-ksp_ttgmres_flexible", &said));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-pc_ttkron_mode_0_ksp_type", &iterative));
  if (shell && !said && !iterative) PetscCall(KSPTTGMRESSetFlexible(ksp, PETSC_FALSE));
  PetscFunctionReturn(0);
}

/* r = b - A x and ||r|| / ||b||, with roundings so fine that they do not show. */
static PetscErrorCode true_residual(Mat A, Vec b, Vec x, PetscReal rtol, Vec *r, PetscReal *residual)
{
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, r));
  PetscCall(VecTTSetMaxRank(*r, 0));
  PetscCall(VecTTSetRoundRtol(*r, PetscMax(1e-4 * rtol, 1e-13)));
  PetscCall(MatMult(A, x, *r));
  PetscCall(VecTTSetRoundRtol(*r, 1e-4));
  PetscCall(VecAYPX(*r, -1.0, b));
  PetscCall(VecNorm(*r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) *residual /= norm;
  PetscFunctionReturn(0);
}

static PetscErrorCode print_size(Vec x)
{
  PetscInt        d;
  const PetscInt *N, *r;
  PetscReal       full, log10_full, stored = 0;
  std::string     ranks;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModes(x, &d, &N));
  PetscCall(VecTTGetRanks(x, &r));
  for (PetscInt k = 0; k < d; ++k) stored += (PetscReal)r[k] * (PetscReal)N[k] * (PetscReal)r[k + 1];
  PetscCall(VecTTGetFullSize(x, &full, &log10_full));
  PetscCall(rank_list(x, ranks));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "TT ranks of the solution        %s\n", ranks.c_str()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "storage                         %.3g bytes, the full tensor %.3g bytes: %.3g times as much\n", (double)(stored * sizeof(PetscScalar)), (double)(full * sizeof(PetscScalar)), (double)(full / stored)));
  PetscFunctionReturn(0);
}

/* Prints a result beside the value that was computed independently, if there is one (0 or none: unknown). */
struct Comparison {
  int       known = 0;
  PetscReal worst = 0; /* relative difference */

  PetscErrorCode print(const std::string &what, PetscReal plain, PetscReal value, const double *reference)
  {
    PetscFunctionBeginUser;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-24s %16.12g  %16.12g", what.c_str(), (double)plain, (double)value));
    if (reference && *reference != 0) {
      const PetscReal difference = PetscAbsReal(value - *reference) / PetscAbsReal(*reference);
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %16.12g  %.1e", *reference, (double)difference));
      ++known;
      worst = difference <= worst ? worst : difference; /* NaN stays */
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
    PetscFunctionReturn(0);
  }
};

/* r = b - A x. Since A is symmetric, the error of f^T u is u^T r up to terms quadratic in the error of u: that correction costs next to
   nothing, and it makes the values of Q much better than the field is at points where A(alpha) is far from its mean. */
static PetscErrorCode print_statistics(const Options &o, const std::vector<Mat> &space, Vec x, Vec r, Vec f, const std::vector<PetscInt> &points)
{
  const std::vector<PetscReal> alpha = o.alphas();
  std::vector<PetscInt>        argmin, argmax;
  Vec                          Q;
  PetscInt                     p, unknowns;
  PetscReal                    full, mean, variance, plain, value;
  PetscScalar                  xr;
  PetscBool                    exact = PETSC_FALSE;
  Comparison                   compare;

  PetscFunctionBeginUser;
  PetscCall(VecGetSize(f, &unknowns));
  const cookies::Known *known = cookies::find_known(o.mesh, unknowns, o.alpha_max, o.samples);
  PetscCall(cookies::contract_space(x, f, &Q));
  PetscCall(VecTTGetModes(Q, &p, NULL));
  PetscCall(VecTTGetFullSize(Q, &full, NULL));
  PetscCall(cookies::moments(Q, &mean, &variance));
  PetscCall(VecTDot(x, r, &xr));
  PetscCall(cookies::extremes(Q, argmin, argmax, &exact));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-26s %16s  %16s  %16s  %s\n", "Q(alpha) = integral of u", "f^T u", "f^T u + u^T r", known ? "known" : "", known ? "relative difference" : ""));
  PetscCall(compare.print("mean", mean, mean + PetscRealPart(xr) / full, known ? &known->mean : NULL));
  PetscCall(compare.print("variance", variance, variance, known ? &known->variance : NULL));
  PetscCall(cookies::corrected_value(x, space, alpha, f, argmin.data(), &plain, &value));
  PetscCall(compare.print(exact ? "min" : "min over the corners", plain, value, known ? &known->min : NULL));
  PetscCall(cookies::corrected_value(x, space, alpha, f, argmax.data(), &plain, &value));
  PetscCall(compare.print(exact ? "max" : "max over the corners", plain, value, known ? &known->max : NULL));
  for (std::size_t c = 0; c < points.size(); c += p) {
    std::vector<double> at(p);
    for (PetscInt i = 0; i < p; ++i) at[i] = (double)alpha[points[c + i]];
    PetscCall(cookies::corrected_value(x, space, alpha, f, &points[c], &plain, &value));
    PetscCall(compare.print("Q(" + point_name(o, p, &points[c], ",") + ")", plain, value, cookies::find_known_point(o.mesh, unknowns, at)));
  }
  if (!exact) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  (%.2g points are not enumerated)\n", (double)full));
  PetscCall(VecDestroy(&Q));
  if (o.check > 0) {
    PetscCheck(compare.known > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_WRONG, "-check: no values are known for this mesh and these parameters");
    PetscCheck(compare.worst <= o.check, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "a value differs from the known one by %g, relatively; -check allows %g", (double)compare.worst, (double)o.check);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode write_fields(const Options &o, DM dm, Vec x, Vec f, const std::vector<PetscInt> &points)
{
  std::vector<cookies::Field> fields(2);
  PetscInt                    d;
  int                         made = 1;
  PetscMPIInt                 rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) {
    std::error_code error;
    std::filesystem::create_directories(o.output, error);
    made = std::filesystem::is_directory(o.output, error);
  }
  PetscCallMPI(MPI_Bcast(&made, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  PetscCheck(made, PETSC_COMM_WORLD, PETSC_ERR_FILE_OPEN, "cannot make the folder %s", o.output);
  PetscCall(cookies::moment_fields(x, f, &fields[0].values, &fields[1].values));
  fields[0].name = "mean";
  fields[1].name = "standard_deviation";
  PetscCall(VecTTGetModes(x, &d, NULL));
  for (std::size_t a = 0; a < points.size(); a += d - 1) {
    std::vector<PetscInt> index(d, 0); // that of mode 0 is not used
    std::copy(points.begin() + a, points.begin() + a + d - 1, index.begin() + 1);
    Vec u;
    PetscCall(VecDuplicate(f, &u));
    PetscCall(VecTTExtract(x, 0, index.data(), u));
    fields.push_back({"u_" + point_name(o, d - 1, &points[a], "_"), u});
  }
  const std::string file = std::string(o.output) + "/cookies.vtu";
  PetscCall(cookies::write_vtu(dm, file, fields));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "fields                          %s, with", file.c_str()));
  for (cookies::Field &field : fields) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %s", field.name.c_str()));
    PetscCall(VecDestroy(&field.values));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(0);
}

/* Says how the solve ended and whether a rank cap is to blame; *good if the recomputed residual is what was asked for. */
static PetscErrorCode print_outcome(KSP ksp, Vec x, PetscReal residual, bool *good)
{
  KSPConvergedReason reason;
  KSPType            type;
  PetscInt           its, cap;
  PetscReal          rtol;
  VecTTRoundingInfo  info;

  PetscFunctionBeginUser;
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(VecTTGetRoundingInfo(x, &info));
  PetscCall(VecTTGetMaxRank(x, &cap));
  *good = residual <= 1.0001 * rtol;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solver                          %s, %" PetscInt_FMT " iterations, %s\n", type, its, KSPConvergedReasons[reason]));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "recomputed residual             %.3e, asked for %.1e: %s\n", (double)residual, (double)rtol, *good ? "reached" : "NOT REACHED"));
  if (!*good && info.cap_hits > 0)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "not converged because of the rank cap: TT ranks were cut at %" PetscInt_FMT " in %" PetscInt_FMT " of %" PetscInt_FMT " roundings of the solution, before their tolerance was met\n", cap, info.cap_hits, info.roundings));
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Options               o;
  Clock                 clock;
  std::string           file;
  std::vector<PetscInt> points;
  std::vector<Mat>      space;
  DM                    dm;
  Mat                   A;
  Vec                   f, b, x, r;
  KSP                   ksp;
  PC                    pc;
  Progress              progress;
  PetscInt              p, unknowns;
  PetscReal             rtol, residual, full;
  bool                  good = false;

  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(get_options(o));
  PetscCall(set_default_tolerance("1e-6"));

  PetscCall(clock.begin("mesh"));
  PetscCall(cookies::find_mesh(o.mesh, file));
  PetscCall(cookies::read_mesh(PETSC_COMM_WORLD, file.c_str(), &dm, &p));
  PetscCall(get_points(o, p, points));
  PetscCall(clock.end());

  PetscCall(clock.begin("assembly"));
  PetscCall(cookies::assemble(dm, p, space, &f));
  PetscCall(create_system(o, space, f, &A, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecSetFromOptions(x));
  PetscCall(clock.end());
  PetscCall(VecGetSize(f, &unknowns));
  PetscCall(VecTTGetFullSize(b, &full, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "mesh                            %s, %" PetscInt_FMT " discs\n", o.mesh, p));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "unknowns                        %" PetscInt_FMT " x %" PetscInt_FMT "^%" PetscInt_FMT " = %.3g\n", unknowns, o.samples, p, (double)full));

  PetscCall(clock.begin("preconditioner"));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(cookies::set_corrected_mean(pc, b, space, o.alphas()));
  if (o.progress) PetscCall(KSPMonitorSet(ksp, show_progress, &progress, NULL));
  if (o.replace_residual) PetscCall(KSPMonitorSet(ksp, KSPMonitorTTReplaceResidual, NULL, NULL));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(set_flexible(ksp, pc));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(clock.end());

  PetscCall(clock.begin("solve"));
  progress.start = clock.start;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(clock.end());

  PetscCall(clock.begin("residual"));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(true_residual(A, b, x, rtol, &r, &residual));
  PetscCall(clock.end());
  PetscCall(print_outcome(ksp, x, residual, &good));
  PetscCall(print_size(x));

  PetscCall(clock.begin("statistics"));
  PetscCall(print_statistics(o, space, x, r, f, points));
  PetscCall(clock.end());
  if (o.output[0]) {
    PetscCall(clock.begin("fields"));
    PetscCall(write_fields(o, dm, x, f, points));
    PetscCall(clock.end());
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "seconds\n"));
  for (const auto &phase : clock.phases) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-28s  %.2f\n", phase.first.c_str(), phase.second));

  PetscCall(KSPDestroy(&ksp));
  for (Mat &M : space) PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&f));
  PetscCall(DMDestroy(&dm));
  PetscCall(PetscFinalize());
  return good ? 0 : 1;
}
