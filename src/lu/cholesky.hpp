#ifndef PETSCTT_LU_CHOLESKY_HPP
#define PETSCTT_LU_CHOLESKY_HPP

#include "base/blas.hpp"
#include "lu/factorization.hpp"
#include "lu/plan.hpp"

#include <vector>

namespace petsctt::lu {

// A = L L^H of a Hermitian positive definite matrix on the processes of a SymmetricGrid. Right-looking, one panel ahead: a panel is summed over the layers,
// each of which takes a share of the rows; multiplied with the inverse of the factor of its diagonal tile; dealt out to the layers by slices of its
// columns; and each block of rows goes to the processes of the layer that have its class. Messages of a panel are sent by those who have it and
// are under way while all are busy with the update before.
//
// L stays where its tiles are, a slice of the tile's columns on each layer. The factors of the diagonal tiles are on all processes that have the
// tile's class.
class Cholesky : public Factorization {
public:
  // What a factorisation found, the same on all processes.
  struct Outcome {
    Count not_positive = -1;   // column of the first pivot that is not positive: the leading minor of order not_positive + 1 is not; -1: none
    bool  finite       = true; // false: A, or a pivot, is not finite
    Real  max_a = 0;           // largest modulus of an entry of the lower triangle
    Real  min_pivot = 0, max_pivot = 0; // on the diagonal of L
  };

  // Collective on comm, which is duplicated unless it has one process. Process p has rows [row_starts[p], row_starts[p + 1]) of A and of what is solved for.
  // Of A the lower triangle is read, and of the diagonal the real part.
  Cholesky(MPI_Comm comm, std::vector<Count> row_starts, const SymmetricGrid &grid);

  void factorize() override;
  // X = A^-1 B; rows of this process of both. Throws if there are no factors. Collective. b may be x.
  void solve(Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx);

  const Outcome       &outcome() const { return outcome_; }
  const SymmetricGrid &grid() const { return g_; }
  // The lower triangle of L, n x n column-major, on process 0 of comm, which alone gives memory; what is above is not written. Collective.
  void gather(Scalar *l) const;

  double memory_words() const override;
  double solve_words(Count nrhs) const override;

private:
  // Tiles of two different classes: rows of the lower class, columns of the higher one. Where a tile's row number is below its column number, it is the
  // conjugate transpose of a tile of the lower triangle; so all tiles of the two are one full matrix.
  struct Pair {
    int    a, b;
    Buffer m;
  };
  // Tiles of one column within a class that are here, one below the other.
  struct Column {
    std::vector<Count> tiles;
    Count              rows = 0;
    Buffer             m;
  };
  // Of a panel, the rows of one class that are on one process: contiguous, rows x slice, behind the state of the step.
  struct Segment {
    int                cls = 0;
    Count              rows = 0, at = 0; // at: of the state, in the process's part of the panel
    std::vector<Count> tiles;
  };
  // Consecutive tiles of a class: first row of the class, first row of the segment, number of rows
  struct Run {
    Count row, at, rows;
  };
  struct Incoming { // a segment of the step's panel, from another process or its own
    Segment       segment;
    const Scalar *data; // state first
  };
  struct View { // rows of a class behind the step's tile, of its panel
    const Scalar *a;
    Count         ld;
  };
  struct Block;

  int   slot(int cls) const { return slot_[(std::size_t)cls]; } // -1: not a class of this process
  Count wl(Count w, int l) const { return g_.slice(w, l + 1) - g_.slice(w, l); }
  Count row_in_class(Count k) const { return k / g_.classes * g_.tile; }
  Count start(int cls, Count k) const { return std::min(g_.class_rows(cls), g_.class_tiles_before(cls, k + 1) * g_.tile); } // first row behind tile k
  const Pair &pair(int a, int b) const { return pairs_[(std::size_t)pair_at_[(std::size_t)slot(a) * classes_.size() + (std::size_t)slot(b)]]; }
  Pair       &pair(int a, int b) { return pairs_[(std::size_t)pair_at_[(std::size_t)slot(a) * classes_.size() + (std::size_t)slot(b)]]; }

  std::vector<Segment> segments(int p, Count k) const;
  std::vector<Run>     runs(const std::vector<Count> &tiles) const;
  template <class F> void pieces(Count begin, Count end, Count first, Count last, F f) const;
  // Calls f(class, first, rows, first row in the class) for the rows [begin, end), tile by tile.
  template <class F> void rows_by_class(Count begin, Count end, F f) const
  {
    for (Count k = begin / g_.tile; k * g_.tile < end; ++k) {
      const Count first = std::max(begin, k * g_.tile), rows = std::min(end, (k + 1) * g_.tile) - first;
      if (rows > 0) f(g_.class_of(k), first, rows, row_in_class(k) + first - k * g_.tile);
    }
  }
  double held() const; // words in buffers now
  void allocate();
  void clear() override;
  void distribute(const Scalar *a, Count lda) override;
  void put(Count i, Count j, Count row, Count column, Count rows, const Scalar *from);
  void steps();
  void begin(Count k);
  bool end(Count k);
  void panel(Count k, const std::vector<Segment> &mine);
  void pack(Count k, const std::vector<Segment> &mine, Count rows, Scalar *stack) const;
  void update(Count k, bool ahead);
  void drain(std::vector<MPI_Request> &requests) const;

  template <class F> void row_pieces(Block &b, int owner, int worker, F f) const;
  void forward(Block &b) const;
  void backward(Block &b) const;

  int           p_ = 0, l_ = 0; // p_: number in the layer
  SymmetricGrid g_;
  Outcome       outcome_;

  std::vector<std::vector<int>> members_;    // of each class, in a layer
  std::vector<std::vector<int>> classes_of_; // of each process of a layer
  std::vector<int>              classes_, slot_; // classes of this process; where a class is among them
  Team                          layers_;
  std::vector<Team>             groups_; // for each class here: all processes of all layers that have it, see group_index()
  int                           group_size() const { return g_.per_class() * g_.layers; }
  int                           group_index(int cls, int p, int l) const;
  int                           layer_in_group(int cls, int g) const;

  std::vector<Pair>                pairs_;
  std::vector<int>                 pair_at_;
  std::vector<std::vector<Column>> columns_; // for each class here, its tile columns
  std::vector<Buffer>              panels_;  // for each step, the segments of L here
  std::vector<Buffer>              u_;       // for each step whose class is here, L^H of the diagonal tile
  int                              state_ = 0; // of the last panel: 0, 1 + column of a pivot that is not positive, -1 for one that is not finite
  std::vector<Incoming>            incoming_;
  std::vector<View>                views_;
  std::vector<MPI_Request>         receives_, sends_[2];
  Buffer                           received_[2], gathered_;
};

} // namespace petsctt::lu

#endif
