#include "mat/impls/tt/impl.hpp"

#include <algorithm>
#include <map>

namespace petsctt {

namespace {

constexpr double row_limit = 1e7; // rows of an assembled operator

// Part of a row of the product of the cores seen so far: column (first mode fastest), block column, value.
struct Partial {
  PetscInt column;
  Int      s;
  Scalar   value;
};

// Sums what has the same column and state; leaves the list sorted by column.
void combine(std::vector<Partial> &list)
{
  std::sort(list.begin(), list.end(), [](const Partial &a, const Partial &b) { return a.column != b.column ? a.column < b.column : a.s < b.s; });
  std::size_t n = 0;
  for (const Partial &p : list) {
    if (n > 0 && list[n - 1].column == p.column && list[n - 1].s == p.s) list[n - 1].value += p.value;
    else list[n++] = p;
  }
  list.resize(n);
}

// Rows of the factors of all modes, complete on every process.
using Rows = std::vector<std::map<Int, MatHandle>>;

PetscErrorCode gather_factors(const MatTT &t, Rows &rows)
{
  PetscFunctionBegin;
  rows.resize(t.factors.size());
  for (Int k = 0; k < (Int)t.factors.size(); k++) {
    for (const Entry &e : t.used[k].entries) {
      MatHandle M;
      if (e.f == identity_factor || rows[k].count(e.f)) continue;
      PetscCall(factor_as_aij(t, k, e.f, M.out()));
      PetscCall(as_redundant_aij(M, rows[k][e.f].out()));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One row: the product of the cores from the first mode to the last, kept as a list of non-zeros.
PetscErrorCode product_row(const MatTT &t, const Rows &rows, PetscInt row, std::vector<Partial> &list)
{
  std::vector<Partial> next;
  PetscInt             stride = 1;

  PetscFunctionBegin;
  list.assign(1, {0, 0, 1});
  for (Int k = 0; k < t.space->d(); k++) {
    const PetscInt N = t.space->N(k), i = row % N;
    row /= N;
    next.clear();
    for (const Entry &e : t.used[k].entries) {
      PetscInt           n    = 1;
      const PetscInt    *ja   = &i;
      const PetscScalar *va   = nullptr;
      const Scalar       one  = 1;
      const bool         real = e.f != identity_factor;
      if (real) PetscCall(MatGetRow(rows[k].at(e.f), i, &n, &ja, &va));
      else va = &one;
      for (const Partial &p : list)
        if (p.s == e.i)
          for (PetscInt q = 0; q < n; q++) next.push_back({p.column + stride * ja[q], e.j, p.value * e.c * va[q]});
      if (real) PetscCall(MatRestoreRow(rows[k].at(e.f), i, &n, &ja, &va));
    }
    combine(next);
    list.swap(next);
    stride *= N;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatConvert_TT_AIJ(Mat A, MatType, MatReuse reuse, Mat *B)
{
  MatHandle C;

  PetscFunctionBegin;
  PetscCall(MatTTGetAssembled(A, C.out()));
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatCopy(C, *B, DIFFERENT_NONZERO_PATTERN));
  else if (reuse == MAT_INPLACE_MATRIX) {
    Mat fresh = C.release();
    PetscCall(MatHeaderReplace(A, &fresh));
  } else *B = C.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

/*@
  MatTTGetAssembled - The operator as one sparse matrix, for sizes that fit

  Collective

  Input Parameter:
. A - a `MATTT` with at most ten million rows

  Output Parameter:
. B - a new `MATAIJ` with rows split evenly over the processes

  Level: intermediate

  Note:
  Rows and columns are numbered with the first mode fastest: i_0 + N_0 (i_1 + N_1 (i_2 + ...)), as in `VecTTGetFull()`.

.seealso: `MATTT`, `MatConvert()`, `VecTTGetFull()`
@*/
PetscErrorCode MatTTGetAssembled(Mat A, Mat *B)
{
  using namespace petsctt;

  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t = data_of(A);
  PetscCheck(t.space->full_size() <= row_limit, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "The assembled operator would have 10^%.1f rows, more than %g; apply it with MatMult() instead", (double)t.space->log10_full_size(), row_limit);
  const PetscInt N = (PetscInt)t.space->full_size();
  PetscInt       n = PETSC_DECIDE, total = N, start, end;
  MatHandle      C;
  Rows           rows;
  PetscCall(PetscSplitOwnership(PetscObjectComm((PetscObject)A), &n, &total));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), C.out()));
  PetscCall(MatSetSizes(C, n, n, N, N));
  PetscCall(MatSetType(C, MATAIJ));
  PetscCall(PetscLayoutSetUp(C.get()->rmap));
  start = C.get()->rmap->rstart;
  end   = C.get()->rmap->rend;
  PetscCall(gather_factors(t, rows));
  std::vector<PetscInt>    ia(1, 0), ja;
  std::vector<PetscScalar> va;
  std::vector<Partial>     list;
  for (PetscInt i = start; i < end; i++) {
    PetscCall(product_row(t, rows, i, list));
    PetscCallTT(for (const Partial &p : list) ja.push_back(p.column), va.push_back(p.value); ia.push_back((PetscInt)ja.size()));
  }
  PetscCall(MatSeqAIJSetPreallocationCSR(C, ia.data(), ja.data(), va.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(C, ia.data(), ja.data(), va.data()));
  *B = C.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}
