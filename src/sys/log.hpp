#ifndef PETSCTT_SYS_LOG_HPP
#define PETSCTT_SYS_LOG_HPP

#include <petscsys.h>

namespace petsctt {

// Log events of the library, under a class of their own ("TensorTrain", switched off by -log_exclude tensortrain).
// Valid after PetscTTInitializePackage().
struct Events {
  PetscLogEvent dot, norm, round, orthogonalize, hadamard, evaluate, contract, full; // vectors
  PetscLogEvent round_qr, round_gram, round_randomized;                              // within round: by method
  PetscLogEvent apply, ghost, compress;                                              // operators
  PetscLogEvent conflux_layout, conflux_factor, conflux_solve;                       // dense factorisations
  PetscLogStage factorisation, solves;                                               // all that a factorisation or a solve by conflux does
};
const Events  &events();
PetscErrorCode register_events(); // called once per PetscInitialize by PetscTTInitializePackage()

// Begins an event now, ends it with the scope, and reports the flops which src/tt has counted in between to PetscLogFlops.
// Scopes nest: flops reported by an inner scope are not reported again by the outer one.
class LogScope {
public:
  explicit LogScope(PetscLogEvent event, PetscObject object = nullptr);
  ~LogScope();
  LogScope(const LogScope &)            = delete;
  LogScope &operator=(const LogScope &) = delete;

private:
  PetscLogEvent event_;
  PetscObject   object_;
  double        flops_, reported_;
};

// A stage of -log_view as long as the scope lasts.
class StageScope {
public:
  explicit StageScope(PetscLogStage stage);
  ~StageScope();
  StageScope(const StageScope &)            = delete;
  StageScope &operator=(const StageScope &) = delete;
};

} // namespace petsctt

#endif
