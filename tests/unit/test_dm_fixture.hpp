#ifndef PETSCTT_TESTS_UNIT_TEST_DM_FIXTURE_HPP
#define PETSCTT_TESTS_UNIT_TEST_DM_FIXTURE_HPP

// What the tests of DMTT share: DMs over modes, fields by formula.
#include "petscttdm.h"

#include "test_vec_fixture.hpp"

#include <petscdmda.h>
#include <petscdmplex.h>

namespace petsctt {
namespace test_dm {

using namespace petsctt::test_vec;

using DMHandle = Handle<DM, DMDestroy>;

// Nx x Ny grid on the communicator, one unknown per point.
inline PetscErrorCode grid(MPI_Comm comm, PetscInt Nx, PetscInt Ny, DM *da)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, Nx, Ny, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline PetscErrorCode line(MPI_Comm comm, PetscInt N, DM *da)
{
  PetscFunctionBegin;
  PetscCall(DMDACreate1d(comm, DM_BOUNDARY_NONE, N, 1, 1, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// 4 x 3 squares, one unknown at each vertex. By options: the arguments of DMPlexCreateBoxMesh() change with the version of PETSc. The simple partitioner,
// since Debian's PETSc with 64-bit indices has a PT-Scotch of 32 bits.
inline PetscErrorCode squares(DM *plex)
{
  const PetscInt components = 1, dofs[3] = {1, 0, 0};
  PetscSection   section;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, "-squares_dm_plex_dim 2 -squares_dm_plex_simplex 0 -squares_dm_plex_box_faces 4,3 -petscpartitioner_type simple"));
  PetscCall(DMCreate(PETSC_COMM_WORLD, plex));
  PetscCall(DMSetType(*plex, DMPLEX));
  PetscCall(DMSetOptionsPrefix(*plex, "squares_"));
  PetscCall(DMSetFromOptions(*plex));
  PetscCall(DMSetNumFields(*plex, 1));
  PetscCall(DMPlexCreateSection(*plex, NULL, &components, dofs, 0, NULL, NULL, NULL, NULL, &section));
  for (const char *option : {"-squares_dm_plex_dim", "-squares_dm_plex_simplex", "-squares_dm_plex_box_faces", "-petscpartitioner_type"}) PetscCall(PetscOptionsClearValue(NULL, option));
  PetscCall(DMSetLocalSection(*plex, section));
  PetscCall(PetscSectionDestroy(&section));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// w(i) = f(i), i the index in the mode
inline PetscErrorCode fill(Vec w, const std::function<Scalar(Int)> &f)
{
  PetscInt start, end;
  Scalar  *a;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(w, &start, &end));
  PetscCall(VecGetArrayWrite(w, &a));
  for (PetscInt i = start; i < end; ++i) a[i - start] = f(i);
  PetscCall(VecRestoreArrayWrite(w, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// max |w(i) - f(i)| over all processes
inline Real distance_from(Vec w, const std::function<Scalar(Int)> &f)
{
  PetscInt           start = 0, end = 0;
  const PetscScalar *a = nullptr;
  Real               worst = 0;
  if (VecGetOwnershipRange(w, &start, &end) || VecGetArrayRead(w, &a)) return 1e300;
  for (PetscInt i = start; i < end; ++i) worst = std::max<Real>(worst, PetscAbsScalar(a[i - start] - f(i)));
  if (VecRestoreArrayRead(w, &a)) return 1e300;
  MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD);
  return worst;
}

inline PetscErrorCode text_of(const std::function<PetscErrorCode(PetscViewer)> &view, std::string &text)
{
  char        file[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;
  FILE       *handle;
  int         c, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(file, sizeof(file), "dm_view_%d.txt", size()));
  PetscCall(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(view(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  text.clear();
  if (rank() == 0) {
    handle = std::fopen(file, "r");
    while (handle && (c = std::fgetc(handle)) != EOF) text += (char)c;
    if (handle) std::fclose(handle);
    std::remove(file);
    n = (int)text.size();
  }
  PetscCallMPI(MPI_Bcast(&n, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  text.resize((std::size_t)n);
  PetscCallMPI(MPI_Bcast(&text[0], n, MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace test_dm
} // namespace petsctt

#endif
