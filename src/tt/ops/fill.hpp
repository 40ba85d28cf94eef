#ifndef PETSCTT_TT_OPS_FILL_HPP
#define PETSCTT_TT_OPS_FILL_HPP

#include "tt/train.hpp"

#include <vector>

namespace petsctt {

// Every entry c. Orthogonal: 400 modes of ones have a finite norm.
Train constant(const SpacePtr &space, Scalar c);

// Outer product of d mode vectors; vectors[k] points to the local part (n(k) entries) or is null for ones. A zero vector gives the
// zero train. Collective: one maximum of d words.
Train rank_one(const SpacePtr &space, const std::vector<const Scalar *> &vectors);

// Gaussian cores N(0,1) of the given TT ranks (d+1, clipped to what the unfoldings allow), depending on the seed and on
// global indices only.
Train random_train(const SpacePtr &space, std::vector<Int> ranks, std::uint64_t seed);

// The TT ranks given (d+1), each reduced to the largest that unfoldings of `space` can have with the others.
std::vector<Int> clip_ranks(const Space &space, std::vector<Int> ranks);

} // namespace petsctt

#endif
