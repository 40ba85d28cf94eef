#ifndef PETSCTT_TESTS_UNIT_DENSE_HPP
#define PETSCTT_TESTS_UNIT_DENSE_HPP

// The oracle of the unit tests: full arrays, first mode fastest, held and worked on by every process, with loops that are
// obvious rather than fast and share no code with what they check.
#include "base/error.hpp"
#include "tt/ops/fill.hpp"
#include "tt/train.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace petsctt {
namespace test {

constexpr Real macheps = PETSC_MACHINE_EPSILON;

inline int rank()
{
  int r;
  MPI_Comm_rank(PETSC_COMM_WORLD, &r);
  return r;
}
inline int size()
{
  int s;
  MPI_Comm_size(PETSC_COMM_WORLD, &s);
  return s;
}

// One letter per mode: d even split, r replicated, f all on the first process, l all on the last, u uneven (the processes in
// turn own nothing and twice their share, the last one what is left).
inline Mode make_mode(Int N, char kind)
{
  const int P = size();
  if (kind == 'r') return replicate(N);
  Mode m = split_evenly(N, P);
  for (int p = 1; p < P; ++p) {
    if (kind == 'f') m.starts[p] = N;
    if (kind == 'l') m.starts[p] = 0;
    if (kind == 'u' && p % 2) m.starts[p] = m.starts[p - 1];
  }
  return m;
}

inline SpacePtr make_space(const std::vector<Int> &N, const std::string &kinds)
{
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < N.size(); ++k) modes.push_back(make_mode(N[k], kinds[k % kinds.size()]));
  return std::make_shared<Space>(PETSC_COMM_WORLD, modes);
}

// The distributions that every operation is tried with; cyclic over the modes.
inline const std::vector<std::string> &all_kinds()
{
  static const std::vector<std::string> k = {"d", "r", "dr", "rd", "drr", "rrd", "f", "l", "u", "ulfdr"};
  return k;
}

struct Dense {
  std::vector<Int>    N;
  std::vector<Scalar> a;

  Dense() = default;
  explicit Dense(std::vector<Int> sizes) : N(std::move(sizes))
  {
    std::size_t n = 1;
    for (Int k : N) n *= (std::size_t)k;
    a.assign(n, Scalar(0));
  }
  std::size_t linear(const std::vector<Int> &i) const
  {
    std::size_t l = 0;
    for (std::size_t k = N.size(); k-- > 0;) l = l * (std::size_t)N[k] + (std::size_t)i[k];
    return l;
  }
  std::vector<Int> multi(std::size_t l) const
  {
    std::vector<Int> i(N.size());
    for (std::size_t k = 0; k < N.size(); ++k) {
      i[k] = (Int)(l % (std::size_t)N[k]);
      l /= (std::size_t)N[k];
    }
    return i;
  }
  Real norm() const
  {
    long double s = 0;
    for (Scalar v : a) s += abs2(v);
    return (Real)std::sqrt(s);
  }
};

inline Dense make_dense(const std::vector<Int> &N, const std::function<Scalar(const std::vector<Int> &)> &f)
{
  Dense x(N);
  for (std::size_t l = 0; l < x.a.size(); ++l) x.a[l] = f(x.multi(l));
  return x;
}

// Core k whole on every process.
inline std::vector<Scalar> whole_core(const Train &x, Int k)
{
  const Space        &s = *x.space();
  const Core         &c = x.core(k);
  std::vector<Scalar> w((std::size_t)(c.r0 * s.N(k) * c.r1), Scalar(0));
  for (Int b = 0; b < c.r1; ++b)
    for (Int i = 0; i < c.n; ++i)
      for (Int a = 0; a < c.r0; ++a) w[a + c.r0 * (s.start(k) + i + s.N(k) * b)] = c(a, i, b);
  if (!s.replicated(k)) MPI_Allreduce(MPI_IN_PLACE, w.data(), (int)w.size(), MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD);
  return w;
}

// All entries of the product of the cores, without the scale. Collective.
inline Dense dense_without_scale(const Train &x)
{
  const Space      &s = *x.space();
  std::vector<Int>  N;
  std::vector<Scalar> v(1, Scalar(1)); // rows x r_k
  std::size_t         rows = 1;
  for (Int k = 0; k < x.d(); ++k) {
    const std::vector<Scalar> c  = whole_core(x, k);
    const std::size_t         r0 = x.core(k).r0, r1 = x.core(k).r1, n = s.N(k);
    std::vector<Scalar>       w(rows * n * r1, Scalar(0));
    for (std::size_t b = 0; b < r1; ++b)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t a = 0; a < r0; ++a)
          for (std::size_t l = 0; l < rows; ++l) w[l + rows * (i + n * b)] += v[l + rows * a] * c[a + r0 * (i + n * b)];
    v = std::move(w);
    rows *= n;
    N.push_back(s.N(k));
  }
  Dense out(N);
  out.a = std::move(v);
  return out;
}

inline Dense dense(const Train &x)
{
  Dense        out = dense_without_scale(x);
  const Scalar s   = x.scale().value();
  for (Scalar &v : out.a) v *= s;
  return out;
}

inline Dense combine(Scalar a, const Dense &x, Scalar b, const Dense &y)
{
  Dense z(x.N);
  for (std::size_t l = 0; l < x.a.size(); ++l) z.a[l] = a * x.a[l] + b * y.a[l];
  return z;
}

// || x - y || / || y ||
inline Real distance(const Dense &x, const Dense &y)
{
  EXPECT_EQ(x.N, y.N);
  const Real d = combine(1, x, -1, y).norm(), n = y.norm();
  return n > 0 ? d / n : d;
}

inline Scalar dense_dot(const Dense &x, const Dense &y, bool conjugate)
{
  Scalar s = 0;
  for (std::size_t l = 0; l < x.a.size(); ++l) s += x.a[l] * (conjugate ? petsctt::conj(y.a[l]) : y.a[l]);
  return s;
}

// Singular values of the unfolding of modes 0..k-1 against the others by one-sided Jacobi: slow, accurate, without LAPACK.
inline std::vector<Real> singular_values(const Dense &x, Int k)
{
  std::size_t m = 1;
  for (Int j = 0; j < k; ++j) m *= (std::size_t)x.N[j];
  std::size_t         n = x.a.size() / m;
  std::vector<Scalar> a = x.a; // m x n; the Jacobi rotations act on the columns of the tall one
  if (n > m) {
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) a[j + n * i] = x.a[i + m * j];
    std::swap(m, n);
  }
  for (int sweep = 0; sweep < 60; ++sweep) {
    Real off = 0;
    for (std::size_t p = 0; p + 1 < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        Real   pp = 0, qq = 0;
        Scalar pq = 0;
        for (std::size_t i = 0; i < m; ++i) {
          pp += abs2(a[i + m * p]);
          qq += abs2(a[i + m * q]);
          pq += petsctt::conj(a[i + m * p]) * a[i + m * q];
        }
        const Real g = petsctt::abs(pq);
        if (g <= macheps * std::sqrt(pp * qq) || g == 0) continue;
        off               = std::max(off, g / std::sqrt(pp * qq));
        const Scalar phase = pq / g;
        const Real   tau = (qq - pp) / (2 * g), t = (tau >= 0 ? 1 : -1) / (std::abs(tau) + std::sqrt(1 + tau * tau));
        const Real   c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (std::size_t i = 0; i < m; ++i) {
          const Scalar u = a[i + m * p], v = a[i + m * q] * petsctt::conj(phase);
          a[i + m * p] = c * u - s * v;
          a[i + m * q] = s * u + c * v;
        }
      }
    if (off < 10 * macheps) break;
  }
  std::vector<Real> s(n);
  for (std::size_t j = 0; j < n; ++j) {
    Real t = 0;
    for (std::size_t i = 0; i < m; ++i) t += abs2(a[i + m * j]);
    s[j] = std::sqrt(t);
  }
  std::sort(s.begin(), s.end(), std::greater<Real>());
  return s;
}

// Largest deviation of the Gram matrix of core k's unfolding from the identity: columns of the vertical one (left) or rows of
// the horizontal one.
inline Real orthogonality_defect(const Train &x, Int k, bool left)
{
  const std::vector<Scalar> c  = whole_core(x, k);
  const std::size_t         r0 = x.core(k).r0, r1 = x.core(k).r1, n = c.size() / (r0 * r1), r = left ? r1 : r0;
  Real                      worst = 0;
  for (std::size_t p = 0; p < r; ++p)
    for (std::size_t q = 0; q < r; ++q) {
      Scalar s = 0;
      for (std::size_t j = 0; j < n * (left ? r0 : r1); ++j) {
        const Scalar u = left ? c[j + r0 * n * p] : c[p + r0 * j], v = left ? c[j + r0 * n * q] : c[q + r0 * j];
        s += petsctt::conj(u) * v;
      }
      worst = std::max(worst, petsctt::abs(s - Scalar(p == q ? 1 : 0)));
    }
  return worst;
}

// What a train says of its orthogonality must be true.
inline void expect_orthogonality_as_claimed(const Train &x, Real tol = 1e-12)
{
  for (Int k = 0; k < std::min(x.left(), x.d()); ++k) EXPECT_LT(orthogonality_defect(x, k, true), tol) << "core " << k << " is not left-orthogonal";
  for (Int k = std::max<Int>(0, x.d() - x.right()); k < x.d(); ++k)
    EXPECT_LT(orthogonality_defect(x, k, false), tol) << "core " << k << " is not right-orthogonal";
}

// The same bits on all processes.
inline bool replicated_bits(Real v)
{
  Real r[2] = {v, -v};
  MPI_Allreduce(MPI_IN_PLACE, r, 2, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  return r[0] == v && r[1] == -v;
}

// The statement throws a petsctt::Error of this code on this process.
#define EXPECT_ERROR(statement, expected) \
  do { \
    bool thrown_ = false; \
    try { \
      statement; \
    } catch (const ::petsctt::Error &e_) { \
      thrown_ = true; \
      EXPECT_EQ(e_.code(), (int)(expected)) << e_.what(); \
      EXPECT_FALSE(std::string(e_.what()).empty()); \
    } \
    EXPECT_TRUE(thrown_) << "no error from " #statement; \
  } while (0)

} // namespace test
} // namespace petsctt

#endif
