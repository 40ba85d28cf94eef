#ifndef PETSCTT_TT_OPS_TSQR_HPP
#define PETSCTT_TT_OPS_TSQR_HPP

#include "base/buffer.hpp"
#include "tt/comm.hpp"

#include <vector>

namespace petsctt {

// Orthogonal factorisation of a matrix with one long dimension m, distributed, and one short dimension n:
//   tall:  A (m x n) = Q R,  R p x n upper trapezoidal;     wide:  A (n x m) = L Q,  L n x p lower trapezoidal,
// p = min(global m, n). Local Householder factorisation by LAPACK, then a binary tree over the processes in which process q
// takes the triangle of q + 2^l (Demmel, Grigori, Hoemmen, Langou 2012, algorithm 1). Q stays in factored form and is applied
// from the tree down. Any number of rows per process, none included. A matrix that every process holds (long_sizes empty)
// is factored by each process for itself, without messages.
// Cost: 2 m n^2 flops locally, ceil(log2 P) messages of p n words at most; the same for each application to n columns.
class Tsqr {
public:
  enum class Shape { tall, wide };

  // Factors A in place: A (leading dimension m for tall, n for wide) holds the local reflectors and must outlive this object.
  // long_sizes[q]: m of process q. Collective.
  Tsqr(const Comm &comm, Shape shape, const std::vector<Count> &long_sizes, Count m, Count n, Scalar *A);

  Count p() const { return p_; }
  bool  at_root() const { return root_; } // true on process 0, and everywhere for a matrix that every process holds
  bool  distributed() const { return distributed_; }

  // The triangle, packed p x n (tall) or n x p (wide), zeros written out; only where at_root().
  Buffer &triangle() { return triangle_; }

  // out := Q C (tall: m x c from C p x c) or C Q (wide: c x m from C c x p); C is read where at_root() only. Collective.
  // C = nullptr stands for the identity, c = p. out must not be A.
  void apply(const Scalar *C, Count c, Scalar *out) const;
  // As apply(nullptr, p, .), overwriting the reflectors in A by Q itself where that needs no second array; returns true
  // if A now holds Q (m x p or p x m) and false if nothing was done.
  bool expand_in_place();

private:
  struct Level { // one merge on the receiving side
    int                 partner;
    Count               k1, k2; // rows of the two triangles
    Buffer              a;      // (k1+k2) x n or n x (k1+k2) reflectors
    std::vector<Scalar> tau;
  };
  void factor_local();
  void merge(const std::vector<Count> &long_sizes);

  Comm                comm_;
  Shape               shape_;
  bool                distributed_, root_;
  Count               m_, n_, p_, klocal_;
  Scalar             *a_;
  std::vector<Scalar> tau_;
  std::vector<Level>  levels_;
  int                 parent_ = -1; // process that took our triangle
  Buffer              triangle_;
};

} // namespace petsctt

#endif
