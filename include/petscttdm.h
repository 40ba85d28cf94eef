#ifndef PETSCTTDM_H
#define PETSCTTDM_H

#include <petscdm.h>
#include <petscttmat.h>

#define DMTT "tt"

/* modes */
PETSCTT_EXTERN PetscErrorCode DMTTCreate(MPI_Comm, PetscInt, DM *);
PETSCTT_EXTERN PetscErrorCode DMTTSetNumModes(DM, PetscInt);
PETSCTT_EXTERN PetscErrorCode DMTTGetNumModes(DM, PetscInt *);
PETSCTT_EXTERN PetscErrorCode DMTTSetModeDM(DM, PetscInt, DM);
PETSCTT_EXTERN PetscErrorCode DMTTGetModeDM(DM, PetscInt, DM *);
PETSCTT_EXTERN PetscErrorCode DMTTSetModeSize(DM, PetscInt, PetscInt, PetscInt);
PETSCTT_EXTERN PetscErrorCode DMTTGetModeSize(DM, PetscInt, PetscInt *, PetscInt *);

/* fields over one mode */
PETSCTT_EXTERN PetscErrorCode DMTTCreateModeVec(DM, PetscInt, Vec *);
PETSCTT_EXTERN PetscErrorCode DMTTCreateModeMat(DM, PetscInt, Mat *);
PETSCTT_EXTERN PetscErrorCode DMTTGetModeField(DM, Vec, PetscInt, const PetscInt[], Vec);
PETSCTT_EXTERN PetscErrorCode DMTTGetModeMean(DM, Vec, PetscInt, const Vec[], Vec);
PETSCTT_EXTERN PetscErrorCode DMTTViewModeVec(DM, PetscInt, Vec, PetscViewer);

#endif
