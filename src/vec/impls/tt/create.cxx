#include "vec/impls/tt/ttimpl.hpp"

#include <cmath>
#include <vector>

namespace petsctt {

PetscErrorCode sizes_agree(Vec v, const Space &space, bool *agree, std::string &why)
{
  PetscInt n, N, ok;

  PetscFunctionBegin;
  PetscCall(nominal_sizes(space, &n, &N, nullptr));
  ok = v->map->N == N && v->map->n == n;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &ok, 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)v)));
  *agree = ok;
  if (!ok)
    why = "the modes " + space.describe() + " make vectors of nominal size " + std::to_string((long long)N) + " split evenly over the processes, this vector has size " +
          std::to_string((long long)v->map->N) + " and local size " + std::to_string((long long)v->map->n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// What VecCreate_TT() shall use instead of asking the options: set around VecSetType() by the functions that know it.
struct Creating {
  const SpacePtr    *space  = nullptr;
  const RoundPolicy *policy = nullptr;
};
Creating creating;

struct CreatingScope {
  CreatingScope(const SpacePtr *space, const RoundPolicy *policy) { creating = {space, policy}; }
  ~CreatingScope() { creating = {}; }
};

// PETSc hands out one inner communicator for every object on PETSC_COMM_SELF.
PetscErrorCode on_comm_self(Vec v, bool *yes)
{
  MPI_Comm inner;

  PetscFunctionBegin;
  PetscCall(PetscCommDuplicate(PETSC_COMM_SELF, &inner, nullptr));
  *yes = inner == PetscObjectComm((PetscObject)v);
  PetscCall(PetscCommDestroy(&inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The n with n^d = N, or 0.
PetscInt integer_root(PetscInt N, PetscInt d)
{
  const PetscInt guess = (PetscInt)std::llround(std::pow((double)N, 1.0 / (double)d));
  for (PetscInt n = std::max<PetscInt>(1, guess - 1); n <= guess + 1; ++n) {
    PetscInt rest = N, k = 0;
    for (; k < d && rest % n == 0 && rest >= n; ++k) rest /= n;
    if (k == d && rest == 1) return n;
  }
  return 0;
}

// The modes from -vec_tt_modes, or from -vec_tt_dim and the size of v; null, and the reason in `why`, when they do not say. Collective.
PetscErrorCode modes_from_options(Vec v, SpacePtr *space, std::string &why)
{
  const char           *prefix = ((PetscObject)v)->prefix;
  PetscInt              m      = 4096, d = 0;
  std::vector<PetscInt> N(m);
  PetscBool             have_modes, have_dim;
  SpacePtr              s;
  bool                  agree;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetIntArray(((PetscObject)v)->options, prefix, "-vec_tt_modes", N.data(), &m, &have_modes));
  PetscCall(PetscOptionsGetInt(((PetscObject)v)->options, prefix, "-vec_tt_dim", &d, &have_dim));
  if (!have_modes && !have_dim) PetscFunctionReturn(PETSC_SUCCESS);
  if (have_modes) {
    if (have_dim) PetscCheck(d == m, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_INCOMP, "-vec_tt_dim %" PetscInt_FMT ", but -vec_tt_modes lists %" PetscInt_FMT " modes", d, m);
    d = m;
  } else {
    PetscCheck(d >= 1, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "-vec_tt_dim %" PetscInt_FMT " must be at least 1", d);
    const PetscInt n = integer_root(v->map->N, d);
    if (!n) {
      why = "-vec_tt_dim " + std::to_string((long long)d) + ": the size " + std::to_string((long long)v->map->N) + " is not a power " + std::to_string((long long)d) + " of an integer";
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    N.assign(d, n);
  }
  PetscCall(make_space(PetscObjectComm((PetscObject)v), d, nullptr, N.data(), &s));
  PetscCall(sizes_agree(v, *s, &agree, why));
  if (agree) *space = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecGetSize_TT(Vec v, PetscInt *N)
{
  PetscFunctionBegin;
  *N = v->map->N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void set_ops(_VecOps *ops)
{
  ops->duplicate      = VecDuplicate_TT;
  ops->duplicatevecs  = VecDuplicateVecs_TT;
  ops->destroyvecs    = VecDestroyVecs_TT;
  ops->destroy        = VecDestroy_TT;
  ops->getsize        = VecGetSize_TT;
  ops->setfromoptions = VecSetFromOptions_TT;
  ops->view           = VecView_TT;
  ops->load           = VecLoad_TT;
  set_arithmetic_ops(ops);
  set_reduction_ops(ops);
  set_unsupported_ops(ops);
  set_error_norm_ops(ops);
}

} // namespace

PetscErrorCode set_space(Vec v, const SpacePtr &space)
{
  PetscInt    n, N;
  PetscLayout map;

  PetscFunctionBegin;
  PetscCall(nominal_sizes(*space, &n, &N, nullptr));
  if (v->map->n != n || v->map->N != N || v->map->rstart < 0) {
    PetscCall(PetscLayoutCreate(PetscObjectComm((PetscObject)v), &map));
    PetscCall(PetscLayoutSetLocalSize(map, n));
    PetscCall(PetscLayoutSetSize(map, N));
    PetscCall(PetscLayoutSetUp(map));
    PetscCall(PetscLayoutDestroy(&v->map));
    v->map = map;
  }
  VecTT &x = impl(v);
  PetscCallTT({
    x.train = Train(space);
    x.N.clear();
    for (Int k = 0; k < space->d(); ++k) x.N.push_back(space->N(k));
  });
  x.space   = space;
  x.pending = Buffer();
  refuse_array(v);
  PetscCall(remember_layout(v->map, space));
  PetscCall(train_changed(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode build(Vec v, const SpacePtr &space)
{
  PetscInt n, N;

  PetscFunctionBegin;
  PetscCall(nominal_sizes(*space, &n, &N, nullptr));
  if (v->map->n < 0 && v->map->N < 0) {
    v->ops->create = nullptr; // a type asked for before the sizes were known: it is made below
    PetscCall(VecSetSizes(v, n, N));
  }
  CreatingScope scope(&space, nullptr);
  PetscCall(VecSetType(v, VECTT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode convert(Vec v, const SpacePtr &space)
{
  PetscFunctionBegin;
  PetscTryTypeMethod(v, destroy);
  PetscCall(PetscObjectComposeFunction((PetscObject)v, "VecTTSetModes_C", nullptr));
  CreatingScope scope(&space, nullptr);
  PetscCall(VecCreate_TT(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

using namespace petsctt;

PetscErrorCode VecDestroy_TT(Vec v)
{
  PetscFunctionBegin;
  delete static_cast<VecTT *>(v->data);
  v->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDuplicate_TT(Vec v, Vec *out)
{
  Vec w;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecDuplicate"));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), &w));
  PetscCall(PetscLayoutReference(v->map, &w->map));
  {
    CreatingScope scope(&impl(v).space, &impl(v).policy);
    PetscCall(VecSetType(w, VECTT));
  }
  // what other parts of PETSc have attached, a DM for instance, as the standard types do
  PetscCall(PetscObjectListDuplicate(((PetscObject)v)->olist, &((PetscObject)w)->olist));
  PetscCall(PetscFunctionListDuplicate(((PetscObject)v)->qlist, &((PetscObject)w)->qlist));
  *out = w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDuplicateVecs_TT(Vec v, PetscInt m, Vec *out[])
{
  PetscFunctionBegin;
  PetscCheck(m >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "Number of vectors %" PetscInt_FMT " is negative", m);
  PetscCall(PetscMalloc1(PetscMax(m, 1), out));
  for (PetscInt i = 0; i < m; ++i) PetscCall(VecDuplicate(v, *out + i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecDestroyVecs_TT(PetscInt m, Vec v[])
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < m; ++i) PetscCall(VecDestroy(&v[i]));
  PetscCall(PetscFree(v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  VECTT - VECTT = "tt" - A vector whose entries are those of a d-dimensional array in tensor-train form

  Options Database Keys:
+ -vec_type tt                     - sets the type in `VecSetFromOptions()`
. -vec_tt_modes <N0,N1,...>        - sizes of the modes, for programs that do not call `VecTTSetModes()`; the size of the vector must be
                                     the nominal one of these modes
. -vec_tt_dim <d>                  - d equal modes whose product is the size of the vector
. -vec_tt_round_type <auto>        - method of rounding: qr, gram, randomized, auto; see `VecTTSetRoundType()`
. -vec_tt_round_rtol <rtol>        - relative Frobenius error that one rounding may make
. -vec_tt_max_rank <0>             - cap on the TT ranks, 0 for none
. -vec_tt_round_seed <seed>        - seed of randomized roundings
. -vec_tt_round_form_sums <no>     - form sums with all their entries before they are rounded: slower and larger, to compare with
. -vec_tt_random_rank <2>          - TT ranks of the vectors that `VecSetRandom()` makes
- -tt_replicate_max <32>           - modes up to this size are stored on every process unless said otherwise; no prefix

  Level: beginner

  Notes:
  The global size is the product of the modes when it fits a `PetscInt`, otherwise their sum; the local size is PETSc's even split of
  it. Both are nominal: cores are distributed by modes. Where the size is the sum, `VecSet()` with a value other than zero and `VecSum()`
  are refused, since PETSc would derive wrong norms and means from that size; use `VecTTSetConstant()` and `VecTTContractAll()`.

  Sums and products increase the TT ranks and are rounded by the policy of the vector that takes the result; duplicates inherit
  it. When no tolerance is given it is tied to that of the solver: 1e-3 times the -ksp_rtol in the options database (with the prefix
  of the vector, else without; 1e-5 when there is none), but not less than 1e-13. With -ksp_rtol 1e-8 vectors are rounded to 1e-11. A smaller -snes_rtol
  or -ts_rtol counts in its place, and a vector given to a `SNES` learns of the tolerance of that solver in `SNESSolve()`, also when it is
  the default, 1e-8: the residual of Newton's method is a difference of rounded terms and does not fall below the rounding errors of these.

  Operations that need an array (`VecGetArray()`, `VecSetValues()`, scatters, pointwise division and the like) are not supported;
  the errors name what to call instead.

  `VecView()` and `VecLoad()` write and read PETSc's binary and HDF5 files, on any number of processes; docs/files.md describes them. `VecTTLoad()` reads both
  into a vector without modes and gives it those of the file. `VecLoad()` of a binary file works for vectors that are of this type, with or without modes, and
  for vectors without type when -vec_type tt is in the options database; of an HDF5 file for vectors with modes or sizes. A vector on `PETSC_COMM_SELF` which is given this type but no modes
  becomes a sequential one until `VecTTSetModes()` is called: PETSc and SLEPc create coefficient arrays in this way. A vector that is given this type on
  the `PetscLayout` of another one gets the modes of that one, see `VecTTShareLayout()`.

  A vector of this type that has modes, or at least sizes, looks at the file before anything is read: if it is truncated, or no TT vector, `VecLoad()`
  fails on all processes alike and the program can go on. Into a vector without sizes PETSc itself reads the header and the data, and makes the vector
  of our type in between: it finds the end of a truncated file on process 0 alone, and the other processes wait for it until the error
  has ended the program. A program that is to survive such a file calls `VecTTLoad()`, or gives the vector its modes first.

.seealso: `VecCreateTT()`, `VecTTSetModes()`, `VecTTLoad()`, `VecTTSetRankOne()`, `VecTTRound()`, `VecTTGetRoundingInfo()`, `MATTT`, `KSPTTGMRES`
M*/
PetscErrorCode VecCreate_TT(Vec v)
{
  SpacePtr           space;
  const RoundPolicy *policy = creating.policy;
  std::string        why;
  const bool         deferred = v->ops->create == VecCreate_TT; // the type was set before the sizes: a VecLoad() may be under way

  PetscFunctionBegin;
  PetscCall(PetscTTInitializePackage());
  PetscCall(PetscLayoutSetUp(v->map));
  if (creating.space) space = *creating.space;
  else recall_layout(v->map, &space, &policy);
  if (!space) {
    bool self = false;
    PetscCall(modes_from_options(v, &space, why));
    PetscCall(on_comm_self(v, &self));
    if (!space && self && !deferred) { // see the notes above
      PetscCall(VecSetType(v, VECSEQ));
      PetscCall(PetscObjectComposeFunction((PetscObject)v, "VecTTSetModes_C", convert)); // the modes may come yet
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }

  VecTT *x = nullptr;
  PetscCallTT(x = new VecTT);
  PetscCall(PetscMemzero(v->ops, sizeof(*v->ops)));
  v->data        = x;
  v->petscnative = PETSC_FALSE;
  set_ops(v->ops);
  PetscCall(PetscObjectChangeTypeName((PetscObject)v, VECTT));
  if (policy) x->policy = *policy;
  else PetscCall(read_policy(v, x->policy));
  if (space) PetscCall(set_space(v, space));
  else {
    x->why_no_modes      = why;
    v->ops->getarray     = VecGetArray_TTPending;
    v->ops->restorearray = VecRestoreArray_TTPending;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
