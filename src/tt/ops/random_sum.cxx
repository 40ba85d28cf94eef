#include "tt/ops/random_sum.hpp"

#include "base/blas.hpp"
#include "base/error.hpp"
#include "tt/ops/array.hpp"
#include "tt/ops/balance.hpp"
#include "tt/ops/decision.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/sweep.hpp"
#include "tt/ops/sweep_rows.hpp"
#include "tt/random.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

constexpr Int   block        = 10;        // columns that share a random tensor train
constexpr Int   tests        = block;     // test columns of the error estimate
constexpr Real  safety2      = 2;         // squared factor by which an estimate is taken to be too small
constexpr Real  share2       = 0.5;       // of the squared tolerance: for the sketch; the final sweep gets the rest
constexpr Count keep_entries = 1 << 25;   // products L X kept between their two uses up to this many entries

// The sketches of all terms. Levels are extended on demand by new columns; the columns 0..tests-1 are the test vectors.
class Sketch {
public:
  Sketch(const SpacePtr &space, const std::vector<LazyTerm> &terms, std::uint64_t seed) : space_(space), seed_(seed), own_(terms.size())
  {
    for (std::size_t i = 0; i < terms.size(); ++i) {
      trains_.push_back(terms[i].train);
      s_.push_back(terms[i].sketch ? terms[i].sketch : &own_[i]);
      if (s_[i]->seed != seed || s_[i]->levels.empty()) {
        s_[i]->seed = seed;
        s_[i]->levels.assign(space->d() + 1, TrainSketch::Level());
      }
    }
  }

  // W of term i at level k, r_i(k) x at least `columns`.
  const Scalar *W(std::size_t i, Int k) const { return s_[i]->levels[k].w.data(); }
  std::int64_t  exponent(std::size_t i, Int k) const { return s_[i]->levels[k].e; }
  std::int64_t  top_exponent(Int k) const
  {
    std::int64_t e = s_[0]->levels[k].e;
    for (const TrainSketch *s : s_) e = std::max(e, s->levels[k].e);
    return e;
  }

  void require(Int k, Int columns)
  {
    columns  = (columns + block - 1) / block * block;
    bool all = true;
    for (const TrainSketch *s : s_) all = all && s->levels[k].columns >= columns;
    if (all) return;
    if (k == space_->d()) {
      for (TrainSketch *s : s_) {
        TrainSketch::Level &l = s->levels[k];
        l.w                   = Buffer(columns); // the last random core has one rank index on its right
        for (Int j = 0; j < columns; ++j) l.w[j] = j % block == 0 ? std::sqrt((Real)block) : Real(0);
        l.columns = columns;
      }
      return;
    }
    require(k + 1, columns);
    extend(k, columns);
  }

private:
  // New columns of all terms that lack some, in one array, so that there is one sum over the processes.
  void extend(Int k, Int columns)
  {
    const Int   n = space_->n(k), N = space_->N(k), start = space_->start(k);
    std::size_t total = 0;
    Int         first = columns;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      const Int c0 = s_[i]->levels[k].columns;
      if (c0 >= columns) continue;
      total += (std::size_t)trains_[i]->r(k) * (columns - c0);
      first = std::min(first, c0);
    }
    // Random cores block x n x block, one for each block of columns: entry (p, i, q) has the global index p + block (i + N (q + block b)).
    // They are laid out n x block (p) x block (q), as they are multiplied. The first core is diagonal in (p, q): it is never followed by
    // another, and its mode is the long one as a rule.
    const bool diagonal = k == 0;
    const Int  depth    = diagonal ? 1 : block;
    const Real factor   = diagonal ? 1 : 1 / std::sqrt((Real)block);
    Buffer     g((std::size_t)n * depth * (columns - first)), line((std::size_t)n * depth);
    for (Int j = first; j < columns; ++j) {
      fill_real_gaussian(seed_, k, (std::uint64_t)depth * ((std::uint64_t)start + (std::uint64_t)N * j), (Count)n * depth, line.data());
      Scalar *to = g.data() + (Count)n * depth * (j - first);
      for (Int i = 0; i < n; ++i)
        for (Int p = 0; p < depth; ++p) to[i + (Count)n * p] = factor * line[p + (Count)depth * i];
    }
    Buffer      all(total);
    std::size_t o = 0;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      const Int c0 = s_[i]->levels[k].columns, c = columns - c0, r0 = trains_[i]->r(k), r1 = trains_[i]->r(k + 1);
      if (c <= 0) continue;
      Core T;
      trains_[i]->times_right(k, W(i, k + 1) + (Count)r1 * c0, c, T);
      if (diagonal)
        for (Int j = 0; j < c; ++j) gemm('N', 'N', r0, 1, n, 1, T.data() + (Count)r0 * n * j, r0, g.data() + (Count)n * (c0 - first + j), n, 0, all.data() + o + (Count)r0 * j, r0);
      else
        for (Int j = 0; j < c; j += block)
          gemm('N', 'N', r0, block, (Count)n * block, 1, T.data() + (Count)r0 * n * j, r0, g.data() + (Count)n * block * (c0 - first + j), (Count)n * block, 0,
               all.data() + o + (Count)r0 * j, r0);
      o += (std::size_t)r0 * c;
    }
    if (!space_->replicated(k)) space_->comm().sum(all.data(), total);
    o = 0;
    for (std::size_t i = 0; i < s_.size(); ++i) {
      TrainSketch::Level &l  = s_[i]->levels[k];
      const Int           c0 = l.columns;
      if (c0 >= columns) continue;
      const std::size_t r0 = trains_[i]->r(k), count = r0 * (columns - c0);
      // the first columns fix the exponent of the level
      if (c0 == 0) l.e = exponent(i, k + 1) + take_exponent(all.data() + o, count);
      else
        for (std::size_t j = 0; j < count; ++j) all[o + j] = ldexp(all[o + j], exponent(i, k + 1) - l.e);
      Buffer w(r0 * columns);
      std::copy(l.w.data(), l.w.data() + r0 * c0, w.data());
      std::copy(all.data() + o, all.data() + o + count, w.data() + r0 * c0);
      l.w       = std::move(w);
      l.columns = columns;
      o += count;
    }
  }

  SpacePtr                       space_;
  std::uint64_t                  seed_;
  std::vector<TrainSketch>       own_;
  std::vector<TrainSketch *>     s_;
  std::vector<const LazyTrain *> trains_;
};

// The basis of one core, decided on one process from the triangle of [sketch columns | test columns].
struct Basis {
  Int    t        = 0;  // 0: not finite, -1: all zero, -2: no convergence, -3: out of range
  Real   missing2 = 0;  // estimated squared norm outside the basis, in units of 2^(2 e)
  Real   norm2    = 0;  // estimated squared norm of everything, likewise
  std::int64_t e  = 0;  // exponent taken out of the triangle
  bool   enough   = true;
  Buffer v;             // l x t: the basis is the sketch times v
};

Basis choose_basis(const Buffer &R, Count rows, Int l, Real allowed2, Int max_rank)
{
  Basis       b;
  const Count m1 = l, p = l + tests; // the triangle has p rows even where fewer were factored
  for (Count i = 0; i < p * (l + tests); ++i)
    if (!is_finite(R[i])) return b;
  Buffer            a((std::size_t)m1 * l), U((std::size_t)m1 * m1), VT((std::size_t)m1 * l);
  std::vector<Real> s(m1), tail(m1 + 1, 0);
  for (Int j = 0; j < l; ++j) std::copy(R.data() + p * j, R.data() + p * j + m1, a.data() + m1 * j);
  Real norm2 = 0;
  for (Count i = 0; i < p * (l + tests); ++i) norm2 += abs2(R[i]);
  b.norm2 = norm2 / (l + tests);
  if (!gesvd(m1, l, a.data(), m1, s.data(), U.data(), VT.data())) {
    b.t = -2;
    return b;
  }
  if (!(norm2 > 0)) {
    b.t = -1;
    return b;
  }
  // test columns in the basis of the left singular vectors, and what lies outside the sketch altogether
  Buffer Y((std::size_t)m1 * tests);
  gemm('C', 'N', m1, tests, m1, 1, U.data(), m1, R.data() + p * l, p, 0, Y.data(), m1);
  for (Int c = 0; c < tests; ++c)
    for (Count i = m1; i < p; ++i) tail[m1] += abs2(R[i + p * (l + c)]) / tests;
  for (Count i = m1; i-- > 0;) {
    Real e = 0;
    for (Int c = 0; c < tests; ++c) e += abs2(Y[i + m1 * c]) / tests;
    tail[i] = tail[i + 1] + e;
  }
  // With fewer rows than columns the sketch spans everything and only round-off is left outside of it.
  b.enough = rows <= l || tail[m1] * safety2 <= allowed2;
  Int t    = (Int)m1;
  while (t > 1 && tail[t - 1] * safety2 <= allowed2) --t;
  // singular directions below round-off carry nothing
  while (t > 1 && s[t - 1] <= 4 * std::numeric_limits<Real>::epsilon() * s[0] && tail[t - 1] <= abs2(1e-14) * b.norm2) --t;
  t = (Int)std::min<Count>(t, rows);
  if (max_rank > 0) t = std::min(t, 2 * max_rank + tests); // the deterministic sweep applies the cap itself
  b.t        = t;
  b.missing2 = tail[t];
  while (t > 1 && s[t - 1] <= std::numeric_limits<Real>::epsilon() * s[0]) --t; // directions are arbitrary
  b.t        = t;
  b.missing2 = tail[t];
  b.v        = Buffer((std::size_t)l * t);
  for (Int j = 0; j < t; ++j)
    for (Int i = 0; i < l; ++i) b.v[i + (Count)l * j] = s[j] > 0 ? conj(VT[j + m1 * i]) / s[j] : Scalar(0);
  return b;
}

void share(const Comm &comm, Basis &b, Count l)
{
  Scalar head[5] = {(Real)b.t, b.missing2, b.norm2, (Real)b.enough, (Real)b.e};
  comm.bcast(head, 5);
  b.t        = (Int)std::lround(real(head[0]));
  b.missing2 = real(head[1]);
  b.norm2    = real(head[2]);
  b.enough   = real(head[3]) != 0;
  b.e        = (std::int64_t)std::llround(real(head[4]));
  if (b.t <= 0) return;
  if (comm.rank() != 0) b.v = Buffer((std::size_t)l * b.t);
  comm.bcast(b.v.data(), l * (Count)b.t);
}

// One left-to-right pass: the state that is carried from core to core.
class Pass {
public:
  Pass(const SpacePtr &space, const std::vector<LazyTerm> &terms, const RoundOptions &o, Sketch &sketch, bool strict) :
    space_(space), terms_(terms), o_(o), sketch_(sketch), strict_(strict), out_(space)
  {
    top_ = terms[0].coefficient.exponent2();
    for (const LazyTerm &t : terms) top_ = std::max(top_, t.coefficient.exponent2());
    for (const LazyTerm &t : terms) {
      L_.emplace_back(1);
      L_.back()[0] = ldexp(t.coefficient.mantissa(), t.coefficient.exponent2() - top_);
    }
  }

  // norm_hint2: squared norm the tolerance refers to, in units of 2^(2 top); 0: take the sketch's own estimate. False when the
  // result is zero or not finite (out() then says so).
  bool run(const Scaled &norm_hint2)
  {
    norm2_ = norm_hint2;
    for (Int k = 0; k + 1 < space_->d(); ++k)
      if (!core(k)) return false;
    finish();
    return true;
  }
  Train &out() { return out_; }
  bool   extreme() const { return extreme_; }
  // squares, which leave the range of a Real long before the sum does; units of 2^(2 top)
  const Scaled &missing2() const { return missing2_; }
  const Scaled &norm2() const { return norm2_; }
  std::int64_t top() const { return top_; }

private:
  Int guess(Int k) const // sketch columns to begin with for TT rank k
  {
    Count sum = 0;
    Int   big = 1;
    for (const LazyTerm &t : terms_) {
      sum += t.train->r(k);
      big = std::max(big, t.train->rank_guess(k));
    }
    return (Int)std::max<Count>(1, std::min<Count>(sum, big + big / 8 + 10));
  }

  void product(std::size_t i, Int k, Core &C) const { terms_[i].train->times_left(k, L_[i].data(), t_, C); }

  bool core(Int k)
  {
    const Int         n = space_->n(k);
    const Count       m = (Count)t_ * n, M = (Count)t_ * space_->N(k);
    Count             total = 0;
    for (const LazyTerm &t : terms_) total += t.train->r(k + 1);
    const bool        keep = m * total <= keep_entries;
    std::vector<Core> C(terms_.size());
    if (keep)
      for (std::size_t i = 0; i < terms_.size(); ++i) product(i, k, C[i]);
    Basis b;
    Core  q;
    Count limit = std::min(M, total); // the sum's unfolding has no higher rank
    if (o_.max_rank > 0) limit = std::min<Count>(limit, 2 * (Count)o_.max_rank + tests);
    for (Int l = (Int)std::min<Count>(guess(k + 1), limit);;) {
      sketch_.require(k + 1, l + tests);
      const std::int64_t w_e = sketch_.top_exponent(k + 1);
      Buffer             Z((std::size_t)m * (l + tests));
      for (std::size_t i = 0; i < terms_.size(); ++i) {
        Core        fresh;
        if (!keep) product(i, k, fresh);
        const Core &c = keep ? C[i] : fresh;
        const Scalar one = ldexp(Scalar(1), sketch_.exponent(i, k + 1) - w_e), beta = i ? 1 : 0;
        gemm('N', 'N', m, tests + l, c.r1, one, c.data(), m, sketch_.W(i, k + 1), c.r1, beta, Z.data(), m); // test columns first
      }
      // value = stored * 2^(e), e = exponents of L and W
      const std::int64_t e       = le_ + w_e;
      const Count        columns = l + tests;
      RFactor f(columns);
      add_local_r(StoredRows(m, columns, Z.data(), tests), f);
      if (!space_->replicated(k)) f.reduce(space_->comm());
      if (space_->comm().rank() == 0) {
        try {
          b = look_at(f, M, l, e);
        } catch (...) { // the others wait
          b   = Basis();
          b.t = -4;
        }
      }
      share(space_->comm(), b, l);
      if (strict_ && (b.t == -3 || b.t == 0 || b.t == -1)) {
        extreme_ = true;
        return false;
      }
      PETSCTT_REQUIRE(b.t != -4, PETSC_ERR_LIB, "A sketch with %lld columns at core %lld could not be factored on the first process: no memory, or beyond the range of LAPACK", (long long)l, (long long)k);
      PETSCTT_REQUIRE(b.t != -2, PETSC_ERR_CONV_FAILED, "The singular value decomposition of a sketch with %lld columns at core %lld did not converge", (long long)l, (long long)k);
      if (b.t <= 0) {
        out_.set_zero();
        if (b.t == 0) out_.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
        return false;
      }
      if (norm2_.is_zero()) norm2_ = Scaled(Scalar(b.norm2), 2 * (e + b.e));
      if (!b.enough && l < limit) {
        l = (Int)std::min<Count>(limit, std::max<Count>(l + l / 2, l + 16));
        continue;
      }
      missing2_ += Scaled(Scalar(b.missing2), 2 * (e + b.e));
      q = Core(t_, n, b.t);
      gemm('N', 'N', m, b.t, l, 1, Z.data() + m * tests, m, b.v.data(), l, 0, q.data(), m);
      break;
    }
    // L_i := Q^H (L_i X_i), all terms in one array for one sum, after the Gram matrix of Q
    const std::size_t gram_entries = (std::size_t)b.t * b.t;
    Buffer            sums(gram_entries + (std::size_t)b.t * total), all((std::size_t)b.t * total);
    const auto times_terms = [&](Scalar *to) {
      for (std::size_t i = 0; i < terms_.size(); ++i) {
        Core fresh;
        if (!keep) product(i, k, fresh);
        const Core &c = keep ? C[i] : fresh;
        gemm('C', 'N', b.t, c.r1, m, 1, q.data(), m, c.data(), m, 0, to, b.t);
        to += (Count)b.t * c.r1;
      }
    };
    std::fill(sums.data(), sums.data() + gram_entries, Scalar(0));
    gram(m, b.t, q.data(), m, 0, sums.data(), b.t);
    times_terms(sums.data() + gram_entries);
    if (!space_->replicated(k)) space_->comm().sum(sums.data(), (Count)sums.size());
    std::copy(sums.data() + gram_entries, sums.data() + sums.size(), all.data());
    if (!make_orthonormal(sums.data(), q, total, all.data(), false)) { // nearly dependent: an orthonormal basis by reflectors
      Tsqr f(space_->comm(), Tsqr::Shape::tall, long_sizes(*space_, k, t_), m, b.t, q.data());
      Core basis(t_, n, b.t);
      f.apply(nullptr, f.p(), basis.data());
      q = std::move(basis);
      times_terms(all.data());
      if (!space_->replicated(k)) space_->comm().sum(all.data(), (Count)all.size());
    }
    std::size_t o = 0;
    le_ += take_exponent(all.data(), all.size());
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const std::size_t count = (std::size_t)b.t * terms_[i].train->r(k + 1);
      L_[i]                   = Buffer(count);
      std::copy(all.data() + o, all.data() + o + count, L_[i].data());
      o += count;
    }
    t_ = b.t;
    out_.set_core(k, std::move(q));
    for (const Buffer &L : L_)
      if (strict_ && !(max_part(L.data(), (Count)L.size()) > 1 / far)) extreme_ = true;
    return !extreme_;
  }

  // The basis of a core from the triangle of its sketch, `rows` x (l + tests), in units of 2^e; t = -3: out of the range of squares.
  Basis look_at(const RFactor &f, Count rows, Int l, std::int64_t e)
  {
    const Count columns = f.columns(), entries = columns * columns;
    Buffer      triangle((std::size_t)entries);
    Basis       b;
    std::copy(f.R(), f.R() + entries, triangle.data());
    const Real top = max_part(triangle.data(), entries);
    if (strict_ && !(top < far && top > 1 / far)) {
      b.t = -3;
      return b;
    }
    const std::int64_t r_e = take_exponent(triangle.data(), entries), unit = e + r_e;
    // the first core's sketch says how large the whole is
    Real norm2 = real(norm2_.times_pow2(-2 * unit).value_or_inf());
    if (norm2_.is_zero()) {
      norm2 = 0;
      for (Count j = 0; j < entries; ++j) norm2 += abs2(triangle[j]) / columns;
    }
    const Real allowed2 = std::max(o_.rtol * o_.rtol * norm2, abs2(o_.atol.times_pow2(-top_ - unit).value_or_inf()));
    b   = choose_basis(triangle, rows, l, share2 * allowed2 / (space_->d() - 1), o_.max_rank);
    b.e = r_e;
    for (std::size_t i = 0; i < b.v.size(); ++i) b.v[i] = ldexp(b.v[i], -r_e);
    return b;
  }

  void finish()
  {
    const Int k = space_->d() - 1;
    Core      last(t_, space_->n(k), 1);
    std::fill(last.data(), last.data() + last.count(), Scalar(0));
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      Core C;
      product(i, k, C);
      for (Count j = 0; j < last.count(); ++j) last.data()[j] += C.data()[j];
    }
    out_.set_core(k, std::move(last));
    out_.set_scale(Scaled(Scalar(1), top_ + le_));
    out_.set_orthogonal(k, 0);
  }

  SpacePtr                     space_;
  const std::vector<LazyTerm> &terms_;
  const RoundOptions          &o_;
  Sketch                      &sketch_;
  bool                         strict_, extreme_ = false; // as in two_sweeps.cxx
  Train                        out_;
  std::vector<Buffer>          L_; // t x r_i
  Int                          t_ = 1;
  std::int64_t                 top_, le_ = 0;
  Scaled                       missing2_, norm2_;
};

} // namespace

void sketch_values(const LazyTrain &x, std::uint64_t seed, Int columns, TrainSketch &sketch, Scaled *values)
{
  const std::vector<LazyTerm> term = {{Scaled(Scalar(1)), &x, &sketch}};
  Sketch                      s(x.space(), term, seed);
  s.require(0, columns);
  for (Int c = 0; c < columns; ++c) values[c] = x.scale() * Scaled(s.W(0, 0)[c], s.exponent(0, 0));
}

namespace {

// The sum by one pass and a deterministic sweep. *extreme: nothing was done, it is for balanced trains.
void sketched_sum(const SpacePtr &space, const std::vector<LazyTerm> &terms, const RoundOptions &options, bool strict, RoundInfo &info, Train &out, bool *extreme)
{
  RoundOptions o = options;
  Sketch       sketch(space, terms, options.seed);
  Scaled       hint2;
  for (int attempt = 0;; ++attempt) {
    Pass pass(space, terms, o, sketch, strict);
    if (!pass.run(hint2)) {
      *extreme = pass.extreme();
      out       = std::move(pass.out());
      info.norm = out.scale();
      return;
    }
    Train       &y     = pass.out();
    const Scaled ny    = norm(y).times_pow2(-pass.top()), ny2 = ny * ny;
    const Real   rel2  = ny2.is_zero() ? 0 : safety2 * real((pass.missing2() / ny2).value_or_inf());
    // The tolerance rested on an estimate of the norm; if the true norm is much smaller (the sketched norm of a train with
    // many modes is heavy-tailed), the basis is too small and the pass is repeated with the norm now known.
    const Real atol2 = ny2.is_zero() ? 0 : abs2((o.atol.times_pow2(-pass.top()) / ny).value_or_inf());
    const Real tol2  = ny2.is_zero() ? 0 : std::max(o.rtol * o.rtol, std::min<Real>(1, atol2));
    if (rel2 > tol2 && abs_less(ny2, pass.norm2().times_pow2(-1)) && attempt < 3) {
      hint2 = ny2;
      continue;
    }
    RoundOptions last = o;
    last.type         = RoundType::qr;
    last.rtol         = std::sqrt(std::max<Real>(0, tol2 - std::min(rel2, share2 * tol2)));
    last.atol         = Scaled();
    RoundInfo r       = round(y, last);
    info.error        = std::sqrt(rel2 + r.error * r.error);
    info.cap_hit      = r.cap_hit;
    info.rank_out     = r.rank_out;
    info.norm         = r.norm;
    out               = std::move(y);
    return;
  }
}

} // namespace

RoundInfo randomized_round_sum(const SpacePtr &space, const std::vector<LazyTerm> &all, const RoundOptions &options, Train &out)
{
  const RoundScope scope(RoundType::randomized);
  RoundInfo        info;
  info.type      = RoundType::randomized;
  info.estimated = true;
  std::vector<LazyTerm> terms;
  Count                 rank_in[2] = {0, 1};
  for (const LazyTerm &t : all) {
    require_same_space(*space, *t.train->space(), "Sum of tensor trains");
    const Scaled c = t.coefficient * t.train->scale();
    if (!c.finite()) {
      out = Train(space);
      out.set_scale(Scaled(Scalar(std::numeric_limits<Real>::quiet_NaN())));
      info.norm = out.scale();
      return info;
    }
    if (!c.is_zero()) terms.push_back({c, t.train, t.sketch});
  }
  for (Int k = 0; k <= space->d(); ++k) {
    rank_in[0] = 0;
    for (const LazyTerm &t : terms) rank_in[0] += t.train->r(k);
    rank_in[1] = std::max(rank_in[0], rank_in[1]);
  }
  info.rank_in = (Int)rank_in[1];
  if (terms.empty()) {
    out = Train(space);
    return info;
  }
  bool extreme = false;
  sketched_sum(space, terms, options, true, info, out, &extreme);
  if (extreme) { // rare: once more with balanced trains, whose sketches are not those the caller keeps
    const BalancedTerms balance(terms);
    sketched_sum(space, balance.terms, options, false, info, out, &extreme);
  }
  info.flops = scope.flops();
  return info;
}
} // namespace petsctt
