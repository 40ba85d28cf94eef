#include "tt/ops/dot.hpp"

#include "tt/blas.hpp"
#include "tt/ops/array.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// The running contraction of the cores to the left: M(b,a) = sum of x_{0..k-1}(..,a) conj(y_{0..k-1}(..,b)), ry x rx, first index
// fastest, the same on all processes.
using Matrix = Buffer;

// Columns of the second product that are made at once: enough for a fast gemm, few enough to keep the intermediate small.
Count block_columns(Count rows, Count columns)
{
  const Count target = (Count)1 << 19;
  return std::max<Count>(1, std::min(columns, std::max<Count>(48, target / std::max<Count>(rows, 1))));
}

// M' = Y_V^H (M X_H) or, with the same value, (M^H Y_H)^H X_V, whichever needs fewer flops; X_H = r0 x (n r1) and
// Y_V = (r0 n) x r1 are the cores as they lie in memory. In blocks of columns, so that the intermediate stays small.
Matrix local_step(const Matrix &M, const Core &X, const Core &Y, bool conjugate)
{
  const char  h  = conjugate ? 'C' : 'T';
  const Count n  = X.n;
  const Count xy = (Count)X.r1 * Y.r0 * ((Count)X.r0 + Y.r1), yx = (Count)Y.r1 * X.r0 * ((Count)Y.r0 + X.r1);
  Matrix      out((std::size_t)Y.r1 * X.r1);
  if (xy <= yx) {
    const Count nb = block_columns(Y.r0 * n, X.r1);
    Buffer      T((std::size_t)Y.r0 * n * nb);
    for (Count a = 0; a < X.r1; a += nb) {
      const Count m = std::min(nb, X.r1 - a);
      gemm('N', 'N', Y.r0, n * m, X.r0, 1, M.data(), Y.r0, X.data() + X.r0 * n * a, X.r0, 0, T.data(), Y.r0);
      gemm(h, 'N', Y.r1, m, Y.r0 * n, 1, Y.data(), Y.r0 * n, T.data(), Y.r0 * n, 0, out.data() + Y.r1 * a, Y.r1);
    }
  } else {
    const Count nb = block_columns(X.r0 * n, Y.r1);
    Buffer      T((std::size_t)X.r0 * n * nb);
    for (Count b = 0; b < Y.r1; b += nb) {
      const Count m = std::min(nb, Y.r1 - b);
      gemm(h, 'N', X.r0, n * m, Y.r0, 1, M.data(), Y.r0, Y.data() + Y.r0 * n * b, Y.r0, 0, T.data(), X.r0);
      gemm(h, 'N', m, X.r1, X.r0 * n, 1, T.data(), X.r0 * n, X.data(), X.r0 * n, 0, out.data() + b, Y.r1);
    }
  }
  return out;
}

// A process without indices of the mode has nothing to add; replicated modes are complete on every process already.
Matrix step(const Space &space, Int k, const Matrix &M, const Core &X, const Core &Y, bool conjugate)
{
  Matrix out = local_step(M, X, Y, conjugate);
  if (!space.replicated(k)) space.comm().sum(out.data(), (Count)out.size());
  return out;
}

// Copy of core k divided by a power of two common to all processes, whose exponent is returned.
std::int64_t bring_into_range(const Space &space, Int k, Core &c)
{
  Real m = max_part(c.data(), c.count());
  if (!space.replicated(k)) space.comm().max(&m, 1);
  const std::int64_t e = exponent_of(m);
  scale_pow2(c.data(), c.count(), -e);
  return e;
}

} // namespace

Scaled dot(const Train &x, const Train &y, bool conjugate)
{
  require_same_space(*x.space(), *y.space(), "dot");
  const Space &space = *x.space();
  Scaled       scale = x.scale() * (conjugate ? y.scale().conj() : y.scale());
  if (x.is_zero() || y.is_zero() || !scale.finite()) return scale;

  // Below `tiny` digits may have been lost to underflow, above the range they were: then, and only then, the core is done again
  // with its two factors brought into range. M is replicated, so all processes take the same branch.
  const Real   tiny = std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
  Matrix       M(1);
  std::int64_t e = 0;
  M[0]           = 1;
  for (Int k = 0; k < space.d(); ++k) {
    Matrix next = step(space, k, M, x.core(k), y.core(k), conjugate);
    Real   top  = max_part(next.data(), (Count)next.size());
    if (!(top >= tiny && is_finite(top))) {
      Core X = x.core(k), Y = y.core(k);
      e += bring_into_range(space, k, X) + bring_into_range(space, k, Y);
      next = step(space, k, M, X, Y, conjugate);
    }
    M = std::move(next);
    e += normalize(M.data(), (Count)M.size());
  }
  return scale * Scaled(M[0], e);
}

} // namespace petsctt
