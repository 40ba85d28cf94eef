#include "mat/impls/tt/impl.hpp"
#include "base/blas.hpp"
#include "vec/vectt.hpp"

#include <algorithm>
#include <map>

namespace petsctt {

namespace {

// block (s, t) of Y := or += c Z. Y is (S0 r0) x n x (S1 r1) and its TT rank indices are s r0 + a and t r1 + b: the block index
// is the slower one, so that a block is written in runs of r0 entries.
void put_block(Core &Y, const Core &Z, Int s, Int t, Scalar c, bool add)
{
  const Count r0 = Z.r0, rows = (Count)Z.n * Z.r1, ld = Y.r0;
  Scalar       *y = Y.data() + s * r0 + ld * ((Count)Y.n * ((Count)t * Z.r1));
  const Scalar *z = Z.data();
  for (Count row = 0; row < rows; row++, y += ld, z += r0) {
    if (add)
      for (Count a = 0; a < r0; a++) y[a] += c * z[a];
    else
      for (Count a = 0; a < r0; a++) y[a] = c * z[a];
  }
  flops() += (add ? 2.0 : 1.0) * (is_complex ? 4 : 1) * (double)(rows * r0);
}

void zero_block(Core &Y, Int s, Int t, Int r0, Int r1)
{
  const Count ld = Y.r0;
  Scalar     *y  = Y.data() + (Count)s * r0 + ld * ((Count)Y.n * ((Count)t * r1));
  for (Count row = 0; row < (Count)Y.n * r1; row++, y += ld) std::fill(y, y + r0, Scalar(0));
}

Scalar coefficient(Apply how, Scalar c)
{
  return how == Apply::hermitian ? conj(c) : c;
}

// Core k of the result. Each matrix of the mode is applied once and what it gives goes to all blocks that need it.
// A grid of one block with one factor needs no copy; its coefficient goes to `scale`.
PetscErrorCode apply_core(const MatTT &t, Int k, Apply how, const Core &X, Core &Y, Scaled &scale)
{
  const BlockCore &grid = t.used[k];

  PetscFunctionBegin;
  if (grid.s0 == 1 && grid.s1 == 1 && grid.entries.size() == 1) {
    const Entry &e = grid.entries[0];
    scale *= Scaled(coefficient(how, e.c));
    if (e.f == identity_factor) PetscCallTT(Y = X);
    else if (is_diagonal_factor(e.f)) {
      PetscCallTT(Y = Core(X.r0, X.n, X.r1));
      apply_diagonal_factor(diagonal_entries(t.factors[k], e.f), how == Apply::hermitian, 1, X, Y.data(), Y.r0, false);
    }
    else PetscCall(apply_mode(t.factors[k].ready[e.f], how, X, Y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::map<Int, std::vector<const Entry *>> by_factor; // in the order of f: the same on all processes
  for (const Entry &e : grid.entries) by_factor[e.f].push_back(&e);
  std::vector<bool> written((std::size_t)(grid.s0 * grid.s1), false);
  Core              Z;
  PetscCallTT(Y = Core(grid.s0 * X.r0, X.n, grid.s1 * X.r1));
  for (const auto &use : by_factor) {
    if (use.first >= 0) PetscCall(apply_mode(t.factors[k].ready[use.first], how, X, Z));
    for (const Entry *e : use.second) {
      const std::size_t at = (std::size_t)(e->i + grid.s0 * e->j);
      if (is_diagonal_factor(use.first))
        apply_diagonal_factor(diagonal_entries(t.factors[k], use.first), how == Apply::hermitian, coefficient(how, e->c), X,
                              Y.data() + (Count)e->i * X.r0 + (Count)Y.r0 * Y.n * e->j * X.r1, Y.r0, written[at]);
      else put_block(Y, use.first == identity_factor ? X : Z, e->i, e->j, coefficient(how, e->c), written[at]);
      written[at] = true;
    }
  }
  for (Int j = 0; j < grid.s1; j++)
    for (Int i = 0; i < grid.s0; i++)
      if (!written[(std::size_t)(i + grid.s0 * j)]) zero_block(Y, i, j, X.r0, X.r1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool passes_through(const BlockCore &grid)
{
  return grid.s0 == 1 && grid.s1 == 1 && grid.entries.size() == 1 && grid.entries[0].f == identity_factor;
}

} // namespace

PetscErrorCode apply(Mat A, Apply how, const Train &x, Train &y)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t = data_of(A);
  LogScope     log(events().apply, (PetscObject)A);
  PetscCallTT(require_same_space(*t.space, *x.space(), "operator and vector"));
  Train out;
  PetscCallTT(out = Train(t.space));
  if (!is_zero(t.used) && !x.is_zero()) {
    Scaled scale = x.scale();
    Int    left = 0, right = 0;
    for (Int k = 0; k < x.d(); k++) {
      Core Y;
      PetscCall(apply_core(t, k, how, x.core(k), Y, scale));
      PetscCallTT(out.set_core(k, std::move(Y)));
    }
    // Cores under identities stay as they were, orthogonal ones included.
    while (left < x.left() && passes_through(t.used[left])) left++;
    while (right < x.right() && passes_through(t.used[x.d() - 1 - right])) right++;
    out.set_scale(scale);
    out.set_orthogonal(left, right);
    PetscCallTT(out.check());
  }
  y = std::move(out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// y := round(alpha z + beta op(A) x), z may be null. Ends in assign_rounded_sum(), which raises y's object state: PETSc does
// not do so after MatMult().
PetscErrorCode multiply(Mat A, Apply how, Scalar alpha, Vec z, Scalar beta, Vec x, Vec y)
{
  std::unique_ptr<LazyTrain> Ax;

  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(require_vectt(x, "the input of MatMult() with a MATTT"));
  PetscCall(require_vectt(y, "the result of MatMult() with a MATTT"));
  if (z) PetscCall(require_vectt(z, "the vector added by MatMultAdd() with a MATTT"));
  PetscCallTT(require_same_space(*space_of(A), *space_of(y), "operator and result"));
  if (z) PetscCallTT(require_same_space(*space_of(A), *space_of(z), "operator and added vector"));
  // The product is formed only where rounding the formed cores is the cheaper way: assign_rounded_sum() decides.
  PetscCall(lazy_apply(A, how, train_of(x), Ax));
  std::vector<Term> terms;
  if (z) terms.push_back({Scaled(alpha), &train_of(z)});
  terms.push_back({Scaled(beta), nullptr, Ax.get()});
  PetscCall(assign_rounded_sum(y, terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatMult_TT(Mat A, Vec x, Vec y)
{
  return multiply(A, Apply::plain, 0, NULL, 1, x, y);
}

PetscErrorCode MatMultAdd_TT(Mat A, Vec x, Vec z, Vec y)
{
  return multiply(A, Apply::plain, 1, z, 1, x, y);
}

PetscErrorCode MatMultTranspose_TT(Mat A, Vec x, Vec y)
{
  return multiply(A, Apply::transpose, 0, NULL, 1, x, y);
}

PetscErrorCode MatMultTransposeAdd_TT(Mat A, Vec x, Vec z, Vec y)
{
  return multiply(A, Apply::transpose, 1, z, 1, x, y);
}

PetscErrorCode MatMultHermitianTranspose_TT(Mat A, Vec x, Vec y)
{
  return multiply(A, Apply::hermitian, 0, NULL, 1, x, y);
}

PetscErrorCode MatMultHermitianTransposeAdd_TT(Mat A, Vec x, Vec z, Vec y)
{
  return multiply(A, Apply::hermitian, 1, z, 1, x, y);
}

PetscErrorCode MatResidual_TT(Mat A, Vec b, Vec x, Vec r)
{
  return multiply(A, Apply::plain, 1, b, -1, x, r);
}

} // namespace petsctt
