#ifndef PETSCTT_SYS_HDF5_HPP
#define PETSCTT_SYS_HDF5_HPP

#include <petscviewer.h>

#include <string>
#include <vector>

namespace petsctt {

// What a process writes or reads of a dataset: the indices start .. start+count-1 of every dimension, in memory one after the other as in
// the file, last index fastest. Empty `count`: nothing.
struct Slab {
  std::vector<PetscInt64> dims, start, count;
};

// An object of ours in the file of a PetscViewerHDF5: a group with attributes and datasets. PetscScalars are stored as PETSc does: complex ones with
// one more dimension, the last one, of length 2. Integers have 64 bits whatever PetscInt is.
//
// Everything is collective on the viewer, with the same arguments on all processes but for the slab and its data. Errors are the same on all
// processes as far as they lie in what the file says. Without HDF5 in the build every function fails with PETSC_ERR_SUP.
class HDF5Group {
public:
  HDF5Group() = default;
  ~HDF5Group();
  HDF5Group(const HDF5Group &)            = delete;
  HDF5Group &operator=(const HDF5Group &) = delete;

  // The group with the name of `object` in the viewer's current group (and in that the group step_N while it has time steps on), marked as
  // of `type`. What was there under this name is replaced if it is ours, and an error if not.
  PetscErrorCode create(PetscViewer viewer, PetscObject object, const char type[]);
  // Fails and says why unless it holds a `type` with the scalars of this PETSc in the version that is written here.
  PetscErrorCode open(PetscViewer viewer, PetscObject object, const char type[]);
  PetscErrorCode create(const HDF5Group &parent, const std::string &name);
  PetscErrorCode open(const HDF5Group &parent, const std::string &name);

  // HDF5 limits the size of an attribute. Fails, before anything is changed in the file, unless there is room for n integers.
  static PetscErrorCode fits_attribute(MPI_Comm comm, PetscInt64 n);
  PetscErrorCode put(const char name[], const std::vector<PetscInt64> &a);
  PetscErrorCode put(const char name[], PetscScalar a);
  PetscErrorCode put(const char name[], const std::string &text);
  PetscErrorCode get(const char name[], std::vector<PetscInt64> &a) const; // any length
  PetscErrorCode get(const char name[], std::size_t n, std::vector<PetscInt64> &a) const;
  PetscErrorCode get(const char name[], PetscScalar &a) const;

  PetscErrorCode write(const std::string &name, const Slab &slab, const PetscScalar *data);
  PetscErrorCode write(const std::string &name, const Slab &slab, const PetscInt64 *data);
  PetscErrorCode read(const std::string &name, const Slab &slab, PetscScalar *data) const; // fails unless it has slab.dims
  PetscErrorCode read(const std::string &name, const Slab &slab, PetscInt64 *data) const;
  // Fails, before anything is allocated for it, unless the dataset is there with these dimensions.
  PetscErrorCode expect_scalars(const std::string &name, const std::vector<PetscInt64> &dims) const;
  PetscErrorCode expect_integers(const std::string &name, const std::vector<PetscInt64> &dims) const;
  PetscErrorCode length(const std::string &name, PetscInt64 &n) const; // of a dataset: its first dimension

  const char *path() const { return path_.c_str(); }

private:
  PetscErrorCode locate(PetscViewer viewer, PetscObject object);
  PetscErrorCode transfer(const std::string &name, const Slab &slab, bool scalars, bool writing, void *data) const;

  MPI_Comm    comm_       = MPI_COMM_NULL;
  PetscInt64  id_         = -1; // HDF5's identifier
  PetscBool   collective_ = PETSC_FALSE;
  std::string path_, name_; // in the file; of the object
};

} // namespace petsctt

#endif
