#ifndef PETSCTT_TT_OPS_LAZY_HPP
#define PETSCTT_TT_OPS_LAZY_HPP

#include "tt/train.hpp"

namespace petsctt {

// A train that is known by what its cores do to matrices, not by their entries: an operator applied to a train has cores of
// size (S r) x n x (S r) that are mostly zero and shall never be stored. A plain train is one too (PlainTrain).
class LazyTrain {
public:
  virtual ~LazyTrain() = default;
  virtual const SpacePtr &space() const = 0;
  virtual Int             r(Int k) const = 0;     // TT ranks, k = 0..d
  virtual Int             rank_guess(Int k) const { return r(k); } // what r(k) will be about after rounding
  virtual Scaled          scale() const = 0;      // zero: the whole train is zero
  // T (r(k) x n(k) x c) := core_k W, W r(k+1) x c packed.
  virtual void times_right(Int k, const Scalar *W, Count c, Core &T) const = 0;
  // C (t x n(k) x r(k+1)) := L core_k, L t x r(k) packed.
  virtual void times_left(Int k, const Scalar *L, Count t, Core &C) const = 0;
  virtual Train form() const = 0; // with all entries
  // The train itself where all entries exist already, else null.
  virtual const Train *plain() const { return nullptr; }
};

class PlainTrain : public LazyTrain {
public:
  explicit PlainTrain(const Train &x) : x_(&x) { } // borrowed
  const SpacePtr &space() const override { return x_->space(); }
  Int             r(Int k) const override { return x_->r(k); }
  Scaled          scale() const override { return x_->scale(); }
  void            times_right(Int k, const Scalar *W, Count c, Core &T) const override;
  void            times_left(Int k, const Scalar *L, Count t, Core &C) const override;
  Train           form() const override { return *x_; }
  const Train    *plain() const override { return x_; }

private:
  const Train *x_;
};

} // namespace petsctt

#endif
