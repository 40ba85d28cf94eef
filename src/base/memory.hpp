#ifndef PETSCTT_BASE_MEMORY_HPP
#define PETSCTT_BASE_MEMORY_HPP

#include <cstddef>

namespace petsctt {

// Whether so many bytes could be taken now, beside what Buffers have in use. Processes that are going to allocate for a common task ask, and tell each
// other, before they begin: one that fails on the way leaves the others waiting.
bool can_take_memory(double bytes);

// Most bytes in Buffers of 64 kB and more at a time, since free_cached_memory().
std::size_t peak_memory();

} // namespace petsctt

#endif
