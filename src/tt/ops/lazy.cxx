#include "tt/ops/lazy.hpp"

#include "base/blas.hpp"

namespace petsctt {

void PlainTrain::times_right(Int k, const Scalar *W, Count c, Core &T) const
{
  const Core &x = x_->core(k);
  const Count m = (Count)x.r0 * x.n;
  T             = Core(x.r0, x.n, (Int)c);
  gemm('N', 'N', m, c, x.r1, 1, x.data(), m, W, x.r1, 0, T.data(), m);
}

void PlainTrain::times_left(Int k, const Scalar *L, Count t, Core &C) const
{
  const Core &x = x_->core(k);
  C             = Core((Int)t, x.n, x.r1);
  gemm('N', 'N', t, (Count)x.n * x.r1, x.r0, 1, L, t, x.data(), x.r0, 0, C.data(), t);
}

} // namespace petsctt
