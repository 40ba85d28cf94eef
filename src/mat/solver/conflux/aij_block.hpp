#ifndef PETSCTT_MAT_SOLVER_CONFLUX_AIJ_BLOCK_HPP
#define PETSCTT_MAT_SOLVER_CONFLUX_AIJ_BLOCK_HPP

#include "base/buffer.hpp"

#include <petscmat.h>

#include <functional>
#include <string>
#include <vector>

// The sequential factorisations of the interiors, by a package of PETSc.
namespace petsctt {

// Rows of a MATSEQAIJ. The pointers hold as long as the pattern does.
struct Csr {
  PetscInt        rows = 0, columns = 0;
  const PetscInt *first = nullptr, *column = nullptr;
  PetscScalar    *value = nullptr;
};
PetscErrorCode csr_of(Mat A, Csr *c);
// Y -= A X, or A^T X: k columns, X with leading dimension ldx; element (row, c) of the other side at row * rs + c * cs.
struct Strided {
  Scalar *a;
  Count   row, column;
};
void subtract_product(const Csr &A, bool transposed, Count k, Strided x, Strided y);

// Norm of the inverse of a matrix of which this process has n rows: Hager's estimator with Higham's improvements (ACM Trans. Math. Softw. 14, 1988),
// a lower bound that is rarely too small by more than a factor of 3. solve(op, v) does v = A^-1 v for op = N, A^-T v for T. Infinite if a
// solution is not finite. Collective on comm.
PetscErrorCode inverse_norm1(MPI_Comm comm, Count n, const std::function<PetscErrorCode(char, Scalar *)> &solve, Real *norm);

// How a block is factorised.
struct BlockOptions {
  std::string package; // a MatSolverType
  std::string prefix;  // of its options
};

// What became of it. All on this process alone, and no error is raised: the processes have to agree first.
struct BlockOutcome {
  bool factored = false, out_of_memory = false;
  Real rcond    = 0; // reciprocal of the condition number in the 1-norm, estimated with care where it is small
};
// Factors A, a MATSEQAIJ, into F, which is created if it is NULL. With F its pattern and ordering are used again.
PetscErrorCode factor_block(Mat A, const BlockOptions &o, Mat *F, BlockOutcome *outcome);
// X = F^-1 B, or F^-T B: n x k, packed, not the same array.
PetscErrorCode solve_block(Mat F, bool transposed, Count n, Count k, Scalar *b, Scalar *x);

// Up to about k unknowns, at least one, the removal of whose rows and columns makes a block that is close to singular better: where the left and
// right singular vectors of its smallest singular values are large. These are found by inverse iteration with a perturbed block.
PetscErrorCode weak_unknowns(Mat A, const BlockOptions &o, Count k, std::vector<PetscInt> *list);

} // namespace petsctt

#endif
