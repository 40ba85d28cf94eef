#ifndef PETSCTT_EPS_IMPLS_BVTT_HPP
#define PETSCTT_EPS_IMPLS_BVTT_HPP

// BVTT: basis vectors of type VECTT. Reaches the numbers through the C interface of libpetsctt only, which it is linked to.
#include "petsctteps.h"
#include "sys/compat.hpp"

#include <slepc/private/bvimpl.h>

#include <vector>

namespace petsctt {

struct BVTensorTrain {
  Vec      *V = nullptr;          // constraints, then columns; of a split BV: inside the parent's
  Vec       master   = nullptr;   // what the columns are duplicates of; has the tolerance that they share with each other and with SLEPc's own vectors
  bool      rtol_set = false;     // by the user
};

inline BVTensorTrain &data_of(BV bv) { return *static_cast<BVTensorTrain *>(bv->data); }
inline Vec           *columns_of(BV bv) { return data_of(bv).V + bv->nc; } // column j at [j], constraints before

// y_j := beta y_j + sum_i C_ij x_i with the tolerance of bv.
PetscErrorCode bvtt_combine(BV bv, PetscInt n, Vec y[], PetscScalar beta, PetscInt m, const PetscScalar C[], PetscInt ldc, const Vec x[]);

// Operations, by file.
PetscErrorCode BVMult_TT(BV, PetscScalar, PetscScalar, BV, Mat);     // combine.cxx
PetscErrorCode BVMultVec_TT(BV, PetscScalar, PetscScalar, Vec, PetscScalar *);
PetscErrorCode BVMultInPlace_TT(BV, Mat, PetscInt, PetscInt);
PetscErrorCode BVMultInPlaceTranspose_TT(BV, Mat, PetscInt, PetscInt);
PetscErrorCode BVGramSchmidt_TT(BV, PetscInt, Vec, PetscBool *, PetscScalar *, PetscScalar *, PetscReal *, PetscReal *); // orthogonalize.cxx
void           bvtt_set_columnwise_ops(BVOps ops);                   // columnwise.cxx

} // namespace petsctt

PETSC_EXTERN PetscErrorCode BVCreate_TT(BV);

#endif
