#ifndef PETSCTTMAT_H
#define PETSCTTMAT_H

#include <petscmat.h>
#include <petscttvec.h>

#define MATTT "tt"

PETSCTT_EXTERN PetscErrorCode MatCreateTT(MPI_Comm, PetscInt, const PetscInt[], const PetscInt[], Mat *);
PETSCTT_EXTERN PetscErrorCode MatTTSetModes(Mat, PetscInt, const PetscInt[], const PetscInt[]);
PETSCTT_EXTERN PetscErrorCode MatTTGetModes(Mat, PetscInt *, const PetscInt *[]);
PETSCTT_EXTERN PetscErrorCode MatTTAddTerm(Mat, PetscScalar, const Mat[]);
PETSCTT_EXTERN PetscErrorCode MatTTAddDiagonalVec(Mat, PetscScalar, Vec);
PETSCTT_EXTERN PetscErrorCode MatTTSetBlockRanks(Mat, const PetscInt[]);
PETSCTT_EXTERN PetscErrorCode MatTTSetBlock(Mat, PetscInt, PetscInt, PetscInt, PetscScalar, Mat);
PETSCTT_EXTERN PetscErrorCode MatTTGetBlockRanks(Mat, const PetscInt *[]);
PETSCTT_EXTERN PetscErrorCode MatTTGetBlock(Mat, PetscInt, PetscInt, PetscInt, PetscScalar *, Mat *);
PETSCTT_EXTERN PetscErrorCode MatTTCompress(Mat, PetscReal);
PETSCTT_EXTERN PetscErrorCode MatTTNormLog10(Mat, PetscReal *);
PETSCTT_EXTERN PetscErrorCode MatTTGetProjectedMode(Mat, PetscInt, const PetscInt[], Mat *);
PETSCTT_EXTERN PetscErrorCode MatTTGetNearestKronecker(Mat, const PetscBool[], Mat[], PetscReal *);
PETSCTT_EXTERN PetscErrorCode MatTTGetAssembled(Mat, Mat *);

#endif
