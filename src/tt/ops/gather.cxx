#include "tt/ops/gather.hpp"

#include <algorithm>

namespace petsctt {

Buffer gather_core(const Train &x, Int k)
{
  const Space &space = *x.space();
  const Core  &C     = x.core(k);
  const Mode  &mode  = space.mode(k);
  const Count  r0 = C.r0, r1 = C.r1;
  Buffer       all((std::size_t)(r0 * mode.N * r1));
  if (mode.replicated || space.comm().size() == 1) {
    std::copy(C.data(), C.data() + C.count(), all.data());
    return all;
  }
  const int          size = space.comm().size();
  std::vector<Count> counts(size);
  for (int p = 0; p < size; ++p) counts[p] = r0 * mode.local(p) * r1;
  Buffer pieces(all.size());
  space.comm().allgatherv(C.data(), pieces.data(), counts);
  // Piece p is r0 x n_p x r1; for each b its r0 n_p entries are one run of the whole.
  const Scalar *piece = pieces.data();
  for (int p = 0; p < size; ++p) {
    const Count run = r0 * mode.local(p);
    for (Count b = 0; b < r1; ++b, piece += run) std::copy(piece, piece + run, all.data() + r0 * (mode.start(p) + mode.N * b));
  }
  return all;
}

} // namespace petsctt
