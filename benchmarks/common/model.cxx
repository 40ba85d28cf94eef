#include "common/model.hpp"

#include "common/measure.hpp"

#include <algorithm>

namespace bench {

namespace {

constexpr double multiply_add = petsctt::is_complex ? 4 : 1; // real operations of a nominal one

} // namespace

Cost round_cost(const Space &space, const std::vector<Int> &R, const std::vector<Int> &t)
{
  const Int           d = space.d();
  std::vector<double> q(R.begin(), R.end()); // TT ranks after the first sweep
  Cost                c;
  for (Int k = d - 1; k > 0; --k) {
    const double m = (double)space.N(k) * q[k + 1], n = (double)R[k], p = std::min(m, n), next = (double)R[k - 1] * (double)space.N(k - 1);
    c.flops += multiply_add * (2 * m * n * p + 2 * m * p * p + n * p * next);
    if (!space.replicated(k)) {
      const double l = rounds(space.comm().size());
      c.messages += 3 * l;
      c.words += l * (n * p + p * p + n * p);
    }
    q[k] = p;
  }
  for (Int k = 0; k + 1 < d; ++k) {
    const double l = rounds(space.comm().size()), s = (double)t[k + 1];
    const double m = (double)space.N(k) * (double)t[k], n = q[k + 1], p = std::min(m, n), next = q[k + 2] * (double)space.N(k + 1);
    c.flops += multiply_add * (2 * m * n * p + 4 * m * p * s + 2 * s * n * next);
    c.messages += l;
    c.words += l * (n * s + (space.replicated(k) ? p * s : 0)); // process 0 decides for all
    if (!space.replicated(k)) {
      c.messages += 2 * l;
      c.words += l * (n * p + p * s);
    }
  }
  return c;
}

Cost dot_cost(const Space &space, const std::vector<Int> &x, const std::vector<Int> &y)
{
  Cost c;
  for (Int k = 0; k < space.d(); ++k) {
    const double N = (double)space.N(k), r0 = (double)x[k], r1 = (double)x[k + 1], s0 = (double)y[k], s1 = (double)y[k + 1];
    c.flops += multiply_add * 2 * N * std::min(s0 * r1 * (r0 + s1), r0 * s1 * (s0 + r1));
    if (!space.replicated(k)) {
      c.messages += rounds(space.comm().size());
      c.words += space.comm().size() > 1 ? 2 * r1 * s1 : 0;
    }
  }
  return c;
}

Cost norm_cost(const Space &space, const std::vector<Int> &R)
{
  double p = 1; // rows of the triangle that comes from the left
  Cost   c;
  for (Int k = 0; k + 1 < space.d(); ++k) {
    const double m = (double)space.N(k) * p, n = (double)R[k + 1], q = std::min(m, n), next = (double)space.N(k + 1) * (double)R[k + 2];
    c.flops += multiply_add * (2 * m * n * q + n * q * next);
    if (!space.replicated(k)) {
      c.messages += 2 * rounds(space.comm().size());
      c.words += rounds(space.comm().size()) * 2 * n * q;
    }
    p = q;
  }
  return c;
}

} // namespace bench
