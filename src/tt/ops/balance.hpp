#ifndef PETSCTT_TT_OPS_BALANCE_HPP
#define PETSCTT_TT_OPS_BALANCE_HPP

#include "tt/ops/random_sum.hpp"

#include <vector>

namespace petsctt {

// x with rows and columns of its cores scaled by powers of two, exactly, such that the largest entry of every row core(a, :, :) is about one; what is
// taken out goes into the scale. The value stays the same, but for entries that are 2^-1000 of others in their row. Trains whose cores are
// beyond the range of squares, one way here and the other way there, come into it. Not finite: a copy. Collective: one maximum of r0 r1 words
// for each distributed core.
Train balanced(const Train &x);

// All terms with balanced trains; lazy ones are formed for it. For the rare sums that need it.
struct BalancedTerms {
  explicit BalancedTerms(const std::vector<LazyTerm> &terms);
  std::vector<Train>      trains;
  std::vector<PlainTrain> plain;
  std::vector<LazyTerm>   terms; // coefficients include the trains' scales, as those given do
};

} // namespace petsctt

#endif
