#include "ksp/impls/ttgmres/ttgmres.hpp"
#include "sys/log.hpp"
#include "tt/ops/dot.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// What the operator does to x as a lazy train; anything but a MATTT is multiplied by MatMult into `work`, rounded there.
PetscErrorCode lazy_product(KSP ksp, Mat A, Vec x, VecHandle &work, std::unique_ptr<LazyTrain> &out)
{
  MatNullSpace nullspace = NULL;

  PetscFunctionBegin;
  if (ksp->transpose_solve) PetscCall(MatGetTransposeNullSpace(A, &nullspace));
  else PetscCall(MatGetNullSpace(A, &nullspace));
  if (is_mattt(A) && !nullspace) {
    PetscCall(lazy_apply(A, ksp->transpose_solve ? Apply::transpose : Apply::plain, train_of(x), out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!work) PetscCall(create_vec(space_of(x), x, work.out()));
  PetscCall(KSP_MatMult(ksp, A, x, work));
  PetscCall(KSP_RemoveNullSpace(ksp, work));
  out = std::make_unique<PlainTrain>(train_of(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// round_sum() as an event, remembering whether the rank cap bit.
PetscErrorCode rounded_sum(KSP ksp, const std::vector<Term> &terms, const RoundOptions &o, Train &out, RoundInfo &info)
{
  LogScope log(events().round, (PetscObject)ksp);

  PetscFunctionBegin;
  PetscCallTT(info = round_sum(space_of(ksp->vec_sol), terms, o, out));
  data_of(ksp).cap_hit = data_of(ksp).cap_hit || info.cap_hit;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode true_residual(KSP ksp, Vec x, PetscReal rtol, PetscReal atol, Train *r, PetscReal *norm)
{
  Mat                        A, P;
  std::unique_ptr<LazyTrain> Ax;
  Train                      out;
  RoundInfo                  info;
  RoundOptions               o = round_options(x);
  VecHandle                  work;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  PetscCall(lazy_product(ksp, A, x, work, Ax));
  o.rtol = rtol;
  o.atol = Scaled(Scalar(atol));
  if (!r) o.max_rank = 0; // the norm is to be right whatever the cap
  PetscCall(rounded_sum(ksp, {{Scaled(Scalar(1)), &train_of(ksp->vec_rhs)}, {Scaled(Scalar(-1)), nullptr, Ax.get()}}, o, out, info));
  // ||r||^2 = ||round(r)||^2 + (error ||r||)^2: rounding is a projection
  const Real kept2 = std::max<Real>(1e-3, 1 - info.error * info.error);
  *norm            = info.norm.finite() ? real(info.norm.value_or_inf()) / std::sqrt(kept2) : std::numeric_limits<PetscReal>::quiet_NaN();
  if (r) *r = std::move(out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode build_iterate(KSP ksp, PetscReal delta, Vec x, Train *y_out)
{
  TTGMRES                    &g = data_of(ksp);
  const std::vector<Scalar>  &y = g.small.y();
  std::vector<Term>           terms;
  std::vector<PlainTrain>     plain;
  RoundOptions                o = round_options(x);
  RoundInfo                   info;
  Train                       sum;

  PetscFunctionBegin;
  o.rtol = 0;
  o.atol = Scaled(Scalar(delta));
  // Rounded where the result is of the size of the residual: A P^{-1} changes an error there by a factor near one, whereas an error
  // relative to ||x|| would be multiplied by ||A|| ||x|| / ||b||.
  for (std::size_t i = 0; i < y.size(); i++)
    terms.push_back({Scaled(y[i]), &train_of(g.keep_z ? g.Z[i] : g.V[i]), nullptr, g.keep_z ? nullptr : &g.sketch[i]});
  if (g.keep_z) {
    if (!g.x0_zero) terms.push_back({Scaled(Scalar(1)), &train_of(g.x0)});
    PetscCall(rounded_sum(ksp, terms, o, sum, info));
    PetscCall(set_train(x, std::move(sum)));
    PetscCall(record_rounding(x, info));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (g.y.space()) terms.push_back({Scaled(Scalar(1)), &g.y});
  PetscCall(rounded_sum(ksp, terms, o, sum, info));
  if (y_out) *y_out = sum;
  if (!g.trial) PetscCall(create_vec(space_of(x), x, g.trial.out()));
  PetscCall(set_train(g.trial, std::move(sum)));
  PetscCall(KSP_PCApply(ksp, g.trial, x));
  if (!g.x0_zero) {
    PetscCall(rounded_sum(ksp, {{Scaled(Scalar(1)), &train_of(x)}, {Scaled(Scalar(1)), &train_of(g.x0)}}, o, sum, info));
    PetscCall(set_train(x, std::move(sum)));
  }
  PetscCall(record_rounding(x, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// One step: from v_j to v_{j+1}. *happy: the space is invariant or the basis has become dependent.
PetscErrorCode extend_basis(KSP ksp, PetscReal atol, bool *happy)
{
  TTGMRES                    &g = data_of(ksp);
  Mat                         A, P;
  std::unique_ptr<LazyTrain>  Az;
  const PetscInt              j = g.small.columns();
  const SpacePtr             &space = space_of(g.V[j]);
  std::vector<Scalar>         h;
  std::vector<Term>           terms;
  RoundInfo                   info;
  RoundOptions                o = round_options(ksp->vec_sol);
  Train                       next;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  VecHandle &z = g.keep_z ? g.Z[j] : g.z;
  if (!z) PetscCall(create_vec(space, ksp->vec_sol, z.out()));
  PetscCall(KSP_PCApply(ksp, g.V[j], z));
  PetscCall(lazy_product(ksp, A, z, g.w, Az));
  const PetscInt first = g.window > 0 ? std::max<PetscInt>(0, j + 1 - g.window) : 0;
  PetscCallTT({
    std::vector<Scalar> d;
    LogScope            log(events().dot, (PetscObject)ksp);
    for (PetscInt i = first; i <= j; i++) d.push_back(dot(*Az, train_of(g.V[i])).value());
    bool finite = true;
    for (Scalar s : d) finite = finite && is_finite(s);
    h = finite ? g.small.project(first, d) : d; // NaN goes on into the sum and becomes its norm
  });
  terms.push_back({Scaled(Scalar(1)), nullptr, Az.get()});
  for (PetscInt i = first; i <= j; i++) terms.push_back({Scaled(-h[i - first]), &train_of(g.V[i]), nullptr, &g.sketch[i]});
  o.rtol = 0;
  o.atol = Scaled(Scalar(atol));
  PetscCall(rounded_sum(ksp, terms, o, next, info));
  const PetscReal norm = info.norm.finite() ? real(info.norm.value_or_inf()) : std::numeric_limits<PetscReal>::quiet_NaN();
  *happy               = false;
  if (!is_finite(norm)) {
    ksp->rnorm = norm;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const PetscReal Az_norm = std::sqrt(norm * norm + g.small.norm2(first, h));
  if (!(norm > 1e-14 * Az_norm)) { // the new vector is nothing but round-off: solve with the columns there are
    std::vector<Scalar> none(j + 1, 0);
    *happy = true;
    PetscCallTT((void)g.small.add(first, h, 0, none, info.error * Az_norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if ((PetscInt)g.V.size() < j + 2) {
    VecHandle v;
    PetscCall(create_vec(space, ksp->vec_sol, v.out()));
    g.V.push_back(std::move(v));
    g.sketch.emplace_back();
    if (g.keep_z) g.Z.emplace_back();
  }
  next.set_scale(next.scale() / Scaled(Scalar(norm)));
  g.peak_rank   = std::max<PetscInt>(g.peak_rank, next.max_rank());
  g.sketch[j + 1] = TrainSketch();
  PetscCall(set_train(g.V[j + 1], std::move(next)));
  PetscCallTT({
    std::vector<Scalar> gram;
    LogScope            log(events().dot, (PetscObject)ksp);
    for (PetscInt i = 0; i <= j; i++) gram.push_back(dot(train_of(g.V[j + 1]), train_of(g.V[i])).value());
    *happy = !g.small.add(first, h, norm, gram, info.error * norm);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
