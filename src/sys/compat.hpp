#ifndef PETSCTT_SYS_COMPAT_HPP
#define PETSCTT_SYS_COMPAT_HPP

// The only file that asks for the version of PETSc: what changed between 3.18 and 3.25 and concerns us.
#include <petscsys.h>

#if PETSC_VERSION_LT(3, 18, 0)
  #error "PETScTT needs PETSc 3.18 or later"
#endif

// 3.19 introduced the name; before it a bare 0 was returned.
#if PETSC_VERSION_LT(3, 19, 0) && !defined(PETSC_SUCCESS)
  #define PETSC_SUCCESS ((PetscErrorCode)0)
#endif

// 3.20: _VecOps gained maxpby (y = beta y + sum alpha_j x_j), and errorwnorm, by which TS measures errors; before it TS read arrays.
#if PETSC_VERSION_GE(3, 20, 0)
  #define PETSCTT_HAVE_VEC_MAXPBY 1
  #define PETSCTT_HAVE_VEC_ERRORWNORM 1
#endif

// 3.21: VecLoad() reads files that were written with the other size of PetscInt.
#if PETSC_VERSION_GE(3, 21, 0)
  #define PETSCTT_LOADS_ANY_INDEX_SIZE 1
#else
  #define PETSCTT_LOADS_ANY_INDEX_SIZE 0
#endif

// 3.21: SLEPc's BV keeps the layout and the type of its vectors in place of a template vector.
#if PETSC_VERSION_GE(3, 21, 0)
  #define PETSCTT_BV_HAS_TEMPLATE 0
#else
  #define PETSCTT_BV_HAS_TEMPLATE 1
#endif

// 3.22: PetscOptionsGetViewer() became PetscOptionsCreateViewer().
#if PETSC_VERSION_GE(3, 22, 0)
  #define PETSCTT_OPTIONS_VIEWER PetscOptionsCreateViewer
#else
  #define PETSCTT_OPTIONS_VIEWER PetscOptionsGetViewer
#endif

namespace petsctt {

// 3.23: PetscOptionItems became a pointer type. The argument of every setfromoptions operation.
#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems *;
#else
using OptionItems = PetscOptionItems;
#endif

} // namespace petsctt

#endif
