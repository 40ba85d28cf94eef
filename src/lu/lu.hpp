#ifndef PETSCTT_LU_LU_HPP
#define PETSCTT_LU_LU_HPP

#include "base/blas.hpp"
#include "lu/factorization.hpp"
#include "lu/plan.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace petsctt::lu {

// Rows first, first + step, ... of the range [begin, end) that are congruent to residue.
struct Stride {
  Count first, count;
};
inline Stride stride(Count begin, Count end, Count residue, Count step)
{
  const Count first = begin + ((residue - begin) % step + step) % step;
  return {first, first >= end ? 0 : (end - first + step - 1) / step};
}

// The larger one, but NaN once there was one.
inline void raise(Real &most, Real v)
{
  if (!(v <= most) && most == most) most = v;
}

// What a factorisation found, the same on all processes.
struct Outcome {
  Count zero_pivot = -1;      // column of the first pivot that is exactly zero, where the factorisation stopped; -1: none
  bool  finite     = true;    // false: A, or a pivot, is not finite
  Real  max_a = 0, max_l = 0, max_u = 0; // largest modulus of an entry; the growth factor is max_u / max_a
  Real  min_pivot = 0;        // smallest modulus on the diagonal of U
};

// P A = L U with tournament pivoting on the processes of a Grid, in the 2.5D manner with row masking: Kwasniewski et al., arXiv 2010.05975
// (COnfLUX), and Grigori, Demmel and Xiang, SIAM J. Matrix Anal. Appl. 32 (2011), for the pivoting. No row moves to another process. Unlike
// the published schedule, the sums over layers are scattered over all layers, which keeps the processes' shares of the traffic equal, and
// panels are factorised ahead of the update they do not depend on.
//
// L and U stay where their rows and columns of A are: with the grid row of the row of A that was the pivot, tile k of the columns in grid column k mod py.
// Of a tile's columns of L, and of a tile's rows of U, each layer has a slice; what it lacks of U is zero, and what it lacks of L is not read. The factors of
// the diagonal tiles are on all processes of the tile's grid column.
class LU : public Factorization {
public:
  // Collective on comm, which is duplicated unless it has one process. Process p has rows [row_starts[p], row_starts[p + 1]) of A and of B, and rows of X by
  // column_starts, which are the row_starts unless given; the other way round for transposed solves.
  LU(MPI_Comm comm, std::vector<Count> row_starts, const Grid &grid, std::vector<Count> column_starts = {});
  void factorize() override;
  // X = A^-1 B, A^-T B or A^-H B for op = N, T, C; rows of this process of both. Throws if there are no factors. Collective. b may be x where
  // rows and columns are split alike. In the way of schedule().
  void solve(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx);
  // The way that a solve with nrhs right-hand sides would go now: by plan_solve(), and with layers apart as soon as it has cost as much to do without as what
  // they need first.
  Schedule schedule(Count nrhs) const;
  // Words that solves may take on a process beside the factors, where there is a choice; 0: any number
  void limit_memory(double words);
  // Solves go this way from now on. Throws PETSC_ERR_ARG_OUTOFRANGE for steps that are not positive.
  void solve_by(const Schedule &s);

  const Outcome            &outcome() const { return outcome_; }
  const Grid               &grid() const { return g_; }
  const std::vector<Count> &pivots() const { return pivots_; } // row of A that is row s of P A; on active processes
  // L below and U on and above the diagonal, n x n column-major on process 0 of comm, which alone gives memory. Collective.
  void gather(Scalar *packed) const;

  double memory_words() const override;
  double solve_words(Count nrhs) const override;

private:
  struct Mask; // rows that leave, and who takes their places

  bool  mine(Count k) const { return (int)(k % g_.py) == j_; }
  Count local_tile(Count k) const { return k / g_.py; }
  Count first_local_tile_after(Count k) const { return (k - j_ + g_.py) / g_.py; } // of the first tile > k in this grid column
  Count wl(Count w, int l) const { return g_.slice(w, l + 1) - g_.slice(w, l); }
  Scalar       *col(Count t) { return a_.data() + (std::size_t)(t * g_.tile * ml_); }
  const Scalar *col(Count t) const { return a_.data() + (std::size_t)(t * g_.tile * ml_); }

  Count batch() const;
  bool  allocate();
  void  clear() override;
  void  distribute(const Scalar *a, Count lda) override;
  void steps();
  void panel(Count k, Scalar *message);
  void tournament(Count k, const Buffer &rows, Count m, const std::vector<Count> &ids, Buffer &top);
  Mask mask(Count k, const Scalar *ids) const;
  void apply(const Mask &m);
  void upper(Count k, const Scalar *l00, const Mask &m, Buffer &u);
  void update(Count k, const Scalar *l, const Scalar *u, Count from, Count to);
  Count message_size(Count k, Count rows) const;

  // Solves, on one block of right-hand sides; see solve.cxx, and solve_wide.cxx for wide steps.
  struct Block;
  Count position(Count s) const { return where_[(std::size_t)(pivots_[(std::size_t)s] / g_.px)]; } // of the row of pivot s, in its grid row
  Count top(Count k) const { return k == 0 ? ml_ : alive_after_[(std::size_t)(k - 1)]; }           // rows of U of tiles < k are from this position on
  std::vector<std::vector<Count>> pivots_by_row(Count first, Count last) const; // numbers, less `first`, of the pivots [first, last) in each grid row
  Block  block(Way way, Count n) const;
  template <class F> void row_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const;
  template <class F> void tile_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const;
  Buffer collect_rows(const Block &b, Count k, bool sliced) const;
  void   spread_rows(Block &b, Count k, bool sliced) const;
  void   solve_l(Block &b) const;
  void   solve_u(Block &b) const;
  void   solve_ut(Block &b, char op) const;
  void   solve_lt(Block &b, char op) const;
  void   complete_layers();
  const SolvePlan &plan(Count nrhs) const;

  template <class F> void whole_pieces(Block &b, const std::vector<Count> &starts, const std::vector<Count> &order, int owner, int worker, F f) const;
  Buffer panel_for_all(Count k, bool upper, Buffer &diagonal) const;
  void   solve_columns(Block &b, char op) const;

  struct Step;
  Step step(Count number) const;
  int  home_of_step(Count number) const { return (int)(number % g_.active()); }
  int  layer_of_pivot(Count pivot) const; // whose slice of the rows of U it is in
  template <class F> void step_entries(const Step &s, int p, F f) const;
  template <class F> void step_pieces(Block &b, const std::vector<Count> &starts, int owner, int worker, F f) const;
  void make_steps(Count tiles);
  void make_room(Block &b) const;
  void collect_rows(Block &b, const Step &s, bool upper) const;
  void collect_columns(Block &b, const Step &s, char op, bool upper) const;
  void spread_rows(Block &b, const Step &s, bool upper) const;
  void spread_columns(Block &b, const Step &s, bool upper) const;
  void solve_step(Block &b, const Step &s, char uplo, char op) const;
  void wide_solve(Block &b) const;
  void wide_solve_transposed(Block &b, char op) const;

  int                i_ = 0, j_ = 0, l_ = 0;
  Grid               g_;
  std::vector<Count> column_starts_;
  Team               ring_team_, row_, row_plane_, col_, col_plane_, layers_; // see the constructor
  Ring               rings_[2];
  Outcome            outcome_;

  Count               ml_ = 0, nl_ = 0, alive_ = 0;
  Buffer              a_;                 // ml x nl: sums still to be formed over layers, L and U
  std::vector<Count>  row_at_, where_;    // row of A at a local position; position of local row r (global i + r px)
  std::vector<Count>  alive_after_;       // rows left here after each step
  std::vector<Count>  pivots_;
  Buffer              diagonal_;          // tile x tile for each local tile: L00 \ U00
  std::optional<Schedule> asked_;
  bool                complete_ = false;  // every layer has all of L and U
  double              credit_   = 0;      // seconds that solves would have taken less if they had
  double              memory_   = 0;      // words for solves; 0: no limit
  mutable Count       planned_  = -1;     // right-hand sides that plan_ is for
  mutable SolvePlan   plan_;
  Count               step_     = 0;      // tiles of a wide step
  std::vector<Buffer> steps_;             // for each wide step, the factors of its diagonal block; on the process of the step
  Buffer              messages_[2];
};

} // namespace petsctt::lu

#endif
