// Public functions of PCTTKRON. They dispatch to the implementation; on another type the Set functions do nothing.
#include "petscttpc.h"
#include "sys/compat.hpp"

#include <petsc/private/pcimpl.h>

/*@
  PCTTKronSetModeMat - Gives the matrix that PCTTKRON solves with on one mode, instead of the projection of the operator

  Collective

  Input Parameters:
+ pc - the preconditioner
. k  - the mode, from 0
- M  - the matrix, or NULL to go back to the projection; it is referenced, not copied

  Level: intermediate

  Notes:
  `M` has the size and the row layout of the mode. For a replicated mode it is a sequential matrix, alike on every process, or a
  parallel one of which every process then gets a copy. The matrix is used as it stands, without any scaling. When `PCTTKronSetModes()` is
  not called, the modes with a solver are those for which a matrix was given.

  With a matrix for every active mode the preconditioning matrix need not be a `MATTT`.

.seealso: `PCTTKRON`, `PCTTKronSetModes()`, `PCTTKronGetModeKSP()`
@*/
PetscErrorCode PCTTKronSetModeMat(PC pc, PetscInt k, Mat M)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetModeMat_C", (PC, PetscInt, Mat), (pc, k, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetModeMat - The matrix of one mode of a PCTTKRON

  Not Collective

  Input Parameters:
+ pc - the preconditioner
- k  - the mode, from 0

  Output Parameter:
. M - the matrix, NULL when the mode is an identity; before `PCSetUp()` the one given by the user; do not destroy it

  Level: advanced

.seealso: `PCTTKRON`, `PCTTKronSetModeMat()`, `MatTTGetProjectedMode()`
@*/
PetscErrorCode PCTTKronGetModeMat(PC pc, PetscInt k, Mat *M)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetModeMat_C", (PC, PetscInt, Mat *), (pc, k, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetModeKSP - The solver of one mode of a PCTTKRON

  Collective

  Input Parameters:
+ pc - the preconditioner
- k  - the mode, from 0

  Output Parameter:
. ksp - the solver; do not destroy it

  Level: intermediate

  Notes:
  Its options prefix is that of `pc` followed by `pc_ttkron_mode_<k>_`. It can be had before `PCSetUp()` once the operators or the
  matrix of the mode are set, so that settings can be made in the program; the options database has the last word.

  The solver of a replicated mode lives on PETSC_COMM_SELF.

.seealso: `PCTTKRON`, `PCTTKronSetModes()`, `PCTTKronSetModeMat()`
@*/
PetscErrorCode PCTTKronGetModeKSP(PC pc, PetscInt k, KSP *ksp)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetModeKSP_C", (PC, PetscInt, KSP *), (pc, k, ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetModes - Chooses the modes on which PCTTKRON solves; it is the identity on the others

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
. n     - number of modes; 0 goes back to the default
- modes - the modes, from 0, in any order

  Options Database Key:
. -pc_ttkron_modes <k,...> - the modes

  Level: intermediate

  Notes:
  The default is the modes for which `PCTTKronSetModeMat()` was called, if any, otherwise those on which the operator has a block that is
  not diagonal, and mode 0 for a diagonal operator. A parameter-dependent problem thus gets a solver on its space mode only.

.seealso: `PCTTKRON`, `PCTTKronGetModes()`
@*/
PetscErrorCode PCTTKronSetModes(PC pc, PetscInt n, const PetscInt modes[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetModes_C", (PC, PetscInt, const PetscInt[]), (pc, n, modes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  PCTTKronGetModes - The modes on which PCTTKRON solves

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ n     - number of modes
- modes - the modes, ascending; valid until the preconditioner changes

  Level: intermediate

  Note:
  Before `PCSetUp()` these are the modes asked for, none when the default is to be used.

.seealso: `PCTTKRON`, `PCTTKronSetModes()`
@*/
PetscErrorCode PCTTKronGetModes(PC pc, PetscInt *n, const PetscInt *modes[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetModes_C", (PC, PetscInt *, const PetscInt *[]), (pc, n, modes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetReference - Sets the point at which PCTTKRON projects the operator on a mode, in place of means

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, with its operators set
- index - one index per mode, -1 for the mean over that mode; NULL goes back to means everywhere

  Options Database Key:
. -pc_ttkron_reference <i_0,i_1,...> - the indices

  Level: intermediate

  Note:
  To project a term on mode k, its factor on every other mode j is replaced by the diagonal entry index[j], or by trace/N.

.seealso: `PCTTKRON`, `MatTTGetProjectedMode()`
@*/
PetscErrorCode PCTTKronSetReference(PC pc, const PetscInt index[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetReference_C", (PC, const PetscInt[]), (pc, index));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetNearest - Makes PCTTKRON the Kronecker product nearest to the operator instead of a product of projections

  Logically Collective

  Input Parameters:
+ pc      - the preconditioner
- nearest - whether

  Options Database Key:
. -pc_ttkron_nearest <bool> - whether

  Level: intermediate

  Notes:
  P = (x)_k M_k minimises ||A - P|| in the Frobenius norm over the modes with a solver, M_k being the identity on the others; see
  `MatTTGetNearestKronecker()`. Without `PCTTKronSetModes()` these are the modes on which the operator has a block that is not the identity.
  Matrices given by `PCTTKronSetModeMat()` stay, and count as identities in the search.

  It cannot be combined with a reference point.

.seealso: `PCTTKRON`, `PCTTKronGetNearest()`, `PCTTKronSetReference()`, `MatTTGetNearestKronecker()`
@*/
PetscErrorCode PCTTKronSetNearest(PC pc, PetscBool nearest)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetNearest_C", (PC, PetscBool), (pc, nearest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetNearest - Whether PCTTKRON is the Kronecker product nearest to the operator, and how near it is

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ nearest - whether, or NULL
- error   - ||A - P|| / ||A|| in the Frobenius norm, or NULL; -1 before `PCSetUp()`, or when P is not the nearest product

  Level: advanced

.seealso: `PCTTKRON`, `PCTTKronSetNearest()`
@*/
PetscErrorCode PCTTKronGetNearest(PC pc, PetscBool *nearest, PetscReal *error)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetNearest_C", (PC, PetscBool *, PetscReal *), (pc, nearest, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetStretch - Multiplies what the matrices that PCTTKRON makes from the operator deviate from their means

  Logically Collective

  Input Parameters:
+ pc - the preconditioner
- t  - the factor, positive; 1 (default) leaves the matrices as they are

  Options Database Key:
. -pc_ttkron_stretch <t> - the factor

  Level: advanced

  Note:
  With m the mean of the diagonal of M, m I + t (M - m I) is put in its place, on every mode that has no matrix of the user. For the sum of d
  equal one-mode terms T the default is the product of T + (d - 1) m, up to a scale, and t that of T + (d/t - 1) m. For a Laplacian t must be below d, where
  the product becomes that of the T alone. Values between 1 and 2 save steps for any right-hand side, larger ones up to 0.8 d for smooth right-hand sides,
  in which the eigenvectors of small eigenvalues dominate.

.seealso: `PCTTKRON`, `PCTTKronGetStretch()`, `PCTTKronSetNearest()`
@*/
PetscErrorCode PCTTKronSetStretch(PC pc, PetscReal t)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetStretch_C", (PC, PetscReal), (pc, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetStretch - The factor set by PCTTKronSetStretch()

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. t - the factor

  Level: advanced

.seealso: `PCTTKRON`, `PCTTKronSetStretch()`
@*/
PetscErrorCode PCTTKronGetStretch(PC pc, PetscReal *t)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetStretch_C", (PC, PetscReal *), (pc, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetExponentials - Makes PCTTKRON the inverse of a sum of one-mode operators, as a sum of Kronecker products of exponentials

  Logically Collective

  Input Parameters:
+ pc  - the preconditioner
- eps - the relative error, in [1e-12, 1); 0 (default) for a single Kronecker product

  Options Database Key:
. -pc_ttkron_exponentials <eps> - the relative error

  Level: intermediate

  Notes:
  With T_k acting on mode k alone, P^{-1} = sum_q w_q (x)_k exp(-a_q T_k) = sum_q w_q exp(-a_q sum_k T_k), where sum_q w_q exp(-a_q x) is 1/x up to the relative
  error `eps` for all x in [l, u], the sums of the smallest and of the largest eigenvalues of the Hermitian parts of the T_k. For normal T_k with
  real eigenvalues ||I - (sum_k T_k) P^{-1}||_2 <= `eps` follows, before rounding; other operators have it on the real parts of their eigenvalues
  only. The number of terms is about (log(u/l) + log(1/`eps`)) log(1/`eps`)/10. They come from the trapezoidal rule for the integral of exp(s - x e^s)
  (Beylkin and Monzon, Approximation by exponential sums revisited, 2010), with the error checked.

  The T_k are the projections of the operator on its modes less their common part. Their sum is the operator when that is a sum of one-mode
  operators, such as a Laplacian on a box or convection-diffusion with constant coefficients, and its first-order part otherwise. An error is raised unless l > 0.

  An application has the TT ranks of its argument times the number of terms, and is rounded to 0.1 `eps` l/u, so that the error left in the product with the
  operator is below 0.1 `eps`; the rank cap of the result applies. Rounding is not linear: use a flexible `KSP`, which `KSPTTGMRES` then is.

  The modes are those of `PCTTKronSetModes()`, by default all on which the operator has a block that is not the identity. Exponentials are full
  matrices, computed by every process, of modes of at most 4000 points. Stretch and nearest product do not matter; matrices of the user are refused.

.seealso: `PCTTKRON`, `PCTTKronGetExponentials()`, `PCTTKronSetNearest()`
@*/
PetscErrorCode PCTTKronSetExponentials(PC pc, PetscReal eps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetExponentials_C", (PC, PetscReal), (pc, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetExponentials - The error set by PCTTKronSetExponentials() and the number of terms

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameters:
+ eps   - the relative error, 0 for a single Kronecker product; or NULL
- terms - number of Kronecker products, 0 before `PCSetUp()`; or NULL

  Level: advanced

.seealso: `PCTTKRON`, `PCTTKronSetExponentials()`
@*/
PetscErrorCode PCTTKronGetExponentials(PC pc, PetscReal *eps, PetscInt *terms)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetExponentials_C", (PC, PetscReal *, PetscInt *), (pc, eps, terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronSetBlockSize - Bounds the number of columns that PCTTKRON gives to a mode solver at a time

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner
- block - number of columns, or PETSC_DECIDE

  Options Database Key:
. -pc_ttkron_block <n> - number of columns

  Level: advanced

  Note:
  By default all r_{k-1} r_k columns of a core are one block, as far as its entries can be counted in 32-bit integers. A bound saves
  memory: direct solvers hold the block two or three times.

.seealso: `PCTTKRON`
@*/
PetscErrorCode PCTTKronSetBlockSize(PC pc, PetscInt block)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTTKronSetBlockSize_C", (PC, PetscInt), (pc, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCTTKronGetBlockSize - The bound set by PCTTKronSetBlockSize()

  Not Collective

  Input Parameter:
. pc - the preconditioner

  Output Parameter:
. block - number of columns, or PETSC_DECIDE

  Level: advanced

.seealso: `PCTTKRON`
@*/
PetscErrorCode PCTTKronGetBlockSize(PC pc, PetscInt *block)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscUseMethod(pc, "PCTTKronGetBlockSize_C", (PC, PetscInt *), (pc, block));
  PetscFunctionReturn(PETSC_SUCCESS);
}
