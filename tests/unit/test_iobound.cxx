// Lower bounds against the closed forms of the literature (arXiv 2010.05975) and of hand calculation.
#include "iobound/program.hpp"

#include <gtest/gtest.h>

#include <cmath>

using namespace petsctt::iobound;

static void near(double value, double expected, double relative = 1e-5)
{
  EXPECT_NEAR(value / expected, 1, relative);
}

TEST(IOBound, MatrixProduct)
{
  const Statement s = matmul(1).statements[0];
  for (double X : {30.0, 3e3, 3e8}) near(largest_part(s, X).executions, std::pow(X / 3, 1.5));
  for (double M : {100.0, 1e4, 1e8}) {
    const Intensity i = intensity(s, M);
    near(i.rho, std::sqrt(M) / 2);
    near(i.X0, 3 * M, 1e-3);
    near(lower_bound(matmul(5000), M).Q, 2 * std::pow(5000., 3) / std::sqrt(M));
  }
}

// Two statements that share an input and whose outputs nobody reads: D_k stays at its bound 1.
TEST(IOBound, InputReuse)
{
  const double  N = 300, M = 1000;
  const Program p = {"two", {{"first", 3, {{"A", {0, 2}}, {"B", {2, 1}}}, N * N * N}, {"second", 3, {{"B", {2, 1}}, {"C", {0, 2}}}, N * N * N}}};
  near(largest_part(p.statements[0], 50).executions, 25. * 25.);
  const Bound b = lower_bound(p, M);
  for (int s = 0; s < 2; ++s) {
    near(b.intensities[(std::size_t)s].X0, 2 * M, 1e-3);
    near(b.intensities[(std::size_t)s].rho, M);
    near(b.each[(std::size_t)s], N * N * N / M);
  }
  near(b.reuse, N * N * N / M, 1e-3);
  near(b.Q, N * N * N / M, 1e-3);
}

TEST(IOBound, LU)
{
  for (double N : {64., 4096.})
    for (double M : {256., 1e6}) near(lower_bound(lu(N), M).Q, (2 * N * N * N - 6 * N * N + 4 * N) / (3 * std::sqrt(M)) + N * (N - 1) / 2);
  // a column statement alone: every entry is read once and used once
  near(intensity(lu(100).statements[0], 1000).rho, 1);
}

TEST(IOBound, Cholesky)
{
  const double N = 1e6, M = 1e4;
  near(lower_bound(cholesky(N), M).Q, N * N * N / (3 * std::sqrt(M)), 1e-3);
}

// Kernels of tensor trains are matrix products in disguise.
TEST(IOBound, TensorTrains)
{
  const double n = 1000, r = 100, M = 1e4;
  near(lower_bound(tt_apply(n, r), M).Q, 2 * n * n * r * r / std::sqrt(M));
  // T is computed where it is used: with rho = sqrt(M)/2 of the first statement an element of T costs 2/sqrt(M) words; psi of the second is then
  // larger by the root of the inverse of that
  const Program g = tt_gram(n, r, M);
  near(g.statements[1].inputs[2].weight, 2 / std::sqrt(M));
  const Bound b = lower_bound(g, M);
  near(b.each[0], 2 * n * r * r * r / std::sqrt(M));
  near(b.each[1], 2 * n * r * r * r / std::sqrt(M) * std::sqrt(2 / std::sqrt(M)));
  EXPECT_GE(b.Q, std::max(b.each[0], b.each[1]) * (1 - 1e-9));
  EXPECT_LE(b.Q, b.each[0] + b.each[1]);
  const Bound q = lower_bound(qr_update(1e6, 100), M);
  near(q.each[0] + q.each[1], 2 * 1e6 * 100 * 99 / std::sqrt(M));
  near(q.reuse, 1e6 * 100 * 99 / 2 / std::sqrt(M), 1e-2); // V, which both read
}

TEST(IOBound, Corners)
{
  const Statement m = matmul(10).statements[0];
  EXPECT_EQ(largest_part(m, 2).executions, 1); // not even one execution's inputs
  EXPECT_EQ(largest_part(m, 3).executions, 1);
  const Statement free = {"free", 2, {{"A", {0}}}, 100}; // the second variable costs nothing
  EXPECT_TRUE(std::isinf(largest_part(free, 10).executions));
  // psi = X: rho is a limit, X_0 infinite
  const Statement copy = {"copy", 1, {{"A", {0}}}, 1e6};
  EXPECT_TRUE(std::isinf(intensity(copy, 100).X0));
  near(intensity(copy, 100).rho, 1);
  // matrix times vector: D_i = D_j = sqrt(X + 1) - 1, psi / (X - M) least at sqrt(X) = M/2 + ...: below 1 by a little
  const Statement mv = {"matvec", 2, {{"y", {0}}, {"A", {0, 1}}, {"x", {1}}}, 1e6};
  const Intensity i  = intensity(mv, 100);
  near(i.part.D[0], std::sqrt(i.X0 + 1) - 1, 1e-4);
  near(i.rho, std::pow(std::sqrt(i.X0 + 1) - 1, 2) / (i.X0 - 100), 1e-6);
  EXPECT_LT(i.rho, 1);
  EXPECT_TRUE(lower_bound({"none", {}}, 10).Q == 0);
}
