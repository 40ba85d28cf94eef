#include "cookies.hpp"

#include <petscviewer.h>

namespace cookies {

namespace {

// Values at all vertices of this process, zeros of the boundary included, in the order of the vertices.
PetscErrorCode vertex_values(DM dm, Vec values, std::vector<PetscReal> &out)
{
  PetscSection       section;
  Vec                global, local;
  IS                 rows;
  VecScatter         scatter;
  const PetscScalar *a;
  PetscInt           vStart, vEnd, off;

  PetscFunctionBeginUser;
  PetscCall(DMCreateGlobalVector(dm, &global)); // with the numbering of the mesh's section
  PetscCall(get_numbering(dm, &rows));
  PetscCall(VecScatterCreate(values, NULL, global, rows, &scatter));
  PetscCall(VecScatterBegin(scatter, values, global, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, values, global, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(DMGetLocalSection(dm, &section));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMCreateLocalVector(dm, &local)); // zero, and stays so where the section is constrained
  PetscCall(DMGlobalToLocal(dm, global, INSERT_VALUES, local));
  PetscCall(VecDestroy(&global));
  PetscCall(VecGetArrayRead(local, &a));
  out.resize(vEnd - vStart);
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(PetscSectionGetOffset(section, v, &off));
    out[v - vStart] = PetscRealPart(a[off]);
  }
  PetscCall(VecRestoreArrayRead(local, &a));
  PetscCall(VecDestroy(&local));
  PetscFunctionReturn(0);
}

PetscErrorCode write_points(DM dm, PetscViewer viewer)
{
  PetscSection       section;
  Vec                coordinates;
  const PetscScalar *a;
  PetscInt           vStart, vEnd, off;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetCoordinateSection(dm, &section));
  PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
  PetscCall(VecGetArrayRead(coordinates, &a));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "<Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n"));
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(PetscSectionGetOffset(section, v, &off));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%.17g %.17g 0\n", (double)PetscRealPart(a[off]), (double)PetscRealPart(a[off + 1])));
  }
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</DataArray></Points>\n"));
  PetscCall(VecRestoreArrayRead(coordinates, &a));
  PetscFunctionReturn(0);
}

PetscErrorCode write_cells(DM dm, PetscViewer viewer)
{
  PetscInt vStart, vEnd, cStart, cEnd;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "<Cells><DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n"));
  for (PetscInt c = cStart; c < cEnd; ++c) {
    PetscInt *closure = NULL, n, corner[3], m = 0;
    PetscCall(DMPlexGetTransitiveClosure(dm, c, PETSC_TRUE, &n, &closure));
    for (PetscInt i = 0; i < n; ++i)
      if (closure[2 * i] >= vStart && closure[2 * i] < vEnd && m < 3) corner[m++] = closure[2 * i] - vStart;
    PetscCall(DMPlexRestoreTransitiveClosure(dm, c, PETSC_TRUE, &n, &closure));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%" PetscInt_FMT " %" PetscInt_FMT " %" PetscInt_FMT "\n", corner[0], corner[1], corner[2]));
  }
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</DataArray>\n<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">\n"));
  for (PetscInt c = 0; c < cEnd - cStart; ++c) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%" PetscInt_FMT "\n", 3 * (c + 1)));
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</DataArray>\n<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">\n"));
  for (PetscInt c = cStart; c < cEnd; ++c) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "5\n")); // VTK_TRIANGLE
  PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</DataArray></Cells>\n"));
  PetscFunctionReturn(0);
}

} // namespace

// One piece per process, written in turn. PETSc's own VTK viewer is not used because its .vtu files have wrong offsets when PetscInt
// has 64 bits (PETSc 3.18), split complex fields in two, and are not well-formed XML.
PetscErrorCode write_vtu(DM dm, const std::string &file, const std::vector<Field> &fields)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)dm);
  PetscViewer viewer;
  PetscInt    vStart, vEnd, cStart, cEnd;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  PetscCall(PetscViewerASCIIOpen(comm, file.c_str(), &viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"));
  PetscCall(PetscViewerASCIIPushSynchronized(viewer));
  if (cEnd > cStart) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "<Piece NumberOfPoints=\"%" PetscInt_FMT "\" NumberOfCells=\"%" PetscInt_FMT "\">\n<PointData>\n", vEnd - vStart, cEnd - cStart));
  }
  for (const Field &f : fields) {
    std::vector<PetscReal> u;
    PetscCall(vertex_values(dm, f.values, u)); // collective
    if (cEnd == cStart) continue;
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "<DataArray type=\"Float64\" Name=\"%s\" format=\"ascii\">\n", f.name.c_str()));
    for (PetscReal ui : u) PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "%.17g\n", (double)ui));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</DataArray>\n"));
  }
  if (cEnd > cStart) {
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</PointData>\n"));
    PetscCall(write_points(dm, viewer));
    PetscCall(write_cells(dm, viewer));
    PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "</Piece>\n"));
  }
  PetscCall(PetscViewerFlush(viewer));
  PetscCall(PetscViewerASCIIPopSynchronized(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "</UnstructuredGrid>\n</VTKFile>\n"));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(0);
}

} // namespace cookies
