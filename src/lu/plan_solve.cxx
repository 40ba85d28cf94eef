#include "lu/plan.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt::lu {

namespace {

// Of `boxes`, those that are not empty with `balls` in them anywhere.
double hit(double boxes, double balls) { return boxes * (1 - std::pow(1 - 1 / boxes, balls)); }

// What one block of right-hand sides costs: words and messages of all processes, and the messages that wait for one another.
struct Cost {
  double words = 0, messages = 0, depth = 0, path = 0; // path: words that do
};

// n right-hand sides on px x py x C processes; the lines follow solve.cxx.
Cost tile_cost(const Grid &g, double n, double C, bool transposed)
{
  const double px = g.px, py = g.py, team = px * C;
  const double shares = std::min(n, team), layers = std::min(n, C), rows = std::min(n, px); // that have right-hand sides
  Cost         t;
  double       in = 0, sliced = 0;                                                                    // grid rows with pivots of a tile, and with such of a slice
  for (Count k = 0; k < g.tiles(); ++k) {
    const double w = (double)g.width(k), slices = std::min(C, w);
    if (k == 0 || k + 1 == g.tiles()) {
      in     = hit(px, w);
      sliced = hit(team, w);
    }
    const bool   first = k == 0, last = k + 1 == g.tiles();
    if (!transposed) {
      t.words += w * n * (py * C - 1 + 1 - 1 / px);                       // L: rows to the grid column and to shares
      t.messages += in * layers * (py * C - 1) + shares * in * (1 - 1 / px);
      if (!last) {
        t.words += w * n * (1 - 1 / C + px - 1);                          // slices to layers and along the grid column
        t.messages += shares * (slices - 1) + slices * rows * (px - 1);
        t.words += w * n * (py - 1 / C + 1 - 1 / px);                     // U: the same
        t.messages += sliced * layers * (py - 1 / C) + shares * in * (1 - 1 / px);
      }
      if (!first) {
        t.words += w * n * (team - 1);                                    // x to all of the grid column
        t.messages += shares * (team - 1);
      }
    } else {
      if (!first) {
        t.words += w * n * (team - 1);                                    // U: parts of the grid column to shares
        t.messages += shares * (team - 1);
      }
      if (!last) {
        t.words += w * n * (1 - 1 / team + py - 1);                       // to the grid rows of the pivots and along them
        t.messages += shares * sliced * (1 - 1 / team) + sliced * (py - 1);
        t.words += w * n * (px - 1 / C);                                  // L: parts to shares
        t.messages += shares * (px - 1 / C) * slices;
      }
      t.words += w * n * (1 - 1 / px + py * C - 1);
      t.messages += shares * in * (1 - 1 / px) + in * layers * (py * C - 1);
    }
    t.depth += 2 * (py * C - 1 + px - 1) + C - 1 + px - 1 + team - 1;
  }
  return t;
}

// The lines follow solve_wide.cxx.
Cost wide_cost(const Grid &g, double n, Count step, bool transposed)
{
  const double px = g.px, py = g.py, c = g.layers, row = py * c, col = px * c;
  Cost         t;
  for (Count k = 0; k < g.tiles(); k += step) {
    const Count  end = std::min(g.tiles(), k + step);
    const double B = (double)std::min(g.n, end * g.tile) - (double)(k * g.tile), in = hit(px, B), columns = std::min(py, (double)(end - k));
    const bool   first = k == 0, last = end == g.tiles();
    double       gather = 0, spread = 0; // how often
    double       elsewhere = 0, others = 0; // rows of the block that are tiles of another grid column than the home's; grid columns of such
    const int    home = g.col_of((int)(k / step % g.active()));
    for (Count j = k; j < end; ++j)
      if ((int)(j % g.py) != home) {
        elsewhere += (double)g.width(j);
        others += j < k + g.py;
      }
    if (!transposed) {
      const auto add = [&](bool g1, bool s1, double slices, double copies) { // partial sums to the home of the step; solution to columns
        gather += g1;
        spread += s1;
        t.words += g1 * B * n * (row - 1 + 1 - 1 / px) + s1 * B * n * (row - 1 + copies * (px - 1));
        t.messages += g1 * (in * (row - 1) + in * (1 - 1 / px)) + s1 * (row - 1 + columns * slices * (px - 1));
      };
      add(true, !last, std::min(c, (double)g.width(k)), 1);
      add(!last, !first, c, c);
    } else {
      const auto add = [&](bool g1, bool s1) {
        gather += g1;
        spread += s1;
        t.words += g1 * n * (B * (col - 1) + elsewhere) + s1 * B * n * (px - 1 + row - 1);
        t.messages += g1 * (columns * (col - 1) + others) + s1 * (px - 1 + in * (row - 1));
      };
      add(!first, !last);
      add(!last, true);
    }
    const double deep = std::ceil(std::log2(transposed ? col : row)), wide = std::ceil(std::log2(transposed ? row : px)), ends = (transposed ? py : px);
    t.depth += gather * (deep + ends - 1) + spread * (deep + wide);
    t.path += n * B * (gather * (deep / ends + 1) + spread * (deep + wide / (transposed ? px : py)));
  }
  return t;
}

// The lines follow solve_columns.cxx.
Cost column_cost(const Grid &g)
{
  const double px = g.px, py = g.py, c = g.layers, col = px * c, P = (double)g.active();
  Cost         t;
  for (Count k = 0; k < g.tiles(); ++k) {
    const double w = (double)g.width(k), above = (double)(k * g.tile), below = (double)g.n - above - w;
    t.words += (P - 1) * w * (above + below + 2 * w);
    // of L in the processes of a grid column; of U; one of them has the diagonal tile in any case
    t.messages += (P - 1) * (std::max(1., std::min(c, w) * hit(px, below)) + std::max(1., hit(col, above)));
    t.depth += 2 * (std::ceil(std::log2(py)) + col - 1);
    t.path += w * (above + below + 2 * w) / col * (std::ceil(std::log2(py)) + col - 1);
  }
  return t;
}

} // namespace

Count solve_block(const Grid &g, Way way) { return way == Way::apart ? (Count)512 * g.layers : way == Way::columns ? std::max<Count>(4 * g.n, 512) : 512; }

Prediction predict_solve(const Grid &g, Count nrhs, const Schedule &s, bool transposed)
{
  const Machine m;
  const double  N = (double)g.n, P = (double)g.active(), c = g.layers, step = (double)std::min<Count>(g.n, s.step * g.tile);
  const Count   block = solve_block(g, s.way);
  Prediction    p;
  for (Count first = 0; first < nrhs; first += block) {
    const double n = (double)std::min(block, nrhs - first), tiles_of = std::min((double)g.py, N / P / (double)g.tile + 1);
    Cost         t;
    double       shares; // processes of a grid column that have right-hand sides
    if (s.way == Way::wide) {
      t      = wide_cost(g, n, s.step, transposed);
      shares = 1;
    } else if (s.way == Way::columns) {
      t      = column_cost(g);
      shares = 1;
    } else if (s.way == Way::apart) {
      const double layers = std::min(n, c);
      t                   = tile_cost(g, n / layers, 1, transposed);
      t.words *= layers;
      t.messages *= layers;
      shares = layers * std::min(n / layers, (double)g.px);
    } else {
      t      = tile_cost(g, n, c, transposed);
      shares = std::min(n, g.px * c);
    }
    // from the user's rows to those of L, and from columns of U to the user's rows
    t.words += 2 * N * n * (1 - 1 / P);
    if (s.way == Way::columns) t.messages += 2 * std::min(N, P) * std::min(n, P) * (1 - 1 / P);
    else t.messages += s.way == Way::apart && n < c ? hit(P, N) * n / c * (P - 1) : std::min(N, P) * std::min(std::max(1., N / P), P - 1);
    if (s.way != Way::columns) t.messages += (s.way == Way::wide ? std::min(P * P, P + (step > 0 ? std::ceil(N / step) : 0) - 1) : P * tiles_of * shares) * (1 - 1 / P);
    p.words += t.words / P;
    p.messages += t.messages / P;
    // of U, all layers that are not apart work on all of it
    const bool   all = s.way == Way::apart || s.way == Way::columns;
    const double copies = all ? 2 : 1 + c;
    p.flops += N * N * n / P * copies;
    p.memory  = std::max(p.memory, s.way == Way::columns ? 3 * n * N / P : n * N / g.px + n * N / g.py / (g.px * c) + 2 * n * N / P);
    p.seconds += (N * N * n / P * copies) * m.flop * (1 + 20 * c / (double)g.tile) + N * N / P * (s.way == Way::columns ? P : s.way == Way::apart ? c : (1 + c) / 2) * m.read;
    p.seconds += t.depth * m.message + t.path * m.word + t.words / P * m.word;
    if (s.way == Way::wide) p.seconds += N * step * (2 * n * m.flop + m.read);
  }
  return p;
}

Prediction predict_preparation(const Grid &g, const Schedule &s)
{
  const Machine m;
  const double  N = (double)g.n, P = (double)g.active(), v = (double)std::min(g.tile, std::max<Count>(g.n, 1)), c = g.layers;
  Prediction    p;
  if (s.way == Way::apart) {
    p.words    = (c - 1) * N * (N - v) / P;
    p.messages = (c - 1) * c * g.px * (double)g.tiles() / P;
  } else if (s.way == Way::wide) {
    const double steps = (double)((g.tiles() + s.step - 1) / s.step), B = (double)std::min(g.n, s.step * g.tile);
    p.words    = steps > 0 ? ((steps - 1) * B * B + std::pow(N - (steps - 1) * B, 2)) * (1 - 1 / P) / P : 0;
    p.messages = steps * (P - 1) / P;
    p.memory   = B * B * std::ceil(steps / P);
  }
  p.seconds = p.words * m.word + p.messages * m.message;
  return p;
}

SolvePlan plan_solve(const Grid &g, Count nrhs, double memory)
{
  PETSCTT_REQUIRE(nrhs >= 0, PETSC_ERR_ARG_OUTOFRANGE, "A solve with %lld right-hand sides", (long long)nrhs);
  SolvePlan p;
  if (g.active() == 1 || g.n == 0 || nrhs == 0) return p;
  double least = predict_solve(g, nrhs, p.schedule).seconds;
  // diagonal blocks of wide steps have room where the factorisation had its panels
  const double room = predict_lu(g).memory - (double)g.local_rows(0) * (double)g.local_cols(0);
  for (Count step = 1; step <= g.tiles(); step *= 2) {
    const Schedule s{Way::wide, step};
    if (nrhs > solve_block(g, Way::wide) || predict_preparation(g, s).memory > room) break;
    const double t = predict_solve(g, nrhs, s).seconds;
    if (t < least) {
      least      = t;
      p.schedule = s;
    }
  }
  const Schedule   columns{Way::columns, 1};
  const Prediction all = predict_solve(g, nrhs, columns);
  if (all.seconds < least && (memory <= 0 || all.memory <= memory)) {
    least      = all.seconds;
    p.schedule = columns;
  }
  if (g.layers > 1) {
    const Schedule s{Way::apart, 1};
    p.saved = std::max(0., least - predict_solve(g, nrhs, s).seconds);
    p.once  = predict_preparation(g, s).seconds;
  }
  return p;
}

} // namespace petsctt::lu
