// Distributed LU against dense arithmetic: grids of all shapes on the processes that are there.
#include "lu/lu.hpp"

#include <gtest/gtest.h>

#include <petscsys.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

using namespace petsctt;
using namespace petsctt::lu;

namespace {

using Entry = std::function<Scalar(Count, Count)>;

// Random numbers that depend on a seed and the place only
double uniform(std::uint64_t seed, Count i, Count j)
{
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + (std::uint64_t)i * 0xBF58476D1CE4E5B9u + (std::uint64_t)j * 0x94D049BB133111EBu + 0x2545F4914F6CDD1Du;
  for (int s = 0; s < 3; ++s) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
  }
  return 2 * ((double)(x >> 11) / 9007199254740992.0) - 1;
}
Scalar random_entry(std::uint64_t seed, Count i, Count j)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(uniform(seed, i, j), uniform(seed + 77, i, j));
#else
  return uniform(seed, i, j);
#endif
}

int world_size()
{
  int s;
  MPI_Comm_size(MPI_COMM_WORLD, &s);
  return s;
}
int world_rank()
{
  int r;
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  return r;
}

std::vector<Count> starts_of(Count n, int size)
{
  std::vector<Count> s;
  for (int p = 0; p <= size; ++p) s.push_back(n * p / size);
  return s;
}

std::vector<Scalar> local_rows(const std::vector<Count> &starts, int rank, Count columns, const Entry &a)
{
  const Count         m = starts[(std::size_t)rank + 1] - starts[(std::size_t)rank];
  std::vector<Scalar> v((std::size_t)(m * columns));
  for (Count j = 0; j < columns; ++j)
    for (Count i = 0; i < m; ++i) v[(std::size_t)(i + j * m)] = a(starts[(std::size_t)rank] + i, j);
  return v;
}

Real norm_of(const std::vector<Scalar> &a)
{
  Real s = 0;
  for (Scalar v : a) s += abs2(v);
  return std::sqrt(s);
}

// ||P A - L U|| / ||A||, on process 0; checks that the pivots are a permutation
Real residual(const LU &f, const Entry &a)
{
  const Count         n = f.grid().n;
  std::vector<Scalar> packed(world_rank() == 0 ? (std::size_t)(n * n) : 0);
  f.gather(packed.data());
  if (world_rank() != 0 || n == 0) return 0;
  const std::set<Count> all(f.pivots().begin(), f.pivots().end());
  EXPECT_EQ((Count)all.size(), n);
  EXPECT_EQ(*all.begin(), 0);
  EXPECT_EQ(*all.rbegin(), n - 1);
  std::vector<Scalar> difference((std::size_t)(n * n)), given((std::size_t)(n * n));
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      Scalar s = i <= j ? packed[(std::size_t)(i + j * n)] : 0;
      for (Count k = 0; k < std::min(i, j + 1); ++k) s += packed[(std::size_t)(i + k * n)] * packed[(std::size_t)(k + j * n)];
      given[(std::size_t)(i + j * n)]      = a(f.pivots()[(std::size_t)i], j);
      difference[(std::size_t)(i + j * n)] = given[(std::size_t)(i + j * n)] - s;
    }
  return norm_of(difference) / std::max(norm_of(given), std::numeric_limits<Real>::min());
}

Scalar transposed(char op, Scalar a) { return op == 'C' ? conj(a) : a; }

// ||op(A) X - B|| / (||A|| ||X|| + ||B||), worked out on every process
Real backward_error(LU &f, const std::vector<Count> &starts, const Entry &a, char op, Count nrhs)
{
  const Count         n = f.grid().n, m = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
  const Entry         b = [](Count i, Count j) { return random_entry(5, i, j); };
  std::vector<Scalar> x = local_rows(starts, world_rank(), nrhs, b), all((std::size_t)(n * nrhs), 0);
  f.solve(op, nrhs, x.data(), m, x.data(), m); // in place
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < m; ++i) all[(std::size_t)(starts[(std::size_t)world_rank()] + i + c * n)] = x[(std::size_t)(i + c * m)];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)all.size(), MPIU_SCALAR, MPIU_SUM, MPI_COMM_WORLD);
  std::vector<Scalar> r((std::size_t)(n * nrhs)), A((std::size_t)(n * n)), B;
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) A[(std::size_t)(i + j * n)] = op == 'N' ? a(i, j) : transposed(op, a(j, i));
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < n; ++i) {
      Scalar s = -b(i, c);
      B.push_back(b(i, c));
      for (Count j = 0; j < n; ++j) s += A[(std::size_t)(i + j * n)] * all[(std::size_t)(j + c * n)];
      r[(std::size_t)(i + c * n)] = s;
    }
  if (n == 0) return 0;
  return norm_of(r) / (norm_of(A) * norm_of(all) + norm_of(B));
}

Grid grid_of(Count n, int px, int py, int layers, Count tile)
{
  Grid g;
  g.n      = n;
  g.px     = px;
  g.py     = py;
  g.layers = layers;
  g.tile   = tile;
  return g;
}

// All grids that the processes allow
std::vector<Grid> grids(Count n, Count tile)
{
  std::vector<Grid> g;
  const int         p = world_size();
  for (int c = 1; c <= p; ++c)
    for (int px = 1; px * c <= p; ++px)
      for (int py = 1; py * px * c <= p; ++py)
        if (px * py * c == p || px * py * c == p - 1 || px * py * c == 1) g.push_back(grid_of(n, px, py, c, tile));
  return g;
}

std::string name(const Grid &g) { return std::to_string(g.px) + "x" + std::to_string(g.py) + "x" + std::to_string(g.layers) + " n=" + std::to_string(g.n) + " v=" + std::to_string(g.tile); }

const Real eps = std::numeric_limits<Real>::epsilon();

} // namespace

TEST(LU, RandomOnAllGrids)
{
  const Entry a = [](Count i, Count j) { return random_entry(1, i, j); };
  for (Count n : {0, 1, 2, 7, 33, 60})
    for (Count tile : {1, 5, 8, 64})
      for (const Grid &g : grids(n, tile)) {
        SCOPED_TRACE(name(g));
        const auto starts = starts_of(n, world_size());
        LU         f(MPI_COMM_WORLD, starts, g);
        const auto mine = local_rows(starts, world_rank(), n, a);
        const Count m   = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
        f.factor(mine.data(), m);
        EXPECT_EQ(f.outcome().zero_pivot, -1);
        EXPECT_TRUE(f.outcome().finite);
        EXPECT_LE(residual(f, a), 50 * eps * std::sqrt((Real)n + 1));
        for (char op : {'N', 'T', 'C'})
          for (Count nrhs : {1, 3, 10}) EXPECT_LE(backward_error(f, starts, a, op, nrhs), 50 * eps * std::sqrt((Real)n + 1)) << op << nrhs;
      }
}
