#include "tt/ops/reflectors.hpp"

#include "base/blas.hpp"
#include "base/buffer.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr Count narrow = 8; // up to so many columns LAPACK is as fast

// The leading k x k block of the reflectors with the other triangle cleared. tau = 0 stands for the identity: its reflector has no other
// entries, and without the one on the diagonal it drops out of all products.
Buffer leading_block(bool tall, Count k, const Scalar *A, Count lda, const Scalar *tau)
{
  Buffer v((std::size_t)(k * k));
  for (Count j = 0; j < k; ++j)
    for (Count i = 0; i < k; ++i) {
      const bool stored = tall ? i > j : i < j;
      v[(std::size_t)(i + k * j)] = stored ? A[i + lda * j] : Scalar(i == j && tau[i] != Scalar(0) ? 1 : 0);
    }
  return v;
}

// T^-1 in the upper triangle, from the leading block and what comes after it in A.
Buffer inverse_t(bool tall, Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, const Buffer &V)
{
  Buffer        t((std::size_t)(k * k));
  const Scalar *rest = tall ? A + k : A + k * lda;
  const char    a = tall ? 'C' : 'N', b = tall ? 'N' : 'C';
  gemm(a, b, k, k, k, 1, V.data(), k, V.data(), k, 0, t.data(), k);
  gemm(a, b, k, k, m - k, 1, rest, lda, rest, lda, 1, t.data(), k);
  for (Count i = 0; i < k; ++i) t[(std::size_t)(i + k * i)] = tau[i] == Scalar(0) ? Scalar(1) : Scalar(1) / tau[i];
  return t;
}

// C (m x c, lda) := (I - V T^H V^H) C for the first k reflectors.
void update_tall(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, Scalar *C)
{
  const Buffer V = leading_block(true, k, A, lda, tau), T = inverse_t(true, m, k, A, lda, tau, V);
  Buffer       W((std::size_t)(k * c));
  gemm('C', 'N', k, c, k, 1, V.data(), k, C, lda, 0, W.data(), k);
  gemm('C', 'N', k, c, m - k, 1, A + k, lda, C + k, lda, 1, W.data(), k);
  trsm('L', 'U', 'C', 'N', k, c, 1, T.data(), k, W.data(), k);
  gemm('N', 'N', k, c, k, -1, V.data(), k, W.data(), k, 1, C, lda);
  gemm('N', 'N', m - k, c, k, -1, A + k, lda, W.data(), k, 1, C + k, lda);
}

// C (c x m, lda) := C (I - Y^H T Y), Y = V^H.
void update_wide(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, Scalar *C)
{
  const Buffer  Y = leading_block(false, k, A, lda, tau), T = inverse_t(false, m, k, A, lda, tau, Y);
  Buffer        W((std::size_t)(k * c));
  const Scalar *Y2 = A + k * lda;
  gemm('N', 'C', c, k, k, 1, C, lda, Y.data(), k, 0, W.data(), c);
  gemm('N', 'C', c, k, m - k, 1, C + k * lda, lda, Y2, lda, 1, W.data(), c);
  trsm('R', 'U', 'N', 'N', c, k, 1, T.data(), k, W.data(), c);
  gemm('N', 'N', c, k, k, -1, W.data(), c, Y.data(), k, 1, C, lda);
  gemm('N', 'N', c, m - k, k, -1, W.data(), c, Y2, lda, 1, C + k * lda, lda);
}

// A few rows, far apart in memory: their conjugate transpose is factored in contiguous columns. A^H = H_1 H_2 ... R has the reflectors of
// A = L (H_1 H_2 ...)^H, and gelqf stores them conjugated in rows.
void factor_wide_narrow(Count m, Count n, Scalar *A, Count lda, Scalar *tau)
{
  Buffer t((std::size_t)(m * n));
  for (Count j = 0; j < m; ++j)
    for (Count i = 0; i < n; ++i) t[(std::size_t)(j + m * i)] = conj(A[i + lda * j]);
  geqrf(m, n, t.data(), m, tau);
  for (Count j = 0; j < m; ++j)
    for (Count i = 0; i < n; ++i) A[i + lda * j] = conj(t[(std::size_t)(j + m * i)]);
}

// In pieces of the long dimension that stay in cache.
Count piece_of(Count k)
{
  return std::max<Count>(64, (Count(1) << 15) / std::max<Count>(1, k));
}

} // namespace

void factor_tall(Count m, Count n, Scalar *A, Count lda, Scalar *tau)
{
  if (n <= narrow || m <= narrow) {
    geqrf(m, n, A, lda, tau);
    return;
  }
  const Count k = std::min(m, n / 2);
  factor_tall(m, k, A, lda, tau);
  update_tall(m, k, A, lda, tau, n - k, A + k * lda);
  if (m > k) factor_tall(m - k, n - k, A + k + k * lda, lda, tau + k);
}

void factor_wide(Count m, Count n, Scalar *A, Count lda, Scalar *tau)
{
  if (n <= narrow || m <= narrow) {
    factor_wide_narrow(m, n, A, lda, tau);
    return;
  }
  const Count k = std::min(m, n / 2);
  factor_wide(m, k, A, lda, tau);
  update_wide(m, k, A, lda, tau, n - k, A + k);
  if (m > k) factor_wide(m - k, n - k, A + k + k * lda, lda, tau + k);
}

void times_leading_tall(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, const Scalar *C, Scalar *out)
{
  if (m == 0 || c == 0) return;
  const Buffer V = leading_block(true, k, A, lda, tau), T = inverse_t(true, m, k, A, lda, tau, V);
  Buffer       W((std::size_t)(k * c)); // T V^H [C; 0]
  gemm('C', 'N', k, c, k, 1, V.data(), k, C, k, 0, W.data(), k);
  trsm('L', 'U', 'N', 'N', k, c, 1, T.data(), k, W.data(), k);
  for (Count j = 0; j < c; ++j) std::copy(C + k * j, C + k * (j + 1), out + m * j);
  gemm('N', 'N', k, c, k, -1, V.data(), k, W.data(), k, 1, out, m);
  gemm('N', 'N', m - k, c, k, -1, A + k, lda, W.data(), k, 0, out + k, m);
}

void times_leading_wide(Count m, Count k, const Scalar *A, Count lda, const Scalar *tau, Count c, const Scalar *C, Scalar *out)
{
  if (m == 0 || c == 0) return;
  const Buffer Y = leading_block(false, k, A, lda, tau), T = inverse_t(false, m, k, A, lda, tau, Y);
  Buffer       W((std::size_t)(k * c)); // [C 0] Y^H T^H
  gemm('N', 'C', c, k, k, 1, C, c, Y.data(), k, 0, W.data(), c);
  trsm('R', 'U', 'C', 'N', c, k, 1, T.data(), k, W.data(), c);
  std::copy(C, C + c * k, out);
  gemm('N', 'N', c, k, k, -1, W.data(), c, Y.data(), k, 1, out, c);
  gemm('N', 'N', c, m - k, k, -1, W.data(), c, A + k * lda, lda, 0, out + c * k, c);
}

void expand_tall(Count m, Count k, Scalar *A, Count lda, const Scalar *tau)
{
  if (k == 0) return;
  const Buffer V = leading_block(true, k, A, lda, tau), T = inverse_t(true, m, k, A, lda, tau, V);
  const Count  piece = std::min(m, piece_of(k));
  Buffer       W((std::size_t)(k * k)), rows((std::size_t)(piece * k)); // W = T V^H on the leading block
  for (Count j = 0; j < k; ++j)
    for (Count i = 0; i < k; ++i) W[(std::size_t)(i + k * j)] = conj(V[(std::size_t)(j + k * i)]);
  trsm('L', 'U', 'N', 'N', k, k, 1, T.data(), k, W.data(), k);
  for (Count i = k; i < m; i += piece) {
    const Count b = std::min(piece, m - i);
    for (Count j = 0; j < k; ++j) std::copy(A + i + lda * j, A + i + b + lda * j, rows.data() + b * j);
    gemm('N', 'N', b, k, k, -1, rows.data(), b, W.data(), k, 0, A + i, lda);
  }
  gemm('N', 'N', k, k, k, -1, V.data(), k, W.data(), k, 0, A, lda);
  for (Count i = 0; i < k; ++i) A[i + lda * i] += Scalar(1);
}

void expand_wide(Count m, Count k, Scalar *A, Count lda, const Scalar *tau)
{
  if (k == 0) return;
  const Buffer Y = leading_block(false, k, A, lda, tau), T = inverse_t(false, m, k, A, lda, tau, Y);
  const Count  piece = std::min(m, piece_of(k));
  Buffer       W((std::size_t)(k * k)), columns((std::size_t)(piece * k)); // W = Y^H T^H on the leading block
  for (Count j = 0; j < k; ++j)
    for (Count i = 0; i < k; ++i) W[(std::size_t)(i + k * j)] = conj(Y[(std::size_t)(j + k * i)]);
  trsm('R', 'U', 'C', 'N', k, k, 1, T.data(), k, W.data(), k);
  for (Count j = k; j < m; j += piece) {
    const Count b = std::min(piece, m - j);
    for (Count i = 0; i < b; ++i) std::copy(A + lda * (j + i), A + lda * (j + i) + k, columns.data() + k * i);
    gemm('N', 'N', k, b, k, -1, W.data(), k, columns.data(), k, 0, A + lda * j, lda);
  }
  gemm('N', 'N', k, k, k, -1, W.data(), k, Y.data(), k, 0, A, lda);
  for (Count i = 0; i < k; ++i) A[i + lda * i] += Scalar(1);
}

} // namespace petsctt
