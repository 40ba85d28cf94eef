#include "field.hpp"

#include <petsctime.h>
#include <string>

namespace field {

namespace {

PetscErrorCode create_solver(MPI_Comm comm, Mat A, KSP *ksp)
{
  PC            pc;
  PetscMPIInt   size;
  PetscBool     available;
  MatSolverType package;
  MatFactorType factor;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(KSPCreate(comm, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "mc_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, 1e-10, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPGetPC(*ksp, &pc));
  // a factorisation where there is one, which is the fastest for these sizes: Cholesky on one process and of real numbers, MUMPS' LU on several
  package = size > 1 ? MATSOLVERMUMPS : MATSOLVERPETSC;
  factor  = size > 1 || PetscDefined(USE_COMPLEX) ? MAT_FACTOR_LU : MAT_FACTOR_CHOLESKY;
  PetscCall(MatGetFactorAvailable(A, package, factor, &available));
  if (available) {
    PetscCall(KSPSetType(*ksp, KSPPREONLY));
    PetscCall(PCSetType(pc, factor == MAT_FACTOR_LU ? PCLU : PCCHOLESKY));
    PetscCall(PCFactorSetMatSolverType(pc, package));
  } else {
    PetscCall(KSPSetType(*ksp, KSPCG));
    PetscCall(PCSetType(pc, PCGAMG));
  }
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

} // namespace

// Means and variances of the field by Welford's updates, which do not cancel.
PetscErrorCode monte_carlo(const std::vector<Mat> &A, const std::vector<Vec> &b, Vec f, PetscInt samples, unsigned long seed, MonteCarlo &out)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)f);
  Mat            M;
  Vec            rhs, v, delta;
  KSP            ksp;
  PetscRandom    random;
  PetscLogDouble start, end;

  PetscFunctionBeginUser;
  // the same numbers on every process
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, seed));
  PetscCall(PetscRandomSeed(random));
  PetscCall(MatDuplicate(A[0], MAT_COPY_VALUES, &M));
  for (Vec *w : {&rhs, &v, &delta, &out.mean, &out.variance}) PetscCall(VecDuplicate(f, w));
  PetscCall(VecSet(out.mean, 0));
  PetscCall(VecSet(out.variance, 0));
  PetscCall(create_solver(comm, M, &ksp));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&start));
  for (PetscInt s = 0; s < samples; ++s) {
    std::vector<PetscReal> y(A.size() - 1);
    PetscScalar            q;
    KSPConvergedReason     reason;
    PetscCall(MatCopy(A[0], M, SAME_NONZERO_PATTERN));
    PetscCall(VecCopy(b[0], rhs));
    for (std::size_t k = 1; k < A.size(); ++k) {
      PetscReal number;
      PetscCall(PetscRandomGetValueReal(random, &number));
      y[k - 1] = 2 * number - 1;
      PetscCall(MatAXPY(M, y[k - 1], A[k], SAME_NONZERO_PATTERN));
      PetscCall(VecAXPY(rhs, y[k - 1], b[k]));
    }
    PetscCall(KSPSetOperators(ksp, M, M));
    PetscCall(KSPSolve(ksp, rhs, v));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCheck(reason > 0, comm, PETSC_ERR_NOT_CONVERGED, "sample %" PetscInt_FMT ": the solver ended with %s", s, KSPConvergedReasons[reason]);
    PetscCall(VecTDot(v, f, &q));
    out.y.push_back(y);
    out.q.push_back(PetscRealPart(q));
    PetscCall(VecWAXPY(delta, -1, out.mean, v));
    PetscCall(VecAXPY(out.mean, 1 / (PetscReal)(s + 1), delta));
    PetscCall(VecAXPY(v, -1, out.mean));
    PetscCall(VecPointwiseMult(delta, delta, v));
    PetscCall(VecAXPY(out.variance, 1, delta));
  }
  PetscCall(VecScale(out.variance, 1 / (PetscReal)PetscMax(samples - 1, 1)));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&end));
  out.seconds = end - start;
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&M));
  for (Vec *w : {&rhs, &v, &delta}) PetscCall(VecDestroy(w));
  PetscFunctionReturn(0);
}

PetscErrorCode print_times(PetscLogDouble train, const MonteCarlo &mc, PetscReal relative_error, PetscReal e)
{
  const PetscReal S = (PetscReal)mc.q.size();
  const PetscReal bound = PetscMax(2 * e + e * e, PETSC_MACHINE_EPSILON), n = S * PetscSqr(relative_error / bound);

  PetscFunctionBeginUser;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "times\n  %-37s %12.2f seconds\n", "all parameters at once", (double)train));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-37s %12.2f seconds, ratio %.3g\n", ("Monte Carlo, " + std::to_string((long long)S) + " samples").c_str(),
                        (double)mc.seconds, (double)(mc.seconds / train)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-37s %12.3g seconds, ratio %.3g: %.1e samples, extrapolated with 1/sqrt(n)\n",
                        "Monte Carlo, variance as accurate", (double)(mc.seconds / S * n), (double)(mc.seconds / S * n / train), (double)n));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  relative error of the variance: %.1e at most for the train, from the differences at the samples; standard error %.1e for the samples\n",
                        (double)bound, (double)relative_error));
  PetscFunctionReturn(0);
}

} // namespace field
