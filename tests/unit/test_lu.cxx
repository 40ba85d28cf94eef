// Distributed LU against dense arithmetic: grids of all shapes on the processes that are there.
#include "base/error.hpp"
#include "lu/lu.hpp"
#include "test_lu_fixture.hpp"

#include <gtest/gtest.h>

#include <petscsys.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>

using namespace petsctt;
using namespace petsctt::lu;
using namespace lu_fixture;

namespace {

using Entry = std::function<Scalar(Count, Count)>;

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

// ||P A - L U|| / ||A||, on process 0 of comm; checks that the pivots are a permutation, and what is said of the largest and smallest entries.
// stretch: || |L| |U| || / ||A||, at least 1, which the rounding errors are proportional to.
Real residual(const LU &f, const Entry &a, Real *stretch = nullptr, MPI_Comm comm = MPI_COMM_WORLD)
{
  const Count         n = f.grid().n;
  std::vector<Scalar> packed(rank_of(comm) == 0 ? (std::size_t)(n * n) : 0);
  f.gather(packed.data());
  if (stretch) *stretch = 1;
  if (rank_of(comm) != 0 || n == 0) return 0;
  const std::set<Count> all(f.pivots().begin(), f.pivots().end());
  EXPECT_EQ((Count)all.size(), n);
  EXPECT_EQ(*all.begin(), 0);
  EXPECT_EQ(*all.rbegin(), n - 1);
  std::vector<Scalar> difference((std::size_t)(n * n)), given((std::size_t)(n * n)), moduli((std::size_t)(n * n));
  Real                max_l = 0, max_u = 0, min_pivot = petsctt::abs(packed[0]);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      Scalar     s = i <= j ? packed[(std::size_t)(i + j * n)] : 0;
      Real       t = petsctt::abs(s);
      const Real v = petsctt::abs(packed[(std::size_t)(i + j * n)]);
      for (Count k = 0; k < std::min(i, j + 1); ++k) {
        const Scalar product = packed[(std::size_t)(i + k * n)] * packed[(std::size_t)(k + j * n)];
        s += product;
        t += petsctt::abs(product);
      }
      (i > j ? max_l : max_u) = std::max(i > j ? max_l : max_u, v);
      if (i == j) min_pivot = std::min(min_pivot, v);
      moduli[(std::size_t)(i + j * n)]     = t;
      given[(std::size_t)(i + j * n)]      = a(f.pivots()[(std::size_t)i], j);
      difference[(std::size_t)(i + j * n)] = given[(std::size_t)(i + j * n)] - s;
    }
  EXPECT_EQ(f.outcome().max_l, max_l);
  EXPECT_EQ(f.outcome().max_u, max_u);
  EXPECT_EQ(f.outcome().min_pivot, min_pivot);
  const Real norm = std::max(norm_of(given), std::numeric_limits<Real>::min());
  if (stretch) *stretch = norm_of(moduli) / norm;
  return norm_of(difference) / norm;
}

Scalar transposed(char op, Scalar a) { return op == 'C' ? conj(a) : a; }

// ||op(A) X - B|| / (||A|| ||X|| + ||B||), worked out on every process
Real backward_error(LU &f, const std::vector<Count> &starts, const Entry &a, char op, Count nrhs, MPI_Comm comm = MPI_COMM_WORLD)
{
  const int           rank = rank_of(comm);
  const Count         n = f.grid().n, m = starts[(std::size_t)rank + 1] - starts[(std::size_t)rank];
  const Entry         b = [](Count i, Count j) { return random_entry(5, i, j); };
  std::vector<Scalar> x = local_rows(starts, rank, nrhs, b), all((std::size_t)(n * nrhs), 0);
  f.solve(op, nrhs, x.data(), m, x.data(), m); // in place
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < m; ++i) all[(std::size_t)(starts[(std::size_t)rank] + i + c * n)] = x[(std::size_t)(i + c * m)];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)all.size(), MPIU_SCALAR, MPIU_SUM, comm);
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

// All grids that the processes allow, with one idle at the most
std::vector<Grid> grids(Count n, Count tile, int p = world_size())
{
  std::vector<Grid> g;
  for (int c = 1; c <= p; ++c)
    for (int px = 1; px * c <= p; ++px)
      for (int py = 1; py * px * c <= p; ++py)
        if (px * py * c == p || px * py * c == p - 1 || px * py * c == 1) g.push_back(grid_of(n, px, py, c, tile));
  return g;
}

// Some of them, others for every `turn`: more processes than cores take their time.
std::vector<Grid> some_grids(Count n, Count tile, int turn)
{
  std::vector<Grid> all = grids(n, tile), some;
  const std::size_t step = (all.size() + 3) / 4;
  for (std::size_t s = (std::size_t)turn % step; s < all.size(); s += step) some.push_back(all[s]);
  return some;
}

std::string name(const Grid &g) { return std::to_string(g.px) + "x" + std::to_string(g.py) + "x" + std::to_string(g.layers) + " n=" + std::to_string(g.n) + " v=" + std::to_string(g.tile); }

} // namespace

TEST(LU, RandomOnAllGrids)
{
  const Entry              a     = [](Count i, Count j) { return random_entry(1, i, j); };
  const bool               small = world_size() <= 4;
  const std::vector<Count> orders = small ? std::vector<Count>{0, 1, 2, 7, 33, 60} : std::vector<Count>{0, 2, 33}, tiles = small ? std::vector<Count>{1, 5, 8, 64} : std::vector<Count>{5};
  for (Count n : orders)
    for (Count tile : tiles)
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
          for (Count nrhs : small ? std::vector<Count>{1, 3, 10} : std::vector<Count>{3}) EXPECT_LE(backward_error(f, starts, a, op, nrhs), 50 * eps * std::sqrt((Real)n + 1)) << op << nrhs;
      }
}

// All ways on one object, in turns: what one has prepared must not disturb another.
TEST(LU, WaysOfSolving)
{
  const Entry a = [](Count i, Count j) { return random_entry(2, i, j); };
  int         turn = 0;
  for (Count n : {1, 6, 47})
    for (Count tile : {4, 7})
      for (const Grid &g : world_size() <= 4 ? grids(n, tile) : some_grids(n, tile, turn++)) {
        SCOPED_TRACE(name(g));
        const auto starts = starts_of(n, world_size());
        LU         f(MPI_COMM_WORLD, starts, g);
        const auto mine = local_rows(starts, world_rank(), n, a);
        const Count m   = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
        for (int again = 0; again < (n == 6 ? 2 : 1); ++again) {
          f.factor(mine.data(), m);
          for (const Schedule &s : {Schedule{Way::tiles, 1}, Schedule{Way::wide, 3}, Schedule{Way::columns, 1}, Schedule{Way::apart, 1}, Schedule{Way::wide, 1}, Schedule{Way::columns, 1}, Schedule{Way::tiles, 1}, Schedule{Way::wide, 20}}) {
            f.solve_by(s);
            for (char op : {'N', 'T', 'C'})
              for (Count nrhs : {1, 5}) EXPECT_LE(backward_error(f, starts, a, op, nrhs), 50 * eps * std::sqrt((Real)n + 1)) << op << nrhs << " way " << (int)s.way << " step " << s.step;
          }
          EXPECT_LE(residual(f, a), 50 * eps * std::sqrt((Real)n + 1)); // completed or not
        }
        EXPECT_THROW(f.solve_by({Way::wide, 0}), Error);
      }
}

// The matrices that are hard for one reason or another, as functions of row and column.
struct Case {
  const char *name;
  Entry       a;
};

std::vector<Case> cases(Count n, int px)
{
  const Real pi = (Real)3.14159265358979323846, N = (Real)n;
  // a unitary diagonal on either side changes no modulus
  const auto turned = [](Entry a) -> Entry {
#if defined(PETSC_USE_COMPLEX)
    return [a](Count i, Count j) { return a(i, j) * std::polar((Real)1, (Real)(i * i) + 2 * (Real)j); };
#else
    return a;
#endif
  };
  // H D K with reflectors H = I - 2 u u^T, K = I - 2 v v^T and d from 1 down to 1/condition
  const auto conditioned = [n](Real condition) -> Entry {
    std::vector<Real> u, v, d;
    Real              uu = 0, vv = 0, middle = 0;
    for (Count i = 0; i < n; ++i) {
      u.push_back((Real)uniform(11, i, 0));
      v.push_back((Real)uniform(12, i, 0));
      d.push_back(std::pow(condition, -(Real)i / std::max<Real>(1, (Real)n - 1)));
      uu += u.back() * u.back();
      vv += v.back() * v.back();
    }
    for (std::size_t k = 0; k < d.size(); ++k) {
      u[k] /= std::sqrt(uu);
      v[k] /= std::sqrt(vv);
      middle += u[k] * d[k] * v[k];
    }
    return [=](Count p, Count q) {
      const std::size_t i = (std::size_t)p, j = (std::size_t)q;
      return (Scalar)((i == j ? d[i] : 0) - 2 * u[i] * u[j] * d[j] - 2 * d[i] * v[i] * v[j] + 4 * u[i] * middle * v[j]);
    };
  };
  const Count edge = 9;
  const Entry random = [](Count i, Count j) { return random_entry(3, i, j); };
  return {
    {"uniform", random},
    {"tiny diagonal", [=](Count i, Count j) { return i == j ? (Scalar)1e-20 : random(i, j); }},
    {"rows scaled", [=](Count i, Count j) { return random(i, j) * std::pow((Real)10, -8 + 16 * (Real)(i * 7 % n) / N); }},
    {"condition 1e8", turned(conditioned((Real)1e8))},
    {"condition 1e14", turned(conditioned((Real)1e14))},
    {"large rows in turn", [=](Count i, Count j) { return random(i, j) * (Real)(i % 2 ? 1e-10 : 1); }},
    {"large rows in one grid row", [=](Count i, Count j) { return random(i, j) * (Real)(i % px == px - 1 ? 1 : 1e-10); }},
    {"convection and diffusion", turned([=](Count i, Count j) {
       const Count d = j - i;
       return (Scalar)(d == 0 ? 4 : d == 1 && j % edge ? -0.5 : d == -1 && i % edge ? -1.5 : d == edge ? -0.8 : d == -edge ? -1.2 : 0);
     })},
    {"Hilbert", turned([](Count i, Count j) { return (Scalar)(1 / (Real)(i + j + 1)); })},
    {"prolate", turned([=](Count i, Count j) { return (Scalar)(i == j ? (Real)0.5 : std::sin(pi * (Real)(i - j) / 2) / (pi * (Real)(i - j))); })},
    {"growth", turned([=](Count i, Count j) { return (Scalar)(i == j || j == n - 1 ? 1 : i > j ? -0.5 : 0); })},
    {"orthogonal", turned([=](Count i, Count j) { return (Scalar)(std::sqrt(2 / (N + 1)) * std::sin(pi * (Real)((i + 1) * (j + 1) % (2 * (n + 1))) / (N + 1))); })},
    {"positive definite", [=](Count i, Count j) { return i == j ? (Scalar)(1 + N / 8) : (Scalar)(i < j ? random(i, j) : petsctt::conj(random(j, i))) / (1 + (Real)std::abs(i - j)); }},
  };
}

// What LAPACK finds: the growth factor, and the column of the first zero pivot or -1.
struct Reference {
  Real  growth;
  Count zero;
};
Reference lapack(Count n, const Entry &a)
{
  std::vector<Scalar> A = local_rows({0, n}, 0, n, a);
  std::vector<int>    swaps((std::size_t)n);
  Real                max_a = 0, max_u = 0;
  for (Scalar v : A) max_a = std::max(max_a, petsctt::abs(v));
  const Count info = getrf(n, n, A.data(), n, swaps.data());
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i <= j; ++i) max_u = std::max(max_u, petsctt::abs(A[(std::size_t)(i + j * n)]));
  return {max_u / max_a, info - 1};
}

TEST(LU, HardMatrices)
{
  const Count n = world_size() <= 4 ? 90 : 64;
  int         turn = 0;
  for (std::size_t k = 0; k < cases(n, 1).size(); ++k)
    for (const Grid &g : some_grids(n, k % 2 ? 7 : 8, turn++)) {
      const Case c = cases(n, g.px)[k];
      SCOPED_TRACE(c.name);
      SCOPED_TRACE(name(g));
      const auto  starts = starts_of(n, world_size());
      const auto  mine   = local_rows(starts, world_rank(), n, c.a);
      const Count m      = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
      LU          f(MPI_COMM_WORLD, starts, g);
      f.factor(mine.data(), m);
      const Outcome  &o = f.outcome();
      const Reference r = lapack(n, c.a);
      ASSERT_EQ(o.zero_pivot, -1);
      ASSERT_TRUE(o.finite);
      Real       stretch  = 1;
      const Real relative = residual(f, c.a, &stretch);
      EXPECT_LE(relative, 2 * eps * std::sqrt((Real)n) * stretch);
      EXPECT_LE(o.max_l, 20);
      // pivots may be others than those of partial pivoting, but no worse
      EXPECT_LE(o.max_u / o.max_a, 3 * r.growth);
      EXPECT_GE(o.max_u / o.max_a, r.growth / 3);
      Real worst = o.max_u / o.max_a;
      for (char op : {'N', 'T', 'C'}) EXPECT_LE(backward_error(f, starts, c.a, op, 2), 10 * eps * std::sqrt((Real)n) * std::max<Real>(1, worst)) << op;
    }
}

TEST(LU, GrowthIsReported)
{
  for (const Grid &g : some_grids(50, 6, 0)) {
    SCOPED_TRACE(name(g));
    const Entry a      = cases(50, 1)[10].a;
    const auto  starts = starts_of(50, world_size());
    const auto  mine   = local_rows(starts, world_rank(), 50, a);
    LU          f(MPI_COMM_WORLD, starts, g);
    f.factor(mine.data(), starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()]);
    EXPECT_NEAR((double)(f.outcome().max_u / f.outcome().max_a) / std::pow(1.5, 49), 1, 1e-10);
  }
}

// Singular matrices: the column of the first pivot that is zero, as LAPACK says it, on all processes, and no factors.
TEST(LU, ZeroPivots)
{
  const Count n = 50;
  const auto  without = [](std::set<Count> rows, std::set<Count> columns) -> Entry {
    return [=](Count i, Count j) { return rows.count(i) || columns.count(j) ? (Scalar)0 : random_entry(4, i, j); };
  };
  const std::vector<Case> singular = {
    {"first column", without({}, {0})},
    {"a column", without({}, {23})},
    {"last column", without({}, {n - 1})},
    {"two columns", without({}, {41, 17})},
    {"a row", without({11}, {})},
    {"first and last row", without({0, n - 1}, {})},
    {"zero", [](Count, Count) { return (Scalar)0; }},
    {"upper triangle", [](Count i, Count j) { return i > j || (i == j && i == 30) ? (Scalar)0 : (Scalar)(1 + i + j); }},
    {"rank one", [](Count i, Count j) { return (Scalar)((Real)(1 << i % 5) * (Real)(1 << j % 3)); }},
  };
  int turn = 0;
  for (const Case &c : singular) {
    const Reference r = lapack(n, c.a);
    ASSERT_GE(r.zero, 0);
    for (const Grid &g : some_grids(n, 7, turn++)) {
      SCOPED_TRACE(c.name);
      SCOPED_TRACE(name(g));
      const auto  starts = starts_of(n, world_size());
      const auto  mine   = local_rows(starts, world_rank(), n, c.a);
      const Count m      = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
      LU          f(MPI_COMM_WORLD, starts, g);
      f.factor(mine.data(), m);
      EXPECT_EQ(f.outcome().zero_pivot, r.zero);
      EXPECT_TRUE(f.outcome().finite);
      std::vector<Scalar> x((std::size_t)m, 1);
      EXPECT_THROW(f.solve('N', 1, x.data(), m, x.data(), m), Error);
    }
  }
}

// Elimination of one of two equal rows ends in a zero or in rounding errors of the others; LAPACK, too, reports only the former.
TEST(LU, EqualRows)
{
  const Count n = 50;
  const Entry a = [](Count i, Count j) { return random_entry(6, i == 37 ? 4 : i, j); };
  for (const Grid &g : some_grids(n, 7, 1)) {
    SCOPED_TRACE(name(g));
    const auto  starts = starts_of(n, world_size());
    const auto  mine   = local_rows(starts, world_rank(), n, a);
    LU          f(MPI_COMM_WORLD, starts, g);
    f.factor(mine.data(), starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()]);
    const Outcome &o = f.outcome();
    EXPECT_TRUE(o.zero_pivot == n - 1 || (o.zero_pivot == -1 && o.min_pivot <= 1e-13 * o.max_a)) << o.zero_pivot << " " << o.min_pivot;
  }
}

// NaN and Inf anywhere are found by all processes, and the same object can be used again, as after a zero pivot.
TEST(LU, NotFiniteAndAgain)
{
  const Count n = 40;
  const Entry good = [](Count i, Count j) { return random_entry(8, i, j); }, other = [](Count i, Count j) { return random_entry(9, i, j); };
  const Real  inf = std::numeric_limits<Real>::infinity(), nan = std::numeric_limits<Real>::quiet_NaN();
  const auto  with = [&](Count p, Count q, Real v) -> Entry { return [=](Count i, Count j) { return i == p && j == q ? (Scalar)v : good(i, j); }; };
  for (const Grid &g : some_grids(n, 6, 2)) {
    SCOPED_TRACE(name(g));
    const auto  starts = starts_of(n, world_size());
    const Count m      = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()];
    LU          f(MPI_COMM_WORLD, starts, g);
    const auto  factor = [&](const Entry &a) {
      const auto mine = local_rows(starts, world_rank(), n, a);
      f.factor(mine.data(), m);
    };
    for (const Entry &a : {with(0, 0, nan), with(n - 1, 3, inf), with(17, n - 1, -inf), with(20, 20, nan)}) {
      factor(a);
      EXPECT_FALSE(f.outcome().finite);
      std::vector<Scalar> x((std::size_t)m, 1);
      EXPECT_THROW(f.solve('T', 1, x.data(), m, x.data(), m), Error);
      for (const Entry &b : {good, other}) {
        factor(b);
        EXPECT_TRUE(f.outcome().finite);
        EXPECT_LE(residual(f, b), 50 * eps * std::sqrt((Real)n));
        EXPECT_LE(backward_error(f, starts, b, 'N', 2), 50 * eps * std::sqrt((Real)n));
      }
    }
    factor([](Count, Count j) { return (Scalar)(j == 9 ? 0 : 1); });
    EXPECT_EQ(f.outcome().zero_pivot, 1);
    factor(good);
    EXPECT_EQ(f.outcome().zero_pivot, -1);
    EXPECT_LE(backward_error(f, starts, good, 'C', 1), 50 * eps * std::sqrt((Real)n));
  }
}

// Numbers that overflow on the way: not finite, or factors that are
TEST(LU, Overflow)
{
  const Real  huge = std::numeric_limits<Real>::max() / 2;
  const Entry a    = [=](Count i, Count j) { return (Scalar)(huge * (i == j || j == 39 ? 1 : i > j ? (Real)-1 : (Real)0)); };
  for (const Grid &g : some_grids(40, 6, 3)) {
    SCOPED_TRACE(name(g));
    const auto starts = starts_of(40, world_size());
    const auto mine   = local_rows(starts, world_rank(), 40, a);
    LU         f(MPI_COMM_WORLD, starts, g);
    f.factor(mine.data(), starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()]);
    EXPECT_FALSE(f.outcome().finite); // growth 2^39
  }
}

// Process numbers in another order, and some processes only, while the others have a communicator of their own
TEST(LU, Communicators)
{
  const int   size = world_size(), rank = world_rank();
  const Entry a    = [](Count i, Count j) { return random_entry(10, i, j); };
  for (int kind = 0; kind < 3; ++kind) {
    MPI_Comm comm;
    const int color = kind == 0 ? 0 : kind == 1 ? rank % 2 : (rank + 1) * 3 > 2 * size;
    MPI_Comm_split(MPI_COMM_WORLD, color, kind == 1 ? rank : -rank, &comm);
    const Count n      = 31 + color;
    const auto  starts = starts_of(n, size_of(comm));
    const auto  all    = grids(n, 5, size_of(comm));
    for (std::size_t s = 0; s < all.size(); s += std::max<std::size_t>(1, all.size() / 3)) {
      SCOPED_TRACE(name(all[s]));
      LU         f(comm, starts, all[s]);
      const auto mine = local_rows(starts, rank_of(comm), n, a);
      f.factor(mine.data(), starts[(std::size_t)rank_of(comm) + 1] - starts[(std::size_t)rank_of(comm)]);
      EXPECT_LE(residual(f, a, nullptr, comm), 50 * eps * std::sqrt((Real)n));
      for (char op : {'N', 'T'}) EXPECT_LE(backward_error(f, starts, a, op, 3, comm), 50 * eps * std::sqrt((Real)n)) << op;
    }
    MPI_Comm_free(&comm);
  }
}

// Rows on one process, on few, and fewer than processes
TEST(LU, RowsAnywhere)
{
  const int   size = world_size();
  const Entry a    = [](Count i, Count j) { return random_entry(13, i, j); };
  for (Count n : {(Count)1, (Count)std::max(1, size - 1), (Count)45})
    for (int kind = 0; kind < 3; ++kind) {
      std::vector<Count> starts((std::size_t)size + 1, 0);
      for (int p = 1; p <= size; ++p) starts[(std::size_t)p] = kind == 0 ? n : kind == 1 ? (p == size ? n : 0) : n * p * p / size / size;
      int turn = kind;
      for (const Grid &g : some_grids(n, 4, turn++)) {
        SCOPED_TRACE(name(g));
        LU         f(MPI_COMM_WORLD, starts, g);
        const auto mine = local_rows(starts, world_rank(), n, a);
        f.factor(mine.data(), starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()]);
        EXPECT_LE(residual(f, a), 50 * eps * std::sqrt((Real)n));
        for (char op : {'N', 'C'}) EXPECT_LE(backward_error(f, starts, a, op, 2), 50 * eps * std::sqrt((Real)n)) << op;
      }
    }
}
