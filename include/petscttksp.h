#ifndef PETSCTTKSP_H
#define PETSCTTKSP_H

#include <petscksp.h>
#include <petscttpc.h>

#define KSPTTGMRES "ttgmres"

#endif
