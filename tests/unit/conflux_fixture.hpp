// What the tests of MATSOLVERCONFLUX have in common: dense matrices, factors of them, and a process without memory.
#ifndef PETSCTT_TESTS_CONFLUX_FIXTURE_HPP
#define PETSCTT_TESTS_CONFLUX_FIXTURE_HPP

#include "base/buffer.hpp"
#include "base/memory.hpp"
#include "pc_fixture.hpp"

#include <petscksp.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace conflux_fixture {

using namespace petsctt;
using namespace petsctt::test;

// Well conditioned and without symmetries
inline Scalar entry(PetscInt i, PetscInt j)
{
  const Real a = std::sin(1 + 12.9898 * (Real)i + 78.233 * (Real)j + 3.7 * (Real)i * (Real)j) + (i == j ? 30 : 0);
#if defined(PETSC_USE_COMPLEX)
  return Scalar(a, std::cos((Real)(i + 2 * j)));
#else
  return a;
#endif
}

inline PetscErrorCode fill(Mat A, Scalar factor = 1)
{
  PetscInt start, end, N;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(MatGetSize(A, NULL, &N));
  for (PetscInt i = start; i < end; ++i)
    for (PetscInt j = 0; j < N; ++j) PetscCall(MatSetValue(A, i, j, factor * entry(i, j), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode square(MatType type, PetscInt N, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(fill(*A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode symbolic(Mat A, MatFactorType type, Mat *F)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  PetscCall(MatGetFactor(A, MATSOLVERCONFLUX, type, F));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorSymbolic(*F, A, NULL, NULL, &info));
  else PetscCall(MatCholeskyFactorSymbolic(*F, A, NULL, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode numeric(Mat A, MatFactorType type, Mat F)
{
  MatFactorInfo info;

  PetscFunctionBegin;
  PetscCall(MatFactorInfoInitialize(&info));
  if (type == MAT_FACTOR_LU) PetscCall(MatLUFactorNumeric(F, A, &info));
  else PetscCall(MatCholeskyFactorNumeric(F, A, &info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode rectangle(PetscInt m, PetscInt N, PetscInt k, Mat *B)
{
  PetscFunctionBegin;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, PETSC_DECIDE, N, k, NULL, B));
  PetscCall(fill(*B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ||A x - b|| / ||b||
inline PetscErrorCode error_of(Mat A, Vec b, Vec x, Real *e)
{
  VecHandle r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, r.out()));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, e));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *e /= norm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode ksp_of(Mat A, const char prefix[], KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, prefix));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPPREONLY));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCLU));
  PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERCONFLUX));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const Real tolerance = 1e4 * PETSC_MACHINE_EPSILON;

// Takes almost all memory that a process may have, as long as it lives.
class LittleMemory {
public:
  LittleMemory(int process, double bytes)
  {
    free_cached_memory();
    getrlimit(RLIMIT_AS, &before_);
    if (rank() != process) return;
    long      pages = 0;
    if (std::FILE *f = std::fopen("/proc/self/statm", "r")) {
      if (std::fscanf(f, "%ld", &pages) != 1) pages = 0;
      std::fclose(f);
    }
    if (!pages) return;
    taken_.reserve(1 << 14);
    rlimit now   = before_;
    now.rlim_cur = (rlim_t)((double)pages * (double)sysconf(_SC_PAGESIZE) + bytes);
    setrlimit(RLIMIT_AS, &now);
    // what has been given back before is there, too
    constexpr std::size_t piece = 1 << 17;
    while (taken_.size() < taken_.capacity()) {
      void *p = std::malloc(piece);
      if (!p) break;
      taken_.push_back(p);
    }
    for (std::size_t s = 0; s < (std::size_t)bytes / piece && !taken_.empty(); ++s, taken_.pop_back()) std::free(taken_.back());
  }
  ~LittleMemory()
  {
    setrlimit(RLIMIT_AS, &before_);
    for (void *p : taken_) std::free(p);
  }

private:
  rlimit              before_;
  std::vector<void *> taken_;
};

#if defined(__SANITIZE_ADDRESS__)
constexpr bool limits_work = false; // the address space is full of shadows
#else
constexpr bool limits_work = true;
#endif

} // namespace conflux_fixture

#endif
