// The tree QR is tested through the sweeps that use it, and on its own for shapes that sweeps seldom give.
#include "dense.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/orthogonalize.hpp"
#include "tt/ops/tsqr.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

TEST(Orthogonalize, EveryCentreAndDistribution)
{
  for (const auto &N : std::vector<std::vector<Int>>{{5}, {4, 6}, {3, 1, 5, 4}, {2, 2, 2, 2, 2}})
    for (const std::string &kinds : all_kinds()) {
      const SpacePtr s = make_space(N, kinds);
      const Int      d = s->d();
      Train          x = random_train(s, std::vector<Int>(d + 1, 4), 1);
      x.set_scale(Scaled(is_complex ? std::sqrt(Scalar(-3)) : Scalar(-3)));
      const Dense X = dense(x);
      for (Int centre = 0; centre < d; ++centre) {
        Train y = x;
        orthogonalize(y, centre);
        y.check();
        EXPECT_EQ(y.left(), centre);
        EXPECT_EQ(y.right(), d - 1 - centre);
        EXPECT_TRUE(y.norm_is_one_core());
        expect_orthogonality_as_claimed(y);
        EXPECT_LT(distance(dense(y), X), 1e-13) << kinds << " centre " << centre;
        EXPECT_LT(std::abs(real(norm(y).value()) / X.norm() - 1), 1e-13);
        for (Int k = 0; k <= d; ++k) EXPECT_LE(y.r(k), x.r(k)) << "TT ranks grew";
        // and on to every other centre
        for (Int other = 0; other < d; ++other) {
          Train z = y;
          orthogonalize(z, other);
          EXPECT_TRUE(z.left() >= other && z.right() >= d - 1 - other);
          expect_orthogonality_as_claimed(z);
          EXPECT_LT(distance(dense(z), X), 1e-13);
        }
      }
    }
}

TEST(Orthogonalize, TouchesOnlyWhatIsNotOrthogonal)
{
  const SpacePtr s = make_space({4, 5, 6, 3}, "dr");
  Train          x = random_train(s, {1, 3, 4, 2, 1}, 2);
  orthogonalize(x, 1);
  const std::vector<Scalar> first = whole_core(x, 0), last = whole_core(x, 3);
  orthogonalize(x, 2);
  EXPECT_EQ(whole_core(x, 0), first);
  EXPECT_EQ(whole_core(x, 3), last);
  x.core_rw(2); // what was known of core 2 is gone, not what was known of 0, 1 and 3
  EXPECT_EQ(x.left(), 2);
  EXPECT_EQ(x.right(), 1);
  const CommCounts before = Comm::counts();
  orthogonalize(x, 2);
  EXPECT_EQ(Comm::counts().messages, before.messages);
}

TEST(Orthogonalize, RanksShrinkToTheUnfoldings)
{
  // TT ranks above what the unfoldings allow, with modes smaller than the number of processes
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr         s = make_space({2, 3, 2}, kinds);
    const std::vector<Int> r = {1, 7, 9, 1};
    Train                  x(s);
    for (Int k = 0; k < 3; ++k) {
      Core c(r[k], s->n(k), r[k + 1]);
      for (Int b = 0; b < c.r1; ++b)
        for (Int i = 0; i < c.n; ++i)
          for (Int a = 0; a < c.r0; ++a) c(a, i, b) = gaussian(3, (std::uint64_t)k, (std::uint64_t)(a + c.r0 * (s->start(k) + i + s->N(k) * b)));
      x.set_core(k, std::move(c));
    }
    x.set_scale(Scaled(1));
    const Dense X = dense(x);
    Train       y = x, z = x;
    orthogonalize(y, 2);
    EXPECT_EQ(y.ranks(), (std::vector<Int>{1, 2, 6, 1})) << kinds;
    EXPECT_LT(distance(dense(y), X), 1e-13) << kinds;
    expect_orthogonality_as_claimed(y);
    orthogonalize(z, 0);
    EXPECT_EQ(z.ranks(), (std::vector<Int>{1, 6, 2, 1})) << kinds;
    EXPECT_LT(distance(dense(z), X), 1e-13) << kinds;
    expect_orthogonality_as_claimed(z);
    orthogonalize(y, 0);
    EXPECT_EQ(y.ranks(), (std::vector<Int>{1, 2, 2, 1})) << kinds;
    EXPECT_LT(distance(dense(y), X), 1e-13) << kinds;
  }
}

TEST(Orthogonalize, RankDeficientCores)
{
  for (const std::string &kinds : all_kinds()) {
    const SpacePtr s = make_space({6, 5, 7}, kinds);
    Train          x = random_train(s, {1, 4, 5, 1}, 4);
    for (Int k = 0; k < 3; ++k) { // equal and zero columns
      Core &c = x.core_rw(k);
      for (Int b = 1; b < c.r1; ++b)
        for (Int i = 0; i < c.n; ++i)
          for (Int a = 0; a < c.r0; ++a) c(a, i, b) = b % 2 ? c(a, i, 0) : Scalar(0);
    }
    const Dense X = dense(x);
    for (Int centre = 0; centre < 3; ++centre) {
      Train y = x;
      orthogonalize(y, centre);
      expect_orthogonality_as_claimed(y);
      EXPECT_LT(distance(dense(y), X), 1e-13) << kinds;
    }
  }
}

TEST(Orthogonalize, ScalesOfEveryCore)
{
  for (const std::string &kinds : all_kinds())
    for (int e : {150, -150, 300, -300}) {
      const SpacePtr s = make_space({3, 4, 5}, kinds);
      const Train    x = random_train(s, {1, 3, 4, 1}, 5);
      Train          y = x;
      for (Int k = 0; k < 3; ++k) {
        Core &c = y.core_rw(k);
        for (Count j = 0; j < c.count(); ++j) c.data()[j] *= std::pow((Real)10, (Real)e);
      }
      for (Int centre = 0; centre < 3; ++centre) {
        Train z = y;
        orthogonalize(z, centre);
        expect_orthogonality_as_claimed(z);
        const Scaled back = Scaled(Scalar(std::pow((Real)10, (Real)-e)));
        z.set_scale(z.scale() * back * back * back);
        EXPECT_LT(distance(dense(z), dense(x)), 1e-12) << kinds << e;
      }
    }
}

TEST(Orthogonalize, OneStepAndBadInput)
{
  const SpacePtr s = make_space({4, 5, 6}, "d");
  Train          x = random_train(s, {1, 3, 4, 1}, 6);
  const Dense    X = dense(x);
  orthogonalize_left(x, 0);
  EXPECT_EQ(x.left(), 1);
  orthogonalize_left(x, 1);
  EXPECT_EQ(x.left(), 2);
  EXPECT_TRUE(x.norm_is_one_core());
  orthogonalize_right(x, 2);
  EXPECT_EQ(x.right(), 1);
  EXPECT_LE(x.left(), 1);
  expect_orthogonality_as_claimed(x);
  EXPECT_LT(distance(dense(x), X), 1e-13);
  EXPECT_ERROR(orthogonalize(x, 3), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(orthogonalize(x, -1), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(orthogonalize_left(x, 2), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(orthogonalize_right(x, 0), PETSC_ERR_ARG_OUTOFRANGE);
}

TEST(Orthogonalize, ZeroStaysZero)
{
  Train x(make_space({4, 5, 6}, "d"));
  orthogonalize(x, 1);
  EXPECT_TRUE(x.is_zero());
  EXPECT_EQ(x.max_rank(), 1);
}

TEST(Orthogonalize, TheSameForAllNumbersOfProcesses)
{
  // what a rank decision may depend on: the Gram matrix of the centre is that of the unfolding, whoever owns what
  const std::vector<Int> N = {5, 9, 4};
  Train                  reference = random_train(make_space(N, "r"), {1, 5, 4, 1}, 7);
  const Dense            X         = dense(reference);
  const std::vector<Real> exact = singular_values(X, 1);
  for (const std::string &kinds : all_kinds()) {
    Train x = random_train(make_space(N, kinds), {1, 5, 4, 1}, 7);
    orthogonalize(x, 0);
    Dense centre({N[0], x.r(1)});
    centre.a = whole_core(x, 0);
    std::vector<Real> got = singular_values(centre, 1);
    for (std::size_t j = 0; j < got.size(); ++j) EXPECT_NEAR((double)(got[j] * petsctt::abs(x.scale().value())), (double)exact[j], 1e-12 * exact[0]) << kinds;
  }
}

namespace {

// The matrix (m x n or n x m) whose entries depend on global indices; `from` is the first long index of this process.
Buffer part(bool tall, Count from, Count m, Count n, Count total)
{
  Buffer a((std::size_t)(m * n));
  for (Count i = 0; i < m; ++i)
    for (Count j = 0; j < n; ++j) a[(std::size_t)(tall ? i + m * j : j + n * i)] = gaussian(8, (std::uint64_t)total, (std::uint64_t)((from + i) * n + j));
  return a;
}

} // namespace

TEST(Tsqr, AllShapes)
{
  const Comm comm(PETSC_COMM_WORLD);
  const int  P = comm.size();
  for (bool tall : {true, false})
    for (Count n : {1, 3, 8})
      for (Count total : {1, 2, 3, 7, 8, 9, 40, 100})
        for (int how = 0; how < 4; ++how) { // even, all on the last, alternating, replicated
          std::vector<Count> sizes(P, 0), starts(P + 1, 0);
          for (int p = 0; p < P; ++p) sizes[p] = how == 0 || how == 3 ? total / P + (total % P > p) : 0;
          if (how == 1) sizes[P - 1] = total;
          if (how == 2)
            for (Count i = 0; i < total; ++i) ++sizes[(2 * i + 1) % P];
          for (int p = 0; p < P; ++p) starts[p + 1] = starts[p] + sizes[p];
          const bool  replicated = how == 3;
          const Count m = replicated ? total : sizes[comm.rank()], from = replicated ? 0 : starts[comm.rank()];
          const Buffer A = part(tall, from, m, n, total);
          Buffer       F = A;
          Tsqr         f(comm, tall ? Tsqr::Shape::tall : Tsqr::Shape::wide, replicated ? std::vector<Count>() : sizes, m, n, F.data());
          const Count  p = std::min(total, n);
          ASSERT_EQ(f.p(), p);
          Buffer T((std::size_t)(p * n));
          if (f.at_root()) {
            ASSERT_EQ((Count)f.triangle().size(), p * n);
            T = f.triangle();
          }
          // Q times the triangle is A again
          Buffer QT((std::size_t)(m * n));
          f.apply(T.data(), n, QT.data());
          Real worst = 0;
          for (Count j = 0; j < m * n; ++j) worst = std::max(worst, petsctt::abs(QT[j] - A[j]));
          EXPECT_LT(worst, 1e-13) << "tall " << tall << " n " << n << " total " << total << " how " << how;
          // Q is orthonormal
          Buffer Q((std::size_t)(m * p)), G((std::size_t)(p * p));
          f.apply(nullptr, p, Q.data());
          for (Count a = 0; a < p; ++a)
            for (Count b = 0; b < p; ++b) {
              Scalar s = 0;
              for (Count i = 0; i < m; ++i)
                s += tall ? petsctt::conj(Q[i + m * a]) * Q[i + m * b] : Q[a + p * i] * petsctt::conj(Q[b + p * i]);
              G[a + p * b] = s;
            }
          if (!replicated) comm.sum(G.data(), p * p);
          worst = 0;
          for (Count a = 0; a < p; ++a)
            for (Count b = 0; b < p; ++b) worst = std::max(worst, petsctt::abs(G[a + p * b] - Scalar(a == b)));
          EXPECT_LT(worst, 1e-13) << "tall " << tall << " n " << n << " total " << total << " how " << how;
          // in place, where that is offered
          if (f.expand_in_place()) {
            worst = 0;
            for (Count j = 0; j < m * p; ++j) worst = std::max(worst, petsctt::abs(F[j] - Q[j]));
            EXPECT_LT(worst, 1e-14);
          }
        }
}

// ceil(log2 P) messages at most, and none for what every process holds.
TEST(Tsqr, Messages)
{
  const Comm comm(PETSC_COMM_WORLD);
  int        rounds = 0;
  while ((1 << rounds) < comm.size()) ++rounds;
  std::vector<Count> sizes(comm.size(), 10);
  Buffer             A = part(true, 10 * comm.rank(), 10, 4, 1000);
  const CommCounts   before = Comm::counts();
  Tsqr               f(comm, Tsqr::Shape::tall, sizes, 10, 4, A.data());
  EXPECT_LE(Comm::counts().messages - before.messages, comm.rank() ? 1 : 0) << "the triangle goes up once";
  EXPECT_LE(Comm::counts().words - before.words, 16);
  Buffer Q(40);
  f.apply(nullptr, 4, Q.data());
  EXPECT_LE(Comm::counts().messages - before.messages, rounds + 1);
  const Count sent = Comm::counts().messages;
  Buffer      B    = part(true, 0, 10, 4, 1000);
  Tsqr        g(comm, Tsqr::Shape::tall, {}, 10, 4, B.data());
  g.apply(nullptr, 4, Q.data());
  EXPECT_EQ(Comm::counts().messages, sent);
}
