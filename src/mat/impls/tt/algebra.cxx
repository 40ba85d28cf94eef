#include "mat/impls/tt/impl.hpp"
#include "vec/vectt.hpp"

#include <cmath>

namespace petsctt {

PetscErrorCode MatScale_TT(Mat A, PetscScalar c)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCallTT(scale_blocks(data_of(A).given, c));
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Adds an identity term.
PetscErrorCode MatShift_TT(Mat A, PetscScalar c)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT &t = data_of(A);
  PetscCallTT(add_term(t.given, c, std::vector<Int>((std::size_t)t.space->d(), identity_factor)));
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The blocks of `from` with its factors renumbered as factors of `to`.
PetscErrorCode import_blocks(const MatTT &from, const BlockTrain &blocks, MatTT &to, BlockTrain &out)
{
  PetscFunctionBegin;
  PetscCallTT(out = blocks);
  for (Int k = 0; k < (Int)out.size(); k++) {
    std::vector<Int> number(from.factors[k].user.size(), identity_factor - 1), shift;
    for (const DiagonalCore &d : from.factors[k].diagonals)
      PetscCallTT(shift.resize((std::size_t)(d.first + d.r0 * d.r1), add_diagonals(to.factors[k], d.values, d.r0, d.r1, d.n) - d.first));
    for (Entry &e : out[k].entries) {
      if (e.f == identity_factor) continue;
      if (is_diagonal_factor(e.f)) {
        e.f -= shift[(std::size_t)diagonal_number(e.f)];
        continue;
      }
      if (number[e.f] < identity_factor) {
        PetscCall(factor_index(to, k, from.factors[k].user[e.f], &number[e.f]));
        if (from.factors[k].frozen[e.f] >= 0) to.factors[k].frozen[number[e.f]] = from.factors[k].frozen[e.f];
      }
      e.f = number[e.f];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Y += c X: the block trains are added, equal factors are recognised.
PetscErrorCode MatAXPY_TT(Mat Y, PetscScalar c, Mat X, MatStructure)
{
  BlockTrain blocks;

  PetscFunctionBegin;
  PetscCall(require_modes(Y));
  PetscCall(require_modes(X));
  PetscCallTT(require_same_space(*space_of(Y), *space_of(X), "the operators of MatAXPY()"));
  PetscCall(import_blocks(data_of(X), data_of(X).given, data_of(Y), blocks));
  PetscCallTT(add_blocks(data_of(Y).given, c, blocks));
  PetscCall(operator_changed(Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatAYPX_TT(Mat Y, PetscScalar c, Mat X, MatStructure s)
{
  PetscFunctionBegin;
  PetscCall(MatScale_TT(Y, c));
  PetscCall(MatAXPY_TT(Y, 1, X, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatZeroEntries_TT(Mat A)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT &t = data_of(A);
  release_factors(t);
  PetscCallTT(t.given = zero_blocks(t.space->d()); t.used = t.given);
  t.block_form = false;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode copy_operator(Mat from, Mat to)
{
  BlockTrain blocks;

  PetscFunctionBegin;
  MatTT       &t = data_of(to);
  const MatTT &f = data_of(from);
  PetscCall(MatZeroEntries_TT(to));
  PetscCall(import_blocks(f, f.given, t, blocks));
  t.given         = std::move(blocks);
  t.block_form    = f.block_form;
  t.compress_rtol = f.compress_rtol;
  PetscCall(operator_changed(to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCopy_TT(Mat A, Mat B, MatStructure)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(require_modes(B));
  if (A == B) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallTT(require_same_space(*space_of(A), *space_of(B), "the operators of MatCopy()"));
  PetscCall(copy_operator(A, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The duplicate has blocks and coefficients of its own and shares the factors, which belong to the user.
PetscErrorCode MatDuplicate_TT(Mat A, MatDuplicateOption option, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetType(*B, MATTT));
  PetscCall(set_space(*B, space_of(A)));
  if (option == MAT_COPY_VALUES) PetscCall(copy_operator(A, *B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// M^T: M itself when it is known to be symmetric, a new matrix for types that can be transposed, else one that applies it.
PetscErrorCode transposed_factor(Mat M, Mat *out)
{
  PetscBool known, symmetric;

  PetscFunctionBegin;
  PetscCall(MatIsSymmetricKnown(M, &known, &symmetric));
  if (is_diagonal_type(M) || (known && symmetric)) {
    PetscCall(PetscObjectReference((PetscObject)M));
    *out = M;
  } else if (is_type(M, MATSEQAIJ) || is_type(M, MATMPIAIJ) || is_type(M, MATSEQDENSE) || is_type(M, MATMPIDENSE) || is_type(M, MATSEQBAIJ) ||
             is_type(M, MATMPIBAIJ))
    PetscCall(MatTranspose(M, MAT_INITIAL_MATRIX, out));
  else PetscCall(MatCreateTranspose(M, out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The values are shared with other operators: these get new ones.
void conjugate_diagonals(Factors &mode)
{
  for (DiagonalCore &d : mode.diagonals) {
    auto values = std::make_shared<Buffer>(*d.values);
    for (std::size_t p = 0; p < values->size(); p++) (*values)[p] = conj((*values)[p]);
    d.values = values;
  }
}

PetscErrorCode conjugated_factor(Mat M, Mat *out)
{
  PetscFunctionBegin;
  PetscCall(MatDuplicate(M, MAT_COPY_VALUES, out));
  PetscCall(MatConjugate(*out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Replaces the matrices that occur in `used` by new ones and the given blocks by `used` with them. Diagonals stay.
template <class F> PetscErrorCode replace_factors(Mat A, F &&make)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  MatTT               &t = data_of(A);
  std::vector<Factors> fresh;
  PetscCallTT(fresh.resize(t.factors.size()));
  for (Int k = 0; k < (Int)t.factors.size(); k++) {
    std::vector<Int> number(t.factors[k].user.size(), identity_factor);
    PetscCallTT(fresh[k].diagonals = t.factors[k].diagonals);
    for (Entry &e : t.used[k].entries) {
      if (e.f < 0) continue;
      if (number[e.f] == identity_factor) {
        Mat M;
        PetscCall(make(t.factors[k].user[e.f], &M));
        number[e.f] = (Int)fresh[k].user.size();
        const PetscObjectState frozen = M == t.factors[k].user[e.f] ? t.factors[k].frozen[e.f] : -1;
        PetscCallTT(fresh[k].user.push_back(M); fresh[k].ready.push_back(NULL); fresh[k].state.push_back(-1); fresh[k].frozen.push_back(frozen));
      }
      e.f = number[e.f];
    }
  }
  release_factors(t);
  t.factors.swap(fresh);
  PetscCallTT(t.given = t.used);
  t.block_form = false;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatTranspose_TT(Mat A, MatReuse reuse, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatDuplicate_TT(A, MAT_COPY_VALUES, B));
  else if (reuse == MAT_REUSE_MATRIX) {
    PetscCall(require_mattt(*B, "the matrix reused by MatTranspose()"));
    PetscCall(MatCopy_TT(A, *B, DIFFERENT_NONZERO_PATTERN));
  }
  PetscCall(replace_factors(reuse == MAT_INPLACE_MATRIX ? A : *B, transposed_factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConjugate_TT(Mat A)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  if (is_complex) {
    PetscCall(replace_factors(A, conjugated_factor));
    conjugate_coefficients(data_of(A).given);
    for (Factors &mode : data_of(A).factors) PetscCallTT(conjugate_diagonals(mode));
    PetscCall(operator_changed(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// || A - A^T || <= max(tol, 1e-14) || A || (Frobenius; A^H for hermitian).
PetscErrorCode is_own_transpose(Mat A, bool hermitian, PetscReal tol, PetscBool *yes)
{
  MatHandle B;
  Scaled    norm, difference;

  PetscFunctionBegin;
  PetscCall(MatTranspose_TT(A, MAT_INITIAL_MATRIX, B.out()));
  if (hermitian) PetscCall(MatConjugate_TT(B));
  PetscCall(frobenius_norm(A, norm));
  PetscCall(MatAXPY_TT(B, -1, A, DIFFERENT_NONZERO_PATTERN));
  PetscCall(frobenius_norm(B, difference));
  PetscCallTT(*yes = abs_less(norm * Scaled(PetscMax(tol, 1e-14)), difference) ? PETSC_FALSE : PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatIsSymmetric_TT(Mat A, PetscReal tol, PetscBool *yes)
{
  PetscFunctionBegin;
  PetscCall(is_own_transpose(A, false, tol, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatIsHermitian_TT(Mat A, PetscReal tol, PetscBool *yes)
{
  PetscFunctionBegin;
  PetscCall(is_own_transpose(A, true, tol, yes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The diagonal has the structure of the operator: core k is S_{k-1} x n x S_k.
PetscErrorCode MatGetDiagonal_TT(Mat A, Vec v)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  MatTT &t = data_of(A);
  PetscCall(require_vectt(v, "the vector of MatGetDiagonal() with a MATTT"));
  PetscCallTT(require_same_space(*t.space, *space_of(v), "operator and diagonal"));
  Train out;
  PetscCallTT(out = Train(t.space));
  if (!is_zero(t.used)) {
    for (Int k = 0; k < t.space->d(); k++) {
      const Int                        n = t.space->n(k);
      Core                             core;
      std::vector<std::vector<Scalar>> diagonal(t.factors[k].user.size());
      PetscCallTT(core = Core(t.used[k].s0, n, t.used[k].s1));
      std::fill(core.data(), core.data() + core.count(), Scalar(0));
      for (const Entry &e : t.used[k].entries) {
        if (e.f >= 0 && diagonal[e.f].empty()) {
          PetscCallTT(diagonal[e.f].resize((std::size_t)n + 1)); // one more: never empty again
          PetscCall(diagonal_of(t.factors[k].ready[e.f], n, diagonal[e.f].data()));
        }
        const Scalar *d = is_diagonal_factor(e.f) ? diagonal_entries(t.factors[k], e.f) : e.f == identity_factor ? nullptr : diagonal[e.f].data();
        for (Int i = 0; i < n; i++) core(e.i, i, e.j) += d ? e.c * d[i] : e.c;
      }
      PetscCallTT(out.set_core(k, std::move(core)));
    }
    out.set_scale(Scaled(1));
  }
  PetscCall(assign_rounded_sum(v, {Term{Scaled(1), &out}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatGetInfo_TT(Mat A, MatInfoType, MatInfo *info)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  PetscCall(require_modes(A));
  info->block_size = 1;
  for (const Factors &mode : data_of(A).factors)
    for (Mat M : mode.user) {
      MatInfo   one;
      PetscBool has;
      PetscCall(MatHasOperation(M, MATOP_GETINFO, &has));
      if (!has) continue;
      PetscCall(MatGetInfo(M, MAT_GLOBAL_SUM, &one));
      info->nz_allocated += one.nz_allocated;
      info->nz_used += one.nz_used;
      info->nz_unneeded += one.nz_unneeded;
      info->memory += one.memory;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
