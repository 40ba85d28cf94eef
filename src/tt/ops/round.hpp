#ifndef PETSCTT_TT_OPS_ROUND_HPP
#define PETSCTT_TT_OPS_ROUND_HPP

#include "tt/train.hpp"

#include <vector>

namespace petsctt {

enum class RoundType { qr, gram, randomized, automatic };

struct RoundOptions {
  RoundType     type     = RoundType::automatic;
  Real          rtol     = 1e-8; // relative Frobenius error of the whole tensor that this rounding may make
  Scaled        atol;            // absolute one; the larger of the two counts
  Int           max_rank = 0;    // cap on every TT rank; 0 = none
  std::uint64_t seed     = 0;    // of random sketches
};

// What one rounding did.
struct RoundInfo {
  RoundType        type        = RoundType::qr; // the method that ran
  Real             error       = 0;     // relative Frobenius error made (exact for qr, up to round-off; else see `estimated`)
  bool             estimated   = false; // the error is a statistical estimate, not a computed value
  bool             cap_hit     = false; // max_rank kept the tolerance from being met
  Int              rank_in     = 0;     // largest TT rank of what was rounded
  Int              rank_out    = 0;
  Scaled           norm;                // of the result
};

class LazyTrain;
class TrainSketch;

// One term of a linear combination: coefficient times train; the train may be given as a lazy one instead (train null).
struct Term {
  Scaled           coefficient;
  const Train     *train;
  const LazyTrain *lazy   = nullptr;
  TrainSketch     *sketch = nullptr; // of the train, when the caller keeps one (ops/random_sum.hpp)
};

// x := round(x), both sweeps by TSQR (Oseledets 2011, algorithm 2, with the distributed QR of ops/tsqr.hpp). Leaves x
// left-orthogonal with centre d-1. A train with NaN or Inf comes back as the rank-1 train whose scale is NaN.
RoundInfo round(Train &x, const RoundOptions &options);

// out := round(sum of the terms); out may be one of the trains. No terms or all zero: the zero train of `space`.
// `automatic` forms the sum and rounds it by TSQR sweeps, unless the stated flop counts of ops/random_sum.hpp are less than half of
// those of the sweeps over the formed sum: then the sum is randomised.
RoundInfo round_sum(const SpacePtr &space, const std::vector<Term> &terms, const RoundOptions &options, Train &out);

// The sum itself, TT ranks added, not rounded. Zero terms are dropped.
Train form_sum(const SpacePtr &space, const std::vector<Term> &terms);

} // namespace petsctt

#endif
