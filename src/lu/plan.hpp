#ifndef PETSCTT_LU_PLAN_HPP
#define PETSCTT_LU_PLAN_HPP

#include "base/numbers.hpp"

#include <vector>

// Who owns what in a distributed dense factorisation, and what it will cost. Arithmetic only: no communicator.
namespace petsctt::lu {

// A matrix of order n over px x py x layers processes: process p is in grid row p mod px, grid column (p / px) mod py and layer p / (px py);
// processes from active() on hold nothing. Row r belongs to grid row r mod px, so that the pivots of any tile of a matrix with no preferred rows
// spread over all grid rows; columns in tiles of `tile`, tile k in grid column k mod py, the last one narrower. Every layer has an array of
// all rows and columns of its grid position, and the matrix is the sum over the layers: row r is deposited on layer (r / px) mod layers.
// Within a tile, layer l has the slice of columns (of L) or rows (of U) [slice(w, l), slice(w, l + 1)).
struct Grid {
  Count n = 0, tile = 1;
  int   px = 1, py = 1, layers = 1;

  int   active() const { return px * py * layers; }
  Count tiles() const { return (n + tile - 1) / tile; }
  Count width(Count k) const { return k == tiles() - 1 ? n - k * tile : tile; }
  Count slice(Count w, int l) const { return w * l / layers; }
  int   row_of(int p) const { return p % px; }
  int   col_of(int p) const { return p / px % py; }
  int   layer_of(int p) const { return p / (px * py); }
  int   process(int i, int j, int l) const { return i + px * (j + py * l); }
  Count local_rows(int i) const { return (n - i + px - 1) / px; }
  Count local_tiles(int j) const { return (tiles() - j + py - 1) / py; }
  Count local_cols(int j) const
  {
    const Count t = local_tiles(j);
    return t == 0 ? 0 : (t - 1) * tile + width(j + (t - 1) * py);
  }
  // where a tile's tournament ends and its rows of U are solved for, so that this goes round all grid rows and layers
  int home_row(Count k) const { return (int)(k % px); }
  int home_layer(Count k) const { return (int)(k / px % layers); }
};

// Model of a factorisation. Words and messages sent by an active process on average; memory in words on the process with the most.
struct Prediction {
  double words = 0, messages = 0, flops = 0, memory = 0, seconds = 0;
};
Prediction predict_lu(const Grid &g);

// The machine of the cost model: only ratios matter. Seconds of an operation in a large product, a word, a message, a word from memory.
struct Machine {
  double flop = 5e-11, word = 8e-9, message = 2e-6, read = 1e-9;
};

// What is fixed by the user: 0 leaves the choice to the plan.
struct Wishes {
  int    px = 0, py = 0, layers = 0;
  Count  tile = 0;
  double memory = 0; // words that a process may use; 0: no limit
};

// The grid with the fewest words, or hardly more, among those with nearly the least predicted time, with at most `size` processes, under the limit
// of memory. Throws PETSC_ERR_ARG_OUTOFRANGE for wishes that do not fit, PETSC_ERR_MEM if no grid does with the memory.
Grid plan_lu(Count n, int size, const Wishes &w = Wishes(), const Machine &m = Machine());

// How the LU is solved with. But for the last way, factors stay and right-hand sides move.
// tiles: tile after tile. Partial sums of its rows go to the processes of its grid column, each of which solves with the diagonal tile for its share of the
//        right-hand sides; layers add up what their slices contribute.
// apart: the same, with the right-hand sides dealt out to the layers, each of which has first been given all of L and U: 2 n (1/px + 1/py) / layers words
//        on a process for each, instead of n (1 + 1/layers) (1/px + 1/py).
// wide:  `step` tiles at a time, whose diagonal block one process has been given, and tree by tree: the fewest messages.
// columns: the factors go round instead, to processes that each have some of the right-hand sides: n^2 words on a process, however many there are.
enum class Way { tiles, apart, wide, columns };
struct Schedule {
  Way   way  = Way::tiles;
  Count step = 1;
};

// Right-hand sides that are solved for at a time.
Count solve_block(const Grid &g, Way way);
// Model of a solve with nrhs right-hand sides, of which parts are taken at a time, from the user's distribution to it; of a transposed one. What it
// needs first, once for a factorisation.
Prediction predict_solve(const Grid &g, Count nrhs, const Schedule &s, bool transposed = false);
Prediction predict_preparation(const Grid &g, const Schedule &s);

// The schedule with the least predicted time of those that need little first; by how many seconds layers apart are faster than it, 0 if they are not, and
// the seconds that they need first, once for a factorisation. No way that takes more than `memory` words beside the factors, or any if it is 0.
struct SolvePlan {
  Schedule schedule;
  double   saved = 0, once = 0;
};
SolvePlan plan_solve(const Grid &g, Count nrhs, double memory = 0);

// How the unordered pairs of classes of a symmetric distribution are dealt out to the processes of a layer. Every process has some classes, two of
// which are together on one process only.
// triangle: one process for each pair of r classes; tiles of a class with itself go round the processes that have the class.
// halves:   the same, and r / 2 processes more (r even) with two classes each for their tiles with themselves.
// plane:    the classes are the points and the processes the lines of a projective plane of order q, a power of a prime: q^2 + q + 1 of both, q + 1 classes
//           on a process and q + 1 processes with a class. Fewest words, but many classes.
enum class Pattern { triangle, halves, plane };

// The lower triangle of a Hermitian matrix of order n on processes, by tiles (I, J), I >= J, of `tile` rows and columns, the last ones narrower. Tile row I is
// of class I mod classes, and the tile belongs to the process that has both its classes. So a process needs of a panel of L the rows of its classes only,
// once, and not rows for its rows and others for its columns. See Beaumont, Duchon, Eyraud-Dubois, Langou and Verite, SC22, for triangle and
// halves, and Beaumont, Eyraud-Dubois, Langou and Verite, SPAA 2022, for why sets of more classes are better. There are `layers` such sets of processes:
// process p is number p mod per_layer() on layer p / per_layer(); the matrix is the sum over the layers, and layer l has columns [slice(w, l),
// slice(w, l + 1)) of a tile of L. Made by symmetric_grid().
struct SymmetricGrid {
  Count            n = 0, tile = 1;
  Pattern          pattern = Pattern::triangle;
  int              order = 1, classes = 1, layers = 1; // order: r or q
  std::vector<int> element;                            // plane: process p has the classes p + e of a perfect difference set; e of each difference

  int   per_layer() const;
  int   per_class() const; // processes of a layer that have a class
  int   active() const { return per_layer() * layers; }
  Count tiles() const { return (n + tile - 1) / tile; }
  Count width(Count k) const { return k == tiles() - 1 ? n - k * tile : tile; }
  Count slice(Count w, int l) const { return w * l / layers; }
  int   process(int p, int l) const { return p + per_layer() * l; }
  int   class_of(Count k) const { return (int)(k % classes); }
  // tiles of a class, those among the first k tiles, and the rows of them all: tile I is number I / classes of its class
  Count class_tiles(int a) const { return class_tiles_before(a, tiles()); }
  Count class_tiles_before(int a, Count k) const { return k <= a ? 0 : (k - a + classes - 1) / classes; }
  Count class_rows(int a) const
  {
    const Count t = class_tiles(a);
    return t == 0 ? 0 : (t - 1) * tile + width(a + (t - 1) * classes);
  }
  int              owner(Count i, Count j) const; // of tile (i, j), i >= j, in its layer
  int              pair_owner(int a, int b) const; // of the tiles of two different classes
  std::vector<int> members(int a) const;           // processes of a layer that have the class, ascending
  // where a diagonal tile is factorised, and where a tile of A is put
  int home_layer(Count k) const { return (int)(k / classes % layers); }
  int layer_of(Count i, Count j) const { return (int)((i / classes + j / classes) % layers); }
};

// Throws PETSC_ERR_ARG_OUTOFRANGE for an order that the pattern has not.
SymmetricGrid symmetric_grid(Count n, Count tile, Pattern pattern, int order, int layers);

Prediction predict_cholesky(const SymmetricGrid &g);

// Of the grids that are predicted to take at most a fifth longer than the fastest one, the one with the fewest words per process: a pattern that saves words may
// have to leave some processes idle. Of the wishes, px py is the number of processes of a layer; the largest number up to it that a pattern has is
// taken. Throws as plan_lu().
SymmetricGrid plan_cholesky(Count n, int size, const Wishes &w = Wishes(), const Machine &m = Machine());

} // namespace petsctt::lu

#endif
