#include "tt/space.hpp"

#include "base/error.hpp"

#include <string>

namespace petsctt {

Mode split_evenly(Int N, int size)
{
  Mode m;
  m.N          = N;
  m.replicated = false;
  m.starts.resize(size + 1);
  m.starts[0] = 0;
  for (int p = 0; p < size; ++p) m.starts[p + 1] = m.starts[p] + N / size + ((N % size) > p ? 1 : 0);
  return m;
}

Mode replicate(Int N)
{
  Mode m;
  m.N = N;
  return m;
}

Space::Space(MPI_Comm comm, std::vector<Mode> modes) : comm_(comm), modes_(std::move(modes))
{
  PETSCTT_REQUIRE(!modes_.empty(), PETSC_ERR_ARG_OUTOFRANGE, "A tensor train needs at least one mode");
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    Mode &m = modes_[k];
    PETSCTT_REQUIRE(m.N >= 1, PETSC_ERR_ARG_OUTOFRANGE, "Mode %d has size %lld, must be at least 1", (int)k, (long long)m.N);
    if (!m.replicated) {
      PETSCTT_REQUIRE((int)m.starts.size() == comm_.size() + 1, PETSC_ERR_ARG_SIZ, "Mode %d is split over %d processes, the communicator has %d", (int)k, (int)m.starts.size() - 1, comm_.size());
      PETSCTT_REQUIRE(m.starts.front() == 0 && m.starts.back() == m.N, PETSC_ERR_ARG_SIZ, "Mode %d: the local sizes add up to %lld, not to %lld", (int)k, (long long)(m.starts.back() - m.starts.front()), (long long)m.N);
      for (int p = 0; p < comm_.size(); ++p)
        PETSCTT_REQUIRE(m.starts[p] <= m.starts[p + 1], PETSC_ERR_ARG_SIZ, "Mode %d: process %d has a negative local size %lld", (int)k, p, (long long)(m.starts[p + 1] - m.starts[p]));
    }
    // On one process the two kinds are the same thing: one canonical form, so that such spaces compare equal.
    if (comm_.size() == 1) {
      m.replicated = true;
      m.starts.clear();
    }
  }
}

Real Space::log10_full_size() const
{
  Real s = 0;
  for (const Mode &m : modes_) s += std::log10((Real)m.N);
  return s;
}

Real Space::full_size() const
{
  Real s = 1;
  for (const Mode &m : modes_) s *= (Real)m.N;
  return s;
}

bool Space::same(const Space &o) const
{
  if (this == &o) return true;
  if (!(modes_ == o.modes_)) return false;
  if (comm_.mpi() == o.comm_.mpi()) return true;
  int result;
  MPI_Comm_compare(comm_.mpi(), o.comm_.mpi(), &result);
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

std::string Space::describe() const
{
  std::string s;
  for (std::size_t k = 0; k < modes_.size(); ++k) {
    if (s.size() > 180) {
      s += " x ... (" + std::to_string(modes_.size()) + " modes)";
      break;
    }
    if (k) s += " x ";
    s += std::to_string((long long)modes_[k].N) + (modes_[k].replicated && comm_.size() > 1 ? "r" : "");
  }
  return s;
}

void require_same_space(const Space &a, const Space &b, const char *what)
{
  PETSCTT_REQUIRE(a.same(b), PETSC_ERR_ARG_INCOMP, "%s: the modes differ: %s and %s", what, a.describe().c_str(), b.describe().c_str());
}

} // namespace petsctt
