#include "tt/ops/panel.hpp"

#include <cmath>

namespace petsctt {

namespace {

// tau and the divisor of the reflector that takes (alpha, x) to (beta, 0), ||x||^2 = norm2.
struct Reflector {
  Scalar tau, inverse; // v = x inverse
  Scalar beta;
};

Reflector reflector(Scalar alpha, Real norm2)
{
  if (norm2 == 0) return {0, 0, alpha}; // nothing to annihilate: the identity, for complex alpha as well
  const Real norm = std::sqrt(abs2(alpha) + norm2);
  // the sign that does not cancel; for complex scalars beta has the phase of -alpha, tau is real
  const Real   a    = petsctt::abs(alpha);
  const Scalar beta = a > 0 ? -alpha * (norm / a) : Scalar(-norm);
  return {Scalar((norm + a) / norm), Scalar(1) / (alpha - beta), beta};
}

#if !defined(PETSC_USE_COMPLEX)

constexpr Count lanes = 8;

// One pass: with v = s x, x := v and B_c -= w_c v (c = 0..K-1, at B + c ldb), and d_c := B_0 . B_c of the new columns.
template <int K> __attribute__((always_inline)) inline void pass(Count m, Scalar s, Scalar *__restrict x, Scalar *__restrict B, Count ldb, const Scalar *w, Scalar *d)
{
  Scalar sum[K > 0 ? K : 1][lanes] = {};
  Count  i = 0;
  for (; i + lanes <= m; i += lanes) {
    Scalar v[lanes], y[lanes];
    for (Count l = 0; l < lanes; ++l) {
      v[l]     = s * x[i + l];
      x[i + l] = v[l];
    }
    if (K > 0) {
      for (Count l = 0; l < lanes; ++l) {
        y[l]     = B[i + l] - w[0] * v[l];
        B[i + l] = y[l];
        sum[0][l] += y[l] * y[l];
      }
      for (int c = 1; c < K; ++c) {
        Scalar *b = B + c * ldb + i;
        for (Count l = 0; l < lanes; ++l) {
          const Scalar z = b[l] - w[c] * v[l];
          b[l]           = z;
          sum[c][l] += y[l] * z;
        }
      }
    }
  }
  for (; i < m; ++i) {
    const Scalar v = s * x[i];
    x[i]           = v;
    if (K > 0) {
      const Scalar y = B[i] - w[0] * v;
      B[i]           = y;
      sum[0][0] += y * y;
      for (int c = 1; c < K; ++c) {
        const Scalar z = B[i + c * ldb] - w[c] * v;
        B[i + c * ldb] = z;
        sum[c][0] += y * z;
      }
    }
  }
  for (int c = 0; c < K; ++c) {
    d[c] = 0;
    for (Count l = 0; l < lanes; ++l) d[c] += sum[c][l];
  }
}

__attribute__((always_inline)) inline void any_pass(int K, Count m, Scalar s, Scalar *x, Scalar *B, Count ldb, const Scalar *w, Scalar *d)
{
  switch (K) {
  case 0: return pass<0>(m, s, x, B, ldb, w, d);
  case 1: return pass<1>(m, s, x, B, ldb, w, d);
  case 2: return pass<2>(m, s, x, B, ldb, w, d);
  case 3: return pass<3>(m, s, x, B, ldb, w, d);
  case 4: return pass<4>(m, s, x, B, ldb, w, d);
  case 5: return pass<5>(m, s, x, B, ldb, w, d);
  case 6: return pass<6>(m, s, x, B, ldb, w, d);
  default: return pass<7>(m, s, x, B, ldb, w, d);
  }
}

using AnyPass = void (*)(int, Count, Scalar, Scalar *, Scalar *, Count, const Scalar *, Scalar *);

void plain_pass(int K, Count m, Scalar s, Scalar *x, Scalar *B, Count ldb, const Scalar *w, Scalar *d)
{
  any_pass(K, m, s, x, B, ldb, w, d);
}

  #if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
__attribute__((target("avx2,fma"))) void avx2_pass(int K, Count m, Scalar s, Scalar *x, Scalar *B, Count ldb, const Scalar *w, Scalar *d)
{
  any_pass(K, m, s, x, B, ldb, w, d);
}
AnyPass choose_pass()
{
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2_pass : plain_pass;
}
  #else
AnyPass choose_pass()
{
  return plain_pass;
}
  #endif

#else

// The same for complex scalars: d_c = B_0^H B_c.
void complex_pass(int K, Count m, Scalar s, Scalar *x, Scalar *B, Count ldb, const Scalar *w, Scalar *d)
{
  const Real sr = std::real(s), si = std::imag(s);
  Real      *xv = reinterpret_cast<Real *>(x);
  for (Count i = 0; i < m; ++i) {
    const Real a = xv[2 * i], b = xv[2 * i + 1];
    xv[2 * i]     = sr * a - si * b;
    xv[2 * i + 1] = sr * b + si * a;
  }
  const Real *y = reinterpret_cast<const Real *>(B);
  for (int c = 0; c < K; ++c) {
    Real      *b  = reinterpret_cast<Real *>(B + c * ldb);
    const Real wr = std::real(w[c]), wi = std::imag(w[c]);
    Real       dr = 0, di = 0;
    for (Count i = 0; i < m; ++i) {
      const Real zr = b[2 * i] - (wr * xv[2 * i] - wi * xv[2 * i + 1]), zi = b[2 * i + 1] - (wr * xv[2 * i + 1] + wi * xv[2 * i]);
      b[2 * i]     = zr;
      b[2 * i + 1] = zi;
      dr += y[2 * i] * zr + y[2 * i + 1] * zi;
      di += y[2 * i] * zi - y[2 * i + 1] * zr;
    }
    d[c] = Scalar(dr, di);
  }
}

using AnyPass = void (*)(int, Count, Scalar, Scalar *, Scalar *, Count, const Scalar *, Scalar *);
AnyPass choose_pass()
{
  return complex_pass;
}

#endif

} // namespace

void factor_panel(Count w, Scalar *R, Count ldr, Count m, Scalar *B, Count ldb, Scalar *tau)
{
  static const AnyPass any = choose_pass();
  Scalar               d[panel_columns], f[panel_columns];
  for (Count c = 0; c < w; ++c) { // B_0^H B_c
    d[c] = 0;
    for (Count i = 0; i < m; ++i) d[c] += conj(B[i]) * B[i + c * ldb];
  }
  for (Count j = 0; j < w; ++j) {
    const Reflector h = reflector(R[j + ldr * j], real(d[0]));
    tau[j]            = h.tau;
    R[j + ldr * j]    = h.beta;
    const Int K       = (Int)(w - 1 - j);
    for (Int c = 0; c < K; ++c) {
      Scalar &r = R[j + ldr * (j + 1 + c)];
      f[c]      = h.tau * (r + conj(h.inverse) * d[c + 1]);
      r -= f[c];
    }
    any((int)K, m, h.inverse, B + ldb * j, B + ldb * (j + 1), ldb, f, d);
  }
}

} // namespace petsctt
