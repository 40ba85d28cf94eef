#ifndef PETSCTTEPS_H
#define PETSCTTEPS_H

/* Eigenvalues with SLEPc: the library libpetsctt_slepc, which is built where SLEPc is found. petsctt.h does not include this header. */
#include <petscttksp.h>
#include <slepceps.h>

#define BVTT "tt"

PETSCTT_EXTERN PetscErrorCode PetscTTInitializeSlepc(void);

PETSCTT_EXTERN PetscErrorCode BVTTSetRoundRtol(BV, PetscReal);
PETSCTT_EXTERN PetscErrorCode BVTTGetRoundRtol(BV, PetscReal *);

PETSCTT_EXTERN PetscErrorCode EPSTTGetResidualNorm(EPS, PetscInt, PetscReal *);

#endif
