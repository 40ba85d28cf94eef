// What fills a TT vector, and access to its cores.
#include "sys/handle.hpp"
#include "sys/log.hpp"
#include "tt/ops/fill.hpp"
#include "tt/ops/full.hpp"
#include "vec/interface/check.hpp"

#include <algorithm>

using namespace petsctt;

namespace {
constexpr double most_full_entries = 2.5e8; // of a tensor that one process, or every one, holds in full
} // namespace

/*@
  VecTTSetConstant - Sets all entries to one value

  Logically Collective

  Input Parameters:
+ v - the TT vector
- a - the value

  Level: beginner

  Notes:
  Works for any modes, unlike `VecSet()`, which is refused where the number of entries does not fit a `PetscInt`.

.seealso: `VECTT`, `VecTTSetRankOne()`, `VecShift()`
@*/
PetscErrorCode VecTTSetConstant(Vec v, PetscScalar a)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetConstant"));
  Train x;
  PetscCallTT(x = constant(space_of(v), a));
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTSetRankOne - Sets a TT vector to the outer product of one vector per mode

  Collective

  Input Parameters:
+ v    - the TT vector
- vecs - d ordinary vectors, one over each mode as `VecTTCreateModeVec()` makes them; a vector that is `NULL` stands for ones, as does `NULL`
         for all of them

  Level: beginner

  Notes:
  On a replicated mode all processes give the same vector. The values of process 0 are taken; what differs from them by more than round-off is an error.

.seealso: `VECTT`, `VecTTCreateModeVec()`, `VecTTSetConstant()`, `VecTTSetFull()`
@*/
PetscErrorCode VecTTSetRankOne(Vec v, const Vec vecs[])
{
  ModeArrays arrays;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetRankOne"));
  PetscCallTT(PetscCall(arrays.get(*space_of(v), vecs, nullptr)));
  Train x;
  PetscCallTT(x = rank_one(space_of(v), arrays.pointers()));
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTSetRandom - Sets a TT vector to one with Gaussian cores of given TT ranks

  Logically Collective

  Input Parameters:
+ v    - the TT vector
. r    - d + 1 TT ranks, the first and the last 1; `NULL` for those of -vec_tt_random_rank
- seed - the seed, the same on all processes; the result depends on it and on the modes only, not on the number of processes

  Level: intermediate

  Notes:
  TT ranks larger than the modes admit are reduced to what they admit.

.seealso: `VECTT`, `VecSetRandom()`, `VecTTGetRanks()`
@*/
PetscErrorCode VecTTSetRandom(Vec v, const PetscInt r[], PetscInt64 seed)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetRandom"));
  const Int        d = space_of(v)->d();
  std::vector<Int> ranks;
  PetscCallTT(r ? ranks.assign(r, r + d + 1) : ranks.assign(d + 1, impl(v).policy.random_rank));
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)v), ranks.data(), ranks.size() * sizeof(Int), "The TT ranks"));
  PetscCall(same_everywhere(PetscObjectComm((PetscObject)v), &seed, sizeof(seed), "The seeds of VecTTSetRandom()"));
  if (!r) ranks.front() = ranks.back() = 1;
  PetscCheck(ranks.front() == 1 && ranks.back() == 1, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "The outer TT ranks are %" PetscInt_FMT " and %" PetscInt_FMT "; they must be 1",
             ranks.front(), ranks.back());
  Train x;
  PetscCallTT(x = random_train(space_of(v), ranks, (std::uint64_t)seed));
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTSetCores - Sets a TT vector from its cores

  Collective

  Input Parameters:
+ v     - the TT vector
. r     - d + 1 TT ranks, the first and the last 1; the same on all processes
- cores - d arrays: the local part of core k, r[k] x n_k x r[k+1] with n_k the number of indices of mode k that this process stores, the first
          index fastest; the values are copied

  Level: intermediate

  Notes:
  On a replicated mode all processes give the same core. That of process 0 is taken; one that differs from it by more than round-off is an error.

.seealso: `VECTT`, `VecTTGetCoreRead()`, `VecTTGetModeOwnership()`, `VecTTSetRankOne()`
@*/
PetscErrorCode VecTTSetCores(Vec v, const PetscInt r[], const PetscScalar *const cores[])
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetCores"));
  const Space &space = *space_of(v);
  const Int    d     = space.d();
  MPI_Comm     comm  = PetscObjectComm((PetscObject)v);
  PetscCheck(r && cores, comm, PETSC_ERR_ARG_NULL, "The TT ranks or the cores are NULL");
  PetscCall(same_everywhere(comm, r, (std::size_t)(d + 1) * sizeof(PetscInt), "The TT ranks"));
  PetscCheck(r[0] == 1 && r[d] == 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "The outer TT ranks are %" PetscInt_FMT " and %" PetscInt_FMT "; they must be 1", r[0], r[d]);
  PetscInt missing = d;
  for (Int k = d - 1; k >= 0; --k) {
    PetscCheck(r[k] >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "TT rank %" PetscInt_FMT " is %" PetscInt_FMT "; it must be at least 1", k, r[k]);
    if (!cores[k] && space.n(k) > 0) missing = k;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &missing, 1, MPIU_INT, MPI_MIN, comm));
  PetscCheck(missing == d, comm, PETSC_ERR_ARG_NULL, "Core %" PetscInt_FMT " is NULL on a process that stores indices of its mode", missing);
  Train       x;
  std::string message;
  PetscCallTT({
    x = Train(space_of(v));
    for (Int k = 0; k < d; ++k) {
      Core c(r[k], space.n(k), r[k + 1]);
      if (c.count()) std::copy(cores[k], cores[k] + c.count(), c.data());
      settle_replicas(space, k, c.data(), c.count(), message);
      x.set_core(k, std::move(c));
    }
    x.set_scale(Scaled(1));
    x.check();
  });
  PetscCall(agree(comm, PETSC_ERR_ARG_INCOMP, message));
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTGetRanks - Gets the TT ranks

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. r - the d + 1 TT ranks, the first and the last 1; the array belongs to the vector and is valid until the next call or change

  Level: beginner

.seealso: `VECTT`, `VecTTRound()`, `VecTTGetRoundingInfo()`
@*/
PetscErrorCode VecTTGetRanks(Vec v, const PetscInt *r[])
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetRanks"));
  PetscCallTT(impl(v).ranks = train_of(v).ranks());
  *r = impl(v).ranks.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTGetCoreRead - Gets read access to the local part of a core

  Not Collective

  Input Parameters:
+ v - the TT vector
- k - the core

  Output Parameters:
+ r0 - its left TT rank (may be `NULL`)
. n  - number of indices of mode k that this process stores (may be `NULL`)
. r1 - its right TT rank (may be `NULL`)
- a  - its entries, r0 x n x r1, first index fastest

  Level: intermediate

  Notes:
  The vector is the product of its cores times the scale of `VecTTGetScale()`. It must not change before `VecTTRestoreCoreRead()`.

.seealso: `VECTT`, `VecTTRestoreCoreRead()`, `VecTTGetScale()`, `VecTTSetCores()`, `VecTTGetModeOwnership()`
@*/
PetscErrorCode VecTTGetCoreRead(Vec v, PetscInt k, PetscInt *r0, PetscInt *n, PetscInt *r1, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetCoreRead"));
  PetscCall(require_mode(v, k));
  const Core &c = train_of(v).core(k);
  if (r0) *r0 = c.r0;
  if (n) *n = c.n;
  if (r1) *r1 = c.r1;
  *a = c.data();
  ++impl(v).cores_out;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTRestoreCoreRead - Gives back what `VecTTGetCoreRead()` gave

  Not Collective

  Input Parameters:
+ v  - the TT vector
. k  - the core
. r0 - set to 0 (may be `NULL`)
. n  - set to 0 (may be `NULL`)
. r1 - set to 0 (may be `NULL`)
- a  - set to `NULL` (may be `NULL`)

  Level: intermediate

.seealso: `VECTT`, `VecTTGetCoreRead()`
@*/
PetscErrorCode VecTTRestoreCoreRead(Vec v, PetscInt k, PetscInt *r0, PetscInt *n, PetscInt *r1, const PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTRestoreCoreRead"));
  PetscCall(require_mode(v, k));
  PetscCheck(impl(v).cores_out > 0, PETSC_COMM_SELF, PETSC_ERR_ORDER, "No core of the vector is in use: VecTTRestoreCoreRead() without VecTTGetCoreRead()");
  --impl(v).cores_out;
  if (r0) *r0 = 0;
  if (n) *n = 0;
  if (r1) *r1 = 0;
  if (a) *a = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetScale - Gets the number by which the product of the cores is to be multiplied, m 2^e

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameters:
+ m - its mantissa, 1 <= |m| < 2, or 0 for the zero vector
- e - its exponent of 2

  Level: advanced

.seealso: `VECTT`, `VecTTGetCoreRead()`, `VecTTNormLog10()`
@*/
PetscErrorCode VecTTGetScale(Vec v, PetscScalar *m, PetscInt64 *e)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetScale"));
  *m = train_of(v).scale().mantissa();
  *e = train_of(v).scale().exponent2();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetFull - Sets a TT vector from all entries of the tensor (TT-SVD)

  Collective

  Input Parameters:
+ v    - the TT vector
- full - an ordinary vector of all entries, the first mode fastest, with any parallel layout

  Level: intermediate

  Notes:
  The tolerance and the rank cap are those of the rounding policy of v; `VecTTGetRoundingInfo()` has the error made.

  The first process holds the full tensor for a while and decomposes it, so this is for tensors that are small.

.seealso: `VECTT`, `VecTTGetFull()`, `VecTTSetRoundRtol()`, `VecTTSetMaxRank()`
@*/
PetscErrorCode VecTTSetFull(Vec v, Vec full)
{
  VecHandle          all;
  ScatterHandle      scatter;
  PetscInt           N;
  const PetscScalar *a;
  Train              x;
  RoundInfo          info;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetFull"));
  PetscCheck(full, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_NULL, "The vector of all entries is NULL");
  PetscCheck(!is_vectt(full), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONG, "The vector of all entries must be an ordinary one, not " VECTT);
  const Space &space = *space_of(v);
  PetscCall(VecGetSize(full, &N));
  PetscCheck((double)N == (double)space.full_size(), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_SIZ, "The vector has %" PetscInt_FMT " entries, the tensor %s has 10^%g", N, space.describe().c_str(),
             (double)space.log10_full_size());
  PetscCheck((double)N <= most_full_entries, PetscObjectComm((PetscObject)v), PETSC_ERR_SUP, "The tensor has %" PetscInt_FMT " entries, too many for one process to hold (limit %g)", N, most_full_entries);
  LogScope log(events().full, (PetscObject)v);
  PetscCall(VecScatterCreateToZero(full, scatter.out(), all.out()));
  PetscCall(VecScatterBegin(scatter, full, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, full, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &a));
  PetscCallTT(info = from_full(space_of(v), a, round_options(v), x));
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(set_train(v, std::move(x)));
  PetscCall(record_rounding(v, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetFull - Computes all entries of the tensor

  Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. full - a new ordinary vector of all entries, the first mode fastest, split evenly over the processes

  Level: intermediate

  Notes:
  Every process holds the full tensor for a while, so this is for tensors that are small.

.seealso: `VECTT`, `VecTTSetFull()`, `VecTTGetEntries()`, `VecTTExtract()`
@*/
PetscErrorCode VecTTGetFull(Vec v, Vec *full)
{
  PetscInt     start, end;
  PetscScalar *a;
  Buffer       all;
  VecHandle    out;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetFull"));
  const Space &space = *space_of(v);
  PetscCheck((double)space.full_size() <= most_full_entries, PetscObjectComm((PetscObject)v), PETSC_ERR_SUP,
             "The tensor %s has 10^%g entries, too many for every process to hold (limit %g); see VecTTGetEntries(), VecTTExtract()", space.describe().c_str(), (double)space.log10_full_size(),
             most_full_entries);
  LogScope log(events().full, (PetscObject)v);
  PetscCallTT(all = to_full(train_of(v), most_full_entries));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), out.out()));
  PetscCall(VecSetSizes(out, PETSC_DECIDE, (PetscInt)space.full_size()));
  PetscCall(VecSetType(out, VECSTANDARD));
  PetscCall(VecGetOwnershipRange(out, &start, &end));
  PetscCall(VecGetArrayWrite(out, &a));
  std::copy(all.data() + start, all.data() + end, a);
  PetscCall(VecRestoreArrayWrite(out, &a));
  *full = out.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}
