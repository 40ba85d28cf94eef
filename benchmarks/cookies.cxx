static char help[] = "The cookies problem: time per phase, iterations, residual, TT ranks, memory, messages; sums rounded as a whole against formed ones.\n\n";

/*
  The problem of tutorials/ex3.cxx, -(div (1 + sum_i alpha_i chi_i) grad u) = 1 for all values of the parameters at once, solved by
  KSPTTGMRES with PCTTKRON. -ksp_..., -pc_... and -vec_tt_... options work as in the tutorial.

  Sample runs.
      ./cookies                                     11 samples per parameter, residual 1e-6
      ./cookies -samples 101 -compare_samples 0
      mpiexec -n 4 ./cookies -machine_dgemm 500

  What to look at: README.md of this folder says what each figure means.
*/
#include "common/measure.hpp"
#include "common/problems.hpp"
#include "preconditioner.hpp"

#include "petsctt.h"
#include "sys/compat.hpp"
#include "sys/log.hpp"
#include "base/blas.hpp"

#include <algorithm>
#include <vector>

using bench::Figures;
using bench::Machine;
using bench::Problem;

namespace {

struct Options {
  char      mesh[PETSC_MAX_PATH_LEN] = "2x2";
  PetscInt  samples = 11, compare_samples = 5;
  PetscReal rtol = 1e-6, compare_rtol = 1e-4;
};

PetscErrorCode get_options(Options &o)
{
  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Cookies problem", NULL);
  PetscCall(PetscOptionsString("-mesh", "2x2, 3x3 or a Gmsh file", NULL, o.mesh, o.mesh, sizeof(o.mesh), NULL));
  PetscCall(PetscOptionsInt("-samples", "values of each parameter", NULL, o.samples, &o.samples, NULL));
  PetscCall(PetscOptionsReal("-ksp_rtol", "relative residual", NULL, o.rtol, &o.rtol, NULL));
  PetscCall(PetscOptionsInt("-compare_samples", "samples of the smaller case solved with both ways of rounding; 0: none", NULL, o.compare_samples, &o.compare_samples, NULL));
  PetscCall(PetscOptionsReal("-compare_rtol", "its relative residual", NULL, o.compare_rtol, &o.compare_rtol, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What one solve did.
struct Outcome {
  double             setup = 0, solve = 0, residual_seconds = 0;
  double             round = 0, pc = 0, apply = 0; // parts of the solve in these events, of the process with the most, in wall-clock time
  double             flops = 0;                    // of all processes
  PetscInt           iterations = 0;
  KSPConvergedReason reason     = KSP_CONVERGED_ITERATING;
  PetscReal          residual   = 0; // recomputed
  Vec                x          = NULL;
  bench::Traffic     traffic;
  bench::Memory      memory;
};

PetscErrorCode event_share(PetscLogEvent event, PetscLogDouble solve, double *share)
{
  PetscEventPerfInfo info;

  PetscFunctionBegin;
  PetscCall(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info)); // of the current stage
  *share = info.time / solve;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, share, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode true_residual(const Problem &p, Vec x, PetscReal rtol, PetscReal *residual)
{
  Vec       r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(p.b, &r));
  PetscCall(VecTTSetMaxRank(r, 0));
  PetscCall(VecTTSetRoundRtol(r, PetscMax(1e-4 * rtol, 1e-13)));
  PetscCall(MatMult(p.A, x, r));
  PetscCall(VecAYPX(r, -1.0, p.b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(p.b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve(const Problem &p, const char stage_name[], PetscReal rtol, Outcome &o)
{
  KSP            ksp;
  PC             pc;
  PetscLogStage  stage;
  PetscLogEvent  pc_apply;
  PetscLogDouble start, end; // PETSc's events know wall-clock time only
  PetscBool      shell;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(p.b, &o.x));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, p.A, p.A));
  PetscCall(KSPSetType(ksp, KSPTTGMRES));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetOperators(pc, p.A, p.A));
  PetscCall(cookies::set_corrected_mean(pc, p.b, p.factors[0], p.alphas));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCSHELL, &shell));
  if (shell) PetscCall(KSPTTGMRESSetFlexible(ksp, PETSC_FALSE)); // one linear map, which the solver cannot know of a PCSHELL
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(bench::time_once(
    [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCall(KSPSetUp(ksp));
      PetscCall(KSPSetUpOnBlocks(ksp));
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    &o.setup));
  PetscCall(PetscLogStageRegister(stage_name, &stage));
  PetscCall(PetscLogStagePush(stage));
  o.memory.start();
  o.traffic.start();
  o.flops = petsctt::flops();
  PetscCall(PetscTime(&start));
  PetscCall(bench::time_once([&]() { return KSPSolve(ksp, p.b, o.x); }, &o.solve));
  PetscCall(PetscTime(&end));
  o.flops = petsctt::flops() - o.flops;
  PetscCall(o.traffic.stop());
  PetscCall(o.memory.stop());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &o.flops, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCall(event_share(petsctt::events().round, end - start, &o.round));
  PetscCall(PetscLogEventGetId("PCApply", &pc_apply)); // PETSc's own event
  PetscCall(event_share(pc_apply, end - start, &o.pc));
  PetscCall(event_share(petsctt::events().apply, end - start, &o.apply));
  PetscCall(PetscLogStagePop());
  PetscCall(KSPGetIterationNumber(ksp, &o.iterations));
  PetscCall(KSPGetConvergedReason(ksp, &o.reason));
  PetscCall(bench::time_once([&]() { return true_residual(p, o.x, rtol, &o.residual); }, &o.residual_seconds));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode bench_solve(const Options &o, const Machine &machine, Figures &figures)
{
  Problem         p;
  Outcome         s;
  PetscInt        d;
  const PetscInt *N, *r;
  PetscReal       full, stored = 0;
  PetscMPIInt     size;
  PetscInt        widest = 1;
  double          setup;
  std::string     ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(bench::time_once([&]() { return bench::make_cookies(o.mesh, o.samples, p); }, &setup));
  PetscCall(solve(p, "solve", o.rtol, s));
  PetscCall(VecTTGetModes(s.x, &d, &N));
  PetscCall(VecTTGetRanks(s.x, &r));
  for (PetscInt k = 0; k < d; ++k) stored += (PetscReal)r[k] * (PetscReal)N[k] * (PetscReal)r[k + 1];
  for (PetscInt k = 0; k <= d; ++k) {
    widest = PetscMax(widest, r[k]);
    ranks += (k ? " " : "") + std::to_string((long long)r[k]);
  }
  PetscCall(VecTTGetFullSize(s.x, &full, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "cookies %s, %" PetscInt_FMT " samples: %.3g unknowns\n", o.mesh, o.samples, (double)full));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  assembly %.2f s, preconditioner %.2f s, solve %.2f s (%.0f%% in roundings, %.0f%% in the preconditioner, %.0f%% in forming products), true residual %.2f s\n", setup, s.setup, s.solve, 100 * s.round, 100 * s.pc,
                        100 * s.apply, s.residual_seconds));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s after %" PetscInt_FMT " iterations, true residual %.3e, TT ranks %s, %.3g MB, of the full tensor %.3g MB\n", KSPConvergedReasons[s.reason], s.iterations, (double)s.residual,
                        ranks.c_str(), 1e-6 * (double)stored * sizeof(PetscScalar), 1e-6 * (double)full * sizeof(PetscScalar)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  messages per process %.0f, words %.4g; peak memory of a process %.3g MB above its level before\n", s.traffic.messages, s.traffic.words, 1e-6 * s.memory.bytes));
  figures.add("cookies.iterations", (double)s.iterations);
  figures.add("cookies.converged", s.reason > 0);
  figures.add("cookies.residual", (double)s.residual);
  figures.add("cookies.residual_over_rtol", (double)(s.residual / o.rtol));
  figures.add("cookies.rank", (double)widest);
  figures.add("cookies.assembly_seconds", setup);
  figures.add("cookies.setup_seconds", s.setup);
  figures.add("cookies.seconds", s.solve);
  figures.add("cookies.rounding_share", s.round);
  figures.add("cookies.pc_share", s.pc);
  figures.add("cookies.dgemm_fraction", s.flops / s.solve / size / machine.dgemm);
  figures.add("cookies.compression", (double)(full / stored));
  figures.add("cookies.peak_mbytes", 1e-6 * s.memory.bytes);
  figures.add("cookies.messages_per_iteration", s.traffic.messages / std::max(1.0, (double)s.iterations));
  figures.add("cookies.words_per_iteration", s.traffic.words / std::max(1.0, (double)s.iterations));
  PetscCall(VecDestroy(&s.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same solve twice: sums rounded as a whole where that pays, and every sum formed and rounded by QR sweeps.
PetscErrorCode bench_compare(const Options &o, Figures &figures)
{
  Problem p;
  Outcome whole, formed;

  PetscFunctionBegin;
  PetscCall(bench::make_cookies(o.mesh, o.compare_samples, p));
  PetscCall(VecTTSetRoundType(p.b, VEC_TT_ROUND_AUTO));
  PetscCall(solve(p, "compare auto", o.compare_rtol, whole));
  // read by every vector at its creation, and by this one now
  PetscCall(PetscOptionsSetValue(NULL, "-vec_tt_round_form_sums", "1"));
  PetscCall(PetscOptionsSetValue(NULL, "-vec_tt_round_type", "qr"));
  PetscCall(VecSetFromOptions(p.b));
  PetscCall(solve(p, "compare qr", o.compare_rtol, formed));
  PetscCall(PetscOptionsClearValue(NULL, "-vec_tt_round_form_sums"));
  PetscCall(PetscOptionsClearValue(NULL, "-vec_tt_round_type"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " samples to %.0e: auto %.2f s, %" PetscInt_FMT " iterations, residual %.2e; formed %.2f s, %" PetscInt_FMT " iterations, residual %.2e\n",
                        o.compare_samples, (double)o.compare_rtol, whole.solve, whole.iterations, (double)whole.residual, formed.solve, formed.iterations, (double)formed.residual));
  figures.add("cookies.speedup_over_formed", formed.solve / whole.solve);
  figures.add("cookies.compare.residual_over_rtol", (double)(whole.residual / o.compare_rtol));
  PetscCall(VecDestroy(&whole.x));
  PetscCall(VecDestroy(&formed.x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode body(Figures &figures)
{
  Options o;
  Machine machine;
  char    rtol[32];

  PetscFunctionBegin;
  PetscCall(get_options(o));
  // Vectors look there for the accuracy of their roundings unless -vec_tt_round_rtol is given
  PetscCall(PetscSNPrintf(rtol, sizeof(rtol), "%.16g", (double)o.rtol));
  PetscCall(PetscOptionsSetValue(NULL, "-ksp_rtol", rtol));
  PetscCall(PetscLogDefaultBegin()); // the shares come from its events
  PetscCall(bench::measure_machine(&machine));
  PetscCall(bench::report_machine(machine, figures));
  PetscCall(bench_solve(o, machine, figures));
  if (o.compare_samples > 0) PetscCall(bench_compare(o, figures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return bench::run(argc, argv, help, body);
}
