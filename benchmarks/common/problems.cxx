#include "common/problems.hpp"

#include "cookies.hpp"
#include "sys/compat.hpp"

namespace bench {

Problem::~Problem()
{
  for (auto &mode : factors)
    for (Mat &M : mode) (void)MatDestroy(&M);
  (void)MatDestroy(&A);
  (void)VecDestroy(&b);
}

namespace {

// A square matrix with the rows of mode k and at most three entries a row; on each process for itself if the mode is replicated.
PetscErrorCode create_mode_matrix(Vec like, PetscInt k, PetscInt n, Mat *M, PetscInt *start, PetscInt *end)
{
  PetscBool replicated;

  PetscFunctionBegin;
  PetscCall(VecTTGetModeOwnership(like, k, &replicated, start, end));
  PetscCall(MatCreateAIJ(replicated ? PETSC_COMM_SELF : PETSC_COMM_WORLD, *end - *start, *end - *start, n, n, 3, NULL, 2, NULL, M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assembled(Mat M)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode make_laplacian(PetscInt d, PetscInt n, Problem &p)
{
  const PetscReal       h2 = (PetscReal)(n + 1) * (PetscReal)(n + 1);
  std::vector<PetscInt> kind((std::size_t)d, PETSC_TT_DISTRIBUTED), N((std::size_t)d, n);
  Vec                   x;
  PetscInt              start, end;

  PetscFunctionBegin;
  p.name = "laplace" + std::to_string((long long)d) + "d";
  p.factors.resize((std::size_t)d);
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, kind.data(), N.data(), &p.A));
  PetscCall(MatCreateVecs(p.A, &x, NULL));
  for (PetscInt k = 0; k < d; ++k) {
    Mat T;
    PetscCall(create_mode_matrix(x, k, n, &T, &start, &end));
    for (PetscInt i = start; i < end; ++i) {
      if (i > 0) PetscCall(MatSetValue(T, i, i - 1, -h2, INSERT_VALUES));
      PetscCall(MatSetValue(T, i, i, 2 * h2, INSERT_VALUES));
      if (i + 1 < n) PetscCall(MatSetValue(T, i, i + 1, -h2, INSERT_VALUES));
    }
    PetscCall(assembled(T));
    p.factors[(std::size_t)k].push_back(T);
    std::vector<Mat> term((std::size_t)d, (Mat)NULL);
    term[(std::size_t)k] = T;
    PetscCall(MatTTAddTerm(p.A, 1, term.data()));
  }
  PetscCall(assembled(p.A));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_cookies(const char mesh[], PetscInt samples, Problem &p)
{
  std::string      file;
  std::vector<Mat> space;
  DM               dm;
  Vec              f;
  PetscInt         discs, start, end;

  PetscFunctionBegin;
  PetscCheck(samples >= 2, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " samples: at least 2 are needed", samples);
  p.name = "cookies";
  PetscCall(cookies::find_mesh(mesh, file));
  PetscCall(cookies::read_mesh(PETSC_COMM_WORLD, file.c_str(), &dm, &discs));
  PetscCall(cookies::assemble(dm, discs, space, &f));
  PetscCall(DMDestroy(&dm));
  const PetscInt        d = discs + 1;
  std::vector<PetscInt> n((std::size_t)d, PETSC_TT_AUTO), N((std::size_t)d, samples);
  PetscCall(VecGetLocalSize(f, &n[0]));
  PetscCall(VecGetSize(f, &N[0]));
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, n.data(), N.data(), &p.A));
  PetscCall(MatCreateVecs(p.A, NULL, &p.b));
  p.factors.resize((std::size_t)d);
  p.factors[0] = space;
  for (PetscInt j = 0; j < samples; ++j) p.alphas.push_back(100 * (PetscReal)j / (PetscReal)(samples - 1));
  for (PetscInt k = 0; k < d; ++k) {
    std::vector<Mat> term((std::size_t)d, (Mat)NULL);
    term[0] = space[(std::size_t)k];
    if (k > 0) {
      Mat D;
      PetscCall(create_mode_matrix(p.b, k, samples, &D, &start, &end));
      for (PetscInt j = start; j < end; ++j) PetscCall(MatSetValue(D, j, j, p.alphas[(std::size_t)j], INSERT_VALUES));
      PetscCall(assembled(D));
      p.factors[(std::size_t)k].push_back(D);
      term[(std::size_t)k] = D;
    }
    PetscCall(MatTTAddTerm(p.A, 1, term.data()));
  }
  PetscCall(assembled(p.A));
  std::vector<Vec> ones((std::size_t)d, (Vec)NULL);
  ones[0] = f;
  PetscCall(VecTTSetRankOne(p.b, ones.data()));
  PetscCall(VecDestroy(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace bench
