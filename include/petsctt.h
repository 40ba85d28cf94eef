#ifndef PETSCTT_H
#define PETSCTT_H

/* PETScTT: tensor-train vectors, operators and solvers for PETSc. This header includes all the others. */
#include <petscttdm.h>
#include <petscttksp.h>
#include <petscttlu.h>
#include <petscttmat.h>
#include <petscttpc.h>
#include <petscttsys.h>
#include <petscttvec.h>

#endif
