#include "tt/ops/sweep_rows.hpp"

#include "tt/blas.hpp"
#include "tt/ops/sweep.hpp"

#include <algorithm>

namespace petsctt {

namespace {

// +1 or -1 for every index, the same on any number of processes (the finaliser of splitmix64; quality beyond that of a good hash is
// not needed, since what comes of it is checked).
Real sign_of(std::uint64_t i)
{
  i += 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return (i ^ (i >> 31)) & 1 ? 1 : -1;
}

constexpr Count groups = 8; // sums of cores in the sketch of T, at least

} // namespace

Buffer RightFactor::times(std::size_t i, Count r, std::int64_t e0, const Scalar *P, Count c) const
{
  Buffer M((std::size_t)(r * c));
  if (identity) std::copy(P, P + r * c, M.data());
  else gemm('N', 'N', r, c, l, ldexp(Scalar(1), e[i] - e0), w[i].data(), r, P, l, 0, M.data(), r);
  return M;
}

Buffer RightFactor::stacked(const std::vector<LazyTerm> &terms, Int k, std::int64_t e0) const
{
  Count R = 0, o = 0;
  for (const LazyTerm &t : terms) R += t.train->r(k);
  Buffer W((std::size_t)(R * l));
  if (identity) {
    W.fill(0);
    for (Count i = 0; i < R; ++i) W[i + R * i] = 1;
    return W;
  }
  for (std::size_t i = 0; i < w.size(); ++i) {
    const Count  r = terms[i].train->r(k);
    const Scalar f = ldexp(Scalar(1), e[i] - e0);
    for (Int j = 0; j < l; ++j)
      for (Count a = 0; a < r; ++a) W[o + a + R * j] = f * w[i][a + r * j];
    o += r;
  }
  return W;
}

TRows::TRows(const Space &space, Int k, const std::vector<LazyTerm> &terms, const RightFactor &w, bool in_range) :
  w_(w), n_(space.n(k)), start_(space.start(k)), parts_(terms.size()), e_(w.e)
{
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Part        &p     = parts_[i];
    const Train *plain = terms[i].train->plain();
    p.offset           = columns_;
    columns_ += terms[i].train->r(k);
    if (plain && !in_range) {
      p.core     = &plain->core(k);
      p.multiply = !w.identity;
      continue;
    }
    if (plain) {
      p.own      = plain->core(k);
      p.multiply = !w.identity;
    } else {
      const Scalar one = 1;
      terms[i].train->times_right(k, w.identity ? &one : w.w[i].data(), w.l, p.own); // identity: of the last core, 1 x 1
      p.multiply = false;
    }
    if (in_range) e_[i] += bring_into_range(space, k, p.own);
    p.core = &p.own;
  }
}

void TRows::fill_from(const std::vector<Part> &parts, Count n, Count first, Count count, Scalar *B, Count ldb) const
{
  const Count l = w_.l;
  for (std::size_t t = 0; t < parts.size(); ++t) {
    const Part   &p  = parts[t];
    const Count   r0 = p.core->r0, r1 = p.core->r1;
    const Scalar *A  = p.core->data();
    Scalar       *to = B + ldb * p.offset;
    if (p.multiply)
      for (Count i = 0; i < count; ++i) gemm('C', 'C', l, r0, r1, 1, w_.w[t].data(), r1, A + r0 * (first + i), r0 * n, 0, to + l * i, ldb);
    else
      for (Count i = 0; i < count; ++i)
        for (Count j = 0; j < l; ++j)
          for (Count a = 0; a < r0; ++a) to[j + l * i + ldb * a] = conj(A[a + r0 * (first + i + n * j)]);
  }
}

void TRows::fill(Count first, Count count, Scalar *B, Count ldb) const
{
  fill_from(parts_, n_, first, count, B, ldb);
}

// Sums of A(:, i, :) over groups of i with random signs: T of the sums has few rows and, but for vectors of a special kind, the lengths of T.
bool TRows::sketch(Buffer &S, Count &rows) const
{
  const Count g = std::max(groups, (2 * columns_ + w_.l - 1) / w_.l);
  if (n_ < 4 * g) return false;
  std::vector<Part> sums(parts_.size());
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    const Core &c    = *parts_[t].core;
    sums[t].multiply = parts_[t].multiply;
    sums[t].offset   = parts_[t].offset;
    sums[t].own      = Core(c.r0, (Int)g, c.r1);
    Scalar *out      = sums[t].own.data();
    std::fill(out, out + sums[t].own.count(), Scalar(0));
    for (Count b = 0; b < c.r1; ++b)
      for (Count i = 0; i < n_; ++i) {
        const Real    sign = sign_of((std::uint64_t)(start_ + i));
        const Scalar *from = c.data() + c.r0 * (i + n_ * b);
        Scalar       *to   = out + c.r0 * (i % g + g * b);
        for (Int a = 0; a < c.r0; ++a) to[a] += sign * from[a];
      }
    sums[t].core = &sums[t].own;
  }
  rows = g * w_.l;
  S    = Buffer((std::size_t)(rows * columns_));
  fill_from(sums, g, 0, g, S.data(), rows);
  return true;
}

void ZRows::product(const std::vector<const Scalar *> &C, Count count, Count ldc, Scalar *B, Count ldb) const
{
  if (w_.identity) {
    for (Count j = 0; j < w_.l; ++j) std::copy(C[0] + ldc * j, C[0] + ldc * j + count, B + ldb * j);
    return;
  }
  for (std::size_t i = 0; i < C.size(); ++i)
    gemm('N', 'N', count, w_.l, C_[i].r1, ldexp(Scalar(1), w_.e[i] - e_), C[i], ldc, w_.w[i].data(), C_[i].r1, i ? 1 : 0, B, ldb);
}

void ZRows::fill(Count first, Count count, Scalar *B, Count ldb) const
{
  std::vector<const Scalar *> C;
  for (const Core &c : C_) C.push_back(c.data() + first);
  product(C, count, units(), B, ldb);
}

// Sums of rows of C with random signs.
bool ZRows::sketch(Buffer &S, Count &rows) const
{
  const Count s = 4 * w_.l, m = units();
  if (m < 2 * s) return false;
  std::vector<Real> sign((std::size_t)m);
  for (Count i = 0; i < m; ++i) sign[i] = sign_of((std::uint64_t)i);
  std::vector<Buffer>         sums;
  std::vector<const Scalar *> C;
  for (const Core &c : C_) {
    Buffer b((std::size_t)(s * c.r1));
    b.fill(0);
    for (Count j = 0; j < c.r1; ++j)
      for (Count i = 0; i < m; i += s) {
        const Count   count = std::min(s, m - i);
        const Scalar *from  = c.data() + m * j + i;
        Scalar       *to    = b.data() + s * j;
        for (Count q = 0; q < count; ++q) to[q] += sign[i + q] * from[q];
      }
    sums.push_back(std::move(b));
    C.push_back(sums.back().data());
  }
  rows = s;
  S    = Buffer((std::size_t)(s * w_.l));
  product(C, s, s, S.data(), s);
  return true;
}

} // namespace petsctt
