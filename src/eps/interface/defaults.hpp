#ifndef PETSCTT_EPS_INTERFACE_DEFAULTS_HPP
#define PETSCTT_EPS_INTERFACE_DEFAULTS_HPP

#include <petscsys.h>

namespace petsctt {

// The tolerance that a BVTT made now has unless told otherwise: that of the EPS whose set-up or solve is under way.
PetscReal default_rtol();

class DefaultRtolScope {
public:
  explicit DefaultRtolScope(PetscReal rtol);
  ~DefaultRtolScope();
  DefaultRtolScope(const DefaultRtolScope &)            = delete;
  DefaultRtolScope &operator=(const DefaultRtolScope &) = delete;

private:
  PetscReal saved_;
};

} // namespace petsctt

#endif
