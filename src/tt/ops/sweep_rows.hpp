#ifndef PETSCTT_TT_OPS_SWEEP_ROWS_HPP
#define PETSCTT_TT_OPS_SWEEP_ROWS_HPP

// Private to tt/ops: the tall matrices that two_sweeps.cxx factors, made block by block.
#include "tt/ops/local_r.hpp"
#include "tt/ops/random_sum.hpp"

#include <vector>

namespace petsctt {

// W of a bond: for every term i a packed r_i x l matrix, true value = stored * 2^e[i]; the same on all processes.
struct RightFactor {
  Int                       l        = 0;
  bool                      identity = false; // of a single term, l = r; nothing is stored
  bool                      lower    = false; // the terms over each other are a lower triangle, or its last rows from `first_row` on
  Count                     first_row = 0;
  std::vector<Buffer>       w;
  std::vector<std::int64_t> e;

  std::int64_t top() const { return *std::max_element(e.begin(), e.end()); }
  // W_i P 2^(e_i - e), P l x c packed: r_i x c.
  Buffer times(std::size_t i, Count r, std::int64_t e, const Scalar *P, Count c) const;
  // All terms over each other, in units of 2^e.
  Buffer stacked(const std::vector<LazyTerm> &terms, Int k, std::int64_t e) const;
};

// The conjugate transpose of T = core_k W_(k+1), all terms over each other: rows (i, j) with j < l, a unit for each i; columns (term, a).
class TRows : public Rows {
public:
  TRows(const Space &space, Int k, const std::vector<LazyTerm> &terms, const RightFactor &w);
  Count columns() const override { return columns_; }
  Count units() const override { return n_; }
  Count unit() const override { return w_.l; }
  bool  transposed() const override { return true; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

private:
  struct Part {
    const Core *core     = nullptr; // r x n x r1
    bool        multiply = true;    // by W; false: the core is T already
    Count       offset   = 0;
    Core        own;
  };
  void multiply(std::size_t term, const Scalar *A, Count m, Count lda, Count offset, Scalar *B) const;
  void fill_from(const std::vector<Part> &parts, Count n, Count first, Count count, Scalar *B) const;

  const RightFactor        &w_;
  Count                     n_, start_, columns_ = 0;
  std::vector<Part>         parts_;
  mutable Buffer            piece_; // of one term, before it takes its place among the others
};

// The same T without what lies in the span of the rows of X = [core 0], r_x x (n r_x1), which are orthonormal: T - G [X 0].
class RemainderRows : public Rows {
public:
  RemainderRows(const TRows &T, const Core &X, Count start, const Buffer &G) : T_(T), X_(X), start_(start), G_(G) { }
  Count columns() const override { return T_.columns(); }
  Count units() const override { return T_.units(); }
  Count unit() const override { return T_.unit(); }
  bool  transposed() const override { return true; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

  // G := T [X 0]^H of this process; T may have only the columns that belong to X.
  static void coefficients(const TRows &T, const Core &X, Scalar *G);

private:
  const TRows  &T_;
  const Core   &X_;
  Count         start_;
  const Buffer &G_;
};

// The conjugate transpose of the horizontal unfolding of a core, r0 x (n r1): columns a, a unit for each point of the mode.
class CoreRows : public Rows {
public:
  explicit CoreRows(const Core &c) : c_(c) { }
  Count columns() const override { return c_.r0; }
  Count units() const override { return c_.n; }
  Count unit() const override { return c_.r1; }
  bool  transposed() const override { return true; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

private:
  const Core &c_;
};

// A matrix m x n in memory, whose first `last` columns count as its last ones.
class StoredRows : public Rows {
public:
  StoredRows(Count m, Count n, const Scalar *A, Count last = 0) : m_(m), n_(n), last_(last), A_(A) { }
  Count columns() const override { return n_; }
  Count units() const override { return m_; }
  bool  transposed() const override { return false; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

private:
  const Scalar *column(Count j) const { return A_ + m_ * ((j + last_) % n_); }

  Count         m_, n_, last_;
  const Scalar *A_;
};

// The C_i beside each other.
class CRows : public Rows {
public:
  explicit CRows(const std::vector<Core> &C) : C_(C) { }
  Count columns() const override;
  Count units() const override { return (Count)C_[0].r0 * C_[0].n; }
  bool  transposed() const override { return false; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

private:
  const std::vector<Core> &C_;
};

// Z = sum of C_i W_i, in units of 2^e.
class ZRows : public Rows {
public:
  ZRows(const std::vector<Core> &C, const RightFactor &w, std::int64_t e) : C_(C), w_(w), e_(e) { }
  Count columns() const override { return w_.l; }
  Count units() const override { return (Count)C_[0].r0 * C_[0].n; }
  bool  transposed() const override { return false; }
  void  fill(Count first, Count count, Scalar *B) const override;
  bool  sketch(Buffer &S, Count &rows) const override;

private:
  void product(const std::vector<const Scalar *> &C, Count count, Count ldc, Scalar *B, Count ldb) const;

  const std::vector<Core> &C_;
  const RightFactor       &w_;
  std::int64_t             e_;
};

} // namespace petsctt

#endif
