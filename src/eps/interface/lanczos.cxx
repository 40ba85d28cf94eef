// What EPSLANCZOS needs on tensor trains that SLEPc does not do by itself.
#include "eps/interface/hooks.hpp"

namespace petsctt {

// All reorthogonalisations but the full one rely on the basis losing its orthogonality as slowly as round-off lets it; the roundings of a train are
// larger by orders of magnitude. SLEPc's default, which it does not tell from a choice of the program, becomes the full one; what an option asks for is refused.
PetscErrorCode lanczos_check(EPS eps, bool may_set)
{
  EPSLanczosReorthogType type;
  PetscBool              given;

  PetscFunctionBegin;
  PetscCall(EPSLanczosGetReorthog(eps, &type));
  if (type == EPS_LANCZOS_REORTHOG_FULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsHasName(((PetscObject)eps)->options, ((PetscObject)eps)->prefix, "-eps_lanczos_reorthog", &given));
  const bool is_default = type == EPS_LANCZOS_REORTHOG_LOCAL || (int)type < 0; // local up to SLEPc 3.18, none later
  PetscCheck(is_default && !given && may_set, PetscObjectComm((PetscObject)eps), PETSC_ERR_SUP,
             "-eps_lanczos_reorthog %s relies on vectors that are orthogonal to machine precision, which rounded vectors of type " VECTT
             " are not; use -eps_lanczos_reorthog full, which is the default for matrices of type " MATTT ", or -eps_type krylovschur",
             (int)type < 0 ? "" : EPSLanczosReorthogTypes[type]);
  PetscCall(PetscInfo(eps, "Full reorthogonalisation of Lanczos vectors of type " VECTT "\n"));
  PetscCall(EPSLanczosSetReorthog(eps, EPS_LANCZOS_REORTHOG_FULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode to_original(PetscObject st, PetscInt n, PetscScalar *re, PetscScalar *im)
{
  PetscFunctionBegin;
  PetscCall(STBackTransform((ST)st, n, re, im));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// SLEPc compares Ritz values of the transformed operator by an order that is one of eigenvalues, and with shift-and-invert restarts from the wrong end of the spectrum.
LanczosOrderScope::LanczosOrderScope(EPS eps, bool wanted) : eps_(wanted && !eps->sc->map ? eps : NULL)
{
  if (!eps_) return;
  eps_->sc->map    = to_original;
  eps_->sc->mapobj = (PetscObject)eps_->st;
}

LanczosOrderScope::~LanczosOrderScope()
{
  if (!eps_) return;
  eps_->sc->map    = NULL;
  eps_->sc->mapobj = NULL;
}

} // namespace petsctt
