#include "mat/impls/tt/impl.hpp"
#include "vec/vectt.hpp"

#include <algorithm>

using namespace petsctt;

/*@
  MatCreateTT - Creates an operator on tensors of `d` modes as a train of block matrices; it is zero until terms or blocks are given

  Collective

  Input Parameters:
+ comm - the communicator
. d    - number of modes
. n    - local size of each mode on this process, or `PETSC_TT_AUTO`, `PETSC_TT_REPLICATED`, `PETSC_TT_DISTRIBUTED`; `NULL` means `PETSC_TT_AUTO` for all
- N    - global sizes of the modes

  Output Parameter:
. A - the operator

  Options Database Keys:
. -tt_replicate_max m - modes of at most m (32) points are replicated under `PETSC_TT_AUTO`

  Level: beginner

  Note:
  The global and local sizes of the `Mat` are those of a `VECTT` with the same modes.

.seealso: `MATTT`, `MatTTAddTerm()`, `MatTTSetBlockRanks()`, `VecCreateTT()`
@*/
PetscErrorCode MatCreateTT(MPI_Comm comm, PetscInt d, const PetscInt n[], const PetscInt N[], Mat *A)
{
  PetscFunctionBegin;
  PetscCheck(A, comm, PETSC_ERR_ARG_NULL, "MatCreateTT() needs a place for the matrix");
  PetscCall(PetscTTInitializePackage());
  MatHandle fresh;
  PetscCall(MatCreate(comm, fresh.out()));
  PetscCall(MatSetType(fresh, MATTT));
  PetscCall(MatTTSetModes(fresh, d, n, N));
  *A = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTSetModes - Sets the modes of a `MATTT`; what it held before is dropped

  Collective

  Input Parameters:
+ A - the operator
. d - number of modes
. n - local sizes or kinds, as in `MatCreateTT()`; may be `NULL`
- N - global sizes

  Options Database Key:
. -mat_tt_modes N0,N1,... - the global sizes

  Level: intermediate

.seealso: `MATTT`, `MatCreateTT()`, `MatTTGetModes()`
@*/
PetscErrorCode MatTTSetModes(Mat A, PetscInt d, const PetscInt n[], const PetscInt N[])
{
  SpacePtr space;

  PetscFunctionBegin;
  PetscCall(require_mattt(A, "the matrix of MatTTSetModes()"));
  PetscCall(make_space(PetscObjectComm((PetscObject)A), d, n, N, &space));
  PetscCall(set_space(A, space));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTGetModes - Gets the number of modes and their global sizes

  Not Collective

  Input Parameter:
. A - the operator

  Output Parameters:
+ d - number of modes; may be `NULL`
- N - sizes, valid until the modes change; may be `NULL`

  Level: intermediate

.seealso: `MATTT`, `MatTTSetModes()`
@*/
PetscErrorCode MatTTGetModes(Mat A, PetscInt *d, const PetscInt *N[])
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT &t = data_of(A);
  PetscCallTT(t.modes_out.clear(); for (Int k = 0; k < t.space->d(); k++) t.modes_out.push_back(t.space->N(k)));
  if (d) *d = t.space->d();
  if (N) *N = t.modes_out.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTAddTerm - Adds c A_0 x A_1 x ... x A_{d-1} to the operator

  Collective

  Input Parameters:
+ A       - the operator
. c       - the coefficient
- factors - one square matrix per mode, `NULL` for an identity; `NULL` instead of the array for identities everywhere

  Level: beginner

  Notes:
  The matrices are referenced, not copied, and must be assembled before the operator is applied; a later change of their values
  changes the operator. `PCTTKRON` looks at the matrices at every solve and sets itself up again when one has changed. Whatever else goes
  by the object state of the operator learns of the change by `MatAssemblyBegin()` and `MatAssemblyEnd()` of the operator. On a distributed mode a matrix has the rows and columns of the mode's layout. On a replicated mode it lives on one
  process (each process passing its own, all with the same values) or on all of them, and is then copied to each.

  Kronecker products are meant with the first mode fastest: entry ((i_0, i_1, ...), (j_0, j_1, ...)) is c A_0(i_0,j_0) A_1(i_1,j_1) ...

.seealso: `MATTT`, `MatCreateTT()`, `MatTTSetBlock()`, `MatTTCompress()`
@*/
PetscErrorCode MatTTAddTerm(Mat A, PetscScalar c, const Mat factors[])
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT      &t    = data_of(A);
  const Int   d    = t.space->d();
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  std::string signature(reinterpret_cast<const char *>(&c), sizeof(c)), trouble;
  for (Int k = 0; k < d; k++) {
    Mat M = factors ? factors[k] : NULL;
    signature += M ? '1' : '0';
    if (M && trouble.empty()) trouble = why_not_factor(*t.space, k, M);
  }
  PetscCall(same_everywhere(comm, signature.data(), signature.size(), "The coefficient of MatTTAddTerm() or which of its factors are NULL"));
  PetscCall(agree(comm, PETSC_ERR_ARG_SIZ, trouble));
  std::vector<Int> f((std::size_t)d, identity_factor);
  for (Int k = 0; k < d; k++)
    if (factors) PetscCall(factor_index(t, k, factors[k], &f[k]));
  PetscCallTT(add_term(t.given, c, f));
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTSetBlockRanks - Starts the block-train form: core k becomes an S[k] x S[k+1] grid of zero blocks

  Logically Collective

  Input Parameters:
+ A - the operator; what it held before is dropped
- S - the d+1 block ranks, S[0] = S[d] = 1

  Level: intermediate

.seealso: `MATTT`, `MatTTSetBlock()`, `MatTTGetBlockRanks()`
@*/
PetscErrorCode MatTTSetBlockRanks(Mat A, const PetscInt S[])
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  const Int d    = space_of(A)->d();
  MPI_Comm  comm = PetscObjectComm((PetscObject)A);
  PetscCheck(S, comm, PETSC_ERR_ARG_NULL, "MatTTSetBlockRanks() needs the block ranks");
  PetscCall(same_everywhere(comm, S, sizeof(PetscInt) * (std::size_t)(d + 1), "The block ranks of MatTTSetBlockRanks()"));
  for (Int k = 0; k <= d; k++)
    PetscCheck(S[k] >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "Block rank %lld is %" PetscInt_FMT ", must be positive", (long long)k, S[k]);
  PetscCheck(S[0] == 1 && S[d] == 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "The first and last block ranks must be 1, not %" PetscInt_FMT " and %" PetscInt_FMT, S[0],
             S[d]);
  PetscCall(MatZeroEntries_TT(A));
  MatTT &t = data_of(A);
  for (Int k = 0; k < d; k++) t.given[k].s0 = S[k], t.given[k].s1 = S[k + 1];
  t.block_form = true;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTSetBlock - Sets block (i, j) of core k to c M; what it held before is replaced

  Collective

  Input Parameters:
+ A - the operator, after `MatTTSetBlockRanks()`
. k - the mode
. i - block row, from 0
. j - block column, from 0
. c - the coefficient; 0 makes the block zero
- M - a matrix as in `MatTTAddTerm()`, `NULL` for the identity

  Level: intermediate

.seealso: `MATTT`, `MatTTSetBlockRanks()`, `MatTTAddTerm()`
@*/
PetscErrorCode MatTTSetBlock(Mat A, PetscInt k, PetscInt i, PetscInt j, PetscScalar c, Mat M)
{
  Int f;

  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT   &t    = data_of(A);
  MPI_Comm comm = PetscObjectComm((PetscObject)A);
  struct {
    PetscInt    k, i, j;
    PetscInt    null;
    PetscScalar c;
  } arguments = {k, i, j, M ? 0 : 1, c};
  PetscCall(same_everywhere(comm, &arguments, sizeof(arguments), "The arguments of MatTTSetBlock()"));
  PetscCheck(t.block_form, comm, PETSC_ERR_ARG_WRONGSTATE, "MatTTSetBlock() needs MatTTSetBlockRanks() first");
  PetscCheck(k >= 0 && k < t.space->d(), comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " must be in 0..%lld", k, (long long)t.space->d() - 1);
  BlockCore &core = t.given[k];
  PetscCheck(i >= 0 && i < core.s0 && j >= 0 && j < core.s1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Block (%" PetscInt_FMT ", %" PetscInt_FMT ") is outside the %lld x %lld grid of mode %" PetscInt_FMT, i, j, (long long)core.s0, (long long)core.s1, k);
  PetscCall(agree(comm, PETSC_ERR_ARG_SIZ, M ? why_not_factor(*t.space, k, M) : ""));
  PetscCall(factor_index(t, k, M, &f));
  auto &list = core.entries;
  list.erase(std::remove_if(list.begin(), list.end(), [=](const Entry &e) { return e.i == i && e.j == j; }), list.end());
  if (c != PetscScalar(0)) PetscCallTT(list.push_back({(Int)i, (Int)j, f, c}));
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTGetBlockRanks - Gets the d+1 block ranks of the operator in the form in which it is applied

  Collective

  Input Parameter:
. A - the operator

  Output Parameter:
. S - the block ranks, valid until the operator changes

  Level: intermediate

  Note:
  States of the train that are equal up to a scalar are merged before the first use, so these are not larger, and often smaller,
  than the number of terms or what was given to `MatTTSetBlockRanks()`.

.seealso: `MATTT`, `MatTTGetBlock()`, `MatTTCompress()`
@*/
PetscErrorCode MatTTGetBlockRanks(Mat A, const PetscInt *S[])
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  MatTT &t = data_of(A);
  PetscCallTT(t.ranks_out.assign(1, 1); for (const BlockCore &core : t.used) t.ranks_out.push_back(core.s1));
  *S = t.ranks_out.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTGetBlock - Gets block (i, j) of core k in the form in which the operator is applied

  Collective

  Input Parameters:
+ A - the operator
. k - the mode
. i - block row, below the block rank k of `MatTTGetBlockRanks()`
- j - block column, below the block rank k+1

  Output Parameters:
+ c - the coefficient; 0 when the block is zero
- M - the matrix, `NULL` for the identity and for a zero block; the reference belongs to the operator

  Level: advanced

  Note:
  A block that is a sum of several matrices is an error: `MatTTCompress()` may produce such blocks.

.seealso: `MATTT`, `MatTTGetBlockRanks()`, `MatTTSetBlock()`
@*/
PetscErrorCode MatTTGetBlock(Mat A, PetscInt k, PetscInt i, PetscInt j, PetscScalar *c, Mat *M)
{
  PetscInt found = 0;

  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t    = data_of(A);
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscCheck(k >= 0 && k < t.space->d(), comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " must be in 0..%lld", k, (long long)t.space->d() - 1);
  const BlockCore &core = t.used[k];
  PetscCheck(i >= 0 && i < core.s0 && j >= 0 && j < core.s1, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Block (%" PetscInt_FMT ", %" PetscInt_FMT ") is outside the %lld x %lld grid of mode %" PetscInt_FMT, i, j, (long long)core.s0, (long long)core.s1, k);
  if (c) *c = 0;
  if (M) *M = NULL;
  for (const Entry &e : core.entries) {
    if (e.i != i || e.j != j) continue;
    found++;
    if (c) *c = e.c;
    PetscCheck(!is_diagonal_factor(e.f), comm, PETSC_ERR_SUP,
               "Block (%" PetscInt_FMT ", %" PetscInt_FMT ") of mode %" PetscInt_FMT " is a diagonal of MatTTAddDiagonalVec(), for which there is no Mat", i, j, k);
    if (M) *M = e.f == identity_factor ? NULL : t.factors[k].user[e.f];
  }
  PetscCheck(found <= 1, comm, PETSC_ERR_SUP, "Block (%" PetscInt_FMT ", %" PetscInt_FMT ") of mode %" PetscInt_FMT " is a sum of %" PetscInt_FMT " matrices", i, j, k,
             found);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTCompress - Reduces the block ranks of the operator by merging blocks that are linearly dependent

  Collective

  Input Parameters:
+ A    - the operator
- rtol - relative error in the Frobenius norm of the operator that may be made; 0 for round-off only

  Options Database Key:
. -mat_tt_compress rtol - compress before the first use

  Level: intermediate

  Notes:
  The coefficients of the train in orthonormal bases of the factors of each mode are rounded as a tensor train. The result has blocks
  that are sums of the user's matrices; a sum is never formed, and each matrix is still applied once per mode and product.
  It holds for the values which the matrices have now: to use the operator after one of them has changed is an error. Build it anew,
  by `MatZeroEntries()` and `MatTTAddTerm()`.

  The entries of the factors are needed; those of types that only have `MatMult()` are found by products with unit vectors.

.seealso: `MATTT`, `MatTTGetBlockRanks()`, `MatTTAddTerm()`
@*/
PetscErrorCode MatTTCompress(Mat A, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(compress(A, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatTTNormLog10 - The base-10 logarithm of the Frobenius norm, for operators whose norm does not fit a `PetscReal`

  Collective

  Input Parameter:
. A - the operator

  Output Parameter:
. log10norm - the logarithm, -Inf for a zero operator

  Level: intermediate

.seealso: `MATTT`, `MatNorm()`, `VecTTNormLog10()`
@*/
PetscErrorCode MatTTNormLog10(Mat A, PetscReal *log10norm)
{
  Scaled norm;

  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(frobenius_norm(A, norm));
  *log10norm = norm.log10_abs();
  PetscFunctionReturn(PETSC_SUCCESS);
}
