#ifndef PETSCTT_LU_DEAL_HPP
#define PETSCTT_LU_DEAL_HPP

#include "lu/team.hpp"

// Right-hand sides from the processes that own their rows to those that work on them, and solutions back.
namespace petsctt::lu {

// Some rows and columns of a block of right-hand sides. at, ld: where they are on the process that works on them, column-major; there only.
struct Piece {
  Count   row = 0, rows = 0, column = 0, columns = 0; // row: of the owner's
  Scalar *at = nullptr;
  Count   ld = 1;
  Count   size() const { return rows * columns; }
};

// pieces(owner, worker, f) calls f(Piece) for all that the two have in common, in the same order on both; workers are processes [0, workers).
struct DealCounts {
  std::vector<Count> owned, worked; // entries in common with each process
  Count              total_owned = 0, total_worked = 0;
};
template <class Pieces>
DealCounts deal_counts(const Team &world, int workers, const Pieces &pieces)
{
  const int  size = world.size(), me = world.me();
  DealCounts n;
  n.owned.assign((std::size_t)size, 0);
  n.worked.assign((std::size_t)size, 0);
  for (int p = 0; p < workers; ++p) {
    pieces(me, p, [&](const Piece &q) { n.owned[(std::size_t)p] += q.size(); });
    n.total_owned += n.owned[(std::size_t)p];
  }
  if (me < workers)
    for (int p = 0; p < size; ++p) {
      pieces(p, me, [&](const Piece &q) { n.worked[(std::size_t)p] += q.size(); });
      n.total_worked += n.worked[(std::size_t)p];
    }
  return n;
}

// Rows of x (of this process, column-major) to the workers. Collective on world.
template <class Pieces>
void deal(const Team &world, int workers, const Pieces &pieces, const Scalar *x, Count ldx)
{
  const DealCounts n = deal_counts(world, workers, pieces);
  Buffer           send((std::size_t)n.total_owned), recv((std::size_t)n.total_worked);
  Scalar          *s = send.data();
  for (int p = 0; p < workers; ++p)
    pieces(world.me(), p, [&](const Piece &q) {
      for (Count c = q.column; c < q.column + q.columns; ++c) s = std::copy_n(x + q.row + c * ldx, q.rows, s);
    });
  world.exchange(send.data(), n.owned, recv.data(), n.worked);
  const Scalar *f = recv.data();
  if (world.me() < workers)
    for (int p = 0; p < world.size(); ++p)
      pieces(p, world.me(), [&](const Piece &q) {
        for (Count c = 0; c < q.columns; ++c, f += q.rows) std::copy_n(f, q.rows, q.at + c * q.ld);
      });
}

// And back
template <class Pieces>
void collect(const Team &world, int workers, const Pieces &pieces, Scalar *x, Count ldx)
{
  const DealCounts n = deal_counts(world, workers, pieces);
  Buffer           send((std::size_t)n.total_worked), recv((std::size_t)n.total_owned);
  Scalar          *s = send.data();
  if (world.me() < workers)
    for (int p = 0; p < world.size(); ++p)
      pieces(p, world.me(), [&](const Piece &q) {
        for (Count c = 0; c < q.columns; ++c) s = std::copy_n(q.at + c * q.ld, q.rows, s);
      });
  world.exchange(send.data(), n.worked, recv.data(), n.owned);
  const Scalar *f = recv.data();
  for (int p = 0; p < workers; ++p)
    pieces(world.me(), p, [&](const Piece &q) {
      for (Count c = q.column; c < q.column + q.columns; ++c, f += q.rows) std::copy_n(f, q.rows, x + q.row + c * ldx);
    });
}

} // namespace petsctt::lu

#endif
