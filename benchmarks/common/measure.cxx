#include "common/measure.hpp"

#include "petsctt.h"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "base/blas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <malloc.h>
#include <memory>
#include <new>

// Every allocation of C++ in these programs is counted: all trains, and the workspace LAPACK is given. What MPI, PETSc and the BLAS
// allocate for themselves is not.
namespace {

double allocations = 0, allocated_bytes = 0, live_bytes = 0, peak_bytes = 0;

void *allocate(std::size_t n, std::size_t alignment)
{
  // aligned_alloc wants a multiple of the alignment
  void *p = alignment ? std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment) : std::malloc(n ? n : 1);
  if (!p) throw std::bad_alloc();
  const double bytes = (double)malloc_usable_size(p);
  ++allocations;
  allocated_bytes += bytes;
  live_bytes += bytes;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return p;
}

void release(void *p)
{
  if (p) live_bytes -= (double)malloc_usable_size(p);
  std::free(p);
}

} // namespace

void *operator new(std::size_t n)
{
  return allocate(n, 0);
}

void *operator new(std::size_t n, std::align_val_t a)
{
  return allocate(n, (std::size_t)a);
}

void operator delete(void *p) noexcept
{
  release(p);
}

void operator delete(void *p, std::size_t) noexcept
{
  release(p);
}

void operator delete(void *p, std::align_val_t) noexcept
{
  release(p);
}

void operator delete(void *p, std::size_t, std::align_val_t) noexcept
{
  release(p);
}

namespace bench {

namespace {

struct Options {
  PetscBool cpu   = PETSC_FALSE;
  PetscInt  reps  = 3;
  PetscInt  dgemm = 2000;
  PetscInt  triad = 10000000;
} options;

double now()
{
  timespec t;
  clock_gettime(options.cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

PetscErrorCode largest(double *a, PetscMPIInt n)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, a, n, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode get_options()
{
  const char *const clocks[] = {"wall", "cpu"};
  PetscInt          clock    = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Measurements", NULL);
  PetscCall(PetscOptionsEList("-clock", "wall-clock time or processor time of the process", NULL, clocks, 2, clocks[0], &clock, NULL));
  PetscCall(PetscOptionsInt("-reps", "repetitions; the best counts", NULL, options.reps, &options.reps, NULL));
  PetscCall(PetscOptionsInt("-machine_dgemm", "order of the matrices of the reference product", NULL, options.dgemm, &options.dgemm, NULL));
  PetscCall(PetscOptionsInt("-machine_triad", "length of the arrays of the reference triad, all processes together", NULL, options.triad, &options.triad, NULL));
  PetscOptionsEnd();
  PetscCheck(options.reps > 0 && options.dgemm > 0 && options.triad > 0, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-reps %" PetscInt_FMT ", -machine_dgemm %" PetscInt_FMT " and -machine_triad %" PetscInt_FMT " must be positive", options.reps, options.dgemm,
             options.triad);
  options.cpu = clock == 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode time_once(const std::function<PetscErrorCode()> &f, double *seconds)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  const double start = now();
  PetscCall(f());
  *seconds = now() - start;
  PetscCall(largest(seconds, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode time_best(const std::function<PetscErrorCode()> &before, const std::function<PetscErrorCode()> &f, double *seconds)
{
  double t;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < options.reps; ++i) {
    PetscCall(before());
    PetscCall(time_once(f, &t));
    *seconds = i ? std::min(*seconds, t) : t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The reference product. Its matrices live for one measurement, so that they do not count as memory of what is measured next.
class Reference {
public:
  Reference() : n_(options.dgemm), A_((std::size_t)(n_ * n_)), B_((std::size_t)(n_ * n_)), C_((std::size_t)(n_ * n_))
  {
    A_.fill(1.0 / 3);
    B_.fill(2.0 / 3);
    C_.fill(0);
  }
  PetscErrorCode operator()()
  {
    PetscFunctionBegin;
    PetscCallTT(petsctt::gemm('N', 'N', n_, n_, n_, 1, A_.data(), n_, B_.data(), n_, 0, C_.data(), n_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  double rate(double seconds) const { return (petsctt::is_complex ? 8.0 : 2.0) * (double)n_ * (double)n_ * (double)n_ / seconds; }

private:
  Count           n_;
  petsctt::Buffer A_, B_, C_;
};

} // namespace

PetscErrorCode time_beside_dgemm(const std::function<PetscErrorCode()> &before, const std::function<PetscErrorCode()> &f, double *seconds, double *dgemm)
{
  double t;

  PetscFunctionBegin;
  *dgemm = 0;
  for (PetscInt i = 0; i < options.reps; ++i) {
    {
      std::unique_ptr<Reference> product;
      PetscCallTT(product = std::make_unique<Reference>());
      PetscCall(time_once(std::ref(*product), &t));
      *dgemm = std::max(*dgemm, product->rate(t));
    }
    PetscCall(before());
    PetscCall(time_once(f, &t));
    *seconds = i ? std::min(*seconds, t) : t;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode measure_machine(Machine *m)
{
  PetscMPIInt size;
  double      seconds;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  {
    std::unique_ptr<Reference> product;
    PetscCallTT(product = std::make_unique<Reference>());
    PetscCall(time_best([]() -> PetscErrorCode { return PETSC_SUCCESS; }, std::ref(*product), &seconds));
    m->dgemm = product->rate(seconds);
  }
  const std::size_t   l = (std::size_t)std::max<Count>(1, options.triad / size);
  std::vector<double> a(l, 0), b(l, 1), c(l, 2);
  double             *x = a.data(), s = 3;
  const auto          triad = [&]() -> PetscErrorCode {
    const double *y = b.data(), *z = c.data();
    for (std::size_t i = 0; i < l; ++i) x[i] = y[i] + s * z[i];
    return PETSC_SUCCESS;
  };
  PetscCall(time_best(
    [&]() -> PetscErrorCode {
      s += 1;
      return PETSC_SUCCESS;
    },
    triad, &seconds));
  m->triad = 24.0 * (double)l / seconds;
  volatile double keep = a[l / 2]; // the loop has a result
  (void)keep;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Traffic::start()
{
  petsctt::Comm::counts() = petsctt::CommCounts();
}

PetscErrorCode Traffic::stop()
{
  const petsctt::CommCounts c = petsctt::Comm::counts();
  double                    most[2] = {(double)c.messages, (double)c.words}, sum[2] = {most[0], most[1]};

  PetscFunctionBegin;
  PetscCall(largest(most, 2));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  messages       = most[0];
  words          = most[1];
  total_messages = sum[0];
  total_words    = sum[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

void Memory::start()
{
  peak_bytes       = live_bytes;
  before_          = live_bytes;
  allocations_     = ::allocations;
  allocated_bytes_ = ::allocated_bytes;
}

PetscErrorCode Memory::stop()
{
  double a[3] = {peak_bytes - before_, ::allocations - allocations_, ::allocated_bytes - allocated_bytes_};

  PetscFunctionBegin;
  PetscCall(largest(a, 3));
  bytes           = a[0];
  allocations     = a[1];
  allocated_bytes = a[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

int rounds(int size)
{
  int r = 0;
  while ((1 << r) < size) ++r;
  return r;
}

PetscErrorCode Figures::finish() const
{
  std::string bad;

  PetscFunctionBegin;
  for (const auto &f : list_) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "figure: %s %.6g\n", f.first.c_str(), f.second));
    if (!std::isfinite(f.second)) bad += " " + f.first;
  }
  PetscCheck(bad.empty(), PETSC_COMM_WORLD, PETSC_ERR_FP, "Figures that are not finite:%s", bad.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode report_machine(const Machine &m, Figures &figures)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d processes, %s time; per process: DGEMM (%" PetscInt_FMT "^3) %.2f Gflop/s, triad %.2f GB/s\n", (int)size,
                        options.cpu ? "processor" : "wall-clock", options.dgemm, 1e-9 * m.dgemm, 1e-9 * m.triad));
  figures.add("machine.processes", size);
  figures.add("machine.dgemm_gflops", 1e-9 * m.dgemm);
  figures.add("machine.triad_gbytes", 1e-9 * m.triad);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int run(int argc, char **argv, const char help[], PetscErrorCode (*body)(Figures &figures))
{
  Figures figures;

  PetscFunctionBegin;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscCall(get_options());
  PetscCall(body(figures));
  PetscCall(figures.finish());
  PetscCall(PetscFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace bench
