#ifndef PETSCTT_MAT_IMPLS_TT_GHOST_HPP
#define PETSCTT_MAT_IMPLS_TT_GHOST_HPP

#include "sys/guard.hpp"
#include "tt/train.hpp"

#include <petscmat.h>
#include <vector>

namespace petsctt {

// Which rows of a core go where when an MPIAIJ matrix is applied to it: the plan of its column ghosts, taken from a PetscSF,
// kept with the matrix and made anew when its pattern changes. Every neighbour gets one message with all r0 r1 columns.
struct GhostPlan {
  PetscObjectState    pattern = -1; // MatGetNonzeroState() of the matrix
  MPI_Comm            comm    = MPI_COMM_NULL;
  PetscMPIInt         tag     = 0;
  Int                 ghosts  = 0;
  std::vector<int>    to, from;             // neighbours
  std::vector<Int>    to_start, from_start; // their ranges in to_row (local rows of X) and from_row (ghost numbers)
  std::vector<Int>    to_row, from_row;
};

// The plan of M (MPIAIJ). Collective when it has to be made.
PetscErrorCode ghost_plan(Mat M, const GhostPlan **plan);

// One exchange. Ghost rows are stored as w = r0 r1 contiguous entries, a fastest, then b.
class GhostExchange {
public:
  // Forward: starts sending rows of X and receiving ghost rows; finish_forward() gives them, ghosts x w.
  // Backward: starts sending the ghost rows `contributions` to their owners; finish_backward() adds what came in to Y.
  PetscErrorCode start_forward(const GhostPlan &plan, const Core &X);
  PetscErrorCode finish_forward(Buffer &ghost_rows);
  PetscErrorCode start_backward(const GhostPlan &plan, const Buffer &contributions, Int r0, Int r1);
  PetscErrorCode finish_backward(Core &Y);

private:
  PetscErrorCode start(const std::vector<int> &to, const std::vector<Int> &to_start, const std::vector<int> &from, const std::vector<Int> &from_start);
  PetscErrorCode wait();

  const GhostPlan         *plan_ = nullptr;
  Count                    w_    = 0;
  Buffer                   out_, in_;
  MPI_Datatype             row_ = MPI_DATATYPE_NULL;
  std::vector<MPI_Request> requests_;
};

// Row i of a core as a contiguous array of r0 r1 entries, and back.
void gather_row(const Core &X, Int i, Scalar *row);
void scatter_add_row(const Scalar *row, Core &Y, Int i);

} // namespace petsctt

#endif
