# What the library is built from: PETSc of the wanted variant, MPI, and the BLAS/LAPACK that PETSc itself uses.
include(PetscTTFindPETSc)
petsctt_find_petsc("${PETSCTT_PETSC_PREFIX}" "${PETSCTT_VARIANT}")
set(PETSCTT_VARIANT ${PETSCTT_PETSC_VARIANT})
message(STATUS "PETSc ${PETSCTT_PETSC_VERSION}, variant ${PETSCTT_VARIANT}, in ${PETSCTT_PETSC_DIR}")

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
