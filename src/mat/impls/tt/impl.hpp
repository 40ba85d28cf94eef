#ifndef PETSCTT_MAT_IMPLS_TT_IMPL_HPP
#define PETSCTT_MAT_IMPLS_TT_IMPL_HPP

// Inside src/mat/impls/tt only.
#include <petscsf.h>

#include "mat/impls/tt/blocks.hpp"
#include "mat/mattt.hpp"
#include "sys/agree.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "sys/handle.hpp"
#include "sys/log.hpp"

#include <memory>
#include <petsc/private/matimpl.h>
#include <string>
#include <vector>

namespace petsctt {

// Diagonal matrices on one mode: the entries core(a, i, b) of a core of a TT vector at fixed a and b, i running over the indices of this
// process. Number first + a + r0 b of the mode. They never change, so that copies of the operator share them.
struct DiagonalCore {
  std::shared_ptr<const Buffer> values; // n x (r0 r1)
  Int                           r0, r1, n, first;
};

// The factors of one mode: the user's Mats, referenced, each once, and diagonals that belong to the operator.
struct Factors {
  std::vector<DiagonalCore>     diagonals; // ascending in `first`
  std::vector<Mat>              user;   // as given
  std::vector<Mat>              ready;  // what is applied: user[f], or its redundant copy on a replicated mode; null = not made yet
  std::vector<PetscObjectState> state;  // of user[f] when ready[f] was copied
  std::vector<PetscObjectState> frozen; // of user[f] when MatTTCompress() made coefficients of its values; -1: it never did
};

struct MatTT {
  SpacePtr             space;
  std::vector<Factors> factors;    // by mode
  BlockTrain           given;      // what the user built: terms added or blocks set
  bool                 block_form = false; // MatTTSetBlockRanks was called
  bool                 merged     = false; // `used` is up to date
  BlockTrain           used;       // `given` with equal states merged: what is applied
  Real                 compress_rtol = -1; // -mat_tt_compress
  std::vector<PetscInt> ranks_out, modes_out; // storage behind MatTTGetBlockRanks, MatTTGetModes
  ~MatTT();
};

inline MatTT &data_of(Mat A) { return *static_cast<MatTT *>(A->data); }

// The modes are set (PETSC_ERR_ARG_WRONGSTATE else).
PetscErrorCode require_modes(Mat A);
PetscErrorCode set_space(Mat A, const SpacePtr &space);
// Every change of the operator ends here: drops the merged form and raises the object state.
PetscErrorCode operator_changed(Mat A);
// Brings `used` and the factors that occur in it up to date. Collective.
PetscErrorCode prepare(Mat A);
// The number of M among the factors of mode k, added when new; identity_factor for null.
PetscErrorCode factor_index(MatTT &t, Int k, Mat M, Int *f);
// "" or why M cannot be a factor of mode k (local check).
std::string    why_not_factor(const Space &space, Int k, Mat M);
void           release_factors(MatTT &t);
PetscErrorCode copy_operator(Mat from, Mat to); // same space

// The number of the first of the diagonals, which are added to those of the mode unless they are there already.
Int           add_diagonals(Factors &mode, const std::shared_ptr<const Buffer> &values, Int r0, Int r1, Int n);
// Entries of diagonal factor f that this process owns.
const Scalar *diagonal_entries(const Factors &mode, Int f);
// Y(:, i, :) := or += c d_i X(:, i, :) for a block of a core: column (i, b) of the block starts at y + ld (i + n b). `conjugated`: conj(d_i).
void          apply_diagonal_factor(const Scalar *d, bool conjugated, Scalar c, const Core &X, Scalar *y, Count ld, bool add);
// Factor f of mode k, also one that is no Mat, as a new reference to an AIJ matrix as applied: it must not be changed. Collective.
PetscErrorCode factor_as_aij(const MatTT &t, Int k, Int f, Mat *out);

// The communicator of mode k's factors as applied: that of the operator, or PETSC_COMM_SELF on a replicated mode.
MPI_Comm mode_comm(const Space &space, Int k);
// M as a new reference to an AIJ matrix of the same layout: itself, converted, or by applying it to unit vectors (small ones).
PetscErrorCode as_aij(Mat M, Mat *out);
// The same on one process, complete on every process.
PetscErrorCode as_redundant_aij(Mat M, Mat *out);
// Local part (rows of this process) of the diagonal.
PetscErrorCode diagonal_of(Mat M, Int n, Scalar *diagonal);
PetscBool      is_type(Mat M, const char *base);
PetscBool      is_diagonal_type(Mat M);

// The coefficients of the operator as a small replicated train whose mode k is an orthonormal basis (Frobenius) of the span of the
// factors of mode k: its norm is the norm of the operator, rounding it compresses the operator. Basis vector b of mode k is
// sum over f of inverse[k][b + m f] times factor number list[k][f].
struct CoefficientTrain {
  Train                            train;
  std::vector<std::vector<Int>>    list;
  std::vector<std::vector<Scalar>> inverse;
  std::vector<Int>                 m; // sizes of the bases
};
PetscErrorCode coefficient_train(Mat A, CoefficientTrain &out);
// Where factor f of mode k stands in a list of all of them: matrices, the identity, diagonals; and how long such a list is.
std::size_t    factor_place(const MatTT &t, Int k, Int f);
std::size_t    factor_places(const MatTT &t, Int k);
// Weight of each factor of mode k that occurs: the mean of its diagonal, or its diagonal entry number `at` when that is >= 0. The same on all
// processes. Collective.
PetscErrorCode factor_weights(const MatTT &t, Int k, PetscInt at, std::vector<Scalar> &w);
// M := sum over f of c[factor_place(f)] times factor f of mode k: a new AIJ matrix on mode_comm() with an explicit diagonal. Collective.
PetscErrorCode factor_sum(const MatTT &t, Int k, const std::vector<Scalar> &c, Mat *M);
PetscErrorCode compress(Mat A, Real rtol);
PetscErrorCode frobenius_norm(Mat A, Scaled &norm);

// AIJ and dense application; Y is allocated. Collective on M.
PetscErrorCode apply_aij(Mat M, Apply how, const Core &X, Core &Y);
PetscErrorCode apply_dense(Mat M, Apply how, const Core &X, Core &Y);

// the operation table, by file
PetscErrorCode MatMult_TT(Mat, Vec, Vec);
PetscErrorCode MatMultAdd_TT(Mat, Vec, Vec, Vec);
PetscErrorCode MatMultTranspose_TT(Mat, Vec, Vec);
PetscErrorCode MatMultTransposeAdd_TT(Mat, Vec, Vec, Vec);
PetscErrorCode MatMultHermitianTranspose_TT(Mat, Vec, Vec);
PetscErrorCode MatMultHermitianTransposeAdd_TT(Mat, Vec, Vec, Vec);
PetscErrorCode MatResidual_TT(Mat, Vec, Vec, Vec);
PetscErrorCode MatScale_TT(Mat, PetscScalar);
PetscErrorCode MatShift_TT(Mat, PetscScalar);
PetscErrorCode MatAXPY_TT(Mat, PetscScalar, Mat, MatStructure);
PetscErrorCode MatAYPX_TT(Mat, PetscScalar, Mat, MatStructure);
PetscErrorCode MatZeroEntries_TT(Mat);
PetscErrorCode MatCopy_TT(Mat, Mat, MatStructure);
PetscErrorCode MatDuplicate_TT(Mat, MatDuplicateOption, Mat *);
PetscErrorCode MatTranspose_TT(Mat, MatReuse, Mat *);
PetscErrorCode MatConjugate_TT(Mat);
PetscErrorCode MatIsSymmetric_TT(Mat, PetscReal, PetscBool *);
PetscErrorCode MatIsHermitian_TT(Mat, PetscReal, PetscBool *);
PetscErrorCode MatGetDiagonal_TT(Mat, Vec);
PetscErrorCode MatDiagonalSet_TT(Mat, Vec, InsertMode);
PetscErrorCode MatNorm_TT(Mat, NormType, PetscReal *);
PetscErrorCode MatGetInfo_TT(Mat, MatInfoType, MatInfo *);
PetscErrorCode MatView_TT(Mat, PetscViewer);
PetscErrorCode MatView_TT_Binary(Mat, PetscViewer);
PetscErrorCode MatView_TT_HDF5(Mat, PetscViewer);
PetscErrorCode MatLoad_TT(Mat, PetscViewer);
PetscErrorCode MatLoad_TT_Binary(Mat, PetscViewer);
PetscErrorCode MatLoad_TT_HDF5(Mat, PetscViewer);
PetscErrorCode MatConvert_TT_AIJ(Mat, MatType, MatReuse, Mat *);

} // namespace petsctt

#endif
