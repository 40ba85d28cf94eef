#include "tt/ops/dot.hpp"

#include "base/blas.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/sweep.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// The running contraction of the cores to the left: M(b,a) = sum of x_{0..k-1}(..,a) conj(y_{0..k-1}(..,b)), ry x rx, first index
// fastest, the same on all processes.
using Matrix = Buffer;

constexpr Count cached_entries = Count(1) << 19; // of the intermediate, which is to stay in the last level of cache

// out (B.r1 x A.r1) := B_V^h (N A_H), with N of B.r0 x A.r0 given as op(M); A_H = r0 x (n r1) and B_V = (r0 n) x r1 are the cores
// as they lie in memory. In blocks of A.r1, or of the mode where that is long, so that the intermediate is never large.
void two_products(char op, const Matrix &M, Count ldm, const Core &A, const Core &B, char h, Scalar *out)
{
  const Count n = A.n, rows = (Count)B.r0 * n;
  if (n == 0) {
    std::fill(out, out + (Count)B.r1 * A.r1, Scalar(0));
    return;
  }
  const Count columns = std::min<Count>(A.r1, cached_entries / rows);
  if (columns >= std::min<Count>(A.r1, 32)) {
    Buffer T((std::size_t)(rows * columns));
    for (Count a = 0; a < A.r1; a += columns) {
      const Count c = std::min<Count>(columns, A.r1 - a);
      gemm(op, 'N', B.r0, n * c, A.r0, 1, M.data(), ldm, A.data() + A.r0 * n * a, A.r0, 0, T.data(), B.r0);
      gemm(h, 'N', B.r1, c, rows, 1, B.data(), rows, T.data(), rows, 0, out + B.r1 * a, B.r1);
    }
    return;
  }
  const Count piece = std::max<Count>(1, std::min(n, std::max<Count>(32, cached_entries / ((Count)B.r0 * A.r1))));
  Buffer      T((std::size_t)(B.r0 * piece * A.r1));
  for (Count i = 0; i < n; i += piece) {
    const Count m = std::min(piece, n - i);
    for (Count a = 0; a < A.r1; ++a)
      gemm(op, 'N', B.r0, m, A.r0, 1, M.data(), ldm, A.data() + A.r0 * (i + n * a), A.r0, 0, T.data() + B.r0 * m * a, B.r0);
    gemm(h, 'N', B.r1, A.r1, B.r0 * m, 1, B.data() + B.r0 * i, B.r0 * n, T.data(), B.r0 * m, i ? 1 : 0, out, B.r1);
  }
}

// M' = Y_V^H (M X_H) or, with the same value, (X_V^H (M^H Y_H))^H, whichever needs fewer flops. Without conjugation ^T stands
// for ^H throughout.
void local_step(const Matrix &M, const Core &X, const Core &Y, bool conjugate, Scalar *out)
{
  const char  h  = conjugate ? 'C' : 'T';
  const Count xy = (Count)X.r1 * Y.r0 * ((Count)X.r0 + Y.r1), yx = (Count)Y.r1 * X.r0 * ((Count)Y.r0 + X.r1);
  if (xy <= yx) {
    two_products('N', M, Y.r0, X, Y, h, out);
  } else {
    Buffer t((std::size_t)((Count)Y.r1 * X.r1)); // X.r1 x Y.r1
    two_products(h, M, Y.r0, Y, X, h, t.data());
    for (Count a = 0; a < X.r1; ++a)
      for (Count b = 0; b < Y.r1; ++b) out[b + Y.r1 * a] = conjugate ? conj(t[(std::size_t)(a + X.r1 * b)]) : t[(std::size_t)(a + X.r1 * b)];
  }
}

} // namespace

std::vector<Scaled> dots(const Train &x, const std::vector<const Train *> &ys, bool conjugate)
{
  const Space        &space = *x.space();
  std::vector<Scaled> values;
  std::vector<Matrix> M; // of the products that are not known from the scales already
  std::vector<Int>    which;
  for (const Train *y : ys) {
    require_same_space(space, *y->space(), "dot");
    values.push_back(x.scale() * (conjugate ? y->scale().conj() : y->scale()));
    if (x.is_zero() || y->is_zero() || !values.back().finite()) continue;
    M.emplace_back(1);
    M.back()[0] = 1;
    which.push_back((Int)values.size() - 1);
  }

  // Below `tiny` digits may have been lost to underflow, above the range they were: then, and only then, the core is done again
  // with its two factors brought into range. M is replicated, so all processes take the same branch.
  const Real                tiny = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  std::vector<std::int64_t> e(M.size(), 0);
  // A process without indices of the mode has nothing to add; replicated modes are complete on every process already.
  const auto sum = [&](Int k, Scalar *a, Count n) {
    if (!space.replicated(k)) space.comm().sum(a, n);
  };
  for (Int k = 0; k < space.d(); ++k) {
    Count total = 0, o = 0;
    for (Int j : which) total += (Count)x.r(k + 1) * ys[j]->r(k + 1);
    Buffer all((std::size_t)total); // the products of all pairs, for one sum
    for (std::size_t i = 0; i < M.size(); ++i) {
      local_step(M[i], x.core(k), ys[which[i]]->core(k), conjugate, all.data() + o);
      o += (Count)x.r(k + 1) * ys[which[i]]->r(k + 1);
    }
    sum(k, all.data(), total);
    o = 0;
    for (std::size_t i = 0; i < M.size(); ++i) {
      const Train &y    = *ys[which[i]];
      const Count  size = (Count)x.r(k + 1) * y.r(k + 1);
      Scalar      *next = all.data() + o;
      const Real   top  = max_part(next, size);
      if (!(top >= tiny && is_finite(top))) {
        Core X = x.core(k), Y = y.core(k);
        e[i] += bring_into_range(space, k, X) + bring_into_range(space, k, Y);
        local_step(M[i], X, Y, conjugate, next);
        sum(k, next, size);
      }
      M[i] = Matrix((std::size_t)size);
      std::copy_n(next, size, M[i].data());
      e[i] += normalize(M[i].data(), size);
      o += size;
    }
  }
  for (std::size_t i = 0; i < M.size(); ++i) values[which[i]] = values[which[i]] * Scaled(M[i][0], e[i]);
  return values;
}

Scaled dot(const Train &x, const Train &y, bool conjugate)
{
  return dots(x, {&y}, conjugate)[0];
}

} // namespace petsctt
