#include "cookies.hpp"

namespace cookies {

namespace {

// Element matrix and load vector of a triangle with corners (x_i, y_i), i = 0, 1, 2. With the edge vectors turned by a right angle,
// g_i = (y_j - y_k, x_k - x_j) for (i,j,k) cyclic, grad phi_i = g_i / (2 area): K_ij = g_i . g_j / (4 area), f_i = area / 3.
PetscErrorCode element(const PetscReal x[3], const PetscReal y[3], PetscScalar K[9], PetscScalar f[3])
{
  PetscReal g[3][2];

  PetscFunctionBeginUser;
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    g[i][0] = y[j] - y[k];
    g[i][1] = x[k] - x[j];
  }
  const PetscReal area = PetscAbsReal((x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])) / 2;
  PetscCheck(area > 0, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "the mesh has a triangle without area at (%g,%g)", (double)x[0], (double)y[0]);
  for (int i = 0; i < 3; ++i) {
    f[i] = area / 3;
    for (int j = 0; j < 3; ++j) K[3 * i + j] = (g[i][0] * g[j][0] + g[i][1] * g[j][1]) / (4 * area);
  }
  PetscFunctionReturn(0);
}

// From the numbering of the mesh's global section to ours (number_unknowns).
PetscErrorCode renumber(DM dm, std::vector<Mat> &A, Vec section_b, Vec *b)
{
  IS         rows;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(get_numbering(dm, &rows));
  for (Mat &M : A) {
    Mat mine;
    PetscCall(MatCreateSubMatrix(M, rows, rows, MAT_INITIAL_MATRIX, &mine));
    PetscCall(MatDestroy(&M));
    M = mine;
    PetscCall(MatSetOption(M, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(MatSetOption(M, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  }
  PetscCall(MatSetOption(A[0], MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(A[0], NULL, b));
  PetscCall(VecScatterCreate(section_b, rows, *b, NULL, &scatter));
  PetscCall(VecScatterBegin(scatter, section_b, *b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, section_b, *b, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode assemble(DM dm, PetscInt p, std::vector<Mat> &A, Vec *b)
{
  MPI_Comm             comm = PetscObjectComm((PetscObject)dm);
  std::vector<DMLabel> disc(p + 1, NULL);
  Vec                  blocal, bsection, coordinates;
  PetscSection         csection;
  PetscInt             cStart, cEnd;

  PetscFunctionBeginUser;
  for (PetscInt i = 1; i <= p; ++i) {
    PetscCall(DMGetLabel(dm, ("disc" + std::to_string(i)).c_str(), &disc[i]));
    PetscCheck(disc[i], comm, PETSC_ERR_ARG_WRONG, "the mesh has no triangles on its physical surface disc%" PetscInt_FMT, i);
  }
  PetscCall(DMSetMatrixPreallocateOnly(dm, PETSC_TRUE)); // A[i] keeps the entries of disc i alone
  A.assign(p + 1, NULL);
  for (Mat &M : A) PetscCall(DMCreateMatrix(dm, &M));
  PetscCall(DMCreateLocalVector(dm, &blocal));
  PetscCall(DMGetCoordinateSection(dm, &csection));
  PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd)); // no overlap: every triangle is on one process
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscScalar *xy = NULL, K[9], f[3];
    PetscReal    x[3], y[3];
    PetscInt     n, in;

    // the closure lists the corners in the same order for the coordinates as for the unknowns
    PetscCall(DMPlexVecGetClosure(dm, csection, coordinates, c, &n, &xy));
    for (int i = 0; i < 3; ++i) {
      x[i] = PetscRealPart(xy[2 * i]);
      y[i] = PetscRealPart(xy[2 * i + 1]);
    }
    PetscCall(DMPlexVecRestoreClosure(dm, csection, coordinates, c, &n, &xy));
    PetscCall(element(x, y, K, f));
    PetscCall(DMPlexVecSetClosure(dm, NULL, blocal, c, f, ADD_VALUES));
    PetscCall(DMPlexMatSetClosure(dm, NULL, NULL, A[0], c, K, ADD_VALUES));
    for (PetscInt i = 1; i <= p; ++i) {
      PetscCall(DMLabelGetValue(disc[i], c, &in));
      if (in >= 0) PetscCall(DMPlexMatSetClosure(dm, NULL, NULL, A[i], c, K, ADD_VALUES));
    }
  }
  for (Mat M : A) PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  for (Mat M : A) PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));

  PetscCall(DMCreateGlobalVector(dm, &bsection));
  PetscCall(VecSet(bsection, 0));
  PetscCall(DMLocalToGlobal(dm, blocal, ADD_VALUES, bsection));
  PetscCall(renumber(dm, A, bsection, b));
  PetscCall(VecDestroy(&bsection));
  PetscCall(VecDestroy(&blocal));
  PetscFunctionReturn(0);
}

} // namespace cookies
