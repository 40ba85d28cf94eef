#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/evaluate.hpp"

#include <algorithm>

namespace petsctt {

static void check_index(const Space &space, Int k, Int i, Int j)
{
  PETSCTT_REQUIRE(i >= 0 && i < space.N(k), PETSC_ERR_ARG_OUTOFRANGE, "Index %lld of entry %lld in mode %lld is outside 0..%lld", (long long)i,
                  (long long)j, (long long)k, (long long)space.N(k) - 1);
}

// The row vector of every entry is carried from the left, each with an exponent of its own, since entries may differ by more
// than the range of a Scalar.
void entries(const Train &x, Int m, const Int *index, Scalar *values)
{
  const Space &space = *x.space();
  const Int    d     = space.d();
  PETSCTT_REQUIRE(m >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Number of entries %lld is negative", (long long)m);
  for (Int j = 0; j < m; ++j)
    for (Int k = 0; k < d; ++k) check_index(space, k, index[(Count)j * d + k], j);
  if (x.is_zero()) {
    std::fill(values, values + m, Scalar(0));
    return;
  }
  std::vector<std::int64_t> e(m, 0);
  Buffer                    V((std::size_t)m); // r_k x m
  V.fill(1);
  for (Int k = 0; k < d; ++k) {
    const Core &C = x.core(k);
    Buffer      W((std::size_t)((Count)C.r1 * m));
    for (Int j = 0; j < m; ++j) {
      const Int i = index[(Count)j * d + k] - space.start(k);
      Scalar   *w = W.data() + (Count)C.r1 * j;
      if (i >= 0 && i < C.n) // the slice (:,i,:) is r0 x r1 with leading dimension r0 n
        gemm('T', 'N', C.r1, 1, C.r0, 1, C.data() + (Count)C.r0 * i, (Count)C.r0 * C.n, V.data() + (Count)C.r0 * j, C.r0, 0, w, C.r1);
      else std::fill(w, w + C.r1, Scalar(0));
    }
    if (!space.replicated(k)) space.comm().sum(W.data(), (Count)W.size());
    for (Int j = 0; j < m; ++j) e[j] += normalize(W.data() + (Count)C.r1 * j, C.r1);
    V = std::move(W);
  }
  for (Int j = 0; j < m; ++j) values[j] = (x.scale() * Scaled(V[j], e[j])).value();
}

namespace {

// Slice i of core k, r0 x r1, on every process.
Buffer slice(const Train &x, Int k, Int i)
{
  const Space &space = *x.space();
  const Core  &C     = x.core(k);
  const Int    local = i - space.start(k);
  Buffer       S((std::size_t)((Count)C.r0 * C.r1));
  if (local >= 0 && local < C.n) {
    for (Int b = 0; b < C.r1; ++b) {
      const Scalar *run = C.data() + (Count)C.r0 * (local + (Count)C.n * b);
      std::copy(run, run + C.r0, S.data() + (Count)C.r0 * b);
    }
  } else {
    S.fill(0);
  }
  if (!space.replicated(k)) space.comm().sum(S.data(), (Count)S.size());
  return S;
}

} // namespace

void fibre(const Train &x, Int k, const Int *index, Scalar *values)
{
  const Space &space = *x.space();
  const Int    d     = space.d();
  PETSCTT_REQUIRE(k >= 0 && k < d, PETSC_ERR_ARG_OUTOFRANGE, "Mode %lld is outside 0..%lld", (long long)k, (long long)d - 1);
  for (Int j = 0; j < d; ++j)
    if (j != k) check_index(space, j, index[j], 0);
  const Core &C = x.core(k);
  if (x.is_zero()) {
    std::fill(values, values + C.n, Scalar(0));
    return;
  }
  Scaled scale = x.scale();
  Buffer left(1), right(1); // 1 x r0 and r1 x 1 around core k
  left[0] = right[0] = 1;
  for (Int j = 0; j < k; ++j) {
    const Int r0 = x.core(j).r0, r1 = x.core(j).r1;
    Buffer    S = slice(x, j, index[j]), next((std::size_t)r1);
    gemm('N', 'N', 1, r1, r0, 1, left.data(), 1, S.data(), r0, 0, next.data(), 1);
    scale = scale.times_pow2(normalize(next.data(), r1));
    left  = std::move(next);
  }
  for (Int j = d - 1; j > k; --j) {
    const Int r0 = x.core(j).r0, r1 = x.core(j).r1;
    Buffer    S = slice(x, j, index[j]), next((std::size_t)r0);
    gemm('N', 'N', r0, 1, r1, 1, S.data(), r0, right.data(), r1, 0, next.data(), r0);
    scale = scale.times_pow2(normalize(next.data(), r0));
    right = std::move(next);
  }
  Buffer T((std::size_t)((Count)C.r0 * C.n));
  gemm('N', 'N', (Count)C.r0 * C.n, 1, C.r1, 1, C.data(), (Count)C.r0 * C.n, right.data(), C.r1, 0, T.data(), (Count)C.r0 * C.n);
  gemm('N', 'N', 1, C.n, C.r0, 1, left.data(), 1, T.data(), C.r0, 0, values, 1);
  Real top = max_part(values, C.n);
  if (!space.replicated(k)) space.comm().max(&top, 1);
  multiply(values, C.n, scale, top);
}

} // namespace petsctt
