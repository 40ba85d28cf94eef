static char help[] = "The counters of the distributed LU and Cholesky against what MPI sees, to the message and the word, on every process.\n\n";

// On all grids of the processes that are there (with more than four: those that leave one idle at the most), the matrix is factorised twice and
// solved with in all ways, and so with Cholesky's patterns. benchmarks/common/mpi_counter.cxx, which this program contains, counts what passes through MPI meanwhile. The exit
// status is not 0 if anything differs.
#include "common/mpi_counter.hpp"

#include "lu/cholesky.hpp"
#include "lu/lu.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace petsctt;
using namespace petsctt::lu;

namespace {

int rank = 0, size = 1, compared = 0;

Scalar entry(Count i, Count j)
{
  const Real a = (Real)std::sin(1. + (double)(i * i + 3 * i * j + 7 * j)), b = (Real)std::cos(2. + (double)(5 * i + j * j));
#if defined(PETSC_USE_COMPLEX)
  return Scalar(a, b);
#else
  return a + b / 2;
#endif
}

std::string text(const Grid &g)
{
  return "grid " + std::to_string(g.px) + " x " + std::to_string(g.py) + " x " + std::to_string(g.layers) + ", order " + std::to_string((long long)g.n) + ", tile " + std::to_string((long long)g.tile);
}

std::string text(const SymmetricGrid &g)
{
  return "Cholesky, pattern " + std::to_string((int)g.pattern) + " of order " + std::to_string(g.order) + ", " + std::to_string(g.layers) + " layers, order " + std::to_string((long long)g.n) + ", tile " +
         std::to_string((long long)g.tile);
}

Ledger difference(Ledger a, const Ledger &b)
{
  a.messages -= b.messages;
  a.words -= b.words;
  a.received -= b.received;
  return a;
}

Ledger sum(Ledger a, const Ledger &b)
{
  a.messages += b.messages;
  a.words += b.words;
  a.received += b.received;
  return a;
}

PetscErrorCode compare(const std::string &where, const char *what, const Ledger &l, const bench::MpiCount &seen)
{
  const double w = sizeof(Scalar), messages = (double)l.messages, words = (double)l.words, received = (double)l.received;

  PetscFunctionBegin;
  ++compared;
  PetscCheck(messages == seen.messages && words * w == seen.sent && received * w == seen.received, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%s, %s, process %d: %g messages, %g words sent, %g received by the library's counters; MPI has seen %g, %g, %g", where.c_str(), what, rank, messages, words, received, seen.messages, seen.sent / w,
             seen.received / w);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every entry that its process does not keep moves once; the maxima of three numbers go up a tree and down again.
PetscErrorCode check_layout(const Grid &g, const std::vector<Count> &starts, const Ledger &mine)
{
  double here[2] = {(double)mine.words, (double)mine.received}, expected = 6. * (size - 1);

  PetscFunctionBegin;
  for (int p = 0; p < size; ++p)
    for (Count i = starts[(std::size_t)p]; i < starts[(std::size_t)p + 1]; ++i)
      for (int q = 0; q < g.active(); ++q)
        if (q != p && g.row_of(q) == (int)(i % g.px) && g.layer_of(q) == (int)(i / g.px % g.layers)) expected += (double)g.local_cols(g.col_of(q));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, here, 2, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscCheck(here[0] == expected && here[1] == expected, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the layout has sent %g words and received %g, expected %g", text(g).c_str(), here[0], here[1], expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check(const Grid &g, const std::vector<Count> &starts)
{
  const Count         first = starts[(std::size_t)rank], m = starts[(std::size_t)rank + 1] - first;
  std::vector<Scalar> a((std::size_t)(m * g.n));
  bench::MpiCount     seen;

  PetscFunctionBegin;
  for (Count j = 0; j < g.n; ++j)
    for (Count i = 0; i < m; ++i) a[(std::size_t)(i + j * m)] = entry(first + i, j);
  PetscCallTT({
    LU f(PETSC_COMM_WORLD, starts, g);
    for (int times = 0; times < 2; ++times) {
      bench::mpi_counter_start();
      f.load(a.data(), m);
      seen = bench::mpi_counter_stop();
      PetscCall(compare(text(g), "layout", f.traffic().layout, seen));
      bench::mpi_counter_start();
      f.factorize();
      seen                     = bench::mpi_counter_stop();
      const LU::Traffic before = f.traffic();
      PetscCheck(f.outcome().finite && f.outcome().zero_pivot < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: not factorised", text(g).c_str());
      PetscCheck(before.solve.words == 0 && before.solve.messages == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: traffic of solves before the first", text(g).c_str());
      PetscCall(compare(text(g), "factor", before.factor, seen));
      PetscCall(check_layout(g, starts, before.layout));
    }
    for (const Schedule &way : {Schedule{Way::tiles, 1}, Schedule{Way::apart, 1}, Schedule{Way::wide, 2}, Schedule{Way::columns, 1}}) {
      f.solve_by(way);
      for (char op : {'N', 'T'})
        for (Count nrhs : {1, 5, g.n == 9 && way.way == Way::tiles ? 530 : 2}) { // 530: more than a block of right-hand sides
          std::vector<Scalar> b((std::size_t)(m * nrhs), 1);
          const Ledger        before = sum(f.traffic().solve, f.traffic().prepare);
          bench::mpi_counter_start();
          f.solve(op, nrhs, b.data(), m, b.data(), m);
          seen = bench::mpi_counter_stop();
          PetscCall(compare(text(g), op == 'N' ? "solve" : "transposed solve", difference(sum(f.traffic().solve, f.traffic().prepare), before), seen));
        }
    }
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check(const SymmetricGrid &g, const std::vector<Count> &starts)
{
  const Count         first = starts[(std::size_t)rank], m = starts[(std::size_t)rank + 1] - first;
  std::vector<Scalar> a((std::size_t)(m * g.n));
  bench::MpiCount     seen;

  PetscFunctionBegin;
  for (Count j = 0; j < g.n; ++j)
    for (Count i = 0; i < m; ++i) a[(std::size_t)(i + j * m)] = first + i == j ? (Scalar)(Real)(2 * g.n) : entry(first + i, j);
  PetscCallTT({
    Cholesky f(PETSC_COMM_WORLD, starts, g);
    for (int times = 0; times < 2; ++times) {
      bench::mpi_counter_start();
      f.load(a.data(), m);
      seen = bench::mpi_counter_stop();
      PetscCall(compare(text(g), "layout", f.traffic().layout, seen));
      bench::mpi_counter_start();
      f.factorize();
      seen = bench::mpi_counter_stop();
      PetscCheck(f.outcome().finite && f.outcome().not_positive < 0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: not factorised", text(g).c_str());
      PetscCall(compare(text(g), "factor", f.traffic().factor, seen));
    }
    for (Count nrhs : {1, 5, g.n == 9 ? 530 : 2}) {
      std::vector<Scalar> b((std::size_t)(m * nrhs), 1);
      const Ledger        before = f.traffic().solve;
      bench::mpi_counter_start();
      f.solve(nrhs, b.data(), m, b.data(), m);
      seen = bench::mpi_counter_stop();
      PetscCall(compare(text(g), "solve", difference(f.traffic().solve, before), seen));
    }
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run()
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  std::vector<Count> orders = {1, 9, 50};
  if (size <= 4) orders.push_back(83);
  for (int c = 1; c <= size; ++c)
    for (int px = 1; px * c <= size; ++px)
      for (int py = 1; py * px * c <= size; ++py) {
        if (size > 4 && c * px * py < size - 1) continue;
        for (Count n : orders)
          for (Count tile : {4, 7}) {
            Grid g;
            g.n      = n;
            g.tile   = tile;
            g.px     = px;
            g.py     = py;
            g.layers = c;
            std::vector<Count> even, last((std::size_t)size + 1, 0); // rows shared evenly, and all on the last process
            for (int p = 0; p <= size; ++p) even.push_back(n * p / size);
            last.back() = n;
            PetscCall(check(g, even));
            if (n == 50) PetscCall(check(g, last));
          }
      }
  for (Pattern pattern : {Pattern::triangle, Pattern::halves, Pattern::plane})
    for (int order = pattern == Pattern::triangle ? 1 : 2; order <= 6; order += pattern == Pattern::halves ? 2 : 1) {
      if (pattern == Pattern::plane && order > 3) break;
      const int per_layer = symmetric_grid(1, 1, pattern, order, 1).per_layer();
      if (per_layer > size) break;
      for (int c = 1; c * per_layer <= size; ++c) {
        if (c > 1 && c < size / per_layer && c != 2) continue;
        for (Count n : orders)
          for (Count tile : {4, 7}) {
            std::vector<Count> even;
            for (int p = 0; p <= size; ++p) even.push_back(n * p / size);
            PetscCall(check(symmetric_grid(n, tile, pattern, order, c), even));
          }
      }
    }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d counts are those of MPI\n", compared));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBegin;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(run());
  PetscCall(PetscFinalize());
  PetscFunctionReturn(PETSC_SUCCESS);
}
