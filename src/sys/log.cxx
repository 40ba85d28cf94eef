#include "sys/log.hpp"

#include "sys/compat.hpp"
#include "base/blas.hpp"
#include "tt/ops/round.hpp"

#include <memory>
#include <vector>

namespace petsctt {

namespace {
Events events_;
double reported_flops_ = 0; // part of flops() that PetscLogFlops has been told
// One scope for each rounding that is under way: a randomized one ends with a sweep of type qr.
std::vector<std::unique_ptr<LogScope>> rounding;

void log_round(RoundType method, bool begin)
{
  if (begin) rounding.push_back(std::make_unique<LogScope>(method == RoundType::gram ? events_.round_gram : method == RoundType::randomized ? events_.round_randomized : events_.round_qr));
  else if (!rounding.empty()) rounding.pop_back();
}

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
  PetscCall(PetscLogEventRegister("VecTTRoundQR", classid, &events_.round_qr));
  PetscCall(PetscLogEventRegister("VecTTRoundGram", classid, &events_.round_gram));
  PetscCall(PetscLogEventRegister("VecTTRoundRand", classid, &events_.round_randomized));
  set_round_hook(log_round);
  PetscCall(PetscLogEventRegister("VecTTOrth", classid, &events_.orthogonalize));
  PetscCall(PetscLogEventRegister("VecTTHadamard", classid, &events_.hadamard));
  PetscCall(PetscLogEventRegister("VecTTEvaluate", classid, &events_.evaluate));
  PetscCall(PetscLogEventRegister("VecTTContract", classid, &events_.contract));
  PetscCall(PetscLogEventRegister("VecTTFull", classid, &events_.full));
  PetscCall(PetscLogEventRegister("MatTTApply", classid, &events_.apply));
  PetscCall(PetscLogEventRegister("MatTTGhost", classid, &events_.ghost));
  PetscCall(PetscLogEventRegister("MatTTCompress", classid, &events_.compress));
  PetscCall(PetscLogEventRegister("ConfluxLayout", classid, &events_.conflux_layout));
  PetscCall(PetscLogEventRegister("ConfluxFactor", classid, &events_.conflux_factor));
  PetscCall(PetscLogEventRegister("ConfluxSolve", classid, &events_.conflux_solve));
  PetscCall(PetscLogStageRegister("Conflux factorisation", &events_.factorisation));
  PetscCall(PetscLogStageRegister("Conflux solves", &events_.solves));
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

StageScope::StageScope(PetscLogStage stage)
{
  (void)[stage]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscLogStagePush(stage));
    PetscFunctionReturn(PETSC_SUCCESS);
  }();
}

StageScope::~StageScope()
{
  (void)[]() -> PetscErrorCode {
    PetscFunctionBegin;
    PetscCall(PetscLogStagePop());
    PetscFunctionReturn(PETSC_SUCCESS);
  }();
}

} // namespace petsctt
