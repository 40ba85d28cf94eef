#include "sys/log.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>

namespace petsctt {

PetscBool is_vectt(Vec v)
{
  return v && v->ops->destroy == VecDestroy_TT ? PETSC_TRUE : PETSC_FALSE;
}

PetscErrorCode require_vectt(Vec v, const char *what)
{
  PetscFunctionBegin;
  PetscCheck(v, PETSC_COMM_SELF, PETSC_ERR_ARG_NULL, "%s: the vector is NULL", what);
  PetscCheck(is_vectt(v), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONG,
             "%s: the vector is of type %s, not " VECTT "; VecTTSetFull() and VecTTGetFull() convert vectors that are small enough", what,
             ((PetscObject)v)->type_name ? ((PetscObject)v)->type_name : "(not set)");
  PetscCheck(impl(v).space, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONGSTATE,
             "%s: the modes of the vector are not set; call VecTTSetModes() or give -vec_tt_modes or -vec_tt_dim%s%s", what, impl(v).why_no_modes.empty() ? "" : ": ",
             impl(v).why_no_modes.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_same(Vec x, Vec y, const char *what)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(x, what));
  if (x == y) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(require_vectt(y, what));
  if (space_of(x) != space_of(y)) PetscCallTT(require_same_space(*space_of(x), *space_of(y), what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Train &train_of(Vec v)
{
  return impl(v).train;
}

Train &train_rw(Vec v)
{
  return impl(v).train;
}

const SpacePtr &space_of(Vec v)
{
  return impl(v).space;
}

PetscErrorCode may_change(Vec v)
{
  PetscFunctionBegin;
  PetscCheck(impl(v).cores_out == 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "The vector changes while %" PetscInt_FMT " of its cores are in use; call VecTTRestoreCoreRead() first",
             impl(v).cores_out);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc stores norms together with the state they were computed for: raising it is what drops them.
PetscErrorCode train_changed(Vec v)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectStateIncrease((PetscObject)v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_train(Vec v, Train &&x)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "Change of a TT vector"));
  PetscCall(may_change(v));
  if (x.space() != space_of(v)) PetscCallTT(require_same_space(*x.space(), *space_of(v), "Change of a TT vector"));
  impl(v).train = std::move(x);
  PetscCall(train_changed(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

RoundOptions round_options(Vec v)
{
  const RoundPolicy &p = impl(v).policy;
  RoundOptions       o;
  o.type     = p.type;
  o.rtol     = effective_rtol(p);
  o.max_rank = p.max_rank;
  o.seed     = p.seed;
  o.formed   = p.formed;
  return o;
}

PetscErrorCode tie_rounding(Vec v, Real rtol)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "Tolerance of a solver"));
  if (rtol > 0) impl(v).policy.solver_rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode record_rounding(Vec v, const RoundInfo &info)
{
  VecTTRoundingInfo &i = impl(v).info;

  PetscFunctionBegin;
  i.type      = to_public(info.type);
  i.error     = info.error;
  i.estimated = info.estimated ? PETSC_TRUE : PETSC_FALSE;
  i.cap_hit   = info.cap_hit ? PETSC_TRUE : PETSC_FALSE;
  i.rank_in   = info.rank_in;
  i.rank_out  = info.rank_out;
  i.flops     = info.flops;
  i.roundings++;
  if (i.type < VEC_TT_ROUND_AUTO) i.by_type[i.type]++;
  if (info.cap_hit) i.cap_hits++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// Terms with the same train become one, and what is zero is left out: x - x is zero exactly, and nothing is added in vain.
std::vector<Term> merge(const std::vector<Term> &terms)
{
  std::vector<Term> out;
  for (const Term &t : terms) {
    if (!t.train) { // a lazy one
      out.push_back(t);
      continue;
    }
    if (t.lazy) { // one of a kind
      out.push_back(t);
      continue;
    }
    if (t.train->is_zero() && t.coefficient.finite()) continue;
    const auto same = std::find_if(out.begin(), out.end(), [&](const Term &o) { return o.train == t.train; });
    if (same == out.end()) out.push_back(t);
    else same->coefficient += t.coefficient;
  }
  out.erase(std::remove_if(out.begin(), out.end(), [](const Term &t) { return t.coefficient.is_zero(); }), out.end());
  return out;
}

} // namespace

PetscErrorCode assign_rounded_sum(Vec y, const std::vector<Term> &terms)
{
  RoundInfo info;

  PetscFunctionBegin;
  PetscCall(require_vectt(y, "Rounded sum"));
  Train sum;
  {
    LogScope log(events().round, (PetscObject)y);
    PetscCallTT(info = round_sum(space_of(y), merge(terms), round_options(y), sum));
  }
  PetscCall(set_train(y, std::move(sum)));
  PetscCall(record_rounding(y, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assign_combination(Vec y, const std::vector<Term> &all)
{
  const std::vector<Term> terms = merge(all);

  PetscFunctionBegin;
  PetscCall(require_vectt(y, "Linear combination"));
  if (terms.size() > 1) {
    PetscCall(assign_rounded_sum(y, terms));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  Train x;
  PetscCallTT({
    x = terms.empty() ? Train(space_of(y)) : *terms[0].train;
    if (!terms.empty()) x.set_scale(x.scale() * terms[0].coefficient);
  });
  PetscCall(set_train(y, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assign_rounded(Vec y, Train &&x)
{
  RoundInfo info;

  PetscFunctionBegin;
  PetscCall(require_vectt(y, "Rounding"));
  {
    LogScope log(events().round, (PetscObject)y);
    PetscCallTT(info = round(x, round_options(y)));
  }
  PetscCall(set_train(y, std::move(x)));
  PetscCall(record_rounding(y, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_vec(const SpacePtr &space, Vec like, Vec *v)
{
  Vec x;

  PetscFunctionBegin;
  PetscCall(PetscTTInitializePackage());
  PetscCall(VecCreate(space->comm().mpi(), &x));
  PetscCall(build(x, space));
  if (like) {
    PetscCall(require_vectt(like, "Creation of a TT vector"));
    impl(x).policy = impl(like).policy;
  }
  *v = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
