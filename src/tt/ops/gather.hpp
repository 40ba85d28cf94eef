#ifndef PETSCTT_TT_OPS_GATHER_HPP
#define PETSCTT_TT_OPS_GATHER_HPP

#include "tt/train.hpp"

namespace petsctt {

// The whole core k, r0 x N x r1, first index fastest, on every process. Collective; a copy without messages in replicated modes.
Buffer gather_core(const Train &x, Int k);

} // namespace petsctt

#endif
