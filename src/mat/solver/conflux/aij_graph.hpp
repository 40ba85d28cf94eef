#ifndef PETSCTT_MAT_SOLVER_CONFLUX_AIJ_GRAPH_HPP
#define PETSCTT_MAT_SOLVER_CONFLUX_AIJ_GRAPH_HPP

#include "base/numbers.hpp"

#include <petscmat.h>

#include <vector>

// Which unknowns of a sparse matrix each process eliminates by itself, and which are left for the interface.
namespace petsctt {

// Lists of numbers to all processes of comm; in[p] is what process p sent here. Collective.
PetscErrorCode exchange(MPI_Comm comm, const std::vector<std::vector<PetscInt>> &out, std::vector<std::vector<PetscInt>> &in);

// Undirected graph of the pattern of A and of its transpose, without loops: the unknowns of this process and their neighbours.
struct Graph {
  std::vector<PetscInt>    own;        // global numbers, ascending
  std::vector<PetscInt>    first;      // neighbours of own[i] are entries [first[i], first[i + 1]) of
  std::vector<PetscInt>    index;      // below own.size(): a place in own; beyond: a place in ghost, plus own.size()
  std::vector<PetscInt>    ghost;      // neighbours on other processes, ascending
  std::vector<PetscMPIInt> ghost_part; // and whose they are
  PetscInt                 number(PetscInt i) const { return i < (PetscInt)own.size() ? own[(std::size_t)i] : ghost[(std::size_t)i - own.size()]; }
};

// That of a square MATAIJ by its layout. Collective.
PetscErrorCode graph_of(Mat A, Graph *g);
// The same graph after MatPartitioning, which reads its type and options under the prefix; name tells which it was. Unknowns stay in A's layout.
// Not done where PETSc has no partitioner that can be used.
PetscErrorCode repartition(Mat A, const Graph &given, const char *prefix, Graph *g, char *name, std::size_t length, bool *done);

// A set of unknowns that has an end of each edge between two processes: flags for own, then ghost. A smallest one between each two processes; of
// their union what is not needed is dropped. Does not depend on the timing of messages. Collective.
PetscErrorCode separator(MPI_Comm comm, const Graph &g, std::vector<char> *in);

// What follows from the flags.
struct Split {
  std::vector<PetscInt> interior; // of this process, ascending global numbers
  std::vector<PetscInt> interface; // of all processes, ascending global numbers, on all
  std::vector<PetscInt> touched;  // places in `interface` of the neighbours of `interior`, ascending
  std::vector<Count>    starts;   // process p has rows [starts[p], starts[p + 1]) of the interface matrix, whoever owned them
};
PetscErrorCode split(MPI_Comm comm, const Graph &g, const std::vector<char> &in, Split *s);

// Model of the flops on the busiest process: factorisation of plane interiors by nested dissection, their Schur complements, and the dense
// interface matrix. Only ratios between partitions matter. Collective.
PetscErrorCode modelled_work(MPI_Comm comm, const Split &s, double *flops);

} // namespace petsctt

#endif
