#ifndef PETSCTT_BENCHMARKS_LU_CODES_HPP
#define PETSCTT_BENCHMARKS_LU_CODES_HPP

// The codes that benchmarks/lu compares: the library's, ScaLAPACK's and LAPACK's.
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
#define pgetrs_  pzgetrs_
#define Cpgemr2d Cpzgemr2d
#else
#define pgetrf_  pdgetrf_
#define pgetrs_  pdgetrs_
#define Cpgemr2d Cpdgemr2d
#endif
void pgetrf_(const int *, const int *, petsctt::Scalar *, const int *, const int *, const int *, int *, int *);
void pgetrs_(const char *, const int *, const int *, const petsctt::Scalar *, const int *, const int *, const int *, const int *, petsctt::Scalar *, const int *, const int *, const int *, int *);
void Cpgemr2d(int, int, const petsctt::Scalar *, int, int, const int *, petsctt::Scalar *, int, int, const int *, int);
}
#endif

namespace lu_codes {

using namespace petsctt;

using Entry = std::function<Scalar(Count, Count)>;

struct Options {
  PetscInt  n = 2048, grid[3] = {0, 0, 0}, tile = 0, block = 64, height = 0, reps = 3, nrhs = 0;
  PetscBool scalapack = PETSC_TRUE, residual = PETSC_TRUE, time = PETSC_TRUE;
  Entry     a;
  int       rank = 0, size = 1;
};

// A number in [-1, 1) for each place
inline double uniform(std::uint64_t i, std::uint64_t j)
{
  std::uint64_t x = i * 0xBF58476D1CE4E5B9u + j * 0x94D049BB133111EBu + 0x2545F4914F6CDD1Du;
  for (int s = 0; s < 3; ++s) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
  }
  return 2 * ((double)(x >> 11) / 9007199254740992.0) - 1;
}

// Processes without work sleep meanwhile: with more processes than cores, waiting in MPI would take the time from process 0.
inline PetscErrorCode on_process_0(const std::function<void()> &f)
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
inline double residual(Count n, const Entry &a, const Scalar *packed, const std::vector<Count> &order)
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
inline std::vector<Count> order_of(const std::vector<int> &swaps)
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
  virtual PetscErrorCode solve()             = 0; // with o.nrhs right-hand sides, numbers in [-1, 1)
};

struct Ours : Code {
  const Options           &o;
  lu::Grid                 grid;
  std::vector<Count>       starts;
  Buffer                   a, x;
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
    PetscCall(on_process_0([&] { *r = lu_codes::residual(n, o.a, packed.data(), f->pivots()); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode solve() override
  {
    const Count first = starts[(std::size_t)o.rank], m = starts[(std::size_t)o.rank + 1] - first;
    PetscFunctionBegin;
    if (x.size() == 0) x = Buffer((std::size_t)(m * o.nrhs));
    for (Count j = 0; j < o.nrhs; ++j)
      for (Count i = 0; i < m; ++i) x[(std::size_t)(i + j * m)] = uniform((std::uint64_t)(first + i), (std::uint64_t)(j + grid.n));
    PetscCallTT(f->solve('N', o.nrhs, x.data(), m, x.data(), m));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  // ||A X - B|| / (||A|| ||X|| + ||B||) of the last solve, in its first columns
  PetscErrorCode backward_error(double *e)
  {
    const Count n = grid.n, first = starts[(std::size_t)o.rank], m = starts[(std::size_t)o.rank + 1] - first, columns = std::min<Count>(o.nrhs, 4);
    std::vector<Scalar> all((std::size_t)(n * columns), 0);
    double              sum[3] = {0, 0, 0}, x2 = 0; // squares of A X - B, A, B; of X
    PetscFunctionBegin;
    for (Count j = 0; j < columns; ++j)
      for (Count i = 0; i < m; ++i) all[(std::size_t)(first + i + j * n)] = x[(std::size_t)(i + j * m)];
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)(n * columns), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
    for (Count j = 0; j < columns; ++j)
      for (Count i = 0; i < m; ++i) {
        const Scalar b = uniform((std::uint64_t)(first + i), (std::uint64_t)(j + n));
        Scalar       r = -b;
        for (Count k = 0; k < n; ++k) r += a[(std::size_t)(i + k * m)] * all[(std::size_t)(k + j * n)];
        sum[0] += (double)abs2(r);
        sum[2] += (double)abs2(b);
      }
    for (Count s = 0; s < m * n; ++s) sum[1] += (double)abs2(a[(std::size_t)s]);
    for (const Scalar &v : all) x2 += (double)abs2(v);
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
    *e = std::sqrt(sum[0]) / (std::sqrt(sum[1]) * std::sqrt(x2) + std::sqrt(sum[2]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

struct Lapack : Code {
  const Options   &o;
  Buffer           given, a, x;
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
    PetscCallTT(*r = lu_codes::residual(o.n, o.a, a.data(), order_of(swaps)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode solve() override
  {
    const std::vector<Count> order = order_of(swaps);
    PetscFunctionBegin;
    if (x.size() == 0) x = Buffer((std::size_t)(o.n * o.nrhs));
    for (Count j = 0; j < o.nrhs; ++j)
      for (Count i = 0; i < o.n; ++i) x[(std::size_t)(i + j * o.n)] = uniform((std::uint64_t)order[(std::size_t)i], (std::uint64_t)(j + o.n));
    PetscCallTT({
      trsm('L', 'L', 'N', 'U', o.n, o.nrhs, 1.0, a.data(), o.n, x.data(), o.n);
      trsm('L', 'U', 'N', 'N', o.n, o.nrhs, 1.0, a.data(), o.n, x.data(), o.n);
    });
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

#if defined(PETSCTT_HAVE_SCALAPACK)
struct Scalapack : Code {
  const Options   &o;
  int              handle, context, one, n, block, rows, cols, i = 0, j = 0, desc[9], zero = 0; // context: all processes; one: process 0
  Count            local_rows = 0, local_cols = 0;
  Buffer           given, a, x;
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
    PetscCall(on_process_0([&] { *r = lu_codes::residual(n, o.a, packed.data(), order_of(all)); }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode solve() override
  {
    const int   nrhs = (int)o.nrhs, first = 1, ld = (int)std::max<Count>(1, local_rows);
    const Count columns = numroc_(&nrhs, &block, &j, &zero, &cols);
    int         info, of_x[9];
    PetscFunctionBegin;
    descinit_(of_x, &n, &nrhs, &block, &block, &zero, &zero, &context, &ld, &info);
    if (x.size() == 0) x = Buffer((std::size_t)(local_rows * columns));
    for (Count c = 0; c < columns; ++c)
      for (Count r = 0; r < local_rows; ++r) x[(std::size_t)(r + c * local_rows)] = uniform((std::uint64_t)global(r, i, rows), (std::uint64_t)(global(c, j, cols) + n));
    pgetrs_("N", &n, &nrhs, a.data(), &first, &first, desc, swaps.data(), x.data(), &first, &first, of_x, &info);
    PetscCheck(info == 0, PETSC_COMM_WORLD, PETSC_ERR_LIB, "ScaLAPACK's solve returned info = %d", info);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};
#endif

} // namespace lu_codes

#endif
