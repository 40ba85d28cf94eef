#ifndef PETSCTT_TT_SPACE_HPP
#define PETSCTT_TT_SPACE_HPP

#include "tt/comm.hpp"

#include <memory>
#include <string>
#include <vector>

namespace petsctt {

// One mode: global size and who owns which indices. Distributed: process p owns [starts[p], starts[p+1]).
// Replicated: every process stores all indices.
struct Mode {
  Int              N          = 0;
  bool             replicated = true;
  std::vector<Int> starts; // size+1 entries when distributed, empty when replicated

  Int  start(int rank) const { return replicated ? 0 : starts[rank]; }
  Int  local(int rank) const { return replicated ? N : starts[rank + 1] - starts[rank]; }
  bool operator==(const Mode &o) const { return N == o.N && replicated == o.replicated && starts == o.starts; }
};

// Pure plan of a mode: the even split PETSc uses (the first N mod size processes own one more), for any number of processes.
Mode split_evenly(Int N, int size);
Mode replicate(Int N);

// The mode signature: communicator and modes, identical on every process, immutable, shared by all trains of one kind.
// Two trains may meet in an operation only if their spaces are `same`.
class Space {
public:
  Space(MPI_Comm comm, std::vector<Mode> modes); // requires d >= 1, N >= 1
  const Comm &comm() const { return comm_; }
  Int         d() const { return (Int)modes_.size(); }
  const Mode &mode(Int k) const { return modes_[k]; }
  Int         N(Int k) const { return modes_[k].N; }
  Int         n(Int k) const { return modes_[k].local(comm_.rank()); }
  Int         start(Int k) const { return modes_[k].start(comm_.rank()); }
  bool        replicated(Int k) const { return modes_[k].replicated; }
  Real        log10_full_size() const;
  Real        full_size() const; // Inf when it leaves the range
  bool        same(const Space &o) const;
  std::string describe() const; // "1580 x 101 x 101r" (r = replicated), at most about 200 characters

private:
  Comm              comm_;
  std::vector<Mode> modes_;
};

using SpacePtr = std::shared_ptr<const Space>;

// Throws PETSC_ERR_ARG_INCOMP naming both signatures and `what` unless they agree.
void require_same_space(const Space &a, const Space &b, const char *what);

} // namespace petsctt

#endif
