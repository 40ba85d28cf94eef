#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/evaluate.hpp"
#include "tt/ops/gather.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// The tensor as a matrix: rows = indices of modes 0..split-1, columns = the others, first mode fastest; entry = L R times 2^e
// up to the positive factor that the exponent stands for. Built alike on every process.
struct Halves {
  Count        rows = 1, columns = 1, r = 1;
  Buffer       L, R; // rows x r and r x columns
  std::int64_t e = 0;
};

// The split with the least work: the product, and some weight on what is stored.
Int choose_split(const Train &x)
{
  const Int d     = x.d();
  Int       best  = 0;
  double    least = std::numeric_limits<double>::infinity(), rows = 1;
  const double all = x.space()->full_size();
  for (Int k = 0; k <= d; ++k) {
    const double cost = (double)x.r(k) * (all + 100 * (rows + all / rows));
    if (cost < least) {
      least = cost;
      best  = k;
    }
    if (k < d) rows *= (double)x.space()->N(k);
  }
  return best;
}

Halves build_halves(const Train &x)
{
  const Int split = choose_split(x);
  Halves    h;
  h.r = x.r(split);
  h.L = Buffer(1);
  h.R = Buffer(1);
  h.L[0] = x.scale().mantissa();
  h.R[0] = 1;
  h.e    = x.scale().exponent2();
  for (Int k = 0; k < split; ++k) {
    const Count  r0 = x.r(k), r1 = x.r(k + 1), N = x.space()->N(k);
    const Buffer C = gather_core(x, k);
    Buffer       next((std::size_t)(h.rows * N * r1));
    gemm('N', 'N', h.rows, N * r1, r0, 1, h.L.data(), h.rows, C.data(), r0, 0, next.data(), h.rows);
    h.rows *= N;
    h.L = std::move(next);
    h.e += normalize(h.L.data(), (Count)h.L.size());
  }
  for (Int k = x.d(); k-- > split;) {
    const Count  r0 = x.r(k), r1 = x.r(k + 1), N = x.space()->N(k);
    const Buffer C = gather_core(x, k);
    Buffer       next((std::size_t)(r0 * N * h.columns));
    gemm('N', 'N', r0 * N, h.columns, r1, 1, C.data(), r0 * N, h.R.data(), r1, 0, next.data(), r0 * N);
    h.columns *= N;
    h.R = std::move(next);
    h.e += normalize(h.R.data(), (Count)h.R.size());
  }
  return h;
}

// The matrix in tiles of a fixed grid, each made by one process: the grid, and therefore every digit, does not depend on the
// number of processes.
class Tiles {
public:
  Tiles(const Halves &h, const Comm &comm)
      : h_(h), height_(std::min<Count>(h.rows, 512)), width_(std::min<Count>(h.columns, std::max<Count>(256, 131072 / height_))),
        down_((h.rows + height_ - 1) / height_), first_(comm.rank()), stride_(comm.size()),
        number_(down_ * ((h.columns + width_ - 1) / width_)), tile_((std::size_t)(height_ * width_))
  { }
  Count first() const { return first_; }
  Count stride() const { return stride_; }
  Count number() const { return number_; }

  // f(real part, row + rows * column) for every entry of tile t.
  template <class F> void visit(Count t, F f)
  {
    const Count i0 = (t % down_) * height_, j0 = (t / down_) * width_;
    const Count m = std::min(height_, h_.rows - i0), n = std::min(width_, h_.columns - j0);
    gemm('N', 'N', m, n, h_.r, 1, h_.L.data() + i0, h_.rows, h_.R.data() + h_.r * j0, h_.r, 0, tile_.data(), m);
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < m; ++i) f(real(tile_[(std::size_t)(i + m * j)]), i0 + i + h_.rows * (j0 + j));
  }

private:
  const Halves &h_;
  Count         height_, width_, down_, first_, stride_, number_;
  Buffer        tile_;
};

std::vector<Int> multi_index(const Space &space, double linear)
{
  Count            rest = (Count)linear;
  std::vector<Int> index(space.d());
  for (Int k = 0; k < space.d(); ++k) {
    index[k] = (Int)(rest % space.N(k));
    rest /= space.N(k);
  }
  return index;
}

Real plain(Real v, std::int64_t e)
{
  return real(Scaled(Scalar(v), e).value());
}

} // namespace

// Two passes. The first finds both values. The second looks again at the tiles that come near them for the first place where
// they are taken up to round-off: entries that are equal in exact arithmetic differ in their last digits here, and the place
// should not depend on that. The values returned are the extreme ones of the first pass.
Extremes extremes(const Train &x, double limit)
{
  const Space &space = *x.space();
  PETSCTT_REQUIRE(space.full_size() <= limit && space.full_size() < 0x1p52, PETSC_ERR_SUP,
                  "Enumeration of 10^%.3f entries (%s); the limit is %g", (double)space.log10_full_size(), space.describe().c_str(), limit);
  PETSCTT_REQUIRE(x.scale().finite(), PETSC_ERR_FP, "The tensor holds NaN or Inf: it has no smallest or largest entry");
  if (x.is_zero()) return {0, 0, std::vector<Int>(space.d(), 0), std::vector<Int>(space.d(), 0)};

  const Halves h = build_halves(x);
  PETSCTT_REQUIRE(is_finite(max_part(h.L.data(), (Count)h.L.size())) && is_finite(max_part(h.R.data(), (Count)h.R.size())), PETSC_ERR_FP,
                  "The tensor holds NaN or Inf: it has no smallest or largest entry");
  const Real        inf = std::numeric_limits<Real>::infinity();
  Tiles             tiles(h, space.comm());
  std::vector<Real> least, most; // of the tiles of this process
  Real              top[2] = {-inf, -inf}; // largest of -value and of value
  for (Count t = tiles.first(); t < tiles.number(); t += tiles.stride()) {
    Real lo = inf, hi = -inf;
    tiles.visit(t, [&](Real v, Count) {
      lo = v < lo ? v : lo;
      hi = v > hi ? v : hi;
    });
    least.push_back(lo);
    most.push_back(hi);
    top[0] = std::max(top[0], -lo);
    top[1] = std::max(top[1], hi);
  }
  space.comm().max(top, 2);
  const Real lo = -top[0], hi = top[1];

  const Real tie = 64 * std::numeric_limits<Real>::epsilon() * std::max(std::abs(lo), std::abs(hi));
  Real       first[2] = {-inf, -inf}; // minus the smallest linear index of the minimum and of the maximum
  for (Count t = tiles.first(), own = 0; t < tiles.number(); t += tiles.stride(), ++own) {
    if (least[own] > lo + tie && most[own] < hi - tie) continue;
    tiles.visit(t, [&](Real v, Count linear) {
      if (v <= lo + tie && -(Real)linear > first[0]) first[0] = -(Real)linear;
      if (v >= hi - tie && -(Real)linear > first[1]) first[1] = -(Real)linear;
    });
  }
  space.comm().max(first, 2);
  return {plain(lo, h.e), plain(hi, h.e), multi_index(space, -first[0]), multi_index(space, -first[1])};
}

} // namespace petsctt
