#include "base/blas.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/sweep.hpp"

namespace petsctt {

Scaled dot(const LazyTrain &x, const Train &y)
{
  require_same_space(*x.space(), *y.space(), "dot");
  const Space &space = *y.space();
  const Scaled scale = x.scale() * y.scale().conj();
  if (scale.is_zero() || !scale.finite()) return scale;
  Buffer       E(1); // ry x rx: contraction of the cores to the left
  std::int64_t e = 0;
  E[0]           = 1;
  for (Int k = 0; k < space.d(); ++k) {
    const Core &Y = y.core(k);
    const Count m = (Count)Y.r0 * Y.n;
    Core        C;
    x.times_left(k, E.data(), Y.r0, C);
    E = Buffer((std::size_t)Y.r1 * C.r1);
    gemm('C', 'N', Y.r1, C.r1, m, 1, Y.data(), m, C.data(), m, 0, E.data(), Y.r1);
    if (!space.replicated(k)) space.comm().sum(E.data(), (Count)E.size());
    e += take_exponent(E.data(), (Count)E.size());
  }
  return scale * Scaled(E[0], e);
}

} // namespace petsctt
