#include "lu/plan.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt::lu {

namespace {

// A product with an inner dimension of w runs at w / (w + 20) of the speed of one with a large inner dimension.
double slowness(double w) { return (w + 20) / w; }

double seconds(const Grid &g, const Prediction &p, const Machine &m)
{
  const double w = (double)g.tile, n = (double)g.n, P = (double)g.active();
  // Panels, twice (tournament, L) and at a third of the speed: each grid column does its own while the others update, so that they cost a process its
  // part of them. Rows of U are waited for by all but the home row.
  const double panels = n * n * w * 3 * m.flop * (P > 1 ? 1. : 0.5) / P, upper = P > 1 ? n * n * w / (2. * g.py * g.layers) * 2 * m.flop : 0;
  return p.flops * m.flop * slowness(std::max(1., w / g.layers)) + panels + upper + p.words * m.word + p.messages * m.message + n / w * (P > 1 ? 1e-5 : 0);
}

std::vector<Count> tile_candidates(Count n, int px, int layers)
{
  std::vector<Count> v;
  for (Count t : {16, 24, 32, 48, 64, 96, 128, 192, 256}) {
    const Count c = (t + layers - 1) / layers * layers;
    if (c / layers >= 32 && c * 4 * px <= n) v.push_back(c);
  }
  if (v.empty()) v.push_back(std::max<Count>(1, std::min<Count>(n, std::max<Count>(8, std::min<Count>(32 * layers, n / (4 * px))))));
  return v;
}

} // namespace

// Steps are alike but for the rows n that are left, of which there are N/2 on average: sums over the steps in closed form. See factor.cxx for
// the steps, which the lines below follow in their order.
Prediction predict_lu(const Grid &g)
{
  const double N = (double)g.n, v = (double)std::min(g.tile, std::max<Count>(g.n, 1)), px = g.px, py = g.py, c = g.layers, P = (double)g.active();
  const double team = px * c, steps = (double)g.tiles();
  const double before = N * (N + v) / 2, after = N * (N - v) / 2; // sums of w n before and after the step
  double       words = 0, messages = 0;
  words += (c - 1) * before;                                             // panel over layers
  words += (team - 1) * 2 * (N * v + N + steps);                                 // tournament: up with candidates, down with the factors of the pivot rows
  words += after * (c - 1) / c;                                          // L: slices to layers
  words += after * (py - 1) + (N + steps) * px * (py - 1) * c + N * (v - 1) / 2 * (py - 1) * c; // L along grid rows, with row numbers and L00
  words += after * (c - 1);                                              // pivot rows over layers
  words += after * (1 - 1 / px);                                         // and to the home row
  words += after * (c - 1) / c;                                          // U: slices to layers
  words += after * (px - 1);                                             // U along grid columns
  messages += steps * (team * (c - 1) * 2 + 2 * (team - 1) + px * (py - 1) * c);
  messages += steps * (P * (c - 1) + P / px * (px - 1) + P / px * (c - 1) + P / px * (px - 1));
  Prediction p;
  p.words    = words / P;
  p.messages = messages / P;
  p.flops    = 2. / 3 * N * N * N / P;
  const double rows = (double)g.local_rows(0), cols = (double)g.local_cols(0);
  p.memory   = rows * cols + rows * cols / (2 * c) + 4 * v * (rows + cols) + cols * v;
  p.seconds  = seconds(g, p, Machine());
  return p;
}

Grid plan_lu(Count n, int size, const Wishes &w, const Machine &m)
{
  PETSCTT_REQUIRE(n >= 0 && size >= 1, PETSC_ERR_ARG_OUTOFRANGE, "A plan for order %lld on %d processes", (long long)n, size);
  PETSCTT_REQUIRE(w.px >= 0 && w.py >= 0 && w.layers >= 0 && w.tile >= 0, PETSC_ERR_ARG_OUTOFRANGE, "Grid %d,%d,%d and tile %lld must be positive", w.px, w.py, w.layers, (long long)w.tile);
  PETSCTT_REQUIRE((double)std::max(1, w.px) * std::max(1, w.py) * std::max(1, w.layers) <= size, PETSC_ERR_ARG_OUTOFRANGE, "Grid %d,%d,%d needs %lld processes; there are %d", w.px, w.py, w.layers,
                  (long long)std::max(1, w.px) * std::max(1, w.py) * std::max(1, w.layers), size);
  struct Candidate {
    Grid   g;
    double seconds, words; // words of all processes
  };
  std::vector<Candidate> all;
  double                 smallest = -1;
  // More processes than rows per grid row and tiles per grid column are no use.
  for (int c = 1; c <= size; ++c) {
    if (w.layers ? c != w.layers : c > 1 && (double)c * c * c > 4. * size) continue;
    for (int px = 1; px <= size / c; ++px) {
      if (w.px ? px != w.px : px > 1 && px > n) continue;
      const int room = size / (c * px);
      for (int py = w.py ? w.py : 1; py <= (w.py ? w.py : room); ++py) {
        if (py > room) break;
        const bool chosen = w.px || w.py || w.layers;
        // flat grids, and idle processes beyond a tenth, are looked at only where few processes are better than all
        if (!chosen && (px > 4 * py || py > 4 * px)) continue;
        for (Count tile : w.tile ? std::vector<Count>{w.tile} : tile_candidates(n, px, c)) {
          Grid g;
          g.n      = n;
          g.px     = px;
          g.py     = py;
          g.layers = c;
          g.tile   = tile;
          if (!chosen && g.active() > 1 && g.tiles() < py) continue;
          const Prediction p = predict_lu(g);
          smallest           = smallest < 0 ? p.memory : std::min(smallest, p.memory);
          if (w.memory > 0 && p.memory > w.memory) continue;
          all.push_back({g, seconds(g, p, m), p.words * g.active()});
        }
      }
    }
  }
  PETSCTT_REQUIRE(!all.empty(), PETSC_ERR_MEM, "A factorisation of order %lld needs %g words on each of %d processes at least; %g are allowed", (long long)n, smallest, size, w.memory);
  // The fastest says how many processes are of use. Of those that take hardly longer, with a tenth of them idle at the most: those with the
  // fewest words; of those with hardly more, the fastest.
  const auto      faster = [](const Candidate &a, const Candidate &b) { return a.seconds < b.seconds; };
  const Candidate first  = *std::min_element(all.begin(), all.end(), faster);
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Candidate &c) { return c.seconds > 1.2 * first.seconds || 10 * c.g.active() < 9 * first.g.active(); }), all.end());
  const double fewest = std::min_element(all.begin(), all.end(), [](const Candidate &a, const Candidate &b) { return a.words < b.words; })->words;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Candidate &c) { return c.words > 1.03 * fewest; }), all.end());
  return std::min_element(all.begin(), all.end(), faster)->g;
}

} // namespace petsctt::lu
