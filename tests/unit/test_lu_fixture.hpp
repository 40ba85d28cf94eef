// What the tests of the distributed factorisations have in common.
#ifndef PETSCTT_TESTS_LU_FIXTURE_HPP
#define PETSCTT_TESTS_LU_FIXTURE_HPP

#include "base/numbers.hpp"

#include <petscsys.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace lu_fixture {

using namespace petsctt;

const Real eps = std::numeric_limits<Real>::epsilon();

// Random numbers that depend on a seed and the place only, in [-1, 1)
inline double uniform(std::uint64_t seed, Count i, Count j)
{
  std::uint64_t x = seed * 0x9E3779B97F4A7C15u + (std::uint64_t)i * 0xBF58476D1CE4E5B9u + (std::uint64_t)j * 0x94D049BB133111EBu + 0x2545F4914F6CDD1Du;
  for (int s = 0; s < 3; ++s) {
    x ^= x >> 31;
    x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
  }
  return 2 * ((double)(x >> 11) / 9007199254740992.0) - 1;
}
inline Scalar random_entry(std::uint64_t seed, Count i, Count j)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(uniform(seed, i, j), uniform(seed + 77, i, j));
#else
  return uniform(seed, i, j);
#endif
}

inline int size_of(MPI_Comm comm)
{
  int s;
  MPI_Comm_size(comm, &s);
  return s;
}
inline int rank_of(MPI_Comm comm)
{
  int r;
  MPI_Comm_rank(comm, &r);
  return r;
}
inline int world_size() { return size_of(MPI_COMM_WORLD); }
inline int world_rank() { return rank_of(MPI_COMM_WORLD); }

inline Real norm_of(const std::vector<Scalar> &a)
{
  Real s = 0;
  for (Scalar v : a) s += abs2(v);
  return std::sqrt(s);
}

} // namespace lu_fixture

#endif
