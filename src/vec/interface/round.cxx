// Norms in log form, orthogonality, rounding and its policy.
#include "sys/log.hpp"
#include "tt/ops/dot.hpp"
#include "tt/ops/orthogonalize.hpp"
#include "vec/interface/check.hpp"

using namespace petsctt;

// In [0,1), or PETSC_DEFAULT.
static PetscErrorCode check_tolerance(Vec v, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscCheck((rtol >= 0 && rtol < 1) || rtol == (PetscReal)PETSC_DEFAULT, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE,
             "The tolerance %g is neither in [0,1) nor PETSC_DEFAULT", (double)rtol);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTNormLog10 - Computes the decimal logarithm of the Frobenius norm, which never overflows

  Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. log10 - the logarithm, minus infinity for the zero vector

  Level: intermediate

.seealso: `VECTT`, `VecNorm()`, `VecTTDotLog10()`
@*/
PetscErrorCode VecTTNormLog10(Vec v, PetscReal *log10)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTNormLog10"));
  LogScope log(events().norm, (PetscObject)v);
  PetscCallTT(*log10 = norm(train_of(v)).log10_abs());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTDotLog10 - Computes an inner product in a form that never overflows: phase times 10^log10

  Collective

  Input Parameters:
+ x - the first TT vector
- y - the second TT vector, which is conjugated as `VecDot()` does

  Output Parameters:
+ phase - the inner product divided by its modulus: +1 or -1 for real numbers, 0 when it is zero
- log10 - the decimal logarithm of its modulus, minus infinity when it is zero

  Level: intermediate

.seealso: `VECTT`, `VecDot()`, `VecTTNormLog10()`
@*/
PetscErrorCode VecTTDotLog10(Vec x, Vec y, PetscScalar *phase, PetscReal *log10)
{
  PetscFunctionBegin;
  PetscCall(require_same(x, y, "VecTTDotLog10"));
  LogScope log(events().dot, (PetscObject)x);
  PetscCallTT({
    const Scaled s = dot(train_of(x), train_of(y));
    *phase         = s.is_zero() ? PetscScalar(0) : s.mantissa() / petsctt::abs(s.mantissa());
    *log10         = s.log10_abs();
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTOrthogonalize - Makes one core the orthogonality centre: the cores before it become left-orthogonal, those after it right-orthogonal

  Collective

  Input Parameters:
+ v - the TT vector
- k - the core

  Level: advanced

  Notes:
  The tensor stays the same up to round-off. TT ranks that are larger than the modes admit become smaller.

.seealso: `VECTT`, `VecTTGetOrthogonality()`, `VecTTRound()`
@*/
PetscErrorCode VecTTOrthogonalize(Vec v, PetscInt k)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTOrthogonalize"));
  PetscCall(require_mode(v, k));
  Train x;
  {
    LogScope log(events().orthogonalize, (PetscObject)v);
    PetscCallTT({
      x = train_of(v);
      orthogonalize(x, k);
    });
  }
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetOrthogonality - Says how many cores are known to be orthogonal

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameters:
+ left  - this many cores from the left are left-orthogonal: the columns of r_k n_k x r_{k+1} are orthonormal (may be `NULL`)
- right - this many cores from the right are right-orthogonal: the rows of r_k x n_k r_{k+1} are orthonormal (may be `NULL`)

  Level: advanced

.seealso: `VECTT`, `VecTTOrthogonalize()`
@*/
PetscErrorCode VecTTGetOrthogonality(Vec v, PetscInt *left, PetscInt *right)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetOrthogonality"));
  if (left) *left = train_of(v).left();
  if (right) *right = train_of(v).right();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTRound - Reduces the TT ranks of a vector as far as a tolerance allows

  Collective

  Input Parameters:
+ v        - the TT vector
. rtol     - relative Frobenius error that may be made, `PETSC_DEFAULT` for that of the policy
- max_rank - cap on the TT ranks, 0 for none, `PETSC_DEFAULT` for that of the policy

  Output Parameter:
. error - relative Frobenius error that was made (may be `NULL`)

  Level: beginner

.seealso: `VECTT`, `VecTTSetRoundRtol()`, `VecTTSetMaxRank()`, `VecTTSetRoundType()`, `VecTTGetRoundingInfo()`
@*/
PetscErrorCode VecTTRound(Vec v, PetscReal rtol, PetscInt max_rank, PetscReal *error)
{
  RoundInfo info;

  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTRound"));
  PetscCall(check_tolerance(v, rtol));
  PetscCheck(max_rank >= 0 || max_rank == PETSC_DEFAULT, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE,
             "The cap %" PetscInt_FMT " on the TT ranks is neither PETSC_DEFAULT nor at least 0 (0 means none)", max_rank);
  RoundOptions options = round_options(v);
  if (rtol >= 0) options.rtol = rtol;
  if (max_rank >= 0) options.max_rank = max_rank;
  Train x;
  {
    LogScope log(events().round, (PetscObject)v);
    PetscCallTT({
      x    = train_of(v);
      info = round(x, options);
    });
  }
  PetscCall(set_train(v, std::move(x)));
  PetscCall(record_rounding(v, info));
  if (error) *error = info.error;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetRoundRtol - Sets the relative Frobenius error that one rounding of a vector may make

  Logically Collective

  Input Parameters:
+ v    - the TT vector
- rtol - the tolerance, `PETSC_DEFAULT` to tie it to -ksp_rtol again, see `VECTT`

  Options Database Key:
. -vec_tt_round_rtol <rtol> - sets it

  Level: beginner

.seealso: `VECTT`, `VecTTGetRoundRtol()`, `VecTTRound()`, `VecTTSetMaxRank()`
@*/
PetscErrorCode VecTTSetRoundRtol(Vec v, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetRoundRtol"));
  PetscCall(check_tolerance(v, rtol));
  impl(v).policy.shared_rtol.reset();
  impl(v).policy.rtol_set = rtol >= 0;
  impl(v).policy.rtol     = PetscMax(rtol, 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTShareRoundRtol - Sets one tolerance for a vector and all that are duplicated from it, now and later

  Logically Collective

  Input Parameters:
+ v    - the TT vector
- rtol - the relative Frobenius error that one rounding may make, in [0,1)

  Level: developer

  Notes:
  After the first call for v, its duplicates and their duplicates have one tolerance together with v: the next call for any of them changes it for
  all, those in use included. A solver that owns many vectors relaxes their tolerance in this way. `VecTTSetRoundRtol()` takes a vector out.

.seealso: `VECTT`, `VecTTSetRoundRtol()`, `VecTTRoundRtolIsShared()`, `VecTTShareLayout()`
@*/
PetscErrorCode VecTTShareRoundRtol(Vec v, PetscReal rtol)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTShareRoundRtol"));
  PetscCheck(rtol >= 0 && rtol < 1, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "The tolerance %g is outside [0,1)", (double)rtol);
  PetscCallTT(if (!impl(v).policy.shared_rtol) impl(v).policy.shared_rtol = std::make_shared<Real>(rtol));
  *impl(v).policy.shared_rtol = rtol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTRoundRtolIsShared - Has the vector a tolerance that was set by `VecTTShareRoundRtol()`?

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. shared - `PETSC_TRUE` if so

  Level: developer

.seealso: `VECTT`, `VecTTShareRoundRtol()`
@*/
PetscErrorCode VecTTRoundRtolIsShared(Vec v, PetscBool *shared)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTRoundRtolIsShared"));
  *shared = impl(v).policy.shared_rtol ? PETSC_TRUE : PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetRoundRtol - Gets the relative Frobenius error that one rounding of a vector may make

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. rtol - the tolerance

  Level: beginner

.seealso: `VECTT`, `VecTTSetRoundRtol()`
@*/
PetscErrorCode VecTTGetRoundRtol(Vec v, PetscReal *rtol)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetRoundRtol"));
  *rtol = effective_rtol(impl(v).policy);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetMaxRank - Sets a cap on the TT ranks of a vector

  Logically Collective

  Input Parameters:
+ v        - the TT vector
- max_rank - the cap, 0 for none

  Options Database Key:
. -vec_tt_max_rank <r> - sets it

  Level: beginner

  Notes:
  It takes effect with the next rounding. `VecTTGetRoundingInfo()` says whether it kept the tolerance from being met.

.seealso: `VECTT`, `VecTTGetMaxRank()`, `VecTTSetRoundRtol()`, `VecTTGetRoundingInfo()`
@*/
PetscErrorCode VecTTSetMaxRank(Vec v, PetscInt max_rank)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetMaxRank"));
  PetscCheck(max_rank >= 0, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "The cap %" PetscInt_FMT " on the TT ranks is negative (0 means none)", max_rank);
  impl(v).policy.max_rank = max_rank;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetMaxRank - Gets the cap on the TT ranks of a vector

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. max_rank - the cap, 0 for none

  Level: beginner

.seealso: `VECTT`, `VecTTSetMaxRank()`
@*/
PetscErrorCode VecTTGetMaxRank(Vec v, PetscInt *max_rank)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetMaxRank"));
  *max_rank = impl(v).policy.max_rank;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetRoundType - Sets the method by which a vector is rounded

  Logically Collective

  Input Parameters:
+ v    - the TT vector
- type - `VEC_TT_ROUND_QR`, `VEC_TT_ROUND_GRAM`, `VEC_TT_ROUND_RANDOMIZED` or `VEC_TT_ROUND_AUTO`

  Options Database Key:
. -vec_tt_round_type <qr,gram,randomized,auto> - sets it

  Level: intermediate

  Notes:
  None of the methods forms a sum that it rounds, nor the product of an operator and a vector. All depend on the number of processes by round-off
  only. The result of qr and gram is left-orthogonal but for its last core, that of randomized right-orthogonal but for its first.

  `VEC_TT_ROUND_QR` - two sweeps with orthogonal factorisations of which only the triangles are computed. The error returned is that of the
  truncations, exact up to round-off (some 1e-14 relative to the largest term of the sum). For every tolerance.

  `VEC_TT_ROUND_GRAM` - the same sweeps with Gram matrices: fewer operations, one reduction for each core in the
  first sweep and two in the second. Singular values below 1e-8
  relative to the norms that they are computed from are noise; the floor is computed at each core, included in the error returned, and where it
  is above a tenth of what may be truncated there, the sweeps go on with qr.

  `VEC_TT_ROUND_RANDOMIZED` - randomise, then orthogonalise: linear in the number of terms. The sketch grows until an unbiased estimate of what it misses,
  from ten test vectors, is below its share of the tolerance with a factor of sqrt(2) to spare; a deterministic sweep does the rest. The error
  returned is an estimate; in 200 runs with different seeds on each of several hard problems it was never below half the true error, and the
  true error never above 1.5 times the tolerance (tests/unit/test_round_types.cxx). -vec_tt_round_seed changes the random numbers, which depend
  on global indices only.

  `VEC_TT_ROUND_AUTO` - gram instead of qr where each truncation may make an error of 1e-6 or more, and randomized instead of either for sums whose ranks
  are above 40 where its operation count is less than two thirds of the other's. -vec_view and -log_view (events VecTTRoundQR, VecTTRoundGram, VecTTRoundRand)
  say what was picked and what it cost.

  A vector that is left-orthogonal already is only truncated, from the right; in a sum, a right-orthogonal term costs next to nothing in the first sweep.

  References:
  Oseledets, Tensor-train decomposition, SIAM J. Sci. Comput. 33 (2011); Al Daas, Ballard, Manning, Parallel tensor train rounding using Gram SVD
  (2022); Al Daas, Ballard, Cazeaux, Hallman, Miedlar, Pasha, Reid, Saibaba, Randomized algorithms for rounding in the tensor-train format (2023).

.seealso: `VECTT`, `VecTTGetRoundType()`, `VecTTRound()`, `VecTTGetRoundingInfo()`
@*/
PetscErrorCode VecTTSetRoundType(Vec v, VecTTRoundType type)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetRoundType"));
  PetscCheck(type >= VEC_TT_ROUND_QR && type <= VEC_TT_ROUND_AUTO, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "There is no rounding type %d", (int)type);
  impl(v).policy.type = from_public(type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetRoundType - Gets the method by which a vector is rounded

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. type - the method asked for; `VecTTGetRoundingInfo()` has the one that ran

  Level: intermediate

.seealso: `VECTT`, `VecTTSetRoundType()`
@*/
PetscErrorCode VecTTGetRoundType(Vec v, VecTTRoundType *type)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetRoundType"));
  *type = to_public(impl(v).policy.type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTSetRoundSeed - Sets the seed of randomized roundings

  Logically Collective

  Input Parameters:
+ v    - the TT vector
- seed - the seed

  Options Database Key:
. -vec_tt_round_seed <seed> - sets it

  Level: intermediate

.seealso: `VECTT`, `VecTTGetRoundSeed()`, `VecTTSetRoundType()`
@*/
PetscErrorCode VecTTSetRoundSeed(Vec v, PetscInt64 seed)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTSetRoundSeed"));
  impl(v).policy.seed = (std::uint64_t)seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  VecTTGetRoundSeed - Gets the seed of randomized roundings

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. seed - the seed

  Level: intermediate

.seealso: `VECTT`, `VecTTSetRoundSeed()`
@*/
PetscErrorCode VecTTGetRoundSeed(Vec v, PetscInt64 *seed)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetRoundSeed"));
  *seed = (PetscInt64)impl(v).policy.seed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  VecTTGetRoundingInfo - Says what the last rounding of a vector did

  Not Collective

  Input Parameter:
. v - the TT vector

  Output Parameter:
. info - the method that ran, the relative Frobenius error it made and whether that is an estimate, whether the rank cap kept the tolerance
         from being met, the largest TT rank before and after, and the numbers of roundings and of such that met the cap since the
         vector was created

  Level: intermediate

  Notes:
  Copying a vector does not copy this.

.seealso: `VECTT`, `VecTTRound()`, `VecTTSetMaxRank()`
@*/
PetscErrorCode VecTTGetRoundingInfo(Vec v, VecTTRoundingInfo *info)
{
  PetscFunctionBegin;
  PetscCall(require_vectt(v, "VecTTGetRoundingInfo"));
  *info = impl(v).info;
  PetscFunctionReturn(PETSC_SUCCESS);
}
