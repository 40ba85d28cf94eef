// PCTTKRON as a sum of Kronecker products of matrix exponentials.
#include "pc/impls/ttkron/ttkron.hpp"

#include "base/blas.hpp"
#include "mat/mattt.hpp"
#include "pc/impls/ttkron/quadrature.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "vec/vectt.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

using std::vector;

constexpr PetscInt largest_mode = 4000; // matrices are full, and every process has them

// One-norm of a, n x n.
Real one_norm(Count n, const vector<Scalar> &a)
{
  Real largest = 0;
  for (Count j = 0; j < n; j++) {
    Real sum = 0;
    for (Count i = 0; i < n; i++) sum += petsctt::abs(a[i + n * j]);
    largest = std::max(largest, sum);
  }
  return largest;
}

// exp(-t T), n x n, column-major: the Taylor polynomial of degree 14 of exp(-t T/2^s), ||t T/2^s||_1 <= 1/2, by Horner's rule, squared s times. The
// remainder is below 1e-16. (14 + s) 2 n^3 flops.
vector<Scalar> exponential(Count n, const vector<Scalar> &T, Real t)
{
  const Real     norm = t * one_norm(n, T);
  const int      s    = norm > 0.5 ? (int)std::ceil(std::log2(2 * norm)) : 0;
  vector<Scalar> B(T), E(T.size(), 0), next(T.size());
  for (Scalar &b : B) b *= -std::ldexp(t, -s);
  for (Count i = 0; i < n; i++) E[i + n * i] = 1;
  for (int m = 14; m > 0; m--) { // E := I + B E/m
    gemm('N', 'N', n, n, n, Scalar(1 / (Real)m), B.data(), n, E.data(), n, 0, next.data(), n);
    E.swap(next);
    for (Count i = 0; i < n; i++) E[i + n * i] += 1;
  }
  for (int i = 0; i < s; i++) {
    gemm('N', 'N', n, n, n, 1, E.data(), n, E.data(), n, 0, next.data(), n);
    E.swap(next);
  }
  return E;
}

// All of M, n x n and column-major, on every process. Collective on M.
PetscErrorCode all_entries(Mat M, PetscInt n, vector<Scalar> &a)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)M);
  PetscMPIInt size;
  PetscInt    begin, end;

  PetscFunctionBegin;
  PetscCallTT(a.assign((std::size_t)n * (std::size_t)n, 0));
  PetscCall(MatGetOwnershipRange(M, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt    *columns;
    const PetscScalar *values;
    PetscInt           m;
    PetscCall(MatGetRow(M, i, &m, &columns, &values));
    for (PetscInt p = 0; p < m; p++) a[(std::size_t)i + (std::size_t)n * (std::size_t)columns[p]] = values[p];
    PetscCall(MatRestoreRow(M, i, &m, &columns, &values));
  }
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size > 1) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, a.data(), (PetscMPIInt)((Count)n * n), MPIU_SCALAR, MPIU_SUM, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Smallest and largest eigenvalue of the Hermitian part of T: bounds of the real parts of its eigenvalues. False when the iteration failed.
bool bounds(Count n, const vector<Scalar> &T, Real *least, Real *largest)
{
  vector<Scalar> H(T.size());
  vector<Real>   lambda((std::size_t)n);
  for (Count j = 0; j < n; j++)
    for (Count i = 0; i < n; i++) H[i + n * j] = Real(0.5) * (T[i + n * j] + conj(T[j + n * i]));
  if (!eigen(n, H.data(), lambda.data())) return false;
  *least   = lambda.front();
  *largest = lambda.back();
  return true;
}

// The rows of this process of a full matrix of mode k.
PetscErrorCode dense_matrix(PC pc, Int k, const vector<Scalar> &a, Mat *M)
{
  const Space   &space = *kron_space(pc);
  const PetscInt N = space.N(k), n = space.n(k), start = space.replicated(k) ? 0 : space.start(k);
  MPI_Comm       comm = space.replicated(k) ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)pc);
  PetscScalar   *entries;
  PetscInt       lda;

  PetscFunctionBegin;
  PetscCall(MatCreateDense(comm, n, n, N, N, NULL, M));
  PetscCall(MatDenseGetLDA(*M, &lda));
  PetscCall(MatDenseGetArrayWrite(*M, &entries));
  for (PetscInt j = 0; j < N; j++) std::copy_n(a.data() + start + (std::size_t)N * j, n, entries + (std::size_t)lda * j);
  PetscCall(MatDenseRestoreArrayWrite(*M, &entries));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One-mode operators T_k with sum T_k the operator when that is such a sum: projections M_k = T_k + mean of the others, less the mean of all
// but their share. `T`: one for each active mode.
PetscErrorCode one_mode_operators(PC pc, vector<vector<Scalar>> &T)
{
  Kron        &kron  = kron_of(pc);
  const Space &space = *kron_space(pc);
  const Real   m     = (Real)kron.active.size();
  PetscScalar  s     = 0;

  PetscFunctionBegin;
  T.clear();
  for (Int k : kron.active) {
    const PetscInt N = space.N(k);
    MatHandle      M;
    PetscCheck(N <= largest_mode, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
               "ttkron with exponentials: mode %" PetscInt_FMT " has %" PetscInt_FMT " points, full matrices of more than %" PetscInt_FMT " rows are not made", k, N, largest_mode);
    T.emplace_back();
    PetscCall(MatTTGetProjectedMode(pc->pmat, k, kron.reference.empty() ? NULL : kron.reference.data(), M.out()));
    PetscCall(all_entries(M, N, T.back()));
    // replicated modes are each process's own: equal up to the arithmetic of different machines
    PetscCallMPI(MPI_Bcast(T.back().data(), (PetscMPIInt)((Count)N * N), MPIU_SCALAR, 0, PetscObjectComm((PetscObject)pc)));
    if (T.size() == 1) {
      const Int at = kron.reference.empty() ? -1 : kron.reference[k];
      for (PetscInt i = 0; i < N; i++)
        if (at < 0 || at == i) s += T.back()[(std::size_t)i * (std::size_t)(N + 1)] / (at < 0 ? (Real)N : Real(1));
    }
    for (PetscInt i = 0; i < N; i++) T.back()[(std::size_t)i * (std::size_t)(N + 1)] -= s * (1 - 1 / m);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Where the real parts of the eigenvalues of sum T_k are; the same on all processes.
PetscErrorCode spectrum(PC pc, const vector<vector<Scalar>> &T, Real ends[2])
{
  Kron    &kron = kron_of(pc);
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  ends[0] = ends[1] = 0;
  for (std::size_t a = 0; a < T.size(); a++) {
    Real least = 0, largest = 0;
    int  good;
    PetscCallTT(good = bounds(kron_space(pc)->N(kron.active[a]), T[a], &least, &largest));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, comm));
    PetscCheck(good, comm, PETSC_ERR_LIB, "ttkron with exponentials: the eigenvalues of the Hermitian part of mode %" PetscInt_FMT " were not found", kron.active[a]);
    ends[0] += least;
    ends[1] += largest;
  }
  PetscCallMPI(MPI_Bcast(ends, 2, MPIU_REAL, 0, comm));
  PetscCheck(ends[0] > 0 && is_finite(ends[1]), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "ttkron with exponentials needs an operator with a positive definite Hermitian part; its eigenvalues are in [%g, %g]", (double)ends[0], (double)ends[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode kron_setup_exponentials(PC pc)
{
  Kron                  &kron  = kron_of(pc);
  const Space           &space = *kron_space(pc);
  const Int              d     = space.d();
  vector<vector<Scalar>> T;
  Real                   ends[2];
  ExponentialSum         sum;
  vector<PetscInt>       n, N;

  PetscFunctionBegin;
  PetscCall(one_mode_operators(pc, T));
  PetscCall(spectrum(pc, T, ends));
  PetscCallTT(sum = exponential_sum(ends[0], ends[1], kron.exponentials));
  for (Int k = 0; k < d; k++) {
    n.push_back(space.replicated(k) ? PETSC_TT_REPLICATED : space.n(k));
    N.push_back(space.N(k));
  }
  PetscCall(MatDestroy(&kron.inverse));
  PetscCall(MatCreateTT(PetscObjectComm((PetscObject)pc), d, n.data(), N.data(), &kron.inverse));
  for (std::size_t q = 0; q < sum.weight.size(); q++) {
    vector<Mat> factors((std::size_t)d, nullptr);
    for (std::size_t a = 0; a < T.size(); a++) {
      const Int      k = kron.active[a];
      vector<Scalar> E;
      // modes alike share their matrices
      for (std::size_t b = 0; b < a && !factors[k]; b++)
        if (T[b] == T[a] && space.replicated(k) == space.replicated(kron.active[b]) && space.n(k) == space.n(kron.active[b])) factors[k] = factors[kron.active[b]];
      int shared = factors[k] != nullptr;
      PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &shared, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)pc)));
      if (shared) {
        PetscCall(PetscObjectReference((PetscObject)factors[k]));
        continue;
      }
      PetscCallTT(E = exponential(N[k], T[a], sum.exponent[q]));
      PetscCall(dense_matrix(pc, k, E, &factors[k]));
    }
    PetscCall(MatTTAddTerm(kron.inverse, sum.weight[q], factors.data()));
    for (Mat &F : factors) PetscCall(MatDestroy(&F));
  }
  PetscCall(MatAssemblyBegin(kron.inverse, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(kron.inverse, MAT_FINAL_ASSEMBLY));
  kron.terms     = (Int)sum.weight.size();
  kron.sum_error = sum.error;
  kron.rounding  = std::max<Real>(1e-13, 0.1 * kron.exponentials * ends[0] / ends[1]);
  PetscCall(PetscInfo(pc, "ttkron: %" PetscInt_FMT " exponentials for [%g, %g], error %g\n", kron.terms, (double)ends[0], (double)ends[1], (double)kron.sum_error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_apply_exponentials(PC pc, bool transpose, Vec x, Vec y)
{
  Kron                      &kron = kron_of(pc);
  std::unique_ptr<LazyTrain> product;
  RoundOptions               o = round_options(y);
  RoundInfo                  info;
  Train                      out;

  PetscFunctionBegin;
  PetscCall(lazy_apply(kron.inverse, transpose ? Apply::transpose : Apply::plain, train_of(x), product));
  // ||A|| times the error made here stays below a tenth of what the exponentials leave
  o.rtol = kron.rounding;
  o.atol = Scaled();
  PetscCallTT(info = round_sum(train_of(x).space(), {{Scaled(Scalar(1)), nullptr, product.get()}}, o, out));
  PetscCallTT(PetscCall(set_train(y, std::move(out))));
  PetscCall(record_rounding(y, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
