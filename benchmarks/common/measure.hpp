#ifndef PETSCTT_BENCHMARKS_MEASURE_HPP
#define PETSCTT_BENCHMARKS_MEASURE_HPP

// What the benchmarks share: clocks, the machine's own rates, counts of messages, peak memory, and the list of figures.
#include "tt/comm.hpp"

#include <petscsys.h>

#include <functional>
#include <string>
#include <vector>

namespace bench {

using petsctt::Count;
using petsctt::Int;
using petsctt::Real;
using petsctt::Scalar;

// -clock wall|cpu (default wall), -reps n (default 3), -machine_dgemm n (default 2000), -machine_triad n (default 10^7 per run).
// Read once, the same for all measurements of a run. Collective.
PetscErrorCode get_options();

// Seconds of the slowest process for one call of f, best of -reps; `before` is called before each and not timed. Wall-clock time, or
// with -clock cpu the processor time of the process, which other programs on a shared machine disturb less. Collective.
PetscErrorCode time_best(const std::function<PetscErrorCode()> &before, const std::function<PetscErrorCode()> &f, double *seconds);
PetscErrorCode time_once(const std::function<PetscErrorCode()> &f, double *seconds);

// As time_best(), with a reference product of measure_machine() before every repetition: *dgemm is the best of its rates. For ratios that a load which
// comes and goes shall not spoil.
PetscErrorCode time_beside_dgemm(const std::function<PetscErrorCode()> &before, const std::function<PetscErrorCode()> &f, double *seconds, double *dgemm);

// Rates per process with all processes at work at the same time, as they are in the benchmarks.
struct Machine {
  double dgemm = 0; // flop/s of a square product (complex: a multiply-add counts 8)
  double triad = 0; // byte/s of a(i) = b(i) + s c(i) on real arrays, 24 bytes per i as STREAM counts
};
PetscErrorCode measure_machine(Machine *m);

// Messages and words sent, between start() and stop(). Collective.
struct Traffic {
  double messages = 0, words = 0;             // of the process with the most of each
  double total_messages = 0, total_words = 0; // of all
  void           start();
  PetscErrorCode stop();
};

// Bytes allocated by C++ (all trains and workspaces) above the level at start(), at the peak, and all allocations meanwhile; largest
// over the processes.
struct Memory {
  double         bytes = 0;
  double         allocations = 0, allocated_bytes = 0;
  void           start();
  PetscErrorCode stop();

private:
  double before_ = 0, allocations_ = 0, allocated_bytes_ = 0;
};

// ceil(log2 size): rounds of a tree over `size` processes.
int rounds(int size);

// The figures of a run. finish() prints "figure: NAME VALUE" for each, one a line, on process 0, and fails if one is not finite.
class Figures {
public:
  void           add(const std::string &name, double value) { list_.emplace_back(name, value); }
  PetscErrorCode finish() const;

private:
  std::vector<std::pair<std::string, double>> list_;
};

// "P=4 dgemm 12.3 Gflop/s, triad 8.1 GB/s per process" and the figures machine.dgemm_gflops, machine.triad_gbytes.
PetscErrorCode report_machine(const Machine &m, Figures &figures);

// Runs the body of a benchmark between PetscInitialize and PetscFinalize; the exit status of the program.
int run(int argc, char **argv, const char help[], PetscErrorCode (*body)(Figures &figures));

} // namespace bench

#endif
