#ifndef PETSCTTPC_H
#define PETSCTTPC_H

#include <petscksp.h>
#include <petscttmat.h>

#define PCTTKRON "ttkron"

PETSCTT_EXTERN PetscErrorCode PCTTKronSetModeMat(PC, PetscInt, Mat);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetModeMat(PC, PetscInt, Mat *);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetModeKSP(PC, PetscInt, KSP *);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetModes(PC, PetscInt, const PetscInt[]);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetModes(PC, PetscInt *, const PetscInt *[]);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetReference(PC, const PetscInt[]);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetNearest(PC, PetscBool);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetNearest(PC, PetscBool *, PetscReal *);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetStretch(PC, PetscReal);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetStretch(PC, PetscReal *);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetExponentials(PC, PetscReal);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetExponentials(PC, PetscReal *, PetscInt *);
PETSCTT_EXTERN PetscErrorCode PCTTKronSetBlockSize(PC, PetscInt);
PETSCTT_EXTERN PetscErrorCode PCTTKronGetBlockSize(PC, PetscInt *);

#endif
