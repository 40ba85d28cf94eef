#ifndef PETSCTTKSP_H
#define PETSCTTKSP_H

#include <petscksp.h>
#include <petscttpc.h>

#define KSPTTGMRES "ttgmres"

PETSCTT_EXTERN PetscErrorCode KSPTTGMRESSetRestart(KSP, PetscInt);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESGetRestart(KSP, PetscInt *);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESSetWindow(KSP, PetscInt);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESGetWindow(KSP, PetscInt *);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESSetFlexible(KSP, PetscBool);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESGetTrueResidualNorm(KSP, PetscReal *);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESGetRankLimited(KSP, PetscBool *);
PETSCTT_EXTERN PetscErrorCode KSPTTGMRESGetLastBasisVec(KSP, Vec *);

PETSCTT_EXTERN PetscErrorCode KSPMonitorTTReplaceResidual(KSP, PetscInt, PetscReal, void *);

#endif
