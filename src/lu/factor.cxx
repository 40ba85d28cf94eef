#include "base/error.hpp"
#include "lu/mask.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt::lu {

namespace {

// Of the message of a step: state, which is 0, or 1 + column in the tile of a zero pivot, or -1 for a pivot that is not finite. Then the rows
// of the pivots, L00 below its diagonal if this is the tile's home row, the tile's slice of L for the rows that stay.
constexpr Count header = 1;

} // namespace

Count LU::message_size(Count k, Count rows) const
{
  const Count w = g_.width(k);
  return header + w + (i_ == g_.home_row(k) ? w * (w - 1) / 2 : 0) + rows * wl(w, l_);
}

void LU::steps()
{
  const Count K = g_.tiles();
  diagonal_ = Buffer((std::size_t)(g_.local_tiles(j_) * g_.tile * g_.tile));
  if (K == 0) return;
  const Count most = header + g_.tile * g_.tile + g_.tile + ml_ * ((g_.tile + g_.layers - 1) / g_.layers);
  for (int s = 0; s < 2; ++s) {
    messages_[s] = Buffer((std::size_t)most);
    rings_[s]    = Ring(&ring_team_);
  }
  const double words = (double)(a_.size() + diagonal_.size() + 2 * messages_[0].size());
  // beside them a panel (its rows, and what is sent of them or a copy for the tournament) and the slice of U that it is ahead of, or rows of U (partial, gathered,
  // solved for)
  const double c = g_.layers, with_panel = (double)(ml_ * g_.tile) * (g_.layers > 1 ? 2 + 1 / c : g_.px > 1 ? 2 : 1) + (double)(nl_ * g_.tile) / c;
  const double with_rows = (double)(nl_ * g_.tile) * (g_.layers > 1 ? 2 + 1 / c : 3) + (double)(g_.tile * g_.tile);
  largest_ = std::max(largest_, words + std::max(with_panel, K > 1 ? with_rows : 0));

  const auto begin = [&](Count k) { // the panel of tile k, whose columns are up to date
    Scalar *m = messages_[k % 2].data();
    rings_[k % 2].drain();
    if (mine(k)) panel(k, m);
    Count size = message_size(k, alive_); // at the most
    if (mine(k)) size = m[0] == (Scalar)0 ? message_size(k, mask(k, m + header).left) : header + g_.width(k);
    rings_[k % 2].begin(m, size, (int)(k % g_.py));
  };
  begin(0);
  Buffer u;
  for (Count k = 0; k < K; ++k) {
    const Count  w = g_.width(k);
    Scalar      *m = messages_[k % 2].data();
    rings_[k % 2].end();
    if (m[0] != (Scalar)0) {
      if (real(m[0]) > 0) outcome_.zero_pivot = k * g_.tile + (Count)real(m[0]) - 1;
      else outcome_.finite = false;
      break;
    }
    for (Count s = 0; s < w; ++s) pivots_[(std::size_t)(k * g_.tile + s)] = (Count)real(m[header + s]);
    const Mask    leaving = mask(k, m + header);
    const Scalar *l00     = m + header + w;
    const Scalar *l       = l00 + (i_ == g_.home_row(k) ? w * (w - 1) / 2 : 0);
    apply(leaving);
    alive_after_[(std::size_t)k] = alive_;
    if (mine(k)) {
      Scalar *to = col(local_tile(k)) + g_.slice(w, l_) * ml_;
      for (Count c = 0; c < wl(w, l_); ++c) std::copy_n(l + c * alive_, alive_, to + c * ml_);
    }
    if (k + 1 == K) break;
    upper(k, l00, leaving, u);
    const Count from = std::min(nl_, first_local_tile_after(k) * g_.tile);
    Count       done = from;
    if (mine(k + 1)) {
      done = from + g_.width(k + 1);
      update(k, l, u.data(), from, done);
    }
    begin(k + 1);
    update(k, l, u.data() + (done - from) * wl(w, l_), done, nl_);
  }
  for (Ring &r : rings_) r.drain();
  for (Buffer &m : messages_) m = Buffer();
}

void LU::update(Count k, const Scalar *l, const Scalar *u, Count from, Count to)
{
  const Count w = wl(g_.width(k), l_);
  if (w > 0) gemm('N', 'N', alive_, to - from, w, -1.0, l, std::max<Count>(alive_, 1), u, w, 1.0, a_.data() + from * ml_, std::max<Count>(ml_, 1));
}

LU::Mask LU::mask(Count k, const Scalar *ids) const
{
  Mask        m;
  const Count w = g_.width(k);
  for (Count s = 0; s < w; ++s) {
    const Count row = (Count)real(ids[s]);
    if ((int)(row % g_.px) != i_) continue;
    m.pivots.push_back(s);
    m.positions.push_back(where_[(std::size_t)(row / g_.px)]);
  }
  m.left = alive_ - (Count)m.positions.size();
  std::vector<Count> sorted = m.positions;
  std::sort(sorted.begin(), sorted.end());
  auto  pivot = std::lower_bound(sorted.begin(), sorted.end(), m.left);
  Count taker = m.left;
  for (auto hole = sorted.begin(); hole != sorted.end() && *hole < m.left; ++hole) {
    while (pivot != sorted.end() && *pivot == taker) {
      ++pivot;
      ++taker;
    }
    m.moves.emplace_back(*hole, taker++);
  }
  return m;
}

// Exchanges whole rows: what they have of L goes with them.
void LU::apply(const Mask &m)
{
  if (!m.moves.empty())
    for (Count c = 0; c < nl_; ++c) {
      Scalar *a = a_.data() + c * ml_;
      for (const auto &p : m.moves) std::swap(a[p.first], a[p.second]);
    }
  for (const auto &p : m.moves) {
    std::swap(row_at_[(std::size_t)p.first], row_at_[(std::size_t)p.second]);
    for (Count q : {p.first, p.second}) where_[(std::size_t)(row_at_[(std::size_t)q] / g_.px)] = q;
  }
  alive_ = m.left;
}

// The order in which elimination with partial pivoting takes rows of a (n x w, destroyed), where a column without an entry takes none: rows that
// are independent come first. LAPACK takes a row for such a column as well, and implementations do not agree what it exchanges then.
static std::vector<Count> independent_rows(Count n, Count w, Scalar *a)
{
  std::vector<Count> order((std::size_t)n);
  for (Count s = 0; s < n; ++s) order[(std::size_t)s] = s;
  Count taken = 0;
  for (Count c = 0; c < w && taken < n; ++c) {
    Count best = taken;
    for (Count r = taken; r < n; ++r)
      if (petsctt::abs(a[r + c * n]) > petsctt::abs(a[best + c * n])) best = r;
    if (a[best + c * n] == (Scalar)0) continue;
    std::swap(order[(std::size_t)taken], order[(std::size_t)best]);
    for (Count e = c; e < w; ++e) std::swap(a[taken + e * n], a[best + e * n]);
    for (Count e = c + 1; e < w; ++e) {
      const Scalar f = a[taken + e * n] / a[taken + c * n];
      for (Count r = taken + 1; r < n; ++r) a[r + e * n] -= f * a[r + c * n];
    }
    ++taken;
  }
  return order;
}

// Candidates for pivots go up a binomial tree to the tile's home; each meeting of two sets of rows keeps those that partial pivoting chooses first.
// Rows of lower members stand first, and of equal entries partial pivoting takes the first. Every member gets the rows chosen and their
// factors: `top` is header, rows, L00 \ U00.
void LU::tournament(Count k, const Buffer &rows, Count m, const std::vector<Count> &ids, Buffer &top)
{
  const Count        w = g_.width(k), message = 1 + w + w * w;
  const int          p = col_plane_.size(), root = g_.home_row(k) + g_.px * g_.home_layer(k), q = (col_plane_.me() + p - root) % p;
  std::vector<int>   swaps((std::size_t)w);
  std::vector<Count> order;
  Buffer             work, mine((std::size_t)message), theirs;
  // of the rows in `from` (n x w, ld n), numbers in `number`, the first w that partial pivoting takes, as a message
  const auto choose = [&](const Scalar *from, Count n, const Scalar *number, Scalar *to) {
    work = Buffer((std::size_t)(n * w));
    std::copy_n(from, n * w, work.data());
    const Count chosen = std::min(n, w);
    if (getrf(n, w, work.data(), std::max<Count>(n, 1), swaps.data())) {
      std::copy_n(from, n * w, work.data());
      order = independent_rows(n, w, work.data());
    } else {
      order.resize((std::size_t)n);
      for (Count s = 0; s < n; ++s) order[(std::size_t)s] = s;
      for (Count s = 0; s < chosen; ++s) std::swap(order[(std::size_t)s], order[(std::size_t)swaps[(std::size_t)s]]);
    }
    to[0] = (Real)chosen;
    for (Count s = 0; s < chosen; ++s) to[1 + s] = number[order[(std::size_t)s]];
    for (Count c = 0; c < w; ++c)
      for (Count s = 0; s < chosen; ++s) to[1 + w + s + c * w] = from[order[(std::size_t)s] + c * n];
  };
  std::vector<Scalar> number(ids.size());
  std::transform(ids.begin(), ids.end(), number.begin(), [](Count r) { return (Real)r; });
  choose(rows.data(), m, number.data(), mine.data());
  for (int step = 1; step < p; step *= 2) {
    if (q & step) {
      col_plane_.send(mine.data(), message, (q - step + root) % p);
      break;
    }
    if (q + step >= p) continue;
    theirs = Buffer((std::size_t)message);
    col_plane_.recv(theirs.data(), message, (q + step + root) % p);
    const Count a = (Count)real(mine[0]), b = (Count)real(theirs[0]), n = a + b;
    Buffer      both((std::size_t)(n * w));
    number.resize((std::size_t)n);
    std::copy_n(mine.data() + 1, a, number.begin());
    std::copy_n(theirs.data() + 1, b, number.begin() + a);
    for (Count c = 0; c < w; ++c) {
      std::copy_n(mine.data() + 1 + w + c * w, a, both.data() + c * n);
      std::copy_n(theirs.data() + 1 + w + c * w, b, both.data() + a + c * n);
    }
    choose(both.data(), n, number.data(), mine.data());
  }
  top = Buffer((std::size_t)(header + w + w * w));
  if (q == 0) {
    // w rows at least are alive, so that w are chosen
    std::copy_n(mine.data() + 1 + w, w * w, top.data() + header + w);
    const Count zero = getrf(w, w, top.data() + header + w, w, swaps.data());
    for (Count s = 0; s < w; ++s) std::swap(mine[(std::size_t)(1 + s)], mine[(std::size_t)(1 + swaps[(std::size_t)s])]);
    std::copy_n(mine.data() + 1, w, top.data() + header);
    top[0] = (Real)zero;
  }
  col_plane_.bcast(top.data(), (Count)top.size(), root);
}

// Factorises the columns of tile k, of which the layers hold parts: on each layer a share of the rows is summed. Leaves the diagonal block here, and
// the message of the step in `message`.
void LU::panel(Count k, Scalar *message)
{
  const Count   w = g_.width(k), n = alive_, t = local_tile(k);
  const int     c = g_.layers;
  const Scalar *a = col(t);
  const auto    share = [&](int l) { return n * l / c; };
  const Count   first = share(l_), m = share(l_ + 1) - first;
  Buffer        rows((std::size_t)(m * w)), top;
  if (c == 1) {
    for (Count s = 0; s < w; ++s) std::copy_n(a + s * ml_, n, rows.data() + s * n);
  } else {
    std::vector<Count> out((std::size_t)c), in((std::size_t)c, m * w);
    Buffer             send((std::size_t)(n * w)), parts((std::size_t)(m * w * c));
    Scalar            *to = send.data();
    for (int l = 0; l < c; ++l) {
      const Count r = share(l + 1) - share(l);
      out[(std::size_t)l] = r * w;
      for (Count s = 0; s < w; ++s, to += r) std::copy_n(a + share(l) + s * ml_, r, to);
    }
    layers_.exchange(send.data(), out, parts.data(), in);
    std::copy_n(parts.data(), m * w, rows.data());
    for (int l = 1; l < c; ++l)
      for (Count e = 0; e < m * w; ++e) rows[(std::size_t)e] += parts[(std::size_t)(e + l * m * w)];
  }
  std::vector<Count> ids(row_at_.begin() + first, row_at_.begin() + first + m);
  std::vector<Count> at((std::size_t)m); // position of each row of `rows`
  for (Count r = 0; r < m; ++r) at[(std::size_t)r] = first + r;
  Count skip = 0; // rows of `rows` that are pivots for sure, having been moved to its top
  if (col_plane_.size() == 1) {
    std::vector<int> swaps((std::size_t)w);
    const Count      zero = getrf(n, w, rows.data(), n, swaps.data());
    for (Count s = 0; s < w; ++s) {
      std::swap(at[(std::size_t)s], at[(std::size_t)swaps[(std::size_t)s]]);
      std::swap(ids[(std::size_t)s], ids[(std::size_t)swaps[(std::size_t)s]]);
    }
    top    = Buffer((std::size_t)(header + w + w * w));
    top[0] = (Real)zero;
    for (Count s = 0; s < w; ++s) top[(std::size_t)(header + s)] = (Real)ids[(std::size_t)s];
    for (Count s = 0; s < w; ++s) std::copy_n(rows.data() + s * n, w, top.data() + header + w + s * w);
    skip = w;
  } else tournament(k, rows, m, ids, top);

  Scalar *a00 = diagonal_.data() + t * g_.tile * g_.tile;
  std::copy_n(top.data() + header + w, w * w, a00);
  if (top[0] == (Scalar)0)
    for (Count s = 0; s < w; ++s)
      if (!is_finite(a00[s + s * w])) top[0] = -1;
  std::copy_n(top.data(), header + w, message);
  if (top[0] != (Scalar)0) return;
  for (Count s = 0; s < w; ++s) {
    const Real d = petsctt::abs(a00[s + s * w]);
    outcome_.min_pivot = std::min(outcome_.min_pivot, d);
    for (Count r = 0; r < w; ++r) {
      raise(r <= s ? outcome_.max_u : outcome_.max_l, petsctt::abs(a00[r + s * w]));
    }
  }
  Scalar *out = message + header + w;
  if (i_ == g_.home_row(k))
    for (Count s = 0; s < w; ++s)
      for (Count r = s + 1; r < w; ++r) *out++ = a00[r + s * w];

  // L of the rows that stay, and its slices to the layers; the rows of each in the order they will have
  if (!skip) trsm('R', 'U', 'N', 'N', m, w, 1.0, a00, w, rows.data(), std::max<Count>(m, 1));
  const Mask               leaving = mask(k, top.data() + header);
  const std::vector<Count> target  = leaving.targets(n);
  for (Count s = 0; s < w; ++s)
    for (Count r = skip; r < m; ++r)
      if (target[(std::size_t)at[(std::size_t)r]] >= 0) {
        raise(outcome_.max_l, petsctt::abs(rows[(std::size_t)(r + s * m)]));
      }
  if (c == 1) {
    for (Count s = 0; s < w; ++s)
      for (Count r = skip; r < m; ++r) {
        const Count to = target[(std::size_t)at[(std::size_t)r]];
        if (to >= 0) out[to + s * leaving.left] = rows[(std::size_t)(r + s * m)];
      }
    return;
  }
  std::vector<std::vector<Count>> order((std::size_t)c); // targets of each layer's share
  for (int l = 0; l < c; ++l)
    for (Count r = share(l); r < share(l + 1); ++r)
      if (target[(std::size_t)r] >= 0) order[(std::size_t)l].push_back(target[(std::size_t)r]);
  const Count        stay = (Count)order[(std::size_t)l_].size();
  std::vector<Count> counts_out((std::size_t)c), counts_in((std::size_t)c);
  for (int l = 0; l < c; ++l) {
    counts_out[(std::size_t)l] = stay * wl(w, l);
    counts_in[(std::size_t)l]  = (Count)order[(std::size_t)l].size() * wl(w, l_);
  }
  Buffer  send((std::size_t)(stay * w)), recv((std::size_t)(leaving.left * wl(w, l_)));
  Scalar *to = send.data();
  for (Count s = 0; s < w; ++s)
    for (Count r = 0; r < m; ++r)
      if (target[(std::size_t)(first + r)] >= 0) *to++ = rows[(std::size_t)(r + s * m)];
  layers_.exchange(send.data(), counts_out, recv.data(), counts_in);
  const Scalar *from = recv.data();
  for (int l = 0; l < c; ++l)
    for (Count s = 0; s < wl(w, l_); ++s)
      for (Count r : order[(std::size_t)l]) out[r + s * leaving.left] = *from++;
}

// The rows of U of step k: partial rows are summed over the layers, each layer taking a share of the columns, sent to the tile's home row, solved
// for there, and go to the layers by slices and to all grid rows, of which each keeps those of its pivots. u: slice x columns of this process after
// tile k.
void LU::upper(Count k, const Scalar *l00, const Mask &m, Buffer &u)
{
  const Count w = g_.width(k), from = std::min(nl_, first_local_tile_after(k) * g_.tile), n = nl_ - from, ws = wl(w, l_), here = (Count)m.pivots.size();
  const int   c = g_.layers, home = g_.home_row(k);
  const auto  share = [&](int l) { return n * l / c; };
  const Count mine = share(l_ + 1) - share(l_);
  // rows of pivots, in the order of the pivots; they are behind the rows that stay
  std::vector<Count> at((std::size_t)here);
  for (Count r = 0; r < here; ++r) at[(std::size_t)r] = where_[(std::size_t)(pivots_[(std::size_t)(k * g_.tile + m.pivots[(std::size_t)r])] / g_.px)];
  Buffer rows((std::size_t)(here * n)), solved;
  for (Count s = 0; s < n; ++s) {
    const Scalar *a = a_.data() + (from + s) * ml_;
    for (Count r = 0; r < here; ++r) rows[(std::size_t)(r + s * here)] = a[at[(std::size_t)r]];
  }
  if (c > 1) {
    std::vector<Count> out((std::size_t)c), in((std::size_t)c, here * mine);
    for (int l = 0; l < c; ++l) out[(std::size_t)l] = here * (share(l + 1) - share(l));
    Buffer parts((std::size_t)(here * mine * c));
    layers_.exchange(rows.data(), out, parts.data(), in);
    rows = Buffer((std::size_t)(here * mine));
    std::copy_n(parts.data(), here * mine, rows.data());
    for (int l = 1; l < c; ++l)
      for (Count e = 0; e < here * mine; ++e) rows[(std::size_t)e] += parts[(std::size_t)(e + l * here * mine)];
  }
  if (i_ != home) {
    if (here * mine > 0) col_.send(rows.data(), here * mine, home);
    u = Buffer((std::size_t)(ws * n));
  } else {
    solved = Buffer((std::size_t)(w * mine));
    std::vector<std::vector<Count>> order((std::size_t)g_.px); // the pivots of each grid row
    for (Count s = 0; s < w; ++s) order[(std::size_t)(pivots_[(std::size_t)(k * g_.tile + s)] % g_.px)].push_back(s);
    std::vector<Count> none((std::size_t)g_.px, 0), in((std::size_t)g_.px);
    for (int i = 0; i < g_.px; ++i) in[(std::size_t)i] = (Count)order[(std::size_t)i].size() * mine;
    none[(std::size_t)i_] = here * mine;
    Buffer all((std::size_t)(w * mine));
    col_.exchange(rows.data(), none, all.data(), in);
    const Scalar *f = all.data();
    for (int i = 0; i < g_.px; ++i)
      for (Count s = 0; s < mine; ++s)
        for (Count r : order[(std::size_t)i]) solved[(std::size_t)(r + s * w)] = *f++;
    Buffer        lower((std::size_t)(w * w));
    const Scalar *packed = l00;
    for (Count s = 0; s < w; ++s)
      for (Count r = s + 1; r < w; ++r) lower[(std::size_t)(r + s * w)] = *packed++;
    trsm('L', 'L', 'N', 'U', w, mine, 1.0, lower.data(), w, solved.data(), w);
    for (Count e = 0; e < w * mine; ++e) raise(outcome_.max_u, petsctt::abs(solved[(std::size_t)e]));
    if (c == 1) u = std::move(solved);
    else {
      Buffer             send((std::size_t)(w * mine)), recv((std::size_t)(ws * n));
      std::vector<Count> out((std::size_t)c), counts((std::size_t)c);
      Scalar            *to = send.data();
      for (int l = 0; l < c; ++l) {
        out[(std::size_t)l]    = wl(w, l) * mine;
        counts[(std::size_t)l] = ws * (share(l + 1) - share(l));
        for (Count s = 0; s < mine; ++s, to += wl(w, l)) std::copy_n(solved.data() + g_.slice(w, l) + s * w, wl(w, l), to);
      }
      layers_.exchange(send.data(), out, recv.data(), counts); // columns come in the order of the layers: their own
      u = std::move(recv);
    }
  }
  col_.pipeline(u.data(), ws * n, home);
  // U of the pivots of this grid row takes the place of their rows, which nobody needs any more; what other layers have of it is zero here
  const Count first = g_.slice(w, l_);
  for (Count s = 0; s < n; ++s) {
    Scalar       *a = a_.data() + (from + s) * ml_;
    const Scalar *f = u.data() + s * ws;
    for (Count r = 0; r < here; ++r) {
      const Count pivot = m.pivots[(std::size_t)r];
      a[at[(std::size_t)r]] = pivot >= first && pivot < first + ws ? f[pivot - first] : (Scalar)0;
    }
  }
}

} // namespace petsctt::lu
