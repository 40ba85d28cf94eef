#include "lu/block.hpp"

#include <algorithm>

// Solves with few right-hand sides, in which messages and not words take the time: some tiles at a time. One process, the home of the step, has the
// factors of the diagonal block of its tiles. Partial sums go to it along trees, and what it has solved for goes back along trees.
namespace petsctt::lu {

struct LU::Step {
  Count                           number, first, tiles_end, size; // first: pivot; size: rows
  Count                           tile;                           // first tile
  int                             home, i, j, l;                  // of the home
  std::vector<std::vector<Count>> pivots;                         // less `first`, of each grid row
};

LU::Step LU::step(Count number) const
{
  Step s;
  s.number    = number;
  s.tile      = number * step_;
  s.tiles_end = std::min(g_.tiles(), s.tile + step_);
  s.first     = s.tile * g_.tile;
  s.size      = std::min(g_.n, s.tiles_end * g_.tile) - s.first;
  s.home      = home_of_step(number);
  s.i         = g_.row_of(s.home);
  s.j         = g_.col_of(s.home);
  s.l         = g_.layer_of(s.home);
  s.pivots    = pivots_by_row(s.first, s.first + s.size);
  return s;
}

// Entries of the diagonal block of a step outside its diagonal tiles that process p has: calls f(row of the block, column of the block, pivot of the row,
// tile of the column, column of the tile). Of U a layer has rows, of L columns of a tile.
template <class F>
void LU::step_entries(const Step &s, int p, F f) const
{
  const int   i = g_.row_of(p), j = g_.col_of(p), l = g_.layer_of(p);
  const Count tile = g_.tile;
  for (Count k = s.tile; k < s.tiles_end; ++k) {
    if ((int)(k % g_.py) != j) continue;
    const Count w = g_.width(k);
    for (Count c = 0; c < w; ++c)
      for (Count r : s.pivots[(std::size_t)i]) {
        const Count pivot = s.first + r, of = pivot / tile, in = of < k ? pivot - of * tile : c;
        if (of == k) continue;
        const Count width = of < k ? g_.width(of) : w;
        if (in >= g_.slice(width, l) && in < g_.slice(width, l + 1)) f(r, k * tile + c - s.first, pivot, k, c);
      }
  }
}

void LU::make_steps(Count tiles)
{
  step_             = tiles;
  const Count steps = (g_.tiles() + tiles - 1) / tiles;
  steps_.clear();
  steps_.resize((std::size_t)steps);
  for (Count number = 0; number < steps; ++number) {
    const Step s = step(number);
    // diagonal tiles come from the first grid row and layer
    const auto count = [&](int p) {
      Count n = 0;
      step_entries(s, p, [&](Count, Count, Count, Count, Count) { ++n; });
      for (Count k = s.tile; k < s.tiles_end; ++k)
        if ((int)(k % g_.py) == g_.col_of(p) && g_.row_of(p) == 0 && g_.layer_of(p) == 0) n += g_.width(k) * g_.width(k);
      return n;
    };
    const auto pack = [&](Scalar *to) {
      step_entries(s, rank_, [&](Count, Count, Count pivot, Count k, Count c) { *to++ = col(local_tile(k))[position(pivot) + c * ml_]; });
      if (i_ == 0 && l_ == 0)
        for (Count k = s.tile; k < s.tiles_end; ++k)
          if (mine(k)) to = std::copy_n(diagonal_.data() + local_tile(k) * g_.tile * g_.tile, g_.width(k) * g_.width(k), to);
    };
    Buffer here((std::size_t)count(rank_));
    pack(here.data());
    if (rank_ != s.home) {
      world_.send(here.data(), (Count)here.size(), s.home);
      continue;
    }
    Buffer &block = steps_[(std::size_t)number];
    block         = Buffer((std::size_t)(s.size * s.size));
    for (int p = 0; p < g_.active(); ++p) {
      Buffer there((std::size_t)(p == rank_ ? 0 : count(p)));
      if (p != rank_) world_.recv(there.data(), (Count)there.size(), p);
      const Scalar *f = p == rank_ ? here.data() : there.data();
      step_entries(s, p, [&](Count r, Count c, Count, Count, Count) { block[(std::size_t)(r + c * s.size)] = *f++; });
      if (g_.row_of(p) != 0 || g_.layer_of(p) != 0) continue;
      for (Count k = s.tile; k < s.tiles_end; ++k) {
        if ((int)(k % g_.py) != g_.col_of(p)) continue;
        const Count at = k * g_.tile - s.first;
        for (Count c = 0; c < g_.width(k); ++c, f += g_.width(k)) std::copy_n(f, g_.width(k), block.data() + at + (at + c) * s.size);
      }
    }
  }
}

// Partial sums of the rows of the step are added to what its home has; of U those that a layer has in its slices.
void LU::collect_rows(Block &b, const Step &s, bool upper) const
{
  const auto &at = s.pivots[(std::size_t)i_];
  const Count h = (Count)at.size(), n = b.n;
  Buffer      part((std::size_t)(h * n));
  for (Count r = 0; r < h; ++r) {
    const Count pivot = s.first + at[(std::size_t)r], p = position(pivot);
    const bool  own   = !upper || layer_of_pivot(pivot) == l_;
    for (Count c = 0; c < n; ++c) part[(std::size_t)(r + c * h)] = own ? b.rows[(std::size_t)(p + c * ml_)] : (Scalar)0;
  }
  row_plane_.sum_to(part.data(), h * n, s.j + g_.py * s.l);
  if (j_ != s.j || l_ != s.l) return;
  if (i_ != s.i) {
    col_.send(part.data(), h * n, s.i);
    return;
  }
  Scalar *y = b.steps[(std::size_t)s.number].data();
  for (int i = 0; i < g_.px; ++i) {
    const auto &rows = s.pivots[(std::size_t)i];
    Buffer      theirs(i == i_ ? 0 : rows.size() * (std::size_t)n);
    if (i != i_) col_.recv(theirs.data(), (Count)theirs.size(), i);
    const Scalar *f = i == i_ ? part.data() : theirs.data();
    for (Count c = 0; c < n; ++c)
      for (Count r : rows) y[r + c * s.size] += *f++;
  }
}

// What the home has solved for goes along its grid row, of which each process passes on to its grid column what the columns there need, and is subtracted.
void LU::spread_columns(Block &b, const Step &s, bool upper) const
{
  const Count         n = b.n;
  std::vector<Count>  tiles;
  Count               total = 0;
  const auto          range = [&](Count k) { return upper ? std::make_pair((Count)0, g_.width(k)) : std::make_pair(g_.slice(g_.width(k), l_), g_.slice(g_.width(k), l_ + 1)); };
  for (Count k = s.tile; k < s.tiles_end; ++k)
    if (mine(k)) {
      tiles.push_back(k);
      total += range(k).second - range(k).first;
    }
  Buffer piece((std::size_t)(total * n));
  if (i_ == s.i) {
    Buffer y = rank_ == s.home ? b.steps[(std::size_t)s.number] : Buffer((std::size_t)(s.size * n));
    row_plane_.bcast(y.data(), s.size * n, s.j + g_.py * s.l);
    Scalar *to = piece.data();
    for (Count k : tiles)
      for (Count c = 0; c < n; ++c) {
        const auto r = range(k);
        to           = std::copy_n(y.data() + k * g_.tile - s.first + r.first + c * s.size, r.second - r.first, to);
      }
  }
  col_.bcast(piece.data(), total * n, s.i);
  const Count   first = upper ? top(s.tile) : 0, last = upper ? ml_ : alive_after_[(std::size_t)(s.tiles_end - 1)];
  const Scalar *f     = piece.data();
  for (Count k : tiles) {
    const auto  r = range(k);
    const Count w = r.second - r.first;
    if (w > 0 && last > first)
      gemm('N', 'N', last - first, n, w, -1.0, col(local_tile(k)) + first + r.first * ml_, ml_, f, w, 1.0, b.rows.data() + first, ml_);
    f += w * n;
  }
}

// Transposed solves: what the columns of the step make of the rows that are known is summed over the grid columns, and subtracted from what the home has.
void LU::collect_columns(Block &b, const Step &s, char op, bool upper) const
{
  const Count n    = b.n, first = upper ? top(s.tile) : 0, last = upper ? ml_ : alive_after_[(std::size_t)(s.tiles_end - 1)];
  const auto  rows = [&](int j) { // of the tiles of grid column j
    Count w = 0;
    for (Count k = s.tile; k < s.tiles_end; ++k)
      if ((int)(k % g_.py) == j) w += g_.width(k);
    return w;
  };
  const Count ld = rows(j_);
  Buffer      part((std::size_t)(ld * n));
  part.fill(0);
  Count at = 0;
  for (Count k = s.tile; k < s.tiles_end; ++k) {
    if (!mine(k)) continue;
    const Count w = g_.width(k), r = upper ? 0 : g_.slice(w, l_), m = upper ? w : wl(w, l_);
    if (m > 0 && last > first)
      gemm(op, 'N', m, n, last - first, 1.0, col(local_tile(k)) + first + r * ml_, ml_, b.rows.data() + first, ml_, 0.0, part.data() + at + r, ld);
    at += w;
  }
  col_plane_.sum_to(part.data(), ld * n, s.i + g_.px * s.l);
  if (i_ != s.i || l_ != s.l) return;
  if (j_ != s.j) {
    row_.send(part.data(), ld * n, s.j);
    return;
  }
  Scalar *y = b.steps[(std::size_t)s.number].data();
  for (int j = 0; j < g_.py; ++j) {
    const Count m = rows(j);
    Buffer      theirs((std::size_t)(j == j_ ? 0 : m * n));
    if (j != j_) row_.recv(theirs.data(), m * n, j);
    const Scalar *f = j == j_ ? part.data() : theirs.data();
    for (Count c = 0; c < n; ++c)
      for (Count k = s.tile; k < s.tiles_end; ++k)
        if ((int)(k % g_.py) == j)
          for (Count r = 0; r < g_.width(k); ++r) y[k * g_.tile - s.first + r + c * s.size] -= *f++;
  }
}

// What the home has solved for goes along its grid column, of which each process passes on to its grid row the rows of the pivots there; of U, a layer
// takes those in its slices.
void LU::spread_rows(Block &b, const Step &s, bool upper) const
{
  const auto &at = s.pivots[(std::size_t)i_];
  const Count h = (Count)at.size(), n = b.n;
  Buffer      rows((std::size_t)(h * n));
  if (j_ == s.j && l_ == s.l) {
    Buffer y = rank_ == s.home ? b.steps[(std::size_t)s.number] : Buffer((std::size_t)(s.size * n));
    col_.bcast(y.data(), s.size * n, s.i);
    for (Count c = 0; c < n; ++c)
      for (Count r = 0; r < h; ++r) rows[(std::size_t)(r + c * h)] = y[(std::size_t)(at[(std::size_t)r] + c * s.size)];
  }
  row_plane_.bcast(rows.data(), h * n, s.j + g_.py * s.l);
  for (Count r = 0; r < h; ++r) {
    const Count pivot = s.first + at[(std::size_t)r], p = position(pivot);
    const bool  own   = !upper || layer_of_pivot(pivot) == l_;
    for (Count c = 0; c < n; ++c) b.rows[(std::size_t)(p + c * ml_)] = own ? rows[(std::size_t)(r + c * h)] : (Scalar)0;
  }
}

void LU::solve_step(Block &b, const Step &s, char uplo, char op) const
{
  if (rank_ == s.home) trsm('L', uplo, op, uplo == 'L' ? 'U' : 'N', s.size, b.n, 1.0, steps_[(std::size_t)s.number].data(), s.size, b.steps[(std::size_t)s.number].data(), s.size);
}

void LU::wide_solve(Block &b) const
{
  const Count steps = (Count)steps_.size();
  for (Count k = 0; k < steps; ++k) {
    const Step s = step(k);
    collect_rows(b, s, false);
    solve_step(b, s, 'L', 'N');
    if (k + 1 < steps) spread_columns(b, s, false);
  }
  b.rows.fill(0);
  for (Count k = steps - 1; k >= 0; --k) {
    const Step s = step(k);
    if (k + 1 < steps) collect_rows(b, s, true);
    solve_step(b, s, 'U', 'N');
    if (k > 0) spread_columns(b, s, true);
  }
}

void LU::wide_solve_transposed(Block &b, char op) const
{
  const Count steps = (Count)steps_.size();
  for (Count k = 0; k < steps; ++k) {
    const Step s = step(k);
    if (k > 0) collect_columns(b, s, op, true);
    solve_step(b, s, 'U', op);
    if (k + 1 < steps) spread_rows(b, s, true);
  }
  for (Count k = steps - 1; k >= 0; --k) {
    const Step s = step(k);
    if (k + 1 < steps) collect_columns(b, s, op, false);
    solve_step(b, s, 'L', op);
    spread_rows(b, s, false);
  }
}

// Memory for what the homes of steps have of right-hand sides
void LU::make_room(Block &b) const
{
  b.steps.resize(steps_.size());
  for (std::size_t k = 0; k < steps_.size(); ++k) {
    if (steps_[k].size() == 0) continue;
    b.steps[k] = Buffer((std::size_t)(step((Count)k).size * b.n));
    b.steps[k].fill(0);
  }
}

} // namespace petsctt::lu
