#include "base/error.hpp"
#include "tt/ops/lazy.hpp"
#include "tt/ops/random_sum.hpp"
#include "tt/ops/round.hpp"
#include "tt/ops/sweep.hpp"
#include "tt/ops/two_sweeps.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Writes the core of one term into the block core of the sum: rank offsets o0, o1.
void place(Core &sum, const Core &c, Int o0, Int o1, Scalar factor)
{
  for (Int b = 0; b < c.r1; ++b)
    for (Int i = 0; i < c.n; ++i) {
      const Scalar *from = c.data() + (Count)c.r0 * (i + (Count)c.n * b);
      Scalar       *to   = sum.data() + o0 + (Count)sum.r0 * (i + (Count)sum.n * (o1 + b));
      if (factor == Scalar(1)) std::copy(from, from + c.r0, to);
      else
        for (Int a = 0; a < c.r0; ++a) to[a] = factor * from[a];
    }
}

} // namespace

Train form_sum(const SpacePtr &space, const std::vector<Term> &all)
{
  std::vector<Term> terms;
  for (const Term &t : all) {
    require_same_space(*space, *t.train->space(), "Sum of tensor trains");
    const Scaled c = t.coefficient * t.train->scale();
    if (!c.finite()) {
      Train nan(space);
      nan.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
      return nan;
    }
    if (!c.is_zero()) terms.push_back({c, t.train});
  }
  Train out(space);
  if (terms.empty()) return out;
  if (terms.size() == 1) {
    out = *terms[0].train;
    out.set_scale(terms[0].coefficient);
    return out;
  }
  // The common scale is the power of two of the largest coefficient; what remains of each goes into its first core.
  std::int64_t top = terms[0].coefficient.exponent2();
  for (const Term &t : terms) top = std::max(top, t.coefficient.exponent2());
  const Int d = space->d();
  for (Int k = 0; k < d; ++k) {
    Int r0 = 0, r1 = 0;
    for (const Term &t : terms) {
      r0 += t.train->r(k);
      r1 += t.train->r(k + 1);
    }
    Core c(k == 0 ? 1 : r0, space->n(k), k == d - 1 ? 1 : r1);
    if (d == 1 || (k > 0 && k < d - 1)) std::fill(c.data(), c.data() + c.count(), Scalar(0)); // the others: one row or column of blocks, nothing between
    Int o0 = 0, o1 = 0;
    for (const Term &t : terms) {
      const Core  &x = t.train->core(k);
      const Scalar f = k == 0 ? ldexp(t.coefficient.mantissa(), t.coefficient.exponent2() - top) : Scalar(1);
      if (d == 1) { // a plain vector: added entry by entry
        for (Count i = 0; i < c.count(); ++i) c.data()[i] += f * x.data()[i];
      } else place(c, x, k == 0 ? 0 : o0, k == d - 1 ? 0 : o1, f);
      o0 += x.r0;
      o1 += x.r1;
    }
    out.set_core(k, std::move(c));
  }
  out.set_scale(Scaled(Scalar(1), top));
  return out;
}

namespace {

constexpr Int  randomize_above = 40; // sums with TT ranks up to this are rounded faster than they are sketched
constexpr Int  randomize_modes = 16; // the norms of sketches of more modes vary too much to be relied on
constexpr Real randomize_rtol  = 1e-12;
constexpr Real gram_rtol2      = 1e-12; // squared tolerance of one truncation above which Gram matrices are accurate enough as a rule

// Nominal flops of one rounding by the methods, up to lower terms; see two_sweeps.hpp and random_sum.hpp.
struct Work {
  double qr = 0, gram = 0, sketch = 0;
  Count  widest = 0; // TT rank of the sum
};

Work work_of(const Space &space, const std::vector<LazyTerm> &terms)
{
  Work w;
  for (Int k = 0; k < space.d(); ++k) {
    const double n = (double)space.N(k);
    double       R0 = 0, R1 = 0, t0 = 0, t1 = 0, blocks = 0, each = 0;
    for (const LazyTerm &t : terms) {
      R0 += t.train->r(k);
      R1 += t.train->r(k + 1);
      t0 = std::max<double>(t0, t.train->rank_guess(k));
      t1 = std::max<double>(t1, t.train->rank_guess(k + 1));
      blocks += (double)t.train->rank_guess(k) * t.train->rank_guess(k + 1);
    }
    if (k == 0) R0 = t0 = 1;
    if (k + 1 == space.d()) R1 = t1 = 1;
    const double l0 = std::min(R0, 1.25 * t0 + 26), l1 = std::min(R1, 1.25 * t1 + 26); // columns of a sketch
    for (const LazyTerm &t : terms) {
      const double r0 = t.train->rank_guess(k), r1 = t.train->rank_guess(k + 1);
      each += 2 * n * (r0 * r1 * (l0 + 2 * l1) + 2 * r1 * l0 * l1);
    }
    w.widest = std::max(w.widest, (Count)R1);
    const double common = 2 * n * blocks * (R1 + t0) + 4 * n * t0 * R1 * t1 + 2 * n * t0 * t1 * t1; // T and C; U and L; U made orthonormal
    w.qr += common + 2 * n * R1 * R0 * R0 + 4 * n * t0 * R1 * R1;
    w.gram += common + n * R1 * R0 * R0 + n * t0 * R1 * R1;
    w.sketch += each + 8 * n * l0 * l1 * std::max(l0, l1);
  }
  return w;
}

// The method with the least work among those that are accurate enough: see round.hpp.
RoundType choose(const Space &space, const std::vector<LazyTerm> &terms, const RoundOptions &o)
{
  const bool   relative = o.atol.is_zero(); // an absolute tolerance may turn out to be any relative one
  const bool   gram     = relative && o.rtol * o.rtol / std::max<Int>(1, space.d() - 1) >= gram_rtol2;
  const Work   w        = work_of(space, terms);
  const double sweeps   = gram ? w.gram : w.qr;
  if (w.widest > randomize_above && space.d() <= randomize_modes && (o.rtol >= randomize_rtol || !relative) && 1.5 * w.sketch < sweeps) return RoundType::randomized;
  return gram ? RoundType::gram : RoundType::qr;
}

} // namespace

RoundType choose_round_type(const Train &x, const RoundOptions &options)
{
  const PlainTrain lazy(x);
  return choose(*x.space(), {{Scaled(Scalar(1)), &lazy}}, options);
}

namespace {

RoundInfo round_formed(const SpacePtr &space, const std::vector<Term> &terms, const RoundOptions &options, Train &out)
{
  std::vector<Train> formed; // of the lazy terms
  formed.reserve(terms.size());
  std::vector<Term> all;
  for (const Term &t : terms) {
    if (t.lazy) formed.push_back(t.lazy->form());
    all.push_back({t.coefficient, t.lazy ? &formed.back() : t.train});
  }
  Train     sum  = form_sum(space, all);
  RoundInfo info = round(sum, options);
  out            = std::move(sum);
  return info;
}

} // namespace

RoundInfo round_sum(const SpacePtr &space, const std::vector<Term> &terms, const RoundOptions &options, Train &out)
{
  std::vector<PlainTrain> plain;
  plain.reserve(terms.size()); // addresses are taken below
  std::vector<LazyTerm> lazy;
  for (const Term &t : terms) {
    if (!t.lazy) plain.emplace_back(*t.train);
    const LazyTrain *l = t.lazy ? t.lazy : &plain.back();
    require_same_space(*space, *l->space(), "Sum of tensor trains");
    if (!(t.coefficient * l->scale()).is_zero()) lazy.push_back({t.coefficient, l, t.sketch});
  }
  if (space->d() == 1 || options.formed) return round_formed(space, terms, options, out);
  // what is known of the orthogonality of a single train is used by round()
  const Train *single = lazy.size() == 1 ? lazy[0].train->plain() : nullptr;
  if (lazy.empty() || (single && single->left() >= space->d() - 1)) {
    Train     x = single ? *single : Train(space);
    if (single) x.set_scale(x.scale() * lazy[0].coefficient);
    RoundInfo info = round(x, options);
    out            = std::move(x);
    return info;
  }
  RoundType type = options.type == RoundType::automatic ? choose(*space, lazy, options) : options.type;
  if (single && options.type == RoundType::automatic && type == RoundType::randomized) type = RoundType::qr; // see round()
  Train sum(space);
  RoundInfo info = type == RoundType::randomized ? randomized_round_sum(space, lazy, options, sum) : two_sweeps(space, lazy, options, type, sum);
  complete(sum, info);
  out = std::move(sum);
  return info;
}

} // namespace petsctt
