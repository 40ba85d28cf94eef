#include "sys/hdf5.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <algorithm>

#if PETSCTT_HAVE_HDF5
  #include <petsc/private/petscimpl.h> // has an object a name?
  #include <petscviewerhdf5.h>

namespace petsctt {

namespace {

constexpr PetscInt64 version   = 1;
constexpr bool       complexes = sizeof(PetscScalar) == 2 * sizeof(PetscReal);
static_assert(sizeof(PetscReal) == sizeof(double), "files have double precision");

// Owner of an HDF5 identifier.
class Id {
public:
  Id(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) { }
  ~Id()
  {
    if (id_ >= 0) (void)close_(id_);
  }
  Id(const Id &)            = delete;
  Id &operator=(const Id &) = delete;
  operator hid_t() const { return id_; }

private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

  #define CALL_HDF5(function, ...) PetscCheck(function(__VA_ARGS__) >= 0, comm_, PETSC_ERR_LIB, "HDF5's %s() failed for %s", #function, path_.c_str())
  #define ID(name, close, function, ...) \
    const Id name(function(__VA_ARGS__), close); \
    PetscCheck((hid_t)name >= 0, comm_, PETSC_ERR_LIB, "HDF5's %s() failed for %s", #function, path_.c_str())

// Is there something at this absolute path? HDF5 wants to be asked for one part of it after the other.
bool exists(hid_t file, const std::string &path)
{
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1))
    if (H5Lexists(file, path.substr(0, at).c_str(), H5P_DEFAULT) <= 0) return false;
  return H5Lexists(file, path.c_str(), H5P_DEFAULT) > 0;
}

hid_t open_group_quietly(hid_t where, const char path[])
{
  hid_t id = -1;
  H5E_BEGIN_TRY
  {
    id = H5Gopen2(where, path, H5P_DEFAULT);
  }
  H5E_END_TRY
  return id;
}

// The text of a string attribute, of fixed or variable length; empty when there is none, or more than one: H5Aread() would write them all.
std::string text_of(hid_t group, const char name[])
{
  if (H5Aexists(group, name) <= 0) return std::string();
  const Id attribute(H5Aopen(group, name, H5P_DEFAULT), H5Aclose), type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
  if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) return std::string();
  if (H5Tis_variable_str(type) > 0) {
    char *text = nullptr;
    if (H5Aread(attribute, type, &text) < 0 || !text) return std::string();
    const std::string s(text);
    (void)H5free_memory(text);
    return s;
  }
  std::string s(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, &s[0]) < 0) return std::string();
  return s.substr(0, s.find('\0'));
}

std::string list(const std::vector<PetscInt64> &a)
{
  std::string s;
  for (std::size_t i = 0; i < a.size() && i < 20; ++i) s += (i ? " x " : "") + std::to_string((long long)a[i]);
  return s;
}

PetscErrorCode get_any(MPI_Comm comm_, const std::string &path_, hid_t group, const char name[], bool reals, std::size_t &n, std::vector<PetscInt64> *ints,
                       std::vector<PetscReal> *numbers)
{
  PetscFunctionBegin;
  PetscCheck(H5Aexists(group, name) > 0, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: %s has no attribute '%s'", path_.c_str(), name);
  ID(attribute, H5Aclose, H5Aopen, group, name, H5P_DEFAULT);
  ID(type, H5Tclose, H5Aget_type, attribute);
  ID(space, H5Sclose, H5Aget_space, attribute);
  const H5T_class_t    c      = H5Tget_class(type);
  const hssize_t       points = H5Sget_simple_extent_npoints(space);
  PetscCheck(c == H5T_INTEGER || (reals && c == H5T_FLOAT), comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: attribute '%s' of %s is not of numbers%s", name,
             path_.c_str(), reals ? "" : " without fraction");
  PetscCheck(points >= 0 && points < 100000000, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: attribute '%s' of %s has %lld numbers", name, path_.c_str(), (long long)points);
  n = (std::size_t)points;
  if (reals) {
    PetscCallTT(numbers->assign(n, 0));
    if (n) CALL_HDF5(H5Aread, attribute, H5T_NATIVE_DOUBLE, numbers->data());
  } else {
    PetscCallTT(ints->assign(n, 0));
    if (n) CALL_HDF5(H5Aread, attribute, H5T_NATIVE_INT64, ints->data());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

HDF5Group::~HDF5Group()
{
  if (id_ >= 0) (void)H5Gclose(id_);
}

PetscErrorCode HDF5Group::locate(PetscViewer viewer, PetscObject object)
{
  PetscBool   steps;
  PetscInt    step;
  const char *name;
  char       *path;

  PetscFunctionBegin;
  comm_ = PetscObjectComm((PetscObject)viewer);
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(PetscObjectGetName(object, &name)); // makes one up if there is none
  PetscCall(PetscViewerHDF5GetGroup(viewer, name, &path));
  PetscCallTT(path_ = path; name_ = name);
  PetscCall(PetscFree(path));
  PetscCall(PetscViewerHDF5IsTimestepping(viewer, &steps));
  if (steps) {
    PetscCall(PetscViewerHDF5GetTimestep(viewer, &step));
    PetscCallTT(path_ += "/step_" + std::to_string((long long)step));
  }
  PetscCall(PetscViewerHDF5GetCollective(viewer, &collective_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::create(PetscViewer viewer, PetscObject object, const char type[])
{
  hid_t file;

  PetscFunctionBegin;
  PetscCall(locate(viewer, object));
  PetscCall(PetscViewerHDF5GetFileId(viewer, &file));
  if (exists(file, path_)) {
    bool ours;
    {
      const Id old(open_group_quietly(file, path_.c_str()), H5Gclose);
      ours = old >= 0 && !text_of(old, "petsctt_type").empty();
    }
    PetscCheck(ours, comm_, PETSC_ERR_FILE_WRITE, "The file has something else named %s already; give the object another name by PetscObjectSetName()", path_.c_str());
    CALL_HDF5(H5Ldelete, file, path_.c_str(), H5P_DEFAULT); // the space in the file is not used again
  }
  ID(links, H5Pclose, H5Pcreate, H5P_LINK_CREATE);
  CALL_HDF5(H5Pset_create_intermediate_group, links, 1);
  id_ = H5Gcreate2(file, path_.c_str(), links, H5P_DEFAULT, H5P_DEFAULT);
  PetscCheck(id_ >= 0, comm_, PETSC_ERR_FILE_WRITE, "Cannot make the group %s in the HDF5 file; is it open for writing?", path_.c_str());
  PetscCall(put("petsctt_type", type));
  PetscCall(put("petsctt_version", std::vector<PetscInt64>{version}));
  PetscCall(put("complex", std::vector<PetscInt64>{complexes}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::open(PetscViewer viewer, PetscObject object, const char type[])
{
  hid_t                   file;
  std::vector<PetscInt64> a;

  PetscFunctionBegin;
  PetscCheck(object->name, PetscObjectComm(object), PETSC_ERR_ARG_WRONGSTATE, "Objects in HDF5 files have names: call PetscObjectSetName() before the object is loaded");
  PetscCall(locate(viewer, object));
  PetscCall(PetscViewerHDF5GetFileId(viewer, &file));
  PetscCheck(exists(file, path_), comm_, PETSC_ERR_FILE_UNEXPECTED, "The HDF5 file has nothing named %s", path_.c_str());
  id_ = open_group_quietly(file, path_.c_str());
  PetscCheck(id_ >= 0, comm_, PETSC_ERR_FILE_UNEXPECTED, "%s in the HDF5 file is a dataset, and no %s is one; if it is an ordinary object of PETSc, load it as such",
             path_.c_str(), type);
  const std::string found = text_of(id_, "petsctt_type");
  PetscCheck(!found.empty(), comm_, PETSC_ERR_FILE_UNEXPECTED, "%s in the HDF5 file is a group that does not hold a %s: it has no attribute 'petsctt_type'", path_.c_str(), type);
  PetscCheck(found == type, comm_, PETSC_ERR_FILE_UNEXPECTED, "%s in the HDF5 file is a %s, not a %s", path_.c_str(), found.c_str(), type);
  PetscCall(get("petsctt_version", 1, a));
  PetscCheck(a[0] == version, comm_, PETSC_ERR_FILE_UNEXPECTED, "%s is of file version %lld, this library reads version %lld", path_.c_str(), (long long)a[0], (long long)version);
  PetscCall(get("complex", 1, a));
  PetscCheck(a[0] == (PetscInt64)complexes, comm_, PETSC_ERR_FILE_UNEXPECTED, "%s was written with %s scalars, this PETSc has %s ones", path_.c_str(),
             a[0] ? "complex" : "real", complexes ? "complex" : "real");
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::create(const HDF5Group &parent, const std::string &name)
{
  PetscFunctionBegin;
  comm_       = parent.comm_;
  collective_ = parent.collective_;
  PetscCallTT(path_ = parent.path_ + "/" + name; name_ = parent.name_);
  id_ = H5Gcreate2(parent.id_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  PetscCheck(id_ >= 0, comm_, PETSC_ERR_FILE_WRITE, "Cannot make the group %s in the HDF5 file", path_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::open(const HDF5Group &parent, const std::string &name)
{
  PetscFunctionBegin;
  comm_       = parent.comm_;
  collective_ = parent.collective_;
  PetscCallTT(path_ = parent.path_ + "/" + name; name_ = parent.name_);
  id_ = open_group_quietly(parent.id_, name.c_str());
  PetscCheck(id_ >= 0, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: there is no group %s", path_.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::put(const char name[], const std::vector<PetscInt64> &a)
{
  const hsize_t n = a.size();

  PetscFunctionBegin;
  PetscCall(fits_attribute(comm_, (PetscInt64)n));
  ID(space, H5Sclose, H5Screate_simple, 1, &n, nullptr);
  ID(attribute, H5Aclose, H5Acreate2, id_, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  CALL_HDF5(H5Awrite, attribute, H5T_NATIVE_INT64, a.data());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::put(const char name[], PetscScalar a)
{
  const hsize_t n = complexes ? 2 : 1;

  PetscFunctionBegin;
  ID(space, H5Sclose, H5Screate_simple, 1, &n, nullptr);
  ID(attribute, H5Aclose, H5Acreate2, id_, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  CALL_HDF5(H5Awrite, attribute, H5T_NATIVE_DOUBLE, &a);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::put(const char name[], const std::string &text)
{
  PetscFunctionBegin;
  ID(space, H5Sclose, H5Screate, H5S_SCALAR);
  ID(type, H5Tclose, H5Tcopy, H5T_C_S1);
  CALL_HDF5(H5Tset_size, type, text.size() + 1);
  ID(attribute, H5Aclose, H5Acreate2, id_, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  CALL_HDF5(H5Awrite, attribute, type, text.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::get(const char name[], std::vector<PetscInt64> &a) const
{
  std::size_t n;

  PetscFunctionBegin;
  PetscCall(get_any(comm_, path_, id_, name, false, n, &a, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::get(const char name[], std::size_t n, std::vector<PetscInt64> &a) const
{
  PetscFunctionBegin;
  PetscCall(get(name, a));
  PetscCheck(a.size() == n, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: attribute '%s' of %s has %lld numbers instead of %lld", name, path_.c_str(),
             (long long)a.size(), (long long)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::get(const char name[], PetscScalar &a) const
{
  std::size_t            n;
  std::vector<PetscReal> r;

  PetscFunctionBegin;
  PetscCall(get_any(comm_, path_, id_, name, true, n, nullptr, &r));
  PetscCheck(n == (complexes ? 2 : 1), comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: attribute '%s' of %s has %lld numbers instead of %d", name, path_.c_str(),
             (long long)n, complexes ? 2 : 1);
  #if defined(PETSC_USE_COMPLEX)
  a = PetscCMPLX(r[0], r[1]);
  #else
  a = r[0];
  #endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Writes the dataset, which is made here, or reads it, or (data null) only compares it with what is expected. data is not changed when writing.
PetscErrorCode HDF5Group::transfer(const std::string &name, const Slab &slab, bool scalars, bool writing, void *data) const
{
  std::vector<hsize_t> dims(slab.dims.begin(), slab.dims.end()), start(slab.start.begin(), slab.start.end()), count(slab.count.begin(), slab.count.end());
  bool                 none   = count.empty();
  const hid_t          memory = scalars ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64;
  double               nothing;

  PetscFunctionBegin;
  for (hsize_t c : count) none = none || c == 0;
  if (scalars && complexes) {
    dims.push_back(2);
    start.push_back(0);
    count.push_back(2);
  }
  const std::string full = path_ + "/" + name;
  if (!writing)
    PetscCheck(H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: there is no dataset %s", full.c_str());
  ID(layout, H5Sclose, H5Screate_simple, (int)dims.size(), dims.data(), nullptr);
  const hid_t stored = scalars ? H5T_IEEE_F64LE : H5T_STD_I64LE;
  const Id    dataset(writing ? H5Dcreate2(id_, name.c_str(), stored, layout, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT) : H5Dopen2(id_, name.c_str(), H5P_DEFAULT), H5Dclose);
  PetscCheck(dataset >= 0, comm_, writing ? PETSC_ERR_FILE_WRITE : PETSC_ERR_FILE_UNEXPECTED, "HDF5 could not %s the dataset %s", writing ? "make" : "open", full.c_str());
  ID(file, H5Sclose, H5Dget_space, dataset);
  if (!writing) {
    ID(type, H5Tclose, H5Dget_type, dataset);
    const H5T_class_t    c = H5Tget_class(type);
    std::vector<hsize_t> found((std::size_t)std::max(0, H5Sget_simple_extent_ndims(file)));
    if (!found.empty()) CALL_HDF5(H5Sget_simple_extent_dims, file, found.data(), nullptr);
    PetscCheck(found == dims, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: the dataset %s is %s instead of %s", full.c_str(), list({found.begin(), found.end()}).c_str(),
               list({dims.begin(), dims.end()}).c_str());
    PetscCheck(c == H5T_INTEGER || (scalars && c == H5T_FLOAT), comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: the dataset %s is not of %s", full.c_str(),
               scalars ? "numbers" : "integers");
  }
  for (hsize_t n : dims)
    if (n == 0) PetscFunctionReturn(PETSC_SUCCESS); // for all processes
  if (!data && !writing) PetscFunctionReturn(PETSC_SUCCESS);
  hsize_t mine = none ? 0 : 1;
  if (!none)
    for (hsize_t c : count) mine *= c;
  const hsize_t one_at_least = std::max<hsize_t>(mine, 1);
  ID(local, H5Sclose, H5Screate_simple, 1, &one_at_least, nullptr);
  if (none) {
    CALL_HDF5(H5Sselect_none, file);
    CALL_HDF5(H5Sselect_none, local);
    data = &nothing;
  } else CALL_HDF5(H5Sselect_hyperslab, file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  ID(how, H5Pclose, H5Pcreate, H5P_DATASET_XFER);
  #if defined(H5_HAVE_PARALLEL)
  CALL_HDF5(H5Pset_dxpl_mpio, how, collective_ ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  #endif
  const herr_t status = writing ? H5Dwrite(dataset, memory, local, file, how, data) : H5Dread(dataset, memory, local, file, how, data);
  PetscCheck(status >= 0, comm_, writing ? PETSC_ERR_FILE_WRITE : PETSC_ERR_FILE_READ, "HDF5 could not %s the dataset %s", writing ? "write" : "read", full.c_str());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::length(const std::string &name, PetscInt64 &n) const
{
  PetscFunctionBegin;
  PetscCheck(H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0, comm_, PETSC_ERR_FILE_UNEXPECTED, "Damaged file: there is no dataset %s/%s", path_.c_str(), name.c_str());
  ID(dataset, H5Dclose, H5Dopen2, id_, name.c_str(), H5P_DEFAULT);
  ID(file, H5Sclose, H5Dget_space, dataset);
  std::vector<hsize_t> found((std::size_t)std::max(1, H5Sget_simple_extent_ndims(file)), 0);
  CALL_HDF5(H5Sget_simple_extent_dims, file, found.data(), nullptr);
  n = (PetscInt64)found[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

#else

namespace petsctt {

  #define NO_HDF5 SETERRQ(PETSC_COMM_SELF, PETSC_ERR_SUP, "This PETScTT was built without HDF5; use a binary viewer, or build it where PETSc and the headers of its HDF5 are")

HDF5Group::~HDF5Group() = default;
PetscErrorCode HDF5Group::locate(PetscViewer, PetscObject) { NO_HDF5; }
PetscErrorCode HDF5Group::create(PetscViewer, PetscObject, const char[]) { NO_HDF5; }
PetscErrorCode HDF5Group::open(PetscViewer, PetscObject, const char[]) { NO_HDF5; }
PetscErrorCode HDF5Group::create(const HDF5Group &, const std::string &) { NO_HDF5; }
PetscErrorCode HDF5Group::open(const HDF5Group &, const std::string &) { NO_HDF5; }
PetscErrorCode HDF5Group::put(const char[], const std::vector<PetscInt64> &) { NO_HDF5; }
PetscErrorCode HDF5Group::put(const char[], PetscScalar) { NO_HDF5; }
PetscErrorCode HDF5Group::put(const char[], const std::string &) { NO_HDF5; }
PetscErrorCode HDF5Group::get(const char[], std::vector<PetscInt64> &) const { NO_HDF5; }
PetscErrorCode HDF5Group::get(const char[], std::size_t, std::vector<PetscInt64> &) const { NO_HDF5; }
PetscErrorCode HDF5Group::get(const char[], PetscScalar &) const { NO_HDF5; }
PetscErrorCode HDF5Group::transfer(const std::string &, const Slab &, bool, bool, void *) const { NO_HDF5; }
PetscErrorCode HDF5Group::length(const std::string &, PetscInt64 &) const { NO_HDF5; }

} // namespace petsctt

#endif

namespace petsctt {

PetscErrorCode HDF5Group::fits_attribute(MPI_Comm comm, PetscInt64 n)
{
  constexpr PetscInt64 most = 8000; // 64 kilobytes with what HDF5 adds

  PetscFunctionBegin;
  PetscCheck(n <= most, comm, PETSC_ERR_SUP, "An attribute of an HDF5 file has up to %lld integers, what is written here takes %lld: use a binary viewer for so many modes",
             (long long)most, (long long)n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HDF5Group::write(const std::string &name, const Slab &slab, const PetscScalar *data)
{
  return transfer(name, slab, true, true, const_cast<PetscScalar *>(data));
}

PetscErrorCode HDF5Group::write(const std::string &name, const Slab &slab, const PetscInt64 *data)
{
  return transfer(name, slab, false, true, const_cast<PetscInt64 *>(data));
}

PetscErrorCode HDF5Group::read(const std::string &name, const Slab &slab, PetscScalar *data) const
{
  PetscScalar nothing;
  return transfer(name, slab, true, false, data ? data : &nothing); // an empty part may come with no array
}

PetscErrorCode HDF5Group::read(const std::string &name, const Slab &slab, PetscInt64 *data) const
{
  PetscInt64 nothing;
  return transfer(name, slab, false, false, data ? data : &nothing);
}

PetscErrorCode HDF5Group::expect_scalars(const std::string &name, const std::vector<PetscInt64> &dims) const
{
  return transfer(name, {dims, {}, {}}, true, false, nullptr);
}

PetscErrorCode HDF5Group::expect_integers(const std::string &name, const std::vector<PetscInt64> &dims) const
{
  return transfer(name, {dims, {}, {}}, false, false, nullptr);
}

} // namespace petsctt
