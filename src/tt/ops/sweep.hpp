#ifndef PETSCTT_TT_OPS_SWEEP_HPP
#define PETSCTT_TT_OPS_SWEEP_HPP

// Private to tt/ops: what the sweeps of orthogonalisation and rounding share.
#include "tt/ops/round.hpp"
#include "tt/ops/tsqr.hpp"
#include "tt/train.hpp"

#include <vector>

namespace petsctt {

// Local sizes of the long dimension r * n(k) on all processes; empty for a replicated mode (Tsqr's convention).
std::vector<Count> long_sizes(const Space &space, Int k, Count r);

// core := T core (left = true; T p x core.r0) or core T (left = false; T core.r1 x p), packed column-major.
void multiply_core(Core &core, bool left, const Scalar *T, Count p);

// Divides a (n entries) by the power of two of its largest entry and returns the exponent taken out. NaN, Inf: returns 0.
std::int64_t take_exponent(Scalar *a, Count n);

// A core whose largest entry over all processes is beyond 2^+-300, so that squares might leave the range, is divided by the power of
// two of that entry. Returns the exponent taken out, mostly 0. Collective in distributed modes: one maximum.
std::int64_t bring_into_range(const Space &space, Int k, Core &core);

// q (r0 x n x t), whose vertical unfolding U has the Gram matrix U^H U (upper triangle in `gram`, destroyed; over all processes), becomes
// orthonormal: U := U F^-1 with the Cholesky factor F. The t x R carry becomes F^-H carry where it was computed as U^H C, and F carry where it
// is that of the exact basis which U approximates. Returns false, with nothing done, when U is too far from orthonormal for that.
bool make_orthonormal(Scalar *gram, Core &q, Count R, Scalar *carry, bool exact);

// x, of the given norm and orthogonal but for one core: a power of two is moved between that core and the scale such that the core has norm 1 to 2. Exact.
// Entrywise products multiply what roundings leave in the scale: without this it grows with every one, until the terms of a sum no longer meet. Local.
void settle_scale(Train &x, const Scaled &norm);

// The end of every rounding, of which x is the result: settle_scale(), ranks that are there in any case, and an error that is NaN where x is.
void complete(Train &x, RoundInfo &info);

} // namespace petsctt

#endif
