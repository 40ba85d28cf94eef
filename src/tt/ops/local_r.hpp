#ifndef PETSCTT_TT_OPS_LOCAL_R_HPP
#define PETSCTT_TT_OPS_LOCAL_R_HPP

#include "base/buffer.hpp"
#include "tt/ops/r_factor.hpp"

namespace petsctt {

// The rows of a tall matrix that is never stored: its blocks are made where they are used, in cache.
class Rows {
public:
  virtual ~Rows() = default;
  virtual Count columns() const = 0;
  virtual Count units() const = 0;         // units of rows that can be asked for
  virtual Count unit() const { return 1; } // rows of a unit
  // B := `count` units from `first` on, packed: their rows, m x columns with m = count unit, or, if they come conjugated and transposed, the
  // columns x m matrix of them. The order of the rows within a block is the same for all columns and of no other importance.
  virtual void fill(Count first, Count count, Scalar *B) const = 0;
  virtual bool transposed() const = 0;
  // A few linear combinations of all rows with coefficients 0 and +-1, such that nearly every vector of the row space is about as long in them as
  // in all rows, up to a factor; false: none to be had. Cost: one pass over what the rows are made from.
  // The combinations come as rows in S (rows x columns, packed).
  virtual bool sketch(Buffer &S, Count &rows) const = 0;

  Count rows() const { return units() * unit(); }
  Count block_units(Count rows) const { return std::max<Count>(1, std::min(units(), rows / std::max<Count>(1, unit()))); }
};

// Adds the triangular factor of the rows of this process to f. Not collective.
//
// Where there are many more rows than columns, the triangle R0 of a sketch is taken as preconditioner: the rows times R0^-1 are
// nearly orthonormal columns B, so that the Cholesky factor R1 of B^H B is accurate, and R = R1 R0 is as good as one from Householder
// reflectors (row by row, B R0 reproduces the rows up to round-off), at the speed of matrix products (randomised Cholesky QR: Balabanov,
// arXiv 2210.09953, 2022). Where R0 is nearly singular, its singular value decomposition with the small values raised takes its place. That B is
// well-conditioned, and small where the sketch saw nothing, is checked; if it is not, Householder reflectors do the work. Cost 2 m n^2 flops,
// or 3 with the singular value decomposition.
void add_local_r(const Rows &rows, RFactor &f);

// The same from the Cholesky factor of the rows' Gram matrix, cost m n^2 flops, if the columns turn out to be so independent that this is as
// accurate; else false, and f is as before. Not tried with few rows or unless hopeful, which a try in vain makes false.
bool add_local_cholesky(const Rows &rows, RFactor &f, bool &hopeful);

// to (columns x rows) := from^H, from rows x columns, both packed.
void conjugate_transpose(Count rows, Count columns, const Scalar *from, Scalar *to);

// Upper triangle of G (n x n) := B^H B of the rows of this process. Cost m n^2 flops.
void local_gram(const Rows &rows, Scalar *G);

} // namespace petsctt

#endif
