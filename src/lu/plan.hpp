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

// The machine of the cost model: only ratios matter. Seconds of an operation in a large product, a word, a message.
struct Machine {
  double flop = 5e-11, word = 8e-9, message = 2e-6;
};

// What is fixed by the user: 0 leaves the choice to the plan.
struct Wishes {
  int    px = 0, py = 0, layers = 0;
  Count  tile = 0;
  double memory = 0; // words that a process may use; 0: no limit
};

// The grid with the fewest words among those with nearly the least predicted time, with at most `size` processes, under the limit of memory. Throws PETSC_ERR_ARG_OUTOFRANGE for wishes
// that do not fit, PETSC_ERR_MEM if no grid does with the memory.
Grid plan_lu(Count n, int size, const Wishes &w = Wishes(), const Machine &m = Machine());

} // namespace petsctt::lu

#endif
