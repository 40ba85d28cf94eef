#include "aij_block.hpp"

#include "base/blas.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt {

namespace {

using std::size_t;
using std::vector;

// While it lives, errors of PETSc on this process are returned and nothing is printed.
class Quiet {
public:
  Quiet() { (void)PetscPushErrorHandler(PetscReturnErrorHandler, NULL); }
  ~Quiet() { (void)PetscPopErrorHandler(); }
  Quiet(const Quiet &)            = delete;
  Quiet &operator=(const Quiet &) = delete;
};

// Space that MUMPS takes beyond its estimate, in percent. Other packages do not have the function.
PetscErrorCode set_mumps_slack(Mat F, PetscInt percent)
{
  PetscErrorCode (*set)(Mat, PetscInt, PetscInt) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)F, "MatMumpsSetIcntl_C", &set));
  if (set) PetscCall(set(F, 14, percent));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run_package(Mat A, const BlockOptions &o, PetscInt slack, Mat *F, MatFactorError *error)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  info.fill      = 5;
  info.dtcol     = 1e-6;
  info.zeropivot = 0; // what is too small is seen in the condition number
  info.shifttype = (PetscReal)MAT_SHIFT_NONE;
  if (!*F) {
    PetscBool       can;
    MatOrderingType ordering;
    ISHandle        row, column;
    PetscCall(MatSetOptionsPrefixFactor(A, o.prefix.c_str()));
    PetscCall(MatGetFactor(A, o.package.c_str(), MAT_FACTOR_LU, F));
    PetscCheck(*F, PETSC_COMM_SELF, PETSC_ERR_SUP, "Package %s does not factor sequential MATAIJ", o.package.c_str());
    if (slack) PetscCall(set_mumps_slack(*F, slack));
    PetscCall(MatFactorGetCanUseOrdering(*F, &can));
    if (can) {
      PetscCall(MatFactorGetPreferredOrdering(*F, MAT_FACTOR_LU, &ordering));
      PetscCall(MatGetOrdering(A, ordering, row.out(), column.out()));
    }
    PetscCall(MatLUFactorSymbolic(*F, A, row, column, &info));
    PetscCall(MatFactorGetError(*F, error));
    if (*error) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatFactorClearError(*F));
  PetscCall(MatLUFactorNumeric(*F, A, &info));
  PetscCall(MatFactorGetError(*F, error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Real sum_of_moduli(const Scalar *v, Count n)
{
  Real s = 0;
  for (Count i = 0; i < n; ++i) s += petsctt::abs(v[i]);
  return s;
}

double random(std::uint64_t i)
{
  for (int s = 0; s < 3; ++s) {
    i = (i ^ (i >> 31)) * 0xD6E8FEB86659FD93u;
    i ^= i >> 29;
  }
  return 2 * ((double)(i >> 11) / 9007199254740992.0) - 1;
}

// X (n x k, packed) becomes an orthonormal basis of its range.
void orthonormalize(Count n, Count k, Buffer &x)
{
  Buffer tau((size_t)k);
  for (Count c = 0; c < k; ++c) { // vectors of inverse iteration may be near overflow
    const Real norm = nrm2(n, x.data() + c * n);
    if (norm > 0 && is_finite(norm)) scal(n, 1 / norm, x.data() + c * n);
  }
  geqrf(n, k, x.data(), n, tau.data());
  orgqr(n, k, x.data(), n, tau.data());
}

void conjugate(Buffer &x)
{
  if (is_complex)
    for (size_t i = 0; i < x.size(); ++i) x[i] = conj(x[i]);
}

bool all_finite(const Buffer &x)
{
  for (size_t i = 0; i < x.size(); ++i)
    if (!is_finite(x[i])) return false;
  return true;
}

Real row_norm2(Count n, Count t, const Buffer &u, Count i)
{
  Real s = 0;
  for (Count c = 0; c < t; ++c) s += abs2(u[(size_t)(i + c * n)]);
  return s;
}

// Removes the component of row i from all rows of u.
void deflate(Count n, Count t, Buffer &u, Count i)
{
  const Real norm2 = row_norm2(n, t, u, i);
  if (!(norm2 > 0)) return;
  vector<Scalar> r((size_t)t);
  for (Count c = 0; c < t; ++c) r[(size_t)c] = u[(size_t)(i + c * n)];
  for (Count j = 0; j < n; ++j) {
    Scalar s = 0;
    for (Count c = 0; c < t; ++c) s += u[(size_t)(j + c * n)] * conj(r[(size_t)c]);
    s /= norm2;
    for (Count c = 0; c < t; ++c) u[(size_t)(j + c * n)] -= s * r[(size_t)c];
  }
}

// One unknown for each pair of columns: where rows of both are large. If there is none, a row and a column go with different unknowns.
void pick(Count n, Count t, Buffer &u, Buffer &v, vector<PetscInt> *list)
{
  for (Count s = 0; s < t; ++s) {
    Count best = -1, best_u = 0, best_v = 0;
    Real  both = 0, most_u = 0, most_v = 0;
    for (Count i = 0; i < n; ++i) {
      const Real a = row_norm2(n, t, u, i), b = row_norm2(n, t, v, i);
      if (a * b > both) {
        both = a * b;
        best = i;
      }
      if (a > most_u) {
        most_u = a;
        best_u = i;
      }
      if (b > most_v) {
        most_v = b;
        best_v = i;
      }
    }
    if (!(most_u > 1e-12) || !(most_v > 1e-12)) return;
    const bool one = best >= 0 && both > 1e-6 * most_u * most_v;
    if (one) best_u = best_v = best;
    list->push_back((PetscInt)best_u);
    if (!one) list->push_back((PetscInt)best_v);
    deflate(n, t, u, best_u);
    deflate(n, t, v, best_v);
  }
}

PetscErrorCode perturbed(Mat A, Real size, Mat *B)
{
  PetscInt n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
  PetscCall(MatSetOption(*B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt i = 0; i < n; ++i) {
    const double r = random((std::uint64_t)i + 77);
    PetscCall(MatSetValue(*B, i, i, size * (r + (r < 0 ? -1 : 1)), ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode csr_of(Mat A, Csr *c)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &c->columns));
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &c->rows, &c->first, &c->column, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The rows of a part of the matrix are not accessible");
  const PetscInt *first = c->first, *column = c->column;
  PetscInt        rows  = c->rows;
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &first, &column, &done)); // keeps what it points at
  PetscCall(MatSeqAIJGetArray(A, &c->value));
  PetscScalar *value = c->value;
  PetscCall(MatSeqAIJRestoreArray(A, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void subtract_product(const Csr &A, bool transposed, Count k, Strided x, Strided y)
{
  for (Count c = 0; c < k; ++c) {
    const Scalar *from = x.a + c * x.column;
    Scalar       *to   = y.a + c * y.column;
    for (PetscInt r = 0; r < A.rows; ++r) {
      if (transposed) {
        const Scalar s = from[r * x.row];
        for (PetscInt e = A.first[r]; e < A.first[r + 1]; ++e) to[A.column[e] * y.row] -= A.value[e] * s;
      } else {
        Scalar s = 0;
        for (PetscInt e = A.first[r]; e < A.first[r + 1]; ++e) s += A.value[e] * from[A.column[e] * x.row];
        to[r * y.row] -= s;
      }
    }
  }
  if (A.rows) flops() += 2. * (double)A.first[A.rows] * (double)k * (is_complex ? 4 : 1);
}

PetscErrorCode inverse_norm1(MPI_Comm comm, Count n, const std::function<PetscErrorCode(char, Scalar *)> &solve, Real *norm)
{
  PetscMPIInt rank;
  Count       offset = 0, total = 0;
  Real        found = 0;

  PetscFunctionBegin;
  *norm = 0;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Exscan(&n, &offset, 1, MPI_INT64_T, MPI_SUM, comm));
  if (!rank) offset = 0;
  PetscCallMPI(MPI_Allreduce(&n, &total, 1, MPI_INT64_T, MPI_SUM, comm));
  if (!total) PetscFunctionReturn(PETSC_SUCCESS);
  const auto sum = [&](Real *values, int count) { return MPI_Allreduce(MPI_IN_PLACE, values, count, MPIU_REAL, MPIU_SUM, comm); };
  vector<Scalar> x((size_t)n, Scalar((Real)1 / (Real)total)), z((size_t)n);
  Count          last = -1;
  for (int round = 0; round < 5; ++round) {
    PetscCall(solve('N', x.data()));
    Real mine = sum_of_moduli(x.data(), n);
    PetscCallMPI(sum(&mine, 1));
    if (!is_finite(mine)) {
      *norm = std::numeric_limits<Real>::infinity();
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (round && mine <= found) break;
    found = mine;
    for (Count i = 0; i < n; ++i) {
      const Real a  = petsctt::abs(x[(size_t)i]);
      z[(size_t)i] = a > 0 ? x[(size_t)i] / a : Scalar(1);
      z[(size_t)i] = conj(z[(size_t)i]);
    }
    PetscCall(solve('T', z.data())); // the conjugate of A^-H sign(x), of which only moduli count
    struct {
      double value;
      int    rank;
    } top = {-1, rank}, best;
    Count at = 0;
    for (Count i = 0; i < n; ++i)
      if ((double)petsctt::abs(z[(size_t)i]) > top.value) {
        top.value = (double)petsctt::abs(z[(size_t)i]);
        at        = i;
      }
    PetscCallMPI(MPI_Allreduce(&top, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm));
    Count place = offset + at;
    PetscCallMPI(MPI_Bcast(&place, 1, MPI_INT64_T, best.rank, comm));
    if (place == last) break;
    last = place;
    std::fill(x.begin(), x.end(), Scalar(0));
    if (rank == best.rank) x[(size_t)at] = 1;
  }
  // and a vector that finds what cancellation hides
  for (Count i = 0; i < n; ++i) {
    const Count g = offset + i;
    x[(size_t)i]  = (g % 2 ? -1 : 1) * (1 + (Real)g / (Real)std::max<Count>(1, total - 1));
  }
  PetscCall(solve('N', x.data()));
  Real mine = sum_of_moduli(x.data(), n);
  PetscCallMPI(sum(&mine, 1));
  if (!is_finite(mine)) found = std::numeric_limits<Real>::infinity();
  *norm = std::max(found, 2 * mine / (3 * (Real)total));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_block(Mat F, bool transposed, Count n, Count k, Scalar *b, Scalar *x)
{
  MatHandle B, X;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, (PetscInt)n, (PetscInt)k, b, B.out()));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, (PetscInt)n, (PetscInt)k, x, X.out()));
  if (transposed) PetscCall(MatMatSolveTranspose(F, B, X));
  else PetscCall(MatMatSolve(F, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_block(Mat A, const BlockOptions &o, Mat *F, BlockOutcome *outcome)
{
  PetscInt  n;
  PetscReal norm, inverse = 0;

  PetscFunctionBegin;
  *outcome = BlockOutcome();
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatNorm(A, NORM_1, &norm));
  if (!(norm > 0)) PetscFunctionReturn(PETSC_SUCCESS); // UMFPACK complains aloud about matrices without entries
  for (PetscInt slack : {0, 100, 400}) {
    Quiet          quiet;
    MatFactorError error = MAT_FACTOR_NOERROR;
    PetscErrorCode code  = run_package(A, o, slack, F, &error);
    outcome->out_of_memory = code == PETSC_ERR_MEM || (!code && error == MAT_FACTOR_OUTMEMORY);
    outcome->factored      = !code && !error;
    if (outcome->factored) {
      // A random right-hand side has a part of every singular vector: the solution shows a bad condition number, which is then estimated with care.
      vector<Scalar> b((size_t)n), x((size_t)n);
      for (PetscInt i = 0; i < n; ++i) b[(size_t)i] = random((std::uint64_t)i + 4242);
      const Real of_b = sum_of_moduli(b.data(), n);
      code            = solve_block(*F, false, n, 1, b.data(), x.data());
      inverse         = sum_of_moduli(x.data(), n) / of_b;
      if (!code && is_finite(inverse) && norm * inverse > 1e9)
        code = inverse_norm1(
          PETSC_COMM_SELF, n,
          [&](char op, Scalar *v) {
            const PetscErrorCode c = solve_block(*F, op == 'T', n, 1, v, x.data());
            if (!c) std::copy(x.begin(), x.end(), v);
            return c;
          },
          &inverse);
      if (code || !is_finite(inverse)) outcome->factored = false;
      else outcome->rcond = norm > 0 && inverse > 0 ? 1 / norm / inverse : 0;
    }
    if (!outcome->factored) PetscCall(MatDestroy(F));
    if (!outcome->out_of_memory) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode weak_unknowns(Mat A, const BlockOptions &o, Count k, vector<PetscInt> *list)
{
  PetscInt       n;
  PetscReal      norm;
  MatHandle      B, F;
  MatFactorError error = MAT_FACTOR_NOERROR;

  PetscFunctionBegin;
  list->clear();
  PetscCall(MatGetLocalSize(A, &n, NULL));
  PetscCall(MatNorm(A, NORM_1, &norm));
  k = std::min<Count>(k, n);
  if (!(norm > 0)) norm = 1;
  {
    Quiet quiet;
    if (perturbed(A, std::sqrt(PETSC_MACHINE_EPSILON) * norm, B.out()) || run_package(B, o, 100, F.out(), &error)) error = MAT_FACTOR_OTHER;
  }
  Buffer q((size_t)(n * k)), x((size_t)(n * k));
  bool   ok = !error;
  for (size_t i = 0; i < q.size(); ++i) q[i] = random(i + 1234567);
  for (int round = 0; ok && round < 2; ++round) { // x = (B^H B)^-1 x twice, then Q = B^-H x
    PetscCallTT(orthonormalize(n, k, q));
    PetscCall(solve_block(F, false, n, k, q.data(), x.data()));
    ok = all_finite(x);
    if (!ok) break;
    PetscCallTT(orthonormalize(n, k, x));
    conjugate(x);
    PetscCall(solve_block(F, true, n, k, x.data(), q.data()));
    conjugate(q);
    ok = all_finite(q);
  }
  Buffer       u((size_t)(n * k)), v((size_t)(n * k)), vt((size_t)(k * k));
  vector<Real> s((size_t)k);
  if (ok) {
    PetscCallTT(orthonormalize(n, k, q));
    PetscCall(solve_block(F, false, n, k, q.data(), x.data()));
    ok = all_finite(x);
    // B^-1 Q = U S V^H: right singular vectors of B are the columns of U, left ones those of Q V
    if (ok) PetscCallTT(ok = gesvd(n, k, x.data(), n, s.data(), u.data(), vt.data()));
  }
  if (ok) {
    PetscCallTT(gemm('N', 'C', n, k, k, 1.0, q.data(), n, vt.data(), k, 0.0, v.data(), n));
    Count t = 0;
    while (t < k && s[(size_t)t] * norm > 1e4 && s[(size_t)t] > 1e-4 * s[0]) ++t;
    pick(n, std::max<Count>(t, 1), u, v, list);
  }
  if (list->empty()) list->push_back(0);
  std::sort(list->begin(), list->end());
  list->erase(std::unique(list->begin(), list->end()), list->end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
