// VecLoad(). A VECTT has an operation for it. A vector whose sizes are not known never gets so far: PETSc reads an ordinary vector
// of scalars into it, by VecGetArray() and VecRestoreArray(), and our files are made such that this goes well (file.cxx). What
// has been read is turned into a tensor train when the array is restored.
#include "sys/binary.hpp"
#include "sys/handle.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <petscmat.h>
#include <set>

using namespace petsctt;

namespace {

std::uint64_t big_endian(const unsigned char *p, std::size_t n)
{
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < n; ++i) x = x << 8 | p[i];
  return x;
}

PetscReal real_from(const unsigned char *p)
{
  PetscReal r = 0;
  if (sizeof(PetscReal) == 8) {
    const std::uint64_t x = big_endian(p, 8);
    std::memcpy(&r, &x, sizeof(r));
  } else if (sizeof(PetscReal) == 4) {
    const std::uint32_t x = (std::uint32_t)big_endian(p, 4);
    std::memcpy(&r, &x, sizeof(r));
  }
  return r;
}

// What is wrong with what comes next in the file, as far as can be said before it is read; empty when nothing is.
std::string wrong_file(const Ahead &file)
{
  constexpr std::size_t ws = sizeof(PetscScalar);
  std::size_t           w  = sizeof(PetscInt); // of an integer in the file
  unsigned char         b[2 * 8 + packed_head * ws];

  if (file.left < 0) return std::string();
  if (file.left == 0) return "The file ends where a vector should begin";
  if (file.left < (PetscInt64)(2 * w) || !file.get(0, 2 * w, b)) return "Truncated file: " + std::to_string((long long)file.left) + " bytes where a vector should begin";
  if (big_endian(b, 4) == VEC_FILE_CLASSID) w = 4;
  else if (big_endian(b, 8) == VEC_FILE_CLASSID) w = 8;
  if (w != sizeof(PetscInt) && !PETSCTT_LOADS_ANY_INDEX_SIZE)
    return "The file was written with " + std::to_string(8 * w) + "-bit indices, this PETSc has " + std::to_string(8 * sizeof(PetscInt)) + "-bit ones";
  if (file.left < (PetscInt64)(2 * w) || !file.get(0, 2 * w, b)) return "Truncated file: " + std::to_string((long long)file.left) + " bytes where a vector should begin";
  const PetscInt64 id = w == 8 ? (PetscInt64)big_endian(b, w) : (std::int32_t)big_endian(b, w), rows = w == 8 ? (PetscInt64)big_endian(b + w, w) : (std::int32_t)big_endian(b + w, w);
  if (id == MAT_FILE_CLASSID) return "A matrix, not a vector, comes next in the file";
  if (id != VEC_FILE_CLASSID)
    return "Not a file of PETSc, or not a vector next in it: the number there is " + std::to_string((long long)id) + ", a vector has " + std::to_string((long long)VEC_FILE_CLASSID);
  if (rows > PETSC_MAX_INT) return "The vector in the file has " + std::to_string((long long)rows) + " scalars, more than this PETSc can count: use one with 64-bit indices";
  if (rows < packed_head) return "Not a TT vector but an ordinary vector of " + std::to_string((long long)rows) + " entries; load it into a standard vector and call VecTTSetFull()";
  const std::size_t seen = 2 * w + packed_head * ws;
  if (file.left >= (PetscInt64)seen && file.get(0, seen, b)) {
    PetscScalar head[packed_head];
    for (PetscInt i = 0; i < packed_head; ++i) {
      const unsigned char *at = b + 2 * w + i * ws;
#if defined(PETSC_USE_COMPLEX)
      head[i] = PetscScalar(real_from(at), real_from(at + sizeof(PetscReal)));
#else
      head[i] = real_from(at);
#endif
    }
    const std::string wrong = wrong_head(head, (PetscInt)rows);
    if (!wrong.empty()) return wrong;
  }
  if ((file.left - (PetscInt64)(2 * w)) / (PetscInt64)ws < rows) // the product of what a damaged file says may not fit
    return "Truncated file: the vector has " + std::to_string((long long)rows) + " scalars of " + std::to_string(ws) + " bytes, " + std::to_string((long long)file.left) +
           " bytes are left";
  return std::string();
}

// Looks at the file before PETSc reads it, because PETSc reports a file that ends early on one process only, while the others wait
// for data. Collective; the error is the same on all processes.
PetscErrorCode check_file(PetscViewer viewer)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)viewer);
  PetscMPIInt rank;
  PetscBool   skip;
  Ahead       file;
  char        message[512] = "";

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryGetSkipHeader(viewer, &skip));
  PetscCheck(!skip, comm, PETSC_ERR_SUP, "A TT vector cannot be read by a viewer that skips headers");
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(look_ahead(viewer, &file));
  if (rank == 0) PetscCallTT(std::snprintf(message, sizeof(message), "%s", wrong_file(file).c_str()));
  PetscCallMPI(MPI_Bcast(message, (PetscMPIInt)sizeof(message), MPI_CHAR, 0, comm));
  if (message[0]) {
    const char *name = nullptr;
    PetscCall(PetscViewerFileGetName(viewer, &name));
    SETERRQ(comm, PETSC_ERR_FILE_UNEXPECTED, "%s: %s", name ? name : "(no name)", message);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Takes the train that was read, and its modes where they were not known.
PetscErrorCode take(Vec v, Train &&x)
{
  PetscFunctionBegin;
  if (!impl(v).space) PetscCall(set_space(v, x.space()));
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

namespace petsctt {

PetscErrorCode load_train(Vec v, PetscViewer viewer)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)v);
  PetscBool      binary, hdf5;
  PetscMPIInt    size;
  VecHandle      packed;
  Train          x;
  const SpacePtr space = is_vectt(v) ? impl(v).space : nullptr;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERHDF5, &hdf5));
  PetscCheck(binary || hdf5, comm, PETSC_ERR_SUP, "A TT vector is loaded from a binary or HDF5 viewer, not one of type %s", ((PetscObject)viewer)->type_name);
  PetscCall(require_same_processes((PetscObject)v, viewer));
  if (hdf5) PetscCall(read_hdf5(v, viewer, space, &x));
  else {
    PetscCall(check_file(viewer));
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCall(VecCreate(comm, packed.out()));
    PetscCall(VecSetType(packed, size > 1 ? VECMPI : VECSEQ)); // not VECSTANDARD, which is ours to convert
    if (((PetscObject)v)->name) PetscCall(PetscObjectSetName((PetscObject)packed.get(), ((PetscObject)v)->name));
    PetscCall(VecLoad(packed, viewer));
    PetscCall(unpack(packed, comm, space, &x));
  }
  if (!space) {
    PetscInt N;
    PetscCall(nominal_sizes(*x.space(), nullptr, &N, nullptr));
    PetscCheck(v->map->N < 0 || v->map->N == N, comm, PETSC_ERR_FILE_UNEXPECTED,
               "The TT vector in the file, %s, has nominal size %" PetscInt_FMT ", the vector to load has %" PetscInt_FMT, x.space()->describe().c_str(), N, v->map->N);
    PetscCall(adopt_space(v, x.space()));
  }
  PetscCall(set_train(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

PetscErrorCode VecLoad_TT(Vec v, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(load_train(v, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A VECTT whose modes are not known: its array exists only so that VecLoad() can fill it.
PetscErrorCode VecGetArray_TTPending(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  PetscCallTT({
    if ((PetscInt)impl(v).pending.size() != v->map->n) {
      impl(v).pending = Buffer((std::size_t)v->map->n);
      impl(v).pending.fill(0);
    }
  });
  *a = impl(v).pending.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode VecRestoreArray_TTPending(Vec v, PetscScalar **)
{
  VecHandle packed;
  Train     x;
  bool      yes;

  PetscFunctionBegin;
  PetscCall(VecCreateMPIWithArray(PetscObjectComm((PetscObject)v), 1, v->map->n, v->map->N, impl(v).pending.data(), packed.out()));
  PetscCall(is_packed(packed, &yes));
  PetscCheck(yes, PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_WRONGSTATE,
             "The modes of the vector are not set, and what was put into its array is not the TT vector of a file; call VecTTSetModes() or give -vec_tt_modes or -vec_tt_dim%s%s",
             impl(v).why_no_modes.empty() ? "" : ": ", impl(v).why_no_modes.c_str());
  PetscCall(unpack(packed, PetscObjectComm((PetscObject)v), nullptr, &x));
  PetscCall(take(v, std::move(x)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode (*create_standard)(Vec) = nullptr; // PETSc's own
std::set<PetscObjectId> watched;                  // standard vectors whose array is about to be filled by VecLoad()

PetscErrorCode VecGetArray_Watched(Vec v, PetscScalar **a)
{
  PetscFunctionBegin;
  *a = *(PetscScalar **)v->data; // as PETSc does for its own types
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The first array of such a vector comes back: if it holds a TT vector the vector becomes one, else it stays what it is.
PetscErrorCode VecRestoreArray_Watched(Vec v, PetscScalar **)
{
  PetscObjectId id;
  bool          yes = false;

  PetscFunctionBegin;
  v->ops->getarray     = nullptr;
  v->ops->restorearray = nullptr;
  PetscCall(PetscObjectGetId((PetscObject)v, &id));
  if (!watched.erase(id)) PetscFunctionReturn(PETSC_SUCCESS); // a duplicate made before
  PetscCall(is_packed(v, &yes));
  if (yes) {
    Train x;
    PetscCall(unpack(v, PetscObjectComm((PetscObject)v), nullptr, &x));
    PetscCall(convert(v, x.space()));
    PetscCall(take(v, std::move(x)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Stands in for the creation function of VECSTANDARD, which VecLoad() gives to vectors without type. It adds something only
// when the options ask for -vec_type tt and the type was set before the sizes, as VecLoad() does: all else is left to PETSc.
PetscErrorCode VecCreate_StandardOrTT(Vec v)
{
  const bool    deferred = v->ops->create == VecCreate_StandardOrTT;
  char          type[16] = "";
  PetscBool     tt       = PETSC_FALSE;
  PetscObjectId id;

  PetscFunctionBegin;
  PetscCall(create_standard(v));
  if (!deferred) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetString(((PetscObject)v)->options, ((PetscObject)v)->prefix, "-vec_type", type, sizeof(type), nullptr));
  PetscCall(PetscStrcmp(type, VECTT, &tt));
  if (!tt) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectGetId((PetscObject)v, &id));
  PetscCallTT(watched.insert(id));
  v->ops->getarray     = VecGetArray_Watched;
  v->ops->restorearray = VecRestoreArray_Watched;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode VecRegisterTTLoading(void)
{
  PetscErrorCode (*f)(Vec) = nullptr;

  PetscFunctionBegin;
  PetscCall(VecInitializePackage());
  PetscCall(PetscFunctionListFind(VecList, VECSTANDARD, &f));
  if (f && f != VecCreate_StandardOrTT) {
    create_standard = f;
    watched.clear(); // ids start anew with every PetscInitialize()
    PetscCall(VecRegister(VECSTANDARD, VecCreate_StandardOrTT));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
