// Which modes belong to which layout. Parts of PETSc and SLEPc keep of a vector its PetscLayout and the name of its type only, and later make
// vectors from these (SLEPc's BV since 3.21). A layout that came from a VECTT leads back to the modes and the rounding policy.
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>

namespace petsctt {

namespace {

struct Known {
  PetscLayout map = nullptr; // referenced, so that the address is not given to another layout
  SpacePtr    space;         // null: vectors of different modes have it
  bool        has_policy = false;
  RoundPolicy policy;
};

std::vector<Known> &known()
{
  static std::vector<Known> list;
  return list;
}

// Forgets layouts that nobody else refers to any more.
PetscErrorCode forget_unused(bool all)
{
  PetscFunctionBegin;
  for (Known &k : known())
    if (all || k.map->refcnt == 0) PetscCall(PetscLayoutDestroy(&k.map)); // refcnt counts references beyond the first
  known().erase(std::remove_if(known().begin(), known().end(), [](const Known &k) { return !k.map; }), known().end());
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool at_the_end = false; // forget_all() is registered

PetscErrorCode forget_all(void)
{
  PetscFunctionBegin;
  at_the_end = false;
  PetscCall(forget_unused(true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Known *find(PetscLayout map)
{
  const auto k = std::find_if(known().begin(), known().end(), [&](const Known &x) { return x.map == map; });
  return k == known().end() ? nullptr : &*k;
}

} // namespace

PetscErrorCode remember_layout(PetscLayout map, const SpacePtr &space)
{
  PetscFunctionBegin;
  Known *k = find(map);
  if (!k) {
    PetscCall(forget_unused(false));
    if (!at_the_end) PetscCall(PetscRegisterFinalize(forget_all));
    at_the_end = true;
    Known entry;
    entry.space = space;
    PetscCall(PetscLayoutReference(map, &entry.map));
    PetscCallTT(known().push_back(std::move(entry)));
  } else if (k->space && k->space != space && !k->space->same(*space)) k->space = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void recall_layout(PetscLayout map, SpacePtr *space, const RoundPolicy **policy)
{
  const Known *k = find(map);
  if (!k || !k->space) return;
  *space = k->space;
  if (k->has_policy) *policy = &k->policy;
}

} // namespace petsctt

using namespace petsctt;

/*@
  VecTTShareLayout - Lets vectors that are created on the layout of this one have its rounding policy too

  Not Collective

  Input Parameter:
. v - the TT vector

  Level: developer

  Notes:
  A vector of type `VECTT` that is created with the `PetscLayout` of another one (`VecSetLayout()`, `VecSetType()`) gets the modes of that one,
  unless vectors of different modes have this layout. Its policy is read from the options database. After this call it is a copy of the policy that v has now.

.seealso: `VECTT`, `VecTTSetModes()`, `VecTTSetRoundRtol()`
@*/
PetscErrorCode VecTTShareLayout(Vec v)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTShareLayout"));
  PetscCall(remember_layout(v->map, space_of(v)));
  Known *k = find(v->map);
  PetscCallTT(k->policy = impl(v).policy);
  k->has_policy = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}
