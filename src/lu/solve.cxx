#include "base/error.hpp"
#include "lu/block.hpp"

#include <algorithm>
#include <cmath>

// Solves with the factors where they are, tile by tile: what moves are right-hand sides. With c layers that work together, n right-hand sides take
// N n (1 + 1/c) (1/px + 1/py) words per process; see plan_solve.cxx.
namespace petsctt::lu {

LU::Block LU::block(Way way, Count n) const
{
  Block b;
  b.apart     = way == Way::apart;
  b.all       = n;
  b.px        = g_.px;
  b.layers    = g_.layers;
  b.active    = g_.active();
  b.c         = b.apart ? 1 : g_.layers;
  b.l         = b.apart ? 0 : l_;
  b.n         = b.n_of(l_);
  b.row_plane = b.apart ? &row_ : &row_plane_;
  b.col_plane = b.apart ? &col_ : &col_plane_;
  return b;
}

std::vector<std::vector<Count>> LU::pivots_by_row(Count first, Count last) const
{
  std::vector<std::vector<Count>> rows((std::size_t)g_.px);
  for (Count s = first; s < last; ++s) rows[(std::size_t)(pivots_[(std::size_t)s] % g_.px)].push_back(s - first);
  return rows;
}

int LU::layer_of_pivot(Count pivot) const
{
  const Count k = pivot / g_.tile, w = g_.width(k), r = pivot - k * g_.tile;
  int         l = (int)(r * g_.layers / w);
  while (r < g_.slice(w, l)) --l;
  while (r >= g_.slice(w, l + 1)) ++l;
  return l;
}

// Rows of A: each is with one process of those that work together, whose number among them is the row's modulo theirs: it is in the row's grid row.
template <class F>
void LU::row_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const
{
  const Count  begin = starts[(std::size_t)owner], together = (Count)g_.px * g_.py * b.c;
  const Stride r     = stride(begin, starts[(std::size_t)owner + 1], worker % together, together);
  Piece        p;
  p.rows    = 1;
  p.column  = b.first_of(g_.layer_of(worker));
  p.columns = b.n_of(g_.layer_of(worker));
  p.ld      = ml_;
  for (Count e = 0; e < r.count; ++e) {
    const Count row = r.first + e * together;
    p.row           = row - begin;
    if (worker == rank_) p.at = b.rows.data() + where_[(std::size_t)(row / g_.px)];
    f(p);
  }
}

// Columns of A: rows of the tiles of the worker's grid column, its share of the right-hand sides.
template <class F>
void LU::tile_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const
{
  const Count begin = starts[(std::size_t)owner], end = starts[(std::size_t)owner + 1], n = b.n_of(g_.layer_of(worker));
  const int   j = g_.col_of(worker), shares = g_.px * b.c, share = g_.row_of(worker) + g_.px * (b.apart ? 0 : g_.layer_of(worker));
  Piece       p;
  p.column  = n * share / shares;
  p.columns = n * (share + 1) / shares - p.column;
  p.column += b.first_of(g_.layer_of(worker));
  p.ld = nl_;
  for (Count k = begin / g_.tile; k * g_.tile < end; ++k) {
    if ((int)(k % g_.py) != j) continue;
    const Count first = std::max(begin, k * g_.tile);
    p.rows            = std::min(end, (k + 1) * g_.tile) - first;
    p.row             = first - begin;
    if (worker == rank_) p.at = b.tiles.data() + k / g_.py * g_.tile + first - k * g_.tile;
    if (p.rows > 0) f(p);
  }
}

// Sums of the rows of tile k over the processes of their grid rows, and with `sliced` over those of the layer only that has the row in its slice: first to
// the grid column of the tile, each layer some of the columns; then within the layer, all rows of the tile, each grid row its share of the columns.
// Returns tile x share on the processes of the grid column.
Buffer LU::collect_rows(const Block &b, Count k, bool sliced) const
{
  const int          px = g_.px, py = g_.py, q = (int)(k % py);
  const Count        w = g_.width(k), first = k * g_.tile;
  const auto         order = pivots_by_row(first, first + w);
  const auto        &at    = order[(std::size_t)i_];
  const Count        h     = (Count)at.size();
  const auto         begin = [&](int l) { return sliced ? (Count)(std::lower_bound(at.begin(), at.end(), b.slice(w, l)) - at.begin()) : 0; };
  const auto         rows  = [&](int l) { return sliced ? begin(l + 1) - begin(l) : h; };
  const Count        mine_rows = rows(b.l), block = b.columns(b.l), cols = b.my_columns(i_);
  std::vector<Count> out((std::size_t)(py * b.c), 0), in((std::size_t)(py * b.c), 0);
  for (int l = 0; l < b.c; ++l) {
    out[(std::size_t)(q + py * l)] = mine_rows * b.columns(l);
    for (int j = 0; mine(k) && j < py; ++j) in[(std::size_t)(j + py * l)] = rows(l) * block;
  }
  Count total = 0;
  for (Count n : in) total += n;
  Buffer send((std::size_t)(mine_rows * b.n)), parts((std::size_t)total);
  for (Count s = 0; s < b.n; ++s)
    for (Count r = 0; r < mine_rows; ++r)
      send[(std::size_t)(r + s * mine_rows)] = b.rows[(std::size_t)(position(first + at[(std::size_t)(begin(b.l) + r)]) + s * ml_)];
  b.row_plane->exchange(send.data(), out, parts.data(), in);
  if (!mine(k)) return Buffer();
  Buffer sums((std::size_t)(h * block)), all((std::size_t)(w * cols)), y((std::size_t)(w * cols));
  sums.fill(0);
  const Scalar *f = parts.data();
  for (int l = 0; l < b.c; ++l)
    for (int j = 0; j < py; ++j)
      for (Count s = 0; s < block; ++s)
        for (Count r = begin(l); r < begin(l) + rows(l); ++r) sums[(std::size_t)(r + s * h)] += *f++;
  std::vector<Count> to((std::size_t)px), from((std::size_t)px);
  for (int i = 0; i < px; ++i) {
    to[(std::size_t)i]   = h * b.my_columns(i);
    from[(std::size_t)i] = (Count)order[(std::size_t)i].size() * cols;
  }
  col_.exchange(sums.data(), to, all.data(), from);
  f = all.data();
  for (int i = 0; i < px; ++i)
    for (Count s = 0; s < cols; ++s)
      for (Count r : order[(std::size_t)i]) y[(std::size_t)(r + s * w)] = *f++;
  return y;
}

// The other way round: rows of tile k, shared by the processes of its grid column, to all processes of the grid rows of their pivots; with `sliced`
// to those only of the layer that has the row in its slice.
void LU::spread_rows(Block &b, Count k, bool sliced) const
{
  const int          px = g_.px, q = (int)(k % g_.py), c = sliced ? b.c : 1;
  const Count        w = g_.width(k), first = k * g_.tile, cols = b.my_columns(i_);
  const auto         order = pivots_by_row(first, first + w);
  const auto        &at    = order[(std::size_t)i_];
  const auto         range = [&](const std::vector<Count> &a, int l) { // of the rows of layer l
    if (!sliced) return std::make_pair(a.begin(), a.end());
    return std::make_pair(std::lower_bound(a.begin(), a.end(), b.slice(w, l)), std::lower_bound(a.begin(), a.end(), b.slice(w, l + 1)));
  };
  const auto  mine_range = range(at, b.l);
  const Count h          = (Count)(mine_range.second - mine_range.first);
  Buffer      own, rows((std::size_t)(h * b.n));
  if (mine(k)) {
    const Scalar      *y = b.tiles.data() + local_tile(k) * g_.tile;
    std::vector<Count> to((std::size_t)(px * c)), from((std::size_t)(px * c));
    Buffer             cut((std::size_t)(w * cols));
    Scalar            *z = cut.data();
    Count              total = 0;
    for (int l = 0; l < c; ++l)
      for (int i = 0; i < px; ++i) {
        const auto  r = range(order[(std::size_t)i], l);
        const Count s = i + px * l;
        to[(std::size_t)s]   = (Count)(r.second - r.first) * cols;
        from[(std::size_t)s] = h * (sliced ? b.columns(i, l) : b.my_columns(i));
        total += from[(std::size_t)s];
        for (Count e = 0; e < cols; ++e)
          for (auto a = r.first; a != r.second; ++a) *z++ = y[*a + e * nl_];
      }
    own = Buffer((std::size_t)total);
    (sliced ? *b.col_plane : col_).exchange(cut.data(), to, own.data(), from);
  }
  if (sliced) {
    if (mine(k)) rows = std::move(own);
    row_.bcast(rows.data(), h * b.n, q);
  } else {
    std::vector<Count> counts((std::size_t)(g_.py * b.c), 0);
    for (int l = 0; l < b.c; ++l) counts[(std::size_t)(q + g_.py * l)] = h * b.columns(l);
    b.row_plane->allgather(own.data(), rows.data(), counts);
  }
  for (Count s = 0; s < b.n; ++s)
    for (Count r = 0; r < h; ++r) b.rows[(std::size_t)(position(first + mine_range.first[r]) + s * ml_)] = rows[(std::size_t)(r + s * h)];
}

// L y = P b, tile by tile: its rows are collected, solved for, and go by slices to those that have columns of L of the tile, which subtract what they
// contribute to the rows that are left.
void LU::solve_l(Block &b) const
{
  const int   px = g_.px, c = b.c;
  const Count n = b.n, cols = b.my_columns(i_);
  for (Count k = 0; k < g_.tiles(); ++k) {
    const Count w = g_.width(k), ws = b.wl(w, b.l);
    Buffer      y = collect_rows(b, k, false);
    if (!mine(k)) continue;
    trsm('L', 'L', 'N', 'U', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y.data(), w);
    for (Count s = 0; s < cols; ++s) std::copy_n(y.data() + s * w, w, b.tiles.data() + local_tile(k) * g_.tile + s * nl_);
    if (k + 1 == g_.tiles()) continue;
    // slices: over the layers, then over the grid rows
    std::vector<Count> slices_out((std::size_t)c), slices_in((std::size_t)c), blocks((std::size_t)px, 0);
    Buffer             cut((std::size_t)(w * cols));
    Scalar            *z = cut.data();
    Count              mine_size = 0;
    for (int l = 0; l < c; ++l) {
      slices_out[(std::size_t)l] = b.wl(w, l) * cols;
      slices_in[(std::size_t)l]  = ws * b.columns(i_, l);
      mine_size += slices_in[(std::size_t)l];
      for (Count s = 0; s < cols; ++s) z = std::copy_n(y.data() + b.slice(w, l) + s * w, b.wl(w, l), z);
      for (int i = 0; i < px; ++i) blocks[(std::size_t)i] += ws * b.columns(i, l);
    }
    Buffer gathered((std::size_t)mine_size), every((std::size_t)(ws * n)), slice((std::size_t)(ws * n));
    if (c == 1) gathered = std::move(cut);
    else layers_.exchange(cut.data(), slices_out, gathered.data(), slices_in);
    col_.allgather(gathered.data(), every.data(), blocks);
    const Scalar *f = every.data();
    for (int i = 0; i < px; ++i)
      for (int l = 0; l < c; ++l)
        for (Count s = b.share(i + px * l); s < b.share(i + px * l + 1); ++s, f += ws) std::copy_n(f, ws, slice.data() + s * ws);
    const Count m = alive_after_[(std::size_t)k];
    if (ws > 0) gemm('N', 'N', m, n, ws, -1.0, col(local_tile(k)) + b.slice(w, b.l) * ml_, std::max<Count>(ml_, 1), slice.data(), ws, 1.0, b.rows.data(), std::max<Count>(ml_, 1));
  }
}

// U x = y, from the last tile: what the tiles behind it contribute is collected. The rows of x of a tile go to all processes of its grid column.
void LU::solve_u(Block &b) const
{
  const Count n = b.n, cols = b.my_columns(i_), K = g_.tiles();
  b.rows.fill(0);
  for (Count k = K - 1; k >= 0; --k) {
    const Count w = g_.width(k);
    Scalar     *y = b.tiles.data() + local_tile(k) * g_.tile;
    if (k + 1 < K) {
      const Buffer sums = collect_rows(b, k, true);
      if (mine(k))
        for (Count s = 0; s < cols; ++s)
          for (Count r = 0; r < w; ++r) y[r + s * nl_] += sums[(std::size_t)(r + s * w)];
    }
    if (!mine(k)) continue;
    trsm('L', 'U', 'N', 'N', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
    if (k == 0) break;
    Buffer             x((std::size_t)(w * n)), own((std::size_t)(w * cols));
    std::vector<Count> counts((std::size_t)(g_.px * b.c));
    for (int s = 0; s < g_.px * b.c; ++s) counts[(std::size_t)s] = w * (b.share(s + 1) - b.share(s));
    for (Count s = 0; s < cols; ++s) std::copy_n(y + s * nl_, w, own.data() + s * w);
    b.col_plane->allgather(own.data(), x.data(), counts);
    const Count above = ml_ - top(k);
    if (above > 0) gemm('N', 'N', above, n, w, -1.0, col(local_tile(k)) + top(k), ml_, x.data(), w, 1.0, b.rows.data() + top(k), ml_);
  }
}

// U^T y = b: a tile's column of U is multiplied with what is known on the processes that have its rows, summed over the grid column.
void LU::solve_ut(Block &b, char op) const
{
  const Count n = b.n, cols = b.my_columns(i_), K = g_.tiles();
  const int   shares = g_.px * b.c;
  b.rows.fill(0); // other layers' rows of U, which are zero here, are multiplied with it
  for (Count k = 0; k < K; ++k) {
    const Count w = g_.width(k);
    Scalar     *y = b.tiles.data() + local_tile(k) * g_.tile;
    if (mine(k)) {
      if (k > 0) {
        const Count        above = ml_ - top(k);
        Buffer             part((std::size_t)(w * n)), recv((std::size_t)(w * cols * shares));
        std::vector<Count> out((std::size_t)shares), in((std::size_t)shares, w * cols);
        for (int s = 0; s < shares; ++s) out[(std::size_t)s] = w * (b.share(s + 1) - b.share(s));
        if (above > 0) gemm(op, 'N', w, n, above, 1.0, col(local_tile(k)) + top(k), ml_, b.rows.data() + top(k), ml_, 0.0, part.data(), w);
        else part.fill(0);
        b.col_plane->exchange(part.data(), out, recv.data(), in);
        const Scalar *f = recv.data();
        for (int s = 0; s < shares; ++s)
          for (Count e = 0; e < cols; ++e)
            for (Count r = 0; r < w; ++r) y[r + e * nl_] -= *f++;
      }
      trsm('L', 'U', op, 'N', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
    }
    if (k + 1 < K) spread_rows(b, k, true);
  }
}

// L^T z = y, from the last tile. All processes of a grid row get its rows of z.
void LU::solve_lt(Block &b, char op) const
{
  const int   px = g_.px, c = b.c;
  const Count n = b.n, cols = b.my_columns(i_), K = g_.tiles();
  for (Count k = K - 1; k >= 0; --k) {
    const Count w = g_.width(k), ws = b.wl(w, b.l);
    if (mine(k)) {
      Scalar *y = b.tiles.data() + local_tile(k) * g_.tile;
      if (k + 1 < K) {
        const Count        m = alive_after_[(std::size_t)k];
        Buffer             part((std::size_t)(ws * n)), recv((std::size_t)(w * cols * px));
        std::vector<Count> out((std::size_t)(px * c)), in((std::size_t)(px * c));
        for (int l = 0; l < c; ++l)
          for (int i = 0; i < px; ++i) {
            out[(std::size_t)(i + px * l)] = ws * b.columns(i, l);
            in[(std::size_t)(i + px * l)]  = b.wl(w, l) * cols;
          }
        if (m > 0 && ws > 0) gemm(op, 'N', ws, n, m, 1.0, col(local_tile(k)) + b.slice(w, b.l) * ml_, ml_, b.rows.data(), ml_, 0.0, part.data(), ws);
        else part.fill(0);
        b.col_plane->exchange(part.data(), out, recv.data(), in);
        const Scalar *f = recv.data();
        for (int l = 0; l < c; ++l)
          for (int i = 0; i < px; ++i)
            for (Count s = 0; s < cols; ++s)
              for (Count r = b.slice(w, l); r < b.slice(w, l + 1); ++r) y[r + s * nl_] -= *f++;
      }
      trsm('L', 'L', op, 'U', w, cols, 1.0, diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w, y, std::max<Count>(nl_, 1));
    }
    spread_rows(b, k, false);
  }
}

// L and U to all layers: of each tile column, slices of the columns of L, and rows of U by the slices that they are in.
void LU::complete_layers()
{
  const int        c = g_.layers;
  std::vector<int> layer_at((std::size_t)ml_, 0);
  for (Count s = 0; s < g_.n; ++s)
    if ((int)(pivots_[(std::size_t)s] % g_.px) == i_) layer_at[(std::size_t)position(s)] = layer_of_pivot(s);
  for (Count t = 0; t < g_.local_tiles(j_); ++t) {
    const Count                     k = j_ + t * g_.py, w = g_.width(k), m = alive_after_[(std::size_t)k];
    std::vector<std::vector<Count>> rows((std::size_t)c);
    std::vector<Count>              counts;
    Count                           total = 0;
    for (Count p = top(k); p < ml_; ++p) rows[(std::size_t)layer_at[(std::size_t)p]].push_back(p);
    for (int l = 0; l < c; ++l) {
      counts.push_back(m * wl(w, l) + (Count)rows[(std::size_t)l].size() * w);
      total += counts.back();
    }
    Buffer  own((std::size_t)counts[(std::size_t)l_]), all((std::size_t)total);
    Scalar *to = own.data();
    for (Count s = g_.slice(w, l_); s < g_.slice(w, l_ + 1); ++s) to = std::copy_n(col(t) + s * ml_, m, to);
    for (Count s = 0; s < w; ++s)
      for (Count p : rows[(std::size_t)l_]) *to++ = col(t)[p + s * ml_];
    layers_.allgather(own.data(), all.data(), counts);
    const Scalar *f = all.data();
    for (int l = 0; l < c; ++l) {
      for (Count s = g_.slice(w, l); s < g_.slice(w, l + 1); ++s, f += m) std::copy_n(f, m, col(t) + s * ml_);
      for (Count s = 0; s < w; ++s)
        for (Count p : rows[(std::size_t)l]) col(t)[p + s * ml_] = *f++;
    }
    largest_ = std::max(largest_, (double)(a_.size() + diagonal_.size() + own.size() + all.size()));
  }
}

void LU::limit_memory(double words)
{
  memory_  = words;
  planned_ = -1;
}

void LU::solve_by(const Schedule &s)
{
  PETSCTT_REQUIRE(s.step >= 1, PETSC_ERR_ARG_OUTOFRANGE, "Steps of %lld tiles", (long long)s.step);
  asked_ = s;
}

// What comes here and what is sent of it; partial sums and tiles, or whole columns and panels of the factors; and what is sent of these.
double LU::solve_words(Count nrhs) const
{
  Count most = 0;
  for (int p = 0; p < size_; ++p)
    most = std::max({most, starts_[(std::size_t)p + 1] - starts_[(std::size_t)p], column_starts_[(std::size_t)p + 1] - column_starts_[(std::size_t)p]});
  const Schedule s = schedule(nrhs);
  const Way      way = s.way;
  const double   N = (double)g_.n, n = (double)std::min(nrhs, solve_block(g_, way)), sent = n * (double)most;
  if (way == Way::columns) return sent + 2 * N * std::ceil(n / g_.active()) + 3 * N * (double)g_.tile + scratch;
  const double first = way == Way::wide && step_ != s.step ? predict_preparation(g_, s).memory : 0;
  return 2 * sent + 4 * N / std::min(g_.px, g_.py) * std::ceil(way == Way::apart ? n / g_.layers : n) + first + scratch;
}

const SolvePlan &LU::plan(Count nrhs) const
{
  if (planned_ != nrhs) plan_ = plan_solve(g_, nrhs, memory_);
  planned_ = nrhs;
  return plan_;
}

Schedule LU::schedule(Count nrhs) const
{
  if (asked_) return *asked_;
  const SolvePlan &p = plan(nrhs);
  if (p.saved > 0 && (complete_ || credit_ + p.saved >= p.once)) return {Way::apart, 1};
  Schedule s = p.schedule;
  if (s.way == Way::wide && step_ > 0) s.step = step_; // which is there already
  return s;
}

void LU::solve(char op, Count nrhs, const Scalar *x, Count ldx, Scalar *y, Count ldy)
{
  PETSCTT_REQUIRE(factored_, PETSC_ERR_ORDER, "There are no factors to solve with");
  PETSCTT_REQUIRE(op == 'N' || op == 'T' || op == 'C', PETSC_ERR_ARG_OUTOFRANGE, "Solve with op = %c", op);
  const Schedule s = schedule(nrhs);
  if (!asked_) credit_ += plan(nrhs).saved;
  const auto add = [&](Ledger &to, const Prediction &p) {
    to.messages += ledger_.messages;
    to.words += ledger_.words;
    to.received += ledger_.received;
    traffic_.words += p.words;
    traffic_.messages += p.messages;
  };
  ledger_ = Ledger();
  if ((s.way == Way::apart && !complete_) || (s.way == Way::wide && step_ != s.step)) {
    if (active_) {
      if (s.way == Way::apart) complete_layers();
      else make_steps(s.step);
    }
    if (s.way == Way::apart) complete_ = true;
    else step_ = s.step;
    add(traffic_.prepare, predict_preparation(g_, s));
  }
  std::vector<Count> order; // of the pivots: where a row of A is among them
  if (s.way == Way::columns && active_) {
    order.resize((std::size_t)g_.n);
    for (Count r = 0; r < g_.n; ++r) order[(std::size_t)pivots_[(std::size_t)r]] = r;
  } else if (s.way == Way::columns) order.assign((std::size_t)g_.n, 0); // processes that are not active need to know only that there is one
  ledger_           = Ledger();
  const Count block = solve_block(g_, s.way);
  for (Count first = 0; first < nrhs; first += block) {
    Block       b      = this->block(s.way, std::min(block, nrhs - first));
    const auto  rows   = [&](int owner, int worker, auto f) {
      if (s.way == Way::columns) whole_pieces(b, starts_, order, owner, worker, f);
      else row_pieces(b, starts_, owner, worker, f);
    };
    const auto tiles = [&](int owner, int worker, auto f) {
      if (s.way == Way::columns) whole_pieces(b, column_starts_, {}, owner, worker, f);
      else if (s.way == Way::wide) step_pieces(b, column_starts_, owner, worker, f);
      else tile_pieces(b, column_starts_, owner, worker, f);
    };
    if (s.way == Way::columns) b.whole = Buffer(active_ ? (std::size_t)(g_.n * b.whole_columns(rank_)) : 0);
    else if (active_) {
      b.rows = Buffer((std::size_t)(ml_ * b.n));
      if (op == 'N') b.rows.fill(0);
      if (s.way == Way::wide) make_room(b);
      else b.tiles = Buffer((std::size_t)(nl_ * b.my_columns(i_)));
    }
    if (op == 'N') deal(world_, g_.active(), rows, x + first * ldx, ldx);
    else deal(world_, g_.active(), tiles, x + first * ldx, ldx);
    if (active_) {
      if (s.way == Way::columns) solve_columns(b, op);
      else if (s.way == Way::wide) {
        if (op == 'N') wide_solve(b);
        else wide_solve_transposed(b, op);
      } else if (op == 'N') {
        solve_l(b);
        solve_u(b);
      } else {
        solve_ut(b, op);
        solve_lt(b, op);
      }
    }
    if (op == 'N') collect(world_, g_.active(), tiles, y + first * ldy, ldy);
    else collect(world_, g_.active(), rows, y + first * ldy, ldy);
  }
  add(traffic_.solve, predict_solve(g_, nrhs, s, op != 'N'));
}

} // namespace petsctt::lu
