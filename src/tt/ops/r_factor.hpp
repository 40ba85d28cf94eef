#ifndef PETSCTT_TT_OPS_R_FACTOR_HPP
#define PETSCTT_TT_OPS_R_FACTOR_HPP

#include "base/buffer.hpp"
#include "tt/comm.hpp"

namespace petsctt {

// The triangular factor alone of a tall matrix that comes in blocks of rows: A^H A = R^H R by Householder reflectors, whose vectors are dropped.
// Each block is small enough to stay in cache, which is what makes it fast: a factorisation of a whole tall matrix with few columns goes
// through memory once for every few of them. A flat tree over the blocks, then a binary one over the processes (Demmel, Grigori,
// Hoemmen, Langou 2012); the reflectors have the structure [e_j; v_j], the triangle's part is never touched below its diagonal.
// Cost 2 m n^2 flops and a sixth of that for the T factors.
class RFactor {
public:
  explicit RFactor(Count n); // columns; begins with no rows

  // Rows of a block that stays in cache.
  static Count block_rows(Count n);

  // Adds the m rows in B (ldb), which are destroyed.
  void add(Count m, Scalar *B, Count ldb);
  // The same with the rows of an upper triangle R (n x n, zeros below), which are destroyed. Free when they are the first.
  void add_triangle(Scalar *R);
  // Adds the rows of all other processes to process 0. Collective; ceil(log2 P) messages of n (n+1)/2 words at most.
  void reduce(const Comm &comm);

  Count         columns() const { return n_; }
  const Scalar *R() const { return r_.data(); } // n x n, upper triangle; zeros below
  Scalar       *R() { return r_.data(); }

private:
  void factor(Count m, Scalar *B, Count ldb, Count j, Count w, bool with_t);

  Count  n_;
  bool   empty_ = true; // no rows yet
  Buffer r_, t_, w_; // the triangle; T of the block that is being added; workspace
};

} // namespace petsctt

#endif
