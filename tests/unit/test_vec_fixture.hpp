#ifndef PETSCTT_TESTS_UNIT_TEST_VEC_FIXTURE_HPP
#define PETSCTT_TESTS_UNIT_TEST_VEC_FIXTURE_HPP

// What the tests of VECTT share: vectors by formula, comparison with full arrays, errors that are expected.
#include "petscttvec.h"
#include "sys/compat.hpp"
#include "sys/handle.hpp"
#include "vec/vectt.hpp"

#include "dense.hpp"

#include <string>
#include <vector>

namespace petsctt {
namespace test_vec {

using namespace petsctt::test;

#define VEC_OK(...) ASSERT_EQ((int)(__VA_ARGS__), 0)

inline std::string &last_message()
{
  static std::string m;
  return m;
}

inline PetscErrorCode remember_error(MPI_Comm, int, const char *, const char *, PetscErrorCode n, PetscErrorType p, const char *mess, void *)
{
  if (p == PETSC_ERROR_INITIAL) last_message() = mess ? mess : "";
  return n;
}

// Runs the call with PETSc's messages off; returns its code.
template <class F> int quietly(F &&f)
{
  last_message().clear();
  if (PetscPushErrorHandler(remember_error, nullptr)) return -1;
  const int code = (int)f();
  if (PetscPopErrorHandler()) return -1;
  return code;
}

// The call fails with this code on this process (all tests run on all), and the message contains the text.
#define EXPECT_PETSC_ERROR(call, expected, text) \
  do { \
    EXPECT_EQ(::petsctt::test_vec::quietly([&] { return call; }), (int)(expected)) << #call << ": " << ::petsctt::test_vec::last_message(); \
    EXPECT_NE(::petsctt::test_vec::last_message().find(text), std::string::npos) << #call << ": " << ::petsctt::test_vec::last_message(); \
  } while (0)

inline Scalar number(Real re, Real im)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(re, im);
#else
  return re + 0 * im;
#endif
}

// A vector with random cores of rank r, tolerance of roundings 1e-12.
inline PetscErrorCode make_vec(const std::vector<Int> &N, const std::string &kinds, Int r, std::uint64_t seed, Vec *v)
{
  const SpacePtr space = make_space(N, kinds);
  PetscFunctionBegin;
  PetscCall(create_vec(space, nullptr, v));
  PetscCall(VecTTSetRoundRtol(*v, 1e-12));
  PetscCall(set_train(*v, random_train(space, std::vector<Int>(N.size() + 1, r), seed)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

inline Dense dense_of(Vec v)
{
  return dense(train_of(v));
}

inline Dense map(const Dense &x, const std::function<Scalar(Scalar)> &f)
{
  Dense y(x);
  for (Scalar &a : y.a) a = f(a);
  return y;
}

} // namespace test_vec
} // namespace petsctt

#endif
