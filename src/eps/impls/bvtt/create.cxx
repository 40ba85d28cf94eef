#include "eps/impls/bvtt/bvtt.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "eps/interface/defaults.hpp"

#include <string>

namespace petsctt {

namespace {

PetscErrorCode create_columns(BV bv, PetscInt m, Vec *V[])
{
  PetscFunctionBegin;
  PetscCall(VecDuplicateVecs(data_of(bv).master, m, V));
  for (PetscInt j = 0; j < m && ((PetscObject)bv)->name; j++)
    PetscCall(PetscObjectSetName((PetscObject)(*V)[j], (((PetscObject)bv)->name + ("_" + std::to_string((long long)j))).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The tolerance belongs to all vectors that SLEPc makes for this problem: to its template, or to what it makes of the layout, and to all duplicates. The first
// BV sets it, the others, which SLEPc duplicates from that one, find it.
PetscErrorCode create_master(BV bv, PetscReal rtol, bool rtol_set)
{
  VecHandle v;
  PetscBool shared;

  PetscFunctionBegin;
#if PETSCTT_BV_HAS_TEMPLATE
  PetscCall(PetscObjectReference((PetscObject)bv->t));
  v = VecHandle(bv->t);
#else
  PetscCall(BVCreateVec(bv, v.out()));
#endif
  PetscCall(VecTTRoundRtolIsShared(v, &shared));
  if (!shared || rtol_set) PetscCall(VecTTShareRoundRtol(v, rtol));
  if (!shared) PetscCall(VecTTShareLayout(v));
  PetscCall(VecDuplicate(v, &data_of(bv).master));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVResize_TT(BV bv, PetscInt m, PetscBool copy)
{
  Vec *V;

  PetscFunctionBegin;
  PetscCall(create_columns(bv, m, &V));
  for (PetscInt j = 0; j < PetscMin(m, bv->m) && copy; j++) PetscCall(VecCopy(data_of(bv).V[j], V[j]));
  PetscCall(VecDestroyVecs(bv->m, &data_of(bv).V));
  data_of(bv).V = V;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVDestroy_TT(BV bv)
{
  PetscFunctionBegin;
  if (!bv->issplit) PetscCall(VecDestroyVecs(bv->nc + bv->m, &data_of(bv).V));
  PetscCall(VecDestroy(&data_of(bv).master));
  delete static_cast<BVTensorTrain *>(bv->data);
  bv->data = nullptr;
  for (const char *name : {"BVTTSetRoundRtol_C", "BVTTGetRoundRtol_C", "BVTTSetDefaultRtol_C"}) PetscCall(PetscObjectComposeFunction((PetscObject)bv, name, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVDuplicate_TT(BV V, BV W)
{
  PetscFunctionBegin;
  if (W->data) data_of(W).rtol_set = data_of(V).rtol_set;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_rtol(BV bv, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)bv), PETSC_ERR_ARG_OUTOFRANGE, "The tolerance %g of a BV of type " BVTT " is outside [0,1)", (double)rtol);
  data_of(bv).rtol_set = true;
  PetscCall(VecTTShareRoundRtol(data_of(bv).master, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What the EPS wants, which relaxes it on the way: only where the user has not set it.
PetscErrorCode set_default_rtol(BV bv, PetscReal rtol)
{
  PetscFunctionBegin;
  if (!data_of(bv).rtol_set) PetscCall(VecTTShareRoundRtol(data_of(bv).master, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_rtol(BV bv, PetscReal *rtol)
{
  PetscFunctionBegin;
  PetscCall(VecTTGetRoundRtol(data_of(bv).master, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BVSetFromOptions_TT(BV bv, OptionItems PetscOptionsObject)
{
  PetscReal rtol;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(get_rtol(bv, &rtol));
  PetscOptionsHeadBegin(PetscOptionsObject, "BV TT options");
  PetscCall(PetscOptionsReal("-bv_tt_rtol", "Error of linear combinations, relative to what is added up", "BVTTSetRoundRtol", rtol, &rtol, &set));
  PetscOptionsHeadEnd();
  if (set) PetscCall(set_rtol(bv, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

} // namespace petsctt

using namespace petsctt;

/*MC
  BVTT - BVTT = "tt" - Basis vectors of type `VECTT`

  Options Database Key:
. -bv_tt_rtol <rtol> - Frobenius error of a linear combination, relative to the norm of what is added up; 1e-3 times the tolerance of the `EPS` by default

  Level: intermediate

  Notes:
  It takes the place of the types that SLEPc has itself as soon as the vectors are of type `VECTT`; nobody needs to choose it, nor to change -bv_type.

  A combination sum_i q_i v_i is one sum that is never formed and is rounded once (`VecTTCombine()`): terms that are smaller than the tolerance are left out,
  the random sketches of the columns serve all sums of a `BVMultInPlace()`, and the absolute error is relative to the size of the terms, that is, to
  one for an orthonormal basis. All vectors that SLEPc makes for the problem share the tolerance (`VecTTShareRoundRtol()`), those it computes residuals with
  included; eigensolvers that correct themselves relax it on the way, see `PetscTTInitializeSlepc()`. A step of
  Gram-Schmidt is of the classical kind, whatever -bv_orthog_type: all inner products, then one rounded sum; a remainder below the
  tolerance is zero, which SLEPc takes as a linearly dependent vector.

  The rank cap and the method of rounding are those of the vectors (-vec_tt_max_rank, -vec_tt_round_type).

  `BVGetArray()` and `BVGetMat()` are refused: there are no arrays.

.seealso: `VECTT`, `BVTTSetRoundRtol()`, `VecTTCombine()`, `EPSTTGetResidualNorm()`
M*/
PETSC_EXTERN PetscErrorCode BVCreate_TT(BV bv)
{
  BVTensorTrain *t = nullptr;

  PetscFunctionBegin;
  PetscCallTT(t = new BVTensorTrain);
  bv->data = t;
  if (bv->issplit) {
    PetscCheck(bv->issplit > 0, PetscObjectComm((PetscObject)bv), PETSC_ERR_SUP, "A BV of type " BVTT " cannot be split by rows");
    const BVTensorTrain &parent = data_of(bv->splitparent);
    *t                          = parent;
    t->V                        = bv->issplit == 1 ? parent.V : parent.V + bv->splitparent->lsplit;
    PetscCall(PetscObjectReference((PetscObject)t->master));
  }
  PetscCheck(!bv->Acreate, PetscObjectComm((PetscObject)bv), PETSC_ERR_SUP, "The columns of a matrix cannot be made tensor trains; set the columns of a BV of type " BVTT " one by one");

  bv->ops->mult            = BVMult_TT;
  bv->ops->multvec         = BVMultVec_TT;
  bv->ops->multinplace     = BVMultInPlace_TT;
  bv->ops->multinplacetrans = BVMultInPlaceTranspose_TT;
  bv->ops->gramschmidt     = BVGramSchmidt_TT;
  bvtt_set_columnwise_ops(bv->ops);
  bv->ops->resize         = BVResize_TT;
  bv->ops->duplicate      = BVDuplicate_TT;
  bv->ops->setfromoptions = BVSetFromOptions_TT;
  bv->ops->destroy        = BVDestroy_TT;
  bv->vmm                 = BV_MATMULT_VECS;
  PetscCall(PetscObjectComposeFunction((PetscObject)bv, "BVTTSetRoundRtol_C", set_rtol));
  PetscCall(PetscObjectComposeFunction((PetscObject)bv, "BVTTGetRoundRtol_C", get_rtol));
  PetscCall(PetscObjectComposeFunction((PetscObject)bv, "BVTTSetDefaultRtol_C", set_default_rtol));
  if (bv->issplit) PetscFunctionReturn(PETSC_SUCCESS);

  // BVSetFromOptions() may have been called before the sizes were known, or not at all by a solver's own BV
  PetscReal rtol = default_rtol();
  PetscBool set;
  PetscObjectOptionsBegin((PetscObject)bv);
  PetscCall(PetscOptionsReal("-bv_tt_rtol", "Error of linear combinations, relative to what is added up", "BVTTSetRoundRtol", rtol, &rtol, &set));
  PetscOptionsEnd();
  t->rtol_set = set;
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)bv), PETSC_ERR_ARG_OUTOFRANGE, "-bv_tt_rtol %g is outside [0,1)", (double)rtol);
  PetscCall(create_master(bv, rtol, t->rtol_set));
  PetscCall(create_columns(bv, bv->nc + bv->m, &t->V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BVTTSetRoundRtol - Sets the tolerance of linear combinations of basis vectors of type `BVTT`

  Logically Collective

  Input Parameters:
+ bv   - the basis vectors; nothing is done when they are of another type
- rtol - error relative to the norm of what is added up, in [0,1)

  Options Database Key:
. -bv_tt_rtol <rtol> - sets it

  Level: intermediate

.seealso: `BVTT`, `BVTTGetRoundRtol()`
@*/
PetscErrorCode BVTTSetRoundRtol(BV bv, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscTryMethod(bv, "BVTTSetRoundRtol_C", (BV, PetscReal), (bv, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  BVTTGetRoundRtol - Gets the tolerance of linear combinations of basis vectors of type `BVTT`

  Not Collective

  Input Parameter:
. bv - the basis vectors, of type `BVTT`

  Output Parameter:
. rtol - the tolerance

  Level: intermediate

.seealso: `BVTT`, `BVTTSetRoundRtol()`
@*/
PetscErrorCode BVTTGetRoundRtol(BV bv, PetscReal *rtol)
{
  PetscFunctionBegin;
  PetscUseMethod(bv, "BVTTGetRoundRtol_C", (BV, PetscReal *), (bv, rtol));
  PetscFunctionReturn(PETSC_SUCCESS);
}
