#include "tt/random.hpp"

namespace petsctt {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> c, std::array<std::uint32_t, 2> key)
{
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = (std::uint64_t)0xD2511F53u * c[0], p1 = (std::uint64_t)0xCD9E8D57u * c[2];
    c = {(std::uint32_t)(p1 >> 32) ^ c[1] ^ key[0], (std::uint32_t)p1, (std::uint32_t)(p0 >> 32) ^ c[3] ^ key[1], (std::uint32_t)p0};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

namespace {

// The top bit of the counter keeps the two distributions of one stream apart.
enum class Use : std::uint64_t { uniform = 0, gaussian = std::uint64_t(1) << 63 };

struct Pair {
  double a, b;
};

// Midpoint of one of 2^52 cells of (0,1): 0 and 1 never come out, and every midpoint is a double.
double to_unit(std::uint32_t hi, std::uint32_t lo)
{
  const std::uint64_t bits = (((std::uint64_t)hi << 32) | lo) >> 12;
  return ((double)bits + 0.5) * 0x1p-52;
}

Pair uniform_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, Use use)
{
  stream ^= (std::uint64_t)use;
  const auto w = philox4x32({(std::uint32_t)block, (std::uint32_t)(block >> 32), (std::uint32_t)stream, (std::uint32_t)(stream >> 32)},
                            {(std::uint32_t)seed, (std::uint32_t)(seed >> 32)});
  return {to_unit(w[0], w[1]), to_unit(w[2], w[3])};
}

// Two independent N(0, variance) by the transform of Box and Muller (1958).
Pair gaussian_pair(std::uint64_t seed, std::uint64_t stream, std::uint64_t block, double variance)
{
  const Pair   u     = uniform_pair(seed, stream, block, Use::gaussian);
  const double rho   = std::sqrt(-2.0 * variance * std::log(u.a));
  const double angle = 6.283185307179586476925 * u.b;
  return {rho * std::cos(angle), rho * std::sin(angle)};
}

} // namespace

Real uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
  return (Real)uniform_pair(seed, stream, index, Use::uniform).a;
}

// A block of the generator gives two real numbers: indices 2b and 2b+1.
void fill_real_gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Count count, Scalar *out)
{
  const auto pair = [&](std::uint64_t index) { return gaussian_pair(seed, stream, index >> 1, 1.0); };
  Count      j    = 0;
  if (count > 0 && (first & 1)) out[j++] = (Scalar)pair(first).b;
  for (; j + 1 < count; j += 2) {
    const Pair g = pair(first + (std::uint64_t)j);
    out[j]       = (Scalar)g.a;
    out[j + 1]   = (Scalar)g.b;
  }
  if (j < count) out[j] = (Scalar)pair(first + (std::uint64_t)j).a;
}

#if defined(PETSC_USE_COMPLEX)

Scalar gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
  const Pair g = gaussian_pair(seed, stream, index, 0.5);
  return Scalar(g.a, g.b);
}

void fill_gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Count count, Scalar *out)
{
  for (Count j = 0; j < count; ++j) out[j] = gaussian(seed, stream, first + (std::uint64_t)j);
}

#else

Scalar gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t index)
{
  const Pair g = gaussian_pair(seed, stream, index >> 1, 1.0);
  return (Scalar)(index & 1 ? g.b : g.a);
}

void fill_gaussian(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, Count count, Scalar *out)
{
  fill_real_gaussian(seed, stream, first, count, out);
}

#endif

} // namespace petsctt
