#ifndef PETSCTT_TT_BUFFER_HPP
#define PETSCTT_TT_BUFFER_HPP

#include "tt/numbers.hpp"

#include <algorithm>
#include <memory>
#include <new>

namespace petsctt {

// Owned array of Scalars that is not initialised on allocation (std::vector would write every page twice).
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t n) : n_(n), a_(n ? static_cast<Scalar *>(::operator new(n * sizeof(Scalar), std::align_val_t(64))) : nullptr) { }
  Buffer(const Buffer &o) : Buffer(o.n_) { std::copy(o.data(), o.data() + n_, data()); }
  Buffer(Buffer &&o) noexcept : n_(o.n_), a_(std::move(o.a_)) { o.n_ = 0; }
  Buffer &operator=(Buffer o) noexcept
  {
    std::swap(n_, o.n_);
    a_.swap(o.a_);
    return *this;
  }

  std::size_t   size() const { return n_; }
  Scalar       *data() { return a_.get(); }
  const Scalar *data() const { return a_.get(); }
  Scalar       &operator[](std::size_t i) { return a_.get()[i]; }
  Scalar        operator[](std::size_t i) const { return a_.get()[i]; }
  void          fill(Scalar v) { std::fill(data(), data() + n_, v); }

private:
  struct Free {
    void operator()(Scalar *p) const { ::operator delete(p, std::align_val_t(64)); }
  };
  std::size_t                   n_ = 0;
  std::unique_ptr<Scalar, Free> a_;
};

} // namespace petsctt

#endif
