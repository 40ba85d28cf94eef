// Diagonal matrices of TT vectors as parts of an operator: diag(v) has the block ranks of v, and block (a, b) of core k is the diagonal
// matrix of v's core(a, :, b).
#include "mat/impls/tt/impl.hpp"
#include "base/blas.hpp"
#include "vec/vectt.hpp"

#include <algorithm>

namespace petsctt {

Int add_diagonals(Factors &mode, const std::shared_ptr<const Buffer> &values, Int r0, Int r1, Int n)
{
  Int next = 0;
  for (const DiagonalCore &d : mode.diagonals) {
    if (d.values == values) return d.first;
    next = d.first + d.r0 * d.r1;
  }
  mode.diagonals.push_back({values, r0, r1, n, next});
  return next;
}

const Scalar *diagonal_entries(const Factors &mode, Int f)
{
  static const Scalar nothing = 0; // of a process without indices: not null, which would mean the identity
  const Int           number  = diagonal_number(f);
  auto                after   = std::upper_bound(mode.diagonals.begin(), mode.diagonals.end(), number, [](Int m, const DiagonalCore &d) { return m < d.first; });
  const DiagonalCore &d       = *(after - 1);
  return d.n ? d.values->data() + (Count)d.n * (number - d.first) : &nothing;
}

// Cost 2 r0 n r1 flops (add), the block read and written once.
void apply_diagonal_factor(const Scalar *d, bool conjugated, Scalar c, const Core &X, Scalar *y, Count ld, bool add)
{
  const Scalar *x  = X.data();
  const Count   r0 = X.r0;
  for (Int b = 0; b < X.r1; b++)
    for (Int i = 0; i < X.n; i++, x += r0, y += ld) {
      const Scalar f = c * (conjugated ? conj(d[i]) : d[i]);
      if (add)
        for (Count a = 0; a < r0; a++) y[a] += f * x[a];
      else
        for (Count a = 0; a < r0; a++) y[a] = f * x[a];
    }
  flops() += (add ? 2.0 : 1.0) * (is_complex ? 4 : 1) * (double)X.count();
}

PetscErrorCode factor_as_aij(const MatTT &t, Int k, Int f, Mat *out)
{
  const Space   &space = *t.space;
  const PetscInt n = space.n(k), N = space.N(k), start = space.start(k);

  PetscFunctionBegin;
  if (f >= 0) {
    PetscCall(as_aij(t.factors[k].ready[f], out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Scalar         *d = is_diagonal_factor(f) ? diagonal_entries(t.factors[k], f) : nullptr;
  std::vector<PetscInt> ia((std::size_t)n + 1, 0), ja((std::size_t)n);
  std::vector<Scalar>   va((std::size_t)n, 1);
  for (PetscInt i = 0; i < n; i++) ia[i + 1] = i + 1, ja[i] = start + i;
  if (d) std::copy(d, d + n, va.begin());
  PetscCall(MatCreate(mode_comm(space, k), out));
  PetscCall(MatSetSizes(*out, n, n, N, N));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*out, ia.data(), ja.data(), va.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*out, ia.data(), ja.data(), va.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A += diag(v). Programs that set a diagonal by PETSc's own function get the term too.
PetscErrorCode MatDiagonalSet_TT(Mat A, Vec v, InsertMode mode)
{
  PetscFunctionBegin;
  PetscCheck(mode == ADD_VALUES || mode == ADD_ALL_VALUES, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
             "MatDiagonalSet() of a MATTT adds to the diagonal (ADD_VALUES) but cannot replace it: build the operator without it");
  PetscCall(MatTTAddDiagonalVec(A, 1, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The core with its mode index fastest, so that every diagonal is contiguous.
std::shared_ptr<const Buffer> diagonals_of(const Core &core)
{
  auto    values = std::make_shared<Buffer>((std::size_t)core.count());
  Scalar *d      = values->data();
  for (Int b = 0; b < core.r1; b++)
    for (Int a = 0; a < core.r0; a++)
      for (Int i = 0; i < core.n; i++) *d++ = core(a, i, b);
  return values;
}

// The exponents of the largest entries of all cores. One reduction.
std::vector<std::int64_t> core_exponents(const Train &v)
{
  std::vector<Real> top((std::size_t)v.d(), 0);
  for (Int k = 0; k < v.d(); k++)
    for (Count p = 0; p < v.core(k).count(); p++) top[k] = std::max(top[k], petsctt::abs(v.core(k).data()[p]));
  v.space()->comm().max(top.data(), v.d());
  std::vector<std::int64_t> e;
  for (Real t : top) e.push_back(exponent_of(t));
  return e;
}

// The train of blocks of diag(v). The power of two in v's scale may be out of range as one number, and rounding leaves it to the scale to make up for
// small or large cores: coefficients make the blocks of all cores alike in size. Beside those of other terms, blocks that differ by many orders
// from core to core are what roundings of products lose their accuracy by.
BlockTrain diagonal_blocks(const Train &v, std::vector<Factors> &factors)
{
  const Int                       d   = v.d();
  const std::vector<std::int64_t> own = core_exponents(v);
  std::int64_t                    e   = v.scale().exponent2();
  BlockTrain                      out = zero_blocks(d);
  for (std::int64_t o : own) e += o;
  for (Int k = 0; k < d; k++) {
    const Core  &core  = v.core(k);
    const Int    first = add_diagonals(factors[k], diagonals_of(core), core.r0, core.r1, core.n);
    const Scalar scale = ldexp(k == 0 ? v.scale().mantissa() : Scalar(1), e * (k + 1) / d - e * k / d - own[k]);
    out[k].s0          = core.r0;
    out[k].s1          = core.r1;
    out[k].entries.reserve((std::size_t)(core.r0 * core.r1));
    for (Int b = 0; b < core.r1; b++)
      for (Int a = 0; a < core.r0; a++) out[k].entries.push_back({a, b, diagonal_factor(first + a + core.r0 * b), scale});
  }
  return out;
}

} // namespace
} // namespace petsctt

using namespace petsctt;

/*@
  MatTTAddDiagonalVec - Adds alpha diag(v) to the operator: the diagonal matrix of the entries of a TT vector

  Collective

  Input Parameters:
+ A     - the operator, of type `MATTT`
. alpha - the coefficient
- v     - a `VECTT` with the modes of the operator

  Level: intermediate

  Notes:
  The product with a vector x is the entrywise product alpha v o x, rounded together with the other terms of the operator, not before. It makes
  exact Jacobians of entrywise nonlinearities: that of A u + u^3 is A + 3 diag(u o u), see `VecPointwiseMult()`.

  The values of v are copied: a later change of v changes nothing. A Jacobian is evaluated anew by `MatCopy()` of the constant part (or `MatZeroEntries()`
  and the terms once more, which are referenced only), and this function. Both raise the object state of the operator, so that `SNES`, `KSP` and `PCTTKRON`
  take the new values.

  The term increases the block ranks by the TT ranks r_k of v, and a product costs 2 r_k r_{k+1} operations more for each entry of the cores of x: round
  v to what the accuracy of the Jacobian needs. Storage is that of v. `MatTTGetProjectedMode()`, and with it `PCTTKRON`, takes the mean of
  v over all modes but one for the term. `MatView()` writes the diagonals to a file as sparse matrices, which is what `MatLoad()` gives back.

  `MatDiagonalSet()` with `ADD_VALUES` calls this function.

.seealso: `MATTT`, `VECTT`, `MatTTAddTerm()`, `MatDiagonalSet()`, `MatGetDiagonal()`, `VecPointwiseMult()`, `PCTTKRON`
@*/
PetscErrorCode MatTTAddDiagonalVec(Mat A, PetscScalar alpha, Vec v)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  PetscCall(require_vectt(v, "The vector of MatTTAddDiagonalVec()"));
  MatTT &t = data_of(A);
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)A), &alpha, sizeof(alpha), "The coefficient of MatTTAddDiagonalVec()"));
  PetscCallTT(require_same_space(*t.space, *space_of(v), "operator and diagonal"));
  const Train &x = train_of(v);
  if (!x.is_zero() && alpha != PetscScalar(0)) PetscCallTT(add_blocks(t.given, alpha, diagonal_blocks(x, t.factors)));
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
