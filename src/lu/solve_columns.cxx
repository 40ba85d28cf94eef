#include "lu/block.hpp"

#include <algorithm>

// Solves with so many right-hand sides that there are fewer words in the factors: each process has some of the columns, whole, and L and U go to all,
// tile by tile.
namespace petsctt::lu {

// The rows of L below tile k, or of U above it, by columns in the order of the pivots; and the factors of the diagonal tile. From the processes of the
// tile's grid column along grid rows, and then along grid columns and layers.
Buffer LU::panel_for_all(Count k, bool upper, Buffer &diagonal) const
{
  const Count w = g_.width(k), k0 = k * g_.tile, first = upper ? 0 : k0 + w, last = upper ? k0 : g_.n;
  const int   px = g_.px, members = px * g_.layers;
  // who has what: of U layers have some of the rows, of L some of the columns
  std::vector<std::vector<Count>> rows((std::size_t)members);
  for (Count s = first; s < last; ++s) {
    const int i = (int)(pivots_[(std::size_t)s] % px);
    if (upper) rows[(std::size_t)(i + px * layer_of_pivot(s))].push_back(s - first);
    else
      for (int l = 0; l < g_.layers; ++l) rows[(std::size_t)(i + px * l)].push_back(s - first);
  }
  const auto         columns = [&](int member) { return upper ? std::make_pair((Count)0, w) : std::make_pair(g_.slice(w, member / px), g_.slice(w, member / px + 1)); };
  std::vector<Count> counts;
  Count              total = 0;
  for (int p = 0; p < members; ++p) {
    counts.push_back((Count)rows[(std::size_t)p].size() * (columns(p).second - columns(p).first) + (p == 0 ? w * w : 0));
    total += counts.back();
  }
  const int me = i_ + px * l_;
  Buffer    own((std::size_t)counts[(std::size_t)me]), all((std::size_t)total), m((std::size_t)((last - first) * w));
  if (mine(k)) {
    Scalar *to = own.data();
    for (Count c = columns(me).first; c < columns(me).second; ++c)
      for (Count s : rows[(std::size_t)me]) *to++ = col(local_tile(k))[position(first + s) + c * ml_];
    if (me == 0) std::copy_n(diagonal_.data() + local_tile(k) * g_.tile * g_.tile, w * w, to);
  }
  row_.bcast(own.data(), (Count)own.size(), (int)(k % g_.py));
  col_plane_.allgather(own.data(), all.data(), counts);
  const Scalar *f = all.data();
  for (int p = 0; p < members; ++p) {
    for (Count c = columns(p).first; c < columns(p).second; ++c)
      for (Count s : rows[(std::size_t)p]) m[(std::size_t)(s + c * (last - first))] = *f++;
    if (p > 0) continue;
    diagonal = Buffer((std::size_t)(w * w));
    std::copy_n(f, w * w, diagonal.data());
    f += w * w;
  }
  return m;
}

void LU::solve_columns(Block &b, char op) const
{
  const Count K = g_.tiles(), N = g_.n, n = b.whole_columns(rank_);
  Buffer      d;
  const auto  solve = [&](Count k, char uplo) { trsm('L', uplo, op, uplo == 'L' ? 'U' : 'N', g_.width(k), n, 1.0, d.data(), g_.width(k), b.whole.data() + k * g_.tile, N); };
  // rows behind the tile, or before it, with the tile's
  const auto multiply = [&](Count k, bool upper, const Buffer &m) {
    const Count k0 = k * g_.tile, w = g_.width(k), first = upper ? 0 : k0 + w, rows = (upper ? k0 : N) - first;
    if (rows == 0 || n == 0) return;
    if (op == 'N') gemm('N', 'N', rows, n, w, -1.0, m.data(), rows, b.whole.data() + k0, N, 1.0, b.whole.data() + first, N);
    else gemm(op, 'N', w, n, rows, -1.0, m.data(), rows, b.whole.data() + first, N, 1.0, b.whole.data() + k0, N);
  };
  for (Count k = 0; k < K; ++k) {
    const Buffer m = panel_for_all(k, op != 'N', d);
    if (op == 'N') solve(k, 'L');
    multiply(k, op != 'N', m);
    if (op != 'N') solve(k, 'U');
  }
  for (Count k = K - 1; k >= 0; --k) {
    const Buffer m = panel_for_all(k, op == 'N', d);
    if (op == 'N') solve(k, 'U');
    multiply(k, op == 'N', m);
    if (op != 'N') solve(k, 'L');
  }
}

} // namespace petsctt::lu
