static char help[] = "Distributed dense LU: time, residual, words and messages against ScaLAPACK, LAPACK, the model and the lower bound.\n\n";

/*
  Factorises one matrix of order n, a function of row and column, by the library's LU, by ScaLAPACK's pdgetrf (what PETSc's MATSCALAPACK calls for
  MatLUFactor(); called here without PETSc, which hides the pivots) and, on one process, by LAPACK's getrf. With -nrhs, also solves, by pdgetrs and getrs.

  Sample runs.
      ./lu -n 2048                                    against LAPACK
      mpiexec -n 16 ./lu -n 4096 -time no             counts and residuals: more processes than cores
      mpiexec -n 64 ./lu -n 8192 -time no -grid 4,8,2 -tile 64 -no_residual
      mpiexec -n 4 ./lu -n 1000 -matrix growth
      mpiexec -n 64 ./lu -n 4096 -time no -no_residual -nrhs 1024     counts of solves with many right-hand sides

  What to look at: README.md of this folder says what each figure means.
*/
#include "lu_codes.hpp"

using namespace lu_codes;
using bench::Figures;

namespace {

PetscErrorCode get_options(Options &o)
{
  const char *const matrices[] = {"uniform", "diagonal", "scaled", "alternating", "growth", "stencil"};
  PetscInt          matrix = 0, blocks[2], three = 3, two = 2;
  PetscBool         no_scalapack = PETSC_FALSE, no_residual = PETSC_FALSE, given, square;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &o.size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &o.rank));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Distributed LU", NULL);
  PetscCall(PetscOptionsInt("-n", "order of the matrix", NULL, o.n, &o.n, NULL));
  PetscCall(PetscOptionsIntArray("-grid", "processes: rows, columns, layers; the plan's own by default", NULL, o.grid, &three, &given));
  PetscCall(PetscOptionsInt("-tile", "columns of a panel; the plan's own by default", NULL, o.tile, &o.tile, NULL));
  PetscCall(PetscOptionsEList("-matrix", "uniform (-1,1); the same with a tiny diagonal, with rows scaled over 16 decades, with every other row small; growth; convection-diffusion",
                              NULL, matrices, 6, matrices[0], &matrix, NULL));
  PetscCall(PetscOptionsBool("-time", "repeat for the times; otherwise factorise once for the counts", NULL, o.time, &o.time, NULL));
  PetscCall(PetscOptionsBool("-no_scalapack", "leave out ScaLAPACK", NULL, no_scalapack, &no_scalapack, NULL));
  PetscCall(PetscOptionsBool("-no_residual", "leave out ||PA - LU||, for which process 0 needs a matrix of order n", NULL, no_residual, &no_residual, NULL));
  PetscCall(PetscOptionsIntArray("-mat_scalapack_block_sizes", "block size of ScaLAPACK", NULL, blocks, &two, &square));
  PetscCall(PetscOptionsInt("-mat_scalapack_grid_height", "process rows of ScaLAPACK; the largest divisor up to the root by default", NULL, o.height, &o.height, NULL));
  PetscCall(PetscOptionsInt("-reps", "repetitions", NULL, o.reps, &o.reps, NULL));
  PetscCall(PetscOptionsInt("-nrhs", "right-hand sides of a solve; 0: no solves", NULL, o.nrhs, &o.nrhs, NULL));
  PetscOptionsEnd();
  o.scalapack = no_scalapack ? PETSC_FALSE : PETSC_TRUE;
  o.residual  = no_residual ? PETSC_FALSE : PETSC_TRUE;
  if (square && two >= 1) o.block = blocks[0];
  if (o.height == 0)
    for (PetscInt h = 1; h * h <= o.size; ++h)
      if (o.size % h == 0) o.height = h;
  PetscCheck(!given || three == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-grid needs three numbers: rows, columns, layers");
  PetscCheck(o.nrhs >= 0 && o.nrhs < 1000000, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-nrhs %" PetscInt_FMT ": 0 to 999999", o.nrhs);
  PetscCheck(o.n >= 1 && o.tile >= 0 && o.block >= 1 && o.reps >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n, -reps and the block size must be positive");
  PetscCheck(o.height >= 1 && o.size % o.height == 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-mat_scalapack_grid_height %" PetscInt_FMT " does not divide %d processes", o.height, o.size);
  PetscCheck((double)o.n * (double)o.n < 2147483647., PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-n %" PetscInt_FMT ": too large for the integers of ScaLAPACK on one process",
             o.n);
  const Count n = o.n, edge = (Count)std::ceil(std::sqrt((double)n));
  switch (matrix) {
  case 0: o.a = [](Count i, Count j) { return (Scalar)uniform((std::uint64_t)i, (std::uint64_t)j); }; break;
  case 1: o.a = [](Count i, Count j) { return (Scalar)(i == j ? 1e-20 : uniform((std::uint64_t)i, (std::uint64_t)j)); }; break;
  case 2: o.a = [n](Count i, Count j) { return (Scalar)(uniform((std::uint64_t)i, (std::uint64_t)j) * std::pow(10., -8 + 16. * (double)i / (double)n)); }; break;
  case 3: o.a = [](Count i, Count j) { return (Scalar)(uniform((std::uint64_t)i, (std::uint64_t)j) * (i % 2 ? 1e-10 : 1.)); }; break;
  case 4: o.a = [n](Count i, Count j) { return (Scalar)(i == j || j == n - 1 ? 1. : i > j ? -0.5 : 0.); }; break;
  default:
    o.a = [edge](Count i, Count j) { // upwind in both directions
      const Count d = j - i;
      return (Scalar)(d == 0 ? 4.5 : (d == 1 && j % edge) || d == edge ? -1. : (d == -1 && i % edge) || d == -edge ? -1.25 : 0.);
    };
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What one code needed. Words are scalars.
struct Result {
  std::vector<double> seconds;
  double              mean_words = 0, max_words = 0, mean_messages = 0, max_messages = 0, residual = -1;
  double              best() const { return *std::min_element(seconds.begin(), seconds.end()); }
  double              median() const
  {
    std::vector<double> s = seconds;
    std::sort(s.begin(), s.end());
    return s[s.size() / 2];
  }
};

// Mean over all processes of words sent, maximum of words sent or received.
PetscErrorCode summarise(double messages, double sent, double received, Result &r)
{
  double sum[2] = {messages, sent}, most[2] = {messages, std::max(sent, received)};
  int    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  r.mean_messages = sum[0] / size;
  r.mean_words    = sum[1] / size;
  r.max_messages  = most[0];
  r.max_words     = most[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A solve that is counted; its time includes making the right-hand sides.
PetscErrorCode count_solve(Code &code, Result &r)
{
  double          seconds;
  bench::MpiCount seen;

  PetscFunctionBegin;
  const auto counted = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    bench::mpi_counter_start();
    PetscCall(code.solve());
    seen = bench::mpi_counter_stop();
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(bench::time_once(counted, &seconds));
  r.seconds.push_back(seconds);
  PetscCall(summarise(seen.messages, seen.sent / sizeof(Scalar), seen.received / sizeof(Scalar), r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One factorisation that is counted, and the residual it leaves.
PetscErrorCode count(Code &code, const Options &o, Result &r, bench::MpiCount *seen)
{
  double seconds;

  PetscFunctionBegin;
  PetscCall(code.prepare());
  const auto counted = [&]() -> PetscErrorCode {
    PetscFunctionBegin;
    bench::mpi_counter_start();
    PetscCall(code.factor());
    *seen = bench::mpi_counter_stop();
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(bench::time_once(counted, &seconds));
  r.seconds.push_back(seconds);
  if (o.residual) PetscCall(code.residual(&r.residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode line(const char *name, const Result &r)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-10s %10.4f %10.4f %12.4e %12.4e %12.1f %12.0f", name, r.best(), r.median(), r.mean_words, r.max_words, r.mean_messages, r.max_messages));
  if (r.residual >= 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, " %11.3e", r.residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const char *name_of(lu::Way way) { return way == lu::Way::tiles ? "tile by tile" : way == lu::Way::apart ? "layers apart" : way == lu::Way::wide ? "wide steps" : "factors moving"; }

// Solves by all codes: words and messages of the first one of ours, with what it needs first, and of those after it.
PetscErrorCode solves(const Options &o, std::vector<std::unique_ptr<Code>> &codes, const std::string &name, Figures &figures)
{
  Ours   &ours = static_cast<Ours &>(*codes[0]);
  Result  first, r;
  double  error;

  PetscFunctionBegin;
  PetscCall(count_solve(ours, first));
  PetscCall(count_solve(ours, r));
  PetscCall(ours.backward_error(&error));
  const lu::Schedule   way   = ours.f->schedule(o.nrhs);
  const lu::Prediction model = lu::predict_solve(ours.grid, o.nrhs, way);
  const double         share = (double)ours.grid.active() / o.size;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "Solves with %" PetscInt_FMT " right-hand sides, %s: model %.4e words and %.1f messages; backward error %.3e\n", o.nrhs, name_of(way.way), model.words * share,
                        model.messages * share, error));
  PetscCall(line("first", first));
  PetscCall(line("this", r));
  figures.add(name + ".solve_first_words", first.mean_words);
  figures.add(name + ".solve_words", r.mean_words);
  figures.add(name + ".solve_max_words", r.max_words);
  figures.add(name + ".solve_messages", r.mean_messages);
  figures.add(name + ".solve_model_ratio", model.words > 0 ? r.mean_words / (model.words * share) : 1.);
  figures.add(name + ".solve_error", error);
  figures.add(name + ".solve_seconds", r.best());
  for (std::size_t c = 1; c < codes.size(); ++c) {
    const bool        lapack = o.size == 1 && c + 1 == codes.size();
    const std::string prefix = name + (lapack ? ".lapack_solve_" : ".scalapack_solve_");
    Result            other;
    PetscCall(count_solve(*codes[c], other));
    PetscCall(line(lapack ? "LAPACK" : "ScaLAPACK", other));
    figures.add(prefix + "seconds", other.best());
    if (lapack) continue;
    figures.add(prefix + "words", other.mean_words);
    figures.add(prefix + "max_words", other.max_words);
    figures.add(prefix + "messages", other.mean_messages);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode body(Figures &figures)
{
  Options         o;
  lu::Wishes      wishes;
  lu::Grid        grid;
  Result          ours, other, lapack;
  bench::MpiCount seen;
  double          memory, layout;

  PetscFunctionBegin;
  PetscCall(get_options(o));
  wishes.px     = (int)o.grid[0];
  wishes.py     = (int)o.grid[1];
  wishes.layers = (int)o.grid[2];
  wishes.tile   = o.tile;
  PetscCallTT(grid = lu::plan_lu(o.n, o.size, wishes));
  std::vector<std::unique_ptr<Code>> codes;
  std::vector<Result *>              results = {&ours};
  PetscCallTT(codes.push_back(std::make_unique<Ours>(o, grid)));
  const lu::LU &f = *static_cast<Ours &>(*codes[0]).f;
#if defined(PETSCTT_HAVE_SCALAPACK)
  if (o.scalapack) {
    PetscCallTT(codes.push_back(std::make_unique<Scalapack>(o)));
    results.push_back(&other);
  }
#else
  if (o.scalapack) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "built without ScaLAPACK\n"));
  o.scalapack = PETSC_FALSE;
#endif
  if (o.size == 1) {
    PetscCallTT(codes.push_back(std::make_unique<Lapack>(o)));
    results.push_back(&lapack);
  }
  for (std::size_t c = 0; c < codes.size(); ++c) {
    PetscCall(count(*codes[c], o, *results[c], &seen));
    const double word = sizeof(Scalar);
    if (c == 0) {
      // the library's own counters must say what MPI has seen, to the word
      const lu::Ledger &w    = f.traffic().factor;
      const bool        same = (double)w.messages == seen.messages && (double)w.words * word == seen.sent && (double)w.received * word == seen.received;
      PetscCheck(same, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Process %d: LU counts %g messages, %g words sent, %g received; MPI has seen %g, %g, %g", o.rank, (double)w.messages, (double)w.words, (double)w.received,
                 seen.messages, seen.sent / word, seen.received / word);
      PetscCall(summarise((double)w.messages, (double)w.words, (double)w.received, ours));
    } else PetscCall(summarise(seen.messages, seen.sent / word, seen.received / word, *results[c]));
  }
  // in turns, so that other work on the machine disturbs all alike; the first time, with fresh memory, does not count
  for (PetscInt r = 0; o.time && r < o.reps; ++r)
    for (std::size_t c = 0; c < codes.size(); ++c) {
      double seconds;
      PetscCall(codes[c]->prepare());
      PetscCall(bench::time_once([&] { return codes[c]->factor(); }, &seconds));
      if (r == 0) results[c]->seconds.clear();
      results[c]->seconds.push_back(seconds);
    }
  memory = f.memory_words();
  layout = (double)f.traffic().layout.words / o.size;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &layout, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &memory, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));

  const lu::Prediction model = lu::predict_lu(grid);
  const double         n = (double)o.n, active = grid.active(), M = n * n * grid.layers / active;
  const double         bound = M >= 4 ? iobound::lower_bound(iobound::lu(n), M).Q / o.size : 0;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "LU of order %" PetscInt_FMT " on %d processes: grid %d x %d x %d, tile %d\n", o.n, o.size, grid.px, grid.py, grid.layers, (int)grid.tile));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  words per process: lower bound %.4e with %.4e words of memory; model %.4e and %.1f messages\n", bound, M, model.words * active / o.size,
                        model.messages * active / o.size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-10s %10s %10s %12s %12s %12s %12s %11s\n", "", "seconds", "median", "mean words", "max words", "mean msgs", "max msgs", "||PA-LU||"));
  PetscCall(line("this", ours));
  if (o.scalapack) PetscCall(line("ScaLAPACK", other));
  if (o.size == 1) PetscCall(line("LAPACK", lapack));

  const std::string name = "lu.N" + std::to_string((long long)o.n) + ".P" + std::to_string(o.size);
  const auto        over = [](double a, double b) { return b > 0 ? a / b : 1.; }; // nothing over nothing is 1
  if (o.nrhs > 0) PetscCall(solves(o, codes, name, figures));
  figures.add(name + ".px", grid.px);
  figures.add(name + ".py", grid.py);
  figures.add(name + ".layers", grid.layers);
  figures.add(name + ".tile", (double)grid.tile);
  figures.add(name + ".seconds", ours.best());
  figures.add(name + ".median_seconds", ours.median());
  figures.add(name + ".mean_messages", ours.mean_messages);
  figures.add(name + ".max_messages", ours.max_messages);
  figures.add(name + ".model_ratio", over(ours.mean_words * o.size / active, model.words));
  figures.add(name + ".memory_ratio", memory / (n * n / active));
  figures.add(name + ".layout_words", layout);
  if (o.residual) figures.add(name + ".residual", ours.residual);
  for (const Result *r : {&other, &lapack}) {
    if (r->seconds.empty()) continue;
    const std::string prefix = name + (r == &lapack ? ".lapack_" : ".scalapack_");
    figures.add(prefix + "seconds", r->best());
    figures.add(prefix + "median_seconds", r->median());
    if (o.residual) figures.add(prefix + "residual", r->residual);
    if (r == &lapack) continue;
    figures.add(prefix + "mean_words", other.mean_words);
    figures.add(prefix + "max_words", other.max_words);
    figures.add(prefix + "mean_messages", other.mean_messages);
    figures.add(prefix + "max_messages", other.max_messages);
  }
  figures.add(name + ".mean_words", ours.mean_words);
  figures.add(name + ".max_words", ours.max_words);
  figures.add(name + ".bound_ratio", over(ours.mean_words, bound));
  const Result &reference = o.size == 1 ? lapack : other;
  if (o.residual && reference.residual >= 0) figures.add(name + ".residual_ratio", over(ours.residual, reference.residual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return bench::run(argc, argv, help, body);
}
