#ifndef PETSCTT_TT_OPS_ORTHOGONALIZE_HPP
#define PETSCTT_TT_OPS_ORTHOGONALIZE_HPP

#include "tt/train.hpp"

namespace petsctt {

// Makes core `centre` the orthogonality centre: cores before it left-orthogonal, after it right-orthogonal. Only cores that
// are not yet so are touched. TT ranks never grow and may shrink (r_k <= global rows of the unfolding).
// Collective. Cost 4 r^2 n r flops per core; ceil(log2 P) messages of about r^2 words per distributed core and sweep.
void orthogonalize(Train &x, Int centre);

// One step of the left-to-right sweep: core k becomes left-orthogonal, its triangular factor goes into core k+1.
void orthogonalize_left(Train &x, Int k);
// One step of the right-to-left sweep: core k becomes right-orthogonal, its triangular factor goes into core k-1.
void orthogonalize_right(Train &x, Int k);

} // namespace petsctt

#endif
