#ifndef PETSCTT_TT_OPS_DOT_HPP
#define PETSCTT_TT_OPS_DOT_HPP

#include "tt/ops/lazy.hpp"
#include "tt/train.hpp"

namespace petsctt {

// sum over all entries of x conj(y): VecDot's convention. With conjugate = false: VecTDot's.
// Collective; one sum of r_k(x) r_k(y) words per distributed mode. Cost 2 n (rx^2 ry + rx ry^2) flops per core.
Scaled dot(const Train &x, const Train &y, bool conjugate = true);

// dot(x, y_j) for all j, the sums of a mode in one message.
std::vector<Scaled> dots(const Train &x, const std::vector<const Train *> &ys, bool conjugate = true);

// The same for a lazy x: dot(x, y). One sum per distributed mode.
Scaled dot(const LazyTrain &x, const Train &y);

// Frobenius norm; of one core where orthogonality allows. Otherwise from R factors, not from dot(x,x), whose rounding
// error would be sqrt(machine epsilon) for nearly cancelling sums. Collective. Cost 4 n r^3 flops per core that is not orthogonal; one tree
// of r^2 words up and one broadcast of them.
Scaled norm(const Train &x);

} // namespace petsctt

#endif
