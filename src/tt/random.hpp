#ifndef PETSCTT_TT_RANDOM_HPP
#define PETSCTT_TT_RANDOM_HPP

#include "base/numbers.hpp"

#include <array>

namespace petsctt {

// Random numbers without state: each is a function of (seed, stream, global index) alone, so that what a process draws does
// not depend on how many processes there are or on what was drawn before. Seeds: all 64 bits; streams: below 2^63.
// uniform() and gaussian() of one stream are independent of each other.

// Uniform on the open interval (0,1).
Real uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// N(0,1); complex: N(0,1/2) + i N(0,1/2), so that the mean of |g|^2 is 1 for both scalar types.
Scalar gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t index);

// out[j] = gaussian(seed, stream, first_index + j), j < count, at half the cost per number for real scalars.
void fill_gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_index, Count count, Scalar *out);

// The same with N(0,1) in the real part and nothing in the imaginary one: the numbers of the real build, whatever the scalars. For
// sketches, which lose nothing by it, so that complex builds return what real ones do.
void fill_real_gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t first_index, Count count, Scalar *out);

// The generator underneath: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, SC 2011).
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

} // namespace petsctt

#endif
