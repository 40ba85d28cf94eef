#include "tt/ops/right_solve.hpp"

#include "base/blas.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

constexpr Count smallest = 16; // columns that are not divided further: substitution
constexpr Real  accurate = 50; // root mean square over columns of || |R| |R^-1| e_c ||: what the products add to the round-off of substitution

Count half(Count w)
{
  return (w / 2 + 7) / 8 * 8;
}

} // namespace

RightSolve::RightSolve(Count n, const Scalar *R) : n_(n), R_((std::size_t)(n * n))
{
  std::copy(R, R + n * n, R_.data());
  divide(0, n);
}

// R_jj by its inverse if that is good enough.
bool RightSolve::invert(Count j, Count w)
{
  Buffer  X((std::size_t)(w * w));
  Scalar *R = R_.data() + j + n_ * j;
  X.fill(0);
  for (Count c = 0; c < w; ++c) X[c + w * c] = 1;
  trsm('L', 'U', 'N', 'N', w, w, 1, R, n_, X.data(), w);
  // |R| |X|, column by column; the scaling of the columns of R drops out
  Real              sum = 0;
  std::vector<Real> y((std::size_t)w);
  for (Count c = 0; c < w; ++c) {
    std::fill(y.begin(), y.end(), Real(0));
    for (Count k = 0; k <= c; ++k) {
      const Real x = petsctt::abs(X[k + w * c]);
      for (Count i = 0; i <= k; ++i) y[i] += petsctt::abs(R[i + n_ * k]) * x;
    }
    for (Count i = 0; i <= c; ++i) sum += y[i] * y[i];
  }
  if (!(sum <= accurate * accurate * (Real)w)) return false; // NaN as well
  for (Count c = 0; c < w; ++c) std::copy(X.data() + w * c, X.data() + w * c + c + 1, R + n_ * c);
  return true;
}

void RightSolve::divide(Count j, Count w)
{
  const bool good = invert(j, w);
  if (good || w <= smallest) {
    parts_.push_back({j, w, good});
    return;
  }
  divide(j, half(w));
  divide(j + half(w), w - half(w));
}

void RightSolve::apply(Count j, Count w, Count m, Scalar *B, Count ldb, std::size_t &part) const
{
  const Scalar *R = R_.data() + j + n_ * j;
  if (parts_[part].begin == j && parts_[part].width == w) {
    if (parts_[part++].inverted) trmm('R', 'U', 'N', 'N', m, w, 1, R, n_, B + ldb * j, ldb);
    else trsm('R', 'U', 'N', 'N', m, w, 1, R, n_, B + ldb * j, ldb);
    return;
  }
  const Count w1 = half(w), w2 = w - w1;
  apply(j, w1, m, B, ldb, part);
  gemm('N', 'N', m, w2, w1, -1, B + ldb * j, ldb, R + n_ * w1, n_, 1, B + ldb * (j + w1), ldb);
  apply(j + w1, w2, m, B, ldb, part);
}

void RightSolve::apply(Count m, Scalar *B, Count ldb) const
{
  std::size_t part = 0;
  if (n_ > 0 && m > 0) apply(0, n_, m, B, ldb, part);
}

Count RightSolve::inverted() const
{
  Count most = 0;
  for (const Part &p : parts_)
    if (p.inverted) most = std::max(most, p.width);
  return most;
}

} // namespace petsctt
