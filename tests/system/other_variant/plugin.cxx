// The rest of a plugin whose entry point is src/sys/dll.cxx, compiled and linked for another variant of PETSc than the program that
// loads it. The entry point must refuse before anything of this is reached.
#include "petscttsys.h"

PetscErrorCode PetscTTInitializePackage(void)
{
  PetscFunctionBegin;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_PLIB, "a plugin of another variant was let in");
}
