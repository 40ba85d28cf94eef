#ifndef PETSCTT_BASE_BUFFER_HPP
#define PETSCTT_BASE_BUFFER_HPP

#include "base/numbers.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace petsctt {

// Memory of Buffers. Arrays of 64 kB and more are kept when they are given back and handed out again to requests of the same size: fresh pages
// cost more than the arithmetic on them. What is kept and what is in use are together at most 5/4 of the largest amount that
// was in use at a time, or 64 MB are kept.
void       *take_memory(std::size_t bytes);
void        give_memory(void *a, std::size_t bytes);
void        free_cached_memory();
std::size_t cached_memory(); // bytes kept
std::size_t fresh_memory();  // bytes taken from the system for such arrays since the start

// Owned array of Scalars that is not initialised on allocation (std::vector would write every page twice).
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(std::size_t n) : n_(n), a_(n ? static_cast<Scalar *>(take_memory(n * sizeof(Scalar))) : nullptr) { }
  ~Buffer() { give_memory(a_, n_ * sizeof(Scalar)); }
  Buffer(const Buffer &o) : Buffer(o.n_) { std::copy(o.data(), o.data() + n_, data()); }
  Buffer(Buffer &&o) noexcept : n_(o.n_), a_(o.a_)
  {
    o.n_ = 0;
    o.a_ = nullptr;
  }
  Buffer &operator=(Buffer o) noexcept
  {
    std::swap(n_, o.n_);
    std::swap(a_, o.a_);
    return *this;
  }

  std::size_t   size() const { return n_; }
  Scalar       *data() { return a_; }
  const Scalar *data() const { return a_; }
  Scalar       &operator[](std::size_t i) { return a_[i]; }
  Scalar        operator[](std::size_t i) const { return a_[i]; }
  void          fill(Scalar v) { std::fill(data(), data() + n_, v); }

private:
  std::size_t n_ = 0;
  Scalar     *a_ = nullptr;
};

} // namespace petsctt

#endif
