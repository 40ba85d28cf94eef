// Triangles of tall matrices: preconditioned Cholesky and Householder blocks against the Gram matrix and against each other.
#include "dense.hpp"
#include "base/blas.hpp"
#include "tt/ops/local_r.hpp"
#include "tt/ops/panel.hpp"
#include "tt/ops/right_solve.hpp"
#include "tt/ops/sweep_rows.hpp"
#include "tt/random.hpp"

#include <limits>

using namespace petsctt;
using namespace petsctt::test;

namespace {

Buffer gaussian_matrix(Count m, Count n, std::uint64_t seed)
{
  Buffer A((std::size_t)(m * n));
  fill_gaussian(seed, 0, 0, m * n, A.data());
  return A;
}

// || A^H A - R^H R || relative to the norms of the columns: the largest entry of D^-1 (..) D^-1.
Real gram_difference(Count m, Count n, const Scalar *A, Count k, const Scalar *R)
{
  Buffer G((std::size_t)(n * n)), H((std::size_t)(n * n));
  gemm('C', 'N', n, n, m, 1, A, m, A, m, 0, G.data(), n);
  gemm('C', 'N', n, n, k, 1, R, k, R, k, 0, H.data(), n);
  Real worst = 0;
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      const Real d = std::sqrt(real(G[i + n * i])) * std::sqrt(real(G[j + n * j])), e = petsctt::abs(G[i + n * j] - H[i + n * j]);
      worst = std::max(worst, d > 0 ? e / d : e);
    }
  return worst;
}

// A matrix in memory as rows, with or without a sketch, as it is or transposed.
class Stored : public Rows {
public:
  Stored(Count m, Count n, const Scalar *A, bool transposed) : m_(m), n_(n), A_(A), transposed_(transposed) { }
  Count columns() const override { return n_; }
  Count units() const override { return m_; }
  bool  transposed() const override { return transposed_; }
  void  fill(Count first, Count count, Scalar *B) const override
  {
    for (Count j = 0; j < n_; ++j)
      for (Count i = 0; i < count; ++i)
        if (transposed_) B[j + n_ * i] = conj(A_[first + i + m_ * j]);
        else B[i + count * j] = A_[first + i + m_ * j];
  }
  bool sketch(Buffer &S, Count &rows) const override
  {
    rows = 3 * n_;
    S    = Buffer((std::size_t)(rows * n_));
    S.fill(0);
    for (Count j = 0; j < n_; ++j)
      for (Count i = 0; i < m_; ++i) S[i % rows + rows * j] += (i / rows * 7 % 3 ? Scalar(1) : Scalar(-1)) * A_[i + m_ * j];
    return true;
  }

private:
  Count         m_, n_;
  const Scalar *A_;
  bool          transposed_;
};

class NoSketch : public Stored {
public:
  using Stored::Stored;
  bool sketch(Buffer &, Count &) const override { return false; }
};

} // namespace

TEST(Panel, AgainstTheGramMatrix)
{
  for (Count w = 1; w <= panel_columns; ++w)
    for (Count m : {0, 1, 3, 8, 9, 31, 200}) {
      Buffer A = gaussian_matrix(m, w, 1), B(A), R = gaussian_matrix(w, w, 2);
      for (Count j = 0; j < w; ++j)
        for (Count i = j + 1; i < w; ++i) R[i + w * j] = 0;
      Buffer all((std::size_t)((m + w) * w));
      for (Count j = 0; j < w; ++j) {
        std::copy(R.data() + w * j, R.data() + w * (j + 1), all.data() + (m + w) * j);
        std::copy(A.data() + m * j, A.data() + m * (j + 1), all.data() + (m + w) * j + w);
      }
      Scalar tau[panel_columns];
      factor_panel(w, R.data(), w, m, B.data(), std::max<Count>(1, m), tau);
      EXPECT_LT(gram_difference(m + w, w, all.data(), w, R.data()), 1e-13) << w << " columns, " << m << " rows";
    }
}

TEST(RFactor, BlocksOfAnyHeight)
{
  for (Count n : {1, 7, 8, 9, 17, 40}) {
    const Count  m = 211;
    const Buffer A = gaussian_matrix(m, n, 3);
    for (Count step : {1, 5, 50, 211}) {
      RFactor f(n);
      for (Count i = 0; i < m; i += step) {
        const Count c = std::min(step, m - i);
        Buffer      B((std::size_t)(c * n));
        for (Count j = 0; j < n; ++j) std::copy(A.data() + i + m * j, A.data() + i + c + m * j, B.data() + c * j);
        f.add(c, B.data(), c);
      }
      EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-13) << n << " columns in steps of " << step;
      for (Count j = 0; j < n; ++j)
        for (Count i = j + 1; i < n; ++i) EXPECT_EQ(f.R()[i + n * j], Scalar(0));
    }
  }
}

// Columns from 1e-120 to 1e108, as cores of extreme scales give them.
TEST(RFactor, GradedColumns)
{
  const Count n = 20, m = 300;
  Buffer      A = gaussian_matrix(m, n, 4);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < m; ++i) A[i + m * j] *= std::pow((Real)10, 12 * ((Real)(j * 7 % 20) - 10));
  for (bool transposed : {false, true})
    for (int kind = 0; kind < 2; ++kind) {
      RFactor f(n);
      if (kind) add_local_r(Stored(m, n, A.data(), transposed), f);
      else add_local_r(NoSketch(m, n, A.data(), transposed), f);
      EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-12) << transposed << kind;
    }
}

TEST(RFactor, OverTheProcesses)
{
  const Comm comm(PETSC_COMM_WORLD);
  for (Count n : {3, 30})
    for (Count each : {0, 2, 100}) {
      const Count  mine = each * (comm.rank() % 2 ? 1 : 2), M = 400 * n;
      const Buffer A    = gaussian_matrix(mine, n, (std::uint64_t)(10 + comm.rank()));
      RFactor      f(n);
      Buffer       B(A), G((std::size_t)(n * n));
      f.add(mine, B.data(), mine);
      f.reduce(comm);
      gemm('C', 'N', n, n, mine, 1, A.data(), mine, A.data(), mine, 0, G.data(), n);
      comm.sum(G.data(), n * n);
      if (comm.rank()) continue;
      Buffer H((std::size_t)(n * n));
      gemm('C', 'N', n, n, n, 1, f.R(), n, f.R(), n, 0, H.data(), n);
      for (Count i = 0; i < n * n; ++i) EXPECT_LT(petsctt::abs(G[i] - H[i]), 1e-12 * (Real)M);
    }
}

// Singular values down to round-off, exactly dependent columns, zero columns: the triangle reproduces A x for the right singular vectors too, which
// a Cholesky factor of A^H A cannot below 1e-8.
TEST(LocalR, IllConditioned)
{
  const Count m = 900, n = 30;
  for (bool transposed : {false, true})
    for (Real ratio : {0.9, 0.6, 0.3, 0.1}) {
      Buffer Q = gaussian_matrix(m, n, 5), V = gaussian_matrix(n, n, 6), A((std::size_t)(m * n));
      std::vector<Scalar> tau((std::size_t)n);
      geqrf(m, n, Q.data(), m, tau.data());
      orgqr(m, n, Q.data(), m, tau.data());
      geqrf(n, n, V.data(), n, tau.data());
      orgqr(n, n, V.data(), n, tau.data());
      std::vector<Real> s((std::size_t)n);
      for (Count j = 0; j < n; ++j) {
        s[j] = std::pow(ratio, (Real)j);
        for (Count i = 0; i < m; ++i) Q[i + m * j] *= s[j];
      }
      gemm('N', 'C', m, n, n, 1, Q.data(), m, V.data(), n, 0, A.data(), m);
      RFactor f(n);
      add_local_r(Stored(m, n, A.data(), transposed), f);
      // || R v_j || = s_j up to round-off relative to s_0
      Buffer RV((std::size_t)(n * n));
      gemm('N', 'N', n, n, n, 1, f.R(), n, V.data(), n, 0, RV.data(), n);
      for (Count j = 0; j < n; ++j) EXPECT_NEAR((double)nrm2(n, RV.data() + n * j), (double)s[j], 2e-14) << transposed << " " << ratio << ", singular value " << j;
    }
}

TEST(LocalR, DependentAndZeroColumns)
{
  const Count m = 700, n = 26;
  Buffer      A = gaussian_matrix(m, n, 7);
  for (Count j = n / 2; j < n; ++j)
    for (Count i = 0; i < m; ++i) A[i + m * j] = j == n - 1 ? Scalar(0) : A[i + m * (j - n / 2)] * (Real)(1 + j);
  for (bool transposed : {false, true}) {
    RFactor f(n);
    add_local_r(Stored(m, n, A.data(), transposed), f);
    EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-13);
    for (Count j = n / 2; j + 1 < n; ++j) // R (e_j - (1 + j) e_(j-n/2)) = 0
      for (Count i = 0; i < n; ++i) EXPECT_LT(petsctt::abs(f.R()[i + n * j] - f.R()[i + n * (j - n / 2)] * (Real)(1 + j)), 1e-12 * (Real)(1 + j) * std::sqrt((Real)m));
  }
}

// Cholesky without a preconditioner takes independent columns of whatever lengths; of others, of lengths whose squares leave the range and of few rows
// it leaves nothing behind, and it is not tried again unless the rows were too few.
TEST(LocalR, CholeskyWhereItIsAccurate)
{
  const Count m = 500, n = 20;
  for (bool transposed : {false, true}) {
    bool   hopeful = true;
    Buffer A       = gaussian_matrix(m, n, 11);
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < m; ++i) A[i + m * j] *= std::pow((Real)10, (Real)(10 * j - 100));
    RFactor f(n);
    EXPECT_FALSE(add_local_cholesky(Stored(n, n, A.data(), transposed), f, hopeful));
    EXPECT_TRUE(hopeful);
    EXPECT_TRUE(add_local_cholesky(Stored(m, n, A.data(), transposed), f, hopeful));
    EXPECT_TRUE(hopeful);
    EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-13);
    EXPECT_TRUE(add_local_cholesky(Stored(m, n, A.data(), transposed), f, hopeful)); // once more: R^H R = 2 A^H A
    for (Count i = 0; i < n * n; ++i) f.R()[i] /= std::sqrt((Real)2);
    EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-13);
    for (int bad = 0; bad < 4; ++bad) {
      Buffer B = gaussian_matrix(m, n, 12);
      for (Count i = 0; i < m; ++i) {
        if (bad == 0) B[i + m * 7] = B[i + m * 3] + Scalar(1e-3) * B[i + m * 7];
        if (bad == 1) B[i + m * 7] *= 1e160;
        if (bad == 2) B[i + m * 7] *= 1e-160;
        if (bad == 3) B[i + m * 7] = i == 5 ? std::numeric_limits<Real>::quiet_NaN() : 0;
      }
      RFactor g(n);
      hopeful = true;
      EXPECT_FALSE(add_local_cholesky(Stored(m, n, B.data(), transposed), g, hopeful)) << bad;
      EXPECT_FALSE(hopeful);
      for (Count i = 0; i < n * n; ++i) EXPECT_EQ(g.R()[i], Scalar(0));
      EXPECT_FALSE(add_local_cholesky(Stored(m, n, A.data(), transposed), g, hopeful));
    }
  }
}

// Rows that cancel in the sketch: what it does not see must be found by the check.
TEST(LocalR, SketchThatMisses)
{
  const Count m = 3 * 24 * 8, n = 24; // rows i and i + 72 k go into the same sum
  Buffer      A = gaussian_matrix(m, n, 8);
  for (Count i = 0; i < m; ++i) A[i + m * 5] = 0;
  A[0 + m * 5]        = 1;  // signs of i / 72 = 0 and 3 are -1: they cancel with opposite entries
  A[3 * 72 + m * 5]   = -1;
  for (bool transposed : {false, true}) {
    RFactor f(n);
    add_local_r(Stored(m, n, A.data(), transposed), f);
    EXPECT_LT(gram_difference(m, n, A.data(), n, f.R()), 1e-12);
  }
}

TEST(LocalR, NotFinite)
{
  const Count m = 500, n = 20;
  Buffer      A = gaussian_matrix(m, n, 9);
  A[77 + m * 3] = std::numeric_limits<Real>::quiet_NaN();
  for (bool transposed : {false, true}) {
    RFactor f(n);
    add_local_r(Stored(m, n, A.data(), transposed), f);
    bool all = true;
    for (Count i = 0; i < n * n; ++i) all = all && is_finite(f.R()[i]);
    EXPECT_FALSE(all);
  }
}

// Backward error of B R^-1 relative to |B| times the norm of each column of R: graded columns, graded rows, dependent columns, Kahan's triangle.
TEST(LocalR, RightSolve)
{
  enum { gaussian, columns, rows, dependent, kahan };
  for (int kind : {gaussian, columns, rows, dependent, kahan})
    for (Count n : {1, 5, 16, 17, 40, 100}) {
      const Count m = 37, ldb = m + 3;
      Buffer      A = gaussian_matrix(3 * n, n, 11);
      if (kind == dependent)
        for (Count j = 1; j < n; ++j)
          for (Count i = 0; i < 3 * n; ++i) A[i + 3 * n * j] = A[i] + A[i + 3 * n * j] * (Real)1e-7;
      RFactor f(n);
      f.add(3 * n, A.data(), 3 * n);
      Buffer R((std::size_t)(n * n));
      R.fill(0);
      for (Count j = 0; j < n; ++j)
        for (Count i = 0; i <= j; ++i) {
          R[i + n * j] = f.R()[i + n * j];
          if (kind == columns) R[i + n * j] *= std::pow((Real)10, (Real)((7 * j) % 60 - 30));
          if (kind == rows) R[i + n * j] *= std::pow((Real)10, -(Real)i / 8);
          if (kind == kahan) R[i + n * j] = std::pow((Real)0.6, (Real)i) * (i == j ? (Real)1 : (Real)-0.8);
        }
      const RightSolve solve(n, R.data());
      if (kind == gaussian || kind == columns) { EXPECT_EQ(solve.inverted(), n); }
      if (kind == kahan && n > 40) { EXPECT_LT(solve.inverted(), n); }
      Buffer B = gaussian_matrix(ldb, n, 12), X((std::size_t)(ldb * n));
      std::copy(B.data(), B.data() + ldb * n, X.data());
      solve.apply(m, X.data(), ldb);
      for (Count j = 0; j < n; ++j)
        for (Count i = m; i < ldb; ++i) EXPECT_EQ(X[i + ldb * j], B[i + ldb * j]);
      Buffer Y((std::size_t)(m * n));
      gemm('N', 'N', m, n, n, 1, X.data(), ldb, R.data(), n, 0, Y.data(), m);
      Real size = 0;
      for (Count j = 0; j < n; ++j) size += std::pow(nrm2(m, X.data() + ldb * j), 2);
      for (Count j = 0; j < n; ++j) {
        Real error = 0;
        for (Count i = 0; i < m; ++i) error += abs2(Y[i + m * j] - B[i + ldb * j]);
        EXPECT_LE(std::sqrt(error), 20 * std::numeric_limits<Real>::epsilon() * std::sqrt(size) * nrm2(n, R.data() + n * j)) << "kind " << kind << ", n " << n << ", column " << j;
      }
    }
}
