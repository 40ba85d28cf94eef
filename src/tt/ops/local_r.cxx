#include "tt/ops/local_r.hpp"

#include "base/blas.hpp"
#include "tt/ops/right_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace petsctt {

namespace {

constexpr Count min_columns = 12;   // with fewer, reflectors are as fast as small products
constexpr Count min_rows    = 8;    // times the columns: what a sketch and its triangle cost must not show
constexpr Count substitute  = 64;   // columns from which on substitution is faster than multiplication by P for transposed blocks
constexpr Real  regular     = 1e-9; // diagonal over norm of the column: R0 must have this for substitution
constexpr Real  dependent   = 64 * std::numeric_limits<Real>::epsilon();
constexpr Real  ill         = 1e-2; // least over largest diagonal of a Cholesky factor: the condition is then far below what Cholesky needs
constexpr Real  independent = 0.25; // least diagonal of a Cholesky factor over the length of its column: Cholesky is then as accurate as reflectors
constexpr Real  missed      = 1e4;  // squared norm of a column of B that was to be round-off
// squared length of a column whose squares do not underflow
constexpr Real smallest2 = std::numeric_limits<Real>::min() / (std::numeric_limits<Real>::epsilon() * std::numeric_limits<Real>::epsilon());

void householder(const Rows &rows, RFactor &f)
{
  const Count n = rows.columns(), step = rows.block_units(RFactor::block_rows(n));
  Buffer      B((std::size_t)(step * rows.unit() * n)), T(rows.transposed() ? B.size() : 0);
  for (Count i = 0; i < rows.units(); i += step) {
    const Count c = std::min(step, rows.units() - i), m = c * rows.unit();
    if (rows.transposed()) {
      rows.fill(i, c, T.data());
      conjugate_transpose(n, m, T.data(), B.data());
    } else rows.fill(i, c, B.data());
    f.add(m, B.data(), m);
  }
}

// What the rows are multiplied by from the right: R0^-1, by substitution, or P, or nothing.
struct Preconditioner {
  const RightSolve *R0 = nullptr;
  const Scalar     *P  = nullptr;
};

// G (upper triangle) := B^H B, B the rows times the preconditioner.
void add_blocks(const Rows &rows, const Preconditioner &by, Scalar *G)
{
  const Count n = rows.columns(), step = rows.block_units(RFactor::block_rows(n));
  const bool  turn = rows.transposed() && by.R0; // BLAS solves from the right much faster: its kernels have a small triangle there
  Buffer      B((std::size_t)(step * rows.unit() * n)), T(by.P || turn ? B.size() : 0);
  std::fill(G, G + n * n, Scalar(0));
  for (Count i = 0; i < rows.units(); i += step) {
    const Count c = std::min(step, rows.units() - i), m = c * rows.unit();
    const Real  beta = i ? 1 : 0;
    rows.fill(i, c, T.size() ? T.data() : B.data());
    if (turn) conjugate_transpose(n, m, T.data(), B.data());
    if (rows.transposed() && !turn) {
      if (by.P) gemm('C', 'N', n, m, n, 1, by.P, n, T.data(), n, 0, B.data(), n);
      gram_rows(n, m, B.data(), n, beta, G, n);
    } else {
      if (by.P) gemm('N', 'N', m, n, n, 1, T.data(), m, by.P, n, 0, B.data(), m);
      if (by.R0) by.R0->apply(m, B.data(), m);
      gram(m, n, B.data(), m, beta, G, n);
    }
  }
}

bool finite(Count n, const Scalar *a)
{
  for (Count i = 0; i < n; ++i)
    if (!is_finite(a[i])) return false;
  return true;
}

// Smallest diagonal entry of an upper triangle relative to the norm of its column.
Real smallest_diagonal(Count n, const Scalar *R, std::vector<Real> &norms)
{
  Real least = 1;
  norms.resize((std::size_t)n);
  for (Count j = 0; j < n; ++j) {
    Real norm2 = 0;
    for (Count i = 0; i <= j; ++i) norm2 += abs2(R[i + n * j]);
    norms[j] = std::sqrt(norm2);
    least    = std::min(least, norms[j] > 0 ? petsctt::abs(R[j + n * j]) / norms[j] : Real(0));
  }
  return least;
}

// Cholesky factor of the leading k x k block of G; false unless B's leading columns were clearly independent.
bool well_conditioned(Count n, Count k, Buffer F)
{
  if (potrf(k, F.data(), n) != 0) return false;
  Real least = real(F[0]), most = least;
  for (Count j = 0; j < k; ++j) {
    least = std::min(least, real(F[j + n * j]));
    most  = std::max(most, real(F[j + n * j]));
  }
  return least > ill * most;
}

// M := Cholesky factor of A^H A for the rows A; false unless every column is well away from the span of those before it. Scaling the columns
// changes nothing (van der Sluis 1969), so that their lengths may differ.
bool cholesky(const Rows &rows, Buffer &M)
{
  const Count n = rows.columns();
  M             = Buffer((std::size_t)(n * n));
  local_gram(rows, M.data());
  std::vector<Real> length2((std::size_t)n);
  for (Count j = 0; j < n; ++j) {
    length2[j] = real(M[j + n * j]);
    if (!(length2[j] > smallest2 && length2[j] < 1 / smallest2)) return false; // NaN as well
  }
  if (potrf(n, M.data(), n) != 0) return false;
  for (Count j = 0; j < n; ++j)
    if (!(abs2(M[j + n * j]) > independent * independent * length2[j])) return false;
  for (Count j = 0; j < n; ++j)
    for (Count i = j + 1; i < n; ++i) M[i + n * j] = 0;
  return finite(n * n, M.data());
}

// M (n x n, upper triangular or not) with M^H M = A^H A for the rows A; false when it would not be accurate.
bool preconditioned(const Rows &rows, Buffer &M, bool &triangular)
{
  const Count n = rows.columns();
  Buffer      S, G((std::size_t)(n * n));
  Count       s = 0;
  if (!rows.sketch(S, s)) return false;
  RFactor f0(n);
  f0.add(s, S.data(), s);
  const Scalar     *R0 = f0.R();
  std::vector<Real> D;
  if (!finite(n * n, R0)) return false;
  const Real least = smallest_diagonal(n, R0, D);
  for (Real &d : D) {
    if (!is_finite(d)) return false;
    if (d == 0) d = 1;
  }
  if (least >= (rows.transposed() && n < substitute ? Real(2) : regular)) {
    const RightSolve solve(n, R0);
    add_blocks(rows, {&solve, nullptr}, G.data());
    if (!finite(n * n, G.data()) || !well_conditioned(n, n, G) || potrf(n, G.data(), n) != 0) return false;
    for (Count j = 0; j < n; ++j)
      for (Count i = j + 1; i < n; ++i) G[i + n * j] = 0;
    M = std::move(G);
    trmm('R', 'U', 'N', 'N', n, n, 1, R0, n, M.data(), n);
    triangular = true;
    return true;
  }
  // P = D^-1 V / s with R0 D^-1 = U s V^H, small s replaced by a multiple of round-off: columns of B that belong to them show what the sketch
  // took for dependent. |P| |P^-1| <= |V| |V^H|, so that multiplying by P is backward stable whatever the condition of R0.
  Buffer            A((std::size_t)(n * n)), U((std::size_t)(n * n)), VT((std::size_t)(n * n)), P((std::size_t)(n * n));
  std::vector<Real> sv((std::size_t)n);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) A[i + n * j] = R0[i + n * j] / D[j];
  if (!gesvd(n, n, A.data(), n, sv.data(), U.data(), VT.data()) || !(sv[0] > 0)) return false;
  Count good = 0;
  while (good < n && sv[good] > dependent * sv[0]) ++good;
  for (Count j = good; j < n; ++j) sv[j] = dependent * sv[0];
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) P[i + n * j] = conj(VT[j + n * i]) / (sv[j] * D[i]);
  add_blocks(rows, {nullptr, P.data()}, G.data());
  if (!finite(n * n, G.data()) || !well_conditioned(n, good, G)) return false;
  for (Count j = good; j < n; ++j)
    if (!(real(G[j + n * j]) <= missed)) return false; // the sketch has missed something
  // M = G^(1/2) P^-1, P^-1 = s V^H D
  std::vector<Real> lambda((std::size_t)n);
  if (!eigen(n, G.data(), lambda.data())) return false;
  for (Count j = 0; j < n; ++j) {
    const Real f = std::sqrt(std::max<Real>(0, lambda[j]));
    for (Count i = 0; i < n; ++i) A[j + n * i] = f * sv[i] * conj(G[i + n * j]); // Lambda^(1/2) Y^H s
  }
  M = Buffer((std::size_t)(n * n));
  gemm('N', 'N', n, n, n, 1, A.data(), n, VT.data(), n, 0, M.data(), n);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) M[i + n * j] *= D[j];
  return true;
}

} // namespace

bool add_local_cholesky(const Rows &rows, RFactor &f, bool &hopeful)
{
  const Count n = rows.columns();
  Buffer      R;
  if (!hopeful || n < min_columns || rows.rows() < min_rows * n) return false;
  hopeful = cholesky(rows, R);
  if (hopeful) f.add_triangle(R.data());
  return hopeful;
}

void add_local_r(const Rows &rows, RFactor &f)
{
  const Count n          = rows.columns();
  bool        triangular = false;
  Buffer      R;
  if (n < min_columns || rows.rows() < min_rows * n || !preconditioned(rows, R, triangular)) householder(rows, f);
  else if (triangular) f.add_triangle(R.data());
  else f.add(n, R.data(), n);
}

void local_gram(const Rows &rows, Scalar *G)
{
  add_blocks(rows, {}, G);
}

void conjugate_transpose(Count rows, Count columns, const Scalar *from, Scalar *to)
{
  constexpr Count tile = 16;
  for (Count j0 = 0; j0 < columns; j0 += tile)
    for (Count i0 = 0; i0 < rows; i0 += tile) {
      const Count j1 = std::min(j0 + tile, columns), i1 = std::min(i0 + tile, rows);
      for (Count i = i0; i < i1; ++i)
        for (Count j = j0; j < j1; ++j) to[j + columns * i] = conj(from[i + rows * j]);
    }
}

} // namespace petsctt
