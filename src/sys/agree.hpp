#ifndef PETSCTT_SYS_AGREE_HPP
#define PETSCTT_SYS_AGREE_HPP

// Checks of what the user gives, such that all processes fail alike and none is left waiting.
#include <petscsys.h>

#include <string>

namespace petsctt {

// Fails alike on all processes when `message` is not empty on any: the lowest such process's message is raised. Collective.
PetscErrorCode agree(MPI_Comm comm, PetscErrorCode code, const std::string &message);
// Fails on all processes unless they give as many bytes, and the same; `what`, a plural, says what they are. Collective, one small reduction.
PetscErrorCode same_everywhere(MPI_Comm comm, const void *bytes, std::size_t n, const char *what);

} // namespace petsctt

#endif
