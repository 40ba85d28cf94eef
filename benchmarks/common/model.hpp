#ifndef PETSCTT_BENCHMARKS_MODEL_HPP
#define PETSCTT_BENCHMARKS_MODEL_HPP

// Nominal flops and the communication model of the operations on trains, in the manner of Al Daas, Ballard and Benner (Parallel
// algorithms for tensor train arithmetic, SIAM J. Sci. Comput. 44, 2022): per core, leading terms, uniform over the processes.
#include "tt/train.hpp"

#include <vector>

namespace bench {

using petsctt::Int;
using petsctt::Space;

struct Cost {
  double flops    = 0; // of all processes together; real ones (complex: a multiply-add counts 8)
  double messages = 0; // along the longest chain of a process
  double words    = 0;
};

// Rounding by two sweeps of orthogonal factorisations from TT ranks R (d+1) to t (d+1), right to left, then left to right with truncation.
// With m x n the tall unfolding of a core, p = min(m, n), and c the rows (columns) of the neighbour that its triangle goes into:
//   first sweep    2 m n p (factorisation) + 2 m p^2 (Q) + n p c (triangle times neighbour)
//   second sweep   2 m n p + 4 m p t (Q times U) + 2 t n c
// which for uniform ranks is 5 I R^3 + 4 I t R^2 + 4 I R t^2 per core. The singular value decompositions, O(R^3), are left out.
// Each core and sweep: a tree of ceil(log2 P) messages up with the triangle (n p words), one down with what Q is applied to, one
// broadcast of the factor that goes into the neighbour.
Cost round_cost(const Space &space, const std::vector<Int> &R, const std::vector<Int> &t);

// Inner product of trains of TT ranks x and y: 2 N (r0 s0 r1 + s0 r1 s1) per core, one sum of r1 s1 words: ceil(log2 P) messages, twice as
// many words as are summed (reduce-scatter and allgather).
Cost dot_cost(const Space &space, const std::vector<Int> &x, const std::vector<Int> &y);

// Norm by one sweep of factorisations without Q: 2 m n p + n p c per core; a tree up and a broadcast of the triangle.
Cost norm_cost(const Space &space, const std::vector<Int> &R);

} // namespace bench

#endif
