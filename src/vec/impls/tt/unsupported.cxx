// Operations that a tensor train cannot do: the errors say what to call instead. PETSc calls some of them without looking whether
// they are there (VecPointwiseDivide() and its kin), and reports the others in words that do not help.
#include "vec/impls/tt/ttimpl.hpp"

using namespace petsctt;

namespace {

PetscErrorCode refuse(Vec v, const char *what, const char *instead)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)v), PETSC_ERR_SUP, "%s is not supported by vectors of type " VECTT "; %s", what, instead);
}

constexpr const char *pointwise = "for tensors that are small enough convert with VecTTGetFull() and VecTTSetFull()";
constexpr const char *array     = "there is no array of its entries: see VecTTGetCoreRead(), VecTTExtract(), VecTTGetEntries(), VecTTGetFull(). A solver that asks for it "
                                  "can be replaced by -ksp_type ttgmres, gmres or cg";
constexpr const char *values    = "use VecTTSetRankOne(), VecTTSetConstant(), VecTTSetCores() or VecTTSetFull() to set values, VecTTGetEntries() or VecTTExtract() to get them";

PetscErrorCode VecPointwiseDivide_TT(Vec w, Vec, Vec) { return refuse(w, "VecPointwiseDivide", pointwise); }
PetscErrorCode VecPointwiseMax_TT(Vec w, Vec, Vec) { return refuse(w, "VecPointwiseMax", pointwise); }
PetscErrorCode VecPointwiseMaxAbs_TT(Vec w, Vec, Vec) { return refuse(w, "VecPointwiseMaxAbs", pointwise); }
PetscErrorCode VecPointwiseMin_TT(Vec w, Vec, Vec) { return refuse(w, "VecPointwiseMin", pointwise); }
PetscErrorCode VecMaxPointwiseDivide_TT(Vec x, Vec, PetscReal *) { return refuse(x, "VecMaxPointwiseDivide", pointwise); }
PetscErrorCode VecReciprocal_TT(Vec v) { return refuse(v, "VecReciprocal", pointwise); }
PetscErrorCode VecSqrtAbs_TT(Vec v) { return refuse(v, "VecSqrtAbs", pointwise); }
PetscErrorCode VecAbs_TT(Vec v) { return refuse(v, "VecAbs", pointwise); }
PetscErrorCode VecExp_TT(Vec v) { return refuse(v, "VecExp", pointwise); }
PetscErrorCode VecLog_TT(Vec v) { return refuse(v, "VecLog", pointwise); }

PetscErrorCode VecSetValues_TT(Vec v, PetscInt, const PetscInt[], const PetscScalar[], InsertMode) { return refuse(v, "VecSetValues", values); }
PetscErrorCode VecSetValuesBlocked_TT(Vec v, PetscInt, const PetscInt[], const PetscScalar[], InsertMode) { return refuse(v, "VecSetValuesBlocked", values); }
PetscErrorCode VecGetValues_TT(Vec v, PetscInt, const PetscInt[], PetscScalar[]) { return refuse(v, "VecGetValues", values); }

PetscErrorCode VecGetArray_TT(Vec v, PetscScalar **) { return refuse(v, "VecGetArray", array); }
PetscErrorCode VecGetArrayWrite_TT(Vec v, PetscScalar **) { return refuse(v, "VecGetArrayWrite", array); }
PetscErrorCode VecPlaceArray_TT(Vec v, const PetscScalar *) { return refuse(v, "VecPlaceArray", array); }
PetscErrorCode VecReplaceArray_TT(Vec v, const PetscScalar *) { return refuse(v, "VecReplaceArray", array); }
PetscErrorCode VecResetArray_TT(Vec v) { return refuse(v, "VecResetArray", array); }
PetscErrorCode VecGetLocalVector_TT(Vec v, Vec) { return refuse(v, "VecGetLocalVector", array); }
PetscErrorCode VecGetSubVector_TT(Vec v, IS, Vec *) { return refuse(v, "VecGetSubVector", "use VecTTExtract() for the entries along one mode, VecTTContract() for fewer modes"); }

} // namespace

namespace petsctt {

PetscErrorCode refuse_array_read(Vec v)
{
  return refuse(v, "VecGetArrayRead", array);
}

// Debug builds of PETSc take the presence of `getarray` for a promise that it works and look for NaN in every vector: there its own
// message must do.
void refuse_array(Vec v)
{
  v->ops->getarray     = PetscDefined(USE_DEBUG) ? nullptr : VecGetArray_TT;
  v->ops->restorearray = nullptr;
}

} // namespace petsctt

void set_unsupported_ops(_VecOps *ops)
{
  ops->pointwisedivide    = VecPointwiseDivide_TT;
  ops->pointwisemax       = VecPointwiseMax_TT;
  ops->pointwisemaxabs    = VecPointwiseMaxAbs_TT;
  ops->pointwisemin       = VecPointwiseMin_TT;
  ops->maxpointwisedivide = VecMaxPointwiseDivide_TT;
  ops->reciprocal         = VecReciprocal_TT;
  ops->sqrt               = VecSqrtAbs_TT;
  ops->abs                = VecAbs_TT;
  ops->exp                = VecExp_TT;
  ops->log                = VecLog_TT;
  ops->setvalues          = VecSetValues_TT;
  ops->setvaluesblocked   = VecSetValuesBlocked_TT;
  ops->getvalues          = VecGetValues_TT;
  // getarrayread: error_norm.cxx
  ops->getarraywrite      = VecGetArrayWrite_TT;
  ops->placearray         = VecPlaceArray_TT;
  ops->replacearray       = VecReplaceArray_TT;
  ops->resetarray         = VecResetArray_TT;
  ops->getlocalvector     = VecGetLocalVector_TT;
  ops->getlocalvectorread = VecGetLocalVector_TT;
  ops->getsubvector       = VecGetSubVector_TT;
}
