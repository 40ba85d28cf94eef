#include "base/blas.hpp"

#include "base/error.hpp"

#include <petscblaslapack_mangle.h>

#include <algorithm>
#include <vector>

// petscblaslapack.h lacks several of these routines in some supported versions and differs in constness between them, so all
// are declared here; PETSc's mangling header supplies the precision prefix and the Fortran name.
#if defined(PETSC_USE_COMPLEX)
  #define PETSCTT_ORUN(o, O, u, U) PETSCBLAS(u, U)
  #define PETSCTT_RWORK            PetscReal *,
#else
  #define PETSCTT_ORUN(o, O, u, U) PETSCBLAS(o, O)
  #define PETSCTT_RWORK
#endif
#define gemm_  PETSCBLAS(gemm, GEMM)
#define trmm_  PETSCBLAS(trmm, TRMM)
#define trsm_  PETSCBLAS(trsm, TRSM)
#define geqrf_ PETSCBLAS(geqrf, GEQRF)
#define gelqf_ PETSCBLAS(gelqf, GELQF)
#if defined(PETSC_USE_COMPLEX)
  #define gram_ PETSCBLAS(herk, HERK)
  #define evd_  PETSCBLAS(heevd, HEEVD)
#else
  #define gram_ PETSCBLAS(syrk, SYRK)
  #define evd_  PETSCBLAS(syevd, SYEVD)
#endif
#define potrf_ PETSCBLAS(potrf, POTRF)
#define getrf_ PETSCBLAS(getrf, GETRF)
#define gesdd_ PETSCBLAS(gesdd, GESDD)
#define gesvd_ PETSCBLAS(gesvd, GESVD)
#define ormqr_ PETSCTT_ORUN(ormqr, ORMQR, unmqr, UNMQR)
#define ormlq_ PETSCTT_ORUN(ormlq, ORMLQ, unmlq, UNMLQ)
#define orgqr_ PETSCTT_ORUN(orgqr, ORGQR, ungqr, UNGQR)
#define orglq_ PETSCTT_ORUN(orglq, ORGLQ, unglq, UNGLQ)

using BInt = PetscBLASInt;

extern "C" {
void gemm_(const char *, const char *, const BInt *, const BInt *, const BInt *, const PetscScalar *, const PetscScalar *, const BInt *,
           const PetscScalar *, const BInt *, const PetscScalar *, PetscScalar *, const BInt *);
void trmm_(const char *, const char *, const char *, const char *, const BInt *, const BInt *, const PetscScalar *, const PetscScalar *,
           const BInt *, PetscScalar *, const BInt *);
void trsm_(const char *, const char *, const char *, const char *, const BInt *, const BInt *, const PetscScalar *, const PetscScalar *,
           const BInt *, PetscScalar *, const BInt *);
void gram_(const char *, const char *, const BInt *, const BInt *, const PetscReal *, const PetscScalar *, const BInt *, const PetscReal *, PetscScalar *,
           const BInt *);
void evd_(const char *, const char *, const BInt *, PetscScalar *, const BInt *, PetscReal *, PetscScalar *, const BInt *,
#if defined(PETSC_USE_COMPLEX)
          PetscReal *, const BInt *,
#endif
          BInt *, const BInt *, BInt *);
void getrf_(const BInt *, const BInt *, PetscScalar *, const BInt *, BInt *, BInt *);
void potrf_(const char *, const BInt *, PetscScalar *, const BInt *, BInt *);
void geqrf_(const BInt *, const BInt *, PetscScalar *, const BInt *, PetscScalar *, PetscScalar *, const BInt *, BInt *);
void gelqf_(const BInt *, const BInt *, PetscScalar *, const BInt *, PetscScalar *, PetscScalar *, const BInt *, BInt *);
void ormqr_(const char *, const char *, const BInt *, const BInt *, const BInt *, const PetscScalar *, const BInt *, const PetscScalar *,
            PetscScalar *, const BInt *, PetscScalar *, const BInt *, BInt *);
void ormlq_(const char *, const char *, const BInt *, const BInt *, const BInt *, const PetscScalar *, const BInt *, const PetscScalar *,
            PetscScalar *, const BInt *, PetscScalar *, const BInt *, BInt *);
void orgqr_(const BInt *, const BInt *, const BInt *, PetscScalar *, const BInt *, const PetscScalar *, PetscScalar *, const BInt *, BInt *);
void orglq_(const BInt *, const BInt *, const BInt *, PetscScalar *, const BInt *, const PetscScalar *, PetscScalar *, const BInt *, BInt *);
void gesdd_(const char *, const BInt *, const BInt *, PetscScalar *, const BInt *, PetscReal *, PetscScalar *, const BInt *, PetscScalar *,
            const BInt *, PetscScalar *, const BInt *, PETSCTT_RWORK BInt *, BInt *);
void gesvd_(const char *, const char *, const BInt *, const BInt *, PetscScalar *, const BInt *, PetscReal *, PetscScalar *, const BInt *,
            PetscScalar *, const BInt *, PetscScalar *, const BInt *, PETSCTT_RWORK BInt *);
}

namespace petsctt {

double &flops()
{
  static double f = 0;
  return f;
}

namespace {

BInt blas_int(Count n)
{
  PETSCTT_REQUIRE(n >= 0 && n <= PETSC_BLAS_INT_MAX, PETSC_ERR_SUP, "Matrix dimension %lld exceeds the range of the BLAS integer", (long long)n);
  return (BInt)n;
}

BInt lead(Count lda) { return blas_int(std::max<Count>(1, lda)); }

// Real operations of a nominal count of multiply-add pairs times two.
void count_flops(double n) { flops() += is_complex ? 4 * n : n; }

char op(char t) { return !is_complex && t == 'C' ? 'T' : t; }

// LAPACK workspace: kept between calls, since fresh large allocations cost more than small factorisations.
Scalar *work(Count n)
{
  static Buffer w;
  if ((Count)w.size() < n) w = Buffer(n);
  return w.data();
}

void check_info(BInt info, const char *routine)
{
  PETSCTT_REQUIRE(info == 0, PETSC_ERR_LIB, "LAPACK %s returned info %d", routine, (int)info);
}

// Runs a LAPACK call twice: workspace query, then for real. f(work, lwork) returns info.
template <class F> BInt with_workspace(F &&f)
{
  Scalar query;
  BInt   info = f(&query, BInt(-1));
  if (info) return info;
  const BInt lwork = std::max<BInt>(1, (BInt)real(query));
  return f(work(lwork), lwork);
}

} // namespace

void gemm(char ta, char tb, Count m, Count n, Count k, Scalar alpha, const Scalar *A, Count lda, const Scalar *B, Count ldb, Scalar beta,
          Scalar *C, Count ldc)
{
  if (m == 0 || n == 0) return;
  if (k == 0) { // reference BLAS would return early with alpha = 0 semantics only when beta != 1: spell it out
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < m; ++i) C[i + j * ldc] = beta == Scalar(0) ? Scalar(0) : beta * C[i + j * ldc];
    return;
  }
  const char a = op(ta), b = op(tb);
  const BInt m_ = blas_int(m), n_ = blas_int(n), k_ = blas_int(k), lda_ = lead(lda), ldb_ = lead(ldb), ldc_ = lead(ldc);
  gemm_(&a, &b, &m_, &n_, &k_, &alpha, A, &lda_, B, &ldb_, &beta, C, &ldc_);
  count_flops(2.0 * m * n * k);
}

void geqrf(Count m, Count n, Scalar *A, Count lda, Scalar *tau)
{
  if (m == 0 || n == 0) return;
  const BInt m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               geqrf_(&m_, &n_, A, &lda_, tau, w, &lw, &info);
               return info;
             }),
             "geqrf");
  const double k = std::min(m, n);
  count_flops(2.0 * k * (m * (double)n - k * (m + n) / 2.0 + k * k / 3.0));
}

void gelqf(Count m, Count n, Scalar *A, Count lda, Scalar *tau)
{
  if (m == 0 || n == 0) return;
  const BInt m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               gelqf_(&m_, &n_, A, &lda_, tau, w, &lw, &info);
               return info;
             }),
             "gelqf");
  const double k = std::min(m, n);
  count_flops(2.0 * k * (m * (double)n - k * (m + n) / 2.0 + k * k / 3.0));
}

void ormqr(char trans, Count m, Count c, Count k, const Scalar *A, Count lda, const Scalar *tau, Scalar *C, Count ldc)
{
  if (m == 0 || c == 0 || k == 0) return;
  const char side = 'L', t = op(trans);
  const BInt m_ = blas_int(m), c_ = blas_int(c), k_ = blas_int(k), lda_ = lead(lda), ldc_ = lead(ldc);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               ormqr_(&side, &t, &m_, &c_, &k_, A, &lda_, tau, C, &ldc_, w, &lw, &info);
               return info;
             }),
             "ormqr");
  count_flops(2.0 * c * k * (2.0 * m - k));
}

void ormlq_right(char trans, Count c, Count n, Count k, const Scalar *A, Count lda, const Scalar *tau, Scalar *C, Count ldc)
{
  if (n == 0 || c == 0 || k == 0) return;
  const char side = 'R', t = op(trans);
  const BInt c_ = blas_int(c), n_ = blas_int(n), k_ = blas_int(k), lda_ = lead(lda), ldc_ = lead(ldc);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               ormlq_(&side, &t, &c_, &n_, &k_, A, &lda_, tau, C, &ldc_, w, &lw, &info);
               return info;
             }),
             "ormlq");
  count_flops(2.0 * c * k * (2.0 * n - k));
}

void orgqr(Count m, Count k, Scalar *A, Count lda, const Scalar *tau)
{
  if (m == 0 || k == 0) return;
  const BInt m_ = blas_int(m), k_ = blas_int(k), lda_ = lead(lda);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               orgqr_(&m_, &k_, &k_, A, &lda_, tau, w, &lw, &info);
               return info;
             }),
             "orgqr");
  count_flops(2.0 * k * k * (m - k / 3.0));
}

void orglq(Count k, Count n, Scalar *A, Count lda, const Scalar *tau)
{
  if (n == 0 || k == 0) return;
  const BInt n_ = blas_int(n), k_ = blas_int(k), lda_ = lead(lda);
  check_info(with_workspace([&](Scalar *w, BInt lw) {
               BInt info;
               orglq_(&k_, &n_, &k_, A, &lda_, tau, w, &lw, &info);
               return info;
             }),
             "orglq");
  count_flops(2.0 * k * k * (n - k / 3.0));
}

bool gesvd(Count m, Count n, Scalar *A, Count lda, Real *s, Scalar *U, Scalar *VT)
{
  const Count p = std::min(m, n), q = std::max(m, n);
  if (p == 0) return true;
  const char        S  = 'S';
  const BInt        m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda), ldu = lead(m), ldvt = lead(p);
  std::vector<BInt> iwork(8 * p);
  std::vector<Real> rwork(is_complex ? std::max<Count>(5 * p * p + 7 * p, 2 * q * p + 2 * p * p + p) : 1);
  std::vector<Scalar> copy((std::size_t)m * n); // gesdd destroys A even when it fails to converge
  for (Count j = 0; j < n; ++j) std::copy(A + j * lda, A + j * lda + m, copy.begin() + j * m);
  BInt info = with_workspace([&](Scalar *w, BInt lw) {
    BInt i;
    gesdd_(&S, &m_, &n_, A, &lda_, s, U, &ldu, VT, &ldvt, w, &lw,
#if defined(PETSC_USE_COMPLEX)
           rwork.data(),
#endif
           iwork.data(), &i);
    return i;
  });
  count_flops(4.0 * q * p * p + 22.0 * p * p * p);
  if (info <= 0) {
    check_info(info, "gesdd");
    return true;
  }
  for (Count j = 0; j < n; ++j) std::copy(copy.begin() + j * m, copy.begin() + (j + 1) * m, A + j * lda);
  info = with_workspace([&](Scalar *w, BInt lw) {
    BInt i;
    gesvd_(&S, &S, &m_, &n_, A, &lda_, s, U, &ldu, VT, &ldvt, w, &lw,
#if defined(PETSC_USE_COMPLEX)
           rwork.data(),
#endif
           &i);
    return i;
  });
  if (info < 0) check_info(info, "gesvd");
  return info == 0;
}

void trmm(char side, char uplo, char trans, char diag, Count m, Count n, Scalar alpha, const Scalar *A, Count lda, Scalar *B, Count ldb)
{
  if (m == 0 || n == 0) return;
  const char t  = op(trans);
  const BInt m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda), ldb_ = lead(ldb);
  trmm_(&side, &uplo, &t, &diag, &m_, &n_, &alpha, A, &lda_, B, &ldb_);
  count_flops((double)m * n * (side == 'L' ? m : n));
}

void trsm(char side, char uplo, char trans, char diag, Count m, Count n, Scalar alpha, const Scalar *A, Count lda, Scalar *B, Count ldb)
{
  if (m == 0 || n == 0) return;
  const char t  = op(trans);
  const BInt m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda), ldb_ = lead(ldb);
  trsm_(&side, &uplo, &t, &diag, &m_, &n_, &alpha, A, &lda_, B, &ldb_);
  count_flops((double)m * n * (side == 'L' ? m : n));
}

namespace {

void rank_k_update(char t, Count n, Count m, const Scalar *A, Count lda, Real beta, Scalar *C, Count ldc)
{
  if (n == 0) return;
  const char      uplo = 'U';
  const BInt      m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda), ldc_ = lead(ldc);
  const PetscReal one = 1, b = beta;
  gram_(&uplo, &t, &n_, &m_, &one, A, &lda_, &b, C, &ldc_);
  count_flops((double)m * n * (n + 1));
}

} // namespace

void gram(Count m, Count n, const Scalar *A, Count lda, Real beta, Scalar *C, Count ldc)
{
  rank_k_update(op('C'), n, m, A, lda, beta, C, ldc);
}

void gram_rows(Count n, Count m, const Scalar *A, Count lda, Real beta, Scalar *C, Count ldc)
{
  rank_k_update('N', n, m, A, lda, beta, C, ldc);
}

bool eigen(Count n, Scalar *A, Real *lambda)
{
  if (n == 0) return true;
  const char job = 'V', uplo = 'U';
  const BInt n_ = blas_int(n), lda_ = lead(n);
  const BInt        lw = blas_int(is_complex ? 2 * n + n * n : 1 + 6 * n + 2 * n * n), liw = blas_int(3 + 5 * n);
  std::vector<BInt> iwork((std::size_t)liw);
  BInt              info;
#if defined(PETSC_USE_COMPLEX)
  const BInt             lrw = blas_int(1 + 5 * n + 2 * n * n);
  std::vector<PetscReal> rwork((std::size_t)lrw);
  evd_(&job, &uplo, &n_, A, &lda_, lambda, work(lw), &lw, rwork.data(), &lrw, iwork.data(), &liw, &info);
#else
  evd_(&job, &uplo, &n_, A, &lda_, lambda, work(lw), &lw, iwork.data(), &liw, &info);
#endif
  if (info < 0) check_info(info, "syevd");
  count_flops(9.0 * n * n * n);
  return info == 0;
}

Count potrf(Count n, Scalar *A, Count lda)
{
  if (n == 0) return 0;
  const char uplo = 'U';
  const BInt n_ = blas_int(n), lda_ = lead(lda);
  BInt       info;
  potrf_(&uplo, &n_, A, &lda_, &info);
  if (info < 0) check_info(info, "potrf");
  count_flops((double)n * n * n / 3);
  return info;
}

Count getrf(Count m, Count n, Scalar *A, Count lda, int *pivots)
{
  const Count p = std::min(m, n);
  if (p == 0) return 0;
  const BInt        m_ = blas_int(m), n_ = blas_int(n), lda_ = lead(lda);
  std::vector<BInt> rows((std::size_t)p);
  BInt              info;
  getrf_(&m_, &n_, A, &lda_, rows.data(), &info);
  if (info < 0) check_info(info, "getrf");
  for (Count s = 0; s < p; ++s) pivots[s] = (int)rows[(std::size_t)s] - 1;
  count_flops((double)p * p * ((double)std::max(m, n) - (double)p / 3));
  return info;
}

Real nrm2(Count n, const Scalar *x)
{
  // Scaled by the largest entry: BLAS nrm2 takes an int count, and a core may be longer than that.
  Real top = 0;
  for (Count i = 0; i < n; ++i) {
    const Real a = petsctt::abs(x[i]);
    if (!(a <= top)) top = a; // true for NaN as well: it ends up in top
    if (!is_finite(top)) return top;
  }
  if (top == 0) return 0;
  int e;
  std::frexp(top, &e);
  const Real f = std::ldexp((Real)1, std::max(-1022, std::min(1022, -e)));
  Real       s = 0;
  for (Count i = 0; i < n; ++i) s += abs2(x[i] * f);
  return std::sqrt(s) / f;
}

void scal(Count n, Scalar alpha, Scalar *x)
{
  for (Count i = 0; i < n; ++i) x[i] *= alpha;
  count_flops((double)n);
}

} // namespace petsctt
