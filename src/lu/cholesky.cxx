#include "lu/cholesky.hpp"

#include "base/error.hpp"
#include "base/memory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt::lu {

namespace {

constexpr Count longest = longest_message;
constexpr int   tag     = 3; // of panels; teams have others

} // namespace

Cholesky::Cholesky(MPI_Comm comm, std::vector<Count> row_starts, const SymmetricGrid &grid) : Factorization(comm, std::move(row_starts), grid.n), g_(grid)
{
  g_.tile = std::min(g_.tile, std::max<Count>(g_.n, 1)); // arrays of tile x tile are made
  PETSCTT_REQUIRE(g_.layers >= 1 && g_.tile >= 1 && g_.active() <= size_, PETSC_ERR_ARG_OUTOFRANGE,
                  "A grid of %d layers of %d processes, of which there are %d", g_.layers, g_.per_layer(), size_);
  PETSCTT_REQUIRE(g_.pattern != Pattern::plane || (int)g_.element.size() == g_.classes, PETSC_ERR_ARG_INCOMP, "A plane that was not made by symmetric_grid()");
  const double block = (double)g_.class_rows(0) * (double)wl(std::min(g_.tile, g_.n), g_.layers - 1);
  PETSCTT_REQUIRE((double)g_.tile * (double)g_.tile < longest && block < longest, PETSC_ERR_SUP,
                  "Tiles of %lld and %g entries of a panel in one message; at most %lld: more processes or narrower tiles", (long long)g_.tile, block, (long long)longest);
  active_ = rank_ < g_.active();
  std::vector<int> layers;
  classes_of_.resize((std::size_t)g_.per_layer());
  for (int a = 0; a < g_.classes; ++a) {
    members_.push_back(g_.members(a));
    for (int p : members_.back()) classes_of_[(std::size_t)p].push_back(a);
  }
  if (!active_) return;
  p_       = rank_ % g_.per_layer();
  l_       = rank_ / g_.per_layer();
  classes_ = classes_of_[(std::size_t)p_];
  slot_.assign((std::size_t)g_.classes, -1);
  for (int l = 0; l < g_.layers; ++l) layers.push_back(g_.process(p_, l));
  layers_ = Team(comm_, layers, 2, &ledger_); // (p, *): member l
  for (int a : classes_) {
    slot_[(std::size_t)a] = (int)groups_.size();
    std::vector<int> group((std::size_t)group_size());
    for (int l = 0; l < g_.layers; ++l)
      for (int p : members_[(std::size_t)a]) group[(std::size_t)group_index(a, p, l)] = g_.process(p, l);
    groups_.emplace_back(comm_, group, 10 + a, &ledger_);
  }
}

// Begins at another process for each class, so that what the first or last of a group has more of goes round.
int Cholesky::group_index(int cls, int p, int l) const
{
  const auto &m   = members_[(std::size_t)cls];
  const int   raw = (int)(std::lower_bound(m.begin(), m.end(), p) - m.begin()) + (int)m.size() * l;
  return (raw + group_size() - cls % group_size()) % group_size();
}

int Cholesky::layer_in_group(int cls, int g) const { return (g + cls) % group_size() / g_.per_class(); }

double Cholesky::memory_words() const { return std::max(largest_, held()); }

double Cholesky::held() const
{
  double words = (double)(received_[0].size() + received_[1].size() + gathered_.size());
  for (const Pair &q : pairs_) words += (double)q.m.size();
  for (const auto &s : columns_)
    for (const Column &c : s) words += (double)c.m.size();
  for (const Buffer &b : panels_) words += (double)b.size();
  for (const Buffer &b : u_) words += (double)b.size();
  return words;
}

void Cholesky::allocate()
{
  pairs_.clear();
  pair_at_.assign(classes_.size() * classes_.size(), -1);
  columns_.assign(classes_.size(), {});
  for (std::size_t s = 0; s < classes_.size(); ++s) {
    const int a = classes_[s];
    for (std::size_t t = s + 1; t < classes_.size(); ++t) {
      const int b = classes_[t];
      if (g_.pair_owner(a, b) != p_) continue;
      pair_at_[s * classes_.size() + t] = pair_at_[t * classes_.size() + s] = (int)pairs_.size();
      pairs_.push_back({a, b, Buffer((std::size_t)(g_.class_rows(a) * g_.class_rows(b)))});
      pairs_.back().m.fill(0);
    }
    for (Count j = a; j < g_.tiles(); j += g_.classes) {
      Column c;
      for (Count i = j; i < g_.tiles(); i += g_.classes)
        if (g_.owner(i, j) == p_) {
          c.tiles.push_back(i);
          c.rows += g_.width(i);
        }
      c.m = Buffer((std::size_t)(c.rows * g_.width(j)));
      c.m.fill(0);
      columns_[s].push_back(std::move(c));
    }
  }
  u_.clear();
  u_.resize((std::size_t)g_.tiles());
  panels_.clear();
  panels_.resize((std::size_t)g_.tiles());
}

// Calls f(i, j, row, rows) for the rows [begin, end) in each tile (i, j) of the lower triangle with j in [first, last).
template <class F>
void Cholesky::pieces(Count begin, Count end, Count first, Count last, F f) const
{
  for (Count j = first; j < last; ++j)
    for (Count i = std::max(j, begin / g_.tile); i * g_.tile < end; ++i) {
      const Count row = std::max(begin, i * g_.tile), rows = std::min(end, (i + 1) * g_.tile) - row;
      if (rows > 0) f(i, j, row, rows);
    }
}

// Part of a column of tile (i, j)
void Cholesky::put(Count i, Count j, Count row, Count column, Count rows, const Scalar *from)
{
  const int a = g_.class_of(i), b = g_.class_of(j);
  if (a != b) {
    Pair       &q  = pair(a, b);
    const Count ld = g_.class_rows(q.a), r = row_in_class(i) + row - i * g_.tile, c = row_in_class(j) + column - j * g_.tile;
    if (q.a == a) std::copy_n(from, rows, q.m.data() + r + c * ld);
    else
      for (Count e = 0; e < rows; ++e) q.m[(std::size_t)(c + (r + e) * ld)] = conj(from[e]);
  } else {
    Column     &q  = columns_[(std::size_t)slot(a)][(std::size_t)(j / g_.classes)];
    const Count at = (Count)(std::lower_bound(q.tiles.begin(), q.tiles.end(), i) - q.tiles.begin()) * g_.tile; // only the last one is narrower
    Scalar     *to = q.m.data() + at + row - i * g_.tile + (column - j * g_.tile) * q.rows;
    std::copy_n(from, rows, to);
    if (row == column) *to = real(*to);
  }
}

// Some columns at a time, so that what is under way stays small beside the matrix.
void Cholesky::distribute(const Scalar *a, Count lda)
{
  const Count begin = starts_[(std::size_t)rank_], end = starts_[(std::size_t)rank_ + 1];
  Real        top = 0;
  for (Count c = 0; c < end && is_finite(top); ++c)
    for (Count r = std::max(begin, c); r < end; ++r) {
      const Real b = r == c ? std::abs(real(a[r - begin + c * lda])) : petsctt::abs(a[r - begin + c * lda]);
      if (!(b <= top)) top = b; // NaN as well
      if (!is_finite(top)) break;
    }
  // so many batches that what is under way stays small beside the matrix, on a process that has more of the rows than others as well
  Count most = 1;
  for (std::size_t p = 0; p + 1 < starts_.size(); ++p) most = std::max(most, starts_[p + 1] - starts_[p]);
  const int  batches = (int)std::min((double)std::max<Count>(1, g_.tiles()), std::max(8., std::ceil(8. * (double)most * g_.per_layer() / (double)std::max<Count>(1, g_.n))));
  const auto first   = [&](int s) { // so that the batches have equal areas
    return s == batches ? g_.tiles() : (Count)((double)g_.tiles() * (1 - std::sqrt(1 - (double)s / batches)));
  };
  double sent = 0; // of a batch, at the most
  for (int s = 0; s < batches; ++s) {
    double words = 0;
    for (Count c = first(s) * g_.tile; c < std::min(end, first(s + 1) * g_.tile); ++c) words += (double)(end - std::max(begin, c));
    sent = std::max(sent, words);
  }
  const double memory = predict_cholesky(g_).memory;
  const double words  = (active_ ? std::max(memory, sent) : sent) + (double)scratch;
  const Found  all    = agree(can_take_memory(words * (double)sizeof(Scalar)), top);
  PETSCTT_REQUIRE(all.memory, PETSC_ERR_MEM, "Not all processes have the %g words that the factor of order %lld needs on %d layers of %d processes", memory, (long long)g_.n, g_.layers,
                  g_.per_layer());
  outcome_.finite = all.finite;
  outcome_.max_a  = all.top;
  if (!outcome_.finite) return;
  if (active_) allocate();
  // entries of a piece: on the diagonal, its lower triangle
  const auto from_row = [&](Count j, Count c, Count row) { return std::max(row, j * g_.tile + c); };
  const auto entries  = [&](Count j, Count row, Count rows) {
    Count n = 0;
    for (Count c = 0; c < g_.width(j); ++c) n += std::max<Count>(0, row + rows - from_row(j, c, row));
    return n;
  };
  for (int s = 0; s < batches; ++s) {
    const Count        j0 = first(s), j1 = first(s + 1);
    std::vector<Count> out((std::size_t)size_, 0), in((std::size_t)size_, 0), at((std::size_t)size_, 0);
    const auto         who = [&](Count i, Count j) { return (std::size_t)g_.process(g_.owner(i, j), g_.layer_of(i, j)); };
    pieces(begin, end, j0, j1, [&](Count i, Count j, Count row, Count rows) { out[who(i, j)] += entries(j, row, rows); });
    if (active_)
      for (std::size_t p = 0; p < (std::size_t)size_; ++p)
        pieces(starts_[p], starts_[p + 1], j0, j1, [&](Count i, Count j, Count row, Count rows) {
          if (who(i, j) == (std::size_t)rank_) in[p] += entries(j, row, rows);
        });
    Count total_out = 0, total_in = 0;
    for (std::size_t p = 0; p < (std::size_t)size_; ++p) {
      at[p] = total_out;
      total_out += out[p];
      total_in += in[p];
    }
    Buffer send((std::size_t)total_out), recv((std::size_t)total_in);
    pieces(begin, end, j0, j1, [&](Count i, Count j, Count row, Count rows) {
      Count &to = at[who(i, j)];
      for (Count c = 0; c < g_.width(j); ++c) {
        const Count r = from_row(j, c, row), n = std::max<Count>(0, row + rows - r);
        std::copy_n(a + (r - begin) + (j * g_.tile + c) * lda, n, send.data() + to);
        to += n;
      }
    });
    world_.exchange(send.data(), out, recv.data(), in);
    if (!active_) continue;
    const Scalar *f = recv.data();
    for (std::size_t p = 0; p < (std::size_t)size_; ++p)
      pieces(starts_[p], starts_[p + 1], j0, j1, [&](Count i, Count j, Count row, Count rows) {
        if (who(i, j) != (std::size_t)rank_) return;
        for (Count c = 0; c < g_.width(j); ++c) {
          const Count r = from_row(j, c, row), n = std::max<Count>(0, row + rows - r);
          if (n > 0) put(i, j, r, j * g_.tile + c, n, f);
          f += n;
        }
      });
    largest_ = std::max(largest_, held() + (double)(send.size() + recv.size()));
  }
}

void Cholesky::clear()
{
  outcome_ = Outcome();
  pairs_.clear();
  columns_.clear();
  panels_.clear();
  u_.clear();
}

void Cholesky::factorize()
{
  PETSCTT_REQUIRE(loaded_, PETSC_ERR_ORDER, "There is no matrix to factorise");
  loaded_ = false;
  if (!outcome_.finite) return;
  ledger_            = Ledger();
  outcome_.min_pivot = std::numeric_limits<Real>::max();
  if (active_) steps();
  pairs_.clear();
  columns_.clear();
  for (Buffer &b : received_) b = Buffer();
  gathered_ = Buffer();
  // a pivot that is none is known to the processes that had tiles left, and an extreme one to those that have its class
  Scalar found[4] = {(Real)outcome_.not_positive, outcome_.finite ? (Real)0 : (Real)1, -outcome_.min_pivot, outcome_.max_pivot};
  world_.max(found, 4);
  outcome_.not_positive = (Count)real(found[0]);
  outcome_.finite       = real(found[1]) == 0;
  outcome_.min_pivot    = g_.n && outcome_.not_positive < 0 && outcome_.finite ? -real(found[2]) : 0;
  outcome_.max_pivot    = real(found[3]);
  traffic_.factor       = ledger_;
  ledger_               = Ledger();
  factored_             = outcome_.not_positive < 0 && outcome_.finite;
  if (!factored_) {
    panels_.clear();
    u_.clear();
  }
}

std::vector<Cholesky::Segment> Cholesky::segments(int p, Count k) const
{
  std::vector<Segment> s;
  const int            cls = g_.class_of(k);
  Count                at  = 0;
  for (int a : classes_of_[(std::size_t)p]) {
    if (a != cls && g_.pair_owner(a, cls) != p) continue;
    Segment t;
    t.cls = a;
    t.at  = at;
    for (Count i = a + g_.class_tiles_before(a, k + 1) * g_.classes; i < g_.tiles(); i += g_.classes)
      if (a != cls || g_.owner(i, k) == p) {
        t.tiles.push_back(i);
        t.rows += g_.width(i);
      }
    if (t.rows == 0) continue;
    at += 1 + t.rows * wl(g_.width(k), l_);
    s.push_back(std::move(t));
  }
  return s;
}

std::vector<Cholesky::Run> Cholesky::runs(const std::vector<Count> &tiles) const
{
  std::vector<Run> r;
  Count            at = 0, next = -1;
  for (Count i : tiles) {
    if (i != next) r.push_back({row_in_class(i), at, 0});
    r.back().rows += g_.width(i);
    at += g_.width(i);
    next = i + g_.classes;
  }
  return r;
}

void Cholesky::drain(std::vector<MPI_Request> &requests) const
{
  if (!requests.empty()) check_mpi(MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  requests.clear();
}

void Cholesky::steps()
{
  const Count K = g_.tiles();
  Count       room = 0;
  for (int a : classes_) room += g_.class_rows(a) * ((g_.tile + g_.layers - 1) / g_.layers) + g_.per_class();
  for (Buffer &b : received_) b = Buffer(K > 1 && g_.per_layer() > 1 ? (std::size_t)room : 0);
  if (K > 0) begin(0);
  for (Count k = 0; k < K && end(k) && k + 1 < K; ++k) {
    if (slot(g_.class_of(k + 1)) >= 0) update(k, true);
    begin(k + 1);
    update(k, false);
  }
  for (auto &s : sends_) drain(s);
}

// The panel of tile k, whose tiles are up to date, and its messages. Messages from one process to another are in the order of the classes.
void Cholesky::begin(Count k)
{
  const int                  cls = g_.class_of(k), layer = g_.per_layer() * l_;
  const Count                ws  = wl(g_.width(k), l_);
  std::vector<MPI_Request>  &sends = sends_[k % 2];
  Scalar                    *to = received_[k % 2].data();
  drain(sends); // of the step before the last one
  incoming_.clear();
  state_ = 0;
  for (int a : classes_) {
    if (start(a, k) == g_.class_rows(a)) continue;
    for (int p : a == cls ? members_[(std::size_t)a] : std::vector<int>{g_.pair_owner(a, cls)}) {
      if (p == p_) continue;
      for (Segment &s : segments(p, k)) {
        if (s.cls != a) continue;
        const Count n = 1 + s.rows * ws;
        receives_.emplace_back();
        check_mpi(MPI_Irecv(to, (int)n, MPIU_SCALAR, p + layer, tag, comm_, &receives_.back()), "MPI_Irecv");
        ledger_.received += n;
        incoming_.push_back({std::move(s), to});
        to += n;
      }
    }
  }
  if (slot(cls) < 0) return;
  const std::vector<Segment> mine = segments(p_, k);
  panel(k, mine);
  for (const Segment &s : mine)
    for (int p : members_[(std::size_t)s.cls]) {
      if (p == p_) continue;
      const Count n = 1 + s.rows * ws;
      sends.emplace_back();
      check_mpi(MPI_Isend(panels_[(std::size_t)k].data() + s.at, (int)n, MPIU_SCALAR, p + layer, tag, comm_, &sends.back()), "MPI_Isend");
      ledger_.words += n;
      ++ledger_.messages;
    }
}

// After it the rows of L of step k are in views_. False if the panel has a pivot that is none: all processes that have tiles left learn it here.
bool Cholesky::end(Count k)
{
  const int   cls = g_.class_of(k);
  const Count ws  = wl(g_.width(k), l_);
  drain(receives_);
  for (const Incoming &m : incoming_)
    if (m.data[0] != (Scalar)0) state_ = (int)real(m.data[0]);
  if (state_ > 0) outcome_.not_positive = k * g_.tile + state_ - 1;
  if (state_ < 0) outcome_.finite = false;
  if (state_ != 0) return false;
  if (slot(cls) >= 0)
    for (Segment &s : segments(p_, k)) {
      const Count at = s.at;
      incoming_.push_back({std::move(s), panels_[(std::size_t)k].data() + at});
    }
  views_.assign(classes_.size(), View{nullptr, 1});
  for (std::size_t s = 0; s < classes_.size(); ++s) {
    const int   a    = classes_[s];
    const Count rows = g_.class_rows(a) - start(a, k);
    for (const Incoming &m : incoming_) {
      if (m.segment.cls != a) continue;
      if (m.segment.rows == rows) {
        views_[s] = {m.data + 1, rows};
        continue;
      }
      // only rows of the tile's own class are on several processes
      if (views_[s].a == nullptr) {
        gathered_ = Buffer((std::size_t)(rows * ws));
        views_[s] = {gathered_.data(), rows};
      }
      for (const Run &r : runs(m.segment.tiles))
        for (Count c = 0; c < ws; ++c) std::copy_n(m.data + 1 + r.at + c * m.segment.rows, r.rows, gathered_.data() + r.row - start(a, k) + c * rows);
    }
  }
  return true;
}

// Rows of the panel in the order of the segments: rows x width of the tile
void Cholesky::pack(Count k, const std::vector<Segment> &mine, Count rows, Scalar *stack) const
{
  const int   cls = g_.class_of(k);
  const Count w   = g_.width(k);
  for (const Segment &s : mine) {
    if (s.cls == cls) {
      const Column &q = columns_[(std::size_t)slot(cls)][(std::size_t)(k / g_.classes)];
      for (Count c = 0; c < w; ++c) std::copy_n(q.m.data() + (q.rows - s.rows) + c * q.rows, s.rows, stack + c * rows);
    } else {
      const Pair   &q  = pair(cls, s.cls);
      const Count   ld = g_.class_rows(q.a), first = start(s.cls, k), at = row_in_class(k);
      const Scalar *m  = q.m.data();
      if (q.a == s.cls)
        for (Count c = 0; c < w; ++c) std::copy_n(m + first + (at + c) * ld, s.rows, stack + c * rows);
      else
        for (Count r = 0; r < s.rows; ++r)
          for (Count c = 0; c < w; ++c) stack[r + c * rows] = conj(m[at + c + (first + r) * ld]);
    }
    stack += s.rows;
  }
}

// The tiles below the diagonal one, summed over the layers and multiplied with the inverse of its factor; on each layer the slice of the columns.
// Collective on all processes that have the tile's class.
void Cholesky::panel(Count k, const std::vector<Segment> &mine)
{
  const int   c = g_.layers, cls = g_.class_of(k), home = g_.home_layer(k), owner = g_.owner(k, k);
  const bool  owns = owner == p_;
  const Count w = g_.width(k), ws = wl(w, l_), triangle = w * (w + 1) / 2;
  Count       rows = 0;
  for (const Segment &s : mine) rows += s.rows;
  const auto  share = [&](int l) { return rows * l / c; };
  const Count first = share(l_), m = share(l_ + 1) - first;
  Buffer      part((std::size_t)(rows * w)), diagonal((std::size_t)(1 + triangle)), send, parts;
  pack(k, mine, rows, part.data());
  if (owns) { // the upper triangle, by columns
    const Column &q  = columns_[(std::size_t)slot(cls)][(std::size_t)(k / g_.classes)];
    Scalar       *to = diagonal.data() + 1;
    for (Count s = 0; s < w; ++s)
      for (Count r = 0; r <= s; ++r) *to++ = conj(q.m[(std::size_t)(s + r * q.rows)]);
  }
  if (c > 1) {
    std::vector<Count> out((std::size_t)c), in((std::size_t)c, m * w + (owns && l_ == home ? triangle : 0));
    send       = Buffer((std::size_t)(rows * w + (owns ? triangle : 0)));
    parts      = Buffer((std::size_t)(in[0] * c));
    Scalar *to = send.data();
    for (int l = 0; l < c; ++l) {
      const Count r = share(l + 1) - share(l);
      for (Count s = 0; s < w; ++s) to = std::copy_n(part.data() + share(l) + s * rows, r, to);
      if (owns && l == home) to = std::copy_n(diagonal.data() + 1, triangle, to);
      out[(std::size_t)l] = r * w + (owns && l == home ? triangle : 0);
    }
    layers_.exchange(send.data(), out, parts.data(), in);
    largest_ = std::max(largest_, held() + (double)(part.size() + parts.size() + send.size()));
    send     = Buffer();
    for (int l = 1; l < c; ++l)
      for (Count e = 0; e < in[0]; ++e) parts[(std::size_t)e] += parts[(std::size_t)(e + l * in[0])];
    part = Buffer((std::size_t)(m * w));
    std::copy_n(parts.data(), m * w, part.data());
    if (owns && l_ == home) std::copy_n(parts.data() + m * w, triangle, diagonal.data() + 1);
  }
  Buffer &u = u_[(std::size_t)k];
  u         = Buffer((std::size_t)(w * w));
  const auto unpack = [&] {
    const Scalar *from = diagonal.data() + 1;
    u.fill(0);
    for (Count s = 0; s < w; ++s, from += s) std::copy_n(from, s + 1, u.data() + s * w);
  };
  if (owns && l_ == home) {
    unpack();
    const Count bad = potrf(w, u.data(), w);
    Count       state = bad;
    // a pivot that is NaN passes for positive with some libraries, and for not positive with others
    for (Count s = 0; s < (bad ? bad : w); ++s)
      if (!is_finite(u[(std::size_t)(s + s * w)])) state = -1;
    diagonal[0] = (Real)state;
    Scalar *to  = diagonal.data() + 1;
    for (Count s = 0; s < w; ++s) to = std::copy_n(u.data() + s * w, s + 1, to);
  }
  groups_[(std::size_t)slot(cls)].bcast(diagonal.data(), 1 + triangle, group_index(cls, owner, home));
  unpack();
  state_        = (int)real(diagonal[0]);
  Buffer &panel = panels_[(std::size_t)k];
  Count   size  = 0;
  for (const Segment &s : mine) size += 1 + s.rows * ws;
  panel = Buffer((std::size_t)size);
  if (state_ != 0) {
    panel.fill(diagonal[0]);
    return;
  }
  for (Count s = 0; s < w; ++s) {
    const Real d       = real(u[(std::size_t)(s + s * w)]);
    outcome_.min_pivot = std::min(outcome_.min_pivot, d);
    outcome_.max_pivot = std::max(outcome_.max_pivot, d);
  }
  trsm('R', 'U', 'N', 'N', m, w, 1.0, u.data(), w, part.data(), std::max<Count>(m, 1));
  if (c > 1) { // rows of all layers, this layer's columns
    std::vector<Count> out((std::size_t)c), in((std::size_t)c);
    for (int l = 0; l < c; ++l) {
      out[(std::size_t)l] = m * wl(w, l);
      in[(std::size_t)l]  = (share(l + 1) - share(l)) * ws;
    }
    parts = Buffer((std::size_t)(rows * ws));
    layers_.exchange(part.data(), out, parts.data(), in);
    part               = Buffer((std::size_t)(rows * ws));
    const Scalar *from = parts.data();
    for (int l = 0; l < c; ++l)
      for (Count s = 0; s < ws; ++s) {
        std::copy_n(from, share(l + 1) - share(l), part.data() + share(l) + s * rows);
        from += share(l + 1) - share(l);
      }
  }
  Count at = 0;
  for (const Segment &s : mine) {
    panel[(std::size_t)s.at] = 0;
    for (Count e = 0; e < ws; ++e) std::copy_n(part.data() + at + e * rows, s.rows, panel.data() + s.at + 1 + e * s.rows);
    at += s.rows;
  }
  largest_ = std::max(largest_, held() + (double)(part.size() + parts.size() + diagonal.size()));
}

// Subtracts from the matrix what the panel of tile k contributes: ahead, to the tiles of the next panel; otherwise to all others.
void Cholesky::update(Count k, bool ahead)
{
  const int   next = g_.class_of(k + 1);
  const Count w    = g_.width(k + 1);
  const auto  view = [&](int a) { return views_[(std::size_t)slot(a)]; };
  const Count ws   = wl(g_.width(k), l_);
  if (ws == 0) return;
  // rows x columns of C -= rows of L of class a times those of class b
  const auto multiply = [&](int a, Count row, Count rows, int b, Count column, Count columns, Scalar *to, Count ld) {
    gemm('N', 'C', rows, columns, ws, -1.0, view(a).a + row - start(a, k), view(a).ld, view(b).a + column - start(b, k), view(b).ld, 1.0, to, ld);
  };
  for (Pair &q : pairs_) {
    const Count ld = g_.class_rows(q.a);
    Count       row = start(q.a, k), rows = ld - row, column = start(q.b, k), columns = g_.class_rows(q.b) - column;
    if (rows == 0 || columns == 0) continue;
    if (ahead) {
      if (q.a == next) rows = w;
      else if (q.b == next) columns = w;
      else continue;
    } else if (q.a == next) {
      row += w;
      rows -= w;
    } else if (q.b == next) {
      column += w;
      columns -= w;
    }
    multiply(q.a, row, rows, q.b, column, columns, q.m.data() + row + column * ld, ld);
  }
  for (int a : classes_)
    for (Count j = a + g_.class_tiles_before(a, k + 1) * g_.classes; j < g_.tiles(); j += g_.classes) {
      if (ahead != (j == k + 1)) continue;
      Column &q = columns_[(std::size_t)slot(a)][(std::size_t)(j / g_.classes)];
      for (const Run &r : runs(q.tiles)) multiply(a, r.row, r.rows, a, row_in_class(j), g_.width(j), q.m.data() + r.at, q.rows);
    }
}

} // namespace petsctt::lu
