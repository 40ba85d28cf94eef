#include "ksp/impls/ttgmres/ttgmres.hpp"
#include "sys/log.hpp"
#include "base/blas.hpp"
#include "tt/ops/dot.hpp"

#include <algorithm>
#include <limits>

namespace petsctt {

namespace {

// Is A a MATTT whose products have no null space to be removed from them?
PetscErrorCode has_lazy_product(KSP ksp, Mat A, bool *yes)
{
  MatNullSpace nullspace = NULL;

  PetscFunctionBegin;
  if (ksp->transpose_solve) PetscCall(MatGetTransposeNullSpace(A, &nullspace));
  else PetscCall(MatGetNullSpace(A, &nullspace));
  *yes = is_mattt(A) && !nullspace;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the operator does to x as a lazy train; anything but a MATTT is multiplied by MatMult into `work`, rounded there.
PetscErrorCode lazy_product(KSP ksp, Mat A, Vec x, VecHandle &work, std::unique_ptr<LazyTrain> &out)
{
  bool lazy;

  PetscFunctionBegin;
  PetscCall(has_lazy_product(ksp, A, &lazy));
  if (lazy) {
    PetscCall(lazy_apply(A, ksp->transpose_solve ? Apply::transpose : Apply::plain, train_of(x), out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!work) PetscCall(create_vec(space_of(x), x, work.out()));
  PetscCall(KSP_MatMult(ksp, A, x, work));
  PetscCall(KSP_RemoveNullSpace(ksp, work));
  out = std::make_unique<PlainTrain>(train_of(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// P^{-1} A x. The product with a MATTT goes to P^{-1} as it is: what rounding would make of it there has no bound after P^{-1}.
PetscErrorCode left_product(KSP ksp, Mat A, Vec x, std::unique_ptr<LazyTrain> &out)
{
  TTGMRES &g = data_of(ksp);
  bool     lazy;

  PetscFunctionBegin;
  for (VecHandle *work : {&g.w, &g.z})
    if (!*work) PetscCall(create_vec(space_of(x), ksp->vec_sol, work->out()));
  PetscCall(has_lazy_product(ksp, A, &lazy));
  if (lazy) {
    Train product;
    PetscCall(apply(A, ksp->transpose_solve ? Apply::transpose : Apply::plain, train_of(x), product));
    PetscCall(set_train(g.w, std::move(product)));
  } else PetscCall(KSP_MatMult(ksp, A, x, g.w));
  PetscCall(KSP_PCApply(ksp, g.w, g.z));
  out = std::make_unique<PlainTrain>(train_of(g.z));
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
  if (g.left) PetscCall(set_train(x, std::move(sum)));
  else {
    if (!g.trial) PetscCall(create_vec(space_of(x), x, g.trial.out()));
    PetscCall(set_train(g.trial, std::move(sum)));
    PetscCall(KSP_PCApply(ksp, g.trial, x));
  }
  if (!g.x0_zero) {
    PetscCall(rounded_sum(ksp, {{Scaled(Scalar(1)), &train_of(x)}, {Scaled(Scalar(1)), &train_of(g.x0)}}, o, sum, info));
    PetscCall(set_train(x, std::move(sum)));
  }
  PetscCall(record_rounding(x, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Random images: so many columns that a least-squares fit with n basis vectors changes norms by little, in steps, since each step extends
// the sketches of all of them.
PetscInt columns_for(PetscInt n)
{
  return 50 * ((std::max<PetscInt>(120, 5 * n) + 49) / 50);
}

void image_of(const LazyTrain &x, const RoundOptions &o, PetscInt columns, TrainSketch &sketch, Scalar *image)
{
  std::vector<Scaled> v(columns);
  sketch_values(x, o.seed, columns, sketch, v.data());
  for (PetscInt c = 0; c < columns; c++) image[c] = v[c].value() / std::sqrt((PetscReal)columns);
}

// Exact dots of basis vector n-1 with those from `first` on, into g.gram.
void update_exact_gram(TTGMRES &g, PetscInt first, PetscInt n)
{
  g.gram.resize((std::size_t)n);
  std::vector<Scalar> &column = g.gram.back();
  column.assign((std::size_t)n, 0);
  std::vector<const Train *> earlier;
  for (PetscInt i = first; i < n - 1; i++) earlier.push_back(&train_of(g.V[i]));
  const std::vector<Scaled> products = dots(train_of(g.V[n - 1]), earlier);
  for (PetscInt i = first; i < n - 1; i++) column[i] = products[i - first].value();
  column[n - 1] = 1;
}

std::vector<Scalar> exact_gram(const TTGMRES &g, PetscInt first, PetscInt n)
{
  const PetscInt      m = n - first;
  std::vector<Scalar> G((std::size_t)m * m);
  for (PetscInt j = 0; j < m; j++)
    for (PetscInt i = 0; i <= j; i++) {
      G[i + (std::size_t)m * j] = g.gram[first + j][first + i];
      G[j + (std::size_t)m * i] = conj(G[i + (std::size_t)m * j]);
    }
  return G;
}

// Gram matrix of the first n basis vectors for the least-squares problem: from their random images, of which those not there yet are made,
// or from their dots. Within the window the dots are always exact.
void update_gram(TTGMRES &g, const RoundOptions &o, PetscInt n)
{
  if (!g.sketched) {
    update_exact_gram(g, 0, n);
    g.small.set_gram(n, exact_gram(g, 0, n), 1);
    return;
  }
  if (g.window > 0) update_exact_gram(g, std::max<PetscInt>(0, n - g.window), n);
  const PetscInt columns = columns_for(n + 1);
  PetscInt       have    = columns == g.image_columns ? (PetscInt)(g.images.size() / columns) : 0;
  have                   = std::min(have, n);
  g.images.resize((std::size_t)columns * n);
  for (PetscInt i = have; i < n; i++) image_of(PlainTrain(train_of(g.V[i])), o, columns, g.sketch[i], g.images.data() + (std::size_t)columns * i);
  g.image_columns = columns;
  std::vector<Scalar> G((std::size_t)n * n);
  gemm('C', 'N', n, n, columns, 1, g.images.data(), columns, g.images.data(), columns, 0, G.data(), n);
  // a fit with n of s columns sees sqrt(1 - n/s) of the residual and leaves 1/sqrt(1 - n/s) of the smallest
  g.small.set_gram(n, std::move(G), 1 / (1 - (PetscReal)n / columns));
}

// Coefficients of the projection of Az on the basis vectors first..j. Those of a short window are exact: what they leave of the last
// vectors would come back in every later step. With all vectors the random images do.
std::vector<Scalar> project(TTGMRES &g, const RoundOptions &o, const LazyTrain &Az, PetscInt first, PetscInt j, TrainSketch &sketch)
{
  const bool          by_image = g.sketched && g.window == 0;
  std::vector<Scalar> d(j + 1 - first);
  if (by_image) {
    std::vector<Scalar> image(g.image_columns);
    image_of(Az, o, g.image_columns, sketch, image.data());
    gemm('C', 'N', (Count)d.size(), 1, g.image_columns, 1, g.images.data(), g.image_columns, image.data(), g.image_columns, 0, d.data(), (Count)d.size());
  } else
    for (PetscInt i = first; i <= j; i++) d[i - first] = dot(Az, train_of(g.V[i])).value();
  for (Scalar s : d)
    if (!is_finite(s)) return d; // NaN goes on into the sum and becomes its norm
  return best_coefficients((Int)d.size(), by_image ? g.small.gram() : exact_gram(g, first, j + 1), d);
}

// The space is invariant but for a vector of norm `dropped`: the last column of H ends above its last row, and the cycle is over. `gram`: of
// the vectors up to the last.
void end_of_space(TTGMRES &g, const std::vector<Scalar> &gram, PetscInt first, const std::vector<Scalar> &h, PetscReal dropped)
{
  const PetscInt      j = g.small.columns();
  std::vector<Scalar> G((std::size_t)(j + 2) * (j + 2), 0);
  for (PetscInt k = 0; k <= j; k++)
    for (PetscInt i = 0; i <= j; i++) G[i + (std::size_t)(j + 2) * k] = gram[i + (std::size_t)(j + 1) * k];
  G.back() = 1;
  g.small.set_gram(j + 2, std::move(G), 1);
  (void)g.small.add(first, h, 0, dropped);
}

} // namespace

PetscErrorCode extend_basis(KSP ksp, PetscReal atol, bool *happy)
{
  TTGMRES                    &g = data_of(ksp);
  Mat                         A, P;
  std::unique_ptr<LazyTrain>  Az;
  TrainSketch                 Az_sketch;
  const PetscInt              j = g.small.columns(), first = g.window > 0 ? std::max<PetscInt>(0, j + 1 - g.window) : 0;
  const SpacePtr             &space = space_of(g.V[j]);
  std::vector<Scalar>         h;
  std::vector<Term>           terms;
  RoundInfo                   info;
  RoundOptions                o = round_options(ksp->vec_sol);
  Train                       next;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, &P));
  if (g.left) PetscCall(left_product(ksp, A, g.V[j], Az));
  else {
    VecHandle &z = g.keep_z ? g.Z[j] : g.z;
    if (!z) PetscCall(create_vec(space, ksp->vec_sol, z.out()));
    PetscCall(KSP_PCApply(ksp, g.V[j], z));
    PetscCall(lazy_product(ksp, A, z, g.w, Az));
  }
  PetscCallTT({
    LogScope log(events().dot, (PetscObject)ksp);
    if (j == 0) update_gram(g, o, 1);
    h = project(g, o, *Az, first, j, Az_sketch);
  });
  terms.push_back({Scaled(Scalar(1)), nullptr, Az.get(), &Az_sketch});
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
  PetscReal size = norm; // about that of Az: what round-off is relative to
  for (Scalar c : h) size = std::hypot(size, petsctt::abs(c));
  if ((PetscInt)g.V.size() < j + 2) {
    VecHandle v;
    PetscCall(create_vec(space, ksp->vec_sol, v.out()));
    g.V.push_back(std::move(v));
    g.sketch.emplace_back();
    if (g.keep_z) g.Z.emplace_back();
  }
  const std::vector<Scalar> gram = g.small.gram(); // of the vectors up to j
  if (!(norm > 1e-14 * size)) { // only round-off is left
    *happy = true;
    PetscCallTT(end_of_space(g, gram, first, h, info.error * norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  next.set_scale(next.scale() / Scaled(Scalar(norm)));
  g.peak_rank     = std::max<PetscInt>(g.peak_rank, next.max_rank());
  g.sketch[j + 1] = TrainSketch();
  PetscCall(set_train(g.V[j + 1], std::move(next)));
  PetscCallTT({
    LogScope log(events().dot, (PetscObject)ksp);
    update_gram(g, o, j + 2);
    *happy = !g.small.add(first, h, norm, info.error * norm);
    // What is left depends on the basis: mostly round-off that is not quite as small as above. The column counts without it.
    if (*happy) end_of_space(g, gram, first, h, norm);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
