#ifndef PETSCTT_PC_IMPLS_TTKRON_HPP
#define PETSCTT_PC_IMPLS_TTKRON_HPP

// PCTTKRON: P = factor^{-1} (x)_k M_k with a solver for every active mode k and the identity on the others. M_k is given by the user, a
// projection of the operator, or a factor of the nearest Kronecker product. Or, with exponentials, a sum of such products, which is rounded.
#include "petscttpc.h"
#include "sys/compat.hpp"
#include "tt/train.hpp"

#include <map>
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>
#include <string>
#include <vector>

namespace petsctt {

// One mode that has, or is to have, a solver.
struct KronMode {
  Mat         user    = nullptr; // matrix given by the user (referenced), null: made from the operator
  Mat         M       = nullptr; // matrix the solver works with, null before set-up
  KSP         ksp     = nullptr;
  DM          dm      = nullptr; // what set-up has given to ksp, which holds the reference
  bool        options = false;   // the options database has been read by ksp
  Vec         b = nullptr, x = nullptr; // headers without arrays for solves column by column
  std::string note;              // what the choice of the default solver should tell the user
};

struct Kron {
  std::vector<Int>        chosen;    // modes asked for; empty: the default
  std::vector<Int>        reference; // one index per mode, -1 = mean; empty: means
  bool                    nearest = false; // matrices of the nearest Kronecker product in place of projections
  Real                    distance = -1;   // of it from the operator, relative, in the Frobenius norm; filled by set-up
  Real                    stretch  = 1;    // of matrices made from the operator: their deviation from their mean is multiplied by it
  Real                    exponentials = 0; // if positive: P^{-1} is a sum of products of exponentials of this relative error
  Mat                     inverse   = nullptr; // that sum; the following belong to it
  Int                     terms     = 0;
  Real                    sum_error = -1;   // found, on the interval that has the real parts of the eigenvalues
  Real                    rounding  = 0;    // relative error of an application's rounding
  std::map<Int, KronMode> modes;     // by mode number
  std::vector<Int>        active;    // modes in use, ascending; filled by set-up
  Scaled                  factor = Scalar(1); // P^{-1} = factor (x)_k M_k^{-1}
  bool                    normalized = false;  // factor comes from the projected scalar
  Int                     block  = PETSC_DECIDE; // columns solved at a time
  bool                    failed = false;      // set-up of a mode solver failed; pc->failedreason says why
  PetscObjectState        states = 0;          // of all matrices that set-up took values from, summed
  SpacePtr                checked;             // modes that the matrices were found to fit
  Buffer                  in, out;             // packed columns, kept between applications
};

inline Kron &kron_of(PC pc) { return *static_cast<Kron *>(pc->data); }

// Largest number of columns given to a solver at once: the user's bound, and below it 2^31 entries of the whole block,
// which external packages and PETSc's wrappers of them count in 32-bit integers.
Int kron_columns(const Kron &kron, Int N);

PetscErrorCode kron_setup(PC pc);
// Sets up again if a factor of the operator or a matrix of the user has changed since, which neither raises the object state of
// the operator nor has PCSetUp() look. Does nothing before the first set-up. Collective, one reduction.
PetscErrorCode kron_refresh(PC pc);
PetscErrorCode kron_apply(PC pc, bool transpose, Vec x, Vec y);
// The same with exponentials: makes kron.inverse for the active modes; applies it. Collective. The set-up takes (14 + log2(norm of the exponent)) 2 N^3 flops per
// term and mode on every process, and N^2 words.
PetscErrorCode kron_setup_exponentials(PC pc);
PetscErrorCode kron_apply_exponentials(PC pc, bool transpose, Vec x, Vec y);
PetscErrorCode kron_view(PC pc, PetscViewer viewer);
// Creates the solver of mode k (no matrix yet) on the communicator its matrix will have.
PetscErrorCode kron_create_ksp(PC pc, Int k);
// The modes of the preconditioning matrix; null when that is no MATTT, or one without modes.
SpacePtr       kron_space(PC pc);
// Where the solver of mode k lives; MPI_COMM_NULL when that cannot be said yet.
PetscErrorCode kron_solver_comm(PC pc, Int k, MPI_Comm *comm);
// PETSC_ERR_ARG_SIZ on every process unless the matrices of the active modes are laid out as the modes of `space`.
PetscErrorCode kron_check_matrices(PC pc, const SpacePtr &space);
// Ends an attempt with what the processes found, `failure` being PC_NOERROR where nothing failed. Collective: agrees on the worst, says
// so by PetscInfo or, when the user wants errors, by one, and sets the reason of `pc`.
PetscErrorCode kron_agree(PC pc, Int k, PCFailedReason failure, KSPConvergedReason reason, const char *when, bool *failed);
// Frees what set-up made; the solvers stay, with their settings.
PetscErrorCode kron_reset_mode(KronMode &mode);
PetscErrorCode kron_destroy_solver(KronMode &mode);

} // namespace petsctt

#endif
