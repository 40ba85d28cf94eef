#ifndef PETSCTT_TT_OPS_RIGHT_SOLVE_HPP
#define PETSCTT_TT_OPS_RIGHT_SOLVE_HPP

// Private to tt/ops: many blocks of rows times the inverse of one upper triangle.
#include "base/buffer.hpp"

#include <vector>

namespace petsctt {

// B := B R^-1 as trsm does it, with the parts of the triangle inverted beforehand that are conditioned so well that multiplying by their inverses is
// as accurate: |B_new R - B_old| <= c n u |B_new| |R| in the norm of each column, whatever the scaling of the columns of R. The kernels of BLAS
// for products reach a multiple of the rate of those for substitution.
class RightSolve {
public:
  RightSolve(Count n, const Scalar *R); // R n x n, upper triangle, no zero on the diagonal
  void  apply(Count m, Scalar *B, Count ldb) const; // B m x n
  Count inverted() const;                           // columns of the largest part that was inverted

private:
  struct Part {
    Count begin, width;
    bool  inverted;
  };
  bool invert(Count j, Count w);
  void divide(Count j, Count w);
  void apply(Count j, Count w, Count m, Scalar *B, Count ldb, std::size_t &part) const;

  Count             n_;
  Buffer            R_; // parts that are inverted by their inverses
  std::vector<Part> parts_;
};

} // namespace petsctt

#endif
