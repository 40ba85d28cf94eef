#ifndef PETSCTT_BENCHMARKS_MPI_COUNTER_HPP
#define PETSCTT_BENCHMARKS_MPI_COUNTER_HPP

// Counts what any library of a program sends through MPI. mpi_counter.cxx defines the MPI functions that send: it must be among the sources of the
// program itself, which must export them (ENABLE_EXPORTS) so that shared libraries find them before those of MPI.
//
// Messages from one process to another are counted exactly, at the sender: what a process receives is what the others say that they have sent to it.
// Messages to itself are none. For collective operations on p processes, where the amount depends on the algorithm of MPI, a good one
// is assumed; n: bytes of the array.
//   broadcast           sent n (p-1)/p by each, received n by all but the root; reduction the other way round
//   sum on all          2 n (p-1)/p sent and received; sum scattered: n (p-1)/p of the whole array
//   gathered on all     what the others have; gather, scatter and all-to-all: directly
//   scan                n to the next process
// with the messages of these: (p-1)/p for a broadcast, and so on. Windows and persistent requests end the program while it is counting;
// nonblocking and neighbourhood collectives are not seen. ScaLAPACK uses none of them.
namespace bench {

struct MpiCount {
  double messages = 0, sent = 0, received = 0; // of this process; bytes
};

// Nothing is counted outside. Both collective on MPI_COMM_WORLD.
void     mpi_counter_start();
MpiCount mpi_counter_stop();

} // namespace bench

#endif
