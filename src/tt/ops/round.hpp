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
  bool          formed   = false; // sums are formed with all their entries before they are rounded: the obvious way, to compare with
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
  double           flops       = 0;     // operations of this process
};

// Called, if set, when a method begins and when it has ended: the layers above log with it what was picked.
using RoundHook = void (*)(RoundType method, bool begin);
void set_round_hook(RoundHook hook);

// Such a pair of calls; private to tt/ops.
class RoundScope {
public:
  explicit RoundScope(RoundType method);
  ~RoundScope();
  RoundScope(const RoundScope &)            = delete;
  RoundScope &operator=(const RoundScope &) = delete;
  double flops() const; // since the beginning

private:
  RoundType method_;
  double    flops_;
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

// x := round(x) (Oseledets 2011, algorithm 2, in the form of ops/two_sweeps.hpp, or ops/random_sum.hpp for `randomized`). A train that is
// left-orthogonal already is only truncated, from the right, whatever the type. Leaves x left-orthogonal but for its last core, or, after
// such a truncation, with which `randomized` ends, right-orthogonal but for its first. A train with NaN or Inf comes back as the rank-1 train whose scale is NaN.
RoundInfo round(Train &x, const RoundOptions &options);

// out := round(sum of the terms), which is not formed; out may be one of the trains. No terms or all zero: the zero train of `space`.
// `automatic` takes `gram` instead of `qr` where the tolerance of each truncation is 1e-6 or more, and `randomized` instead of either for
// tolerances down to 1e-12 and up to 16 modes where its stated flop count is less than two thirds of the other's (sum.cxx).
RoundInfo round_sum(const SpacePtr &space, const std::vector<Term> &terms, const RoundOptions &options, Train &out);

// What `automatic` means for a train: qr or gram or randomized.
RoundType choose_round_type(const Train &x, const RoundOptions &options);

// The sum itself, TT ranks added, not rounded. Zero terms are dropped.
Train form_sum(const SpacePtr &space, const std::vector<Term> &terms);

} // namespace petsctt

#endif
