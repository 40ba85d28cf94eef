// How TS measures the error of a step. PETSc divides entry by entry, |u_i - y_i| / (atol + rtol max(|u_i|, |y_i|)), and takes the root of the
// mean of the squares. An entrywise quotient is not a tensor train of small ranks; here the root mean squares are divided,
//
//   RMS(u - y) / (atol + rtol max(RMS(u), RMS(y))),
//
// which is the same where all entries have one size, and does not ask entries that happen to be small for absolute accuracy that no rounding gives.
#include "sys/log.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/two_sweeps.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>

using namespace petsctt;

namespace {

// Root mean square of the entries. The product of the modes need not fit a number.
PetscReal rms(const Space &space, const Scaled &norm)
{
  Scaled entries(1);
  for (Int k = 0; k < space.d(); k++) entries *= Scaled((Real)space.N(k));
  return real((norm.abs() / entries.sqrt()).value());
}

struct Sizes {
  PetscReal error = 0, u = 0, y = 0; // root mean squares of the error, and of the two vectors
};

// || x - y ||: of the triangular factors of the difference, since from inner products it would be wrong below 1e-8 of x; of one mode, entry by entry.
Scaled norm_of_difference(const Train &x, const Train &y)
{
  if (x.d() == 1) return norm(form_sum(x.space(), {{Scaled(1), &x}, {Scaled(-1), &y}}));
  const PlainTrain u(x), v(y);
  return norm_of_sum(x.space(), {{Scaled(1), &u}, {Scaled(-1), &v}});
}

// E, when given, is the error.
PetscErrorCode measure(Vec U, Vec Y, Vec E, Sizes *sizes)
{
  PetscFunctionBegin;
  PetscCall(require_same(U, Y, "Error of a time step"));
  if (E) PetscCall(require_same(U, E, "Error of a time step"));
  LogScope log(events().norm, (PetscObject)U);
  PetscCallTT({
    const Space &space = *space_of(U);
    sizes->u           = rms(space, norm(train_of(U)));
    sizes->y           = rms(space, norm(train_of(Y)));
    sizes->error       = rms(space, E ? norm(train_of(E)) : norm_of_difference(train_of(U), train_of(Y)));
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

#if defined(PETSCTT_HAVE_VEC_ERRORWNORM)

namespace {

// The operation behind TSErrorWeightedNorm(). One value per process would be averaged over the counts: one in all, on every process.
PetscErrorCode VecErrorWeightedNorms_TT(Vec U, Vec Y, Vec E, NormType type, PetscReal atol, Vec vatol, PetscReal rtol, Vec vrtol, PetscReal ignore_max, PetscReal *norm,
                                        PetscInt *norm_loc, PetscReal *norma, PetscInt *norma_loc, PetscReal *normr, PetscInt *normr_loc)
{
  Sizes size;

  PetscFunctionBegin;
  PetscCheck(type == NORM_2, PetscObjectComm((PetscObject)U), PETSC_ERR_SUP, "Errors of TT vectors are measured in the 2-norm, not in %s: use -ts_adapt_wnormtype 2", NormTypes[type]);
  PetscCheck(!vatol && !vrtol, PetscObjectComm((PetscObject)U), PETSC_ERR_SUP, "Errors of TT vectors are measured with scalar tolerances, not with a vector of them");
  PetscCheck(!(ignore_max > 0), PetscObjectComm((PetscObject)U), PETSC_ERR_SUP, "-ts_adapt_max_ignore %g needs the entries of a TT vector one by one", (double)ignore_max);
  PetscCall(measure(U, Y, E, &size));
  const PetscReal relative = rtol * PetscMax(size.u, size.y), both = atol + relative;
  const auto      set      = [&](PetscReal tolerance, PetscReal *value, PetscInt *count) {
    *value = tolerance > 0 ? size.error / tolerance : 0;
    *count = tolerance > 0 ? 1 : 0;
  };
  set(both, norm, norm_loc);
  set(atol, norma, norma_loc);
  set(relative, normr, normr_loc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetArrayRead_TT(Vec v, const PetscScalar **)
{
  PetscFunctionBegin;
  PetscCall(refuse_array_read(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetLocalSize_TT(Vec v, PetscInt *n)
{
  PetscFunctionBegin;
  *n = v->map->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace petsctt {

ErrorNormScope::ErrorNormScope() { }
ErrorNormScope::~ErrorNormScope() { }

} // namespace petsctt

void set_error_norm_ops(_VecOps *ops)
{
  ops->errorwnorm   = VecErrorWeightedNorms_TT;
  ops->getarrayread = VecGetArrayRead_TT;
  ops->getlocalsize = VecGetLocalSize_TT;
}

#else

namespace {

// Of the ErrorNormScope that is open. The array of the first vector gets its final value when the second one is known.
struct {
  bool        open  = false;
  Vec         first = nullptr;
  PetscScalar u = 0, y = 0;
} pair;

PetscErrorCode VecGetArrayRead_TT(Vec v, const PetscScalar **a)
{
  Sizes size;

  PetscFunctionBegin;
  if (!pair.open) {
    PetscCall(refuse_array_read(v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!pair.first) {
    pair.first = v;
    *a         = &pair.u;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(measure(pair.first, v, nullptr, &size));
  const bool y_is_larger = size.y > size.u;
  pair.u                 = y_is_larger ? size.y - size.error : size.u;
  pair.y                 = y_is_larger ? size.y : size.u - size.error;
  pair.first             = nullptr; // TS may measure more than one pair
  *a                     = &pair.y;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArrayRead_TT(Vec, const PetscScalar **)
{
  return PETSC_SUCCESS;
}

PetscErrorCode VecGetLocalSize_TT(Vec v, PetscInt *n)
{
  PetscFunctionBegin;
  *n = pair.open ? 1 : v->map->n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace petsctt {

ErrorNormScope::ErrorNormScope()
{
  pair.open  = true;
  pair.first = nullptr;
}

ErrorNormScope::~ErrorNormScope()
{
  pair.open  = false;
  pair.first = nullptr;
}

} // namespace petsctt

void set_error_norm_ops(_VecOps *ops)
{
  ops->getarrayread     = VecGetArrayRead_TT;
  ops->restorearrayread = VecRestoreArrayRead_TT;
  ops->getlocalsize     = VecGetLocalSize_TT;
}

#endif
