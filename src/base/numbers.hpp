#ifndef PETSCTT_BASE_NUMBERS_HPP
#define PETSCTT_BASE_NUMBERS_HPP

// The number types of the TT layer. They are those of the PETSc it is built against; nothing else of PETSc is used
// in src/tt apart from its error numbers and its BLAS/LAPACK prototypes.
#include <petscsys.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>

namespace petsctt {

using Scalar = PetscScalar;
using Real   = PetscReal;
using Int    = PetscInt;
using Count  = std::int64_t; // number of entries of anything that is stored; never the product of the modes

#if defined(PETSC_USE_COMPLEX)
constexpr bool is_complex = true;
inline Scalar  conj(Scalar a) { return std::conj(a); }
inline Real    real(Scalar a) { return std::real(a); }
inline Real    abs2(Scalar a) { return std::norm(a); }
#else
constexpr bool is_complex = false;
inline Scalar  conj(Scalar a) { return a; }
inline Real    real(Scalar a) { return a; }
inline Real    abs2(Scalar a) { return a * a; }
#endif
inline Real abs(Scalar a) { return std::abs(a); }

inline bool is_finite(Real a) { return std::isfinite(a); }
#if defined(PETSC_USE_COMPLEX)
inline bool is_finite(Scalar a) { return std::isfinite(std::real(a)) && std::isfinite(std::imag(a)); }
#endif

} // namespace petsctt

#endif
