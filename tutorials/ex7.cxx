static char help[] = "Smallest eigenvalues of operators in many dimensions, with SLEPc on tensor trains.\n\n";

/*
  The maths.  Three Hermitian operators on d modes, each a sum of terms that act on one mode or on two neighbours:

    laplacian     sum_k L_k on a box with sides 1 + k s, L = tridiag(-1, 2, -1)/h^2. The eigenvalues are all sums of d eigenvalues
                  4/h_k^2 sin^2(j pi/(2 (n+1))) of the modes, the eigenvectors have TT rank one.
    oscillators   sum_k ( -1/2 d^2/dx_k^2 + 1/2 x_k^2 ) + c sum_k x_k x_{k+1} on [-b, b]^d: a chain of particles in wells, coupled to their
                  neighbours. No eigenvector has rank one; small ones are compared with the assembled matrix.
    ising         -J sum_k Z_k Z_{k+1} - g sum_k X_k with the Pauli matrices X and Z, n = 2: a chain of spins in a transverse field. With the singular
                  values e_1 <= e_2 <= ... of the bidiagonal matrix with g on and J below the diagonal, the eigenvalues are -sum_k e_k, and those with
                  2 e_1, 2 e_2, 2 (e_1 + e_2), ... added (Lieb, Schultz, Mattis 1961; Pfeuty 1970).

  The operators have block ranks 2 or 3 for any d. SLEPc finds vectors of type VECTT, and libpetsctt_slepc has it use basis vectors that are tensor trains
  as well; nothing of that is chosen here. Eigenvectors are found to a tolerance, and so is their representation: it is rounded to a
  thousandth of -eps_tol. What is printed in the end is computed from the rounded eigenvectors.

  Sample runs.
      ./ex7 -eps_nev 3 -stretch 0.1                                three eigenvalues of a Laplacian in three dimensions, by inverse iteration in a Krylov space
      ./ex7 -d 10 -eps_nev 2 -stretch 0.1 -eps_tt_residuals        ten dimensions, 20^10 points
      ./ex7 -d 10 -eps_type rqcg                                   without inverting: conjugate gradients for the Rayleigh quotient, preconditioned by ttkron
      ./ex7 -problem oscillators -d 4 -n 8 -eps_nev 3              compared with the assembled matrix of 4,096 rows
      ./ex7 -problem oscillators -d 12 -n 16                       2.8e14 points
      mpiexec -n 2 ./ex7 -problem ising -d 12 -eps_ncv 12          no inverse: a Krylov space of the operator itself
      ./ex7 -eps_view -eps_monitor -st_ksp_converged_reason        what SLEPc chose, and what the solver inside does

  What to look at.
    - The largest TT ranks of the eigenvectors: 1 for the Laplacian, whatever the basis in between needed.
    - -eps_view shows the BV of type tt, and KSPTTGMRES with PCTTKRON in the ST.
    - A multiple eigenvalue (the second one of a cube, -stretch 0) is found several times by -eps_type gd or subspace, once by a Krylov method
      until its basis is polluted by rounding.
    - Without shift-and-invert (-st_type shift) a Krylov method needs many steps, and the TT ranks of A^k x grow with k.
*/
#include <petsctt.h>
#include <petsctteps.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

// A matrix with the rows of mode k (of a replicated mode every process has its own copy): entry(i, j) for |i - j| <= 1.
template <class F> static PetscErrorCode CreateTridiagonal(Vec x, PetscInt k, PetscInt n, F entry, Mat *M)
{
  PetscBool replicated;
  PetscInt  start, end;

  PetscFunctionBeginUser;
  PetscCall(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
  PetscCall(MatCreate(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, M));
  PetscCall(MatSetSizes(*M, end - start, end - start, n, n));
  PetscCall(MatSetType(*M, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocation(*M, 3, NULL));
  PetscCall(MatMPIAIJSetPreallocation(*M, 3, NULL, 2, NULL));
  for (PetscInt i = start; i < end; i++)
    for (PetscInt j = PetscMax(i - 1, 0); j <= PetscMin(i + 1, n - 1); j++) PetscCall(MatSetValue(*M, i, j, entry(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

typedef struct {
  std::string problem;
  PetscInt    d, n;
  PetscReal   stretch, coupling, box, J, g;
} Settings;

// The matrix of mode k alone, and the factor of the coupling c F_k F_{k+1} with the next one.
static PetscErrorCode CreateFactors(const Settings &s, Vec x, PetscInt k, Mat *alone, Mat *coupling)
{
  const PetscReal h = s.problem == "laplacian" ? (1 + (PetscReal)k * s.stretch) / (PetscReal)(s.n + 1) : 2 * s.box / (PetscReal)(s.n + 1);
  const auto      at = [&](PetscInt i) { return -s.box + (PetscReal)(i + 1) * h; };

  PetscFunctionBeginUser;
  *coupling = NULL;
  if (s.problem == "laplacian") PetscCall(CreateTridiagonal(x, k, s.n, [&](PetscInt i, PetscInt j) { return (i == j ? 2 : -1) / (h * h); }, alone));
  else if (s.problem == "oscillators") {
    PetscCall(CreateTridiagonal(x, k, s.n, [&](PetscInt i, PetscInt j) { return i == j ? 1 / (h * h) + 0.5 * at(i) * at(i) : -0.5 / (h * h); }, alone));
    PetscCall(CreateTridiagonal(x, k, s.n, [&](PetscInt i, PetscInt j) { return i == j ? at(i) : 0; }, coupling));
  } else {
    PetscCall(CreateTridiagonal(x, k, s.n, [&](PetscInt i, PetscInt j) { return i == j ? 0 : -s.g; }, alone));
    PetscCall(CreateTridiagonal(x, k, s.n, [](PetscInt i, PetscInt j) { return i != j ? 0 : i == 0 ? 1 : -1; }, coupling));
  }
  PetscFunctionReturn(0);
}

static PetscErrorCode BuildOperator(const Settings &s, Mat A)
{
  Vec              x;
  std::vector<Mat> factors((size_t)s.d, (Mat)NULL), coupling((size_t)s.d, (Mat)NULL);
  const PetscReal  c = s.problem == "ising" ? -s.J : s.coupling;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, NULL));
  for (PetscInt k = 0; k < s.d; k++) {
    Mat alone;
    PetscCall(CreateFactors(s, x, k, &alone, &coupling[(size_t)k]));
    factors[(size_t)k] = alone;
    PetscCall(MatTTAddTerm(A, 1, factors.data())); // NULL means identity
    factors[(size_t)k] = NULL;
    PetscCall(MatDestroy(&alone));
    if (k > 0 && coupling[(size_t)k]) {
      factors[(size_t)k - 1] = coupling[(size_t)k - 1];
      factors[(size_t)k]     = coupling[(size_t)k];
      PetscCall(MatTTAddTerm(A, c, factors.data()));
      factors[(size_t)k - 1] = factors[(size_t)k] = NULL;
    }
  }
  for (Mat &F : coupling) PetscCall(MatDestroy(&F));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

// A smooth vector of TT rank one without symmetries to begin with: ranks and steps are fewer than with SLEPc's random one, and no eigenvector is orthogonal to it.
static PetscErrorCode CreateStart(const Settings &s, Mat A, Vec *start)
{
  std::vector<Vec> v((size_t)s.d, (Vec)NULL);

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, start, NULL));
  for (PetscInt k = 0; k < s.d; k++) {
    PetscInt first, last;
    PetscCall(VecTTCreateModeVec(*start, k, &v[(size_t)k]));
    PetscCall(VecGetOwnershipRange(v[(size_t)k], &first, &last));
    for (PetscInt i = first; i < last; i++) {
      const PetscReal t = (PetscReal)(i + 1) / (PetscReal)(s.n + 1); // in (0, 1)
      PetscCall(VecSetValue(v[(size_t)k], i, t * (1 - t) * (1.2 - t), INSERT_VALUES));
    }
    PetscCall(VecAssemblyBegin(v[(size_t)k]));
    PetscCall(VecAssemblyEnd(v[(size_t)k]));
  }
  PetscCall(VecTTSetRankOne(*start, v.data()));
  for (Vec &w : v) PetscCall(VecDestroy(&w));
  PetscFunctionReturn(0);
}

// The `count` smallest of all sums of one number from each list.
static std::vector<PetscReal> SmallestSums(const std::vector<std::vector<PetscReal>> &lists, size_t count)
{
  std::vector<PetscReal> sums(1, 0);
  for (const auto &list : lists) {
    std::vector<PetscReal> next;
    for (PetscReal a : sums)
      for (PetscReal b : list) next.push_back(a + b);
    std::sort(next.begin(), next.end());
    if (next.size() > count) next.resize(count);
    sums = next;
  }
  return sums;
}

// Singular values of the bidiagonal matrix with g on and J below the diagonal: roots of the eigenvalues of a tridiagonal matrix, which are
// found by bisection on the number of negative pivots.
static std::vector<PetscReal> SingularValues(PetscInt d, PetscReal g, PetscReal J)
{
  std::vector<PetscReal> values;
  const auto             below = [&](PetscReal x) {
    PetscInt  count = 0;
    PetscReal pivot = 1;
    for (PetscInt k = 0; k < d; k++) {
      pivot = g * g + (k > 0 ? J * J : 0) - x - (k > 0 ? g * g * J * J / pivot : 0);
      if (pivot == 0) pivot = 1e-300;
      if (pivot < 0) count++;
    }
    return count;
  };
  for (PetscInt i = 0; i < d; i++) {
    PetscReal low = 0, high = (PetscAbsReal(g) + PetscAbsReal(J)) * (PetscAbsReal(g) + PetscAbsReal(J)) * 1.01;
    for (PetscInt it = 0; it < 200; it++) {
      const PetscReal middle = 0.5 * (low + high);
      (below(middle) > i ? high : low) = middle;
    }
    values.push_back(std::sqrt(0.5 * (low + high)));
  }
  return values;
}

// Smallest eigenvalues of the assembled matrix, by SLEPc on ordinary vectors.
static PetscErrorCode AssembledEigenvalues(Mat A, PetscInt count, std::vector<PetscReal> *values)
{
  Mat         B;
  EPS         eps;
  PetscInt    nconv;
  PetscScalar value;

  PetscFunctionBeginUser;
  PetscCall(MatTTGetAssembled(A, &B));
  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOptionsPrefix(eps, "assembled_"));
  PetscCall(EPSSetOperators(eps, B, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  PetscCall(EPSSetDimensions(eps, count, PETSC_DECIDE, PETSC_DECIDE));
  PetscCall(EPSSetTolerances(eps, 1e-12, 2000));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &nconv));
  for (PetscInt i = 0; i < nconv; i++) {
    PetscCall(EPSGetEigenvalue(eps, i, &value, NULL));
    values->push_back(PetscRealPart(value));
  }
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(0);
}

static PetscErrorCode ExactEigenvalues(const Settings &s, Mat A, PetscReal rows, PetscInt count, std::vector<PetscReal> *exact)
{
  std::vector<std::vector<PetscReal>> lists;

  PetscFunctionBeginUser;
  if (s.problem == "laplacian") {
    for (PetscInt k = 0; k < s.d; k++) {
      const PetscReal        h = (1 + (PetscReal)k * s.stretch) / (PetscReal)(s.n + 1);
      std::vector<PetscReal> list;
      for (PetscInt j = 1; j <= s.n; j++) list.push_back(4 / (h * h) * PetscSqr(PetscSinReal((PetscReal)j * PETSC_PI / (2 * (PetscReal)(s.n + 1)))));
      lists.push_back(list);
    }
    *exact = SmallestSums(lists, (size_t)count);
  } else if (s.problem == "ising") {
    for (PetscReal e : SingularValues(s.d, s.g, s.J)) lists.push_back({-e, e});
    *exact = SmallestSums(lists, (size_t)count);
  } else if (rows <= 50000) PetscCall(AssembledEigenvalues(A, count, exact));
  PetscFunctionReturn(0);
}

// Prints the eigenvalues, their errors where the exact ones are known, and the residuals; *failed when one is off by more than -check, or has a residual above -check_residual.
static PetscErrorCode Report(EPS eps, const std::vector<PetscReal> &exact, PetscReal check, PetscReal check_residual, PetscBool *failed)
{
  PetscInt  nconv, nev;
  PetscReal largest = 0, largest_residual = 0;

  PetscFunctionBeginUser;
  PetscCall(EPSGetConverged(eps, &nconv));
  PetscCall(EPSGetDimensions(eps, &nev, NULL, NULL));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "         eigenvalue    relative error        residual\n"));
  for (PetscInt i = 0; i < PetscMin(nev, nconv); i++) {
    PetscScalar value;
    PetscReal   residual;
    PetscCall(EPSGetEigenvalue(eps, i, &value, NULL));
    PetscCall(EPSTTGetResidualNorm(eps, i, &residual));
    largest_residual = PetscMax(largest_residual, residual);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %17.10f", (double)PetscRealPart(value)));
    if ((size_t)i < exact.size()) {
      const PetscReal error = PetscAbsReal(PetscRealPart(value) - exact[(size_t)i]) / PetscAbsReal(exact[(size_t)i]);
      largest               = PetscMax(largest, error);
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, error < 1e-13 ? "         < 1e-13" : "  %14.2e", (double)error));
    } else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "               -"));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %14.2e\n", (double)residual));
  }
  if (nconv < nev) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "only %d of %d converged\n", (int)nconv, (int)nev));
    *failed = PETSC_TRUE;
  }
  if (check > 0) {
    if (!(largest < check) || exact.empty()) *failed = PETSC_TRUE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "errors below %g: %s\n", (double)check, *failed ? "NO" : "yes"));
  }
  if (check_residual > 0) {
    if (!(largest_residual < check_residual)) *failed = PETSC_TRUE;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residuals below %g: %s\n", (double)check_residual, largest_residual < check_residual ? "yes" : "NO"));
  }
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  Mat                    A;
  EPS                    eps;
  Settings               s;
  char                   problem[32] = "laplacian";
  PetscInt               nev;
  PetscReal              check = 0, check_residual = 0, log10rows = 0;
  PetscBool              failed = PETSC_FALSE, random = PETSC_FALSE;
  std::vector<PetscReal> exact;
  Vec                    start;

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializeSlepc());
  PetscCall(PetscOptionsGetString(NULL, NULL, "-problem", problem, sizeof(problem), NULL));
  s = {problem, 3, 20, 0, 0.3, 5, 1, 2};
  if (s.problem == "ising") s.n = 2;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Options of ex7", "");
  PetscCall(PetscOptionsString("-problem", "laplacian, oscillators or ising", "ex7.cxx", problem, problem, sizeof(problem), NULL));
  PetscCall(PetscOptionsInt("-d", "Number of modes", "ex7.cxx", s.d, &s.d, NULL));
  PetscCall(PetscOptionsInt("-n", "Points of every mode", "ex7.cxx", s.n, &s.n, NULL));
  PetscCall(PetscOptionsReal("-stretch", "laplacian: mode k has length 1 + k times this", "ex7.cxx", s.stretch, &s.stretch, NULL));
  PetscCall(PetscOptionsReal("-coupling", "oscillators: coupling of neighbours", "ex7.cxx", s.coupling, &s.coupling, NULL));
  PetscCall(PetscOptionsReal("-box", "oscillators: half of the interval's length", "ex7.cxx", s.box, &s.box, NULL));
  PetscCall(PetscOptionsReal("-J", "ising: coupling of neighbours", "ex7.cxx", s.J, &s.J, NULL));
  PetscCall(PetscOptionsReal("-g", "ising: transverse field", "ex7.cxx", s.g, &s.g, NULL));
  PetscCall(PetscOptionsBool("-random_start", "Begin with a random vector, not with a smooth one", "ex7.cxx", random, &random, NULL));
  PetscCall(PetscOptionsReal("-check", "Fail unless all relative errors are below this", "ex7.cxx", check, &check, NULL));
  PetscCall(PetscOptionsReal("-check_residual", "Fail unless all residuals are below this", "ex7.cxx", check_residual, &check_residual, NULL));
  PetscOptionsEnd();
  PetscCheck(s.problem == "laplacian" || s.problem == "oscillators" || s.problem == "ising", PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Unknown -problem %s", problem);
  PetscCheck(s.d >= 1 && s.n >= 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-d %" PetscInt_FMT " -n %" PetscInt_FMT ": at least 1 and 2 are needed", s.d, s.n);
  PetscCheck(1 + (PetscReal)(s.d - 1) * s.stretch > 0 && s.box > 0, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "-stretch %g -box %g: the last side would have the length %g, the interval %g",
             (double)s.stretch, (double)s.box, (double)(1 + (PetscReal)(s.d - 1) * s.stretch), (double)(2 * s.box));
  PetscCheck(s.problem != "ising" || s.n == 2, PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "A spin has two states: -n 2, not %d", (int)s.n);

  std::vector<PetscInt> N((size_t)s.d, s.n);
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, s.d, NULL, N.data(), &A));
  PetscCall(MatSetFromOptions(A));
  PetscCall(BuildOperator(s, A));
  log10rows = (PetscReal)s.d * std::log10((PetscReal)s.n);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %d modes of %d points, 10^%.1f rows\n", problem, (int)s.d, (int)s.n, (double)log10rows));

  PetscCall(EPSCreate(PETSC_COMM_WORLD, &eps));
  PetscCall(EPSSetOperators(eps, A, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
  if (!random) {
    PetscCall(CreateStart(s, A, &start));
    PetscCall(EPSSetInitialSpace(eps, 1, &start));
    PetscCall(VecDestroy(&start));
  }
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetDimensions(eps, &nev, NULL, NULL));
  PetscCall(ExactEigenvalues(s, A, std::pow((PetscReal)10, log10rows), nev, &exact));
  PetscCall(Report(eps, exact, check, check_residual, &failed));

  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&A));
  PetscCall(SlepcFinalize());
  return failed ? 1 : 0;
}
