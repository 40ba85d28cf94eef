#ifndef PETSCTT_LU_BLOCK_HPP
#define PETSCTT_LU_BLOCK_HPP

#include "lu/deal.hpp"
#include "lu/lu.hpp"

namespace petsctt::lu {

// Some right-hand sides. Where layers are apart, each has some of them for itself; otherwise layers work together on all. Columns of right-hand sides of a
// layer are shared by the px c processes of a grid column that work together, share i + px l for grid row i and layer l: those that tile by tile
// solve with the diagonal blocks.
struct LU::Block {
  bool                apart = false;
  Count               all = 0, n = 0;   // right-hand sides; those of this process's layer
  int                 px = 1, c = 1, l = 0, layers = 1; // c: layers that work together, l: which of them this is
  const Team         *row_plane = nullptr, *col_plane = nullptr; // as in LU, of the layers that work together
  Buffer              rows;             // ml x n, by local position: partial sums, or the solution
  Buffer              tiles;            // nl x share, by local column
  std::vector<Buffer> steps;            // of wide steps: rows of the step x n, on its home
  Buffer              whole;            // all rows, some columns: of a solve with the factors moving
  int                 active = 1;

  Count first_of(int layer) const { return apart ? all * layer / layers : 0; } // first column of a layer
  Count n_of(int layer) const { return apart ? all * (layer + 1) / layers - first_of(layer) : all; }
  Count whole_first(int p) const { return all * p / active; }
  Count whole_columns(int p) const { return whole_first(p + 1) - whole_first(p); }
  Count share(int s) const { return n * s / (px * c); } // first column of share s, in the layer's
  Count columns(int i, int layer) const { return share(i + px * layer + 1) - share(i + px * layer); }
  Count columns(int layer) const { return share(px * (layer + 1)) - share(px * layer); }
  Count my_columns(int i) const { return columns(i, l); }
  Count slice(Count w, int layer) const { return w * layer / c; }
  Count wl(Count w, int layer) const { return slice(w, layer + 1) - slice(w, layer); }
};

// Rows by columns of A, as the homes of the steps have them: all right-hand sides.
template <class F>
void LU::step_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const
{
  const Count begin = starts[(std::size_t)owner], end = starts[(std::size_t)owner + 1], size = step_ * g_.tile;
  Piece       p;
  p.columns = b.n;
  for (Count number = begin / size; number * size < end; ++number) {
    if (home_of_step(number) != worker) continue;
    const Count first = std::max(begin, number * size);
    p.rows            = std::min(end, (number + 1) * size) - first;
    p.row             = first - begin;
    p.ld              = std::min(g_.n, (number + 1) * size) - number * size;
    if (worker == rank_) p.at = b.steps[(std::size_t)number].data() + first - number * size;
    if (p.rows > 0) f(p);
  }
}

// All rows of some columns of the right-hand sides; row r of A is at order[r], or at r if there is no order.
template <class F>
void LU::whole_pieces(Block &b, const std::vector<Count> &starts, const std::vector<Count> &order, int owner, int worker, F f) const
{
  const Count begin = starts[(std::size_t)owner], rows = starts[(std::size_t)owner + 1] - begin;
  Piece       p;
  p.column  = b.whole_first(worker);
  p.columns = b.whole_columns(worker);
  p.rows    = order.empty() ? rows : 1;
  p.ld      = g_.n;
  for (; p.row < rows; p.row += p.rows) {
    if (worker == rank_) p.at = b.whole.data() + (order.empty() ? begin + p.row : order[(std::size_t)(begin + p.row)]);
    f(p);
  }
}

} // namespace petsctt::lu

#endif
