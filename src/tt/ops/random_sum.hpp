#ifndef PETSCTT_TT_OPS_RANDOM_SUM_HPP
#define PETSCTT_TT_OPS_RANDOM_SUM_HPP

#include "tt/ops/lazy.hpp"
#include "tt/ops/round.hpp"

#include <vector>

namespace petsctt {

// Partial contractions of one train with the columns of a random sketch, from the right: level k is r(k) x columns. A train
// that occurs in many sums (a Krylov basis vector) keeps its sketch, which is extended by new columns only. It belongs to one train
// and one seed and must be dropped when the train changes.
class TrainSketch {
public:
  struct Level {
    Int          columns = 0;
    std::int64_t e       = 0; // true value = stored * 2^e
    Buffer       w;
  };
  std::vector<Level> levels;
  std::uint64_t      seed = 0;
};

struct LazyTerm {
  Scaled           coefficient;
  const LazyTrain *train;
  TrainSketch     *sketch = nullptr; // kept by the caller; null: made and dropped here
};

// values[c] (c < columns) := the train contracted with column c of the sketch of all modes, unconjugated and times its scale: an image under
// a random linear map with E |values|^2 = columns ||x||^2. Dots and norms of a few trains follow from their images up to about
// sqrt(vectors/columns). Level 0 of the sketch is Khatri-Rao in its mode. Collective, as one right-to-left half of the sum below.
void sketch_values(const LazyTrain &x, std::uint64_t seed, Int columns, TrainSketch &sketch, Scaled *values);

// out := sum of the terms, compressed to about the tolerance without forming the sum: randomise, then orthogonalise
// (Al Daas et al. 2023, algorithm 3.4). The sketch consists of blocks of ten columns, each block a Gaussian tensor train of
// rank ten (Khatri-Rao columns, the rank-one case, vary too much from ten modes on). Blocks are independent, so a sketch that turns
// out too small grows by new ones only. A few columns serve as test vectors: the part of them outside the basis is an
// unbiased estimate of the squared truncation error at that core, and a basis is accepted when sqrt(2) times that error is within its share of
// the tolerance. A deterministic truncating sweep then brings the TT ranks down to the tolerance.
//
// The error returned adds both parts and is `estimated`. Random numbers depend on the seed and global indices only.
// Collective. Cost per term and core about 4 r n (r + l) l flops, l the sketch size: linear in the number of terms. Messages: two
// sums and one TSQR per distributed core.
RoundInfo randomized_round_sum(const SpacePtr &space, const std::vector<LazyTerm> &terms, const RoundOptions &options, Train &out);

} // namespace petsctt

#endif
