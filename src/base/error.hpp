#ifndef PETSCTT_BASE_ERROR_HPP
#define PETSCTT_BASE_ERROR_HPP

#include <petscsys.h>

#include <cstdarg>
#include <stdexcept>
#include <string>

namespace petsctt {

// The only exception type of the layers below the PETSc objects. `code` is one of PETSc's PETSC_ERR_* numbers, so that
// the bridge (src/sys/guard.hpp) hands it on unchanged; the message carries the offending numbers.
class Error : public std::runtime_error {
public:
  Error(int code, const std::string &message) : std::runtime_error(message), code_(code) { }
  int code() const { return code_; }

private:
  int code_;
};

// printf-style message; PetscInt arguments are cast to long long by the caller and printed with %lld.
[[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Precondition: `if (!ok) fail(...)` as one statement.
#define PETSCTT_REQUIRE(ok, code, ...) \
  do { \
    if (!(ok)) ::petsctt::fail((code), __VA_ARGS__); \
  } while (0)

} // namespace petsctt

#endif
