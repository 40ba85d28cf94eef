#include "tt/ops/orthogonalize.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/r_factor.hpp"
#include "tt/ops/right_solve.hpp"
#include "tt/ops/sweep.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace petsctt {

std::vector<Count> long_sizes(const Space &space, Int k, Count r)
{
  if (space.replicated(k)) return {};
  std::vector<Count> s(space.comm().size());
  for (int q = 0; q < space.comm().size(); ++q) s[q] = r * space.mode(k).local(q);
  return s;
}

void multiply_core(Core &core, bool left, const Scalar *T, Count p)
{
  if (left) {
    Core out((Int)p, core.n, core.r1);
    gemm('N', 'N', p, (Count)core.n * core.r1, core.r0, 1, T, p, core.data(), core.r0, 0, out.data(), p);
    core = std::move(out);
  } else {
    Core out(core.r0, core.n, (Int)p);
    gemm('N', 'N', (Count)core.r0 * core.n, p, core.r1, 1, core.data(), (Count)core.r0 * core.n, T, core.r1, 0, out.data(), (Count)core.r0 * core.n);
    core = std::move(out);
  }
}

std::int64_t take_exponent(Scalar *a, Count n)
{
  return normalize(a, n);
}

std::int64_t bring_into_range(const Space &space, Int k, Core &core)
{
  Real top = max_part(core.data(), core.count());
  if (!space.replicated(k)) space.comm().max(&top, 1);
  const std::int64_t e = exponent_of(top);
  if (std::abs(e) <= 300) return 0;
  scale_pow2(core.data(), core.count(), -e);
  return e;
}

bool make_orthonormal(Scalar *gram, Core &q, Count R, Scalar *carry, bool exact)
{
  constexpr Real eps = std::numeric_limits<Real>::epsilon();
  const Count    t   = q.r1;
  Real           off = 0;
  for (Count j = 0; j < t; ++j)
    for (Count i = 0; i <= j; ++i) {
      const Real d = petsctt::abs(gram[i + t * j] - Scalar(i == j ? 1 : 0));
      if (!(d <= 0.1)) return false;
      off = std::max(off, d);
    }
  if (off <= 4 * eps) return true;
  if (potrf(t, gram, t) != 0) return false;
  const RightSolve solve(t, gram);
  const Count      m = (Count)q.r0 * q.n, step = RFactor::block_rows(t);
  for (Count row = 0; row < m; row += step) solve.apply(std::min(step, m - row), q.data() + row, m);
  if (exact) trmm('L', 'U', 'N', 'N', t, R, 1, gram, t, carry, t);
  else trsm('L', 'U', 'C', 'N', t, R, 1, gram, t, carry, t);
  return true;
}

namespace {

// One step of a sweep: core k becomes orthogonal and its triangle is multiplied into its neighbour.
void step(Train &x, Int k, bool to_right)
{
  if (x.is_zero()) return;
  const Space &space = *x.space();
  const Int    left = x.left(), right = x.right(), next = to_right ? k + 1 : k - 1;
  Core        &core = x.core_rw(k);
  const Count  m = (Count)core.n * (to_right ? core.r0 : core.r1), n = to_right ? core.r1 : core.r0;

  const std::int64_t pre = bring_into_range(space, k, core);
  Tsqr               f(space.comm(), to_right ? Tsqr::Shape::tall : Tsqr::Shape::wide, long_sizes(space, k, to_right ? core.r0 : core.r1), m, n, core.data());
  const Count        p = f.p();
  Buffer             message((std::size_t)p * n + 1);
  if (f.at_root()) {
    std::copy(f.triangle().data(), f.triangle().data() + p * n, message.data());
    message[p * n] = (Real)take_exponent(message.data(), p * n);
  }
  if (f.distributed()) space.comm().bcast(message.data(), p * n + 1);
  Core q(to_right ? core.r0 : (Int)p, core.n, to_right ? (Int)p : core.r1);
  if (f.expand_in_place()) {
    if (p == n) q = std::move(core); // Q has taken the place of the core
    else std::copy(core.data(), core.data() + q.count(), q.data());
  } else f.apply(nullptr, p, q.data());
  core = std::move(q);

  multiply_core(x.core_rw(next), to_right, message.data(), p);
  x.set_scale(x.scale().times_pow2((std::int64_t)real(message[p * n]) + pre));
  if (to_right) x.set_orthogonal(left >= k ? k + 1 : std::min(left, k), std::min(right, x.d() - 2 - k));
  else x.set_orthogonal(std::min(left, k - 1), right >= x.d() - 1 - k ? x.d() - k : std::min(right, x.d() - 1 - k));
}

} // namespace

void orthogonalize_left(Train &x, Int k)
{
  PETSCTT_REQUIRE(k >= 0 && k < x.d() - 1, PETSC_ERR_ARG_OUTOFRANGE, "Core %lld cannot be left-orthogonalised: cores 0..%lld can", (long long)k, (long long)x.d() - 2);
  step(x, k, true);
}

void orthogonalize_right(Train &x, Int k)
{
  PETSCTT_REQUIRE(k > 0 && k < x.d(), PETSC_ERR_ARG_OUTOFRANGE, "Core %lld cannot be right-orthogonalised: cores 1..%lld can", (long long)k, (long long)x.d() - 1);
  step(x, k, false);
}

void orthogonalize(Train &x, Int centre)
{
  PETSCTT_REQUIRE(centre >= 0 && centre < x.d(), PETSC_ERR_ARG_OUTOFRANGE, "Orthogonality centre %lld is not a core: 0..%lld", (long long)centre, (long long)x.d() - 1);
  for (Int k = x.left(); k < centre; ++k) orthogonalize_left(x, k);
  for (Int k = x.d() - 1 - x.right(); k > centre; --k) orthogonalize_right(x, k);
}

} // namespace petsctt
