#include "mat/impls/tt/csr.hpp"

#include "base/blas.hpp"

namespace petsctt {

namespace {

constexpr int parts = is_complex ? 2 : 1;
constexpr int width = is_complex ? 8 : 16; // columns kept in registers

// y += a x for W entries. Complex arithmetic is written out in real numbers: the operator of std::complex tests for NaN, which
// keeps the compiler from vectorising.
template <int W> inline void multiply_add(Scalar a, bool conjugated, const Real *x, Real *y)
{
#if defined(PETSC_USE_COMPLEX)
  const Real re = std::real(a), im = conjugated ? -std::imag(a) : std::imag(a);
  for (int t = 0; t < W; t++) {
    y[2 * t] += re * x[2 * t] - im * x[2 * t + 1];
    y[2 * t + 1] += re * x[2 * t + 1] + im * x[2 * t];
  }
#else
  (void)conjugated;
  for (int t = 0; t < W; t++) y[t] += a * x[t];
#endif
}

const Real *reals(const Scalar *x)
{
  return reinterpret_cast<const Real *>(x);
}

Real *reals(Scalar *x)
{
  return reinterpret_cast<Real *>(x);
}

template <int W> void times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy)
{
  for (Int i = 0; i < A.rows; i++) {
    Real sum[W * parts] = {0};
    for (Int p = A.ia[i]; p < A.ia[i + 1]; p++) multiply_add<W>(A.va[p], conjugated, reals(X + ldx * A.ja[p]), sum);
    Real *y = reals(Y + ldy * i);
    for (int t = 0; t < W * parts; t++) y[t] = sum[t];
  }
}

template <int W> void transposed_times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy)
{
  for (Int i = 0; i < A.rows; i++) {
    Real        x[W * parts];
    const Real *from = reals(X + ldx * i);
    for (int t = 0; t < W * parts; t++) x[t] = from[t];
    for (Int p = A.ia[i]; p < A.ia[i + 1]; p++) multiply_add<W>(A.va[p], conjugated, x, reals(Y + ldy * A.ja[p]));
  }
}

// Runs f<W>(first column) over slices of w columns, the widest ones first.
template <class F> void slices(Int w, F &&f)
{
  Int c = 0;
  for (; c + width <= w; c += width) f(std::integral_constant<int, width>(), c);
  if (width > 8 && c + 8 <= w) f(std::integral_constant<int, 8>(), c), c += 8;
  if (c + 4 <= w) f(std::integral_constant<int, 4>(), c), c += 4;
  if (c + 2 <= w) f(std::integral_constant<int, 2>(), c), c += 2;
  if (c < w) f(std::integral_constant<int, 1>(), c);
}

void count(const Csr &A, Int w)
{
  flops() += (is_complex ? 8.0 : 2.0) * (double)w * (double)(A.rows ? A.ia[A.rows] - A.ia[0] : 0);
}

} // namespace

void csr_times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy, Int w)
{
  slices(w, [&](auto W, Int c) { times<W()>(A, conjugated, X + c, ldx, Y + c, ldy); });
  count(A, w);
}

void csr_transposed_times(const Csr &A, bool conjugated, const Scalar *X, Count ldx, Scalar *Y, Count ldy, Int w)
{
  slices(w, [&](auto W, Int c) { transposed_times<W()>(A, conjugated, X + c, ldx, Y + c, ldy); });
  count(A, w);
}

void add_row(Scalar a, bool conjugated, const Scalar *x, Scalar *y, Count w)
{
  Count c = 0;
  for (; c + 4 <= w; c += 4) multiply_add<4>(a, conjugated, reals(x + c), reals(y + c));
  for (; c < w; c++) multiply_add<1>(a, conjugated, reals(x + c), reals(y + c));
  flops() += (is_complex ? 8.0 : 2.0) * (double)w;
}

} // namespace petsctt
