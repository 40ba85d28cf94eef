#ifndef PETSCTT_TT_TRAIN_HPP
#define PETSCTT_TT_TRAIN_HPP

#include "base/buffer.hpp"
#include "tt/scaled.hpp"
#include "tt/space.hpp"

#include <memory>
#include <vector>

namespace petsctt {

// A core: r0 x n x r1, n = local part of its mode, first index fastest: entry (a,i,b) is data()[a + r0*(i + n*b)].
// The vertical unfolding (r0 n) x r1 and the horizontal one r0 x (n r1) are therefore both column-major as they stand.
class Core {
public:
  Core() = default;
  Core(Int r0, Int n, Int r1) : r0(r0), n(n), r1(r1), a_((std::size_t)r0 * n * r1) { } // entries not initialised
  Int           r0 = 0, n = 0, r1 = 0;
  Count         count() const { return (Count)r0 * n * r1; }
  Scalar       *data() { return a_.data(); }
  const Scalar *data() const { return a_.data(); }
  Scalar       &operator()(Int a, Int i, Int b) { return a_.data()[a + (Count)r0 * (i + (Count)n * b)]; }
  Scalar        operator()(Int a, Int i, Int b) const { return a_.data()[a + (Count)r0 * (i + (Count)n * b)]; }

private:
  Buffer a_;
};

// A tensor train: value = scale * core_0 core_1 ... core_{d-1}, r[0] = r[d] = 1.
// Zero is a flag (scale 0 with rank-1 cores): it adds no rank to anything.
// Orthogonality is state: cores 0..left-1 are left-orthogonal (vertical unfolding has orthonormal columns) and cores
// d-right..d-1 are right-orthogonal (horizontal unfolding has orthonormal rows). When left + right >= d-1 the norm is that
// of one core. TT ranks, scale, zero and orthogonality are the same on every process.
class Train {
public:
  Train() = default;
  explicit Train(SpacePtr space); // the zero train
  Train(const Train &)            = default;
  Train(Train &&)                 = default;
  Train &operator=(const Train &) = default;
  Train &operator=(Train &&)      = default;

  const SpacePtr &space() const { return space_; }
  Int             d() const { return space_->d(); }
  Int             r(Int k) const { return k == 0 ? 1 : cores_[k - 1].r1; } // k = 0..d
  std::vector<Int> ranks() const;
  Int             max_rank() const;
  Count           local_entries() const; // stored on this process
  double          global_entries() const; // stored once over all processes (replicated modes counted once)

  const Core &core(Int k) const { return cores_[k]; }
  // Writable access and replacement drop what was known of orthogonality at k; the caller restores it with set_orthogonal.
  Core &core_rw(Int k);
  void  set_core(Int k, Core c); // n must match; r0, r1 are checked by check()
  void  check() const;           // throws PETSC_ERR_ARG_SIZ unless neighbouring TT ranks agree and r[0] = r[d] = 1

  const Scaled &scale() const { return scale_; }
  void          set_scale(const Scaled &s) { scale_ = s; }
  bool          is_zero() const { return scale_.is_zero(); }
  void          set_zero(); // frees the cores, rank 1

  Int  left() const { return left_; }
  Int  right() const { return right_; }
  void set_orthogonal(Int left, Int right) { left_ = left; right_ = right; }
  bool norm_is_one_core() const { return left_ + right_ >= d() - 1; }

private:
  SpacePtr          space_;
  std::vector<Core> cores_;
  Scaled            scale_;
  Int               left_ = 0, right_ = 0;
};

} // namespace petsctt

#endif
