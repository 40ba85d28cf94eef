#include "tt/ops/local_r.hpp"

#include "tt/blas.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

constexpr Count min_columns  = 24;    // with fewer, small products are as slow as reflectors
constexpr Count min_rows     = 8;     // times the columns: what a sketch and its triangle cost must not show
constexpr Real  singular     = 1e-9;  // diagonal over norm of the column: R0 must have this to precondition with
constexpr Real  ill          = 1e-2;  // diagonal of R1 over the largest: the condition of B is then far below what Cholesky needs

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

// G (upper triangle) := beta G + B^H B for a block, which is divided by R0 from the right first if there is one.
void add_block(const Rows &rows, Count first, Count count, const Scalar *R0, Scalar *B, Scalar *G, Real beta)
{
  const Count n = rows.columns(), m = count * rows.unit();
  rows.fill(first, count, B);
  if (rows.transposed()) {
    if (R0) trsm('L', 'U', 'C', 'N', n, m, 1, R0, n, B, n);
    gram_rows(n, m, B, n, beta, G, n);
  } else {
    if (R0) trsm('R', 'U', 'N', 'N', m, n, 1, R0, n, B, m);
    gram(m, n, B, m, beta, G, n);
  }
}

void add_blocks(const Rows &rows, const Scalar *R0, Scalar *G)
{
  const Count n = rows.columns(), step = rows.block_units(RFactor::block_rows(n));
  Buffer      B((std::size_t)(step * rows.unit() * n));
  std::fill(G, G + n * n, Scalar(0));
  for (Count i = 0; i < rows.units(); i += step) add_block(rows, i, std::min(step, rows.units() - i), R0, B.data(), G, i ? 1 : 0);
}

// Smallest diagonal entry of an upper triangle relative to the norm of its column; 0 when something is not finite.
Real smallest_diagonal(Count n, const Scalar *R)
{
  Real least = 1;
  for (Count j = 0; j < n; ++j) {
    Real norm2 = 0;
    for (Count i = 0; i <= j; ++i) norm2 += abs2(R[i + n * j]);
    const Real ratio = petsctt::abs(R[j + n * j]) / std::sqrt(norm2);
    if (!(ratio <= 1 + 1e-6) || !is_finite(norm2)) return 0; // NaN, or a column of zeros
    least = std::min(least, ratio);
  }
  return least;
}

// R1 R0 into R; false when it would not be accurate.
bool preconditioned(const Rows &rows, Buffer &R)
{
  const Count n = rows.columns();
  Buffer      S;
  Count       s = 0;
  if (!rows.sketch(S, s)) return false;
  RFactor f0(n);
  f0.add(s, S.data(), s);
  const Scalar *R0 = f0.R();
  if (smallest_diagonal(n, R0) < singular) return false;

  Buffer G((std::size_t)(n * n));
  add_blocks(rows, R0, G.data());
  for (Count j = 0; j < n; ++j)
    for (Count i = j + 1; i < n; ++i) G[i + n * j] = 0;
  for (Count i = 0; i < n * n; ++i)
    if (!is_finite(G[i])) return false;
  if (potrf(n, G.data(), n) != 0) return false;
  Real least = real(G[0]), most = least;
  for (Count j = 0; j < n; ++j) {
    least = std::min(least, real(G[j + n * j]));
    most  = std::max(most, real(G[j + n * j]));
  }
  if (!(least > ill * most)) return false;
  R = std::move(G);
  trmm('R', 'U', 'N', 'N', n, n, 1, R0, n, R.data(), n);
  for (Count j = 0; j < n; ++j)
    for (Count i = j + 1; i < n; ++i) R[i + n * j] = 0; // trmm left the lower triangle as zeros times numbers
  return true;
}

} // namespace

void add_local_r(const Rows &rows, RFactor &f)
{
  const Count n = rows.columns();
  Buffer      R;
  if (n >= min_columns && rows.rows() >= min_rows * n && preconditioned(rows, R)) f.add(n, R.data(), n);
  else householder(rows, f);
}

void local_gram(const Rows &rows, Scalar *G)
{
  add_blocks(rows, nullptr, G);
}

void conjugate_transpose(Count rows, Count columns, const Scalar *from, Scalar *to)
{
  constexpr Count tile = 16;
  for (Count j0 = 0; j0 < columns; j0 += tile)
    for (Count i0 = 0; i0 < rows; i0 += tile)
      for (Count j = j0; j < std::min(j0 + tile, columns); ++j)
        for (Count i = i0; i < std::min(i0 + tile, rows); ++i) to[j + columns * i] = conj(from[i + rows * j]);
}

} // namespace petsctt
