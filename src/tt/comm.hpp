#ifndef PETSCTT_TT_COMM_HPP
#define PETSCTT_TT_COMM_HPP

#include "base/numbers.hpp"

#include <vector>

namespace petsctt {

// What this process has sent: point-to-point messages and the rounds of collectives (ceil(log2 size) each), and words
// (one word = one Scalar). Counted by Comm itself so that benchmarks print exact, repeatable figures.
struct CommCounts {
  Count messages = 0;
  Count words    = 0;
};

// A borrowed communicator with the few operations the TT layer needs; counts above the range of an MPI int are sent in
// pieces. Every collective is collective on the whole communicator. A process of a communicator of size 1 sends nothing.
class Comm {
public:
  explicit Comm(MPI_Comm comm);
  MPI_Comm mpi() const { return comm_; }
  int      rank() const { return rank_; }
  int      size() const { return size_; }

  void sum(Scalar *a, Count n) const;                        // in place, result on all
  void max(Real *a, Count n) const;                          // in place, result on all
  void bcast(Scalar *a, Count n, int root = 0) const;
  void bcast(Int *a, Count n, int root = 0) const;
  void send(const Scalar *a, Count n, int to, int tag) const;
  void recv(Scalar *a, Count n, int from, int tag) const;
  // Concatenation over the processes of counts[p] entries each, result on all.
  void allgatherv(const Scalar *mine, Scalar *all, const std::vector<Count> &counts) const;

  static CommCounts &counts(); // of this process, since the start or the last reset by the caller

private:
  MPI_Comm comm_;
  int      rank_, size_;
};

} // namespace petsctt

#endif
