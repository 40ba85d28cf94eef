#ifndef PETSCTT_LU_TEAM_HPP
#define PETSCTT_LU_TEAM_HPP

#include "base/buffer.hpp"
#include "base/numbers.hpp"

#include <mpi.h>

#include <vector>

// Communication of the dense factorisations: point-to-point messages only, so that what is counted is exactly what was sent.
namespace petsctt::lu {

constexpr Count longest_message = (Count(1) << 30) / (Count)sizeof(Scalar); // entries: below the range of an int in bytes as well

// Throws PETSC_ERR_MPI unless a call of MPI was successful.
void check_mpi(int ierr, const char *call);

// Sent and received by this process. One word is one Scalar; a message to itself is none, and an empty one is not sent.
struct Ledger {
  Count messages = 0, words = 0, received = 0;
};

// Some processes of a communicator, in an order of their own. All members call each operation. Every team of a communicator has a tag of its
// own, so that two teams with processes in common do not take each other's messages.
class Team {
public:
  Team() = default;
  Team(MPI_Comm comm, std::vector<int> members, int tag, Ledger *ledger);

  int size() const { return (int)members_.size(); }
  int me() const { return me_; }

  // Member q gets counts_out[q] entries, one member after the other in `out`; the same for what comes in. Counts must agree.
  void exchange(const Scalar *out, const std::vector<Count> &counts_out, Scalar *in, const std::vector<Count> &counts_in) const;
  // Concatenation of the members' blocks of counts[q] entries, on all.
  void allgather(const Scalar *mine, Scalar *all, const std::vector<Count> &counts) const;
  // Along a binomial tree.
  void bcast(Scalar *a, Count n, int root) const;
  // From member to member round the ring from the root, in pieces which each passes on while it waits for the next one.
  void pipeline(Scalar *a, Count n, int root) const;
  // Largest entry by entry, on all; few entries.
  void max(Scalar *a, Count n) const;
  // Sum entry by entry, along a binomial tree: on the root; elsewhere `a` is destroyed.
  void sum_to(Scalar *a, Count n, int root) const;

  void send(const Scalar *a, Count n, int to) const;
  void recv(Scalar *a, Count n, int from) const;

private:
  friend class Ring;
  template <class Combine> void reduce(Scalar *a, Count n, int root, Combine combine) const;
  void isend(const Scalar *a, Count n, int to, std::vector<MPI_Request> &requests) const;
  void irecv(Scalar *a, Count n, int from, std::vector<MPI_Request> &requests) const;

  MPI_Comm         comm_ = MPI_COMM_NULL;
  std::vector<int> members_;
  int              me_ = 0, tag_ = 0;
  Ledger          *ledger_ = nullptr;
};

// A broadcast round the ring that the root and the members begin, and end when they need it: the root goes on computing, and each member
// passes the message on when it ends its own part. One at a time per team, which is used for nothing else.
class Ring {
public:
  explicit Ring(const Team *team = nullptr) : team_(team) { }
  // At the root: n entries; elsewhere: room for n, of which fewer may come.
  void begin(Scalar *a, Count n, int root);
  // After it the message is there. What is sent still reads it until drain().
  void end();
  void drain();

private:
  const Team              *team_ = nullptr;
  Scalar                  *a_    = nullptr;
  int                      root_ = 0;
  std::vector<MPI_Request> in_, out_;
};

} // namespace petsctt::lu

#endif
