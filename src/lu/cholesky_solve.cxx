#include "base/error.hpp"
#include "lu/cholesky.hpp"
#include "lu/deal.hpp"

#include <algorithm>

// Solves with the factor where it is: what moves are right-hand sides, rows of a tile among the processes that have its class. With n of them,
// about 2 N n (per_class (layers + 1) - 2) words in all: on a plane, 4 N n / sqrt(P) per process.
namespace petsctt::lu {

// Some right-hand sides. For each class here, and its rows: the columns of this process's share, which it solves for with the diagonal tiles; partial
// sums, and then the solution, of all columns.
struct Cholesky::Block {
  Count               n = 0; // right-hand sides
  std::vector<Buffer> own;   // rows of the class x share
  std::vector<Buffer> all;   // rows of the class x n
  Count share(int g, int of) const { return n * g / of; } // first column of share g
};

// Rows of right-hand sides, which are with the processes that have their classes: each of these has a share of the columns.
template <class F>
void Cholesky::row_pieces(Block &b, int owner, int worker, F f) const
{
  const Count begin = starts_[(std::size_t)owner];
  const int   Z = group_size(), p = worker % g_.per_layer();
  rows_by_class(begin, starts_[(std::size_t)owner + 1], [&](int a, Count first, Count n, Count at) {
    const auto &m = members_[(std::size_t)a];
    if (!std::binary_search(m.begin(), m.end(), p)) return;
    const int g = group_index(a, p, worker / g_.per_layer());
    Piece     q;
    q.row     = first - begin;
    q.rows    = n;
    q.column  = b.share(g, Z);
    q.columns = b.share(g + 1, Z) - q.column;
    q.ld      = g_.class_rows(a);
    if (worker == rank_) q.at = b.own[(std::size_t)slot(a)].data() + at;
    f(q);
  });
}

// L y = b, tile by tile: what the tiles before contribute is summed over the processes that have the tile's class, solved for by each in its share of the
// columns, and goes by slices to all of them, which add what they contribute to the rows behind.
void Cholesky::forward(Block &b) const
{
  const int   Z = group_size();
  const Count n = b.n, K = g_.tiles();
  for (Count k = 0; k < K; ++k) {
    const int a = g_.class_of(k), s = slot(a);
    if (s < 0) continue;
    const Team        &group = groups_[(std::size_t)s];
    const Count        w = g_.width(k), ws = wl(w, l_), ld = g_.class_rows(a), cols = b.share(group.me() + 1, Z) - b.share(group.me(), Z);
    Scalar            *y = b.own[(std::size_t)s].data() + row_in_class(k);
    std::vector<Count> out((std::size_t)Z), in((std::size_t)Z, w * cols);
    if (k > 0) {
      Buffer part((std::size_t)(w * n)), parts((std::size_t)(w * cols * Z));
      for (Count c = 0; c < n; ++c) std::copy_n(b.all[(std::size_t)s].data() + row_in_class(k) + c * ld, w, part.data() + c * w);
      for (int g = 0; g < Z; ++g) out[(std::size_t)g] = w * (b.share(g + 1, Z) - b.share(g, Z));
      group.exchange(part.data(), out, parts.data(), in);
      const Scalar *f = parts.data();
      for (int g = 0; g < Z; ++g)
        for (Count c = 0; c < cols; ++c)
          for (Count r = 0; r < w; ++r) y[r + c * ld] -= *f++;
    }
    trsm('L', 'U', 'C', 'N', w, cols, 1.0, u_[(std::size_t)k].data(), w, y, ld);
    if (k + 1 == K) continue;
    Buffer  cut((std::size_t)(w * cols * g_.per_class())), slice((std::size_t)(ws * n));
    Scalar *z = cut.data();
    for (int g = 0; g < Z; ++g) {
      const int l            = layer_in_group(a, g);
      out[(std::size_t)g]    = wl(w, l) * cols;
      in[(std::size_t)g]     = ws * (b.share(g + 1, Z) - b.share(g, Z));
      for (Count c = 0; c < cols; ++c) z = std::copy_n(y + g_.slice(w, l) + c * ld, wl(w, l), z);
    }
    group.exchange(cut.data(), out, slice.data(), in);
    for (const Segment &t : segments(p_, k))
      for (const Run &r : runs(t.tiles))
        if (ws > 0)
          gemm('N', 'N', r.rows, n, ws, 1.0, panels_[(std::size_t)k].data() + t.at + 1 + r.at, t.rows, slice.data(), ws, 1.0,
               b.all[(std::size_t)slot(t.cls)].data() + r.row, g_.class_rows(t.cls));
  }
}

// L^H x = y, from the last tile. The rows of x of a tile go to all processes that have its class, which need them for the tiles before.
void Cholesky::backward(Block &b) const
{
  const int   Z = group_size();
  const Count n = b.n, K = g_.tiles();
  for (Count k = K - 1; k >= 0; --k) {
    const int a = g_.class_of(k), s = slot(a);
    if (s < 0) continue;
    const Team        &group = groups_[(std::size_t)s];
    const Count        w = g_.width(k), ws = wl(w, l_), ld = g_.class_rows(a), cols = b.share(group.me() + 1, Z) - b.share(group.me(), Z);
    Scalar            *y = b.own[(std::size_t)s].data() + row_in_class(k);
    std::vector<Count> out((std::size_t)Z), in((std::size_t)Z);
    if (k + 1 < K) {
      Buffer part((std::size_t)(ws * n)), parts((std::size_t)(w * cols * g_.per_class()));
      part.fill(0);
      for (const Segment &t : segments(p_, k))
        for (const Run &r : runs(t.tiles))
          if (ws > 0)
            gemm('C', 'N', ws, n, r.rows, 1.0, panels_[(std::size_t)k].data() + t.at + 1 + r.at, t.rows,
                 b.all[(std::size_t)slot(t.cls)].data() + r.row, g_.class_rows(t.cls), 1.0, part.data(), ws);
      for (int g = 0; g < Z; ++g) {
        out[(std::size_t)g] = ws * (b.share(g + 1, Z) - b.share(g, Z));
        in[(std::size_t)g]  = wl(w, layer_in_group(a, g)) * cols;
      }
      group.exchange(part.data(), out, parts.data(), in);
      const Scalar *f = parts.data();
      for (int g = 0; g < Z; ++g) {
        const int l = layer_in_group(a, g);
        for (Count c = 0; c < cols; ++c)
          for (Count r = g_.slice(w, l); r < g_.slice(w, l + 1); ++r) y[r + c * ld] -= *f++;
      }
    }
    trsm('L', 'U', 'N', 'N', w, cols, 1.0, u_[(std::size_t)k].data(), w, y, ld);
    if (k == 0) break;
    Buffer own((std::size_t)(w * cols)), all((std::size_t)(w * n));
    for (Count c = 0; c < cols; ++c) std::copy_n(y + c * ld, w, own.data() + c * w);
    for (int g = 0; g < Z; ++g) out[(std::size_t)g] = w * (b.share(g + 1, Z) - b.share(g, Z));
    group.allgather(own.data(), all.data(), out);
    for (Count c = 0; c < n; ++c) std::copy_n(all.data() + c * w, w, b.all[(std::size_t)s].data() + row_in_class(k) + c * ld);
  }
}

namespace {

constexpr Count at_a_time = 512; // right-hand sides that are solved for at a time

} // namespace

// What comes here and what is sent of it, the rows of the classes here, and what is sent of these
double Cholesky::solve_words(Count nrhs) const
{
  Count most = 0;
  for (int p = 0; p < size_; ++p) most = std::max(most, starts_[(std::size_t)p + 1] - starts_[(std::size_t)p]);
  const double n = (double)std::min(nrhs, at_a_time), on = std::max<double>(1, (double)members_.size() / (double)std::max<std::size_t>(1, classes_of_[0].size()));
  return n * (2. * (double)most + 4. * (double)g_.n / on) + scratch;
}

void Cholesky::solve(Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  PETSCTT_REQUIRE(factored_, PETSC_ERR_ORDER, "There is no factor to solve with");
  ledger_ = Ledger();
  for (Count first = 0; first < nrhs; first += at_a_time) {
    Block r;
    r.n = std::min(at_a_time, nrhs - first);
    if (active_)
      for (int a : classes_) {
        const int g = groups_[(std::size_t)slot(a)].me(), Z = group_size();
        r.own.emplace_back((std::size_t)(g_.class_rows(a) * (r.share(g + 1, Z) - r.share(g, Z))));
        r.all.emplace_back((std::size_t)(g_.class_rows(a) * r.n));
        r.all.back().fill(0);
      }
    const auto pieces = [&](int owner, int worker, auto f) { row_pieces(r, owner, worker, f); };
    deal(world_, g_.active(), pieces, b + first * ldb, ldb);
    if (active_) {
      forward(r);
      backward(r);
    }
    collect(world_, g_.active(), pieces, x + first * ldx, ldx);
  }
  traffic_.solve.messages += ledger_.messages;
  traffic_.solve.words += ledger_.words;
  traffic_.solve.received += ledger_.received;
}

// The factor to process 0, tile column by tile column: from each process that has the column's class what it has of it.
void Cholesky::gather(Scalar *x) const
{
  PETSCTT_REQUIRE(factored_, PETSC_ERR_ORDER, "There is no factor to gather");
  if (!active_) return;
  const Ledger keep = ledger_;
  for (Count k = 0; k < g_.tiles(); ++k) {
    const int   a = g_.class_of(k);
    const Count w = g_.width(k), k0 = k * g_.tile;
    for (int l = 0; l < g_.layers; ++l)
      for (int p : members_[(std::size_t)a]) {
        const int from = g_.process(p, l);
        if (rank_ != 0 && rank_ != from) continue;
        const bool diagonal = l == 0 && p == members_[(std::size_t)a][0];
        // what is sent: the segments, with their states, and the factor of the diagonal tile
        std::vector<Segment> s = segments(p, k);
        const Count          ws = wl(w, l);
        Count                n = 0;
        for (Segment &t : s) {
          t.at = n;
          n += 1 + t.rows * ws;
        }
        Buffer        m;
        const Scalar *f = nullptr, *u = nullptr;
        if (rank_ == from) {
          f = panels_[(std::size_t)k].data();
          u = u_[(std::size_t)k].data();
          if (from != 0) {
            world_.send(f, n, 0);
            if (diagonal) world_.send(u, w * w, 0);
            continue;
          }
        } else {
          m = Buffer((std::size_t)(n + w * w));
          world_.recv(m.data(), n, from);
          if (diagonal) world_.recv(m.data() + n, w * w, from);
          f = m.data();
          u = m.data() + n;
        }
        for (const Segment &t : s)
          for (Count c = 0; c < ws; ++c) {
            const Scalar *column = f + t.at + 1 + c * t.rows;
            for (Count i : t.tiles) {
              std::copy_n(column, g_.width(i), x + i * g_.tile + (k0 + g_.slice(w, l) + c) * g_.n);
              column += g_.width(i);
            }
          }
        if (diagonal)
          for (Count c = 0; c < w; ++c)
            for (Count r = c; r < w; ++r) x[k0 + r + (k0 + c) * g_.n] = conj(u[c + r * w]);
      }
  }
  ledger_ = keep;
}

} // namespace petsctt::lu
