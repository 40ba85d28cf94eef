#include "petscttsys.h"
#include "sys/compat.hpp"

namespace {

// The plugin uses PETSc's private structures and its own copy of PetscScalar and PetscInt. Loaded into another variant of
// PETSc it would compute garbage without a word, so everything it depends on is compared with what runs. Not collective.
PetscErrorCode check_abi()
{
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN, real = PETSC_DATATYPE_UNKNOWN;
  PetscBool     found;
  size_t        size_int = 0;
  PetscInt      major = 0, minor = 0, subminor = 0, release = 0;
  const auto    name = [](PetscDataType t) { return t == PETSC_COMPLEX ? "complex" : t == PETSC_DOUBLE ? "real" : "other"; };

  PetscFunctionBegin;
  // Asked first: after it PetscInt is known to be the same on both sides.
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &size_int));
  PetscCheck(size_int == sizeof(PetscInt), PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libpetsctt was built for PETSc with %d-bit PetscInt, but the program runs PETSc with %d-bit PetscInt; load the libpetsctt of this variant",
             (int)(8 * sizeof(PetscInt)), (int)(8 * size_int));
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCall(PetscDataTypeFromString("real", &real, &found));
  PetscCheck(scalar == PETSC_SCALAR && real == PETSC_REAL, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libpetsctt was built for PETSc with %s scalars, but the program runs PETSc with %s scalars; load the libpetsctt of this variant",
             name(PETSC_SCALAR), name(scalar));
  PetscCall(PetscGetVersionNumber(&major, &minor, &subminor, &release));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF, PETSC_ERR_LIB,
             "This libpetsctt was built for PETSc %d.%d, but the program runs PETSc %d.%d", PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, (int)major, (int)minor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// What PETSc calls when the library is loaded by -dll_append or -dll_prepend. The name is fixed by that of the file.
PETSCTT_EXTERN PetscErrorCode PetscDLLibraryRegister_petsctt(void);
PetscErrorCode                PetscDLLibraryRegister_petsctt(void)
{
  PetscFunctionBegin;
  PetscCall(check_abi());
  PetscCall(PetscTTInitializePackage());
  PetscFunctionReturn(PETSC_SUCCESS);
}
