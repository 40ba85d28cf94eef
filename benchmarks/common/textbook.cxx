#include "common/textbook.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {

using namespace petsctt;

namespace {

// Core k = L Q (its horizontal unfolding is R x N t): Q stays, core k-1 := core k-1 L.
void orthogonalize_core(Train &x, Int k)
{
  Core               a = x.core(k);
  const Count        R = a.r0, m = (Count)a.n * a.r1, p = std::min(R, m);
  std::vector<Scalar> tau((std::size_t)p), L((std::size_t)(R * p), 0);
  gelqf(R, m, a.data(), R, tau.data());
  for (Count j = 0; j < p; ++j)
    for (Count i = j; i < R; ++i) L[(std::size_t)(i + R * j)] = a.data()[i + R * j];
  orglq(p, m, a.data(), R, tau.data());
  Core q((Int)p, a.n, a.r1);
  for (Count j = 0; j < m; ++j)
    for (Count i = 0; i < p; ++i) q.data()[i + p * j] = a.data()[i + R * j];
  const Core &left = x.core(k - 1);
  const Count rows = (Count)left.r0 * left.n;
  Core        next(left.r0, left.n, (Int)p);
  gemm('N', 'N', rows, p, R, 1, left.data(), rows, L.data(), R, 0, next.data(), rows);
  x.set_core(k, std::move(q));
  x.set_core(k - 1, std::move(next));
}

// Core k = U S V^H (its vertical unfolding is t N x R): U stays, core k+1 := S V^H core k+1. Keeps what is above delta.
void truncate_core(Train &x, Int k, Real delta)
{
  Core                a = x.core(k);
  const Count         m = (Count)a.r0 * a.n, n = a.r1, p = std::min(m, n);
  std::vector<Real>   s((std::size_t)p);
  std::vector<Scalar> U((std::size_t)(m * p)), VT((std::size_t)(p * n));
  if (!gesvd(m, n, a.data(), m, s.data(), U.data(), VT.data())) fail(PETSC_ERR_CONV_FAILED, "The SVD of core %lld did not converge", (long long)k);
  Count t    = p;
  Real  tail = 0;
  while (t > 1 && tail + s[(std::size_t)(t - 1)] * s[(std::size_t)(t - 1)] <= delta * delta) {
    tail += s[(std::size_t)(t - 1)] * s[(std::size_t)(t - 1)];
    --t;
  }
  Core q(a.r0, a.n, (Int)t);
  std::copy(U.begin(), U.begin() + m * t, q.data());
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < t; ++i) VT[(std::size_t)(i + p * j)] *= s[(std::size_t)i];
  const Core &right = x.core(k + 1);
  const Count cols  = (Count)right.n * right.r1;
  Core        next((Int)t, right.n, right.r1);
  gemm('N', 'N', t, cols, n, 1, VT.data(), p, right.data(), n, 0, next.data(), t);
  x.set_core(k, std::move(q));
  x.set_core(k + 1, std::move(next));
}

} // namespace

void textbook_round(Train &x, Real rtol)
{
  const Int d = x.d();
  for (Int k = d - 1; k > 0; --k) orthogonalize_core(x, k);
  const Real delta = rtol / std::sqrt((Real)std::max<Int>(1, d - 1)) * nrm2(x.core(0).count(), x.core(0).data());
  for (Int k = 0; k + 1 < d; ++k) truncate_core(x, k, delta);
  x.set_orthogonal(d - 1, 0);
}

} // namespace bench
