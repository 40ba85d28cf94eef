#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>

const char *const VecTTRoundTypes[] = {"qr", "gram", "randomized", "auto", "VecTTRoundType", "VEC_TT_ROUND_", nullptr};

namespace petsctt {

VecTTRoundType to_public(RoundType type)
{
  switch (type) {
  case RoundType::qr: return VEC_TT_ROUND_QR;
  case RoundType::gram: return VEC_TT_ROUND_GRAM;
  case RoundType::randomized: return VEC_TT_ROUND_RANDOMIZED;
  case RoundType::automatic: break;
  }
  return VEC_TT_ROUND_AUTO;
}

RoundType from_public(VecTTRoundType type)
{
  switch (type) {
  case VEC_TT_ROUND_QR: return RoundType::qr;
  case VEC_TT_ROUND_GRAM: return RoundType::gram;
  case VEC_TT_ROUND_RANDOMIZED: return RoundType::randomized;
  case VEC_TT_ROUND_AUTO: break;
  }
  return RoundType::automatic;
}

namespace {

// An option with the prefix of the vector, else without; `value` stays where it is not given. An option that cannot be read is reported by
// the solver it is meant for.
PetscErrorCode solver_tolerance(const RoundPolicy &policy, const char *name, PetscReal *value)
{
  PetscBool set = PETSC_FALSE;

  PetscFunctionBegin;
  if (!policy.prefix.empty()) PetscCall(PetscOptionsGetReal(nullptr, policy.prefix.c_str(), name, value, &set));
  if (!set) PetscCall(PetscOptionsGetReal(nullptr, nullptr, name, value, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Unless it was given: a thousandth of what the solver is to reach, so that the rounding errors of some dozens of iterations do
// not keep it from getting there, and not so close to the machine precision that round-off is taken for signal. The linear solver may be one
// within a nonlinear one or a time step that is to be more accurate; one that is less accurate does not make the linear solver so.
Real effective_rtol(const RoundPolicy &policy)
{
  if (policy.shared_rtol) return *policy.shared_rtol;
  if (policy.rtol_set) return policy.rtol;
  PetscReal rtol = 1e-5;
  (void)solver_tolerance(policy, "-ksp_rtol", &rtol);
  for (const char *name : {"-snes_rtol", "-ts_rtol"}) {
    PetscReal other = rtol;
    (void)solver_tolerance(policy, name, &other);
    if (other > 0) rtol = std::min(rtol, other);
  }
  if (policy.solver_rtol > 0) rtol = std::min(rtol, policy.solver_rtol);
  return std::max<Real>(1e-3 * rtol, 450 * PETSC_MACHINE_EPSILON);
}

namespace {

PetscErrorCode check_policy(MPI_Comm comm, const RoundPolicy &p)
{
  PetscFunctionBegin;
  PetscCheck(!p.rtol_set || (p.rtol >= 0 && p.rtol < 1), comm, PETSC_ERR_ARG_OUTOFRANGE, "-vec_tt_round_rtol %g is outside [0,1)", (double)p.rtol);
  PetscCheck(p.max_rank >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-vec_tt_max_rank %" PetscInt_FMT " is negative (0 means no cap)", p.max_rank);
  PetscCheck(p.random_rank >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-vec_tt_random_rank %" PetscInt_FMT " must be at least 1", p.random_rank);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Read at creation too, not in VecSetFromOptions() alone: most vectors of a program are made by PETSc from a matrix or by
// VecLoad(), and nobody calls VecSetFromOptions() for them.
PetscErrorCode read_policy(Vec v, RoundPolicy &p)
{
  const char  *prefix  = ((PetscObject)v)->prefix;
  PetscOptions options = ((PetscObject)v)->options;
  PetscEnum    type    = (PetscEnum)to_public(p.type);
  PetscInt     seed    = 0;
  PetscBool    formed  = PETSC_FALSE, set;

  PetscFunctionBegin;
  p.prefix = prefix ? prefix : "";
  PetscCall(PetscOptionsGetEnum(options, prefix, "-vec_tt_round_type", VecTTRoundTypes, &type, nullptr));
  p.type = from_public((VecTTRoundType)type);
  PetscCall(PetscOptionsGetReal(options, prefix, "-vec_tt_round_rtol", &p.rtol, &set));
  if (set) p.rtol_set = true;
  PetscCall(PetscOptionsGetInt(options, prefix, "-vec_tt_max_rank", &p.max_rank, nullptr));
  PetscCall(PetscOptionsGetInt(options, prefix, "-vec_tt_round_seed", &seed, &set));
  if (set) p.seed = (std::uint64_t)seed;
  PetscCall(PetscOptionsGetBool(options, prefix, "-vec_tt_round_form_sums", &formed, &set));
  if (set) p.formed = formed;
  PetscCall(PetscOptionsGetInt(options, prefix, "-vec_tt_random_rank", &p.random_rank, nullptr));
  PetscCall(check_policy(PetscObjectComm((PetscObject)v), p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

using namespace petsctt;

// Lists the options for -help; what they say is taken in by the same names as at creation. -vec_tt_modes and -vec_tt_dim act in
// VecCreate_TT(), which runs when the type is set.
PetscErrorCode VecSetFromOptions_TT(Vec v, OptionItems PetscOptionsObject)
{
  RoundPolicy &p    = impl(v).policy;
  PetscEnum    type = (PetscEnum)to_public(p.type);
  PetscReal    rtol = effective_rtol(p);
  PetscInt     seed = (PetscInt)p.seed, m = 1;
  PetscInt     modes[1] = {0};
  PetscBool    formed   = p.formed ? PETSC_TRUE : PETSC_FALSE, set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "TT vector options");
  PetscCall(PetscOptionsEnum("-vec_tt_round_type", "Method of rounding", "VecTTSetRoundType", VecTTRoundTypes, type, &type, nullptr));
  PetscCall(PetscOptionsReal("-vec_tt_round_rtol", "Relative Frobenius error that one rounding may make", "VecTTSetRoundRtol", rtol, &rtol, &set));
  if (set) {
    p.rtol     = rtol;
    p.rtol_set = true;
    p.shared_rtol.reset();
  }
  PetscCall(PetscOptionsInt("-vec_tt_max_rank", "Cap on the TT ranks, 0 for none", "VecTTSetMaxRank", p.max_rank, &p.max_rank, nullptr));
  PetscCall(PetscOptionsInt("-vec_tt_round_seed", "Seed of randomized roundings", "VecTTSetRoundSeed", seed, &seed, &set));
  if (set) p.seed = (std::uint64_t)seed;
  PetscCall(PetscOptionsBool("-vec_tt_round_form_sums", "Form sums before they are rounded, to compare with", nullptr, formed, &formed, nullptr));
  p.formed = formed;
  PetscCall(PetscOptionsInt("-vec_tt_random_rank", "TT ranks of vectors made by VecSetRandom()", "VecSetRandom", p.random_rank, &p.random_rank, nullptr));
  if (PetscOptionsObject->printhelp) {
    PetscCall(PetscOptionsIntArray("-vec_tt_modes", "Sizes of the modes", "VecTTSetModes", modes, &m, nullptr));
    PetscCall(PetscOptionsInt("-vec_tt_dim", "Number of equal modes", "VecTTSetModes", 0, &m, nullptr));
  }
  PetscOptionsHeadEnd();
  p.type   = from_public((VecTTRoundType)type);
  p.prefix = ((PetscObject)v)->prefix ? ((PetscObject)v)->prefix : "";
  PetscCall(check_policy(PetscObjectComm((PetscObject)v), p));
  PetscFunctionReturn(PETSC_SUCCESS);
}
