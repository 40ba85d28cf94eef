// y = a x + b y and its relatives, products, and what fills a vector.
#include "sys/log.hpp"
#include "tt/ops/fill.hpp"
#include "tt/ops/hadamard.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <cstring>

using namespace petsctt;

namespace {

PetscErrorCode VecCopy_TT(Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_same(x, y, "VecCopy"));
  Train copy;
  PetscCallTT(copy = train_of(x));
  PetscCall(set_train(y, std::move(copy)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecSwap_TT(Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_same(x, y, "VecSwap"));
  PetscCall(may_change(x));
  PetscCall(may_change(y));
  std::swap(train_rw(x), train_rw(y));
  PetscCall(train_changed(x));
  PetscCall(train_changed(y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecScale_TT(Vec x, PetscScalar a)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecScale"));
  PetscCallTT(PetscCall(change_train(x, [&](Train &t) {
    if (a == PetscScalar(0)) t.set_zero(); // as the standard types do, whatever the vector holds
    else t.set_scale(t.scale() * Scaled(a));
  })));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// VecSet() goes on to store norms derived from the global size, and there is no way to take them back. Where that size is not
// the number of entries they would be wrong.
PetscErrorCode VecSet_TT(Vec x, PetscScalar a)
{
  bool product;

  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecSet"));
  PetscCall(nominal_sizes(*space_of(x), nullptr, nullptr, &product));
  PetscCheck(product || a == PetscScalar(0), PetscObjectComm((PetscObject)x), PETSC_ERR_SUP,
             "VecSet() would store norms derived from the nominal size %" PetscInt_FMT ", but the vector has 10^%g entries (%s); use VecTTSetConstant()", x->map->N,
             (double)space_of(x)->log10_full_size(), space_of(x)->describe().c_str());
  Train t;
  PetscCallTT(t = constant(space_of(x), a));
  PetscCall(set_train(x, std::move(t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAXPY_TT(Vec y, PetscScalar a, Vec x)
{
  PetscFunctionBegin;
  PetscCall(require_same(y, x, "VecAXPY"));
  PetscCall(assign_combination(y, {{Scaled(a), &train_of(x)}, {Scaled(1), &train_of(y)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAXPBY_TT(Vec y, PetscScalar a, PetscScalar b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(require_same(y, x, "VecAXPBY"));
  PetscCall(assign_combination(y, {{Scaled(a), &train_of(x)}, {Scaled(b), &train_of(y)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAYPX_TT(Vec y, PetscScalar b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(require_same(y, x, "VecAYPX"));
  PetscCall(assign_combination(y, {{Scaled(1), &train_of(x)}, {Scaled(b), &train_of(y)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecWAXPY_TT(Vec w, PetscScalar a, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_same(w, x, "VecWAXPY"));
  PetscCall(require_same(w, y, "VecWAXPY"));
  PetscCall(assign_combination(w, {{Scaled(a), &train_of(x)}, {Scaled(1), &train_of(y)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecAXPBYPCZ_TT(Vec z, PetscScalar a, PetscScalar b, PetscScalar c, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_same(z, x, "VecAXPBYPCZ"));
  PetscCall(require_same(z, y, "VecAXPBYPCZ"));
  PetscCall(assign_combination(z, {{Scaled(a), &train_of(x)}, {Scaled(b), &train_of(y)}, {Scaled(c), &train_of(z)}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The whole sum goes down at once and is rounded once.
PetscErrorCode combine_many(Vec y, PetscInt n, const PetscScalar a[], PetscScalar b, const Vec x[], const char *what)
{
  std::vector<Term> terms;

  PetscFunctionBegin;
  PetscCall(require_vectt(y, what));
  for (PetscInt j = 0; j < n; ++j) PetscCall(require_same(y, x[j], what));
  PetscCallTT({
    terms.push_back({Scaled(b), &train_of(y)});
    for (PetscInt j = 0; j < n; ++j) terms.push_back({Scaled(a[j]), &train_of(x[j])});
  });
  PetscCall(assign_combination(y, terms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecMAXPY_TT(Vec y, PetscInt n, const PetscScalar a[], Vec x[])
{
  PetscFunctionBegin;
  PetscCall(combine_many(y, n, a, 1, x, "VecMAXPY"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(PETSCTT_HAVE_VEC_MAXPBY)
PetscErrorCode VecMAXPBY_TT(Vec y, PetscInt n, const PetscScalar a[], PetscScalar b, Vec x[])
{
  PetscFunctionBegin;
  PetscCall(combine_many(y, n, a, b, x, "VecMAXPBY"));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode VecPointwiseMult_TT(Vec w, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(require_same(w, x, "VecPointwiseMult"));
  PetscCall(require_same(w, y, "VecPointwiseMult"));
  Train h;
  {
    LogScope log(events().hadamard, (PetscObject)w);
    PetscCallTT(h = hadamard(train_of(x), train_of(y)));
  }
  PetscCall(assign_rounded(w, std::move(h)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecConjugate_TT(Vec x)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecConjugate"));
  PetscCallTT(PetscCall(change_train(x, [](Train &t) { conjugate(t); })));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecShift_TT(Vec x, PetscScalar a)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecShift"));
  Train ones;
  PetscCallTT(ones = constant(space_of(x), 1));
  PetscCall(assign_combination(x, {{Scaled(1), &train_of(x)}, {Scaled(a), &ones}}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Gaussian cores, whatever the distribution of the generator: what counts for its users is a random direction. The seed is the
// next number of the generator on process 0, so that the vector does not depend on the number of processes.
PetscErrorCode VecSetRandom_TT(Vec x, PetscRandom random)
{
  PetscReal     value;
  std::uint64_t seed = 0;

  PetscFunctionBegin;
  PetscCall(require_vectt(x, "VecSetRandom"));
  PetscCall(PetscRandomGetValueReal(random, &value)); // on all processes, so that their generators stay in step
  std::memcpy(&seed, &value, PetscMin(sizeof(seed), sizeof(value)));
  PetscCallMPI(MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, PetscObjectComm((PetscObject)x)));
  const Int r = impl(x).policy.max_rank ? PetscMin(impl(x).policy.max_rank, impl(x).policy.random_rank) : impl(x).policy.random_rank;
  Train     t;
  PetscCallTT(t = random_train(space_of(x), std::vector<Int>(space_of(x)->d() + 1, r), seed));
  PetscCall(set_train(x, std::move(t)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

void set_arithmetic_ops(_VecOps *ops)
{
  ops->copy          = VecCopy_TT;
  ops->swap          = VecSwap_TT;
  ops->scale         = VecScale_TT;
  ops->set           = VecSet_TT;
  ops->axpy          = VecAXPY_TT;
  ops->axpby         = VecAXPBY_TT;
  ops->aypx          = VecAYPX_TT;
  ops->waxpy         = VecWAXPY_TT;
  ops->axpbypcz      = VecAXPBYPCZ_TT;
  ops->maxpy         = VecMAXPY_TT;
  ops->pointwisemult = VecPointwiseMult_TT;
  ops->conjugate     = VecConjugate_TT;
  ops->shift         = VecShift_TT;
  ops->setrandom     = VecSetRandom_TT;
#if defined(PETSCTT_HAVE_VEC_MAXPBY)
  ops->maxpby = VecMAXPBY_TT;
#endif
}
