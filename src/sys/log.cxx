#include "sys/log.hpp"

#include "sys/compat.hpp"
#include "tt/blas.hpp"

namespace petsctt {

namespace {
Events events_;
double reported_flops_ = 0; // part of flops() that PetscLogFlops has been told
} // namespace

const Events &events()
{
  return events_;
}

PetscErrorCode register_events()
{
  PetscClassId classid = 0;

  PetscFunctionBegin;
  PetscCall(PetscClassIdRegister("TensorTrain", &classid));
  PetscCall(PetscLogEventRegister("VecTTDot", classid, &events_.dot));
  PetscCall(PetscLogEventRegister("VecTTNorm", classid, &events_.norm));
  PetscCall(PetscLogEventRegister("VecTTRound", classid, &events_.round));
  PetscCall(PetscLogEventRegister("VecTTOrth", classid, &events_.orthogonalize));
  PetscCall(PetscLogEventRegister("VecTTHadamard", classid, &events_.hadamard));
  PetscCall(PetscLogEventRegister("VecTTEvaluate", classid, &events_.evaluate));
  PetscCall(PetscLogEventRegister("VecTTContract", classid, &events_.contract));
  PetscCall(PetscLogEventRegister("VecTTFull", classid, &events_.full));
  PetscCall(PetscLogEventRegister("MatTTApply", classid, &events_.apply));
  PetscCall(PetscLogEventRegister("MatTTGhost", classid, &events_.ghost));
  PetscCall(PetscLogEventRegister("MatTTCompress", classid, &events_.compress));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Logging must not turn a result into an error, nor throw from a destructor: its error codes are dropped.
LogScope::LogScope(PetscLogEvent event, PetscObject object) : event_(event), object_(object), flops_(flops()), reported_(reported_flops_)
{
  (void)[this]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(event_, object_, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }();
}

LogScope::~LogScope()
{
  (void)[this]() -> PetscErrorCode {
    const double mine = (flops() - flops_) - (reported_flops_ - reported_);

    PetscFunctionBegin;
    if (mine > 0) {
      reported_flops_ += mine;
      PetscCall(PetscLogFlops(mine));
    }
    PetscCall(PetscLogEventEnd(event_, object_, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
  }();
}

} // namespace petsctt
