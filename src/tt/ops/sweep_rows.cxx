#include "tt/ops/sweep_rows.hpp"

#include "base/blas.hpp"
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

constexpr Count triangle_block = 24; // columns of a triangle that are multiplied at a time, about

constexpr Count groups = 2; // sums of cores in the sketch of T, at least; and so many that it has twice as many rows as columns

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

TRows::TRows(const Space &space, Int k, const std::vector<LazyTerm> &terms, const RightFactor &w) :
  w_(w), n_(space.n(k)), start_(space.start(k)), parts_(terms.size())
{
  for (std::size_t i = 0; i < terms.size(); ++i) {
    Part        &p     = parts_[i];
    const Train *plain = terms[i].train->plain();
    p.offset           = columns_;
    columns_ += terms[i].train->r(k);
    if (plain) {
      p.core     = &plain->core(k);
      p.multiply = !w.identity;
      continue;
    }
    const Scalar one = 1; // identity: of the last core, 1 x 1
    terms[i].train->times_right(k, w.identity ? &one : w.w[i].data(), w.l, p.own);
    p.multiply = false;
    p.core     = &p.own;
  }
}

void TRows::multiply(std::size_t t, const Scalar *A, Count m, Count lda, Count offset, Scalar *B) const
{
  const Count   l = w_.l, r1 = parts_[t].core->r1;
  const Scalar *W = w_.w[t].data();
  if (!w_.lower || l < 2 * triangle_block) {
    gemm('N', 'N', m, l, r1, 1, A, lda, W, r1, 0, B, m);
    return;
  }
  // rows a of W with offset + a >= j are not zero: columns before `offset` are full, then comes a triangle, with full rows below it if there are
  const Count full = std::min(offset, l), w = std::max<Count>(0, std::min(r1, l - offset));
  if (full > 0) gemm('N', 'N', m, full, r1, 1, A, lda, W, r1, 0, B, m);
  if (w > 0) {
    for (Count j = 0; j < w; ++j) std::copy(A + lda * j, A + lda * j + m, B + m * (full + j));
    trmm('R', 'L', 'N', 'N', m, w, 1, W + r1 * full, r1, B + m * full, m);
    if (r1 > w) gemm('N', 'N', m, w, r1 - w, 1, A + lda * w, lda, W + w + r1 * full, r1, 1, B + m * full, m);
  }
  std::fill(B + m * (full + w), B + m * l, Scalar(0));
}

// B: columns x (count l), column i + count j for point first + i.
void TRows::fill_from(const std::vector<Part> &parts, Count n, Count first, Count count, Scalar *B) const
{
  const Count l = w_.l;
  Count       offset = w_.first_row; // of the term among the rows of W
  for (std::size_t t = 0; t < parts.size(); offset += parts[t].core->r1, ++t) {
    const Part   &p  = parts[t];
    const Count   r0 = p.core->r0, m = r0 * count;
    const Scalar *A  = p.core->data() + r0 * first;
    if (parts.size() == 1) {
      if (p.multiply) multiply(t, A, m, r0 * n, offset, B);
      else
        for (Count j = 0; j < l; ++j) std::copy(A + r0 * n * j, A + r0 * n * j + m, B + m * j);
      continue;
    }
    const Scalar *from = A;
    Count         ld   = r0 * n;
    if (p.multiply) {
      if ((Count)piece_.size() < m * l) piece_ = Buffer((std::size_t)(m * l));
      multiply(t, A, m, r0 * n, offset, piece_.data());
      from = piece_.data();
      ld   = m;
    }
    for (Count j = 0; j < l; ++j)
      for (Count i = 0; i < count; ++i) std::copy(from + ld * j + r0 * i, from + ld * j + r0 * (i + 1), B + p.offset + columns_ * (i + count * j));
  }
}

void TRows::fill(Count first, Count count, Scalar *B) const
{
  fill_from(parts_, n_, first, count, B);
}

namespace {

// out (r0 x g x r1) := sums of c(:, i, :) over the i with the same remainder modulo g, with random signs.
Core group_sums(const Core &c, Count start, Count g)
{
  Core out(c.r0, (Int)g, c.r1);
  std::fill(out.data(), out.data() + out.count(), Scalar(0));
  for (Count b = 0; b < c.r1; ++b)
    for (Count i = 0; i < c.n; ++i) {
      const Real    sign = sign_of((std::uint64_t)(start + i));
      const Scalar *from = c.data() + c.r0 * (i + c.n * b);
      Scalar       *to   = out.data() + c.r0 * (i % g + g * b);
      for (Int a = 0; a < c.r0; ++a) to[a] += sign * from[a];
    }
  return out;
}

Count number_of_groups(Count columns, Count unit)
{
  return std::max(groups, (2 * columns + unit - 1) / unit);
}

} // namespace

void CoreRows::fill(Count first, Count count, Scalar *B) const
{
  const Count r0 = c_.r0, n = c_.n;
  for (Count b = 0; b < c_.r1; ++b, B += r0 * count) std::copy(c_.data() + r0 * (first + n * b), c_.data() + r0 * (first + count + n * b), B);
}

bool CoreRows::sketch(Buffer &S, Count &rows) const
{
  const Count g = number_of_groups(c_.r0, c_.r1);
  if (c_.n < 4 * g) return false;
  const Core sums = group_sums(c_, 0, g);
  rows            = g * c_.r1;
  S               = Buffer((std::size_t)(rows * c_.r0));
  conjugate_transpose(c_.r0, rows, sums.data(), S.data());
  return true;
}

// T of sums of A(:, i, :) over groups of i has few rows and, but for vectors of a special kind, the lengths of T.
bool TRows::sketch(Buffer &S, Count &rows) const
{
  const Count g = number_of_groups(columns_, w_.l);
  if (n_ < 4 * g) return false;
  std::vector<Part> sums(parts_.size());
  for (std::size_t t = 0; t < parts_.size(); ++t) {
    sums[t].multiply = parts_[t].multiply;
    sums[t].offset   = parts_[t].offset;
    sums[t].own      = group_sums(*parts_[t].core, start_, g);
    sums[t].core = &sums[t].own;
  }
  rows = g * w_.l;
  Buffer wide((std::size_t)(rows * columns_));
  S = Buffer(wide.size());
  fill_from(sums, g, 0, g, wide.data());
  conjugate_transpose(columns_, rows, wide.data(), S.data());
  return true;
}

namespace {

// Xb (r0 x (count r1)) := X(:, first..first+count-1, :)
void copy_points(const Core &X, Count first, Count count, Scalar *Xb)
{
  const Count r0 = X.r0, n = X.n;
  for (Count b = 0; b < X.r1; ++b, Xb += r0 * count) std::copy(X.data() + r0 * (first + n * b), X.data() + r0 * (first + count + n * b), Xb);
}

} // namespace

void RemainderRows::fill(Count first, Count count, Scalar *B) const
{
  const Count R = columns(), m = count * X_.r1; // the columns of T come in blocks of `count` points for every j
  Buffer      Xb((std::size_t)(X_.r0 * m));
  T_.fill(first, count, B);
  copy_points(X_, first, count, Xb.data());
  gemm('N', 'N', R, m, X_.r0, -1, G_.data(), R, Xb.data(), X_.r0, 1, B, R);
}

bool RemainderRows::sketch(Buffer &S, Count &rows) const
{
  if (!T_.sketch(S, rows)) return false;
  const Count R = columns(), g = rows / unit();
  const Core  sums = group_sums(X_, start_, g);
  gemm('C', 'C', g * X_.r1, R, X_.r0, -1, sums.data(), X_.r0, G_.data(), R, 1, S.data(), rows);
  return true;
}

void RemainderRows::coefficients(const TRows &T, const Core &X, Scalar *G)
{
  const Count R = T.columns(), step = T.block_units(RFactor::block_rows(std::max<Count>(R, X.r0)));
  Buffer      B((std::size_t)(R * step * T.unit())), Xb((std::size_t)(X.r0 * step * X.r1));
  std::fill(G, G + R * X.r0, Scalar(0));
  for (Count i = 0; i < T.units(); i += step) {
    const Count c = std::min(step, T.units() - i);
    T.fill(i, c, B.data());
    copy_points(X, i, c, Xb.data());
    gemm('N', 'C', R, X.r0, c * X.r1, 1, B.data(), R, Xb.data(), X.r0, 1, G, R);
  }
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

void ZRows::fill(Count first, Count count, Scalar *B) const
{
  std::vector<const Scalar *> C;
  for (const Core &c : C_) C.push_back(c.data() + first);
  product(C, count, units(), B, count);
}

namespace {

// Sums of rows of C (m x r) with random signs: row i goes into sum i mod s.
Buffer signed_sums(Count m, Count r, const Scalar *C, Count s)
{
  std::vector<Real> sign((std::size_t)m);
  for (Count i = 0; i < m; ++i) sign[i] = sign_of((std::uint64_t)i);
  Buffer b((std::size_t)(s * r));
  b.fill(0);
  for (Count j = 0; j < r; ++j)
    for (Count i = 0; i < m; i += s) {
      const Count   count = std::min(s, m - i);
      const Scalar *from  = C + m * j + i;
      const Real   *f     = sign.data() + i;
      Scalar       *to    = b.data() + s * j;
      for (Count q = 0; q < count; ++q) to[q] += f[q] * from[q];
    }
  return b;
}

constexpr Count sums_per_column = 3;

} // namespace

bool ZRows::sketch(Buffer &S, Count &rows) const
{
  const Count s = sums_per_column * w_.l, m = units();
  if (m < 2 * s) return false;
  std::vector<Buffer>         sums;
  std::vector<const Scalar *> C;
  for (const Core &c : C_) {
    sums.push_back(signed_sums(m, c.r1, c.data(), s));
    C.push_back(sums.back().data());
  }
  rows = s;
  S    = Buffer((std::size_t)(s * w_.l));
  product(C, s, s, S.data(), s);
  return true;
}

void StoredRows::fill(Count first, Count count, Scalar *B) const
{
  for (Count j = 0; j < n_; ++j, B += count) std::copy(column(j) + first, column(j) + first + count, B);
}

bool StoredRows::sketch(Buffer &S, Count &rows) const
{
  const Count s = sums_per_column * n_;
  if (m_ < 2 * s) return false;
  rows = s;
  S    = Buffer((std::size_t)(s * n_));
  const Buffer front = signed_sums(m_, last_, A_, s), back = signed_sums(m_, n_ - last_, A_ + m_ * last_, s);
  std::copy(front.data(), front.data() + front.size(), std::copy(back.data(), back.data() + back.size(), S.data()));
  return true;
}

Count CRows::columns() const
{
  Count r = 0;
  for (const Core &c : C_) r += c.r1;
  return r;
}

void CRows::fill(Count first, Count count, Scalar *B) const
{
  const Count m = units();
  for (const Core &c : C_)
    for (Count j = 0; j < c.r1; ++j, B += count) std::copy(c.data() + first + m * j, c.data() + first + count + m * j, B);
}

bool CRows::sketch(Buffer &S, Count &rows) const
{
  const Count n = columns(), s = sums_per_column * n, m = units();
  if (m < 2 * s) return false;
  rows      = s;
  S         = Buffer((std::size_t)(s * n));
  Scalar *B = S.data();
  for (const Core &c : C_) {
    const Buffer b = signed_sums(m, c.r1, c.data(), s);
    B              = std::copy(b.data(), b.data() + b.size(), B);
  }
  return true;
}

} // namespace petsctt
