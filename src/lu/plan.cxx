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
  const double panels = n * n * w * 3 * m.flop * (P > 1 ? 1. : 0.5) / P;
  const double upper  = P > 1 ? n * n * w / (2. * g.py * g.layers) * 2 * m.flop : 0;
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
  messages += steps * (P * (c - 1) + P / px * (px - 1) + P / px * (c - 1));
  // U goes along a column in one to four pieces of 8192 entries at least, see Team::pipeline(): at step k there are v / c (N - (k + 1) v) / py
  double pieces = std::max(0., steps - 1);
  for (int p = 2; px > 2 && p <= 4; ++p) pieces += std::max(0., std::min(steps - 1, std::floor((N - 8192. * p * c * py / v) / v)));
  messages += P / px * (px - 1) * pieces;
  Prediction p;
  p.words    = words / P;
  p.messages = messages / P;
  p.flops    = 2. / 3 * N * N * N / P;
  const double rows = (double)g.local_rows(0), cols = (double)g.local_cols(0);
  p.memory   = rows * cols + 4 * v * (rows + cols) + cols * v; // L and U take the place of the matrix
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
    double seconds, words; // words of all processes, and of one at work: their geometric mean but for a factor, since idle processes lower the one and raise the other
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
          all.push_back({g, seconds(g, p, m), p.words * std::sqrt((double)g.active())});
        }
      }
    }
  }
  PETSCTT_REQUIRE(!all.empty(), PETSC_ERR_MEM, "A factorisation of order %lld needs %g words on each of %d processes at least; %g are allowed", (long long)n,
                  smallest, size, w.memory);
  // The fastest says how many processes are of use. Of those that take hardly longer, with a tenth of them idle at the most: those with the
  // fewest words; of those with hardly more, the fastest.
  const auto      faster = [](const Candidate &a, const Candidate &b) { return a.seconds < b.seconds; };
  const Candidate first  = *std::min_element(all.begin(), all.end(), faster);
  const int enough = std::min(first.g.active(), (9 * size + 9) / 10);
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Candidate &c) { return c.seconds > 1.2 * first.seconds || c.g.active() < enough; }), all.end());
  const double fewest = std::min_element(all.begin(), all.end(), [](const Candidate &a, const Candidate &b) { return a.words < b.words; })->words;
  all.erase(std::remove_if(all.begin(), all.end(), [&](const Candidate &c) { return c.words > 1.01 * fewest; }), all.end());
  return std::min_element(all.begin(), all.end(), faster)->g;
}

namespace {

int prime_of(int q) // the prime that q is a power of; 0: none
{
  if (q < 2) return 0;
  int p = 2;
  while (q % p) ++p;
  while (q % p == 0) q /= p;
  return q == 1 ? p : 0;
}

// Singer's perfect difference set modulo q^2 + q + 1: exponents of a primitive element of the field of q^3 elements with a vanishing trace to the field
// of q. An element is a number whose digits to the base p are the coefficients of a polynomial.
std::vector<int> difference_set(int q)
{
  const int p = prime_of(q);
  int       degree = 0, size = 1;
  for (; size < q * q * q; size *= p) ++degree;
  const auto add = [&](int a, int b) {
    int s = 0;
    for (int d = 0, unit = 1; d < degree; ++d, unit *= p, a /= p, b /= p) s += (a + b) % p * unit;
    return s;
  };
  std::vector<int> power, d;
  // x^degree = f: x is primitive if its powers are all elements but 0
  for (int f = 1; f < size && (int)power.size() != size - 1; ++f) {
    if (f % p == 0) continue;
    power.assign(1, 1);
    for (;;) {
      int next = power.back() % (size / p) * p;
      for (int top = power.back() / (size / p); top > 0; --top) next = add(next, f);
      if (next == 1) break;
      power.push_back(next);
    }
  }
  const std::int64_t period = size - 1;
  for (std::int64_t i = 0; i <= (std::int64_t)q * q + q; ++i)
    if (add(power[(std::size_t)i], add(power[(std::size_t)(i * q % period)], power[(std::size_t)(i * q % period * q % period)])) == 0) d.push_back((int)i);
  return d;
}

// Processes with more tiles than the mean, by classes with one tile more than others; and the last steps, in which not all classes have tiles.
double unevenness(const SymmetricGrid &g)
{
  if (g.tiles() == 0) return 1;
  const double each = (double)g.tiles() / g.classes, on = g.pattern == Pattern::plane ? g.order + 1. : 2.;
  return 1 + (std::ceil(each) / each - 1) * 4 / std::max(2., on) * (g.classes > 1);
}

double seconds(const SymmetricGrid &g, const Prediction &p, const Machine &m)
{
  const double w = (double)g.tile, n = (double)g.n, team = (double)(g.per_class() * g.layers), tiles = (double)std::max<Count>(1, g.tiles());
  const double uneven = unevenness(g) * (1 + 0.25 * (g.classes - 1) / tiles);
  const double panels = n * n * w / 2 / team * 3 * m.flop;
  const double update = p.flops * m.flop * slowness(std::max(1., w / g.layers)) * uneven;
  return update + panels + p.words * m.word * unevenness(g) + p.messages * m.message + n / w * (g.active() > 1 ? 1e-5 : 0);
}

// Tiles of usual sizes, and those that make the number of tiles a multiple of the classes.
std::vector<Count> symmetric_tiles(Count n, int classes, int layers)
{
  std::vector<Count> v;
  const Count        few = 24 * layers;
  for (Count t : {32, 48, 64, 96, 128, 192, 256})
    if (t >= few && t * 2 * classes <= n) v.push_back(t);
  for (Count each = 1; each <= 32; ++each) {
    const Count t = (n + each * classes - 1) / (each * classes);
    if (t >= few && t <= 256) v.push_back(t);
  }
  if (v.empty()) v.push_back(std::max<Count>(1, std::min<Count>(few, std::max<Count>(8, (n + classes - 1) / classes))));
  return v;
}

int pair_number(int a, int b) { return a < b ? b * (b - 1) / 2 + a : a * (a - 1) / 2 + b; }

bool has_order(Pattern pattern, int order)
{
  return pattern == Pattern::triangle ? order >= 1 : pattern == Pattern::halves ? order >= 2 && order % 2 == 0 : prime_of(order) > 0 && order < 100;
}

SymmetricGrid frame(Count n, Count tile, Pattern pattern, int order, int layers) // without the difference set
{
  SymmetricGrid g;
  g.n       = n;
  g.tile    = tile;
  g.pattern = pattern;
  g.order   = order;
  g.classes = pattern == Pattern::plane ? order * order + order + 1 : order;
  g.layers  = layers;
  return g;
}

} // namespace

SymmetricGrid symmetric_grid(Count n, Count tile, Pattern pattern, int order, int layers)
{
  PETSCTT_REQUIRE(n >= 0 && tile >= 1 && layers >= 1, PETSC_ERR_ARG_OUTOFRANGE,
                  "A grid for order %lld with tiles of %lld and %d layers", (long long)n, (long long)tile, layers);
  PETSCTT_REQUIRE(has_order(pattern, order), PETSC_ERR_ARG_OUTOFRANGE,
                  "There is no %s of order %d", pattern == Pattern::plane ? "plane" : pattern == Pattern::halves ? "half square" : "triangle", order);
  SymmetricGrid g = frame(n, tile, pattern, order, layers);
  if (pattern == Pattern::plane) {
    const std::vector<int> d = difference_set(order);
    g.element.assign((std::size_t)g.classes, d[0]);
    for (int e : d)
      for (int f : d)
        if (e != f) g.element[(std::size_t)((e - f + g.classes) % g.classes)] = e;
  }
  return g;
}

int SymmetricGrid::per_layer() const
{
  switch (pattern) {
  case Pattern::triangle: return order < 3 ? 1 : order * (order - 1) / 2;
  case Pattern::halves:   return order * order / 2;
  case Pattern::plane:    break;
  }
  return classes;
}

int SymmetricGrid::per_class() const { return pattern == Pattern::triangle ? std::max(1, order - 1) : pattern == Pattern::halves ? order : order + 1; }

int SymmetricGrid::pair_owner(int a, int b) const
{
  if (pattern != Pattern::plane) return pair_number(a, b);
  return (a - element[(std::size_t)((a - b + classes) % classes)] + classes) % classes;
}

int SymmetricGrid::owner(Count i, Count j) const
{
  const int a = class_of(i), b = class_of(j);
  if (a != b) return pair_owner(a, b);
  if (pattern == Pattern::plane) return (a - element[0] + classes) % classes;
  if (pattern == Pattern::halves) return order * (order - 1) / 2 + a / 2;
  if (order < 3) return 0;
  // numbered from the last column on, so that what is left at any step is dealt out evenly
  const Count behind = class_tiles(a) - 1 - j / classes, number = behind * (behind + 1) / 2 + (i - j) / classes;
  const int   other = (int)((number + a) % (order - 1));
  return pair_number(a, other < a ? other : other + 1);
}

std::vector<int> SymmetricGrid::members(int a) const
{
  if (per_layer() == 1) return {0};
  std::vector<int> m;
  for (int b = 0; b < classes; ++b)
    if (b != a) m.push_back(pair_owner(a, b));
  if (pattern == Pattern::halves) m.push_back(order * (order - 1) / 2 + a / 2);
  std::sort(m.begin(), m.end());
  m.erase(std::unique(m.begin(), m.end()), m.end());
  return m;
}

// Sums over the steps of Cholesky::panel() and Cholesky::begin(), in their order.
Prediction predict_cholesky(const SymmetricGrid &g)
{
  const double N = (double)g.n, c = g.layers, z = g.per_class(), P = (double)g.active(), R = g.classes;
  double       words = 0, messages = 0;
  for (Count k = 0; k < g.tiles(); ++k) {
    const double w = (double)g.width(k), rows = N - (double)(k * g.tile) - w, triangle = w * (w + 1) / 2, after = (double)(g.tiles() - 1 - k);
    // blocks of rows of one class on one process; those of the tile's own class may be on several
    const double blocks = std::min(after, R - 1) + std::min(std::floor(after / R), g.pattern == Pattern::triangle ? z : 1.);
    words += (c - 1) * (rows * w + triangle);       // panel over layers
    words += (z * c - 1) * (triangle + 1);          // factor of the diagonal tile
    words += (c - 1) / c * rows * w;                // L: slices to layers
    words += (z - 1) * (rows * w + c * blocks);     // and to all that have the class
    messages += (c - 1) * (c + std::min(c, w)) * std::min(z, after) + z * c - 1 + c * (z - 1) * blocks; // narrow tiles have empty slices
  }
  Prediction   p;
  const double v = (double)std::min(g.tile, std::max<Count>(g.n, 1)), on = g.pattern == Pattern::plane ? g.order + 1. : std::min(g.classes, 2);
  const double rows = on * (double)g.class_rows(0), layer = (double)g.per_layer();
  p.words    = words / P;
  p.messages = messages / P;
  p.flops    = N * N * N / 3 / P;
  // the tiles; L, which grows as 1 - y^2 while panels and copies of them get shorter as y from 1 to 0; diagonal tiles and what is received, which is put
  // together if the rows of the tile's own class come from several processes
  const double slice  = std::ceil(v / c); // of the layer with the widest one
  const double matrix = N * (N + v) / 2 / layer * unevenness(g), l = std::max(matrix * slice / v, 1.), copies = (c > 1 ? 3 : 1) * (N / z + v) * v;
  p.memory            = matrix + (copies >= 2 * l ? copies : l + copies * copies / (4 * l)) + rows * v + 2 * rows * slice;
  if (g.pattern == Pattern::triangle && g.order > 2) p.memory += (double)g.class_rows(0) * slice;
  p.memory *= 1.03; // shares of tiles differ a little from process to process
  p.seconds           = seconds(g, p, Machine());
  return p;
}

SymmetricGrid plan_cholesky(Count n, int size, const Wishes &w, const Machine &m)
{
  PETSCTT_REQUIRE(n >= 0 && size >= 1, PETSC_ERR_ARG_OUTOFRANGE, "A plan for order %lld on %d processes", (long long)n, size);
  PETSCTT_REQUIRE(w.px >= 0 && w.py >= 0 && w.layers >= 0 && w.tile >= 0, PETSC_ERR_ARG_OUTOFRANGE,
                  "Grid %d,%d,%d and tile %lld must be positive", w.px, w.py, w.layers, (long long)w.tile);
  const double wanted = (double)std::max(1, w.px) * std::max(1, w.py);
  PETSCTT_REQUIRE(wanted * std::max(1, w.layers) <= size, PETSC_ERR_ARG_OUTOFRANGE,
                  "%g processes on each of %d layers; there are %d", wanted, std::max(1, w.layers), size);
  struct Choice { // of a pattern on some layers, the tile with the least time
    SymmetricGrid grid;
    double        words, seconds;
  };
  std::vector<Choice> choices;
  double              fastest = -1, smallest = -1;
  int                 largest = 0; // processes of a layer, where a number is wished for
  for (int c = 1; c <= size; ++c) {
    if (w.layers ? c != w.layers : c > 1 && (double)c * c * c > 4. * size) continue;
    for (Pattern pattern : {Pattern::triangle, Pattern::halves, Pattern::plane})
      for (int order = 1;; ++order) {
        SymmetricGrid g = frame(n, 1, pattern, order, c);
        if (g.per_layer() > size / c) break;
        if (!has_order(pattern, order) || (pattern == Pattern::triangle && order == 2)) continue; // the same as one class
        if (w.px || w.py) {
          if (g.per_layer() > wanted || g.per_layer() < largest) continue;
          if (g.per_layer() > largest) {
            choices.clear();
            fastest = smallest = -1;
          }
          largest = g.per_layer();
        }
        Choice best{g, 0, -1};
        for (Count tile : w.tile ? std::vector<Count>{w.tile} : symmetric_tiles(n, g.classes, c)) {
          g.tile = tile;
          if (!(w.px || w.py) && g.classes > 1 && g.tiles() < g.classes) continue;
          const Prediction p = predict_cholesky(g);
          smallest           = smallest < 0 ? p.memory : std::min(smallest, p.memory);
          if (w.memory > 0 && p.memory > w.memory) continue;
          const double t = seconds(g, p, m);
          if (best.seconds < 0 || t < best.seconds) best = {g, p.words, t};
        }
        if (best.seconds < 0) continue;
        fastest = fastest < 0 ? best.seconds : std::min(fastest, best.seconds);
        choices.push_back(best);
      }
  }
  PETSCTT_REQUIRE(!choices.empty(), PETSC_ERR_MEM,
                  "A factorisation of order %lld needs %g words on each of %d processes at least; %g are allowed", (long long)n, smallest, size, w.memory);
  const SymmetricGrid *best  = nullptr;
  double               least = 0;
  for (const Choice &c : choices)
    if (c.seconds <= 1.2 * fastest && (best == nullptr || c.words < least)) {
      best  = &c.grid;
      least = c.words;
    }
  return symmetric_grid(n, best->tile, best->pattern, best->order, best->layers);
}

} // namespace petsctt::lu
