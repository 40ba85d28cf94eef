#include "cookies.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace cookies {

namespace {

const char key[] = "cookies_rows";

// Coordinates of the unknowns this process owns in the mesh's global section, in the order of that section.
PetscErrorCode section_coordinates(DM dm, std::vector<PetscReal> &xy)
{
  PetscSection       global, csection;
  Vec                coordinates;
  const PetscScalar *c;
  PetscInt           vStart, vEnd, start, n, off, dof, cdof, coff;

  PetscFunctionBeginUser;
  PetscCall(DMGetGlobalSection(dm, &global));
  PetscCall(DMGetCoordinateSection(dm, &csection));
  PetscCall(DMGetCoordinatesLocal(dm, &coordinates));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(PetscSectionGetConstrainedStorageSize(global, &n));
  xy.assign(2 * n, 0);
  // the rows of this process are contiguous: the first is the smallest offset it owns
  start = std::numeric_limits<PetscInt>::max();
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(PetscSectionGetDof(global, v, &dof));
    PetscCall(PetscSectionGetConstraintDof(global, v, &cdof));
    PetscCall(PetscSectionGetOffset(global, v, &off));
    if (dof - cdof > 0) start = PetscMin(start, off);
  }
  PetscCall(VecGetArrayRead(coordinates, &c));
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(PetscSectionGetDof(global, v, &dof));
    PetscCall(PetscSectionGetConstraintDof(global, v, &cdof));
    if (dof - cdof <= 0) continue; // on the boundary, or another process's (negative)
    PetscCall(PetscSectionGetOffset(global, v, &off));
    PetscCall(PetscSectionGetOffset(csection, v, &coff));
    xy[2 * (off - start)]     = PetscRealPart(c[coff]);
    xy[2 * (off - start) + 1] = PetscRealPart(c[coff + 1]);
  }
  PetscCall(VecRestoreArrayRead(coordinates, &c));
  PetscFunctionReturn(0);
}

// Of all unknowns, in the order of the mesh's global section, which is that of the processes.
PetscErrorCode all_coordinates(DM dm, std::vector<PetscReal> &all)
{
  MPI_Comm                 comm = PetscObjectComm((PetscObject)dm);
  PetscMPIInt              size;
  std::vector<PetscReal>   mine;

  PetscFunctionBeginUser;
  PetscCall(section_coordinates(dm, mine));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  std::vector<PetscMPIInt> counts(size), displs(size, 0);
  const PetscMPIInt        count = (PetscMPIInt)mine.size();
  PetscCallMPI(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  std::partial_sum(counts.begin(), counts.end() - 1, displs.begin() + 1);
  all.resize(displs.back() + counts.back());
  PetscCallMPI(MPI_Allgatherv(mine.data(), count, MPIU_REAL, all.data(), counts.data(), displs.data(), MPIU_REAL, comm));
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode number_unknowns(DM dm)
{
  MPI_Comm               comm = PetscObjectComm((PetscObject)dm);
  std::vector<PetscReal> xy;
  PetscLayout            layout;
  PetscInt               start, end;
  IS                     rows;

  PetscFunctionBeginUser;
  PetscCall(all_coordinates(dm, xy));
  std::vector<PetscInt> order(xy.size() / 2);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](PetscInt a, PetscInt b) { return std::make_pair(xy[2 * a], xy[2 * a + 1]) < std::make_pair(xy[2 * b], xy[2 * b + 1]); });
  PetscCall(PetscLayoutCreateFromSizes(comm, PETSC_DECIDE, (PetscInt)order.size(), 1, &layout));
  PetscCall(PetscLayoutGetRange(layout, &start, &end));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscCall(ISCreateGeneral(comm, end - start, order.data() + start, PETSC_COPY_VALUES, &rows));
  PetscCall(PetscObjectCompose((PetscObject)dm, key, (PetscObject)rows));
  PetscCall(ISDestroy(&rows));
  PetscFunctionReturn(0);
}

PetscErrorCode get_numbering(DM dm, IS *rows)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectQuery((PetscObject)dm, key, (PetscObject *)rows));
  PetscCheck(*rows, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "the unknowns of the mesh are not numbered yet: read_mesh does it");
  PetscFunctionReturn(0);
}

PetscErrorCode unknown_coordinates(DM dm, std::vector<PetscReal> &xy)
{
  std::vector<PetscReal> all;
  IS                     rows;
  PetscInt               n;
  const PetscInt        *row;

  PetscFunctionBeginUser;
  PetscCall(all_coordinates(dm, all));
  PetscCall(get_numbering(dm, &rows));
  PetscCall(ISGetLocalSize(rows, &n));
  PetscCall(ISGetIndices(rows, &row));
  xy.resize(2 * n);
  for (PetscInt i = 0; i < n; ++i) std::copy_n(&all[2 * row[i]], 2, &xy[2 * i]);
  PetscCall(ISRestoreIndices(rows, &row));
  PetscFunctionReturn(0);
}

} // namespace cookies
