#ifndef PETSCTT_TUTORIALS_COOKIES_HPP
#define PETSCTT_TUTORIALS_COOKIES_HPP

// The "cookies" problem (Kressner & Tobler 2011): what ex3 needs beside PETScTT, with plain PETSc only.
//
//   -div(sigma grad u) = 1 on a square, u = 0 on its boundary, sigma = 1 + sum_i alpha_i chi_(D_i),
//
// discretised with continuous, piecewise linear (P1) elements on a triangulation in which every disc D_i is a surface of its
// own. The result is affine in the parameters: (A_0 + alpha_1 A_1 + ... + alpha_p A_p) u = b.
#include <petscdmplex.h>

#include <string>
#include <vector>

namespace cookies {

// The file behind a mesh name: "2x2" and "3x3" are in the data directory (option -data_dir, environment variable
// PETSCTT_DATA_DIR, or where PETScTT keeps it), everything else is a file name already.
PetscErrorCode find_mesh(const char name[], std::string &file);

// Reads a Gmsh file with physical surfaces background, disc1, ..., discp and physical line boundary, and distributes it
// (-dm_refine, -petscpartitioner_type, -dm_view etc. work). The mesh gets one unknown per vertex that is not on the boundary, as
// its section, and a numbering of them (number_unknowns). p is the number of discs. Collective; a missing, truncated or unsuitable
// file is an error on every process.
PetscErrorCode read_mesh(MPI_Comm comm, const char file[], DM *dm, PetscInt *p);

// A[0..p] and b as above: A[0] is the stiffness matrix of the whole domain with coefficient 1, in the discs too; A[i] that of disc
// i; b the load vector of f = 1. Boundary rows and columns are left out. All are MATAIJ with rows as number_unknowns orders them;
// A[i] has entries on disc i only. The caller destroys them. Collective.
PetscErrorCode assemble(DM dm, PetscInt p, std::vector<Mat> &A, Vec *b);

// Numbers the unknowns by their coordinates, x first, and gives every process an equal share of successive ones, a vertical strip of
// the domain. The numbering of the mesh's global section follows its partition: it changes with the number of processes, and with it
// everything that depends on indices, random sketches among them, so that results would differ by what the tolerances allow. This one
// is the same on any number of processes. Every process sees all coordinates once. Collective.
PetscErrorCode number_unknowns(DM dm);

// The unknowns of this process in that order, as numbers in the mesh's global section. Belongs to the mesh.
PetscErrorCode get_numbering(DM dm, IS *rows);

// Coordinates (x, y) of the unknowns this process owns, in the order of its rows. Collective.
PetscErrorCode unknown_coordinates(DM dm, std::vector<PetscReal> &xy);

// Writes fields (real parts; rows as in b) with the zeros of the boundary put back into one VTK file (.vtu, text). Collective.
struct Field {
  std::string name;
  Vec         values;
};
PetscErrorCode write_vtu(DM dm, const std::string &file, const std::vector<Field> &fields);

} // namespace cookies

#endif
