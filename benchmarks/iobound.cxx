static char help[] = "Lower bounds for the words that a kernel moves, whatever its schedule.\n\n";

/*
  The model is that of src/iobound: P processes with a fast memory of M words each, operators of order N (-kernel lu, cholesky, matmul), or
  tensor-train cores of r x N x r (tt-apply, a dense matrix on a mode; tt-gram, one step of an inner product; qr-update, Householder QR of the
  vertical unfolding).

  Sample runs.
      ./iobound -N 8192 -P 64                     all kernels, M = N^2/P
      ./iobound -kernel lu -N 4096 -P 16 -M 1048576
*/
#include "common/measure.hpp"

#include "iobound/program.hpp"
#include "sys/compat.hpp"

#include <cstring>

using namespace petsctt::iobound;

namespace {

PetscErrorCode body(bench::Figures &figures)
{
  const char *const kernels[] = {"lu", "cholesky", "matmul", "tt-apply", "tt-gram", "qr-update", "all"};
  PetscInt          kernel = 6, N = 4096, P = 16, r = 100;
  PetscReal         M = 0;

  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Lower bounds", NULL);
  PetscCall(PetscOptionsEList("-kernel", "which", NULL, kernels, 7, kernels[kernel], &kernel, NULL));
  PetscCall(PetscOptionsInt("-N", "order of the matrices, points of a mode", NULL, N, &N, NULL));
  PetscCall(PetscOptionsInt("-P", "processes", NULL, P, &P, NULL));
  PetscCall(PetscOptionsInt("-r", "TT rank", NULL, r, &r, NULL));
  PetscCall(PetscOptionsReal("-M", "words of fast memory of a process; default N^2/P", NULL, M, &M, NULL));
  PetscOptionsEnd();
  PetscCheck(N >= 1 && P >= 1 && r >= 1, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "Need -N, -P and -r >= 1, got %" PetscInt_FMT ", %" PetscInt_FMT ", %" PetscInt_FMT, N, P, r);
  if (M <= 0) M = (PetscReal)N * (PetscReal)N / (PetscReal)P;
  PetscCheck(M >= 4, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "-M %g: at least 4 words, the operands of one operation and its result", (double)M);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "N = %" PetscInt_FMT ", r = %" PetscInt_FMT ", %" PetscInt_FMT " processes of %g words each\n", N, r, P, (double)M));
  const double  n = (double)N, R = (double)r, m = (double)M;
  const Program all[] = {lu(n), cholesky(n), matmul(n), tt_apply(n, R), tt_gram(n, R, m), qr_update(n * R, R)};
  for (int k = 0; k < 6; ++k) {
    if (kernel != 6 && kernel != k) continue;
    const Bound b = lower_bound(all[k], m);
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: at least %.5g words, %.5g for each process\n", kernels[k], b.Q, b.Q / (double)P));
    for (std::size_t s = 0; s < all[k].statements.size(); ++s)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %-10s %.4g executions, at most %.5g per word (X_0 = %.5g), %.5g words\n", all[k].statements[s].name.c_str(), all[k].statements[s].executions,
                            b.intensities[s].rho, b.intensities[s].X0, b.each[s]));
    if (b.reuse > 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  shared inputs save at most %.5g words\n", b.reuse));
    figures.add(std::string("iobound.") + kernels[k] + ".words_per_process", b.Q / (double)P);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return bench::run(argc, argv, help, body);
}
