#ifndef PETSCTT_TT_OPS_BUDGET_HPP
#define PETSCTT_TT_OPS_BUDGET_HPP

// Private to tt/ops: how much a truncating sweep may still cut off.
#include "base/numbers.hpp"

#include <algorithm>
#include <vector>

namespace petsctt {

// How much of the norm may go, and what has gone. Everything is relative to the norm of what is being rounded.
struct Budget {
  Real eps2  = 0; // squared tolerance of the whole rounding
  Real used2 = 0; // squared error made so far within the tolerance
  Real cap2  = 0; // squared error forced by the rank cap: it must not make the other truncations keep everything
  Int  steps = 0; // truncations still to come
  Real next() const { return std::max<Real>(0, eps2 - used2) / std::max<Int>(1, steps); }
};

// Number of singular values (descending) to keep so that the tail (relative to all of them, squared) stays below `allowed2`; at least one.
inline Int kept(const std::vector<Real> &s, Real allowed2, Real *tail2)
{
  Real total2 = 0;
  for (Real v : s) total2 += v * v;
  Int  t    = (Int)s.size();
  Real tail = 0;
  while (t > 1 && tail + s[t - 1] * s[t - 1] <= allowed2 * total2) {
    tail += s[t - 1] * s[t - 1];
    --t;
  }
  *tail2 = total2 > 0 ? tail / total2 : 0;
  return t;
}

} // namespace petsctt

#endif
