#include "tt/ops/fill.hpp"

#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/random.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

// 1/sqrt(N) as every entry of a core makes it orthonormal from both sides; what was divided out goes into the scale.
static Scaled fill_even(Core &c, Int N)
{
  const Real v = 1 / std::sqrt((Real)N);
  std::fill(c.data(), c.data() + c.count(), Scalar(v));
  return Scaled(v);
}

Train constant(const SpacePtr &space, Scalar c)
{
  Train x(space);
  if (c == Scalar(0)) return x;
  // Dividing by the product of the entries themselves, not multiplying by square roots, gives c back to the last digits.
  Scaled product(1);
  for (Int k = 0; k < space->d(); ++k) product *= fill_even(x.core_rw(k), space->N(k));
  x.set_scale(Scaled(c) / product);
  x.set_orthogonal(space->d() - 1, space->d() - 1);
  return x;
}

Train rank_one(const SpacePtr &space, const std::vector<const Scalar *> &vectors)
{
  const Int d = space->d();
  PETSCTT_REQUIRE((Int)vectors.size() == d, PETSC_ERR_ARG_SIZ, "%lld mode vectors for %lld modes", (long long)vectors.size(), (long long)d);
  Train             x(space);
  std::vector<Real> top(d, 1);
  Scaled            scale(1);
  for (Int k = 0; k < d; ++k) {
    Core &c = x.core_rw(k);
    if (vectors[k]) {
      std::copy(vectors[k], vectors[k] + c.n, c.data());
      top[k] = max_part(c.data(), c.n);
    } else {
      scale = scale / fill_even(c, space->N(k));
    }
  }
  space->comm().max(top.data(), d); // in replicated modes too: harmless, and whoever differs sees the larger value
  for (Int k = 0; k < d; ++k) {
    if (!vectors[k]) continue;
    if (top[k] == 0) {
      x.set_zero();
      return x;
    }
    const std::int64_t e = exponent_of(top[k]);
    scale_pow2(x.core_rw(k).data(), x.core(k).count(), -e);
    scale = scale.times_pow2(e);
  }
  x.set_scale(scale);
  return x;
}

std::vector<Int> clip_ranks(const Space &space, std::vector<Int> ranks)
{
  const Int d = space.d();
  PETSCTT_REQUIRE((Int)ranks.size() == d + 1, PETSC_ERR_ARG_SIZ, "%lld TT ranks given for %lld modes, which have %lld", (long long)ranks.size(),
                  (long long)d, (long long)d + 1);
  for (Int k = 0; k <= d; ++k)
    PETSCTT_REQUIRE(ranks[k] >= 1, PETSC_ERR_ARG_OUTOFRANGE, "TT rank %lld is %lld; it must be at least 1", (long long)k, (long long)ranks[k]);
  const auto clip = [](Int &r, Int neighbour, Int N) {
    if ((double)neighbour * (double)N < (double)r) r = neighbour * N; // r N itself may leave the range of Int
  };
  ranks[0] = ranks[d] = 1;
  for (Int k = 1; k <= d; ++k) clip(ranks[k], ranks[k - 1], space.N(k - 1));
  for (Int k = d; k-- > 0;) clip(ranks[k], ranks[k + 1], space.N(k));
  return ranks;
}

Train random_train(const SpacePtr &space, std::vector<Int> ranks, std::uint64_t seed)
{
  ranks = clip_ranks(*space, std::move(ranks));
  Train x(space);
  for (Int k = 0; k < space->d(); ++k) {
    Core C(ranks[k], space->n(k), ranks[k + 1]);
    // The global index of entry (a,i,b) is a + r0 (i + N b): for fixed b what a process owns is one run.
    for (Int b = 0; b < C.r1; ++b)
      fill_gaussian(seed, (std::uint64_t)k, (std::uint64_t)C.r0 * ((std::uint64_t)space->start(k) + (std::uint64_t)space->N(k) * b),
                    (Count)C.r0 * C.n, C.data() + (Count)C.r0 * C.n * b);
    x.set_core(k, std::move(C));
  }
  x.set_scale(Scaled(1));
  return x;
}

} // namespace petsctt
