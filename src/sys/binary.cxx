#include "sys/binary.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <unistd.h>

namespace petsctt {

PetscErrorCode look_ahead(PetscViewer viewer, Ahead *file)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)viewer);
  PetscMPIInt rank;
  PetscBool   mpiio = PETSC_FALSE;

  PetscFunctionBegin;
  *file = Ahead();
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(PetscViewerBinaryGetUseMPIIO(viewer, &mpiio));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (mpiio) {
#if defined(PETSC_HAVE_MPIIO)
    MPI_File   fh;
    MPI_Offset here, size;
    PetscCall(PetscViewerBinaryGetMPIIODescriptor(viewer, &fh));
    PetscCall(PetscViewerBinaryGetMPIIOOffset(viewer, &here));
    PetscCallMPI(MPI_File_get_size(fh, &size));
    char native[] = "native";
    PetscCallMPI(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, native, MPI_INFO_NULL)); // PETSc sets it anew for every read
    file->left = (PetscInt64)(size - here);
    file->get  = [fh, here](PetscInt64 at, std::size_t n, unsigned char *to) {
      MPI_Status status;
      return MPI_File_read_at(fh, here + at, to, (int)n, MPI_BYTE, &status) == MPI_SUCCESS;
    };
#endif
  } else if (rank == 0) {
    int fd;
    PetscCall(PetscViewerBinaryGetDescriptor(viewer, &fd));
    const off_t here = lseek(fd, 0, SEEK_CUR), end = here < 0 ? here : lseek(fd, 0, SEEK_END);
    if (here >= 0 && end >= 0) {
      (void)lseek(fd, here, SEEK_SET);
      file->left = (PetscInt64)end - here;
    }
    file->get = [fd, here](PetscInt64 at, std::size_t n, unsigned char *to) { return pread(fd, to, n, here + at) == (ssize_t)n; };
  }
  PetscCallMPI(MPI_Bcast(&file->left, 1, MPIU_INT64, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_same_processes(PetscObject object, PetscViewer viewer)
{
  MPI_Comm    mine = PetscObjectComm(object), its = PetscObjectComm((PetscObject)viewer);
  PetscMPIInt size, viewers, result;
  const char *name;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetClassName(object, &name));
  PetscCallMPI(MPI_Comm_size(mine, &size));
  PetscCallMPI(MPI_Comm_size(its, &viewers));
  PetscCallMPI(MPI_Comm_compare(mine, its, &result));
  PetscCheck(result == MPI_IDENT || result == MPI_CONGRUENT, PETSC_COMM_SELF, PETSC_ERR_ARG_NOTSAMECOMM,
             "The %s is on %d processes, the viewer on %d, or on others: open it on the communicator of the object", name, size, viewers);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
