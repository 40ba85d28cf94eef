#include "base/error.hpp"
#include "lu/lu.hpp"

#include <algorithm>

// Solves with the factors where they are: what moves are right-hand sides. With n of them, 2 N n (1/px + 1/py) words per process for one layer.
namespace petsctt::lu {

// Some right-hand sides. The columns are shared by the px layers processes of a grid column, share i + px l for grid row i and layer l:
// those that tile by tile solve with the diagonal blocks.
struct LU::Block {
  Count  n = 0;    // right-hand sides
  Buffer rows;     // ml x n, by local position: partial sums, or the solution
  Buffer tiles;    // nl x share, by local column
  Buffer upper;    // rows of U here x n: partial sums, or parts of the solution
};

Count LU::share(const Block &b, int s) const { return b.n * s / (g_.px * g_.layers); }

std::vector<Count> LU::here(Count k) const
{
  std::vector<Count> s;
  for (Count t = 0; t < g_.width(k); ++t)
    if ((int)(pivots_[(std::size_t)(k * g_.tile + t)] % g_.px) == i_) s.push_back(t);
  return s;
}

// Rows of right-hand sides to the process whose number is the row's modulo the active ones: it is in the row's grid row.
void LU::rows_in(Block &b, const Scalar *x, Count ldx) const
{
  const Count        begin = starts_[(std::size_t)rank_], end = starts_[(std::size_t)rank_ + 1], step = g_.active();
  std::vector<Count> out((std::size_t)size_, 0), in((std::size_t)size_, 0);
  for (Count p = 0; p < step; ++p) out[(std::size_t)p] = stride(begin, end, p, step).count * b.n;
  if (active_)
    for (std::size_t p = 0; p < (std::size_t)size_; ++p) in[p] = stride(starts_[p], starts_[p + 1], rank_, step).count * b.n;
  Buffer  send((std::size_t)((end - begin) * b.n)), recv;
  Scalar *s = send.data();
  for (Count p = 0; p < step; ++p) {
    const Stride r = stride(begin, end, p, step);
    for (Count c = 0; c < b.n; ++c)
      for (Count e = 0; e < r.count; ++e) *s++ = x[r.first - begin + e * step + c * ldx];
  }
  Count total = 0;
  for (Count c : in) total += c;
  recv = Buffer((std::size_t)total);
  world_.exchange(send.data(), out, recv.data(), in);
  if (!active_) return;
  b.rows = Buffer((std::size_t)(ml_ * b.n));
  b.rows.fill(0);
  const Scalar *f = recv.data();
  for (std::size_t p = 0; p < (std::size_t)size_; ++p) {
    const Stride r = stride(starts_[p], starts_[p + 1], rank_, step);
    for (Count c = 0; c < b.n; ++c)
      for (Count e = 0; e < r.count; ++e) b.rows[(std::size_t)(where_[(std::size_t)((r.first + e * step) / g_.px)] + c * ml_)] = *f++;
  }
}

void LU::rows_out(Block &b, Scalar *x, Count ldx) const
{
  const Count        begin = starts_[(std::size_t)rank_], end = starts_[(std::size_t)rank_ + 1], step = g_.active();
  std::vector<Count> out((std::size_t)size_, 0), in((std::size_t)size_, 0);
  for (Count p = 0; p < step; ++p) in[(std::size_t)p] = stride(begin, end, p, step).count * b.n;
  Count total = 0;
  if (active_)
    for (std::size_t p = 0; p < (std::size_t)size_; ++p) total += out[p] = stride(starts_[p], starts_[p + 1], rank_, step).count * b.n;
  Buffer  send((std::size_t)total), recv((std::size_t)((end - begin) * b.n));
  Scalar *s = send.data();
  if (active_)
    for (std::size_t p = 0; p < (std::size_t)size_; ++p) {
      const Stride r = stride(starts_[p], starts_[p + 1], rank_, step);
      for (Count c = 0; c < b.n; ++c)
        for (Count e = 0; e < r.count; ++e) *s++ = b.rows[(std::size_t)(where_[(std::size_t)((r.first + e * step) / g_.px)] + c * ml_)];
    }
  world_.exchange(send.data(), out, recv.data(), in);
  const Scalar *f = recv.data();
  for (Count p = 0; p < step; ++p) {
    const Stride r = stride(begin, end, p, step);
    for (Count c = 0; c < b.n; ++c)
      for (Count e = 0; e < r.count; ++e) x[r.first - begin + e * step + c * ldx] = *f++;
  }
}

// Entries by the columns of A: a process's share of the right-hand sides, tiles of its grid column.
void LU::tiles_in(Block &b, const Scalar *x, Count ldx) const
{
  std::vector<Count> out((std::size_t)size_, 0), in((std::size_t)size_, 0);
  // rows of process p that are in tiles of grid column j: calls f(first, count, local column)
  const auto pieces = [&](int p, int j, auto f) {
    const Count begin = column_starts_[(std::size_t)p], end = column_starts_[(std::size_t)p + 1];
    for (Count k = begin / g_.tile; k * g_.tile < end; ++k)
      if ((int)(k % g_.py) == j) {
        const Count a = std::max(begin, k * g_.tile), e = std::min(end, (k + 1) * g_.tile);
        if (e > a) f(a, e - a, k / g_.py * g_.tile + a - k * g_.tile);
      }
  };
  const auto columns = [&](int p) { return share(b, g_.row_of(p) + g_.px * g_.layer_of(p)); };
  const auto width   = [&](int p) { return share(b, g_.row_of(p) + g_.px * g_.layer_of(p) + 1) - columns(p); };
  Count      total_out = 0, total_in = 0;
  for (int p = 0; p < g_.active(); ++p) {
    Count rows = 0;
    pieces(rank_, g_.col_of(p), [&](Count, Count n, Count) { rows += n; });
    total_out += out[(std::size_t)p] = rows * width(p);
  }
  if (active_)
    for (int p = 0; p < size_; ++p) {
      Count rows = 0;
      pieces(p, j_, [&](Count, Count n, Count) { rows += n; });
      total_in += in[(std::size_t)p] = rows * width(rank_);
    }
  Buffer  send((std::size_t)total_out), recv((std::size_t)total_in);
  Scalar *s = send.data();
  for (int p = 0; p < g_.active(); ++p)
    for (Count c = columns(p); c < columns(p) + width(p); ++c) pieces(rank_, g_.col_of(p), [&](Count first, Count n, Count) { s = std::copy_n(x + first - column_starts_[(std::size_t)rank_] + c * ldx, n, s); });
  world_.exchange(send.data(), out, recv.data(), in);
  if (!active_) return;
  b.tiles         = Buffer((std::size_t)(nl_ * width(rank_)));
  const Scalar *f = recv.data();
  for (int p = 0; p < size_; ++p)
    for (Count c = 0; c < width(rank_); ++c)
      pieces(p, j_, [&](Count, Count n, Count at) {
        std::copy_n(f, n, b.tiles.data() + at + c * nl_);
        f += n;
      });
}

void LU::tiles_out(Block &b, Scalar *x, Count ldx) const
{
  std::vector<Count> out((std::size_t)size_, 0), in((std::size_t)size_, 0);
  const auto pieces = [&](int p, int j, auto f) {
    const Count begin = column_starts_[(std::size_t)p], end = column_starts_[(std::size_t)p + 1];
    for (Count k = begin / g_.tile; k * g_.tile < end; ++k)
      if ((int)(k % g_.py) == j) {
        const Count a = std::max(begin, k * g_.tile), e = std::min(end, (k + 1) * g_.tile);
        if (e > a) f(a, e - a, k / g_.py * g_.tile + a - k * g_.tile);
      }
  };
  const auto columns = [&](int p) { return share(b, g_.row_of(p) + g_.px * g_.layer_of(p)); };
  const auto width   = [&](int p) { return share(b, g_.row_of(p) + g_.px * g_.layer_of(p) + 1) - columns(p); };
  Count      total_out = 0, total_in = 0;
  for (int p = 0; p < g_.active(); ++p) {
    Count rows = 0;
    pieces(rank_, g_.col_of(p), [&](Count, Count n, Count) { rows += n; });
    total_in += in[(std::size_t)p] = rows * width(p);
  }
  if (active_)
    for (int p = 0; p < size_; ++p) {
      Count rows = 0;
      pieces(p, j_, [&](Count, Count n, Count) { rows += n; });
      total_out += out[(std::size_t)p] = rows * width(rank_);
    }
  Buffer  send((std::size_t)total_out), recv((std::size_t)total_in);
  Scalar *s = send.data();
  if (active_)
    for (int p = 0; p < size_; ++p)
      for (Count c = 0; c < width(rank_); ++c) pieces(p, j_, [&](Count, Count n, Count at) { s = std::copy_n(b.tiles.data() + at + c * nl_, n, s); });
  world_.exchange(send.data(), out, recv.data(), in);
  const Scalar *f = recv.data();
  for (int p = 0; p < g_.active(); ++p)
    for (Count c = columns(p); c < columns(p) + width(p); ++c)
      pieces(rank_, g_.col_of(p), [&](Count first, Count n, Count) {
        std::copy_n(f, n, x + first - column_starts_[(std::size_t)rank_] + c * ldx);
        f += n;
      });
}

// L y = P b, tile by tile: the pivot rows of a tile are summed over the processes of their grid rows, solved for, and go by slices to those that
// have columns of L of the tile, which subtract what they contribute to the rows that are left.
void LU::solve_l(Block &b) const
{
  const int   px = g_.px, c = g_.layers, my_share = i_ + px * l_;
  const Count n = b.n, cols = share(b, my_share + 1) - share(b, my_share);
  b.tiles = Buffer((std::size_t)(nl_ * cols));
  const auto layer_cols = [&](int l) { return share(b, px * (l + 1)) - share(b, px * l); };
  for (Count k = 0; k < g_.tiles(); ++k) {
    const Count              w = g_.width(k), ws = wl(w, l_);
    const std::vector<Count> at = here(k);
    const Count              h = (Count)at.size();
    const int                q = (int)(k % g_.py);
    // to the grid column of the tile: each layer some of the columns
    std::vector<Count> out((std::size_t)row_plane_.size(), 0), in((std::size_t)row_plane_.size(), 0);
    for (int l = 0; l < c; ++l) out[(std::size_t)(q + g_.py * l)] = h * layer_cols(l);
    if (mine(k)) std::fill(in.begin(), in.end(), h * layer_cols(l_));
    Buffer send((std::size_t)(h * n)), parts(mine(k) ? (std::size_t)(h * layer_cols(l_) * row_plane_.size()) : 0);
    for (Count s = 0; s < n; ++s)
      for (Count r = 0; r < h; ++r) send[(std::size_t)(r + s * h)] = b.rows[(std::size_t)(position(k, at[(std::size_t)r]) + s * ml_)];
    row_plane_.exchange(send.data(), out, parts.data(), in);
    if (!mine(k)) continue;
    const Count block = h * layer_cols(l_);
    for (int p = 1; p < row_plane_.size(); ++p)
      for (Count e = 0; e < block; ++e) parts[(std::size_t)e] += parts[(std::size_t)(e + p * block)];
    // within the layer: all pivots of the tile, each grid row its share of the columns
    std::vector<std::vector<Count>> order((std::size_t)px);
    for (Count s = 0; s < w; ++s) order[(std::size_t)(pivots_[(std::size_t)(k * g_.tile + s)] % px)].push_back(s);
    std::vector<Count> to((std::size_t)px), from((std::size_t)px);
    for (int i = 0; i < px; ++i) {
      to[(std::size_t)i]   = h * (share(b, i + px * l_ + 1) - share(b, i + px * l_));
      from[(std::size_t)i] = (Count)order[(std::size_t)i].size() * cols;
    }
    Buffer all((std::size_t)(w * cols)), y((std::size_t)(w * cols));
    col_.exchange(parts.data(), to, all.data(), from);
    const Scalar *f = all.data();
    for (int i = 0; i < px; ++i)
      for (Count s = 0; s < cols; ++s)
        for (Count r : order[(std::size_t)i]) y[(std::size_t)(r + s * w)] = *f++;
    trsm('L', 'L', 'N', 'U', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y.data(), w);
    for (Count s = 0; s < cols; ++s) std::copy_n(y.data() + s * w, w, b.tiles.data() + local_tile(k) * g_.tile + s * nl_);
    if (k + 1 == g_.tiles()) continue;
    // slices: over the layers, then over the grid rows
    std::vector<Count> slices_out((std::size_t)c), slices_in((std::size_t)c), blocks((std::size_t)px, 0);
    Buffer             cut((std::size_t)(w * cols));
    Scalar            *z = cut.data();
    Count              mine_size = 0;
    for (int l = 0; l < c; ++l) {
      slices_out[(std::size_t)l] = wl(w, l) * cols;
      slices_in[(std::size_t)l]  = ws * (share(b, i_ + px * l + 1) - share(b, i_ + px * l));
      mine_size += slices_in[(std::size_t)l];
      for (Count s = 0; s < cols; ++s) z = std::copy_n(y.data() + g_.slice(w, l) + s * w, wl(w, l), z);
      for (int i = 0; i < px; ++i) blocks[(std::size_t)i] += ws * (share(b, i + px * l + 1) - share(b, i + px * l));
    }
    Buffer gathered((std::size_t)mine_size), every((std::size_t)(ws * n)), slice((std::size_t)(ws * n));
    layers_.exchange(cut.data(), slices_out, gathered.data(), slices_in);
    col_.allgather(gathered.data(), every.data(), blocks);
    f = every.data();
    for (int i = 0; i < px; ++i)
      for (int l = 0; l < c; ++l)
        for (Count s = share(b, i + px * l); s < share(b, i + px * l + 1); ++s, f += ws) std::copy_n(f, ws, slice.data() + s * ws);
    const Count m = alive_after_[(std::size_t)k];
    if (ws > 0) gemm('N', 'N', m, n, ws, -1.0, col(local_tile(k)) + g_.slice(w, l_) * ml_, std::max<Count>(ml_, 1), slice.data(), ws, 1.0, b.rows.data(), std::max<Count>(ml_, 1));
  }
}

// U x = y, from the last tile: what the tiles behind it contribute is summed along its home row, and goes to those that share the tile.
void LU::solve_u(Block &b) const
{
  const int   px = g_.px, c = g_.layers, my_share = i_ + px * l_;
  const Count n = b.n, cols = share(b, my_share + 1) - share(b, my_share), K = g_.tiles();
  const Count ur = K ? u_rows(K - 1) : 0;
  b.upper = Buffer((std::size_t)(ur * n));
  b.upper.fill(0);
  for (Count k = K - 1; k >= 0; --k) {
    const Count w = g_.width(k), ws = wl(w, l_);
    const int   q = (int)(k % g_.py), home = g_.home_row(k);
    Scalar     *y = b.tiles.data() + local_tile(k) * g_.tile;
    Buffer      sums;
    if (k + 1 < K && i_ == home) {
      std::vector<Count> out((std::size_t)g_.py, 0), in((std::size_t)g_.py, mine(k) ? ws * n : 0);
      out[(std::size_t)q] = ws * n;
      Buffer send((std::size_t)(ws * n)), parts(mine(k) ? (std::size_t)(ws * n * g_.py) : 0);
      for (Count s = 0; s < n; ++s) std::copy_n(b.upper.data() + u_rows(k) + s * ur, ws, send.data() + s * ws);
      row_.exchange(send.data(), out, parts.data(), in);
      if (mine(k))
        for (int p = 1; p < g_.py; ++p)
          for (Count e = 0; e < ws * n; ++e) parts[(std::size_t)e] += parts[(std::size_t)(e + p * ws * n)];
      sums = std::move(parts);
    }
    if (!mine(k)) continue;
    if (k + 1 < K) {
      std::vector<Count> out((std::size_t)col_plane_.size(), 0), in((std::size_t)col_plane_.size(), 0);
      if (i_ == home)
        for (int s = 0; s < col_plane_.size(); ++s) out[(std::size_t)s] = ws * (share(b, s + 1) - share(b, s));
      for (int l = 0; l < c; ++l) in[(std::size_t)(home + px * l)] = wl(w, l) * cols;
      Buffer recv((std::size_t)(w * cols));
      col_plane_.exchange(sums.data(), out, recv.data(), in);
      const Scalar *f = recv.data();
      for (int l = 0; l < c; ++l)
        for (Count s = 0; s < cols; ++s)
          for (Count r = g_.slice(w, l); r < g_.slice(w, l + 1); ++r) y[r + s * nl_] -= *f++;
    }
    trsm('L', 'U', 'N', 'N', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
    if (k == 0) break;
    Buffer             x((std::size_t)(w * n)), own((std::size_t)(w * cols));
    std::vector<Count> counts((std::size_t)col_plane_.size());
    for (int s = 0; s < col_plane_.size(); ++s) counts[(std::size_t)s] = w * (share(b, s + 1) - share(b, s));
    for (Count s = 0; s < cols; ++s) std::copy_n(y + s * nl_, w, own.data() + s * w);
    col_plane_.allgather(own.data(), x.data(), counts);
    const Count above = u_rows(k);
    if (above > 0) gemm('N', 'N', above, n, w, 1.0, u_[(std::size_t)local_tile(k)].data(), above, x.data(), w, 1.0, b.upper.data(), ur);
  }
}

// U^T y = b: a tile's column of U is multiplied with what is known on the processes that have its rows, summed over the grid column.
void LU::solve_ut(Block &b, char op) const
{
  const int   px = g_.px, c = g_.layers, my_share = i_ + px * l_;
  const Count n = b.n, cols = share(b, my_share + 1) - share(b, my_share), K = g_.tiles();
  const Count ur = K ? u_rows(K - 1) : 0;
  b.upper = Buffer((std::size_t)(ur * n));
  for (Count k = 0; k < K; ++k) {
    const Count w = g_.width(k), ws = wl(w, l_);
    const int   q = (int)(k % g_.py), home = g_.home_row(k);
    Scalar     *y = b.tiles.data() + local_tile(k) * g_.tile;
    Buffer      slice;
    if (mine(k)) {
      if (k > 0) {
        const Count        above = u_rows(k);
        Buffer             part((std::size_t)(w * n)), recv((std::size_t)(w * cols * col_plane_.size()));
        std::vector<Count> out((std::size_t)col_plane_.size()), in((std::size_t)col_plane_.size(), w * cols);
        for (int s = 0; s < col_plane_.size(); ++s) out[(std::size_t)s] = w * (share(b, s + 1) - share(b, s));
        if (above > 0) gemm(op, 'N', w, n, above, 1.0, u_[(std::size_t)local_tile(k)].data(), above, b.upper.data(), ur, 0.0, part.data(), w);
        else part.fill(0);
        col_plane_.exchange(part.data(), out, recv.data(), in);
        for (int s = 0; s < col_plane_.size(); ++s)
          for (Count e = 0; e < cols; ++e)
            for (Count r = 0; r < w; ++r) y[r + e * nl_] -= recv[(std::size_t)(r + e * w + s * w * cols)];
      }
      trsm('L', 'U', op, 'N', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
      if (k + 1 == K) continue;
      std::vector<Count> out((std::size_t)col_plane_.size(), 0), in((std::size_t)col_plane_.size(), 0);
      for (int l = 0; l < c; ++l) out[(std::size_t)(home + px * l)] = wl(w, l) * cols;
      if (i_ == home)
        for (int s = 0; s < col_plane_.size(); ++s) in[(std::size_t)s] = ws * (share(b, s + 1) - share(b, s));
      Buffer  cut((std::size_t)(w * cols));
      Scalar *z = cut.data();
      for (int l = 0; l < c; ++l)
        for (Count s = 0; s < cols; ++s) z = std::copy_n(y + g_.slice(w, l) + s * nl_, wl(w, l), z);
      slice = Buffer(i_ == home ? (std::size_t)(ws * n) : 0);
      col_plane_.exchange(cut.data(), out, slice.data(), in);
    }
    if (k + 1 < K && i_ == home) {
      if (!mine(k)) slice = Buffer((std::size_t)(ws * n));
      row_.bcast(slice.data(), ws * n, q);
      for (Count s = 0; s < n; ++s) std::copy_n(slice.data() + s * ws, ws, b.upper.data() + u_rows(k) + s * ur);
    }
  }
}

// L^T z = y, from the last tile. All processes of a grid row get its rows of z.
void LU::solve_lt(Block &b, char op) const
{
  const int   px = g_.px, c = g_.layers, my_share = i_ + px * l_;
  const Count n = b.n, cols = share(b, my_share + 1) - share(b, my_share), K = g_.tiles();
  b.rows = Buffer((std::size_t)(ml_ * n));
  const auto layer_cols = [&](int l) { return share(b, px * (l + 1)) - share(b, px * l); };
  for (Count k = K - 1; k >= 0; --k) {
    const Count              w = g_.width(k), ws = wl(w, l_);
    const int                q = (int)(k % g_.py);
    const std::vector<Count> at = here(k);
    const Count              h = (Count)at.size();
    Buffer                   own;
    if (mine(k)) {
      Scalar *y = b.tiles.data() + local_tile(k) * g_.tile;
      if (k + 1 < K) {
        const Count        m = alive_after_[(std::size_t)k];
        Buffer             part((std::size_t)(ws * n)), recv((std::size_t)(w * cols * px));
        std::vector<Count> out((std::size_t)col_plane_.size()), in((std::size_t)col_plane_.size());
        for (int l = 0; l < c; ++l)
          for (int i = 0; i < px; ++i) {
            const int s            = i + px * l;
            out[(std::size_t)s]    = ws * (share(b, s + 1) - share(b, s));
            in[(std::size_t)s]     = wl(w, l) * cols;
          }
        if (m > 0 && ws > 0) gemm(op, 'N', ws, n, m, 1.0, col(local_tile(k)) + g_.slice(w, l_) * ml_, ml_, b.rows.data(), ml_, 0.0, part.data(), ws);
        else part.fill(0);
        col_plane_.exchange(part.data(), out, recv.data(), in);
        const Scalar *f = recv.data();
        for (int l = 0; l < c; ++l)
          for (int i = 0; i < px; ++i)
            for (Count s = 0; s < cols; ++s)
              for (Count r = g_.slice(w, l); r < g_.slice(w, l + 1); ++r) y[r + s * nl_] -= *f++;
      }
      trsm('L', 'L', op, 'U', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
      // rows to their grid rows
      std::vector<std::vector<Count>> order((std::size_t)px);
      for (Count s = 0; s < w; ++s) order[(std::size_t)(pivots_[(std::size_t)(k * g_.tile + s)] % px)].push_back(s);
      std::vector<Count> to((std::size_t)px), from((std::size_t)px);
      Buffer             cut((std::size_t)(w * cols));
      Scalar            *z = cut.data();
      for (int i = 0; i < px; ++i) {
        to[(std::size_t)i]   = (Count)order[(std::size_t)i].size() * cols;
        from[(std::size_t)i] = h * (share(b, i + px * l_ + 1) - share(b, i + px * l_));
        for (Count s = 0; s < cols; ++s)
          for (Count r : order[(std::size_t)i]) *z++ = y[r + s * nl_];
      }
      own = Buffer((std::size_t)(h * layer_cols(l_)));
      col_.exchange(cut.data(), to, own.data(), from);
    }
    std::vector<Count> counts((std::size_t)row_plane_.size(), 0);
    for (int l = 0; l < c; ++l) counts[(std::size_t)(q + g_.py * l)] = h * layer_cols(l);
    Buffer rows((std::size_t)(h * n));
    row_plane_.allgather(own.data(), rows.data(), counts);
    for (Count s = 0; s < n; ++s)
      for (Count r = 0; r < h; ++r) b.rows[(std::size_t)(position(k, at[(std::size_t)r]) + s * ml_)] = rows[(std::size_t)(r + s * h)];
  }
}

void LU::solve(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  PETSCTT_REQUIRE(factored_, PETSC_ERR_ORDER, "There are no factors to solve with");
  PETSCTT_REQUIRE(op == 'N' || op == 'T' || op == 'C', PETSC_ERR_ARG_OUTOFRANGE, "Solve with op = %c", op);
  ledger_ = Ledger();
  constexpr Count block = 512;
  for (Count first = 0; first < nrhs; first += block) {
    Block r;
    r.n = std::min(block, nrhs - first);
    if (op == 'N') {
      rows_in(r, b + first * ldb, ldb);
      if (active_) {
        solve_l(r);
        solve_u(r);
      }
      tiles_out(r, x + first * ldx, ldx);
    } else {
      tiles_in(r, b + first * ldb, ldb);
      if (active_) {
        solve_ut(r, op);
        solve_lt(r, op);
      }
      rows_out(r, x + first * ldx, ldx);
    }
  }
  traffic_.solve.messages += ledger_.messages;
  traffic_.solve.words += ledger_.words;
  traffic_.solve.received += ledger_.received;
}

} // namespace petsctt::lu
