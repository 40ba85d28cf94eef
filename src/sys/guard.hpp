#ifndef PETSCTT_SYS_GUARD_HPP
#define PETSCTT_SYS_GUARD_HPP

#include "base/error.hpp"

#include <new>
#include <petscsys.h>

// The sole bridge from C++ exceptions to PETSc error codes: runs the statements and returns from the enclosing
// PetscErrorCode function with the code and message of a petsctt::Error, PETSC_ERR_MEM for std::bad_alloc and
// PETSC_ERR_LIB for anything else. Use it for every call into src/tt, src/lu and src/iobound.
#define PetscCallTT(...) \
  do { \
    try { \
      __VA_ARGS__; \
    } catch (const ::petsctt::Error &petsctt_e_) { \
      SETERRQ(PETSC_COMM_SELF, (PetscErrorCode)petsctt_e_.code(), "%s", petsctt_e_.what()); \
    } catch (const std::bad_alloc &) { \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_MEM, "out of memory"); \
    } catch (const std::exception &petsctt_e_) { \
      SETERRQ(PETSC_COMM_SELF, PETSC_ERR_LIB, "%s", petsctt_e_.what()); \
    } \
  } while (0)

// The other direction, for a PETSc call inside code that throws (callbacks from src/tt): error code to petsctt::Error.
#define PetscThrowTT(...) \
  do { \
    PetscErrorCode petsctt_ierr_ = (__VA_ARGS__); \
    if (PetscUnlikely(petsctt_ierr_)) throw ::petsctt::Error((int)petsctt_ierr_, "error in a PETSc call, see above"); \
  } while (0)

#endif
