#ifndef PETSCTTSYS_H
#define PETSCTTSYS_H

#include <petscsys.h>

#if defined(__cplusplus)
  #define PETSCTT_EXTERN extern "C" __attribute__((visibility("default")))
#else
  #define PETSCTT_EXTERN extern __attribute__((visibility("default")))
#endif

PETSCTT_EXTERN PetscErrorCode PetscTTInitializePackage(void);
PETSCTT_EXTERN PetscErrorCode PetscTTFinalizePackage(void);
PETSCTT_EXTERN PetscErrorCode PetscTTFreeWorkspace(void);

#endif
