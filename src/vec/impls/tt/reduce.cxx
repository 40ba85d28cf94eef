// Dot products, norms, sums and extreme values.
#include "sys/log.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/evaluate.hpp"
#include "tt/ops/full.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>
#include <cmath>

using namespace petsctt;

namespace {

// Entries that are looked at one by one: for extreme values the processes share the work, for the 1- and the infinity-norm every
// process holds them all.
constexpr double most_entries_scanned = 4e9, most_entries_stored = 2e7;

// value[j] = sum x conj(y_j), or without conjugation.
PetscErrorCode dots(Vec x, PetscInt n, const Vec y[], bool conjugate, PetscScalar value[], const char *what)
{
  PetscFunctionBegin;
  for (PetscInt j = 0; j < n; ++j) PetscCall(require_same(x, y[j], what));
  LogScope log(events().dot, (PetscObject)x);
  PetscCallTT({
    std::vector<const Train *> trains;
    for (PetscInt j = 0; j < n; ++j) trains.push_back(&train_of(y[j]));
    const std::vector<Scaled> values = petsctt::dots(train_of(x), trains, conjugate);
    for (PetscInt j = 0; j < n; ++j) value[j] = values[j].value();
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDot_TT(Vec x, Vec y, PetscScalar *value)
{
  PetscFunctionBegin;
  PetscCall(dots(x, 1, &y, true, value, "VecDot"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecTDot_TT(Vec x, Vec y, PetscScalar *value)
{
  PetscFunctionBegin;
  PetscCall(dots(x, 1, &y, false, value, "VecTDot"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMDot_TT(Vec x, PetscInt n, const Vec y[], PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall(dots(x, n, y, true, value, "VecMDot"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMTDot_TT(Vec x, PetscInt n, const Vec y[], PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall(dots(x, n, y, false, value, "VecMTDot"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 1- and infinity-norm of a vector that is small enough to be looked at entry by entry.
PetscErrorCode norm_of_entries(Vec x, NormType type, PetscReal *value)
{
  const Space &space = *space_of(x);

  PetscFunctionBegin;
  PetscCheck(space.full_size() <= most_entries_stored, PetscObjectComm((PetscObject)x), PETSC_ERR_SUP,
             "The %s of a TT vector needs all of its entries: 10^%g (%s), the limit is %g; use NORM_2, or bounds from VecTTNormLog10()", NormTypes[type],
             (double)space.log10_full_size(), space.describe().c_str(), most_entries_stored);
  LogScope log(events().full, (PetscObject)x);
  PetscCallTT({
    const Buffer full = to_full(train_of(x), most_entries_stored);
    *value            = 0;
    for (std::size_t i = 0; i < full.size(); ++i) {
      const PetscReal a = petsctt::abs(full[i]);
      if (type == NORM_1) *value += a;
      else if (a > *value || std::isnan(a)) *value = a;
    }
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecNorm_TT(Vec x, NormType type, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecNorm"));
  if (type == NORM_1_AND_2) {
    PetscCall(VecNorm_TT(x, NORM_1, value));
    PetscCall(VecNorm_TT(x, NORM_2, value + 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (type == NORM_1 || type == NORM_INFINITY) {
    PetscCall(norm_of_entries(x, type, value));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  LogScope log(events().norm, (PetscObject)x);
  PetscCallTT(*value = PetscRealPart(norm(train_of(x)).value()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Split-phase forms: PETSc adds up (or takes the maximum of) what the processes return, so one of them gives the value and the others zero.
template <class F> PetscErrorCode on_first(Vec x, PetscInt n, PetscScalar value[], F &&whole)
{
  PetscFunctionBegin;
  PetscCall(whole());
  if (space_of(x)->comm().rank()) std::fill(value, value + n, PetscScalar(0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDotLocal_TT(Vec x, Vec y, PetscScalar *value)
{
  PetscFunctionBegin;
  PetscCall(on_first(x, 1, value, [&] { return VecDot_TT(x, y, value); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecTDotLocal_TT(Vec x, Vec y, PetscScalar *value)
{
  PetscFunctionBegin;
  PetscCall(on_first(x, 1, value, [&] { return VecTDot_TT(x, y, value); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMDotLocal_TT(Vec x, PetscInt n, const Vec y[], PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall(on_first(x, n, value, [&] { return VecMDot_TT(x, n, y, value); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMTDotLocal_TT(Vec x, PetscInt n, const Vec y[], PetscScalar value[])
{
  PetscFunctionBegin;
  PetscCall(on_first(x, n, value, [&] { return VecMTDot_TT(x, n, y, value); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecNormLocal_TT(Vec x, NormType type, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(VecNorm_TT(x, type, value));
  // VecNormEnd() takes the root of the sum of squares
  PetscCheck(type != NORM_2 || !(*value > PetscSqrtReal(PETSC_MAX_REAL)), PetscObjectComm((PetscObject)x), PETSC_ERR_FP,
             "The square of the norm 10^%g leaves the range of PetscReal; use VecNorm()", (double)PetscLog10Real(*value));
  if (space_of(x)->comm().rank()) std::fill(value, value + (type == NORM_1_AND_2 ? 2 : 1), PetscReal(0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDotNorm2_TT(Vec s, Vec t, PetscScalar *dp, PetscScalar *nm)
{
  PetscReal norm_t;

  PetscFunctionBegin;
  PetscCall(dots(s, 1, &t, true, dp, "VecDotNorm2"));
  PetscCall(VecNorm(t, NORM_2, &norm_t));
  PetscCheck(!(norm_t > PetscSqrtReal(PETSC_MAX_REAL)), PetscObjectComm((PetscObject)t), PETSC_ERR_FP, "The square of the norm 10^%g leaves the range of PetscReal",
             (double)PetscLog10Real(norm_t));
  *nm = norm_t * norm_t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// VecMean() and MatNullSpace divide by the global size: refused where that is not the number of entries. PETSc adds up what the
// processes return.
PetscErrorCode VecSum_TT(Vec x, PetscScalar *value)
{
  bool product;

  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecSum"));
  PetscCall(nominal_sizes(*space_of(x), nullptr, nullptr, &product));
  PetscCheck(product, PetscObjectComm((PetscObject)x), PETSC_ERR_SUP,
             "VecSum() is refused because VecMean() would divide it by the nominal size %" PetscInt_FMT ", but the vector has 10^%g entries (%s); use VecTTContractAll()", x->map->N,
             (double)space_of(x)->log10_full_size(), space_of(x)->describe().c_str());
  LogScope log(events().contract, (PetscObject)x);
  PetscCallTT(*value = contract_all(train_of(x), std::vector<const Scalar *>(space_of(x)->d(), nullptr)).value());
  if (space_of(x)->comm().rank()) *value = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode extreme(Vec x, bool largest, PetscInt *where, PetscReal *value)
{
  Extremes e;

  PetscFunctionBegin;
  PetscCall(require_vectt(x, largest ? "VecMax" : "VecMin"));
  LogScope log(events().evaluate, (PetscObject)x);
  PetscCallTT(e = extremes(train_of(x), most_entries_scanned));
  *value = largest ? e.max : e.min;
  if (where) PetscCall(nominal_index(*space_of(x), largest ? e.argmax : e.argmin, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMax_TT(Vec x, PetscInt *where, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(extreme(x, true, where, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMin_TT(Vec x, PetscInt *where, PetscReal *value)
{
  PetscFunctionBegin;
  PetscCall(extreme(x, false, where, value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void set_reduction_ops(_VecOps *ops)
{
  ops->dot         = VecDot_TT;
  ops->tdot        = VecTDot_TT;
  ops->mdot        = VecMDot_TT;
  ops->mtdot       = VecMTDot_TT;
  ops->norm        = VecNorm_TT;
  ops->dot_local   = VecDotLocal_TT;
  ops->tdot_local  = VecTDotLocal_TT;
  ops->mdot_local  = VecMDotLocal_TT;
  ops->mtdot_local = VecMTDotLocal_TT;
  ops->norm_local  = VecNormLocal_TT;
  ops->dotnorm2    = VecDotNorm2_TT;
  ops->sum         = VecSum_TT;
  ops->max         = VecMax_TT;
  ops->min         = VecMin_TT;
}
