#ifndef PETSCTT_VEC_IMPLS_TT_TTIMPL_HPP
#define PETSCTT_VEC_IMPLS_TT_TTIMPL_HPP

// The implementation of VECTT; seen inside src/vec only.
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "vec/vectt.hpp"

#include <petsc/private/vecimpl.h>

#include <memory>
#include <string>

namespace petsctt {

// How sums and products are rounded; inherited by duplicates. Not a copy of RoundOptions because the tolerance may be tied to
// that of the solver, which is looked up when it is needed.
struct RoundPolicy {
  RoundType     type     = RoundType::automatic;
  bool          rtol_set = false;
  Real          rtol     = 0; // when rtol_set
  Real          solver_rtol = 0; // of a solver that said so by tie_rounding(); 0: none
  std::shared_ptr<Real> shared_rtol; // in place of it, when set: that of all vectors which have the same pointer
  Int           max_rank = 0; // 0: no cap
  std::uint64_t seed     = 0x5eed;
  bool          formed   = false; // sums are formed before they are rounded
  Int           random_rank = 2; // TT ranks of what VecSetRandom() makes
  std::string   prefix;       // of the vector the policy was made for: where -ksp_rtol is looked up first
};

// What v->data points to. `pending` is used only while the modes are not known: it takes in the array of a file which
// VecLoad() of an untyped or unsized vector reads before it can know that it holds a tensor train (load.cxx).
struct VecTT {
  Train             train;
  SpacePtr          space; // null: modes not set
  RoundPolicy       policy;
  VecTTRoundingInfo info{VEC_TT_ROUND_AUTO, 0, PETSC_FALSE, PETSC_FALSE, 1, 1, 0, 0, 0, {0, 0, 0}};
  std::vector<Int>  N, ranks; // what VecTTGetModes() and VecTTGetRanks() hand out
  Buffer            pending;
  std::string       why_no_modes; // what went wrong with the options that should have given them
  Int               cores_out = 0; // cores got by VecTTGetCoreRead() and not yet restored
};

inline VecTT &impl(Vec v)
{
  return *static_cast<VecTT *>(v->data);
}

// Makes v, whose type is not set, a VECTT over `space` with the zero train. Sizes that v has must be the nominal ones.
PetscErrorCode build(Vec v, const SpacePtr &space);
// Makes v, a vector of any type, a VECTT over `space` with the zero train and the nominal layout; what it held is lost.
PetscErrorCode convert(Vec v, const SpacePtr &space);
// The same for a VECTT whose modes are not set yet.
PetscErrorCode set_space(Vec v, const SpacePtr &space);
// Modes by layout (layouts.cxx). remember_layout(): vectors on `map` are over `space`; recall_layout() leaves its arguments as they are when
// nothing, or more than one space, is known of the layout. Not collective.
PetscErrorCode remember_layout(PetscLayout map, const SpacePtr &space);
void           recall_layout(PetscLayout map, SpacePtr *space, const RoundPolicy **policy);
// VecGetArray() of v, whose modes are set, is refused from now on.
void refuse_array(Vec v);
// The error of VecGetArrayRead().
PetscErrorCode refuse_array_read(Vec v);

// Do the sizes that v has agree with the nominal ones of `space`? `why` says what differs. Collective.
PetscErrorCode sizes_agree(Vec v, const Space &space, bool *agree, std::string &why);

// x and y are VECTT with the same modes; `what` names the operation.
PetscErrorCode require_same(Vec x, Vec y, const char *what);

PetscErrorCode read_policy(Vec v, RoundPolicy &policy); // from the options database, with the prefix of v
Real           effective_rtol(const RoundPolicy &policy);
VecTTRoundType to_public(RoundType type);
RoundType      from_public(VecTTRoundType type);

// y := sum of the terms: rounded with y's policy when there is more than one, exact otherwise. y may be among them.
PetscErrorCode assign_combination(Vec y, const std::vector<Term> &terms);
// y := round(x).
PetscErrorCode assign_rounded(Vec y, Train &&x);

// What a file says of a TT vector beside its cores.
struct StoredTrain {
  bool             zero = false;
  Scaled           scale;
  Int              left = 0, right = 0;
  std::vector<Int> N, kind, r; // kind: what VecTTSetModes() is given
};
// The space for it: a new one on the processes of `comm` when `space` is null, else `space`, whose modes must be the same. Collective.
PetscErrorCode space_for(const StoredTrain &h, MPI_Comm comm, SpacePtr *space);

// Makes v a VECTT over `space`, as VecTTSetModes() does.
PetscErrorCode adopt_space(Vec v, const SpacePtr &space);
// v := the TT vector that comes next in the file, or that has the name of v in it. Without modes v gets those of the file. Collective.
PetscErrorCode load_train(Vec v, PetscViewer viewer);

// PETSc's HDF5 viewer (hdf5.cxx). `space` null: the modes are those of the file.
PetscErrorCode view_hdf5(Vec v, PetscViewer viewer);
PetscErrorCode read_hdf5(Vec v, PetscViewer viewer, SpacePtr space, Train *x);

// Binary form (file.cxx): a TT vector as an ordinary vector of scalars, which any viewer of PETSc can carry.
PetscErrorCode pack(Vec v, Vec *packed);
// Back again. `space` null: the modes are those of the file, on the processes of `comm`. Collective.
PetscErrorCode unpack(Vec packed, MPI_Comm comm, SpacePtr space, Train *x);
// Does it begin as a packed TT vector does? Collective.
PetscErrorCode is_packed(Vec packed, bool *yes);
constexpr PetscInt packed_head = 8; // scalars that say what follows and how long it is
// What is wrong with these first scalars of a packed vector of so many entries; empty when nothing is. Not collective.
std::string wrong_head(const PetscScalar head[packed_head], PetscInt entries);

} // namespace petsctt

PETSC_EXTERN PetscErrorCode VecCreate_TT(Vec);
PETSC_EXTERN PetscErrorCode VecRegisterTTLoading(void);

// The operation table, by file.
PetscErrorCode VecDestroy_TT(Vec);                                 // create.cxx
PetscErrorCode VecDuplicate_TT(Vec, Vec *);
PetscErrorCode VecDuplicateVecs_TT(Vec, PetscInt, Vec *[]);
PetscErrorCode VecDestroyVecs_TT(PetscInt, Vec[]);
PetscErrorCode VecSetFromOptions_TT(Vec, petsctt::OptionItems);    // policy.cxx
PetscErrorCode VecView_TT(Vec, PetscViewer);                       // view.cxx
PetscErrorCode VecLoad_TT(Vec, PetscViewer);                       // load.cxx
PetscErrorCode VecGetArray_TTPending(Vec, PetscScalar **);
PetscErrorCode VecRestoreArray_TTPending(Vec, PetscScalar **);
void           set_arithmetic_ops(_VecOps *ops);                   // arith.cxx
void           set_reduction_ops(_VecOps *ops);                    // reduce.cxx
void           set_unsupported_ops(_VecOps *ops);                  // unsupported.cxx
void           set_error_norm_ops(_VecOps *ops);                   // error_norm.cxx, after the others

#endif
