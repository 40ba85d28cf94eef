#include "mat/impls/tt/impl.hpp"
#include "base/blas.hpp"

#include <algorithm>
#include <map>

namespace petsctt {

namespace {

// op(A) x as a train whose cores are never stored: core k has the blocks of A's core k, each a factor applied to x's core.
// TT rank indices as in apply(): the block index is the slower one.
class OperatorTimesTrain : public LazyTrain {
public:
  OperatorTimesTrain(Mat A, Apply how, const Train &x) : A_(A), how_(how), x_(x) { }

  const SpacePtr &space() const override { return x_.space(); }
  Int             r(Int k) const override { return x_.r(k) * (k == 0 ? 1 : grid(k - 1).s1); }
  Int             rank_guess(Int k) const override { return x_.r(k); }
  Scaled          scale() const override { return is_zero(data_of(A_).used) ? Scaled() : x_.scale(); }

  void times_right(Int k, const Scalar *W, Count c, Core &T) const override
  {
    LogScope         log(events().apply, (PetscObject)A_);
    const Core      &X = x_.core(k);
    const BlockCore &g = grid(k);
    const Count      m = (Count)X.r0 * X.n;
    T                  = Core(g.s0 * X.r0, X.n, (Int)c);
    std::fill(T.data(), T.data() + T.count(), Scalar(0));
    for (Int j = 0; j < g.s1; j++) {
      const auto uses = by_factor(g, [j](const Entry &e) { return e.j == j; });
      if (uses.empty()) continue;
      Core U(X.r0, X.n, (Int)c), Z;
      gemm('N', 'N', m, c, X.r1, 1, X.data(), m, W + (Count)j * X.r1, (Count)g.s1 * X.r1, 0, U.data(), m);
      for (const auto &use : uses) {
        if (is_diagonal_factor(use.first)) {
          for (const Entry *e : use.second) add_diagonal(k, *e, U, T.data() + (Count)e->i * X.r0, T.r0);
          continue;
        }
        const Core &V = applied(k, use.first, U, Z);
        for (const Entry *e : use.second) add_rows(T, V, e->i, coefficient(e->c));
      }
    }
  }

  void times_left(Int k, const Scalar *L, Count t, Core &C) const override
  {
    LogScope         log(events().apply, (PetscObject)A_);
    const Core      &X = x_.core(k);
    const BlockCore &g = grid(k);
    const Count      n1 = (Count)X.n * X.r1;
    C                   = Core((Int)t, X.n, g.s1 * X.r1);
    std::fill(C.data(), C.data() + C.count(), Scalar(0));
    for (Int i = 0; i < g.s0; i++) {
      const auto uses = by_factor(g, [i](const Entry &e) { return e.i == i; });
      if (uses.empty()) continue;
      Core U((Int)t, X.n, X.r1), Z;
      gemm('N', 'N', t, n1, X.r0, 1, L + t * (Count)i * X.r0, t, X.data(), X.r0, 0, U.data(), t);
      for (const auto &use : uses) {
        if (is_diagonal_factor(use.first)) {
          for (const Entry *e : use.second) add_diagonal(k, *e, U, C.data() + t * n1 * e->j, t);
          continue;
        }
        const Core &V = applied(k, use.first, U, Z);
        for (const Entry *e : use.second) { // a block column of C is one contiguous piece
          const Scalar c = coefficient(e->c);
          Scalar      *y = C.data() + t * n1 * e->j;
          for (Count p = 0; p < t * n1; p++) y[p] += c * V.data()[p];
        }
      }
    }
    flops() += 2.0 * (double)(t * n1) * (double)g.entries.size();
  }

  Train form() const override
  {
    Train y;
    PetscThrowTT(apply(A_, how_, x_, y));
    return y;
  }

private:
  using Uses = std::map<Int, std::vector<const Entry *>>; // by factor, in the order of its number: the same on all processes

  const BlockCore &grid(Int k) const { return data_of(A_).used[k]; }
  Scalar           coefficient(Scalar c) const { return how_ == Apply::hermitian ? conj(c) : c; }

  template <class F> static Uses by_factor(const BlockCore &g, F &&wanted)
  {
    Uses uses;
    for (const Entry &e : g.entries)
      if (wanted(e)) uses[e.f].push_back(&e);
    return uses;
  }

  const Core &applied(Int k, Int f, const Core &U, Core &Z) const
  {
    if (f == identity_factor) return U;
    PetscThrowTT(apply_mode(data_of(A_).factors[k].ready[f], how_, U, Z));
    return Z;
  }

  // a block of a core += c diag U
  void add_diagonal(Int k, const Entry &e, const Core &U, Scalar *block, Count ld) const
  {
    apply_diagonal_factor(diagonal_entries(data_of(A_).factors[k], e.f), how_ == Apply::hermitian, coefficient(e.c), U, block, ld, true);
  }

  // rows i r0 .. (i+1) r0 - 1 of T += c V
  static void add_rows(Core &T, const Core &V, Int i, Scalar c)
  {
    const Count r0 = V.r0, ld = T.r0, columns = (Count)V.n * V.r1;
    Scalar       *t = T.data() + (Count)i * r0;
    const Scalar *v = V.data();
    for (Count col = 0; col < columns; col++, t += ld, v += r0)
      for (Count a = 0; a < r0; a++) t[a] += c * v[a];
    flops() += 2.0 * (double)(r0 * columns);
  }

  Mat          A_;
  Apply        how_;
  const Train &x_;
};

} // namespace

PetscErrorCode lazy_apply(Mat A, Apply how, const Train &x, std::unique_ptr<LazyTrain> &y)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  PetscCallTT(require_same_space(*data_of(A).space, *x.space(), "operator and vector"));
  PetscCallTT(y = std::make_unique<OperatorTimesTrain>(A, how, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
