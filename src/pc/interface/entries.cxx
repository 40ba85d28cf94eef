// Preconditioners of PETSc that need the entries of a matrix: on a MATTT the error names one that works. Two of them are what PETSc takes by default: in PCSetFromOptions() while
// it does not know the operator, as with KSPSetDM() (before 3.20), or in PCSetUp() for matrices that have a diagonal block, as those of a DMTT say. There they become PCTTKRON. With other matrices and DMs nothing changes.
#include "petscttdm.h"
#include "petscttpc.h"
#include "sys/compat.hpp"

#include <petsc/private/pcimpl.h>

#include <utility>

PETSC_EXTERN PetscErrorCode PCCreate_TTKron(PC);

namespace petsctt {

namespace {

const char *const types[]    = {PCILU, PCBJACOBI, PCICC, PCLU, PCCHOLESKY, PCQR, PCREDUNDANT, PCJACOBI, PCPBJACOBI, PCSOR, PCEISENSTAT, PCASM, PCGASM, PCGAMG, PCHYPRE, PCML, PCSPAI, PCSVD, PCMG};
constexpr int     n_types    = sizeof(types) / sizeof(types[0]);
constexpr int     n_defaults = 2; // ILU on one process, block Jacobi on several

// What PETSc has registered, and the set-up that it gives a PC of the type, which may be null; found anew after every PetscInitialize().
PetscErrorCode (*original_create[n_types])(PC);
PetscErrorCode (*original_setup[n_types])(PC);

// PCMG works if somebody has given it levels; of its own it has one, with a smoother that needs entries, or asks the DM for them, which refuses.
PetscErrorCode has_levels(PC pc, PetscBool *yes)
{
  PetscInt levels = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc, PCMG, yes));
  if (*yes) PetscCall(PCMGGetLevels(pc, &levels));
  *yes = levels > 1 ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode setup(PC pc)
{
  PetscBool   tt = PETSC_FALSE, levels = PETSC_FALSE;
  const char *prefix;

  PetscFunctionBegin;
  if (pc->pmat) PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATTT, &tt));
  if (tt) PetscCall(has_levels(pc, &levels));
  if (levels) tt = PETSC_FALSE;
  prefix = ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "";
  PetscCheck(!tt, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "PC of type %s needs the entries of a matrix, which an operator of type " MATTT " does not have; use -%spc_type " PCTTKRON " or none. PETSc takes ilu or bjacobi by itself when "
             "PCSetFromOptions() comes before the operator is known: call PCSetType() before. Multigrid and factorisations work on the modes: -%spc_ttkron_mode_<k>_pc_type mg, gamg or lu",
             types[I], prefix, prefix);
  if (original_setup[I]) PetscCall((*original_setup[I])(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Is it PETSc's default, not an option of the user, on the vectors of a DMTT?
PetscErrorCode is_default_on_dmtt(PC pc, PetscBool *yes)
{
  PetscBool given, tt = PETSC_TRUE;

  PetscFunctionBegin;
  *yes = PETSC_FALSE;
  if (!pc->dm) PetscFunctionReturn(PETSC_SUCCESS);
  if (pc->pmat) PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATTT, &tt));
  if (!tt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->dm, DMTT, yes));
  PetscCall(PetscOptionsHasName(((PetscObject)pc)->options, ((PetscObject)pc)->prefix, "-pc_type", &given));
  if (given) *yes = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode create(PC pc)
{
  PetscBool tt = PETSC_FALSE;

  PetscFunctionBegin;
  if (I < n_defaults) PetscCall(is_default_on_dmtt(pc, &tt));
  if (tt) {
    PetscCall(PetscObjectChangeTypeName((PetscObject)pc, PCTTKRON));
    PetscCall(PCCreate_TTKron(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*original_create[I])(pc));
  original_setup[I] = pc->ops->setup;
  pc->ops->setup    = setup<I>;
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int I> PetscErrorCode wrap()
{
  PetscErrorCode (*found)(PC) = nullptr;

  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, types[I], &found));
  if (!found || found == create<I>) PetscFunctionReturn(PETSC_SUCCESS);
  original_create[I] = found;
  PetscCall(PCRegister(types[I], create<I>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int... I> PetscErrorCode wrap_all(std::integer_sequence<int, I...>)
{
  PetscErrorCode (*const each[])() = {wrap<I>...};

  PetscFunctionBegin;
  for (auto f : each) PetscCall((*f)());
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

// Call after another PCRegister(), which has PETSc's own types registered first.
PETSC_EXTERN PetscErrorCode PCRegisterTTRefusals(void)
{
  PetscFunctionBegin;
  PetscCall(petsctt::wrap_all(std::make_integer_sequence<int, petsctt::n_types>()));
  PetscFunctionReturn(PETSC_SUCCESS);
}
