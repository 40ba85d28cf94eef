#include "tt/error.hpp"
#include "tt/ops/round.hpp"

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
    if (d > 1 && (k == 0 || k == d - 1)) { // one row or column of blocks, no zeros between
    } else std::fill(c.data(), c.data() + c.count(), Scalar(0));
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

RoundInfo round_sum(const SpacePtr &space, const std::vector<Term> &terms, const RoundOptions &options, Train &out)
{
  Train     sum  = form_sum(space, terms);
  RoundInfo info = round(sum, options);
  out            = std::move(sum);
  return info;
}

} // namespace petsctt
