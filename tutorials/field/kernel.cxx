#include "field.hpp"

#include <algorithm>
#include <cmath>
#include <slepceps.h>

namespace field {

PetscReal Kernel::value(PetscReal dx, PetscReal dy) const
{
  const PetscReal s2 = (dx / lx) * (dx / lx) + (dy / ly) * (dy / ly);
  return 3 * sigma * sigma * (gaussian ? PetscExpReal(-s2 / 2) : PetscExpReal(-PetscSqrtReal(s2)));
}

namespace {

// The matrix h^2 kernel(x_i - x_j).
struct KernelMatrix {
  PetscInt               m = 0;
  std::vector<PetscReal> table; // [dx + m dy], in elements
  VecScatter             gather = NULL;
  Vec                    all    = NULL;
};

PetscErrorCode multiply(Mat K, Vec x, Vec y)
{
  KernelMatrix      *k;
  const PetscScalar *a;
  PetscScalar       *out;
  PetscInt           start, end;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(K, &k));
  PetscCall(VecScatterBegin(k->gather, x, k->all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(k->gather, x, k->all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(k->all, &a));
  PetscCall(VecGetArrayWrite(y, &out));
  PetscCall(VecGetOwnershipRange(y, &start, &end));
  const PetscInt m = k->m;
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt ix = i / m, iy = i % m;
    PetscScalar    sum = 0;
    for (PetscInt jx = 0; jx < m; ++jx) {
      const PetscReal   *row = k->table.data() + m * (ix > jx ? ix - jx : jx - ix);
      const PetscScalar *xj  = a + m * jx;
      for (PetscInt jy = 0; jy <= iy; ++jy) sum += row[iy - jy] * xj[jy];
      for (PetscInt jy = iy + 1; jy < m; ++jy) sum += row[jy - iy] * xj[jy];
    }
    out[i - start] = sum;
  }
  PetscCall(VecRestoreArrayWrite(y, &out));
  PetscCall(VecRestoreArrayRead(k->all, &a));
  PetscCall(PetscLogFlops(2.0 * (double)(end - start) * (double)m * (double)m));
  PetscFunctionReturn(0);
}

PetscErrorCode create_kernel_matrix(MPI_Comm comm, const Kernel &kernel, KernelMatrix &k, Mat *K)
{
  const PetscInt  m = k.m;
  const PetscReal h = 1 / (PetscReal)m;
  Vec             x;

  PetscFunctionBeginUser;
  k.table.resize((std::size_t)(m * m));
  for (PetscInt dx = 0; dx < m; ++dx)
    for (PetscInt dy = 0; dy < m; ++dy) k.table[dy + m * dx] = h * h * kernel.value((PetscReal)dx * h, (PetscReal)dy * h);
  PetscCall(MatCreateShell(comm, PETSC_DECIDE, PETSC_DECIDE, m * m, m * m, &k, K));
  PetscCall(MatShellSetOperation(*K, MATOP_MULT, (void (*)(void))multiply));
  PetscCall(MatSetOption(*K, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(MatCreateVecs(*K, &x, NULL));
  PetscCall(VecScatterCreateToAll(x, &k.gather, &k.all));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

// A function without symmetries at the centre of element i: the eigensolver starts from it on any number of processes, and the sign (or phase) of
// eigenvectors is that of its inner product with them.
PetscReal generic(PetscInt m, PetscInt i)
{
  const PetscReal x = ((PetscReal)(i / m) + 0.5) / (PetscReal)m, y = ((PetscReal)(i % m) + 0.5) / (PetscReal)m;
  return 1 + x + 0.7 * y + PetscSinReal(5 * x + 3 * y);
}

PetscErrorCode set_start(EPS eps, Mat K, PetscInt m)
{
  Vec      x;
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(K, &x, NULL));
  PetscCall(VecGetOwnershipRange(x, &start, &end));
  for (PetscInt i = start; i < end; ++i) PetscCall(VecSetValue(x, i, generic(m, i), INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(EPSSetInitialSpace(eps, 1, &x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(0);
}

// sqrt(lambda) phi with an integral of phi^2 of 1, from an eigenvector of any norm and phase.
PetscErrorCode scale_mode(const KernelMatrix &k, Vec x, PetscReal lambda, std::vector<PetscReal> &mode)
{
  const PetscScalar *a;
  PetscScalar        s = 0;
  PetscReal          norm2 = 0;

  PetscFunctionBeginUser;
  PetscCall(VecScatterBegin(k.gather, x, k.all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(k.gather, x, k.all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(k.all, &a));
  for (PetscInt i = 0; i < k.m * k.m; ++i) {
    s += a[i] * generic(k.m, i);
    norm2 += PetscRealPart(a[i] * PetscConj(a[i]));
  }
  const PetscScalar phase = PetscAbsScalar(s) > 0 ? PetscConj(s) / PetscAbsScalar(s) : 1;
  const PetscReal   scale = (PetscReal)k.m * PetscSqrtReal(lambda / norm2);
  mode.resize((std::size_t)(k.m * k.m));
  for (PetscInt i = 0; i < k.m * k.m; ++i) mode[i] = scale * PetscRealPart(phase * a[i]);
  PetscCall(VecRestoreArrayRead(k.all, &a));
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode expand(MPI_Comm comm, const Kernel &kernel, PetscInt m, PetscInt terms, Expansion &out)
{
  KernelMatrix k;
  Mat          K;
  EPS          eps;
  Vec          x;
  PetscInt     converged;

  PetscFunctionBeginUser;
  k.m = m;
  PetscCall(create_kernel_matrix(comm, kernel, k, &K));
  PetscCall(EPSCreate(comm, &eps));
  PetscCall(EPSSetOperators(eps, K, NULL));
  PetscCall(EPSSetProblemType(eps, EPS_HEP));
  PetscCall(EPSSetWhichEigenpairs(eps, EPS_LARGEST_REAL));
  PetscCall(EPSSetDimensions(eps, terms, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(EPSSetTolerances(eps, 1e-12, PETSC_DEFAULT));
  PetscCall(set_start(eps, K, m));
  PetscCall(EPSSetFromOptions(eps));
  PetscCall(EPSSolve(eps));
  PetscCall(EPSGetConverged(eps, &converged));
  PetscCheck(converged >= terms, comm, PETSC_ERR_NOT_CONVERGED, "only %" PetscInt_FMT " of %" PetscInt_FMT " eigenpairs of the covariance have converged; raise -eps_max_it or -eps_ncv", converged, terms);
  out.m     = m;
  out.trace = kernel.value(0, 0); // the unit square
  out.lambda.clear();
  out.mode.assign((std::size_t)terms, {});
  PetscCall(MatCreateVecs(K, &x, NULL));
  for (PetscInt i = 0; i < terms; ++i) {
    PetscScalar lambda;
    PetscCall(EPSGetEigenpair(eps, i, &lambda, NULL, x, NULL));
    PetscCheck(PetscRealPart(lambda) > 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "eigenvalue %" PetscInt_FMT " of the covariance is %g: take fewer terms", i + 1, (double)PetscRealPart(lambda));
    out.lambda.push_back(PetscRealPart(lambda));
    PetscCall(scale_mode(k, x, out.lambda.back(), out.mode[i]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(EPSDestroy(&eps));
  PetscCall(MatDestroy(&K));
  PetscCall(VecScatterDestroy(&k.gather));
  PetscCall(VecDestroy(&k.all));
  PetscFunctionReturn(0);
}

} // namespace field
