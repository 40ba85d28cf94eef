static char help[] = "Distributed dense LU: time, residual, words and messages against ScaLAPACK, LAPACK, the model and the lower bound.\n\n";

/*
  Factorises one matrix of order n, a function of row and column, by the library's LU, by ScaLAPACK's pdgetrf (what PETSc's MATSCALAPACK calls for
  MatLUFactor(); called here without PETSc, which hides the pivots) and, on one process, by LAPACK's getrf.

  Sample runs.
      ./lu -n 2048                                    against LAPACK
      mpiexec -n 16 ./lu -n 4096 -time no             counts and residuals: more processes than cores
      mpiexec -n 64 ./lu -n 8192 -time no -grid 4,8,2 -tile 64 -no_residual
      mpiexec -n 4 ./lu -n 1000 -matrix growth

  What to look at: README.md of this folder says what each figure means.
*/
#include "common/measure.hpp"
#include "common/mpi_counter.hpp"

#include "base/blas.hpp"
#include "iobound/program.hpp"
#include "lu/lu.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <ctime>
#include <functional>
#include <memory>

#if defined(PETSCTT_HAVE_SCALAPACK) && !defined(PETSC_USE_REAL_DOUBLE)
#undef PETSCTT_HAVE_SCALAPACK
#endif
#if defined(PETSCTT_HAVE_SCALAPACK)
extern "C" {
int  Csys2blacs_handle(MPI_Comm);
void Cblacs_gridinit(int *, const char *, int, int);
void Cblacs_gridmap(int *, int *, int, int, int);
void Cblacs_gridinfo(int, int *, int *, int *, int *);
void Cblacs_gridexit(int);
void Cfree_blacs_system_handle(int);
int  numroc_(const int *, const int *, const int *, const int *, const int *);
void descinit_(int *, const int *, const int *, const int *, const int *, const int *, const int *, const int *, const int *, int *);
#if defined(PETSC_USE_COMPLEX)
#define pgetrf_  pzgetrf_
#define Cpgemr2d Cpzgemr2d
#else
#define pgetrf_  pdgetrf_
#define Cpgemr2d Cpdgemr2d
#endif
void pgetrf_(const int *, const int *, petsctt::Scalar *, const int *, const int *, const int *, int *, int *);
void Cpgemr2d(int, int, const petsctt::Scalar *, int, int, const int *, petsctt::Scalar *, int, int, const int *, int);
}
#endif

using namespace petsctt;
using bench::Figures;

namespace {

using Entry = std::function<Scalar(Count, Count)>;

struct Options {
  PetscInt  n = 2048, grid[3] = {0, 0, 0}, tile = 0, block = 64, height = 0, reps = 3;
  PetscBool scalapack = PETSC_TRUE, residual = PETSC_TRUE, time = PETSC_TRUE;
  Entry     a;
  int       rank = 0, size = 1;
};

// A number in [-1, 1) for each place
double uniform(std::uint64_t i, std::uint64_t j)
{
  std::uint64_t x = i * 0xBF58476D1CE4E5B9u + j * 0x94D049BB133111EBu + 0x2545F4914F6CDD1Du;
  for (int s = 0; s < 3; ++s) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
  }
  return 2 * ((double)(x >> 11) / 9007199254740992.0) - 1;
}

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
  PetscOptionsEnd();
  o.scalapack = no_scalapack ? PETSC_FALSE : PETSC_TRUE;
  o.residual  = no_residual ? PETSC_FALSE : PETSC_TRUE;
  if (square && two >= 1) o.block = blocks[0];
  if (o.height == 0)
    for (PetscInt h = 1; h * h <= o.size; ++h)
      if (o.size % h == 0) o.height = h;
  PetscCheck(!given || three == 3, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-grid needs three numbers: rows, columns, layers");
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

// Processes without work sleep meanwhile: with more processes than cores, waiting in MPI would take the time from process 0.
PetscErrorCode on_process_0(const std::function<void()> &f)
{
  MPI_Request request;
  int         rank, done = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0) PetscCallTT(f());
  PetscCallMPI(MPI_Ibarrier(PETSC_COMM_WORLD, &request));
  while (!done) {
    PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    const timespec pause = {0, 2000000};
    if (!done) nanosleep(&pause, NULL);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSC_USE_COMPLEX)
using Precise = std::complex<long double>;
#else
using Precise = long double;
#endif

// ||P A - L U|| / ||A|| in the Frobenius norm; row s of P A is row order[s] of A. For vectors x of random signs, ||R x||^2 is ||R||^2 on average; eight of
// them give the norm to a few percent for n = 100 and better for larger ones. L (U x) is worked out with more digits: the product of L and U in the
// digits of the factorisation has errors as large as what is looked for, and in part the same ones.
double residual(Count n, const Entry &a, const Scalar *packed, const std::vector<Count> &order)
{
  constexpr Count      s = 8;
  std::vector<Precise> x((std::size_t)(n * s)), u((std::size_t)(n * s), 0), difference((std::size_t)(n * s), 0);
  long double          norm = 0, sum = 0;
  for (Count j = 0; j < n; ++j)
    for (Count c = 0; c < s; ++c) x[(std::size_t)(c + j * s)] = uniform((std::uint64_t)(j + 1), (std::uint64_t)(c + 1) << 40) < 0 ? -1 : 1;
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      const Scalar given = a(order[(std::size_t)i], j);
      norm += abs2(given);
      for (Count c = 0; c < s; ++c) difference[(std::size_t)(c + i * s)] += (Precise)given * x[(std::size_t)(c + j * s)];
      if (i > j) continue;
      for (Count c = 0; c < s; ++c) u[(std::size_t)(c + i * s)] += (Precise)packed[i + j * n] * x[(std::size_t)(c + j * s)];
    }
  for (Count j = 0; j < n; ++j)
    for (Count i = j; i < n; ++i) {
      const Precise l = i == j ? (Precise)1 : (Precise)packed[i + j * n];
      for (Count c = 0; c < s; ++c) difference[(std::size_t)(c + i * s)] -= l * u[(std::size_t)(c + j * s)];
    }
  for (const Precise &d : difference) sum += std::norm(d);
  return (double)std::sqrt(sum / s / norm);
}

// Rows in the order that exchanges of row s with row swaps[s] (from 0) lead to.
std::vector<Count> order_of(const std::vector<int> &swaps)
{
  std::vector<Count> order(swaps.size());
  for (std::size_t s = 0; s < order.size(); ++s) order[s] = (Count)s;
  for (std::size_t s = 0; s < order.size(); ++s) std::swap(order[s], order[(std::size_t)swaps[s]]);
  return order;
}

// A code that is measured: prepare() brings the matrix where it is factorised, factor() is timed and counted.
struct Code {
  virtual ~Code() = default;
  virtual PetscErrorCode prepare() { return PETSC_SUCCESS; }
  virtual PetscErrorCode factor()            = 0;
  virtual PetscErrorCode residual(double *r) = 0;
};

struct Ours : Code {
  const Options           &o;
  lu::Grid                 grid;
  std::vector<Count>       starts;
  Buffer                   a;
  std::unique_ptr<lu::LU>  f;

  Ours(const Options &options, const lu::Grid &g) : o(options), grid(g)
  {
    const Count n = g.n;
    for (int p = 0; p <= o.size; ++p) starts.push_back(n * p / o.size);
    const Count first = starts[(std::size_t)o.rank], m = starts[(std::size_t)o.rank + 1] - first;
    a = Buffer((std::size_t)(m * n));
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < m; ++i) a[(std::size_t)(i + j * m)] = o.a(first + i, j);
    f = std::make_unique<lu::LU>(PETSC_COMM_WORLD, starts, g);
  }
  PetscErrorCode prepare() override
  {
    PetscFunctionBegin;
    PetscCallTT(f->load(a.data(), starts[(std::size_t)o.rank + 1] - starts[(std::size_t)o.rank]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode factor() override
  {
    PetscFunctionBegin;
    PetscCallTT(f->factorize());
    PetscCheck(f->outcome().finite && f->outcome().zero_pivot < 0, PETSC_COMM_WORLD, PETSC_ERR_MAT_LU_ZRPVT, "The matrix is singular or not finite");
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode residual(double *r) override
  {
    const Count n = grid.n;
    Buffer      packed;
    PetscFunctionBegin;
    PetscCallTT(packed = Buffer(o.rank == 0 ? (std::size_t)(n * n) : 0); f->gather(packed.data()));
    PetscCall(on_process_0([&] { *r = ::residual(n, o.a, packed.data(), f->pivots()); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

struct Lapack : Code {
  const Options   &o;
  Buffer           given, a;
  std::vector<int> swaps;

  explicit Lapack(const Options &options) : o(options), given((std::size_t)(options.n * options.n)), a((std::size_t)(options.n * options.n)), swaps((std::size_t)options.n)
  {
    for (Count j = 0; j < o.n; ++j)
      for (Count i = 0; i < o.n; ++i) given[(std::size_t)(i + j * o.n)] = o.a(i, j);
  }
  PetscErrorCode prepare() override
  {
    std::copy_n(given.data(), given.size(), a.data());
    return PETSC_SUCCESS;
  }
  PetscErrorCode factor() override
  {
    PetscFunctionBegin;
    PetscCallTT(getrf(o.n, o.n, a.data(), o.n, swaps.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode residual(double *r) override
  {
    PetscFunctionBegin;
    PetscCallTT(*r = ::residual(o.n, o.a, a.data(), order_of(swaps)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#if defined(PETSCTT_HAVE_SCALAPACK)
struct Scalapack : Code {
  const Options   &o;
  int              handle, context, one, n, block, rows, cols, i = 0, j = 0, desc[9], zero = 0; // context: all processes; one: process 0
  Count            local_rows = 0, local_cols = 0;
  Buffer           given, a;
  std::vector<int> swaps;

  explicit Scalapack(const Options &options) : o(options), n((int)options.n), block((int)options.block), rows((int)options.height), cols(options.size / (int)options.height)
  {
    int zeroth[1] = {0}, info;
    handle  = Csys2blacs_handle(PETSC_COMM_WORLD);
    context = one = handle;
    Cblacs_gridinit(&context, "Row", rows, cols);
    Cblacs_gridmap(&one, zeroth, 1, 1, 1);
    Cblacs_gridinfo(context, &rows, &cols, &i, &j);
    local_rows = numroc_(&n, &block, &i, &zero, &rows);
    local_cols = numroc_(&n, &block, &j, &zero, &cols);
    const int ld = (int)std::max<Count>(1, local_rows);
    descinit_(desc, &n, &n, &block, &block, &zero, &zero, &context, &ld, &info);
    given = Buffer((std::size_t)(local_rows * local_cols));
    a     = Buffer((std::size_t)(local_rows * local_cols));
    swaps.resize((std::size_t)(local_rows + block));
    for (Count c = 0; c < local_cols; ++c)
      for (Count r = 0; r < local_rows; ++r) given[(std::size_t)(r + c * local_rows)] = o.a(global(r, i, rows), global(c, j, cols));
  }
  ~Scalapack() override
  {
    Cblacs_gridexit(context);
    if (one >= 0) Cblacs_gridexit(one);
    Cfree_blacs_system_handle(handle);
  }
  Count          global(Count r, int p, int P) const { return (r / block * P + p) * block + r % block; }
  PetscErrorCode prepare() override
  {
    std::copy_n(given.data(), given.size(), a.data());
    return PETSC_SUCCESS;
  }
  PetscErrorCode factor() override
  {
    const int first = 1;
    int       info;
    PetscFunctionBegin;
    pgetrf_(&n, &n, a.data(), &first, &first, desc, swaps.data(), &info);
    PetscCheck(info == 0, PETSC_COMM_WORLD, PETSC_ERR_LIB, "ScaLAPACK's factorisation returned info = %d", info);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode residual(double *r) override
  {
    std::vector<int> all((std::size_t)n, 0);
    Buffer           packed(o.rank == 0 ? (std::size_t)n * (std::size_t)n : 0);
    int              whole[9] = {1, -1, n, n, n, n, 0, 0, n};
    PetscFunctionBegin;
    if (j == 0)
      for (Count s = 0; s < local_rows; ++s) all[(std::size_t)global(s, i, rows)] = swaps[(std::size_t)s] - 1;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), n, MPI_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (o.rank == 0) whole[1] = one;
    for (int c = 0; c < n; c += 512) Cpgemr2d(n, std::min(512, n - c), a.data(), 1, c + 1, desc, packed.data(), 1, c + 1, whole, context);
    PetscCall(on_process_0([&] { *r = ::residual(n, o.a, packed.data(), order_of(all)); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
#endif

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
