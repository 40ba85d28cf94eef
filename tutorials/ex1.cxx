static char help[] = "Builds a tensor train from a sum of rank-one terms and rounds it.\n\n";

/*
  The maths.  A tensor of d modes with n points each has n^d entries. As a tensor train it is a chain of d cores,

      x(i_0, ..., i_{d-1}) = G_0(i_0) G_1(i_1) ... G_{d-1}(i_{d-1}),      G_k(i) an r_k x r_{k+1} matrix, r_0 = r_d = 1,

  that is d n r^2 numbers. A product of functions of one variable each has TT ranks 1; a sum of m such products has ranks at most m;
  rounding finds the smallest ranks that meet a relative accuracy eps in the Frobenius norm of the whole tensor.

  Here   x(t) = 1 / (1 + t_0 + ... + t_{d-1}),  t_k on a uniform grid of [0, 1].  It is no product, but

      1/s = integral over all real y of exp(y - s e^y)  =~  sum_j h exp(y_j) exp(-s e^{y_j}),    y_j = j h,

  and every exp(-s e^y) with s = 1 + t_0 + ... + t_{d-1} is a product over the modes. The trapezoidal rule converges so fast that about 100
  terms give more than 12 digits. (W. Hackbusch, B. Khoromskij, Computing 76 (2006), use such sums for this purpose.)

  Sample runs.
      ./ex1                                  10 modes of 50 points: 1e17 entries
      ./ex1 -d 40 -n 100                     1e80 entries
      mpiexec -n 3 ./ex1 -tt_replicate_max 0 the modes are split over the processes
      ./ex1 -vec_tt_max_rank 4               a cap that is too small: the program says what accuracy is left
      ./ex1 -vec_view -log_view

  What to look at.
    - The sum has about 100 terms and TT ranks of about 10: the terms are nearly dependent, and each VecAXPY() rounds.
    - Every rounding returns the error that it made; the difference of the two vectors, computed independently, agrees.
    - The accuracy is one of the whole tensor: single entries may be worse, and the corner t = 0, the largest of all and alone in
      its size, is.
    - Ranks grow with the logarithm of 1/eps.
    - Nothing here depends on n^d: norm, mean and entries come from the cores.
*/
#include <petsctt.h>

#include <cmath>
#include <vector>

// exp(-rate (offset + t)) on the grid of a mode; rate = e^y, and the offset 1 of s goes to mode 0.
static PetscErrorCode SetModeVec(Vec v, PetscInt n, PetscReal rate, PetscReal offset)
{
  PetscScalar *a;
  PetscInt     start, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(v, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = start; i < end; i++) a[i - start] = std::exp(-rate * (offset + (PetscReal)i / (PetscReal)(n - 1)));
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(0);
}

// x := sum over j of h exp(y_j) exp(-s e^{y_j}), one rank-one term after the other.
static PetscErrorCode Build(Vec x, PetscInt d, PetscInt n, PetscReal h, PetscInt *terms)
{
  std::vector<Vec> mode((size_t)d);
  Vec              term;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &term));
  for (PetscInt k = 0; k < d; k++) PetscCall(VecTTCreateModeVec(x, k, &mode[(size_t)k]));
  *terms = 0;
  for (PetscReal y = -27; y <= 3.4; y += h, ++*terms) {
    for (PetscInt k = 0; k < d; k++) PetscCall(SetModeVec(mode[(size_t)k], n, std::exp(y), k == 0 ? 1 : 0));
    PetscCall(VecTTSetRankOne(term, mode.data()));
    PetscCall(VecAXPY(x, h * std::exp(y), term));
  }
  for (Vec &v : mode) PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&term));
  PetscFunctionReturn(0);
}

// Relative errors: the largest at six scattered points, and that at the corner t = 0, the largest entry of all.
static PetscErrorCode CheckEntries(Vec x, PetscInt d, PetscInt n, PetscReal *scattered, PetscReal *corner)
{
  constexpr PetscInt       points = 7;
  std::vector<PetscInt>    index;
  std::vector<PetscScalar> value((size_t)points);

  PetscFunctionBeginUser;
  for (PetscInt p = 0; p < points; p++)
    for (PetscInt k = 0; k < d; k++) index.push_back((7 * p + 3 * k * p + p * k * k) % n); // p = 0: the corner
  PetscCall(VecTTGetEntries(x, points, index.data(), value.data()));
  *scattered = *corner = 0;
  for (PetscInt p = 0; p < points; p++) {
    PetscReal s = 1;
    for (PetscInt k = 0; k < d; k++) s += (PetscReal)index[(size_t)(p * d + k)] / (PetscReal)(n - 1);
    PetscReal &error = p == 0 ? *corner : *scattered;
    error            = PetscMax(error, PetscAbsScalar(value[(size_t)p] - 1 / s) * s);
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode Storage(Vec x, PetscInt d, PetscInt n, PetscInt *rank, PetscReal *numbers)
{
  const PetscInt *r;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetRanks(x, &r));
  *rank    = 1;
  *numbers = 0;
  for (PetscInt k = 0; k < d; k++) {
    *rank = PetscMax(*rank, r[k + 1]);
    *numbers += (PetscReal)r[k] * (PetscReal)n * (PetscReal)r[k + 1];
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Vec         x, y, e;
  PetscInt    d = 10, n = 50, terms = 0, rank, cap;
  PetscReal   h = 0.3, numbers, full, log10full, norm, scattered = 0, corner = 0, tolerance;
  PetscScalar mean;
  PetscBool   failed = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializePackage());
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of ex1", "");
  PetscCall(PetscOptionsInt("-d", "Number of modes", "ex1.cxx", d, &d, NULL));
  PetscCall(PetscOptionsInt("-n", "Points of every mode", "ex1.cxx", n, &n, NULL));
  PetscCall(PetscOptionsReal("-h", "Step of the trapezoidal rule", "ex1.cxx", h, &h, NULL));
  PetscOptionsEnd();
  PetscCheck(d >= 1 && n >= 2 && h > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Need -d >= 1, -n >= 2 and -h > 0");

  std::vector<PetscInt> N((size_t)d, n);
  PetscCall(VecCreateTT(PETSC_COMM_WORLD, d, NULL, N.data(), &x));
  PetscCall(VecTTSetRoundRtol(x, 1e-11)); // of every VecAXPY(): a hundred of them, hence well below the tolerances tried later
  PetscCall(VecSetFromOptions(x));        // -vec_tt_max_rank, -vec_tt_round_rtol, -vec_tt_round_type
  PetscCall(VecTTGetMaxRank(x, &cap));

  PetscCall(Build(x, d, n, h, &terms));
  PetscCall(VecTTGetFullSize(x, &full, &log10full));
  PetscCall(Storage(x, d, n, &rank, &numbers));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "1/(1 + t_0 + ... ) on %d modes of %d points: 10^%.1f entries\n", (int)d, (int)n, (double)log10full));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "sum of %d rank-one terms: largest TT rank %d, %.0f numbers stored\n", (int)terms, (int)rank, (double)numbers));

  PetscCall(CheckEntries(x, d, n, &scattered, &corner));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscCall(VecTTContractAll(x, NULL, &mean)); // the sum of all entries
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "entries against the formula: relative error %.0e at scattered points, %.0e at the corner t = 0\n", (double)scattered, (double)corner));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "root mean square %.8f, mean %.8f\n", (double)(norm / std::sqrt(full)), (double)(PetscRealPart(mean) / full)));
  if (cap == 0 && scattered > 1e-6) failed = PETSC_TRUE;

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   rounded to    error made    ||x - y|| / ||x||   largest rank   numbers\n"));
  for (tolerance = 1e-1; tolerance > 5e-9; tolerance *= 1e-1) {
    PetscReal made, difference;
    PetscCall(VecDuplicate(x, &y));
    PetscCall(VecDuplicate(x, &e));
    PetscCall(VecCopy(x, y));
    PetscCall(VecTTRound(y, tolerance, 0, &made));
    PetscCall(VecWAXPY(e, -1, y, x));
    PetscCall(VecNorm(e, NORM_2, &difference));
    PetscCall(Storage(y, d, n, &rank, &numbers));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "   %.0e         %.2e      %.2e            %2d          %7.0f\n", (double)tolerance, (double)made, (double)(difference / norm),
                          (int)rank, (double)numbers));
    if (difference > 1.001 * tolerance * norm) failed = PETSC_TRUE;
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&e));
  }
  if (cap > 0) {
    VecTTRoundingInfo info;
    PetscCall(VecTTGetRoundingInfo(x, &info));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "the rank cap %d kept %d of %d roundings from their tolerance\n", (int)cap, (int)info.cap_hits, (int)info.roundings));
  }
  PetscCall(VecViewFromOptions(x, NULL, "-vec_view"));
  PetscCall(VecDestroy(&x));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, failed ? "FAILED\n" : "done\n"));
  PetscCall(PetscFinalize());
  return failed ? 1 : 0;
}
