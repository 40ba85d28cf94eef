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

PetscErrorCode identity_as_aij(const Space &space, Int k, Mat *out)
{
  const PetscInt n = space.n(k), N = space.N(k);

  PetscFunctionBegin;
  PetscCall(MatCreate(mode_comm(space, k), out));
  PetscCall(MatSetSizes(*out, n, n, N, N));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*out, 1, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*out, 1, NULL, 0, NULL));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatSetValue(*out, space.start(k) + i, space.start(k) + i, 1, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*out, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*out, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A factor of mode k as an AIJ matrix of our own.
PetscErrorCode own_factor(const MatTT &t, Int k, Int f, Mat *out)
{
  MatHandle M;

  PetscFunctionBegin;
  if (f == identity_factor) PetscCall(identity_as_aij(*t.space, k, out));
  else {
    PetscCall(as_aij(t.factors[k].ready[f], M.out()));
    PetscCall(MatDuplicate(M, MAT_COPY_VALUES, out));
  }
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
    PetscCall(as_aij(t.factors[k].ready[f], M.out()));
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

// Gram-Schmidt, twice, on the matrices themselves: their Gram matrix alone would show dependence to half the digits only.
// A matrix within `tiny` (relative) of the span of those before it counts as dependent.
PetscErrorCode orthonormal_basis(const MatTT &t, Int k, const std::vector<Int> &list, Basis &basis)
{
  const Real tiny = 200 * PETSC_MACHINE_EPSILON;
  const Int  F    = (Int)list.size();

  PetscFunctionBegin;
  if (F == 1) {
    PetscCall(one_matrix_basis(t, k, list[0], basis));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  std::vector<MatHandle>           Q;
  std::vector<std::vector<Scalar>> column((std::size_t)F);
  std::vector<Int>                 independent; // number in the list of the matrix that gave Q_b
  for (Int q = 0; q < F; q++) {
    MatHandle E;
    Scalar    square;
    PetscCall(own_factor(t, k, list[q], E.out()));
    PetscCall(inner_product(*t.space, k, E, E, &square));
    const Real norm = PetscSqrtReal(real(square));
    column[q].assign(Q.size(), 0);
    if (norm == 0) continue;
    for (int pass = 0; pass < 2; pass++)
      for (std::size_t b = 0; b < Q.size(); b++) {
        Scalar c;
        PetscCall(inner_product(*t.space, k, E, Q[b], &c));
        if (c == Scalar(0)) continue;
        column[q][b] += c;
        PetscCall(MatAXPY(E, -c, Q[b], DIFFERENT_NONZERO_PATTERN));
      }
    PetscCall(inner_product(*t.space, k, E, E, &square));
    const Real rest = PetscSqrtReal(real(square));
    if (!(rest > tiny * norm)) continue;
    PetscCall(MatScale(E, 1 / rest));
    column[q].push_back(rest);
    independent.push_back(q);
    Q.push_back(std::move(E));
  }
  const Int m = basis.m = (Int)Q.size();
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
// Coefficients at round-off level are dropped.
BlockTrain blocks_of(const CoefficientTrain &c)
{
  const Train &x = c.train;
  const Int    d = x.d();
  BlockTrain   out = zero_blocks(d);
  if (x.is_zero()) return out;
  const std::int64_t e = x.scale().exponent2();
  for (Int k = 0; k < d; k++) {
    const Core        &core  = x.core(k);
    const std::int64_t share = e * (k + 1) / d - e * k / d;
    const Scalar       scale = ldexp(k == 0 ? x.scale().mantissa() : Scalar(1), share);
    const Int          m = core.n, F = (Int)c.list[k].size();
    Real               largest = 0;
    for (Count p = 0; p < core.count(); p++) largest = std::max(largest, petsctt::abs(core.data()[p]));
    out[k].s0 = core.r0;
    out[k].s1 = core.r1;
    for (Int j = 0; j < core.r1; j++)
      for (Int i = 0; i < core.r0; i++)
        for (Int q = 0; q < F; q++) {
          Scalar sum = 0;
          Real   size = 0; // of the factor, from below
          for (Int b = 0; b < m; b++) {
            const Scalar g = c.inverse[k][b + m * q];
            sum += core(i, b, j) * g;
            size = std::max(size, petsctt::abs(g));
          }
          if (petsctt::abs(sum) > 4 * PETSC_MACHINE_EPSILON * largest * size) out[k].entries.push_back({i, j, c.list[k][q], scale * sum});
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
// relative Frobenius error of the operator. When the ranks do not fall the merged blocks stay, which are sparser.
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
  bool from_values = false;
  PetscCallTT({
    round(c.train, options);
    BlockTrain fresh = blocks_of(c);
    from_values      = is_zero(fresh) != is_zero(t.used) || !same_ranks(fresh, t.used);
    t.given          = from_values ? fresh : t.used;
  });
  for (Int k = 0; from_values && k < t.space->d(); k++)
    for (Int f : c.list[k])
      if (f != identity_factor) PetscCall(PetscObjectStateGet((PetscObject)t.factors[k].user[f], &t.factors[k].frozen[f]));
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
      PetscCall(as_aij(t.factors[k].ready[grid.entries[0].f], M.out()));
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
