// Entries, fibres and contractions.
#include "sys/log.hpp"
#include "tt/ops/evaluate.hpp"
#include "vec/interface/check.hpp"

using namespace petsctt;

/*@C
  VecTTGetEntries - Computes some entries of the tensor

  Collective

  Input Parameters:
+ v     - the TT vector
. m     - number of entries
- index - d global indices for each of them, the same on all processes: entry j is at index[j*d], ..., index[j*d+d-1]

  Output Parameter:
. values - the entries, on all processes

  Level: beginner

.seealso: `VECTT`, `VecTTExtract()`, `VecTTGetFull()`
@*/
PetscErrorCode VecTTGetEntries(Vec v, PetscInt m, const PetscInt index[], PetscScalar values[])
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetEntries"));
  PetscCheck(m >= 0, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "The number of entries is %" PetscInt_FMT, m);
  PetscCheck(m == 0 || (index && values), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_NULL, "VecTTGetEntries: %s of %" PetscInt_FMT " entries is NULL", index ? "the place for the values" : "the array of the indices", m);
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)v), index, (std::size_t)m * (std::size_t)space_of(v)->d() * sizeof(PetscInt), "The indices of the entries"));
  LogScope log(events().evaluate, (PetscObject)v);
  PetscCallTT(entries(train_of(v), m, index, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTExtract - Computes the entries along one mode, all other indices fixed: the solution field at given parameters, for instance

  Collective

  Input Parameters:
+ v     - the TT vector
. k     - the mode along which to go
- index - d global indices, the same on all processes; index[k] is not used

  Output Parameter:
. w - an ordinary vector over mode k, as `VecTTCreateModeVec()` makes it, that takes the entries

  Level: beginner

.seealso: `VECTT`, `VecTTCreateModeVec()`, `VecTTContract()`, `VecTTGetEntries()`
@*/
PetscErrorCode VecTTExtract(Vec v, PetscInt k, const PetscInt index[], Vec w)
{
  PetscScalar          *a;
  std::vector<PetscInt> at;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTExtract"));
  PetscCall(require_mode(v, k));
  PetscCheck(index, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_NULL, "VecTTExtract: the %" PetscInt_FMT " indices are NULL", space_of(v)->d());
  PetscCallTT(at.assign(index, index + space_of(v)->d()));
  at[k] = 0;
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)v), at.data(), at.size() * sizeof(PetscInt), "The indices"));
  PetscCall(require_mode_vec(*space_of(v), k, w));
  LogScope log(events().evaluate, (PetscObject)v);
  PetscCall(VecGetArrayWrite(w, &a));
  PetscCallTT(fibre(train_of(v), k, at.data(), a));
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTContract - Sums over some of the modes with weights: the mean over the parameters, for instance

  Collective

  Input Parameters:
+ v        - the TT vector
. contract - d flags, `PETSC_TRUE` for the modes to sum over; at least one mode must stay
- weights  - d ordinary vectors, those of the modes to sum over as `VecTTCreateModeVec()` makes them, or `NULL` for ones; `NULL` for ones everywhere.
             Those of the other modes are not used

  Output Parameter:
. w - a new TT vector over the modes that stay, in their order, with the rounding policy of v

  Level: beginner

  Notes:
  The weights are not conjugated. The result is not rounded; its TT ranks are among those of v.

.seealso: `VECTT`, `VecTTContractAll()`, `VecTTExtract()`, `VecTTCreateModeVec()`
@*/
PetscErrorCode VecTTContract(Vec v, const PetscBool contract_mode[], const Vec weights[], Vec *w)
{
  ModeArrays            arrays;
  std::vector<PetscInt> flags;
  std::vector<bool>     which;
  std::vector<Mode>     stay;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTContract"));
  const Space &space = *space_of(v);
  PetscCheck(contract_mode, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_NULL, "The flags of the modes to contract are NULL");
  PetscCallTT({
    for (Int k = 0; k < space.d(); ++k) {
      flags.push_back(contract_mode[k] ? 1 : 0);
      which.push_back(contract_mode[k] == PETSC_TRUE);
      if (!contract_mode[k]) stay.push_back(space.mode(k));
    }
  });
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)v), flags.data(), flags.size() * sizeof(PetscInt), "The modes to contract"));
  PetscCheck(!stay.empty(), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "At least one of the %" PetscInt_FMT " modes must stay; VecTTContractAll() contracts all", space.d());
  PetscCallTT(PetscCall(arrays.get(space, weights, contract_mode)));
  Train    x;
  SpacePtr rest;
  {
    LogScope log(events().contract, (PetscObject)v);
    PetscCallTT({
      rest = std::make_shared<const Space>(space.comm().mpi(), std::move(stay));
      x    = contract(train_of(v), which, arrays.pointers(), rest);
    });
  }
  PetscCall(create_vec(rest, v, w));
  PetscCall(set_train(*w, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTContractAll - Sums over all modes with weights

  Collective

  Input Parameters:
+ v       - the TT vector
- weights - d ordinary vectors over the modes, as `VecTTCreateModeVec()` makes them, or `NULL` for ones; `NULL` for ones everywhere

  Output Parameter:
. value - the sum of all entries times their weights, which are not conjugated

  Level: beginner

.seealso: `VECTT`, `VecTTContract()`, `VecSum()`
@*/
PetscErrorCode VecTTContractAll(Vec v, const Vec weights[], PetscScalar *value)
{
  ModeArrays arrays;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTContractAll"));
  PetscCallTT(PetscCall(arrays.get(*space_of(v), weights, nullptr)));
  LogScope log(events().contract, (PetscObject)v);
  PetscCallTT(*value = contract_all(train_of(v), arrays.pointers()).value());
  PetscFunctionReturn(PETSC_SUCCESS);
}
