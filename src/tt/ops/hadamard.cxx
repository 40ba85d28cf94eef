#include "tt/ops/hadamard.hpp"

#include "base/error.hpp"

#include <limits>

namespace petsctt {

static Core core_product(const Core &X, const Core &Y, Int k)
{
  const double r0 = (double)X.r0 * (double)Y.r0, r1 = (double)X.r1 * (double)Y.r1, top = (double)std::numeric_limits<Int>::max();
  PETSCTT_REQUIRE(r0 <= top && r1 <= top && r0 * r1 * (double)X.n < 0x1p58, PETSC_ERR_ARG_OUTOFRANGE,
                  "The entrywise product would have TT ranks %.0f and %.0f at core %lld: round the factors first", r0, r1, (long long)k);
  Core P(X.r0 * Y.r0, X.n, X.r1 * Y.r1);
  for (Int by = 0; by < Y.r1; ++by) {
    for (Int bx = 0; bx < X.r1; ++bx) {
      for (Int i = 0; i < X.n; ++i) {
        const Scalar *xa  = X.data() + (Count)X.r0 * (i + (Count)X.n * bx);
        const Scalar *ya  = Y.data() + (Count)Y.r0 * (i + (Count)Y.n * by);
        Scalar       *out = P.data() + (Count)P.r0 * (i + (Count)P.n * (bx + (Count)X.r1 * by));
        for (Int ay = 0; ay < Y.r0; ++ay) {
          const Scalar f = ya[ay];
          for (Int ax = 0; ax < X.r0; ++ax) *out++ = f * xa[ax];
        }
      }
    }
  }
  return P;
}

Train hadamard(const Train &x, const Train &y)
{
  require_same_space(*x.space(), *y.space(), "entrywise product");
  Train        out(x.space());
  const Scaled scale = x.scale() * y.scale();
  if (!x.is_zero() && !y.is_zero()) {
    for (Int k = 0; k < x.d(); ++k) out.set_core(k, core_product(x.core(k), y.core(k), k));
  }
  out.set_scale(scale);
  return out;
}

void conjugate(Train &x)
{
  if (!is_complex) return;
  const Int left = x.left(), right = x.right(); // conjugation keeps orthonormal columns orthonormal
  for (Int k = 0; k < x.d(); ++k) {
    Core &c = x.core_rw(k);
    for (Count j = 0; j < c.count(); ++j) c.data()[j] = conj(c.data()[j]);
  }
  x.set_orthogonal(left, right);
  x.set_scale(x.scale().conj());
}

} // namespace petsctt
