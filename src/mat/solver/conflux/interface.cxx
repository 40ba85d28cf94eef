#include "mat/solver/conflux/conflux.hpp"

/*MC
  MATSOLVERCONFLUX = "conflux" - A direct solver for distributed dense and sparse matrices whose dense factorisation sends close to the fewest words possible

  Options Database Keys:
+ -pc_type lu -pc_factor_mat_solver_type conflux - use it as a preconditioner
. -mat_conflux_grid <px,py,c> - process rows, process columns, layers; 0 leaves one to the plan
. -mat_conflux_tile <v>       - columns of a tile
. -mat_conflux_memory <mb>    - megabytes that a process may use; default: what is free, shared among the processes of a machine
. -mat_conflux_refine <n>     - steps of iterative refinement in each solve; default 0
. -mat_conflux_repartition <auto,always,never> - for `MATAIJ`: move unknowns to other processes for the factorisation
. -mat_conflux_interior_mat_solver_type <type> - for `MATAIJ`: sequential package for the interiors; default: mumps, umfpack or petsc, the first that is there
- -mat_conflux_view           - print what the factorisation did, `MatConfluxInfo`

  Level: beginner

  Notes:
  For `MATSEQDENSE`, `MATMPIDENSE` and `MATSCALAPACK`: P A = L U on a grid of px x py x c processes. Each of the c layers does a c-th of the inner
  products, so that with more memory there is less to send; pivots are chosen tile by tile in a tournament among the process rows, and no row
  moves to another process. Grid and tile come from a cost model; processes may stay idle where few are faster than all.

  `-pc_type cholesky`: A = L L^H of a Hermitian positive definite matrix, of which the lower triangle is read, with little more than half the words:
  every process has tiles in rows and columns of the same few classes. Of the grid, px py is the largest number of processes of a layer. A pivot that is not
  positive is reported like a zero pivot. In complex builds the matrix must be known to be Hermitian (`MatSetOption()` with `MAT_HERMITIAN`).

  For `MATAIJ`, each process eliminates the unknowns that have no neighbours on other processes by a sequential sparse factorisation, whose options have the
  prefix -mat_conflux_interior_. The interface that is left, a smallest set of unknowns between each two processes, is a dense matrix for the LU described here. Of the partition
  of the matrix and one by `MatPartitioning` (-mat_partitioning_type) that with less work by a model is taken; that of the matrix where PETSc has no partitioner, or a PT-Scotch
  whose integers are not `PetscInt` (Debian's PETSc with 64-bit indices), which -mat_conflux_view says. Interiors that are singular, or so close to it that the interface
  matrix would be inaccurate, give unknowns to the interface until they are not. The matrix is scaled by powers of two, rows and columns. It is reported as singular
  (`MAT_FACTOR_NUMERIC_ZEROPIVOT`; the row is -1 if there is none in particular) if its reciprocal condition number by an estimate is below a tenth of
  -pc_factor_zeropivot. Solves are refined if a test with a known solution says that this helps. `-pc_type cholesky` runs through LU.

  Small systems are better on one process. Solves leave the factors where they are and move right-hand sides, in the way with the least predicted time: few right-hand
  sides some tiles at a time, of which one process each has been given the diagonal block, for few messages; many by the layers apart, after they have been
  given all of L and U, which takes about n^2 (c - 1) words of all processes once and pays for itself: then a process sends 2 n (1/px + 1/py)/c words for each,
  instead of n (1 + 1/c) (1/px + 1/py). With some times n right-hand sides or more, which processes then have by columns, the factors move: n^2 words on a process.

  A pivot that is exactly zero, or a number that is not finite, ends the factorisation on all processes; `PCSetUp()` then reports
  `PC_FAILED` (`KSP_DIVERGED_PC_FAILED`), `MatFactorGetErrorZeroPivot()` the number of the pivot (its column, as in
  LAPACK's info), and `MatSolve()` and `MatMatSolve()` give Inf; `KSPMatSolve()` ends with the same reason. -pc_factor_zeropivot and -pc_factor_shift_type mean nothing to dense matrices.

  There are no functions for the determinant and the inertia: nothing but the solves is offered.

  Source: Kwasniewski et al., arXiv 2010.05975; tournament pivoting: Grigori, Demmel and Xiang, SIAM J. Matrix Anal. Appl. 32 (2011).

  -log_view has the stages "Conflux factorisation" and "Conflux solves", and in them the events ConfluxLayout, ConfluxFactor and ConfluxSolve of the dense
  part.

.seealso: `MatConfluxSetGrid()`, `MatConfluxSetTile()`, `MatConfluxSetMemory()`, `MatConfluxSetRefinement()`, `MatConfluxGetInfo()`, `MATSOLVERSCALAPACK`
M*/

/*@
  MatConfluxSetGrid - Sets the grid of processes of a factorisation by `MATSOLVERCONFLUX`

  Logically Collective

  Input Parameters:
+ F      - the factor, from `MatGetFactor()` or `PCFactorGetMatrix()` after `PCFactorSetUpMatSolverType()`
. px     - process rows, or 0 to leave it to the plan
. py     - process columns, or 0
- layers - layers, or 0

  Options Database Key:
. -mat_conflux_grid <px,py,layers> - set them

  Level: intermediate

  Notes:
  It takes effect with the next factorisation, which fails with `PETSC_ERR_ARG_OUTOFRANGE` if there are fewer processes. With layers > 1 each
  layer has a copy of the size of the matrix, spread over its px py processes.

.seealso: `MATSOLVERCONFLUX`, `MatConfluxSetTile()`, `MatConfluxGetInfo()`
@*/
PetscErrorCode MatConfluxSetGrid(Mat F, PetscInt px, PetscInt py, PetscInt layers)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, px, 2);
  PetscValidLogicalCollectiveInt(F, py, 3);
  PetscValidLogicalCollectiveInt(F, layers, 4);
  PetscUseMethod(F, "MatConfluxSetGrid_C", (Mat, PetscInt, PetscInt, PetscInt), (F, px, py, layers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatConfluxSetTile - Sets the number of columns of a tile of a factorisation by `MATSOLVERCONFLUX`

  Logically Collective

  Input Parameters:
+ F    - the factor
- tile - columns, or 0 to leave it to the plan

  Options Database Key:
. -mat_conflux_tile <tile> - set it

  Level: intermediate

  Note:
  Wider tiles mean fewer messages and more work in panels. It need not divide the order of the matrix.

.seealso: `MATSOLVERCONFLUX`, `MatConfluxSetGrid()`
@*/
PetscErrorCode MatConfluxSetTile(Mat F, PetscInt tile)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, tile, 2);
  PetscUseMethod(F, "MatConfluxSetTile_C", (Mat, PetscInt), (F, tile));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatConfluxSetMemory - Limits the memory of a process in a factorisation by `MATSOLVERCONFLUX`

  Logically Collective

  Input Parameters:
+ F         - the factor
- megabytes - of each process; 0 for no limit

  Options Database Key:
. -mat_conflux_memory <megabytes> - set it

  Level: intermediate

  Notes:
  The plan takes no grid whose predicted memory is above the limit, and fails with `PETSC_ERR_MEM`, naming the words needed, if there is none.
  By default the limit is the memory that is free when the factorisation begins, shared among the processes of a machine; with a grid of the user's there is none.

  The limit is for the factorisation: rows of the matrix itself and right-hand sides are not counted, nor, of `MATAIJ`, anything but the factors of the interface. Whatever the limit,
  a factorisation or a block of right-hand sides for which a process cannot take the memory fails with `PETSC_ERR_MEM` on all processes before it begins.

.seealso: `MATSOLVERCONFLUX`, `MatConfluxSetGrid()`
@*/
PetscErrorCode MatConfluxSetMemory(Mat F, PetscReal megabytes)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveReal(F, megabytes, 2);
  PetscUseMethod(F, "MatConfluxSetMemory_C", (Mat, PetscReal), (F, megabytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatConfluxSetRefinement - Sets the number of steps of iterative refinement in each solve with a factor of `MATSOLVERCONFLUX`

  Logically Collective

  Input Parameters:
+ F     - the factor
- steps - 0 for none

  Options Database Key:
. -mat_conflux_refine <steps> - set it

  Level: intermediate

  Notes:
  Each step computes the residual with the matrix that was factorised, in the precision of `PetscScalar`, and solves for it once more: with the
  growth of pivots that `MatConfluxInfo` shows it regains what the factorisation lost. Set it before the factorisation, which keeps a reference
  to a dense matrix then. If that has been changed since (`KSPSetReusePreconditioner()`), solves are not refined. For `MATAIJ` the values of the factorisation are kept.

.seealso: `MATSOLVERCONFLUX`, `MatConfluxGetInfo()`
@*/
PetscErrorCode MatConfluxSetRefinement(Mat F, PetscInt steps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscValidLogicalCollectiveInt(F, steps, 2);
  PetscUseMethod(F, "MatConfluxSetRefinement_C", (Mat, PetscInt), (F, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  MatConfluxGetInfo - Says what a factorisation by `MATSOLVERCONFLUX` did and what it sent

  Collective

  Input Parameter:
. F - the factor

  Output Parameter:
. info - see `MatConfluxInfo`; zeros before a factorisation

  Options Database Key:
. -mat_conflux_view - print it after each factorisation

  Level: intermediate

.seealso: `MATSOLVERCONFLUX`, `MatConfluxInfo`
@*/
PetscErrorCode MatConfluxGetInfo(Mat F, MatConfluxInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(F, MAT_CLASSID, 1);
  PetscUseMethod(F, "MatConfluxGetInfo_C", (Mat, MatConfluxInfo *), (F, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
