// Distributed Cholesky factorisation against dense arithmetic: all patterns and layers on the processes that are there; and its plan.
#include "base/error.hpp"
#include "lu/cholesky.hpp"
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

const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

// A dense n x n matrix, the same on all processes
struct Dense {
  Count               n;
  std::vector<Scalar> a;
  explicit Dense(Count order) : n(order), a((std::size_t)(order * order), 0) { }
  Scalar       &operator()(Count i, Count j) { return a[(std::size_t)(i + j * n)]; }
  const Scalar &operator()(Count i, Count j) const { return a[(std::size_t)(i + j * n)]; }
};

// G G^H / n + shift I
Dense random_hpd(Count n, std::uint64_t seed, Real shift)
{
  Dense g(n), a(n);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) g(i, j) = random_entry(seed, i, j);
  if (n > 0) gemm('N', 'C', n, n, n, (Real)1 / (Real)n, g.a.data(), n, g.a.data(), n, 0.0, a.a.data(), n);
  for (Count i = 0; i < n; ++i) a(i, i) = real(a(i, i)) + shift;
  return a;
}

// Row ranges of unequal length
std::vector<Count> starts_of(Count n, bool even = true)
{
  const int          size = world_size();
  std::vector<Count> s;
  for (int p = 0; p <= size; ++p) s.push_back(even ? n * p / size : n * p * p / (size * size));
  return s;
}

// The rows of this process; above the diagonal there is what must not be read
std::vector<Scalar> local_rows(const Dense &a, const std::vector<Count> &starts, Count lda)
{
  const Count         begin = starts[(std::size_t)world_rank()], end = starts[(std::size_t)world_rank() + 1];
  std::vector<Scalar> v((std::size_t)(lda * a.n), not_a_number);
  for (Count j = 0; j < a.n; ++j)
    for (Count i = std::max(begin, j); i < end; ++i) v[(std::size_t)(i - begin + j * lda)] = a(i, j);
  return v;
}

void factor(Cholesky &f, const Dense &a, const std::vector<Count> &starts)
{
  const Count m    = starts[(std::size_t)world_rank() + 1] - starts[(std::size_t)world_rank()] + 2;
  const auto  mine = local_rows(a, starts, m);
  f.factor(mine.data(), m);
}

// ||A - L L^H|| / ||A||, on process 0
Real residual(const Cholesky &f, const Dense &a)
{
  const Count n = a.n;
  Dense       l(world_rank() == 0 ? n : 0), r = a;
  f.gather(l.a.data());
  if (world_rank() != 0 || n == 0) return 0;
  for (Count i = 0; i < n; ++i) {
    EXPECT_GT(real(l(i, i)), 0);
    EXPECT_EQ(petsctt::abs(l(i, i)), real(l(i, i)));
  }
  gemm('N', 'C', n, n, n, -1.0, l.a.data(), n, l.a.data(), n, 1.0, r.a.data(), n);
  return norm_of(r.a) / norm_of(a.a);
}

// ||A X - B|| / (||A|| ||X|| + ||B||), worked out on every process
Real backward_error(Cholesky &f, const Dense &a, const std::vector<Count> &starts, Count nrhs)
{
  const Count         n = a.n, begin = starts[(std::size_t)world_rank()], m = starts[(std::size_t)world_rank() + 1] - begin, ld = m + 1;
  std::vector<Scalar> x((std::size_t)(ld * nrhs)), all((std::size_t)(n * nrhs), 0), b((std::size_t)(n * nrhs));
  for (Count c = 0; c < nrhs; ++c) {
    for (Count i = 0; i < n; ++i) b[(std::size_t)(i + c * n)] = random_entry(5, i, c);
    for (Count i = 0; i < m; ++i) x[(std::size_t)(i + c * ld)] = random_entry(5, begin + i, c);
  }
  f.solve(nrhs, x.data(), ld, x.data(), ld); // in place
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < m; ++i) all[(std::size_t)(begin + i + c * n)] = x[(std::size_t)(i + c * ld)];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)all.size(), MPIU_SCALAR, MPIU_SUM, MPI_COMM_WORLD);
  if (n == 0 || nrhs == 0) return 0;
  std::vector<Scalar> r = b;
  gemm('N', 'N', n, nrhs, n, -1.0, a.a.data(), n, all.data(), n, 1.0, r.data(), n);
  return norm_of(r) / (norm_of(a.a) * norm_of(all) + norm_of(b));
}

// All patterns that the processes allow, with as many layers as fit and with one
std::vector<SymmetricGrid> grids(Count n, Count tile)
{
  std::vector<SymmetricGrid> v;
  const int                  P = world_size();
  const auto                 add = [&](Pattern p, int order) {
    const int per_layer = symmetric_grid(n, tile, p, order, 1).per_layer();
    for (int c = 1; c * per_layer <= P; ++c)
      if (c == 1 || c == P / per_layer || c == 3) v.push_back(symmetric_grid(n, tile, p, order, c));
    return per_layer <= P;
  };
  for (int r = 1; add(Pattern::triangle, r); ++r) { }
  for (int r = 2; add(Pattern::halves, r); r += 2) { }
  for (int q : {2, 3, 4})
    if (!add(Pattern::plane, q)) break;
  return v;
}

std::string name(const SymmetricGrid &g)
{
  const std::string pattern = g.pattern == Pattern::triangle ? "triangle" : g.pattern == Pattern::halves ? "halves" : "plane";
  return pattern + std::to_string(g.order) + " x" + std::to_string(g.layers) + " n=" + std::to_string(g.n) + " v=" + std::to_string(g.tile);
}

} // namespace

TEST(Cholesky, RandomOnAllGrids)
{
  for (Count n : {0, 1, 2, 7, 33, 60}) {
    const Dense a = random_hpd(n, 1, 0.1);
    for (Count tile : {1, 5, 8, 64})
      for (const SymmetricGrid &g : grids(n, tile)) {
        SCOPED_TRACE(name(g));
        const auto starts = starts_of(n, tile != 5);
        Cholesky   f(MPI_COMM_WORLD, starts, g);
        factor(f, a, starts);
        EXPECT_EQ(f.outcome().not_positive, -1);
        EXPECT_TRUE(f.outcome().finite);
        EXPECT_LE(residual(f, a), 10 * eps * std::sqrt((Real)n + 1));
        for (Count nrhs : {0, 1, 3, 10}) EXPECT_LE(backward_error(f, a, starts, nrhs), 10 * eps * std::sqrt((Real)n + 1)) << nrhs;
      }
  }
}

// The column that LAPACK finds, wherever it is, with the factors of the columns before unharmed by what is behind
TEST(Cholesky, ReportsFirstMinorThatIsNotPositive)
{
  for (Count n : {1, 7, 33})
    for (Count at : {(Count)0, n / 3, n - 2, n - 1})
      for (Count tile : {n == 7 ? 1 : 8, 5, 64}) {
        if (at < 0) continue;
        Dense a = random_hpd(n, 2, 0.1);
        a(at, at) = tile == 5 ? 0 : real(a(at, at)) - 3;
        Dense upper = a;
        const Count expected = potrf(n, upper.a.data(), n) - 1;
        EXPECT_EQ(expected, at);
        for (const SymmetricGrid &g : grids(n, tile)) {
          SCOPED_TRACE(name(g) + " at " + std::to_string(at));
          const auto starts = starts_of(n);
          Cholesky   f(MPI_COMM_WORLD, starts, g);
          factor(f, a, starts);
          EXPECT_EQ(f.outcome().not_positive, expected);
          EXPECT_TRUE(f.outcome().finite);
          EXPECT_THROW(f.solve(0, nullptr, 1, nullptr, 1), Error);
          const Dense good = random_hpd(n, 3, 0.1); // another matrix afterwards
          factor(f, good, starts);
          EXPECT_EQ(f.outcome().not_positive, -1);
          EXPECT_LE(backward_error(f, good, starts, 2), 10 * eps * std::sqrt((Real)n + 1));
        }
      }
}

TEST(Cholesky, NoticesWhatIsNotFinite)
{
  const Count n = 33;
  for (Real bad : {not_a_number, std::numeric_limits<Real>::infinity()})
    for (const auto &at : std::vector<std::pair<Count, Count>>{{0, 0}, {n - 1, 0}, {n - 1, n - 1}, {20, 7}})
      for (const SymmetricGrid &g : grids(n, 5)) {
        Dense a                = random_hpd(n, 2, 0.1);
        a(at.first, at.second) = bad;
        const auto starts      = starts_of(n);
        Cholesky   f(MPI_COMM_WORLD, starts, g);
        factor(f, a, starts);
        EXPECT_FALSE(f.outcome().finite);
        EXPECT_EQ(f.outcome().not_positive, -1);
      }
  // finite, but not on the way
  for (const SymmetricGrid &g : grids(n, 5)) {
    Dense a = random_hpd(n, 2, 0.1);
    a(20, 0) = std::numeric_limits<Real>::max();
    const auto starts = starts_of(n);
    Cholesky   f(MPI_COMM_WORLD, starts, g);
    factor(f, a, starts);
    EXPECT_TRUE(!f.outcome().finite || f.outcome().not_positive >= 0);
  }
}

// Graded, badly conditioned, diagonal
TEST(Cholesky, KnownMatrices)
{
  const Count n = 40;
  Dense       hilbert(n), stencil(n), scaled = random_hpd(n, 4, 0.1);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      hilbert(i, j) = (Real)1 / (Real)(i + j + 1) + (i == j ? (Real)1e-8 : 0);
      stencil(i, j) = i == j ? 2 : std::abs(i - j) == 1 ? -1 : 0;
      scaled(i, j) *= std::pow((Real)10, (Real)((i * 7) % 16 + (j * 7) % 16) / 2 - 8);
    }
  for (const Dense &a : {hilbert, stencil, scaled})
    for (const SymmetricGrid &g : grids(n, 6)) {
      SCOPED_TRACE(name(g));
      const auto starts = starts_of(n);
      Cholesky   f(MPI_COMM_WORLD, starts, g);
      factor(f, a, starts);
      ASSERT_EQ(f.outcome().not_positive, -1);
      EXPECT_LE(residual(f, a), 10 * eps * std::sqrt((Real)n));
      EXPECT_LE(backward_error(f, a, starts, 4), 10 * eps * std::sqrt((Real)n));
      if (a(1, 0) == (Scalar)-1) {
        EXPECT_NEAR(f.outcome().max_pivot, std::sqrt((Real)2), 1e-14);
      }
    }
}

// Words as the plan says, and on all processes alike
TEST(Cholesky, WordsAsPredicted)
{
  const Count n = 240;
  const Dense a = random_hpd(n, 6, 1);
  for (const SymmetricGrid &g : grids(n, 6)) {
    SCOPED_TRACE(name(g));
    const auto starts = starts_of(n);
    Cholesky   f(MPI_COMM_WORLD, starts, g);
    factor(f, a, starts);
    ASSERT_EQ(f.outcome().not_positive, -1);
    double sum[3] = {(double)f.traffic().factor.words, (double)f.traffic().factor.received, (double)f.traffic().factor.messages}, top = sum[0];
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &top, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(sum[0], sum[1]);
    const Prediction p = predict_cholesky(g);
    const double     outcome_words = 8. * (world_size() - 1); // at the end, on all processes
    EXPECT_NEAR(sum[0], p.words * g.active() + outcome_words, 0.001 * sum[0] + 1);
    EXPECT_NEAR(sum[2], p.messages * g.active() + 2. * (world_size() - 1), 0.05 * sum[2] + 1);
    if (g.active() > 1) {
      EXPECT_LE(top, 1.25 * sum[0] / g.active());
    }
    EXPECT_LE(f.memory_words(), p.memory);
  }
}

TEST(Cholesky, GridsOfThousandProcesses)
{
  if (world_size() > 1) GTEST_SKIP() << "arithmetic that is the same on any number of processes";
  for (int q : {2, 3, 4, 5, 7, 8, 9, 16, 27}) {
    const SymmetricGrid g = symmetric_grid(4096, 1, Pattern::plane, q, 1);
    const int           R = q * q + q + 1;
    ASSERT_EQ(g.classes, R);
    ASSERT_EQ(g.per_layer(), R);
    std::vector<int> of((std::size_t)R, 0);
    for (int a = 0; a < R; ++a) {
      const auto m = g.members(a);
      EXPECT_EQ((int)m.size(), q + 1);
      for (int p : m) ++of[(std::size_t)p];
    }
    for (int p = 0; p < R; ++p) EXPECT_EQ(of[(std::size_t)p], q + 1);
  }
  for (Pattern pattern : {Pattern::triangle, Pattern::halves, Pattern::plane})
    for (int order : {1, 2, 3, 4, 5, 6, 7, 8, 40}) {
      if (pattern == Pattern::halves && order % 2) continue;
      if (pattern == Pattern::plane && (order == 1 || order == 6 || order == 40)) {
        EXPECT_THROW(symmetric_grid(100, 1, pattern, order, 1), Error);
        continue;
      }
      const SymmetricGrid g = symmetric_grid(4 * (pattern == Pattern::plane ? order * order + order + 1 : order) + 1, 1, pattern, order, 1);
      SCOPED_TRACE(name(g));
      std::vector<std::set<int>> members;
      for (int a = 0; a < g.classes; ++a) {
        const auto m = g.members(a);
        members.emplace_back(m.begin(), m.end());
        EXPECT_EQ((int)members.back().size(), g.per_class());
      }
      std::vector<Count> load((std::size_t)g.per_layer(), 0);
      for (Count j = 0; j < g.tiles(); ++j)
        for (Count i = j; i < g.tiles(); ++i) {
          const int p = g.owner(i, j);
          ASSERT_TRUE(p >= 0 && p < g.per_layer());
          ++load[(std::size_t)p];
          for (Count e : {i, j}) ASSERT_TRUE(members[(std::size_t)g.class_of(e)].count(p) == 1);
          if (g.class_of(i) != g.class_of(j)) {
            EXPECT_EQ(p, g.pair_owner(g.class_of(j), g.class_of(i)));
          }
        }
      Count total = 0, most = 0;
      for (Count e : load) {
        total += e;
        most = std::max(most, e);
      }
      EXPECT_LE((double)most * g.per_layer(), 1.6 * (double)total);
    }
  for (int size : {1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 32, 64, 100, 256, 1024})
    for (Count n : {0, 1, 50, 1000, 4096, 8192, 100000}) {
      const SymmetricGrid g = plan_cholesky(n, size);
      EXPECT_LE(g.active(), size);
      EXPECT_EQ(g.n, n);
      EXPECT_GE(g.tile, 1);
    }
  Wishes w;
  w.px     = 4;
  w.py     = 4;
  w.layers = 2;
  w.tile   = 20;
  const SymmetricGrid g = plan_cholesky(3000, 40, w);
  EXPECT_EQ(g.per_layer(), 15);
  EXPECT_EQ(g.layers, 2);
  EXPECT_EQ(g.tile, 20);
  w = Wishes();
  w.memory = 1000;
  EXPECT_THROW(plan_cholesky(3000, 40, w), Error);
  w = Wishes();
  w.px = 41;
  EXPECT_THROW(plan_cholesky(3000, 40, w), Error);
}

// A communicator that is not the world, in another order, with processes that have no rows
TEST(Cholesky, OtherCommunicators)
{
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &half);
  int size, rank;
  MPI_Comm_size(half, &size);
  MPI_Comm_rank(half, &rank);
  const Count        n = 30;
  const Dense        a = random_hpd(n, 8, 0.1);
  std::vector<Count> starts((std::size_t)size + 1, 0);
  starts.back() = n; // all rows on the last process
  {
    Cholesky    f(half, starts, plan_cholesky(n, size));
    const Count m = rank == size - 1 ? n : 0;
    f.factor(a.a.data(), std::max<Count>(m, 1));
    std::vector<Scalar> b((std::size_t)m), x((std::size_t)m), r;
    for (Count i = 0; i < m; ++i) b[(std::size_t)i] = random_entry(9, i, 0);
    r = b;
    f.solve(1, b.data(), std::max<Count>(m, 1), x.data(), std::max<Count>(m, 1));
    if (m) {
      gemm('N', 'N', n, 1, n, -1.0, a.a.data(), n, x.data(), n, 1.0, r.data(), n);
      EXPECT_LE(norm_of(r), 100 * eps * (norm_of(a.a) * norm_of(x) + norm_of(b)));
    }
  }
  MPI_Comm_free(&half);
}
