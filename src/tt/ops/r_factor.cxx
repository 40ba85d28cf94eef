#include "tt/ops/r_factor.hpp"

#include "base/blas.hpp"
#include "tt/ops/panel.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr int tag_triangle = 7103;

} // namespace

RFactor::RFactor(Count n) : n_(n), r_((std::size_t)(n * n))
{
  r_.fill(0);
}

Count RFactor::block_rows(Count n)
{
  // Panels and products of a block of a megabyte run from the second and third level of cache; a block much longer than wide keeps the
  // work on T factors small.
  const Count entries = (Count(1) << 20) / (Count)sizeof(Scalar);
  return std::max<Count>(4 * n, std::max<Count>(64, entries / std::max<Count>(1, n)));
}

// Columns j..j+w-1 of [R; B]. The reflectors take the place of B, their T that of t_(j.., j..) if asked for.
void RFactor::factor(Count m, Scalar *B, Count ldb, Count j, Count w, bool with_t)
{
  Scalar *R = r_.data(), *T = t_.data(), *V = B + ldb * j;
  if (w <= panel_columns) {
    Scalar tau[panel_columns];
    factor_panel(w, R + j + n_ * j, n_, m, V, ldb, tau);
    if (!with_t) {
      // the update of later columns needs T even of the last panel; without any, tau is all there is to forget
      return;
    }
    // T column by column: T(0:c, c) = -tau_c T(0:c,0:c) V(:,0:c)^H v_c
    Scalar G[panel_columns * panel_columns];
    if (w > 1) gemm('C', 'N', w, w, m, 1, V, ldb, V, ldb, 0, G, w);
    for (Count c = 0; c < w; ++c) {
      for (Count a = 0; a < c; ++a) {
        Scalar s = 0;
        for (Count b = a; b < c; ++b) s += T[(j + a) + n_ * (j + b)] * G[b + w * c];
        T[(j + a) + n_ * (j + c)] = -tau[c] * s;
      }
      T[(j + c) + n_ * (j + c)] = tau[c];
    }
    return;
  }
  const Count w1 = (w / 2 + panel_columns - 1) / panel_columns * panel_columns, w2 = w - w1;
  Scalar     *V2 = V + ldb * w1, *R12 = R + j + n_ * (j + w1), *W = w_.data();
  factor(m, B, ldb, j, w1, true);
  // [R12; B2] := (I - [I; V] T^H [I V^H]) [R12; B2]
  for (Count c = 0; c < w2; ++c) std::copy(R12 + n_ * c, R12 + n_ * c + w1, W + w1 * c);
  gemm('C', 'N', w1, w2, m, 1, V, ldb, V2, ldb, 1, W, w1);
  trmm('L', 'U', 'C', 'N', w1, w2, 1, T + j + n_ * j, n_, W, w1);
  for (Count c = 0; c < w2; ++c)
    for (Count a = 0; a < w1; ++a) R12[a + n_ * c] -= W[a + w1 * c];
  gemm('N', 'N', m, w2, w1, -1, V, ldb, W, w1, 1, V2, ldb);
  factor(m, B, ldb, j + w1, w2, with_t);
  if (!with_t) return;
  // T12 = -T1 (V1^H V2) T2 (Elmroth and Gustavson 2000)
  Scalar *T12 = T + j + n_ * (j + w1);
  gemm('C', 'N', w1, w2, m, -1, V, ldb, V2, ldb, 0, T12, n_);
  trmm('L', 'U', 'N', 'N', w1, w2, 1, T + j + n_ * j, n_, T12, n_);
  trmm('R', 'U', 'N', 'N', w1, w2, 1, T + (j + w1) + n_ * (j + w1), n_, T12, n_);
}

void RFactor::add(Count m, Scalar *B, Count ldb)
{
  if (m == 0 || n_ == 0) return;
  if (!t_.size()) {
    t_ = Buffer((std::size_t)(n_ * n_));
    w_ = Buffer((std::size_t)(n_ * n_));
  }
  factor(m, B, ldb, 0, n_, false);
  empty_ = false;
}

void RFactor::add_triangle(Scalar *R)
{
  if (!empty_) return add(n_, R, n_);
  std::copy(R, R + n_ * n_, r_.data());
  empty_ = false;
}

void RFactor::reduce(const Comm &comm)
{
  const int size = comm.size(), rank = comm.rank();
  Buffer    packed((std::size_t)(n_ * (n_ + 1) / 2));
  for (int step = 1; step < size; step *= 2) {
    if (rank % (2 * step) == step) {
      Scalar *to = packed.data();
      for (Count j = 0; j < n_; ++j) to = std::copy(r_.data() + n_ * j, r_.data() + n_ * j + j + 1, to);
      comm.send(packed.data(), (Count)packed.size(), rank - step, tag_triangle);
      return;
    }
    if (rank % (2 * step) == 0 && rank + step < size) {
      comm.recv(packed.data(), (Count)packed.size(), rank + step, tag_triangle);
      Buffer        theirs((std::size_t)(n_ * n_));
      const Scalar *from = packed.data();
      theirs.fill(0);
      for (Count j = 0; j < n_; ++j) {
        std::copy(from, from + j + 1, theirs.data() + n_ * j);
        from += j + 1;
      }
      add(n_, theirs.data(), n_);
    }
  }
}

} // namespace petsctt
