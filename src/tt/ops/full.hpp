#ifndef PETSCTT_TT_OPS_FULL_HPP
#define PETSCTT_TT_OPS_FULL_HPP

#include "tt/ops/round.hpp"
#include "tt/train.hpp"

namespace petsctt {

// All entries, first mode fastest, on every process. Throws PETSC_ERR_SUP above `limit` entries. Collective.
Buffer to_full(const Train &x, double limit = 2.5e8);

// TT-SVD (Oseledets 2011, algorithm 1) of a full array, first mode fastest, which process 0 decomposes and alone reads; the others may
// pass anything. options.type and seed play no part. The error is exact. out is left-orthogonal with centre d-1. Collective.
RoundInfo from_full(const SpacePtr &space, const Scalar *full, const RoundOptions &options, Train &out);

} // namespace petsctt

#endif
