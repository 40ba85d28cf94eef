# What the library is built from: PETSc of the wanted variant, SLEPc where there is one, MPI, and the BLAS/LAPACK that PETSc itself uses.
include(PetscTTFindPETSc)
petsctt_find_petsc("${PETSCTT_PETSC_PREFIX}" "${PETSCTT_VARIANT}")
set(PETSCTT_VARIANT ${PETSCTT_PETSC_VARIANT})
message(STATUS "PETSc ${PETSCTT_PETSC_VERSION}, variant ${PETSCTT_VARIANT}, in ${PETSCTT_PETSC_DIR}")

string(TOLOWER "${PETSCTT_SLEPC}" petsctt_want_slepc)
set(PETSCTT_SLEPC_FOUND FALSE)
if(NOT petsctt_want_slepc MATCHES "^(off|no|false|0|)$")
  include(PetscTTFindSLEPc)
  petsctt_find_slepc("${PETSCTT_SLEPC_PREFIX}")
  if(PETSCTT_SLEPC_FOUND)
    message(STATUS "SLEPc ${PETSCTT_SLEPC_VERSION}, ${PETSCTT_SLEPC_LIBRARIES}")
  elseif(petsctt_want_slepc STREQUAL "auto")
    message(STATUS "no SLEPc of variant ${PETSCTT_VARIANT}: libpetsctt_slepc is not built")
  else()
    message(FATAL_ERROR "no SLEPc for PETSc ${PETSCTT_PETSC_VERSION}, variant ${PETSCTT_VARIANT}; on Debian install libslepc-real-dev or libslepc-complex-dev, or name one with -DPETSCTT_SLEPC_PREFIX=DIR")
  endif()
endif()

find_package(MPI REQUIRED COMPONENTS C)

# petsc.pc names neither. The generic names are what Debian's PETSc is linked to (an alternative chooses OpenBLAS, BLIS or
# the reference there); naming a vendor would load a second copy beside it.
if(NOT DEFINED BLA_VENDOR)
  set(BLA_VENDOR Generic)
  find_package(LAPACK)
  unset(BLA_VENDOR)
endif()
if(NOT LAPACK_FOUND)
  find_package(LAPACK REQUIRED)
endif()
