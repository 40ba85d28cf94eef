#include "tt/ops/decision.hpp"

#include "base/blas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt {

namespace {

constexpr Real eps        = std::numeric_limits<Real>::epsilon();
constexpr Real redundant  = 32 * eps; // rows of W below this, relative to their own norms, carry round-off
constexpr Real suspicious = 1e-6;     // smallest diagonal of a triangle, relative to its column, that needs no look at singular values

} // namespace

void share(const Comm &comm, Decision &c, Count rows)
{
  Scalar head[8] = {(Real)c.status, (Real)c.l, c.tail2, c.floor2, (Real)c.cap_hit, c.eps2, (Real)c.carry.size(), (Real)c.lower};
  comm.bcast(head, 8);
  c.status  = (int)std::lround(real(head[0]));
  c.l       = (Int)std::lround(real(head[1]));
  c.tail2   = real(head[2]);
  c.floor2  = real(head[3]);
  c.cap_hit = real(head[4]) != 0;
  c.eps2    = real(head[5]);
  c.lower   = real(head[7]) != 0;
  if (c.status != fine) return;
  if (comm.rank() != 0) c.m = Buffer((std::size_t)(rows * c.l));
  comm.bcast(c.m.data(), rows * c.l);
  const auto entries = (std::size_t)std::llround(real(head[6]));
  if (entries == 0) return;
  if (comm.rank() != 0) c.carry = Buffer(entries);
  comm.bcast(c.carry.data(), (Count)entries);
}

int column_norms(Count n, const Scalar *R, bool strict, std::vector<Real> &D)
{
  D.assign((std::size_t)n, 0);
  Real top = 0, least = std::numeric_limits<Real>::infinity();
  for (Count j = 0; j < n; ++j) {
    Real s = 0;
    for (Count i = 0; i <= j; ++i) s += abs2(R[i + n * j]);
    D[j] = std::sqrt(s);
    if (!is_finite(D[j])) return not_finite;
    top   = std::max(top, D[j]);
    least = std::min(least, D[j]);
  }
  if (top == 0) return all_zero;
  return strict && (top > far || least < 1 / far) ? out_of_range : fine;
}

Decision decide_right(Count rows, const RFactor &f, bool strict)
{
  Decision          c;
  const Count       n = f.columns();
  const Scalar     *R = f.R();
  std::vector<Real> D;
  c.status = column_norms(n, R, strict, D);
  if (c.status != fine) return c;
  Real least = 1;
  for (Count j = 0; j < n; ++j)
    if (D[j] > 0) least = std::min(least, petsctt::abs(R[j + n * j]) / D[j]);
    else least = 0;
  if (rows >= n && least > suspicious) {
    c.l     = (Int)n;
    c.lower = true;
    c.m = Buffer((std::size_t)(n * n));
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < n; ++i) c.m[i + n * j] = conj(R[j + n * i]);
    return c;
  }
  for (Real &d : D) d = d > 0 ? d : 1;
  // All rows of the triangle, even where fewer were factored: dependent columns in front push what counts further down.
  Buffer            A((std::size_t)(n * n)), U((std::size_t)(n * n)), VT((std::size_t)(n * n));
  std::vector<Real> s((std::size_t)n);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) A[i + n * j] = R[i + n * j] / D[j];
  if (!gesvd(n, n, A.data(), n, s.data(), U.data(), VT.data())) {
    c.status = no_convergence;
    return c;
  }
  while (c.l < std::min(rows, n) && s[c.l] > redundant * s[0]) ++c.l;
  c.m = Buffer((std::size_t)(n * c.l));
  for (Int j = 0; j < c.l; ++j)
    for (Count i = 0; i < n; ++i) c.m[i + n * j] = D[i] * s[j] * conj(VT[j + n * i]);
  return c;
}

Decision decide_beside(Count rows, RFactor &f, const Buffer &G, Count r, bool strict)
{
  Decision          c;
  const Count       n = f.columns();
  std::vector<Real> D;
  Count             left = 0;
  c.status = column_norms(n, f.R(), false, D);
  if (c.status == not_finite) return c;
  c.status = fine;
  for (Count j = 0; j < n; ++j) {
    Real g2 = 0;
    for (Count i = 0; i < r; ++i) g2 += abs2(G[j + n * i]);
    // the whole row counts for the range, the remainder does not
    if (strict && (!(g2 + D[j] * D[j] < far * far) || g2 + D[j] * D[j] < 1 / (far * far))) c.status = out_of_range;
    if (D[j] <= redundant * std::sqrt(g2)) std::fill(f.R() + n * j, f.R() + n * j + n, Scalar(0));
    else ++left;
  }
  if (c.status != fine || left == 0) return c;
  return decide_right(rows, f, false);
}

Decision decide_gram(Count n, const Buffer &G, const Buffer *beside, Count r)
{
  Decision          c;
  std::vector<Real> D((std::size_t)n);
  Count             left = 0;
  for (Count j = 0; j < n; ++j) {
    Real d2 = real(G[j + n * j]), g2 = 0;
    for (Count i = 0; beside && i < r; ++i) g2 += abs2((*beside)[j + n * i]);
    if (!is_finite(d2) || !is_finite(g2)) c.status = not_finite;
    else if (c.status == fine && (d2 + g2 > far * far || d2 + g2 < 1 / (far * far))) c.status = out_of_range;
    if (d2 <= 8 * eps * g2) d2 = 0; // round-off of what was subtracted
    else ++left;
    D[j] = std::sqrt(std::max<Real>(0, d2));
  }
  if (c.status != fine || left == 0) return c;
  Buffer A((std::size_t)(n * n));
  A.fill(0);
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i <= j; ++i) {
      A[i + n * j] = D[i] > 0 && D[j] > 0 ? G[i + n * j] / D[i] / D[j] : Scalar(0);
      if (!is_finite(A[i + n * j])) {
        c.status = not_finite;
        return c;
      }
    }
  Buffer F(A);
  bool   definite = potrf(n, F.data(), n) == 0;
  for (Count j = 0; definite && j < n; ++j) definite = real(F[j + n * j]) > 1e-5;
  c.m = Buffer((std::size_t)(n * n));
  if (definite) { // G = F^H F
    c.l     = (Int)n;
    c.lower = true;
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < n; ++i) c.m[i + n * j] = i >= j ? D[i] * conj(F[j + n * i]) : Scalar(0);
    return c;
  }
  std::vector<Real> lambda((std::size_t)n);
  if (!eigen(n, A.data(), lambda.data())) {
    c.status = no_convergence;
    return c;
  }
  for (Count j = n; j-- > 0 && lambda[j] > n * eps * lambda[n - 1];) {
    for (Count i = 0; i < n; ++i) c.m[i + n * c.l] = D[i] * std::sqrt(lambda[j]) * A[i + n * j];
    ++c.l;
  }
  return c;
}

} // namespace petsctt
