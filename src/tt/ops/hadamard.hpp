#ifndef PETSCTT_TT_OPS_HADAMARD_HPP
#define PETSCTT_TT_OPS_HADAMARD_HPP

#include "tt/train.hpp"

namespace petsctt {

// Entrywise product, TT ranks multiplied, not rounded. Local. The rank index of the product is ax + rx*ay.
Train hadamard(const Train &x, const Train &y);

// Entrywise conjugate, in place. Local.
void conjugate(Train &x);

} // namespace petsctt

#endif
