#include "field.hpp"

namespace field {

namespace {

// Element matrix of a square, corners in the order (0,0), (1,0), (1,1), (0,1); it does not depend on h.
const PetscReal element[4][4] = {
  {4. / 6,  -1. / 6, -2. / 6, -1. / 6},
  {-1. / 6, 4. / 6,  -1. / 6, -2. / 6},
  {-2. / 6, -1. / 6, 4. / 6,  -1. / 6},
  {-1. / 6, -2. / 6, -1. / 6, 4. / 6 }
};
const int corner_x[4] = {0, 1, 1, 0}, corner_y[4] = {0, 0, 1, 1};

// Calls f(element ex, ey, number of the node's corner in it) for the up to four elements around a node.
template <class F> void around(PetscInt m, PetscInt ix, PetscInt iy, F f)
{
  for (int a = 0; a < 4; ++a) {
    const PetscInt ex = ix - corner_x[a], ey = iy - corner_y[a];
    if (ex >= 0 && ex < m && ey >= 0 && ey < m) f(ex, ey, a);
  }
}

} // namespace

PetscErrorCode assemble(MPI_Comm comm, PetscInt m, const std::vector<PetscReal> &c, Mat *A, Vec *b)
{
  const PetscInt  N = (m - 1) * (m + 1);
  const PetscReal h = 1 / (PetscReal)m;
  PetscInt        n = PETSC_DECIDE, size = N, start, end;
  PetscScalar    *rhs;

  PetscFunctionBeginUser;
  PetscCall(PetscSplitOwnership(comm, &n, &size));
  PetscCall(MatCreateAIJ(comm, n, n, N, N, 9, NULL, 9, NULL, A));
  PetscCall(MatCreateVecs(*A, NULL, b));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(VecGetArrayWrite(*b, &rhs));
  for (PetscInt i = start; i < end; ++i) {
    const PetscInt ix = i / (m + 1) + 1, iy = i % (m + 1);
    rhs[i - start] = 0;
    around(m, ix, iy, [&](PetscInt ex, PetscInt ey, int a) {
      const PetscReal ce = c[ey + m * ex];
      for (int q = 0; q < 4; ++q) rhs[i - start] -= ce * element[a][q] * (1 - (PetscReal)(ex + corner_x[q]) * h);
    });
    PetscInt    columns[9];
    PetscScalar values[9] = {0};
    for (int q = 0; q < 9; ++q) {
      const PetscInt jx = ix + q / 3 - 1, jy = iy + q % 3 - 1;
      columns[q] = jx > 0 && jx < m && jy >= 0 && jy <= m ? jy + (m + 1) * (jx - 1) : -1; // -1: not an unknown, left out by PETSc
    }
    around(m, ix, iy, [&](PetscInt ex, PetscInt ey, int a) {
      for (int q = 0; q < 4; ++q) values[3 * (ex + corner_x[q] - ix + 1) + ey + corner_y[q] - iy + 1] += c[ey + m * ex] * element[a][q];
    });
    PetscCall(MatSetValues(*A, 1, &i, 9, columns, values, INSERT_VALUES));
  }
  PetscCall(VecRestoreArrayWrite(*b, &rhs));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*A, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(0);
}

PetscErrorCode quarter_mean(PetscInt m, Vec f, PetscReal *c)
{
  const PetscInt  inside = (m + 1) / 2; // elements in each direction
  const PetscReal share  = 1 / (4 * (PetscReal)inside * (PetscReal)inside);
  PetscInt        start, end;
  PetscScalar    *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(f, &start, &end));
  PetscCall(VecGetArrayWrite(f, &a));
  for (PetscInt i = start; i < end; ++i) {
    a[i - start] = 0;
    around(m, i / (m + 1) + 1, i % (m + 1), [&](PetscInt ex, PetscInt ey, int) { a[i - start] += ex < inside && ey < inside ? share : 0; });
  }
  *c = 1 - (PetscReal)inside / (2 * (PetscReal)m); // of 1 - x
  PetscCall(VecRestoreArrayWrite(f, &a));
  PetscFunctionReturn(0);
}

PetscErrorCode lift(PetscInt m, Vec g)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(g, &start, &end));
  PetscCall(VecGetArrayWrite(g, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = 1 - (PetscReal)(i / (m + 1) + 1) / (PetscReal)m;
  PetscCall(VecRestoreArrayWrite(g, &a));
  PetscFunctionReturn(0);
}

PetscErrorCode write_vti(const std::string &file, PetscInt m, const std::vector<NodeField> &fields)
{
  PetscViewer viewer;
  MPI_Comm    comm = PetscObjectComm((PetscObject)fields.at(0).values);
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscViewerASCIIOpen(comm, file.c_str(), &viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"0.1\" byte_order=\"LittleEndian\">\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "<ImageData WholeExtent=\"0 %" PetscInt_FMT " 0 %" PetscInt_FMT " 0 0\" Origin=\"0 0 0\" Spacing=\"%.17g %.17g 1\">\n", m, m, 1.0 / (double)m, 1.0 / (double)m));
  PetscCall(PetscViewerASCIIPrintf(viewer, "<Piece Extent=\"0 %" PetscInt_FMT " 0 %" PetscInt_FMT " 0 0\">\n<PointData>\n", m, m));
  for (const NodeField &f : fields) {
    VecScatter         gather;
    Vec                all;
    const PetscScalar *a;
    PetscCall(VecScatterCreateToZero(f.values, &gather, &all));
    PetscCall(VecScatterBegin(gather, f.values, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(gather, f.values, all, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(all, &a));
    PetscCall(PetscViewerASCIIPrintf(viewer, "<DataArray type=\"Float64\" Name=\"%s\" format=\"ascii\">\n", f.name.c_str()));
    for (PetscInt iy = 0; iy <= m; ++iy) {
      for (PetscInt ix = 0; ix <= m; ++ix) {
        const PetscReal value = rank ? 0 : ix == 0 ? f.left : ix == m ? f.right : PetscRealPart(a[iy + (m + 1) * (ix - 1)]);
        PetscCall(PetscViewerASCIIPrintf(viewer, "%.17g\n", (double)value)); // of process 0
      }
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "</DataArray>\n"));
    PetscCall(VecRestoreArrayRead(all, &a));
    PetscCall(VecScatterDestroy(&gather));
    PetscCall(VecDestroy(&all));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "</PointData>\n</Piece>\n</ImageData>\n</VTKFile>\n"));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

} // namespace field
