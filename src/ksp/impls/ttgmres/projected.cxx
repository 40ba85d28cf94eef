#include "ksp/impls/ttgmres/projected.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Least squares by singular values with the usual cut-off: A (m x n) x = b.
std::vector<Scalar> least_squares(Count m, Count n, std::vector<Scalar> A, const std::vector<Scalar> &b)
{
  const Count         p = std::min(m, n);
  std::vector<Real>   s(p);
  std::vector<Scalar> U((std::size_t)m * p), VT((std::size_t)p * n), c(p), x(n);
  PETSCTT_REQUIRE(gesvd(m, n, A.data(), m, s.data(), U.data(), VT.data()), PETSC_ERR_CONV_FAILED, "The singular value decomposition of a %lld x %lld projected matrix did not converge", (long long)m, (long long)n);
  gemm('C', 'N', p, 1, m, 1, U.data(), m, b.data(), m, 0, c.data(), p);
  for (Count i = 0; i < p; ++i) c[i] = s[i] > 10 * std::numeric_limits<Real>::epsilon() * s[0] ? c[i] / s[i] : Scalar(0);
  gemm('C', 'N', n, 1, p, 1, VT.data(), p, c.data(), p, 0, x.data(), n);
  return x;
}

} // namespace

void Projected::start(Real beta)
{
  j_        = 0;
  beta_     = beta;
  residual_ = beta;
  error_    = 0;
  growth_   = 0;
  G_.assign(1, 1);
  ng_        = 1;
  inflation_ = 1;
  H_.clear();
  y_.clear();
  errors_.clear();
  before_.clear();
}

void Projected::set_gram(Int n, std::vector<Scalar> G, Real inflation)
{
  G_         = std::move(G);
  ng_        = n;
  inflation_ = inflation;
}

std::vector<Scalar> best_coefficients(Int n, std::vector<Scalar> G, const std::vector<Scalar> &g) { return least_squares(n, n, std::move(G), g); }

bool Projected::add(Int first, const std::vector<Scalar> &h, Real norm, Real error)
{
  std::vector<Scalar> column((std::size_t)j_ + 2, 0);
  std::copy(h.begin(), h.end(), column.begin() + first);
  column.back() = norm;
  H_.push_back(std::move(column));
  errors_.push_back(error);
  before_.push_back(residual_);
  ++j_;
  if (solve()) return true;
  --j_;
  H_.pop_back();
  errors_.pop_back();
  before_.pop_back();
  return false;
}

bool Projected::solve()
{
  const Int           n = j_ + 1;
  std::vector<Scalar> U((std::size_t)n * n, 0), M((std::size_t)n * j_), b(n), r(n);
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i <= j; ++i) U[i + (std::size_t)n * j] = G_[i + (std::size_t)ng_ * j];
  if (potrf(n, U.data(), n)) return false;
  // a pivot at round-off level means that the new vector depends on the others
  for (Int i = 0; i < n; ++i)
    if (!(real(U[i + (std::size_t)n * i]) > 1e-7 * std::sqrt(std::abs(real(G_[i + (std::size_t)ng_ * i]))))) return false;
  for (Int j = 0; j < j_; ++j) std::copy(H_[j].begin(), H_[j].end(), M.begin() + (std::size_t)n * j);
  trmm('L', 'U', 'N', 'N', n, j_, 1, U.data(), n, M.data(), n);
  for (Int i = 0; i < n; ++i) b[i] = 0;
  b[0] = U[0] * beta_;
  y_   = least_squares(n, j_, M, b);
  r    = b;
  gemm('N', 'N', n, 1, j_, -1, M.data(), n, y_.data(), j_, 1, r.data(), n);
  residual_ = inflation_ * nrm2(n, r.data());
  error_    = 0;
  for (Int i = 0; i < j_; ++i) {
    error_  = std::hypot(error_, petsctt::abs(y_[i]) * errors_[i]);
    growth_ = std::max(growth_, petsctt::abs(y_[i]) / before_[i]);
  }
  return true;
}

} // namespace petsctt
