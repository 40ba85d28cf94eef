#ifndef PETSCTTLU_H
#define PETSCTTLU_H

#include <petscmat.h>
#include <petscttsys.h>

#define MATSOLVERCONFLUX "conflux"

/*S
  MatConfluxInfo - What a factorisation by `MATSOLVERCONFLUX` did, from `MatConfluxGetInfo()`

  Level: intermediate

  Values:
+ grid      - process rows, process columns, layers; for Cholesky processes of a layer, 1, layers. The product is the number of processes at work.
. tile      - columns of a tile
. n         - order of the matrix that was factorised dense: for sparse matrices that of the Schur complement
. words     - words sent in the factorisation, mean over all processes. A word is one `PetscScalar`.
. words_max - the larger of words sent and received, of the process with the most
. messages, messages_max - messages sent: mean over all processes, most
. words_model - the mean as predicted
. words_bound - what any schedule with this memory moves, mean over all processes: n^2 layers/(processes at work) words each, of which none is there to begin
                with; on few processes, which begin with much of the matrix, it is above what is sent
. words_layout - words sent to bring the matrix to the processes that need it, mean
. solves - right-hand sides solved for since the factorisation
. words_solve, messages_solve - words and messages sent in these solves, and to prepare them, mean
. words_solve_model, messages_solve_model - for LU, what was predicted of them
. words_solve_planned, messages_solve_planned - for LU, predictions for one solve with one right-hand side and one with 512, without what they need first
. memory    - words of memory, of the process with the most: the factors and what making them needed
. growth    - largest modulus of an entry of U over that of A; for Cholesky largest pivot squared over the largest entry of A
. largest_l - largest modulus of an entry of L, for Cholesky of its diagonal
- smallest_pivot - smallest modulus on the diagonal of U, for Cholesky of L

.seealso: `MATSOLVERCONFLUX`, `MatConfluxGetInfo()`
S*/
typedef struct {
  PetscInt  grid[3], tile, n;
  PetscReal words, words_max, messages, messages_max, words_model, words_bound, words_layout;
  PetscInt  solves;
  PetscReal words_solve, messages_solve, words_solve_model, messages_solve_model, words_solve_planned[2], messages_solve_planned[2];
  PetscReal memory, growth, largest_l, smallest_pivot;
} MatConfluxInfo;

PETSCTT_EXTERN PetscErrorCode MatConfluxSetGrid(Mat, PetscInt, PetscInt, PetscInt);
PETSCTT_EXTERN PetscErrorCode MatConfluxSetTile(Mat, PetscInt);
PETSCTT_EXTERN PetscErrorCode MatConfluxSetMemory(Mat, PetscReal);
PETSCTT_EXTERN PetscErrorCode MatConfluxSetRefinement(Mat, PetscInt);
PETSCTT_EXTERN PetscErrorCode MatConfluxGetInfo(Mat, MatConfluxInfo *);

#endif
