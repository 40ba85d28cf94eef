#include "tt/ops/tsqr.hpp"

#include "tt/ops/reflectors.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr int tag_triangle = 7101, tag_apply = 7102;

// Copies rows x cols from a (lda) to b (ldb).
void copy_matrix(Count rows, Count cols, const Scalar *a, Count lda, Scalar *b, Count ldb)
{
  for (Count j = 0; j < cols; ++j) std::copy(a + j * lda, a + j * lda + rows, b + j * ldb);
}

// The trapezoid of a factored matrix with long dimension `len` and k reflectors, packed with zeros written out.
Buffer extract(bool tall, Count k, Count n, const Scalar *a, Count lda)
{
  Buffer t((std::size_t)k * n);
  if (tall) {
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < k; ++i) t[i + j * k] = i <= j ? a[i + j * lda] : Scalar(0);
  } else {
    for (Count j = 0; j < k; ++j)
      for (Count i = 0; i < n; ++i) t[i + j * n] = i >= j ? a[i + j * lda] : Scalar(0);
  }
  return t;
}

} // namespace

Tsqr::Tsqr(const Comm &comm, Shape shape, const std::vector<Count> &long_sizes, Count m, Count n, Scalar *A) :
  comm_(comm), shape_(shape), distributed_(!long_sizes.empty() && comm.size() > 1), m_(m), n_(n), a_(A)
{
  root_ = !distributed_ || comm_.rank() == 0;
  factor_local();
  p_ = klocal_;
  if (distributed_) {
    Count total = 0;
    for (Count s : long_sizes) total += s;
    p_ = std::min(total, n_);
    merge(long_sizes);
  }
}

void Tsqr::factor_local()
{
  klocal_ = std::min(m_, n_);
  tau_.resize(klocal_);
  const bool tall = shape_ == Shape::tall;
  if (tall) factor_tall(m_, n_, a_, m_, tau_.data());
  else factor_wide(m_, n_, a_, n_, tau_.data());
  triangle_ = extract(tall, klocal_, n_, a_, tall ? m_ : n_);
}

void Tsqr::merge(const std::vector<Count> &long_sizes)
{
  const bool         tall = shape_ == Shape::tall;
  const int          size = comm_.size(), rank = comm_.rank();
  std::vector<Count> k(size); // rows of the triangle that process q holds at this level
  for (int q = 0; q < size; ++q) k[q] = std::min(long_sizes[q], n_);
  for (int step = 1; step < size; step *= 2) {
    for (int q = 0; q + step < size; q += 2 * step) {
      const int other = q + step;
      if (rank == other) {
        parent_ = q;
        comm_.send(triangle_.data(), k[other] * n_, q, tag_triangle);
      } else if (rank == q) {
        Level l;
        l.partner = other;
        l.k1      = k[q];
        l.k2      = k[other];
        const Count len = l.k1 + l.k2;
        l.a             = Buffer((std::size_t)len * n_);
        Buffer theirs((std::size_t)l.k2 * n_);
        comm_.recv(theirs.data(), l.k2 * n_, other, tag_triangle);
        if (tall) {
          copy_matrix(l.k1, n_, triangle_.data(), l.k1, l.a.data(), len);
          copy_matrix(l.k2, n_, theirs.data(), l.k2, l.a.data() + l.k1, len);
        } else {
          copy_matrix(n_, l.k1, triangle_.data(), n_, l.a.data(), n_);
          copy_matrix(n_, l.k2, theirs.data(), n_, l.a.data() + l.k1 * n_, n_);
        }
        l.tau.resize(std::min(len, n_));
        if (tall) factor_tall(len, n_, l.a.data(), len, l.tau.data());
        else factor_wide(len, n_, l.a.data(), n_, l.tau.data());
        triangle_ = extract(tall, std::min(len, n_), n_, l.a.data(), tall ? len : n_);
        levels_.push_back(std::move(l));
      }
      k[q] = std::min(k[q] + k[other], n_);
    }
    if (parent_ >= 0) break; // our part is done
  }
  if (!root_) triangle_ = Buffer();
}

bool Tsqr::expand_in_place()
{
  if (distributed_) return false;
  if (shape_ == Shape::tall) {
    expand_tall(m_, klocal_, a_, m_, tau_.data());
  } else {
    expand_wide(m_, klocal_, a_, n_, tau_.data());
    if (klocal_ < n_) // pack the p rows that are Q
      for (Count j = 0; j < m_; ++j) std::copy(a_ + j * n_, a_ + j * n_ + klocal_, a_ + j * klocal_);
  }
  return true;
}

void Tsqr::apply(const Scalar *C, Count c, Scalar *out) const
{
  const bool tall = shape_ == Shape::tall;
  Buffer     mine; // what this node of the tree is to be multiplied by: k x c (tall) or c x k (wide)
  Count      k = klocal_;
  for (const Level &l : levels_) k = std::min(l.k1 + l.k2, n_);
  if (root_) {
    mine = Buffer((std::size_t)p_ * c);
    if (C) std::copy(C, C + p_ * c, mine.data());
    else {
      mine.fill(0);
      for (Count i = 0; i < c; ++i) mine[i + i * (tall ? p_ : c)] = 1;
    }
  } else {
    mine = Buffer((std::size_t)k * c);
    comm_.recv(mine.data(), k * c, parent_, tag_apply);
  }
  for (auto it = levels_.rbegin(); it != levels_.rend(); ++it) {
    const Level &l   = *it;
    const Count  len = l.k1 + l.k2, kn = std::min(len, n_);
    Buffer       t((std::size_t)len * c), down((std::size_t)l.k2 * c), keep((std::size_t)l.k1 * c);
    if (tall) {
      times_leading_tall(len, kn, l.a.data(), len, l.tau.data(), c, mine.data(), t.data());
      copy_matrix(l.k1, c, t.data(), len, keep.data(), l.k1);
      copy_matrix(l.k2, c, t.data() + l.k1, len, down.data(), l.k2);
    } else {
      times_leading_wide(len, kn, l.a.data(), n_, l.tau.data(), c, mine.data(), t.data());
      copy_matrix(c, l.k1, t.data(), c, keep.data(), c);
      copy_matrix(c, l.k2, t.data() + l.k1 * c, c, down.data(), c);
    }
    comm_.send(down.data(), l.k2 * c, l.partner, tag_apply);
    mine = std::move(keep);
  }
  if (tall) times_leading_tall(m_, klocal_, a_, m_, tau_.data(), c, mine.data(), out);
  else times_leading_wide(m_, klocal_, a_, n_, tau_.data(), c, mine.data(), out);
}

} // namespace petsctt
