#ifndef PETSCTT_MAT_SOLVER_CONFLUX_AIJ_HPP
#define PETSCTT_MAT_SOLVER_CONFLUX_AIJ_HPP

#include "aij_block.hpp"
#include "aij_graph.hpp"
#include "conflux.hpp"

#include <string>
#include <vector>

namespace petsctt {

// Factorisation of a sparse matrix. With the unknowns of each process split into interior ones (I), which have no neighbours in other
// interiors, and an interface (G) common to all,
//
//   A = [ A_II  A_IG ]      A_II block diagonal, one block per process: a sequential sparse factorisation each;
//       [ A_GI  A_GG ]      S = A_GG - A_GI A_II^-1 A_IG dense, its rows distributed evenly whoever owned the unknowns: Common::dense.
//
// Rows and columns are scaled by powers of two first, so that what is small is so compared with 1. A process holds the scaled parts of its
// interior: A_II, A_IG with the interface columns that its interior touches (T), A_GI with these rows, and its rows of A_GG.
struct SparseLU : conflux::Common {
  BlockOptions block;
  int          repartition = 0; // auto, always, never

  // which unknowns are where
  Graph                              graph;
  std::vector<char>                  in; // the interface
  Split                              split;
  std::string                        partition;                 // where it comes from
  Count                              given_interface = 0, moved = 0; // size with the layout of A; unknowns moved because interiors were singular
  SFHandle                           rows;                      // from A's layout to interior unknowns, then rows of the interface matrix
  SFHandle                           touch;                     // from rows of the interface matrix to T
  std::vector<std::vector<PetscInt>> incoming;                  // T of each process that touches interface rows here
  ISHandle                           parts[8];                  // rows and columns of II, IG, GI, GG

  // values
  Mat              *sub = nullptr;
  PetscObjectId     id  = 0;          // of the matrix that sub came from
  PetscObjectState  pattern = 0;
  Csr               ii, ig, gi, gg;
  std::vector<Real> row_i, row_t, row_g, column_i, column_t, column_g; // scales; row_g of the interface rows here, column_g of the whole interface

  // factors
  Mat  interior    = nullptr;
  int  refinements = 0;
  Real norm = 0, rcond = 0, backward_error = 0;

  ~SparseLU() override;
  PetscErrorCode solve(Mat F, char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx) override;

  Count n_i() const { return (Count)split.interior.size(); }
  Count n_t() const { return (Count)split.touched.size(); }
  Count n_g() const { return (Count)split.interface.size(); }
  Count g_begin = 0, g_end = 0; // rows of the interface matrix here
  Count n_r() const { return g_end - g_begin; }
  Count columns = 1, largest = 1; // right-hand sides at a time: about 128 MB of the largest interior; and its unknowns
};

// Right-hand sides of this process in the factor's order: interior unknowns and interface rows, each packed, column-major.
struct Leaves {
  Count  k = 0;
  Buffer i, r;
};

// y -= op(A) x with the scaled matrix; op = N, T. Collective, as are all below.
PetscErrorCode subtract_product(const SparseLU &f, MPI_Comm comm, char op, const Leaves &x, Leaves &y);
// v = op(A)^-1 v with the scaled matrix, without and with refinement.
PetscErrorCode solve_scaled(SparseLU &f, char op, Leaves &v);
PetscErrorCode solve_refined(SparseLU &f, MPI_Comm comm, char op, Leaves &v);
// X = op(A)^-1 B for k columns in A's layout.
PetscErrorCode solve_columns(SparseLU &f, MPI_Comm comm, char op, Count n, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx);

// Values of A: parts and scales, false if an entry is not finite; the interface matrix without the interiors' contributions and with them; estimates
PetscErrorCode extract(SparseLU &f, Mat A);
PetscErrorCode scale(SparseLU &f, MPI_Comm comm, bool *finite);
PetscErrorCode contribution(SparseLU &f, Buffer &c, Real *largest);
PetscErrorCode assemble_interface(const SparseLU &f, MPI_Comm comm, const Buffer &c, Buffer &s);
PetscErrorCode assess(SparseLU &f, MPI_Comm comm);

} // namespace petsctt

#endif
