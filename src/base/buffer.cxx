#include "base/buffer.hpp"

#include "base/memory.hpp"

#include <limits>
#include <map>
#include <mutex>

namespace petsctt {

namespace {

constexpr std::size_t small     = std::size_t(1) << 16; // smaller arrays are malloc's business
constexpr std::size_t page      = 4096;
constexpr std::size_t least_kept = std::size_t(1) << 26;
constexpr auto        alignment = std::align_val_t(64);

struct Pool {
  std::mutex                          mutex;
  std::multimap<std::size_t, void *> free;
  std::size_t                         used = 0, cached = 0, peak = 0, fresh = 0; // bytes

  void drop(std::multimap<std::size_t, void *>::iterator i)
  {
    cached -= i->first;
    ::operator delete(i->second, alignment);
    free.erase(i);
  }
  void clear()
  {
    while (!free.empty()) drop(free.begin());
  }
};

Pool &pool()
{
  static Pool *p = new Pool; // never destroyed: static Buffers give their memory back later than any static object of this file
  return *p;
}

// Sizes in steps of an eighth to a quarter, so that arrays of about the same size share; pages that are not touched cost nothing.
std::size_t capacity(std::size_t bytes)
{
  std::size_t step = page;
  while (step < bytes / 8) step *= 2;
  return (bytes + step - 1) / step * step;
}

} // namespace

void *take_memory(std::size_t bytes)
{
  if (bytes < small) return ::operator new(bytes, alignment);
  const std::size_t           c = capacity(bytes);
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  const auto                  fit = p.free.find(c);
  if (fit != p.free.end()) {
    void *a = fit->second;
    p.cached -= c;
    p.used += c;
    p.peak = std::max(p.peak, p.used);
    p.free.erase(fit);
    return a;
  }
  // Nothing of that size: room is made, so that all together stays within the largest amount that was in use at a time and a quarter. The block that is
  // just large enough goes first; the big ones are those that it pays to keep.
  while (!p.free.empty() && p.cached > least_kept && p.used + p.cached + c > p.peak + p.peak / 4) {
    const auto next = p.free.lower_bound(c);
    p.drop(next != p.free.end() ? next : std::prev(p.free.end()));
  }
  void *a;
  try {
    a = ::operator new(c, alignment);
  } catch (const std::bad_alloc &) { // what is kept may be what is missing
    p.clear();
    a = ::operator new(c, alignment);
  }
  p.used += c;
  p.fresh += c;
  p.peak = std::max(p.peak, p.used);
  return a;
}

void give_memory(void *a, std::size_t bytes)
{
  if (!a) return;
  if (bytes < small) {
    ::operator delete(a, alignment);
    return;
  }
  const std::size_t           c = capacity(bytes);
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  p.used -= c;
  try {
    p.free.emplace(c, a);
    p.cached += c;
  } catch (const std::bad_alloc &) { // no memory even for the entry
    ::operator delete(a, alignment);
  }
}

void free_cached_memory()
{
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  p.clear();
  p.peak = p.used;
}

std::size_t peak_memory()
{
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.peak;
}

std::size_t fresh_memory()
{
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.fresh;
}

bool can_take_memory(double bytes)
{
  if (bytes <= 0) return true;
  if (!(bytes < 0.5 * (double)std::numeric_limits<std::size_t>::max())) return false;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (void *a = ::operator new((std::size_t)bytes, alignment, std::nothrow)) {
      *static_cast<volatile char *>(a) = 0; // or the pair is optimised away
      ::operator delete(a, alignment);
      return true;
    }
    free_cached_memory();
  }
  return false;
}

std::size_t cached_memory()
{
  Pool                       &p = pool();
  std::lock_guard<std::mutex> lock(p.mutex);
  return p.cached;
}

} // namespace petsctt
