#include "tt/ops/balance.hpp"

#include "tt/ops/array.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Largest modulus of core(a, :, b) over all processes, r0 x r1; Inf for what is not finite.
std::vector<Real> fibre_maxima(const Space &space, Int k, const Core &c)
{
  std::vector<Real> top((std::size_t)((Count)c.r0 * c.r1), 0);
  for (Count b = 0; b < c.r1; ++b)
    for (Count i = 0; i < c.n; ++i)
      for (Count a = 0; a < c.r0; ++a) {
        Real &t = top[(std::size_t)(a + c.r0 * b)];
        t       = std::max(t, max_part(c.data() + a + c.r0 * (i + (Count)c.n * b), 1));
      }
  if (!space.replicated(k)) space.comm().max(top.data(), (Count)top.size());
  return top;
}

} // namespace

Train balanced(const Train &x)
{
  const Space              &space = *x.space();
  Train                     y     = x;
  std::vector<std::int64_t> right(1, 0); // exponents of the rows of what is right of the bond
  for (Int k = space.d(); k-- > 0;) {
    Core                     &c   = y.core_rw(k);
    const std::vector<Real>   top = fibre_maxima(space, k, c);
    std::vector<std::int64_t> left((std::size_t)c.r0, std::numeric_limits<std::int64_t>::min());
    for (Count b = 0; b < c.r1; ++b)
      for (Count a = 0; a < c.r0; ++a) {
        const Real t = top[(std::size_t)(a + c.r0 * b)];
        if (!is_finite(t)) return x;
        if (t > 0) left[(std::size_t)a] = std::max(left[(std::size_t)a], exponent_of(t) + right[(std::size_t)b]);
      }
    for (std::int64_t &e : left)
      if (e == std::numeric_limits<std::int64_t>::min()) e = 0; // a row of zeros
    for (Count b = 0; b < c.r1; ++b)
      for (Count i = 0; i < c.n; ++i)
        for (Count a = 0; a < c.r0; ++a) {
          Scalar &s = c.data()[a + c.r0 * (i + (Count)c.n * b)];
          s         = ldexp(s, right[(std::size_t)b] - left[(std::size_t)a]);
        }
    right = std::move(left);
  }
  y.set_scale(y.scale().times_pow2(right[0]));
  y.set_orthogonal(0, 0);
  return y;
}

BalancedTerms::BalancedTerms(const std::vector<LazyTerm> &all)
{
  trains.reserve(all.size()); // addresses are taken
  plain.reserve(all.size());
  for (const LazyTerm &t : all) {
    const Train *x = t.train->plain();
    Train        y = x ? *x : t.train->form();
    // The coefficient has the scale of the train already; forming it may have put factors of the operator into the scale as well.
    const Scaled more = x ? Scaled(Scalar(1)) : y.scale() / t.train->scale();
    y.set_scale(more);
    trains.push_back(balanced(y));
    plain.emplace_back(trains.back());
    terms.push_back({t.coefficient * trains.back().scale(), &plain.back()});
    trains.back().set_scale(Scaled(Scalar(1)));
  }
}

} // namespace petsctt
