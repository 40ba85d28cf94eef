static char help[] = "Operations of basis vectors of type BVTT against products of small matrices.\n\n";

#include "check.hpp"

// G(i,j) := v_i^H v_j of columns 0..m-1
static PetscErrorCode Gram(BV V, PetscInt m, std::vector<PetscScalar> *G)
{
  Mat                M;
  const PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(BVSetActiveColumns(V, 0, m));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, m, m, NULL, &M));
  PetscCall(BVDot(V, V, M));
  PetscCall(MatDenseGetArrayRead(M, &a));
  G->assign(a, a + m * m);
  PetscCall(MatDenseRestoreArrayRead(M, &a));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckOrthonormal(BV V, PetscInt m, const char *what)
{
  std::vector<PetscScalar> G;

  PetscFunctionBeginUser;
  PetscCall(Gram(V, m, &G));
  for (PetscInt i = 0; i < m; i++)
    for (PetscInt j = 0; j < m; j++)
      CHECK(PetscAbsScalar(G[i + m * j] - (PetscScalar)(i == j)) < 1e-9, "%s: product of columns %d and %d is off by %g", what, (int)i, (int)j, (double)PetscAbsScalar(G[i + m * j] - (PetscScalar)(i == j)));
  PetscFunctionReturn(0);
}

// || w - V c ||, relative to || w ||, for column w of W
static PetscErrorCode Distance(BV W, PetscInt column, BV V, PetscInt m, const PetscScalar c[], PetscReal *distance)
{
  Vec       w, t, v;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(BVGetColumn(W, column, &w));
  PetscCall(VecDuplicate(w, &t));
  PetscCall(VecCopy(w, t));
  PetscCall(VecNorm(w, NORM_2, &norm));
  PetscCall(BVRestoreColumn(W, column, &w));
  for (PetscInt i = 0; i < m; i++) {
    PetscCall(BVGetColumn(V, i, &v));
    PetscCall(VecAXPY(t, -c[i], v));
    PetscCall(BVRestoreColumn(V, i, &v));
  }
  PetscCall(VecNorm(t, NORM_2, distance));
  *distance /= norm;
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckProducts(BV V)
{
  const PetscInt           m = 4;
  BV                       W, U;
  Mat                      Q;
  PetscScalar             *q;
  std::vector<PetscScalar> c;
  PetscReal                distance, norm, one;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, m, m, NULL, &Q));
  PetscCall(MatDenseGetArray(Q, &q));
  for (PetscInt i = 0; i < m * m; i++) q[i] = (PetscScalar)(0.7 * i - 4 + (i % 3));
  c.assign(q, q + m * m);
  PetscCall(MatDenseRestoreArray(Q, &q));
  PetscCall(BVSetActiveColumns(V, 0, m));
  PetscCall(BVDuplicate(V, &W));
  PetscCall(BVDuplicate(V, &U));
  PetscCall(BVSetActiveColumns(W, 0, m));
  PetscCall(BVSetActiveColumns(U, 0, m));
  PetscCall(BVMult(W, 1, 0, V, Q));
  PetscCall(BVCopy(V, U));
  PetscCall(BVMultInPlace(U, Q, 1, 3)); // columns 1 and 2
  for (PetscInt j = 0; j < m; j++) {
    PetscCall(Distance(W, j, V, m, c.data() + m * j, &distance));
    CHECK(distance < 1e-9, "BVMult: column %d is off by %g", (int)j, (double)distance);
    std::vector<PetscScalar> want(c.begin() + m * j, c.begin() + m * (j + 1));
    if (j == 0 || j == 3) {
      std::fill(want.begin(), want.end(), 0);
      want[j] = 1;
    }
    PetscCall(Distance(U, j, V, m, want.data(), &distance));
    CHECK(distance < 1e-9, "BVMultInPlace: column %d is off by %g", (int)j, (double)distance);
  }
  PetscCall(BVMult(W, -2, 1, V, Q)); // W = V Q - 2 V Q
  for (PetscScalar &a : c) a = -a;
  PetscCall(Distance(W, 2, V, m, c.data() + 2 * m, &distance));
  CHECK(distance < 1e-9, "BVMult with factors: off by %g", (double)distance);
  PetscCall(BVNorm(V, NORM_FROBENIUS, &norm));
  PetscCall(BVNormColumn(V, 1, NORM_2, &one));
  CHECK(norm > one && one > 0, "norms %g of all, %g of one column", (double)norm, (double)one);
  PetscCall(BVDestroy(&W));
  PetscCall(BVDestroy(&U));
  PetscCall(MatDestroy(&Q));
  PetscFunctionReturn(0);
}

static PetscErrorCode CheckRefusals(BV V)
{
  PetscScalar *a;
  Mat          M;

  PetscFunctionBeginUser;
  CHECK(Quietly([&] { return BVGetArray(V, &a); }) == PETSC_ERR_SUP && last_message.find("have no array") != std::string::npos, "BVGetArray: %s", last_message.c_str());
  CHECK(Quietly([&] { return BVGetMat(V, &M); }) == PETSC_ERR_SUP, "BVGetMat: %s", last_message.c_str());
  CHECK(Quietly([&] { return BVTTSetRoundRtol(V, 2); }) == PETSC_ERR_ARG_OUTOFRANGE && last_message.find("2. of") != std::string::npos, "BVTTSetRoundRtol: %s", last_message.c_str());
  PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
  const PetscInt m = 5;
  Mat            A;
  Vec            x;
  BV             V, W;
  BVType         type;
  PetscReal      rtol, norm;
  PetscBool      same, dependent;

  PetscFunctionBeginUser;
  PetscCall(SlepcInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscTTInitializeSlepc());
  PetscCall(SmallOperator({4, 5, 3}, 0, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(BVCreate(PETSC_COMM_WORLD, &V));
  PetscCall(BVSetType(V, BVSVEC)); // the type follows the vectors
  PetscCall(BVSetSizesFromVec(V, x, m));
  PetscCall(BVSetFromOptions(V));
  PetscCall(BVGetType(V, &type));
  PetscCall(PetscStrcmp(type, BVTT, &same));
  CHECK(same, "the BV of tensor trains is of type %s", type);
  PetscCall(BVTTSetRoundRtol(V, 1e-12));
  PetscCall(BVDuplicate(V, &W));
  PetscCall(BVTTGetRoundRtol(W, &rtol));
  CHECK(rtol == 1e-12, "the tolerance of a duplicate is %g", (double)rtol);
  PetscCall(BVDestroy(&W));

  PetscCall(BVSetRandom(V));
  PetscCall(CheckProducts(V));
  PetscCall(BVSetActiveColumns(V, 0, 4));
  PetscCall(BVOrthogonalize(V, NULL));
  PetscCall(CheckOrthonormal(V, 4, "gs"));
  PetscCall(BVSetRandomColumn(V, 4));
  PetscCall(BVOrthonormalizeColumn(V, 4, PETSC_FALSE, &norm, &dependent));
  CHECK(norm > 0 && !dependent, "a random column has the norm %g after orthogonalisation", (double)norm);
  PetscCall(CheckOrthonormal(V, 5, "column"));
  PetscCall(BVCopyColumn(V, 2, 4));
  PetscCall(BVOrthogonalizeColumn(V, 4, NULL, &norm, &dependent));
  CHECK(norm < 1e-10 && dependent, "a copy of a column has the norm %g after orthogonalisation", (double)norm);
  for (BVOrthogBlockType block : {BV_ORTHOG_BLOCK_CHOL, BV_ORTHOG_BLOCK_SVQB}) {
    PetscCall(BVSetRandom(V));
    PetscCall(BVSetActiveColumns(V, 0, 4));
    PetscCall(BVSetOrthogonalization(V, BV_ORTHOG_MGS, BV_ORTHOG_REFINE_IFNEEDED, PETSC_DEFAULT, block));
    PetscCall(BVOrthogonalize(V, NULL));
    PetscCall(CheckOrthonormal(V, 4, block == BV_ORTHOG_BLOCK_CHOL ? "chol" : "svqb"));
  }
  PetscCall(BVSetActiveColumns(V, 0, 4));
  PetscCall(BVResize(V, 8, PETSC_TRUE));
  PetscCall(CheckOrthonormal(V, 4, "resized"));
  PetscCall(CheckRefusals(V));
  PetscCall(BVDestroy(&V));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(SlepcFinalize());
  return 0;
}
