#ifndef PETSCTT_MAT_MATTT_HPP
#define PETSCTT_MAT_MATTT_HPP

// How the layers above reach the blocks of a MATTT. Nothing else of its implementation is visible outside src/mat.
#include "petscttmat.h"
#include "tt/ops/lazy.hpp"
#include "tt/train.hpp"

#include <memory>
#include <vector>

namespace petsctt {

enum class Apply { plain, transpose, hermitian };

PetscBool      is_mattt(Mat A);
PetscErrorCode require_mattt(Mat A, const char *what);

// y := A x (or A^T x, A^H x), TT ranks multiplied, not rounded. Collective.
PetscErrorCode apply(Mat A, Apply how, const Train &x, Train &y);

// The same product as a lazy train: blocks are applied when it is contracted with something, nothing of size S r is stored.
// A and x are borrowed and must not change while y lives. Collective.
PetscErrorCode lazy_apply(Mat A, Apply how, const Train &x, std::unique_ptr<LazyTrain> &y);

const SpacePtr &space_of(Mat A);

// The matrices that occur on mode k, each once, identities left out, in the form in which they are applied: on a replicated mode one
// process's copy. The references belong to A. Collective.
PetscErrorCode mode_factors(Mat A, Int k, std::vector<Mat> &factors);

// The sum of the object states of the matrices that A is made of: larger after any of them has changed. On replicated modes every
// process counts its own. Not collective.
PetscErrorCode factor_states(Mat A, PetscObjectState *sum);

// Y := M X for a block of columns given in core layout: X and Y are r0 x n x r1 cores of one mode (n rows owned by this
// process), M acts on the middle index. AIJ fast path, MatMatMult/MatMult otherwise. Collective on the mode's matrix.
PetscErrorCode apply_mode(Mat M, Apply how, const Core &X, Core &Y);

} // namespace petsctt

#endif
