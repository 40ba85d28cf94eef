#ifndef PETSCTT_MAT_SOLVER_CONFLUX_CONFLUX_HPP
#define PETSCTT_MAT_SOLVER_CONFLUX_CONFLUX_HPP

#include "petscttlu.h"

#include "lu/cholesky.hpp"
#include "lu/lu.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "sys/log.hpp"

#include <petsc/private/matimpl.h>

#include <memory>

namespace petsctt::conflux {

// What the user asks of the dense factorisation, by functions or options.
struct Settings {
  lu::Wishes wishes;
  PetscInt   refine = 0;
  bool       memory_set = false;
};

// A dense factorisation of either kind over the rows of a distributed matrix; created anew when its shape changes.
class Dense {
public:
  // Rows [rows[rank], rows[rank + 1]) of this process, column-major; columns: how solutions are split. Collective.
  PetscErrorCode factor(MPI_Comm comm, MatFactorType type, const PetscInt *rows, const PetscInt *columns, const Scalar *a, Count lda, const Settings &s, Mat F);
  PetscErrorCode solve(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx);
  PetscErrorCode info(MatConfluxInfo *info) const;

private:
  const lu::Factorization *either() const { return lu_ ? static_cast<const lu::Factorization *>(lu_.get()) : cholesky_.get(); }
  lu::Factorization       *either() { return lu_ ? static_cast<lu::Factorization *>(lu_.get()) : cholesky_.get(); }

  MPI_Comm                      comm_ = MPI_COMM_NULL; // that of the matrix
  MatFactorType                 type_ = MAT_FACTOR_LU;
  std::vector<Count>            rows_, columns_;
  lu::Wishes                    wishes_; // what the grid was made for
  std::unique_ptr<lu::LU>       lu_;     // one of the two
  std::unique_ptr<lu::Cholesky> cholesky_;
  Count                         solves_ = 0;
  double                        agreed_ = 0; // words of solves that all processes have had since the factorisation
};

// Options of the prefix of F: -mat_conflux_grid, _tile, _memory, _refine.
PetscErrorCode read_options(Mat F, Settings &s);
// Words that a process may take: what the machine has free, shared among the processes on it; 0 where it does not say. Collective.
PetscErrorCode free_memory(MPI_Comm comm, double *words);
// Fails on all processes if one could not take so many words now (0 where a process has nothing to take): a process that fails alone leaves the
// others waiting. Collective.
PetscErrorCode agree_on_memory(MPI_Comm comm, double words, const char what[]);
// The rows of b and x must be distributed as those of the factor, which PETSc does not look at everywhere. Fails on all processes.
PetscErrorCode check_layouts(Mat F, char op, PetscLayout b, PetscLayout x);
// Zero pivots and numbers that are not finite as PETSc reports them. Collective.
PetscErrorCode report_failure(Mat F, PetscInt pivot, bool finite, const char what[]);
PetscErrorCode print(const MatConfluxInfo &info, MatFactorType type, PetscViewer viewer);
// What factors of dense and of sparse matrices have in common.
struct Common {
  Settings settings;
  Dense    dense;
  bool     ready = false; // there has been a factorisation, which has left factors or an error in F
  virtual ~Common() = default;
  // X = op(A)^-1 B for k right-hand sides, op = N, T; rows of this process, column-major. May throw. Collective.
  virtual PetscErrorCode solve(Mat F, char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx) = 0;
};
// With the solves, and MatConfluxSetGrid_C and so on. Takes data.
PetscErrorCode create_factor(Mat A, MatFactorType type, Common *data, Mat *F);
// Operations of F for MatSolve(), MatMatSolve() and their transposed ones, by Common::solve()
void set_solves(Mat F);
PetscErrorCode destroy_factor(Mat F);
inline Common *common(Mat F) { return static_cast<Common *>(F->data); }

} // namespace petsctt::conflux

#endif
