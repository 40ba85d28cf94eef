#ifndef PETSCTT_MAT_IMPLS_TT_FILE_HPP
#define PETSCTT_MAT_IMPLS_TT_FILE_HPP

// What the binary and the HDF5 form of a MATTT share.
#include "mat/impls/tt/impl.hpp"

namespace petsctt {

// What a file says of an operator before its blocks and factors.
struct StoredOperator {
  Int                           d = 0;
  std::vector<PetscInt64>       N, kind; // sizes; 0 distributed, 1 replicated, 2 written by one process: decided when loaded
  std::vector<PetscInt64>       S, F, E; // d + 1 block ranks; factors and entries of every mode
  std::vector<std::vector<Int>> list;    // when writing: the factors of each mode that occur in the merged form, as numbered in the operator
};

// Brings the merged form of A up to date and describes it. Collective.
PetscErrorCode describe_operator(Mat A, StoredOperator &h);
// Fails with the number that is out of its range. The same on all processes.
PetscErrorCode check_operator(MPI_Comm comm, const StoredOperator &h);
PetscErrorCode in_range(MPI_Comm comm, const char *what, const std::vector<PetscInt64> &a, PetscInt64 from, PetscInt64 to);
// The modes of the file become those of the matrix unless it has some, which must have the same sizes.
PetscErrorCode take_modes(Mat A, const StoredOperator &h);

// The entries of a core as triples (i, j, number in `list` or -1 for the identity) and coefficients, and back; blocks_of() checks them.
void           entries_of(const BlockCore &core, const std::vector<Int> &list, std::vector<PetscInt64> &where, std::vector<Scalar> &c);
PetscErrorCode blocks_of(MPI_Comm comm, const StoredOperator &h, Int k, const std::vector<PetscInt64> &where, const std::vector<Scalar> &c, BlockCore &core);
PetscErrorCode take_blocks(Mat A, BlockTrain &&blocks);

// Rows start .. start+n-1 of factor M of mode k as this process writes them: its own of a distributed mode, an even share of a replicated one.
struct Share {
  std::vector<PetscInt64> lengths, columns;
  std::vector<Scalar>     values;
  PetscInt                start = 0;
};
PetscErrorCode share_of(const Space &space, Int k, Mat M, Share &out);
// A factor of mode k of which this process has these rows (compressed rows, all of them on a replicated mode).
PetscErrorCode factor_of_rows(const Space &space, Int k, const PetscInt ia[], const PetscInt ja[], const PetscScalar va[], Mat *M);

} // namespace petsctt

#endif
