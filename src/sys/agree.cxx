#include "sys/agree.hpp"

#include "sys/compat.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

namespace petsctt {

PetscErrorCode agree(MPI_Comm comm, PetscErrorCode code, const std::string &message)
{
  PetscMPIInt rank, size, bad, first;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  bad = message.empty() ? size : rank;
  PetscCallMPI(MPI_Allreduce(&bad, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  PetscMPIInt n = (PetscMPIInt)message.size(), error = (PetscMPIInt)code;
  PetscCallMPI(MPI_Bcast(&n, 1, MPI_INT, first, comm));
  PetscCallMPI(MPI_Bcast(&error, 1, MPI_INT, first, comm));
  std::vector<char> text((std::size_t)n + 1, '\0');
  if (rank == first) std::memcpy(text.data(), message.data(), (std::size_t)n);
  PetscCallMPI(MPI_Bcast(text.data(), n, MPI_CHAR, first, comm));
  SETERRQ(comm, (PetscErrorCode)error, "%s (process %d)", text.data(), first);
}

PetscErrorCode same_everywhere(MPI_Comm comm, const void *bytes, std::size_t n, const char *what)
{
  PetscFunctionBegin;
  std::uint64_t h = 1469598103934665603ull; // FNV-1a
  for (std::size_t p = 0; p < n; p++) h = (h ^ static_cast<const unsigned char *>(bytes)[p]) * 1099511628211ull;
  h &= 0x7fffffffffffffffull;
  long long both[2] = {(long long)h, -(long long)h}, most[2];
  PetscCallMPI(MPI_Allreduce(both, most, 2, MPI_LONG_LONG, MPI_MAX, comm));
  PetscCheck(most[0] == -most[1], comm, PETSC_ERR_ARG_INCOMP, "%s must be the same on all processes, but differ between them", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
