#include "mat/impls/tt/impl.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/round.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

// sum over the rows of this process of A_ij conj(B_ij), both AIJ with the same layout.
PetscErrorCode local_inner_product(Mat A, Mat B, Scalar *sum)
{
  PetscInt start, end;

  PetscFunctionBegin;
  *sum = 0;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscInt           na, nb;
    const PetscInt    *ja, *jb;
    const PetscScalar *va, *vb;
    PetscCall(MatGetRow(A, i, &na, &ja, &va));
    // MatGetRow() of an MPIAIJ hands out one row of a matrix at a time, and A may be B
    if (A == B)
      for (PetscInt p = 0; p < na; p++) *sum += va[p] * conj(va[p]);
    else {
      PetscCall(MatGetRow(B, i, &nb, &jb, &vb));
      for (PetscInt p = 0, q = 0; p < na && q < nb;) {
        if (ja[p] < jb[q]) p++;
        else if (ja[p] > jb[q]) q++;
        else *sum += va[p++] * conj(vb[q++]);
      }
      PetscCall(MatRestoreRow(B, i, &nb, &jb, &vb));
    }
    PetscCall(MatRestoreRow(A, i, &na, &ja, &va));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Frobenius inner product of two factors of mode k as applied, the same number on all processes.
PetscErrorCode inner_product(const Space &space, Int k, Mat A, Mat B, Scalar *sum)
{
  PetscFunctionBegin;
  PetscCall(local_inner_product(A, B, sum));
  if (space.replicated(k)) PetscCallTT(space.comm().bcast(sum, 1));
  else PetscCallTT(space.comm().sum(sum, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// An orthonormal basis of the span of some matrices: matrix q of the list is sum_b coordinates[b + m q] Q_b, and basis matrix b is
// sum_q inverse[b + m q] times matrix q.
struct Basis {
  Int                 m = 0;
  std::vector<Scalar> coordinates, inverse;
};

PetscErrorCode one_matrix_basis(const MatTT &t, Int k, Int f, Basis &basis)
{
  Real norm = PetscSqrtReal((PetscReal)t.space->N(k));

  PetscFunctionBegin;
  if (f != identity_factor) {
    MatHandle M;
    Scalar    square;
    PetscCall(factor_as_aij(t, k, f, M.out()));
    PetscCall(inner_product(*t.space, k, M, M, &square));
    norm = PetscSqrtReal(real(square));
  }
  basis.m = norm == 0 ? 0 : 1;
  if (norm != 0) {
    basis.coordinates.assign(1, norm);
    basis.inverse.assign(1, 1 / norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// c[b] := inner product of the diagonals d and D_b, the same on all processes.
PetscErrorCode diagonal_products(const Space &space, Int k, const Buffer &d, const std::vector<const Buffer *> &D, Scalar *c)
{
  PetscFunctionBegin;
  for (std::size_t b = 0; b < D.size(); b++) {
    c[b] = 0;
    for (std::size_t i = 0; i < d.size(); i++) c[b] += d[i] * conj((*D[b])[i]);
  }
  if (space.replicated(k)) PetscCallTT(space.comm().bcast(c, (Count)D.size()));
  else PetscCallTT(space.comm().sum(c, (Count)D.size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode diagonal_norm(const Space &space, Int k, const Buffer &d, Real *norm)
{
  Scalar square;

  PetscFunctionBegin;
  PetscCall(diagonal_products(space, k, d, {&d}, &square));
  *norm = PetscSqrtReal(real(square));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Orthonormal matrices: diagonal ones, kept as vectors, and others. Those are orthogonal to the diagonal ones too.
struct Orthonormal {
  std::vector<Buffer>    D;
  std::vector<MatHandle> Q;

  std::vector<const Buffer *> diagonals() const
  {
    std::vector<const Buffer *> list;
    for (const Buffer &d : D) list.push_back(&d);
    return list;
  }
};

// part := the projection of the diagonal d on the span of the D_b, whose coordinates are added to c.
PetscErrorCode project_diagonal(const Space &space, Int k, const Orthonormal &basis, const Buffer &d, Buffer &part, std::vector<Scalar> &c)
{
  std::vector<Scalar> products(basis.D.size());

  PetscFunctionBegin;
  PetscCall(diagonal_products(space, k, d, basis.diagonals(), products.data()));
  part.fill(0);
  for (std::size_t b = 0; b < basis.D.size(); b++) {
    c[b] += products[b];
    for (std::size_t i = 0; i < part.size(); i++) part[i] += products[b] * basis.D[b][i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Gram-Schmidt, twice, for one more diagonal: c gets its coordinates. A diagonal within `tiny` (relative) of the span of those before it
// counts as dependent, also below; one with NaN or Inf as independent, so that it gets into the norm.
PetscErrorCode add_diagonal(const MatTT &t, Int k, Int f, Real tiny, Orthonormal &basis, std::vector<Scalar> &c, bool *independent)
{
  const Space &space = *t.space;
  Buffer       d, part;
  Real         norm, rest;

  PetscFunctionBegin;
  PetscCallTT(d = Buffer((std::size_t)space.n(k)); part = d);
  if (f == identity_factor) d.fill(1);
  else std::copy_n(diagonal_entries(t.factors[k], f), space.n(k), d.data());
  PetscCall(diagonal_norm(space, k, d, &norm));
  *independent = false;
  if (norm == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int pass = 0; pass < 2; pass++) {
    PetscCall(project_diagonal(space, k, basis, d, part, c));
    for (std::size_t i = 0; i < d.size(); i++) d[i] -= part[i];
  }
  PetscCall(diagonal_norm(space, k, d, &rest));
  if (rest <= tiny * norm && is_finite(norm)) PetscFunctionReturn(PETSC_SUCCESS);
  for (std::size_t i = 0; i < d.size(); i++) d[i] /= rest;
  PetscCallTT(basis.D.push_back(std::move(d)); c.push_back(rest));
  *independent = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// E -= its components in the diagonal basis matrices; c as above.
PetscErrorCode remove_diagonals(const MatTT &t, Int k, const Orthonormal &basis, Mat E, std::vector<Scalar> &c)
{
  const Int n = t.space->n(k), start = t.space->start(k);
  Buffer    d, part;
  MatHandle P;

  PetscFunctionBegin;
  if (basis.D.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallTT(d = Buffer((std::size_t)n); part = d);
  PetscCall(diagonal_of(E, n, d.data()));
  PetscCall(project_diagonal(*t.space, k, basis, d, part, c));
  PetscCall(factor_as_aij(t, k, identity_factor, P.out()));
  for (Int i = 0; i < n; i++) PetscCall(MatSetValue(P, start + i, start + i, part[(std::size_t)i], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAXPY(E, -1, P, DIFFERENT_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same for a matrix: on the matrices themselves, since their Gram matrix alone would show dependence to half the digits only.
PetscErrorCode add_matrix(const MatTT &t, Int k, Int f, Real tiny, Orthonormal &basis, std::vector<Scalar> &c, bool *independent)
{
  const std::size_t nd = basis.D.size();
  MatHandle         M, E;
  Scalar            square;

  PetscFunctionBegin;
  *independent = false;
  PetscCall(factor_as_aij(t, k, f, M.out()));
  PetscCall(MatDuplicate(M, MAT_COPY_VALUES, E.out()));
  PetscCall(inner_product(*t.space, k, E, E, &square));
  const Real norm = PetscSqrtReal(real(square));
  if (norm == 0) PetscFunctionReturn(PETSC_SUCCESS);
  for (int pass = 0; pass < 2; pass++) {
    PetscCall(remove_diagonals(t, k, basis, E, c));
    for (std::size_t b = 0; b < basis.Q.size(); b++) {
      Scalar product;
      PetscCall(inner_product(*t.space, k, E, basis.Q[b], &product));
      if (product == Scalar(0)) continue;
      c[nd + b] += product;
      PetscCall(MatAXPY(E, -product, basis.Q[b], DIFFERENT_NONZERO_PATTERN));
    }
  }
  PetscCall(inner_product(*t.space, k, E, E, &square));
  const Real rest = PetscSqrtReal(real(square));
  if (rest <= tiny * norm && is_finite(norm)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatScale(E, 1 / rest));
  PetscCallTT(c.push_back(rest); basis.Q.push_back(std::move(E)));
  *independent = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// `list` is ascending: diagonals and the identity come before the matrices.
PetscErrorCode orthonormal_basis(const MatTT &t, Int k, const std::vector<Int> &list, Basis &basis)
{
  const Real tiny = 200 * PETSC_MACHINE_EPSILON;
  const Int  F    = (Int)list.size();

  PetscFunctionBegin;
  if (F == 1) {
    PetscCall(one_matrix_basis(t, k, list[0], basis));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Orthonormal                      vectors;
  std::vector<std::vector<Scalar>> column((std::size_t)F);
  std::vector<Int>                 independent; // number in the list of the matrix that gave Q_b
  for (Int q = 0; q < F; q++) {
    bool fresh;
    column[q].assign(independent.size(), 0);
    if (list[q] < 0) PetscCall(add_diagonal(t, k, list[q], tiny, vectors, column[q], &fresh));
    else PetscCall(add_matrix(t, k, list[q], tiny, vectors, column[q], &fresh));
    if (fresh) independent.push_back(q);
  }
  const Int m = basis.m = (Int)independent.size();
  basis.coordinates.assign((std::size_t)(m * F), 0);
  basis.inverse.assign((std::size_t)(m * F), 0);
  for (Int q = 0; q < F; q++) std::copy(column[q].begin(), column[q].end(), basis.coordinates.begin() + m * q);
  // Q_b = (M_q(b) - sum_{a < b} R_ab Q_a) / R_bb, so its coefficients follow from those of the earlier ones.
  for (Int b = 0; b < m; b++) {
    const std::vector<Scalar> &R = column[independent[b]];
    basis.inverse[b + m * independent[b]] = Scalar(1) / R[b];
    for (Int a = 0; a < b; a++)
      for (Int q = 0; q < F; q++) basis.inverse[b + m * q] -= R[a] / R[b] * basis.inverse[a + m * q];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode coefficient_train(Mat A, CoefficientTrain &out)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT       &t = data_of(A);
  const Int          d = t.space->d();
  std::vector<Basis> basis((std::size_t)d);
  std::vector<Mode>  modes;
  bool               zero = is_zero(t.used);
  out.list.assign((std::size_t)d, {});
  out.inverse.assign((std::size_t)d, {});
  out.m.assign((std::size_t)d, 1);
  for (Int k = 0; k < d; k++) {
    for (const Entry &e : t.used[k].entries) out.list[k].push_back(e.f);
    std::sort(out.list[k].begin(), out.list[k].end());
    out.list[k].erase(std::unique(out.list[k].begin(), out.list[k].end()), out.list[k].end());
    if (!zero) PetscCall(orthonormal_basis(t, k, out.list[k], basis[k]));
    zero           = zero || basis[k].m == 0;
    out.m[k]       = std::max<Int>(basis[k].m, 1);
    out.inverse[k] = basis[k].inverse;
    modes.push_back(replicate(out.m[k]));
  }
  PetscCallTT(out.train = Train(std::make_shared<const Space>(t.space->comm().mpi(), modes)));
  if (zero) PetscFunctionReturn(PETSC_SUCCESS);
  for (Int k = 0; k < d; k++) {
    Core core;
    PetscCallTT(core = Core(t.used[k].s0, out.m[k], t.used[k].s1));
    std::fill(core.data(), core.data() + core.count(), Scalar(0));
    for (const Entry &e : t.used[k].entries) {
      const Int q = (Int)(std::lower_bound(out.list[k].begin(), out.list[k].end(), e.f) - out.list[k].begin());
      for (Int b = 0; b < out.m[k]; b++) core(e.i, b, e.j) += e.c * basis[k].coordinates[b + out.m[k] * q];
    }
    PetscCallTT(out.train.set_core(k, std::move(core)));
  }
  out.train.set_scale(Scaled(1));
  PetscCallTT(out.train.check());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode frobenius_norm(Mat A, Scaled &norm)
{
  CoefficientTrain c;

  PetscFunctionBegin;
  PetscCall(coefficient_train(A, c));
  PetscCallTT(norm = petsctt::norm(c.train));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The blocks that a train of coefficients stands for. Its scale is spread over all cores: it may be out of range as one number.
// Coefficients at round-off level are dropped. The diagonals of a block are summed to one: diagonals[k], S_k x S_{k+1} of them, where mode k has any,
// to be added after those which it has.
BlockTrain blocks_of(const MatTT &t, const CoefficientTrain &c, std::vector<std::shared_ptr<Buffer>> &diagonals)
{
  const Train &x = c.train;
  const Int    d = x.d();
  BlockTrain   out = zero_blocks(d);
  diagonals.assign((std::size_t)d, nullptr);
  if (x.is_zero()) return out;
  const std::int64_t e = x.scale().exponent2();
  for (Int k = 0; k < d; k++) {
    const Core        &core  = x.core(k);
    const std::int64_t share = e * (k + 1) / d - e * k / d;
    const Scalar       scale = ldexp(k == 0 ? x.scale().mantissa() : Scalar(1), share);
    const Int          m = core.n, F = (Int)c.list[k].size(), n = t.space->n(k);
    const auto        &old  = t.factors[k].diagonals;
    const Int          next = old.empty() ? 0 : old.back().first + old.back().r0 * old.back().r1;
    Real               largest = 0;
    for (Count p = 0; p < core.count(); p++) largest = std::max(largest, petsctt::abs(core.data()[p]));
    out[k].s0 = core.r0;
    out[k].s1 = core.r1;
    if (is_diagonal_factor(c.list[k][0])) {
      diagonals[k] = std::make_shared<Buffer>((std::size_t)((Count)n * core.r0 * core.r1));
      diagonals[k]->fill(0);
    }
    for (Int j = 0; j < core.r1; j++)
      for (Int i = 0; i < core.r0; i++) {
        bool any_diagonal = false;
        for (Int q = 0; q < F; q++) {
          Scalar sum = 0;
          Real   size = 0; // of the factor, from below
          for (Int b = 0; b < m; b++) {
            const Scalar g = c.inverse[k][b + m * q];
            sum += core(i, b, j) * g;
            size = std::max(size, petsctt::abs(g));
          }
          if (!(petsctt::abs(sum) > 4 * PETSC_MACHINE_EPSILON * largest * size)) continue;
          if (!is_diagonal_factor(c.list[k][q])) {
            out[k].entries.push_back({i, j, c.list[k][q], scale * sum});
            continue;
          }
          const Scalar *from = diagonal_entries(t.factors[k], c.list[k][q]);
          Scalar       *to   = diagonals[k]->data() + (Count)n * (i + core.r0 * j);
          for (Int p = 0; p < n; p++) to[p] += sum * from[p];
          any_diagonal = true;
        }
        if (any_diagonal) out[k].entries.push_back({i, j, diagonal_factor(next + i + core.r0 * j), scale});
      }
  }
  return out;
}

bool same_ranks(const BlockTrain &a, const BlockTrain &b)
{
  for (std::size_t k = 0; k < a.size(); k++)
    if (a[k].s1 != b[k].s1) return false;
  return true;
}

} // namespace

// Oseledets' rounding (2011, algorithm 2) of the train of coefficients in orthonormal bases of the factors: the error is the
// relative Frobenius error of the operator. When the ranks do not fall the merged blocks stay, which are sparser; so they do when they hold NaN or Inf.
PetscErrorCode compress(Mat A, Real rtol)
{
  CoefficientTrain c;
  RoundOptions     options;

  PetscFunctionBegin;
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "The relative tolerance %g must be in [0, 1)", (double)rtol);
  LogScope log(events().compress, (PetscObject)A);
  PetscCall(coefficient_train(A, c));
  MatTT &t     = data_of(A);
  options.type = RoundType::qr;
  options.rtol = PetscMax(rtol, 100 * PETSC_MACHINE_EPSILON);
  bool                                 from_values = false;
  std::vector<std::shared_ptr<Buffer>> diagonals;
  PetscCallTT({
    const bool       finite = round(c.train, options).norm.finite();
    const BlockTrain fresh  = finite ? blocks_of(t, c, diagonals) : t.used;
    from_values             = finite && (is_zero(fresh) != is_zero(t.used) || !same_ranks(fresh, t.used));
    t.given                 = from_values ? fresh : t.used;
  });
  for (Int k = 0; from_values && k < t.space->d(); k++)
    for (Int f : c.list[k])
      if (f >= 0) PetscCall(PetscObjectStateGet((PetscObject)t.factors[k].user[f], &t.factors[k].frozen[f]));
  for (Int k = 0; from_values && k < t.space->d(); k++) {
    auto &mine = t.factors[k].diagonals;
    if (!diagonals[k]) continue;
    PetscCallTT(add_diagonals(t.factors[k], diagonals[k], t.given[k].s0, t.given[k].s1, t.space->n(k)));
    mine.erase(mine.begin(), mine.end() - 1); // summed up in the new ones
  }
  t.block_form = false;
  PetscCall(operator_changed(A));
  PetscCall(prepare(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Norms 1 and infinity are products of those of the factors when the operator is one Kronecker product.
PetscErrorCode product_of_norms(Mat A, NormType type, Scaled &norm)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t = data_of(A);
  norm           = Scaled(is_zero(t.used) ? 0 : 1);
  for (Int k = 0; k < t.space->d() && !norm.is_zero(); k++) {
    const BlockCore &grid = t.used[k];
    PetscCheck(grid.entries.size() == 1, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
               "MatNorm() of a MATTT with norm 1 or infinity needs a single Kronecker product, but mode %lld has %lld blocks; use NORM_FROBENIUS, "
               "and -ksp_type pipecg instead of pipecgrr, which asks for this norm",
               (long long)k, (long long)grid.entries.size());
    PetscReal one = 1;
    if (grid.entries[0].f != identity_factor) {
      MatHandle M;
      PetscCall(factor_as_aij(t, k, grid.entries[0].f, M.out()));
      PetscCall(MatNorm(M, type, &one));
    }
    norm *= Scaled(petsctt::abs(grid.entries[0].c)) * Scaled(one);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatNorm_TT(Mat A, NormType type, PetscReal *value)
{
  Scaled norm;

  PetscFunctionBegin;
  if (type == NORM_FROBENIUS) PetscCall(frobenius_norm(A, norm));
  else {
    PetscCheck(type == NORM_1 || type == NORM_INFINITY, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "No such norm of a MATTT: use NORM_FROBENIUS");
    PetscCall(product_of_norms(A, type, norm));
  }
  PetscCallTT(*value = real(norm.value()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
