#include "tt/ops/two_sweeps.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/balance.hpp"
#include "tt/ops/budget.hpp"
#include "tt/ops/decision.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/sweep_rows.hpp"
#include "tt/ops/sweep.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

namespace petsctt {

namespace {

constexpr Real eps         = std::numeric_limits<Real>::epsilon();
constexpr Real gram_noise2 = 8 * eps; // squared floor of a Gram matrix relative to its diagonal
constexpr Real gram_share2 = 1e-2;    // of the squared truncation allowed, which the floor may take

// strict: stops, and says extreme(), where norms are so far from one that their squares may have left the range; what is wanted then is
// balanced trains, with which a second try takes whatever comes.
class Sweeps {
public:
  Sweeps(const SpacePtr &space, const std::vector<LazyTerm> &terms, const RoundOptions &o, RoundType method, bool strict) :
    space_(space), terms_(terms), o_(o), gram_(method == RoundType::gram), strict_(strict), right_((std::size_t)space->d() + 1), out_(space)
  {
    top_ = terms[0].coefficient.exponent2();
    for (const LazyTerm &t : terms) top_ = std::max(top_, t.coefficient.exponent2());
    for (const LazyTerm &t : terms) {
      L_.emplace_back(1);
      L_.back()[0] = ldexp(t.coefficient.mantissa(), t.coefficient.exponent2() - top_);
    }
    RightFactor &last = right_[space->d()];
    last.identity     = true;
    last.l            = 1;
    last.e.assign(terms.size(), 0);
    // right-orthogonal cores of a single train have the identity for W
    first_known_ = space->d();
    const Train *single = terms.size() == 1 ? terms[0].train->plain() : nullptr;
    if (single)
      for (first_known_ = space->d() - single->right(); first_known_ < 1;) ++first_known_;
    for (Int k = first_known_; k < space->d(); ++k) {
      right_[k]          = last;
      right_[k].l        = single->r(k);
    }
  }

  // W_k for all bonds from `to` on. False: the sum is zero or not finite.
  bool from_right(Int to, bool gram)
  {
    for (Int k = first_known_ - 1; k >= to; --k)
      if (!right_factor(k, gram)) return false;
    return true;
  }

  bool run(RoundInfo &info)
  {
    const Int d = space_->d();
    budget_.steps = d - 1;
    budget_.eps2  = o_.rtol * o_.rtol;
    if (d > 1 && !from_right(1, gram_)) return false;
    for (Int k = 0; k + 1 < d; ++k)
      if (!core(k, info)) return false;
    finish();
    info.type  = gram_ ? RoundType::gram : RoundType::qr;
    info.error = std::sqrt(budget_.used2 + budget_.cap2 + floor2_);
    info.cap_hit = info.cap_hit && budget_.used2 + budget_.cap2 > budget_.eps2; // a cap that bit without harm is none
    return true;
  }

  Train &out() { return out_; }

  bool extreme() const { return extreme_; }

  // For the norm alone, which well-conditioned trains have without a preconditioner: one try, more as long as it succeeds.
  void try_cholesky() { hopeful_ = true; }

  // Norm of the sum from W_1, after from_right(1): that of C W at core 0, scale included. Means nothing when extreme().
  Scaled norm()
  {
    std::vector<Core> C(terms_.size());
    products(0, C);
    Scalar             out[2]; // norm, status
    const std::int64_t e = right_[1].top();
    const ZRows        rows(C, right_[1], e);
    RFactor            f(rows.columns());
    std::vector<Real>  D;
    add_local_r(rows, f);
    if (!space_->replicated(0)) f.reduce(space_->comm());
    if (space_->comm().rank() == 0) {
      const int status = column_norms(f.columns(), f.R(), strict_, D);
      Real      norm2  = 0;
      for (Real d : D) norm2 += d * d;
      out[0] = status == not_finite ? Scalar(std::numeric_limits<Real>::quiet_NaN()) : Scalar(std::sqrt(norm2));
      out[1] = (Real)status;
    }
    space_->comm().bcast(out, 2);
    stops((int)std::lround(real(out[1])));
    return Scaled(out[0], e + le_ + top_);
  }

private:
  Count total_rank(Int k) const
  {
    Count s = 0;
    for (const LazyTerm &t : terms_) s += t.train->r(k);
    return s;
  }

  void fail_on(int status, const char *what, Count rows, Int k) const
  {
    PETSCTT_REQUIRE(status != failed, PETSC_ERR_LIB, "The %s with %lld columns at core %lld could not be factored on the first process: no memory, or beyond the range of LAPACK", what, (long long)rows, (long long)k);
    PETSCTT_REQUIRE(status != no_convergence, PETSC_ERR_CONV_FAILED, "The singular value decomposition of a %s with %lld columns at core %lld did not converge", what, (long long)rows, (long long)k);
  }

  // Is it for balanced trains to go on?
  bool stops(int status)
  {
    if (strict_ && (status == out_of_range || status == not_finite || status == all_zero)) extreme_ = true;
    return extreme_;
  }

  // The result is zero or not finite.
  bool over(int status)
  {
    out_.set_zero();
    if (status != all_zero) out_.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
    return false;
  }

  // ---- first sweep ----

  // Is the first term a train that is right-orthogonal from core k on?
  bool first_is_orthogonal(Int k) const
  {
    const Train *x = terms_[0].train->plain();
    return terms_.size() > 1 && x && x->right() >= space_->d() - k;
  }

  // W_k = [I 0; G L] with the first term's part right of the bond orthonormal: that one needs nothing, the others' parts are split into what lies
  // in its span and a remainder. Cost for ranks r of the first, s of the others: 2 n s (2 r^2 + s (r + s) + ...) instead of 2 n (r + s)^3.
  bool right_factor_beside(Int k, bool gram)
  {
    const Core                  &X = terms_[0].train->plain()->core(k);
    const std::vector<LazyTerm>  others(terms_.begin() + 1, terms_.end());
    const RightFactor           &next = right_[k + 1];
    const Count                  r = X.r0, R = total_rank(k) - r;
    RightFactor                  w = next, w_x; // of the others: all columns, and those that belong to X
    bool                         plain = true;
    if (!w.identity) w.w.erase(w.w.begin());
    w.e.erase(w.e.begin());
    w.first_row = X.r1;
    for (const LazyTerm &t : others) plain = plain && t.train->plain();
    w_x   = w;
    w_x.l = X.r1;
    for (std::size_t i = 0; i < others.size() && !w.identity; ++i) {
      const Count s = others[i].train->r(k + 1);
      Buffer      b((std::size_t)(s * w_x.l));
      std::copy(w.w[i].data(), w.w[i].data() + s * w_x.l, b.data());
      w_x.w[i] = std::move(b);
    }
    w_x.lower = false; // its columns are in front of the triangle of the others
    const TRows rows(*space_, k, others, w);
    Buffer      G((std::size_t)(R * r));
    if (plain) RemainderRows::coefficients(TRows(*space_, k, others, w_x), X, G.data());
    else RemainderRows::coefficients(rows, X, G.data());
    if (!space_->replicated(k)) space_->comm().sum(G.data(), R * r);
    const RemainderRows remainder(rows, X, space_->start(k), G);
    Decision            c;
    if (gram) {
      Buffer H((std::size_t)(R * R));
      local_gram(remainder, H.data());
      if (!space_->replicated(k)) space_->comm().sum(H.data(), R * R);
      if (space_->comm().rank() == 0) c = guarded([&] { return decide_gram(R, H, &G, r); });
    } else {
      RFactor f(R);
      add_local_r(remainder, f);
      if (!space_->replicated(k)) f.reduce(space_->comm());
      if (space_->comm().rank() == 0) c = guarded([&] { return decide_beside((Count)space_->N(k) * next.l, f, G, r, strict_); });
    }
    share(space_->comm(), c, R);
    fail_on(c.status, "right factor", R, k);
    if (stops(c.status) || c.status != fine) return over(c.status);
    RightFactor &out = right_[k];
    out              = RightFactor();
    out.l            = (Int)r + c.l;
    out.lower        = c.lower;
    out.e            = next.e;
    Buffer I((std::size_t)(r * out.l));
    I.fill(0);
    for (Count i = 0; i < r; ++i) I[i + r * i] = 1;
    out.w.push_back(std::move(I));
    Count o = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const Count s = others[i].train->r(k);
      Buffer      b((std::size_t)(s * out.l));
      for (Count j = 0; j < r; ++j) std::copy(G.data() + o + R * j, G.data() + o + s + R * j, b.data() + s * j);
      for (Int j = 0; j < c.l; ++j) std::copy(c.m.data() + o + R * j, c.m.data() + o + s + R * j, b.data() + s * (r + j));
      out.e[i + 1] += take_exponent(b.data(), s * out.l);
      out.w.push_back(std::move(b));
      o += s;
    }
    return true;
  }

  bool right_factor(Int k, bool gram)
  {
    if (first_is_orthogonal(k)) return right_factor_beside(k, gram);
    const Count R = total_rank(k);
    const TRows rows(*space_, k, terms_, right_[k + 1]);
    Decision    c;
    if (gram) {
      Buffer G((std::size_t)(R * R));
      local_gram(rows, G.data());
      if (!space_->replicated(k)) space_->comm().sum(G.data(), R * R);
      if (space_->comm().rank() == 0) c = guarded([&] { return decide_gram(R, G); });
    } else {
      RFactor f(R);
      if (!add_local_cholesky(rows, f, hopeful_)) add_local_r(rows, f);
      if (!space_->replicated(k)) f.reduce(space_->comm());
      if (space_->comm().rank() == 0) c = guarded([&] { return decide_right((Count)space_->N(k) * right_[k + 1].l, f, strict_); });
    }
    share(space_->comm(), c, R);
    fail_on(c.status, "right factor", R, k);
    if (stops(c.status) || c.status != fine) return over(c.status);
    RightFactor &w = right_[k];
    w.identity     = false;
    w.lower        = c.lower;
    w.l            = c.l;
    w.w.clear();
    w.e = right_[k + 1].e;
    Count o = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const Count r = terms_[i].train->r(k);
      Buffer      b((std::size_t)(r * c.l));
      for (Int j = 0; j < c.l; ++j) std::copy(c.m.data() + o + R * j, c.m.data() + o + r + R * j, b.data() + r * j);
      w.e[i] += take_exponent(b.data(), r * c.l);
      w.w.push_back(std::move(b));
      o += r;
    }
    return true;
  }

  // ---- second sweep ----

  void products(Int k, std::vector<Core> &C) const
  {
    for (std::size_t i = 0; i < terms_.size(); ++i) terms_[i].train->times_left(k, L_[i].data(), t_, C[i]);
  }

  bool core(Int k, RoundInfo &info)
  {
    std::vector<Core> C(terms_.size());
    products(k, C);
    Decision c;
    c = gram_ ? split_gram(k, C) : split(k, C);
    if (c.status == too_coarse) {
      gram_ = false; // from here on
      if (!from_right(k + 1, false)) return false;
      c = split(k, C);
    }
    fail_on(c.status, "triangle", right_[k + 1].l, k);
    if (stops(c.status) || c.status != fine) return over(c.status);
    budget_.eps2 = c.eps2;
    (c.cap_hit ? budget_.cap2 : budget_.used2) += c.tail2 * (1 - budget_.used2 - budget_.cap2);
    floor2_ += c.floor2;
    --budget_.steps;
    info.cap_hit = info.cap_hit || c.cap_hit;
    return new_core(k, C, c) || over(out_of_range);
  }

  // An absolute tolerance becomes a relative one as soon as the norm is known, that is, at the first bond: norm2 in units of 2^(2 e).
  void refer_to(Int k, Real norm2, std::int64_t e)
  {
    if (k > 0) return;
    if (o_.atol.is_zero() || !(norm2 > 0)) return;
    const Real a = real((o_.atol / Scaled(Scalar(std::sqrt(norm2)), e + top_)).value_or_inf());
    const Real r = std::max(o_.rtol, std::min<Real>(1, a));
    budget_.eps2 = r * r;
  }

  // Rank, error and V S^-1 from singular values s (descending) and V (columns) of C W.
  // At most as many as the `rows` of the whole: what is beyond is round-off, and has no place for an orthonormal vector.
  void truncate(Decision &c, Count rows, Int l, const std::vector<Real> &s, const std::function<Scalar(Int, Int)> &V, Real noise2)
  {
    Real total2 = 0;
    for (Real v : s) total2 += v * v;
    Int t = kept(s, budget_.next(), &c.tail2);
    // below round-off, directions are arbitrary
    while (t > 1 && (t > rows || s[t - 1] * s[t - 1] <= std::max(abs2(eps) * s[0] * s[0], noise2))) {
      c.tail2 += s[t - 1] * s[t - 1] / total2;
      --t;
    }
    if (o_.max_rank > 0 && t > o_.max_rank) {
      t         = o_.max_rank;
      c.cap_hit = true;
      c.tail2   = 0;
      for (Int i = (Int)s.size(); i-- > t;) c.tail2 += s[i] * s[i] / total2;
    }
    c.eps2 = budget_.eps2;
    c.l    = t;
    c.m    = Buffer((std::size_t)l * t);
    for (Int j = 0; j < t; ++j)
      for (Int i = 0; i < l; ++i) c.m[i + (Count)l * j] = V(i, j) / s[j];
  }

  // Singular values of C W from the triangle f, of C or of C W itself, on one process.
  Decision look_at_triangle(Int k, const RFactor &f, std::int64_t e, bool of_C)
  {
    const RightFactor &w = right_[k + 1];
    const Count        l = w.l, R = total_rank(k + 1);
    Decision           c;
    std::vector<Real> s((std::size_t)l), D;
    c.status = column_norms(l, f.R(), strict_, D);
    if (c.status == fine) {
      Buffer A((std::size_t)(l * l)), U((std::size_t)(l * l)), VT((std::size_t)(l * l));
      if (of_C && !w.identity) {
        const Buffer W = w.stacked(terms_, k + 1, e);
        gemm('N', 'N', l, l, l, 1, f.R(), l, W.data(), l, 0, A.data(), l);
      } else std::copy(f.R(), f.R() + l * l, A.data());
      bool ok = true;
      for (Count i = 0; ok && i < l * l; ++i) ok = is_finite(A[i]);
      const std::int64_t ae = take_exponent(A.data(), l * l);
      if (!ok) c.status = not_finite;
      else if (!gesvd(l, l, A.data(), l, s.data(), U.data(), VT.data())) c.status = no_convergence;
      else if (!(s[0] > 0)) c.status = all_zero;
      else {
        Real norm2 = 0;
        for (Real v : s) norm2 += v * v;
        refer_to(k, norm2, e + le_ + ae);
        truncate(c, (Count)t_ * space_->N(k), (Int)l, s, [&](Int i, Int j) { return conj(VT[j + l * i]); }, 0);
        for (std::size_t i = 0; i < c.m.size(); ++i) c.m[i] = ldexp(c.m[i], -ae);
        if (of_C) {
          c.carry = Buffer((std::size_t)(c.l * R));
          gemm('C', 'N', c.l, R, l, 1, U.data(), l, f.R(), l, 0, c.carry.data(), c.l);
        }
      }
    }
    return c;
  }

  // Singular values of C W from the triangle of C, which gives U^H C as well, or, where W has fewer columns, from that of C W.
  Decision split(Int k, const std::vector<Core> &C)
  {
    const RightFactor &w = right_[k + 1];
    const std::int64_t e = w.top();
    const Count        l = w.l, R = total_rank(k + 1);
    const bool         of_C = l == R;
    const CRows        c_rows(C);
    const ZRows        z_rows(C, w, e);
    RFactor            f(l);
    add_local_r(of_C ? static_cast<const Rows &>(c_rows) : z_rows, f);
    if (!space_->replicated(k)) f.reduce(space_->comm());
    Decision c;
    if (space_->comm().rank() == 0) c = guarded([&] { return look_at_triangle(k, f, e, of_C); });
    share(space_->comm(), c, l);
    return c;
  }

  // The same from G = C^H C (upper triangle).
  Decision look_at_gram(Int k, Buffer &G, std::int64_t e)
  {
    const RightFactor &w = right_[k + 1];
    const Count        l = w.l, R = total_rank(k + 1);
    Decision           c;
    for (Count j = 0; j < R; ++j)
      for (Count i = j + 1; i < R; ++i) G[i + R * j] = conj(G[j + R * i]);
    Buffer W = w.stacked(terms_, k + 1, e);
    Buffer T((std::size_t)(R * l)), H((std::size_t)(l * l));
    gemm('N', 'N', R, l, R, 1, G.data(), R, W.data(), R, 0, T.data(), R);
    gemm('C', 'N', l, l, R, 1, W.data(), R, T.data(), R, 0, H.data(), l);
    Real weight2 = 0; // || C D ||^2, D the norms of the rows of W
    for (Count a = 0; a < R; ++a) {
      Real d2 = 0;
      for (Count j = 0; j < l; ++j) d2 += abs2(W[a + R * j]);
      weight2 += d2 * real(G[a + R * a]);
    }
    Real norm2 = 0;
    for (Count j = 0; j < l; ++j) norm2 += real(H[j + l * j]);
    bool ok = is_finite(norm2) && is_finite(weight2);
    for (Count i = 0; ok && i < l * l; ++i) ok = is_finite(H[i]);
    std::vector<Real> lambda((std::size_t)l);
    if (!ok) c.status = not_finite;
    else if (!(norm2 > 0)) c.status = weight2 > 0 ? too_coarse : all_zero;
    else if (weight2 > far * far || norm2 < 1 / (far * far)) c.status = out_of_range;
    else if (!eigen(l, H.data(), lambda.data())) c.status = no_convergence;
    else {
      refer_to(k, norm2, e + le_);
      const Real noise2 = gram_noise2 * weight2;
      if (noise2 > gram_share2 * budget_.next() * norm2) c.status = too_coarse;
      else {
        std::vector<Real> s((std::size_t)l);
        for (Count j = 0; j < l; ++j) s[j] = std::sqrt(std::max<Real>(0, lambda[l - 1 - j]));
        c.floor2 = noise2 / norm2;
        truncate(c, (Count)t_ * space_->N(k), (Int)l, s, [&](Int i, Int j) { return H[i + l * (l - 1 - j)]; }, eps * norm2);
        // U^H C = (W P)^H C^H C; T = C^H C W
        c.carry = Buffer((std::size_t)(c.l * R));
        gemm('C', 'C', c.l, R, l, 1, c.m.data(), l, T.data(), R, 0, c.carry.data(), c.l);
      }
    }
    return c;
  }

  Decision split_gram(Int k, const std::vector<Core> &C)
  {
    const RightFactor &w = right_[k + 1];
    const std::int64_t e = w.top();
    const Count        R = total_rank(k + 1), m = (Count)t_ * C[0].n, l = w.l;
    Buffer             G((std::size_t)(R * R));
    Count              oi = 0;
    for (std::size_t i = 0; i < C.size(); ++i) { // upper blocks of C^H C
      const Count ri = C[i].r1;
      gram(m, ri, C[i].data(), m, 0, G.data() + oi + R * oi, R);
      Count oj = oi + ri;
      for (std::size_t j = i + 1; j < C.size(); ++j) {
        gemm('C', 'N', ri, C[j].r1, m, 1, C[i].data(), m, C[j].data(), m, 0, G.data() + oi + R * oj, R);
        oj += C[j].r1;
      }
      oi += ri;
    }
    for (Count j = 0; j < R; ++j)
      for (Count i = j + 1; i < R; ++i) G[i + R * j] = 0;
    if (!space_->replicated(k)) space_->comm().sum(G.data(), R * R);
    Decision c;
    if (space_->comm().rank() == 0) c = guarded([&] { return look_at_gram(k, G, e); });
    share(space_->comm(), c, l);
    return c;
  }

  // U := C W V S^-1, orthonormal; L_i := U^H C_i. False when the L_i differ so much that they need balanced trains.
  bool new_core(Int k, std::vector<Core> &C, const Decision &c)
  {
    const RightFactor  &w = right_[k + 1];
    const Count         m = (Count)t_ * C[0].n, t = c.l, R = total_rank(k + 1);
    const bool          carried = c.carry.size() > 0;
    Core                q(t_, C[0].n, (Int)t);
    std::vector<Buffer> M;
    const std::int64_t  e = w.top();
    for (std::size_t i = 0; i < C.size(); ++i) M.push_back(w.times(i, C[i].r1, e, c.m.data(), t));
    Buffer all((std::size_t)(t * t + (carried ? 0 : t * R))), carry;
    all.fill(0);
    const Count step = RFactor::block_rows(std::max(R, t));
    for (Count row = 0; row < m; row += step) {
      const Count b = std::min(step, m - row);
      for (std::size_t i = 0; i < C.size(); ++i) gemm('N', 'N', b, t, C[i].r1, 1, C[i].data() + row, m, M[i].data(), C[i].r1, i ? 1 : 0, q.data() + row, m);
      gram(b, t, q.data() + row, m, 1, all.data(), t);
      if (!carried) add_carry(C, q, row, b, all.data() + t * t);
    }
    if (!space_->replicated(k)) space_->comm().sum(all.data(), (Count)all.size());
    if (carried) carry = c.carry;
    else {
      carry = Buffer((std::size_t)(t * R));
      std::copy(all.data() + t * t, all.data() + all.size(), carry.data());
    }
    if (!make_orthonormal(all.data(), q, R, carry.data(), carried)) { // nearly dependent: an orthonormal basis by reflectors, whatever it is worth
      Tsqr f(space_->comm(), Tsqr::Shape::tall, long_sizes(*space_, k, t_), m, t, q.data());
      Core basis(t_, C[0].n, (Int)t); // f.p() is t: there are as many rows
      f.apply(nullptr, f.p(), basis.data());
      q = std::move(basis);
      carry.fill(0);
      add_carry(C, q, 0, m, carry.data());
      if (!space_->replicated(k)) space_->comm().sum(carry.data(), t * R);
    }
    le_ += take_exponent(carry.data(), t * R);
    const Scalar *K = carry.data();
    for (std::size_t i = 0; i < C.size(); ++i) {
      L_[i] = Buffer((std::size_t)(t * C[i].r1));
      std::copy(K, K + t * C[i].r1, L_[i].data());
      K += t * C[i].r1;
    }
    t_ = (Int)t;
    out_.set_core(k, std::move(q));
    for (const Buffer &L : L_)
      if (strict_ && !(max_part(L.data(), (Count)L.size()) > 1 / far)) extreme_ = true;
    return !extreme_;
  }

  // K += U^H C for b rows from `row` on.
  static void add_carry(const std::vector<Core> &C, const Core &q, Count row, Count b, Scalar *K)
  {
    const Count m = (Count)q.r0 * q.n, t = q.r1;
    for (const Core &c : C) {
      gemm('C', 'N', t, c.r1, b, 1, q.data() + row, m, c.data() + row, m, 1, K, t);
      K += t * c.r1;
    }
  }

  void finish()
  {
    const Int k = space_->d() - 1;
    Core      last;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      Core C;
      terms_[i].train->times_left(k, L_[i].data(), t_, C);
      if (i == 0) last = std::move(C);
      else
        for (Count j = 0; j < last.count(); ++j) last.data()[j] += C.data()[j];
    }
    out_.set_core(k, std::move(last));
    out_.set_scale(Scaled(Scalar(1), top_ + le_));
    out_.set_orthogonal(k, 0);
  }

  SpacePtr                     space_;
  const std::vector<LazyTerm> &terms_;
  const RoundOptions          &o_;
  bool                         gram_, strict_, extreme_ = false, hopeful_ = false;
  std::vector<RightFactor>     right_;
  Int                          first_known_; // W_k is known for k >= this without a sweep
  Train                        out_;
  std::vector<Buffer>          L_; // t x r_i
  Int                          t_ = 1;
  std::int64_t                 top_, le_ = 0;
  Budget                       budget_;
  Real                         floor2_ = 0;
};

// Terms that are not zero, with their trains' scales in the coefficients. False: out is set to NaN or zero already.
bool select(const SpacePtr &space, const std::vector<LazyTerm> &all, std::vector<LazyTerm> &terms, RoundInfo &info, Train &out)
{
  for (const LazyTerm &t : all) {
    require_same_space(*space, *t.train->space(), "Sum of tensor trains");
    const Scaled c = t.coefficient * t.train->scale();
    if (!c.finite()) {
      out = Train(space);
      out.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
      info.norm = out.scale();
      return false;
    }
    if (!c.is_zero()) terms.push_back({c, t.train, t.sketch});
  }
  for (Int k = 0; k <= space->d(); ++k) {
    Count r = 0;
    for (const LazyTerm &t : terms) r += t.train->r(k);
    info.rank_in = (Int)std::max<Count>(info.rank_in, r);
  }
  if (terms.empty()) out = Train(space);
  return !terms.empty();
}

} // namespace

RoundInfo two_sweeps(const SpacePtr &space, const std::vector<LazyTerm> &all, const RoundOptions &options, RoundType method, Train &out)
{
  const RoundScope      scope(method);
  RoundInfo             info;
  std::vector<LazyTerm> terms;
  info.type = method;
  if (!select(space, all, terms, info, out)) return info;
  // A right-orthogonal train, the widest if there are several, goes first: the first sweep passes it by.
  std::size_t first = terms.size();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Train *x = terms[i].train->plain();
    if (x && x->right() >= space->d() - 1 && (first == terms.size() || x->max_rank() > terms[first].train->plain()->max_rank())) first = i;
  }
  if (first < terms.size()) std::swap(terms[0], terms[first]);
  const RoundInfo before = info;
  bool            whole;
  {
    Sweeps s(space, terms, options, method, true);
    whole = s.run(info);
    if (!s.extreme()) out = std::move(s.out());
    else { // rare: once more
      const BalancedTerms balance(terms);
      Sweeps              again(space, balance.terms, options, RoundType::qr, false);
      info  = before;
      whole = again.run(info);
      out   = std::move(again.out());
    }
  }
  info.flops = scope.flops();
  if (!whole) {
    info.norm = out.scale();
    return info;
  }
  info.rank_out = out.max_rank();
  info.norm     = norm(out);
  if (!info.norm.finite() || info.norm.is_zero()) { // the last core is never factored
    const bool zero = info.norm.is_zero();
    out.set_zero();
    if (!zero) out.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
    info.rank_out = 1;
  }
  info.flops = scope.flops();
  return info;
}

Scaled norm_of_sum(const SpacePtr &space, const std::vector<LazyTerm> &all)
{
  RoundInfo             info;
  std::vector<LazyTerm> terms;
  Train                 out;
  RoundOptions          options;
  if (!select(space, all, terms, info, out)) return out.scale();
  PETSCTT_REQUIRE(space->d() > 1, PETSC_ERR_SUP, "The norm of a sum by its first sweep needs two modes");
  const auto value = [&](const std::vector<LazyTerm> &t, bool strict, bool *extreme) {
    Sweeps s(space, t, options, RoundType::qr, strict);
    s.try_cholesky();
    const Scaled n = s.from_right(1, false) ? s.norm() : s.out().scale();
    *extreme       = s.extreme();
    return n;
  };
  bool         extreme;
  const Scaled n = value(terms, true, &extreme);
  return extreme ? value(BalancedTerms(terms).terms, false, &extreme) : n;
}

} // namespace petsctt
