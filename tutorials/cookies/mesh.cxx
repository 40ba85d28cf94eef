#include "cookies.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#ifndef PETSCTT_DATA_DIR
  #define PETSCTT_DATA_DIR "share/petsctt/data"
#endif

namespace cookies {

PetscErrorCode find_mesh(const char name[], std::string &file)
{
  char        dir[PETSC_MAX_PATH_LEN] = PETSCTT_DATA_DIR;
  const char *env                     = std::getenv("PETSCTT_DATA_DIR");

  PetscFunctionBeginUser;
  if (env && *env) PetscCall(PetscStrncpy(dir, env, sizeof(dir)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-data_dir", dir, sizeof(dir), NULL));
  const bool known = !std::strcmp(name, "2x2") || !std::strcmp(name, "3x3");
  file             = known ? std::string(dir) + "/cookies/" + name + "/cookies.msh" : std::string(name);
  PetscFunctionReturn(0);
}

namespace {

enum Trouble : PetscInt { none, missing, not_gmsh, truncated, no_boundary, no_discs, gap };

const char *describe(PetscInt trouble)
{
  switch (trouble) {
  case missing: return "cannot be opened";
  case not_gmsh: return "is not a Gmsh file: it does not begin with $MeshFormat";
  case truncated: return "is truncated: a section does not end";
  case no_boundary: return "has no physical line named boundary";
  case no_discs: return "has no physical surface named disc1";
  default: return "has physical surfaces disc1, ..., discp with a gap in the numbering";
  }
}

// A look at the file by one process: PETSc's reader reports trouble on that process alone, while the others wait for it.
PetscInt inspect(const char file[], PetscInt *p)
{
  std::ifstream          in(file, std::ios::binary);
  std::string            line, open;
  std::vector<PetscInt>  discs;
  bool                   names = false, boundary = false, elements = false;

  *p = 0;
  if (!in) return missing;
  if (!std::getline(in, line) || line.compare(0, 11, "$MeshFormat") != 0) return not_gmsh;
  open = "MeshFormat";
  while (std::getline(in, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.compare(0, 4, "$End") == 0) {
      if (line.substr(4) == open) open.clear();
      if (line == "$EndElements") elements = true;
      names = false;
    } else if (!line.empty() && line[0] == '$' && open.empty()) {
      open  = line.substr(1);
      names = open == "PhysicalNames";
    } else if (names) {
      const auto a = line.find('"'), b = line.rfind('"');
      if (a == std::string::npos || b <= a) continue; // the line with their number
      const std::string name = line.substr(a + 1, b - a - 1);
      const int         dim  = std::atoi(line.c_str());
      char             *end  = nullptr;
      if (dim == 1 && name == "boundary") boundary = true;
      if (dim != 2 || name.compare(0, 4, "disc") != 0 || name.size() == 4) continue;
      const long i = std::strtol(name.c_str() + 4, &end, 10);
      if (!*end && i > 0) discs.push_back((PetscInt)i);
    }
  }
  if (!elements || !open.empty()) return truncated;
  if (!boundary) return no_boundary;
  std::sort(discs.begin(), discs.end());
  if (discs.empty() || discs[0] != 1) return no_discs;
  for (std::size_t i = 0; i < discs.size(); ++i)
    if (discs[i] != (PetscInt)i + 1) return gap;
  *p = (PetscInt)discs.size();
  return none;
}

// The reader labels the edges of the boundary; their end points need the label too. Done before the mesh is distributed, when one
// process has all of it: afterwards a process may own a boundary vertex and none of its boundary edges.
PetscErrorCode label_boundary_vertices(DM dm)
{
  DMLabel         label;
  IS              edges;
  PetscInt        n;
  const PetscInt *points, *cone;

  PetscFunctionBeginUser;
  PetscCall(DMGetLabel(dm, "boundary", &label));
  if (!label) PetscFunctionReturn(0); // a process without any of the mesh
  IS              values;
  PetscInt        nvalues;
  const PetscInt *value;
  PetscCall(DMLabelGetValueIS(label, &values));
  PetscCall(ISGetLocalSize(values, &nvalues));
  PetscCall(ISGetIndices(values, &value));
  for (PetscInt v = 0; v < nvalues; ++v) {
    PetscCall(DMLabelGetStratumIS(label, value[v], &edges));
    PetscCall(ISGetLocalSize(edges, &n));
    PetscCall(ISGetIndices(edges, &points));
    for (PetscInt e = 0; e < n; ++e) {
      PetscInt size;
      PetscCall(DMPlexGetConeSize(dm, points[e], &size));
      PetscCall(DMPlexGetCone(dm, points[e], &cone));
      for (PetscInt i = 0; i < size; ++i) PetscCall(DMLabelSetValue(label, cone[i], value[v]));
    }
    PetscCall(ISRestoreIndices(edges, &points));
    PetscCall(ISDestroy(&edges));
  }
  PetscCall(ISRestoreIndices(values, &value));
  PetscCall(ISDestroy(&values));
  PetscFunctionReturn(0);
}

// One unknown per vertex, those of the boundary constrained: the global numbering and the matrices leave them out, local vectors
// keep a place for them.
PetscErrorCode create_section(DM dm)
{
  PetscSection section;
  DMLabel      boundary;
  PetscInt     pStart, pEnd, vStart, vEnd, mark;
  PetscInt     zero = 0;

  PetscFunctionBeginUser;
  PetscCall(DMPlexGetChart(dm, &pStart, &pEnd));
  PetscCall(DMPlexGetDepthStratum(dm, 0, &vStart, &vEnd));
  PetscCall(DMGetLabel(dm, "boundary", &boundary));
  PetscCheck(boundary, PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONG, "the mesh has no elements on its physical line boundary");
  PetscCall(PetscSectionCreate(PetscObjectComm((PetscObject)dm), &section));
  PetscCall(PetscSectionSetChart(section, pStart, pEnd));
  std::vector<char> fixed(vEnd - vStart);
  for (PetscInt v = vStart; v < vEnd; ++v) {
    PetscCall(DMLabelGetValue(boundary, v, &mark));
    fixed[v - vStart] = mark >= 0;
    PetscCall(PetscSectionSetDof(section, v, 1));
    if (fixed[v - vStart]) PetscCall(PetscSectionSetConstraintDof(section, v, 1));
  }
  PetscCall(PetscSectionSetUp(section));
  for (PetscInt v = vStart; v < vEnd; ++v)
    if (fixed[v - vStart]) PetscCall(PetscSectionSetConstraintIndices(section, v, &zero));
  PetscCall(DMSetLocalSection(dm, section));
  PetscCall(PetscSectionDestroy(&section));
  PetscFunctionReturn(0);
}

PetscErrorCode require_triangles(DM dm)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)dm);
  PetscInt       dim, cdim, cStart, cEnd;
  DMPolytopeType type;
  int            bad = 0, any;

  PetscFunctionBeginUser;
  PetscCall(DMGetDimension(dm, &dim));
  PetscCall(DMGetCoordinateDim(dm, &cdim));
  PetscCheck(dim == 2, comm, PETSC_ERR_SUP, "the mesh has dimension %" PetscInt_FMT "; the discs of this problem are plane", dim);
  PetscCheck(cdim == 2, comm, PETSC_ERR_SUP, "the mesh lies in %" PetscInt_FMT "-dimensional space, not in the plane z = 0", cdim);
  PetscCall(DMPlexGetHeightStratum(dm, 0, &cStart, &cEnd));
  for (PetscInt c = cStart; c < cEnd && !bad; ++c) {
    PetscCall(DMPlexGetCellType(dm, c, &type));
    bad = type != DM_POLYTOPE_TRIANGLE;
  }
  PetscCallMPI(MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, comm));
  PetscCheck(!any, comm, PETSC_ERR_SUP, "the mesh has cells that are not triangles: P1 elements need triangles");
  PetscFunctionReturn(0);
}

} // namespace

PetscErrorCode read_mesh(MPI_Comm comm, const char file[], DM *dm, PetscInt *p)
{
  PetscMPIInt rank, size;
  PetscInt    found[2] = {none, 0};
  PetscBool   set;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (rank == 0) found[0] = inspect(file, &found[1]);
  PetscCallMPI(MPI_Bcast(found, 2, MPIU_INT, 0, comm));
  PetscCheck(found[0] != missing, comm, PETSC_ERR_FILE_OPEN, "mesh file %s %s", file, describe(found[0]));
  PetscCheck(found[0] == none, comm, PETSC_ERR_FILE_UNEXPECTED, "mesh file %s %s", file, describe(found[0]));
  *p = found[1];

  // Physical names become labels only on request.
  PetscCall(PetscOptionsHasName(NULL, NULL, "-dm_plex_gmsh_use_regions", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-dm_plex_gmsh_use_regions", "1"));
  PetscCall(DMPlexCreateFromFile(comm, file, "cookies", PETSC_TRUE, dm));
  if (!set) PetscCall(PetscOptionsClearValue(NULL, "-dm_plex_gmsh_use_regions"));
  PetscCall(label_boundary_vertices(*dm));
  PetscCall(DMPlexDistributeSetDefault(*dm, PETSC_TRUE));
  if (sizeof(PetscInt) == 8) { // the default, PT-Scotch, crashes in Debian's PETSc with 64-bit indices
    PetscPartitioner part;
    PetscCall(DMPlexGetPartitioner(*dm, &part));
    PetscCall(PetscPartitionerSetType(part, PETSCPARTITIONERSIMPLE));
  }
  PetscCall(DMSetFromOptions(*dm)); // refines on request and distributes
  PetscCall(DMViewFromOptions(*dm, NULL, "-dm_view"));
  PetscCall(require_triangles(*dm));
  PetscCall(create_section(*dm));
  PetscCall(number_unknowns(*dm));
  PetscFunctionReturn(0);
}

} // namespace cookies
