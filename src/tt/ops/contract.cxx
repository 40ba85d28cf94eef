#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/evaluate.hpp"

namespace petsctt {

namespace {

// sum over i of w(i) core(:,i,:), r0 x r1, divided by a power of two whose exponent is added to e. Collective in
// distributed modes: one sum of r0 r1 words.
Buffer weighted_sum(const Train &x, Int k, const Scalar *w, std::int64_t &e)
{
  const Core &C = x.core(k);
  Buffer      S((std::size_t)((Count)C.r0 * C.r1)), ones;
  if (!w) {
    ones = Buffer((std::size_t)C.n);
    ones.fill(1);
    w = ones.data();
  }
  for (Int b = 0; b < C.r1; ++b)
    gemm('N', 'N', C.r0, 1, C.n, 1, C.data() + (Count)C.r0 * C.n * b, C.r0, w, C.n, 0, S.data() + (Count)C.r0 * b, C.r0);
  if (!x.space()->replicated(k)) x.space()->comm().sum(S.data(), (Count)S.size());
  e += normalize(S.data(), (Count)S.size());
  return S;
}

// What has been summed since the last mode that stayed: r x c, the same on all processes; r = 0 when nothing has.
struct Carry {
  Count  r = 0, c = 0;
  Buffer a;

  void append(Buffer S, Count r0, Count r1, std::int64_t &e)
  {
    if (r == 0) {
      r = r0;
      a = std::move(S);
    } else {
      Buffer P((std::size_t)(r * r1));
      gemm('N', 'N', r, r1, r0, 1, a.data(), r, S.data(), r0, 0, P.data(), r);
      a = std::move(P);
      e += normalize(a.data(), (Count)a.size());
    }
    c = r1;
  }
};

Core left_multiplied(const Carry &m, const Core &C)
{
  Core out((Int)m.r, C.n, C.r1);
  gemm('N', 'N', m.r, (Count)C.n * C.r1, m.c, 1, m.a.data(), m.r, C.data(), C.r0, 0, out.data(), m.r);
  return out;
}

Core right_multiplied(const Core &C, const Carry &m)
{
  const Count rows = (Count)C.r0 * C.n;
  Core        out(C.r0, C.n, (Int)m.c);
  gemm('N', 'N', rows, m.c, m.r, 1, C.data(), rows, m.a.data(), m.r, 0, out.data(), rows);
  return out;
}

void check_weights(const Train &x, const std::vector<const Scalar *> &weights)
{
  PETSCTT_REQUIRE((Int)weights.size() == x.d(), PETSC_ERR_ARG_SIZ, "%lld weight vectors for %lld modes", (long long)weights.size(), (long long)x.d());
}

std::vector<Int> staying_modes(const Space &space, const std::vector<bool> &contracted, const Space &rest)
{
  PETSCTT_REQUIRE((Int)contracted.size() == space.d(), PETSC_ERR_ARG_SIZ, "%lld flags for the contraction of %lld modes", (long long)contracted.size(),
                  (long long)space.d());
  std::vector<Int> stay;
  for (Int k = 0; k < space.d(); ++k)
    if (!contracted[k]) stay.push_back(k);
  PETSCTT_REQUIRE(!stay.empty(), PETSC_ERR_ARG_WRONG, "All %lld modes would be contracted; at least one must stay", (long long)space.d());
  bool fits = rest.d() == (Int)stay.size();
  for (Int j = 0; fits && j < rest.d(); ++j) fits = rest.mode(j) == space.mode(stay[j]);
  PETSCTT_REQUIRE(fits, PETSC_ERR_ARG_INCOMP, "Contraction of %s leaves %lld modes that are not those of %s", space.describe().c_str(),
                  (long long)stay.size(), rest.describe().c_str());
  return stay;
}

} // namespace

Train contract(const Train &x, const std::vector<bool> &contracted, const std::vector<const Scalar *> &weights, const SpacePtr &rest)
{
  check_weights(x, weights);
  const std::vector<Int> stay = staying_modes(*x.space(), contracted, *rest);
  Train                  out(rest);
  if (x.is_zero()) return out;
  std::int64_t e = 0;
  Carry        carry;
  Int          next = 0; // of the modes that stay
  for (Int k = 0; k < x.d(); ++k) {
    if (contracted[k]) {
      carry.append(weighted_sum(x, k, weights[k], e), x.core(k).r0, x.core(k).r1, e);
    } else {
      out.set_core(next++, carry.r ? left_multiplied(carry, x.core(k)) : x.core(k));
      carry = Carry();
    }
  }
  if (carry.r) out.set_core(next - 1, right_multiplied(Core(out.core(next - 1)), carry));
  out.set_scale(x.scale().times_pow2(e));
  return out;
}

Scaled contract_all(const Train &x, const std::vector<const Scalar *> &weights)
{
  check_weights(x, weights);
  if (x.is_zero()) return Scaled();
  std::int64_t e = 0;
  Carry        carry;
  for (Int k = 0; k < x.d(); ++k) carry.append(weighted_sum(x, k, weights[k], e), x.core(k).r0, x.core(k).r1, e);
  return x.scale() * Scaled(carry.a[0], e);
}

} // namespace petsctt
