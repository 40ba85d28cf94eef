#include "lu/lu.hpp"

#include "base/error.hpp"
#include "base/memory.hpp"
#include "lu/mask.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt::lu {

namespace {

Real largest_of(const Scalar *a, Count n)
{
  Real top = 0;
  for (Count s = 0; s < n; ++s) raise(top, petsctt::abs(a[s]));
  return top;
}

} // namespace

LU::LU(MPI_Comm comm, std::vector<Count> row_starts, const Grid &grid, std::vector<Count> column_starts) : Factorization(comm, std::move(row_starts), grid.n), g_(grid), column_starts_(std::move(column_starts))
{
  if (column_starts_.empty()) column_starts_ = starts_;
  g_.tile = std::min(g_.tile, std::max<Count>(g_.n, 1)); // arrays of tile x tile are made
  PETSCTT_REQUIRE((int)column_starts_.size() == size_ + 1 && column_starts_.back() == g_.n, PETSC_ERR_ARG_SIZ, "Column ranges of %d processes do not make a matrix of order %lld", size_, (long long)g_.n);
  PETSCTT_REQUIRE(g_.px >= 1 && g_.py >= 1 && g_.layers >= 1 && g_.active() <= size_, PETSC_ERR_ARG_OUTOFRANGE, "A grid of %d x %d x %d processes, of which there are %d", g_.px, g_.py, g_.layers, size_);
  PETSCTT_REQUIRE(g_.tile >= 1 && g_.tile < 32768, PETSC_ERR_ARG_OUTOFRANGE, "Tiles of %lld columns; 1 to 32767 are possible", (long long)g_.tile);
  PETSCTT_REQUIRE((double)g_.n < 1 / std::numeric_limits<Real>::epsilon(), PETSC_ERR_SUP, "Row numbers up to %lld cannot be sent as scalars", (long long)g_.n);
  // here, where all processes know it, and not on those only whose message is too long
  const Count message = 1 + g_.tile + g_.tile * g_.tile + g_.local_rows(0) * ((g_.tile + g_.layers - 1) / g_.layers);
  PETSCTT_REQUIRE(g_.py == 1 || message <= longest_message, PETSC_ERR_SUP, "Panels of %lld entries in one message; at most %lld: more processes or narrower tiles", (long long)message,
                  (long long)longest_message);
  active_ = rank_ < g_.active();
  if (!active_) return;
  i_ = g_.row_of(rank_);
  j_ = g_.col_of(rank_);
  l_ = g_.layer_of(rank_);
  std::vector<int> row, row_plane, col, col_plane, layers;
  for (int l = 0; l < g_.layers; ++l) {
    layers.push_back(g_.process(i_, j_, l));
    for (int j = 0; j < g_.py; ++j) row_plane.push_back(g_.process(i_, j, l));
    for (int i = 0; i < g_.px; ++i) col_plane.push_back(g_.process(i, j_, l));
  }
  for (int j = 0; j < g_.py; ++j) row.push_back(g_.process(i_, j, l_));
  for (int i = 0; i < g_.px; ++i) col.push_back(g_.process(i, j_, l_));
  ring_team_ = Team(comm_, row, 2, &ledger_);       // (i, *, l), for panels under way
  row_       = Team(comm_, row, 3, &ledger_);       // (i, *, l): member j
  row_plane_ = Team(comm_, row_plane, 4, &ledger_); // (i, *, *): member j + py l
  col_       = Team(comm_, col, 5, &ledger_);       // (*, j, l): member i
  col_plane_ = Team(comm_, col_plane, 6, &ledger_); // (*, j, *): member i + px l
  layers_    = Team(comm_, layers, 7, &ledger_);    // (i, j, *): member l
  ml_        = g_.local_rows(i_);
  nl_        = g_.local_cols(j_);
}

double LU::memory_words() const
{
  double factors = (double)(a_.size() + diagonal_.size());
  for (const Buffer &s : steps_) factors += (double)s.size();
  return std::max(largest_, factors);
}

// Tiles of every grid column that are brought here at a time: few, so that what is under way stays small beside the matrix, on a process that has more
// of the rows than others as well.
Count LU::batch() const
{
  const Count per_column = (g_.tiles() + g_.py - 1) / g_.py;
  Count       most       = 1;
  for (std::size_t p = 0; p + 1 < starts_.size(); ++p) most = std::max(most, starts_[p + 1] - starts_[p]);
  // what is sent and received takes no more than what the steps need beside the matrix, see predict_lu()
  const double tiles = 4. * (double)(g_.local_rows(0) + g_.local_cols(0)) / ((double)most * g_.py + (double)g_.local_rows(0));
  return std::max<Count>(1, std::min((per_column + 7) / 8, (Count)tiles));
}

// The matrix, lists of its rows, and what the plan says of the rest, with lists of messages; before that what is sent and received to bring it here. Whether this
// process has the memory.
bool LU::allocate()
{
  const double columns = (double)batch() * (double)g_.tile;
  const double sent    = (double)(starts_[(std::size_t)rank_ + 1] - starts_[(std::size_t)rank_]) * std::min((double)g_.n, columns * g_.py);
  if (!active_) return can_take_memory((sent + scratch) * (double)sizeof(Scalar));
  try {
    const std::size_t size = (std::size_t)(ml_ * nl_);
    if (a_.size() != size) a_ = Buffer(); // not two of them at a time
    diagonal_ = Buffer();
    if (a_.size() != size) a_ = Buffer(size);
    row_at_.resize((std::size_t)ml_);
    where_.resize((std::size_t)ml_);
    pivots_.resize((std::size_t)g_.n);
    alive_after_.resize((std::size_t)g_.tiles());
  } catch (const std::bad_alloc &) {
    return false;
  }
  const double received = std::min((double)nl_, columns) * (double)(ml_ / g_.layers + 1);
  return can_take_memory((std::max(sent + received, predict_lu(g_).memory - (double)a_.size()) + scratch) * (double)sizeof(Scalar));
}

void LU::distribute(const Scalar *a, Count lda)
{
  const Count begin = starts_[(std::size_t)rank_], end = starts_[(std::size_t)rank_ + 1], step = (Count)g_.px * g_.layers;
  const Count per_column = (g_.tiles() + g_.py - 1) / g_.py, batch = this->batch();
  const bool  memory     = allocate();
  if (active_ && memory) {
    a_.fill(0);
    for (Count r = 0; r < ml_; ++r) row_at_[(std::size_t)r] = i_ + r * g_.px;
    for (Count r = 0; r < ml_; ++r) where_[(std::size_t)r] = r;
    alive_ = ml_;
  }
  Real top = 0;
  for (Count c = 0; c < g_.n; ++c) raise(top, largest_of(a + c * lda, end - begin));
  const Found all = agree(memory, top);
  if (!all.memory) a_ = Buffer();
  PETSCTT_REQUIRE(all.memory, PETSC_ERR_MEM, "Not all processes have the %g words that the factors of order %lld need on a grid of %d x %d x %d processes", predict_lu(g_).memory,
                  (long long)g_.n, g_.px, g_.py, g_.layers);
  outcome_.finite = all.finite;
  outcome_.max_a  = all.top;
  if (!outcome_.finite) return;
  std::vector<Count> out((std::size_t)size_), in((std::size_t)size_);
  for (Count t0 = 0; t0 < per_column; t0 += batch) {
    const auto columns = [&](int j) { // of the batch, in grid column j
      const Count first = std::min(t0 * g_.tile, g_.local_cols(j)), last = std::min((t0 + batch) * g_.tile, g_.local_cols(j));
      return std::make_pair(first, last);
    };
    Count total_out = 0, total_in = 0;
    for (int p = 0; p < size_; ++p) {
      out[(std::size_t)p] = in[(std::size_t)p] = 0;
      if (p < g_.active()) {
        const auto c        = columns(g_.col_of(p));
        out[(std::size_t)p] = stride(begin, end, g_.row_of(p) + (Count)g_.px * g_.layer_of(p), step).count * (c.second - c.first);
      }
      if (active_) {
        const auto c       = columns(j_);
        in[(std::size_t)p] = stride(starts_[(std::size_t)p], starts_[(std::size_t)p + 1], i_ + (Count)g_.px * l_, step).count * (c.second - c.first);
      }
      total_out += out[(std::size_t)p];
      total_in += in[(std::size_t)p];
    }
    Buffer  send((std::size_t)total_out), recv((std::size_t)total_in);
    Scalar *s = send.data();
    for (int p = 0; p < g_.active(); ++p) {
      const auto   c = columns(g_.col_of(p));
      const Stride r = stride(begin, end, g_.row_of(p) + (Count)g_.px * g_.layer_of(p), step);
      for (Count q = c.first; q < c.second; ++q) {
        const Count   column = (g_.col_of(p) + q / g_.tile * g_.py) * g_.tile + q % g_.tile;
        const Scalar *from   = a + column * lda + (r.first - begin);
        for (Count e = 0; e < r.count; ++e) *s++ = from[e * step];
      }
    }
    world_.exchange(send.data(), out, recv.data(), in);
    if (!active_) continue;
    const Scalar *f = recv.data();
    const auto    c = columns(j_);
    for (int p = 0; p < size_; ++p) {
      const Stride r = stride(starts_[(std::size_t)p], starts_[(std::size_t)p + 1], i_ + (Count)g_.px * l_, step);
      for (Count q = c.first; q < c.second; ++q)
        for (Count e = 0; e < r.count; ++e) a_[(std::size_t)((r.first - i_) / g_.px + e * g_.layers + q * ml_)] = *f++;
    }
    largest_ = std::max(largest_, (double)(a_.size() + send.size() + recv.size()));
  }
}

void LU::clear()
{
  outcome_ = Outcome();
  steps_.clear();
  step_     = 0;
  complete_ = false;
  credit_   = 0;
}

void LU::factorize()
{
  PETSCTT_REQUIRE(loaded_, PETSC_ERR_ORDER, "There is no matrix to factorise");
  loaded_ = false;
  if (!outcome_.finite) return;
  ledger_        = Ledger();
  outcome_.max_l = outcome_.max_u = 0;
  outcome_.min_pivot = std::numeric_limits<Real>::max();
  if (active_) steps();
  // zero pivots and numbers that are not finite are known to all active processes, the rest to those that have met them
  Scalar found[5] = {(Real)outcome_.zero_pivot, outcome_.finite && is_finite(outcome_.max_l) && is_finite(outcome_.max_u) ? (Real)0 : (Real)1, outcome_.max_l, outcome_.max_u, -outcome_.min_pivot};
  world_.max(found, 5);
  outcome_.zero_pivot = (Count)real(found[0]);
  outcome_.finite     = real(found[1]) == 0;
  outcome_.max_l      = real(found[2]);
  outcome_.max_u      = real(found[3]);
  outcome_.min_pivot  = g_.n && outcome_.zero_pivot < 0 && outcome_.finite ? -real(found[4]) : 0;
  traffic_.factor     = ledger_;
  ledger_             = Ledger();
  factored_           = outcome_.zero_pivot < 0 && outcome_.finite;
}

// Factors to process 0: tile by tile, from each process the rows of L in the order of their pivots, and its rows of U.
void LU::gather(Scalar *packed) const
{
  PETSCTT_REQUIRE(factored_, PETSC_ERR_ORDER, "There are no factors to gather");
  if (!active_) return;
  const Ledger       keep = ledger_;
  const Team         all  = Team(comm_, [&] {
    std::vector<int> p((std::size_t)g_.active());
    for (int q = 0; q < g_.active(); ++q) p[(std::size_t)q] = q;
    return p;
  }(), 8, &ledger_);
  std::vector<Count> order((std::size_t)g_.n); // pivot number of a row
  for (Count s = 0; s < g_.n; ++s) order[(std::size_t)pivots_[(std::size_t)s]] = s;
  Buffer block;
  for (Count k = 0; k < g_.tiles(); ++k) {
    const Count w = g_.width(k), k0 = k * g_.tile;
    for (int p = 0; p < g_.active(); ++p) {
      if (rank_ != 0 && rank_ != p) continue;
      const int pi = g_.row_of(p), pj = g_.col_of(p), pl = g_.layer_of(p);
      // L
      if ((int)(k % g_.py) == pj) {
        const Count        c0 = g_.slice(w, pl), ws = wl(w, pl);
        std::vector<Count> rows; // pivot numbers beyond the tile, in grid row pi
        for (Count s = k0 + w; s < g_.n; ++s)
          if ((int)(pivots_[(std::size_t)s] % g_.px) == pi) rows.push_back(s);
        const Count m = (Count)rows.size();
        block         = Buffer((std::size_t)(m * ws + w * w));
        if (rank_ == p) {
          for (Count c = 0; c < ws; ++c)
            for (Count s = 0; s < m; ++s) block[(std::size_t)(s + c * m)] = col(local_tile(k))[position(rows[(std::size_t)s]) + (c0 + c) * ml_];
          std::copy_n(diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w * w, block.data() + m * ws);
          if (p) all.send(block.data(), m * ws + w * w, 0);
        } else all.recv(block.data(), m * ws + w * w, p);
        if (rank_ == 0) {
          for (Count c = 0; c < ws; ++c)
            for (Count s = 0; s < m; ++s) packed[rows[(std::size_t)s] + (k0 + c0 + c) * g_.n] = block[(std::size_t)(s + c * m)];
          if (pi == 0 && pl == 0)
            for (Count c = 0; c < w; ++c) std::copy_n(block.data() + m * ws + c * w, w, packed + k0 + (k0 + c) * g_.n);
        }
      }
      // U: the slice of the tile's rows on this layer, of which those with a pivot in grid row pi, behind the tile
      std::vector<Count> rows;
      for (Count s = k0 + g_.slice(w, pl); s < k0 + g_.slice(w, pl + 1); ++s)
        if ((int)(pivots_[(std::size_t)s] % g_.px) == pi) rows.push_back(s);
      const Count m = (Count)rows.size(), first = std::min(g_.local_cols(pj), (k - pj + g_.py) / g_.py * g_.tile), cols = g_.local_cols(pj) - first;
      block = Buffer((std::size_t)(m * cols));
      if (rank_ == p) {
        for (Count c = 0; c < cols; ++c)
          for (Count s = 0; s < m; ++s) block[(std::size_t)(s + c * m)] = a_[(std::size_t)(position(rows[(std::size_t)s]) + (first + c) * ml_)];
        if (p) all.send(block.data(), m * cols, 0);
      } else all.recv(block.data(), m * cols, p);
      if (rank_ == 0)
        for (Count c = 0; c < cols; ++c) {
          const Count q = first + c, column = (pj + q / g_.tile * g_.py) * g_.tile + q % g_.tile;
          for (Count s = 0; s < m; ++s) packed[rows[(std::size_t)s] + column * g_.n] = block[(std::size_t)(s + c * m)];
        }
    }
  }
  ledger_ = keep;
}

} // namespace petsctt::lu
