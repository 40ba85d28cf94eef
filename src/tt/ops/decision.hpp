#ifndef PETSCTT_TT_OPS_DECISION_HPP
#define PETSCTT_TT_OPS_DECISION_HPP

// Private to tt/ops: what one process decides from a triangle or a Gram matrix and tells the others, so that all have the same ranks.
#include "tt/comm.hpp"
#include "tt/ops/r_factor.hpp"

#include <vector>

namespace petsctt {

constexpr Real far = 1e100; // norms beyond this, or below its inverse: squares may have left the range

enum Status : int { fine = 1, not_finite = 0, all_zero = -1, no_convergence = -2, out_of_range = -3, too_coarse = -4, failed = -5 };

struct Decision {
  int    status = fine;
  Int    l      = 0;     // columns of the matrix
  Real   tail2  = 0;     // squared relative error of a truncation
  Real   floor2 = 0;     // and of the floor
  Real   eps2   = 0;     // squared tolerance of the whole, once the norm is known
  bool   cap_hit = false;
  Buffer m;              // rows x l, packed
  bool   lower  = false; // it is a lower triangle
  Buffer carry;          // U^H C, l x total rank, where it comes with the decision
};

// What f() decides; an exception on the one process that decides, which the others wait for, becomes a status.
template <class F> Decision guarded(F &&f)
{
  try {
    return f();
  } catch (...) { // no memory, or sizes beyond LAPACK
    Decision c;
    c.status = failed;
    return c;
  }
}

// Hands the decision of process 0 to all; `rows` of its matrix.
void share(const Comm &comm, Decision &c, Count rows);

// Norms of the columns of an upper triangle. strict: out_of_range if one of them, zero included, is far from 1.
int column_norms(Count n, const Scalar *R, bool strict, std::vector<Real> &D);

// W := R^H from the triangle f, or of as many columns as its rows are independent, `rows` at most: those of what was factored.
Decision decide_right(Count rows, const RFactor &f, bool strict);
// The same for remainders beside coefficients G (n x r, packed): rows that are round-off of what was subtracted are none. Changes f.
// No columns at all if nothing is left.
Decision decide_beside(Count rows, RFactor &f, const Buffer &G, Count r, bool strict);
// W with W W^H = G, from the Cholesky factor, or from eigenvectors where G (n x n, upper triangle) is nearly singular.
// Rows far from 1 are out of range. beside: coefficients as above, n x r, or null.
Decision decide_gram(Count n, const Buffer &G, const Buffer *beside = nullptr, Count r = 0);

} // namespace petsctt

#endif
