#ifndef PETSCTT_BENCHMARKS_TEXTBOOK_HPP
#define PETSCTT_BENCHMARKS_TEXTBOOK_HPP

#include "tt/train.hpp"

namespace bench {

// Rounding as one would write it down from Oseledets 2011, algorithm 2, with LAPACK calls on whole unfoldings: a right-to-left sweep of
// QR factorisations with Q formed and R multiplied into the neighbour, then a left-to-right sweep of singular value decompositions of
// the unfoldings themselves. One process. What the library's rounding is compared with.
void textbook_round(petsctt::Train &x, petsctt::Real rtol);

} // namespace bench

#endif
