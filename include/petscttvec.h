#ifndef PETSCTTVEC_H
#define PETSCTTVEC_H

#include <petscttsys.h>
#include <petscvec.h>

#define VECTT "tt"

/* How a mode is stored, given as its local size to VecCreateTT(), VecTTSetModes(), MatCreateTT(): */
#define PETSC_TT_AUTO        PETSC_DECIDE /* replicated when N[k] <= -tt_replicate_max (32), else distributed evenly */
#define PETSC_TT_REPLICATED  (-11)        /* every process stores the whole mode */
#define PETSC_TT_DISTRIBUTED (-12)        /* split evenly over the processes, as PETSc does */

typedef enum { VEC_TT_ROUND_QR, VEC_TT_ROUND_GRAM, VEC_TT_ROUND_RANDOMIZED, VEC_TT_ROUND_AUTO } VecTTRoundType;
PETSCTT_EXTERN const char *const VecTTRoundTypes[];

typedef struct {
  VecTTRoundType type;      /* the method that ran */
  PetscReal      error;     /* relative Frobenius error it made */
  PetscBool      estimated; /* the error is an estimate */
  PetscBool      cap_hit;   /* the rank cap kept the tolerance from being met */
  PetscInt       rank_in, rank_out;
  PetscLogDouble flops;               /* operations of this process in it */
  PetscInt       roundings, cap_hits; /* since creation of the vector */
  PetscInt       by_type[3];          /* roundings by each method, in the order of VecTTRoundType */
} VecTTRoundingInfo;

/* creation and modes */
PETSCTT_EXTERN PetscErrorCode VecCreateTT(MPI_Comm, PetscInt, const PetscInt[], const PetscInt[], Vec *);
PETSCTT_EXTERN PetscErrorCode VecTTSetModes(Vec, PetscInt, const PetscInt[], const PetscInt[]);
PETSCTT_EXTERN PetscErrorCode VecTTLoad(Vec, PetscViewer);
PETSCTT_EXTERN PetscErrorCode VecTTGetModes(Vec, PetscInt *, const PetscInt *[]);
PETSCTT_EXTERN PetscErrorCode VecTTGetModeOwnership(Vec, PetscInt, PetscBool *, PetscInt *, PetscInt *);
PETSCTT_EXTERN PetscErrorCode VecTTCreateModeVec(Vec, PetscInt, Vec *);
PETSCTT_EXTERN PetscErrorCode VecTTGetFullSize(Vec, PetscReal *, PetscReal *);
PETSCTT_EXTERN PetscErrorCode VecTTShareLayout(Vec);

/* values */
PETSCTT_EXTERN PetscErrorCode VecTTSetConstant(Vec, PetscScalar);
PETSCTT_EXTERN PetscErrorCode VecTTSetRankOne(Vec, const Vec[]);
PETSCTT_EXTERN PetscErrorCode VecTTSetRandom(Vec, const PetscInt[], PetscInt64);
PETSCTT_EXTERN PetscErrorCode VecTTSetCores(Vec, const PetscInt[], const PetscScalar *const[]);
PETSCTT_EXTERN PetscErrorCode VecTTGetRanks(Vec, const PetscInt *[]);
PETSCTT_EXTERN PetscErrorCode VecTTGetCoreRead(Vec, PetscInt, PetscInt *, PetscInt *, PetscInt *, const PetscScalar **);
PETSCTT_EXTERN PetscErrorCode VecTTRestoreCoreRead(Vec, PetscInt, PetscInt *, PetscInt *, PetscInt *, const PetscScalar **);
PETSCTT_EXTERN PetscErrorCode VecTTGetScale(Vec, PetscScalar *, PetscInt64 *);
PETSCTT_EXTERN PetscErrorCode VecTTSetFull(Vec, Vec);
PETSCTT_EXTERN PetscErrorCode VecTTGetFull(Vec, Vec *);
PETSCTT_EXTERN PetscErrorCode VecTTGetEntries(Vec, PetscInt, const PetscInt[], PetscScalar[]);
PETSCTT_EXTERN PetscErrorCode VecTTExtract(Vec, PetscInt, const PetscInt[], Vec);
PETSCTT_EXTERN PetscErrorCode VecTTContract(Vec, const PetscBool[], const Vec[], Vec *);
PETSCTT_EXTERN PetscErrorCode VecTTContractAll(Vec, const Vec[], PetscScalar *);

/* many linear combinations at once */
PETSCTT_EXTERN PetscErrorCode VecTTCombine(PetscInt, Vec[], PetscScalar, PetscInt, const PetscScalar[], PetscInt, const Vec[], PetscReal);

/* norms in log form, orthogonality, rounding */
PETSCTT_EXTERN PetscErrorCode VecTTNormLog10(Vec, PetscReal *);
PETSCTT_EXTERN PetscErrorCode VecTTDotLog10(Vec, Vec, PetscScalar *, PetscReal *);
PETSCTT_EXTERN PetscErrorCode VecTTOrthogonalize(Vec, PetscInt);
PETSCTT_EXTERN PetscErrorCode VecTTGetOrthogonality(Vec, PetscInt *, PetscInt *);
PETSCTT_EXTERN PetscErrorCode VecTTRound(Vec, PetscReal, PetscInt, PetscReal *);
PETSCTT_EXTERN PetscErrorCode VecTTSetRoundRtol(Vec, PetscReal);
PETSCTT_EXTERN PetscErrorCode VecTTGetRoundRtol(Vec, PetscReal *);
PETSCTT_EXTERN PetscErrorCode VecTTShareRoundRtol(Vec, PetscReal);
PETSCTT_EXTERN PetscErrorCode VecTTRoundRtolIsShared(Vec, PetscBool *);
PETSCTT_EXTERN PetscErrorCode VecTTSetMaxRank(Vec, PetscInt);
PETSCTT_EXTERN PetscErrorCode VecTTGetMaxRank(Vec, PetscInt *);
PETSCTT_EXTERN PetscErrorCode VecTTSetRoundType(Vec, VecTTRoundType);
PETSCTT_EXTERN PetscErrorCode VecTTGetRoundType(Vec, VecTTRoundType *);
PETSCTT_EXTERN PetscErrorCode VecTTSetRoundSeed(Vec, PetscInt64);
PETSCTT_EXTERN PetscErrorCode VecTTGetRoundSeed(Vec, PetscInt64 *);
PETSCTT_EXTERN PetscErrorCode VecTTGetRoundingInfo(Vec, VecTTRoundingInfo *);

#endif
