#ifndef PETSCTT_TUTORIALS_COOKIES_STATISTICS_HPP
#define PETSCTT_TUTORIALS_COOKIES_STATISTICS_HPP

// What ex3 computes from the solution train x, whose mode 0 is space and whose other modes are the samples of the parameters. None of
// it forms the full tensor.
#include <petsctt.h>

#include <vector>

namespace cookies {

// Q(alpha) = f^T u(alpha) as a train of the parameter modes: what remains of x when its mode 0 is contracted with f.
PetscErrorCode contract_space(Vec x, Vec f, Vec *Q);

// Mean and variance of Q over all parameter points. The mean is subtracted from the train, not its square from the mean square,
// which would cancel.
PetscErrorCode moments(Vec Q, PetscReal *mean, PetscReal *variance);

// Where Q is smallest and largest: over all points where they can be enumerated (*exact), otherwise over the 2^p corners of the
// parameter domain. p indices each.
PetscErrorCode extremes(Vec Q, std::vector<PetscInt> &argmin, std::vector<PetscInt> &argmax, PetscBool *exact);

// Q at the parameter point with indices index[0..p-1]: f^T u as the train has it, and f^T u + u^T (f - A(alpha) u), whose error is
// quadratic in that of u because A is symmetric.
PetscErrorCode corrected_value(Vec x, const std::vector<Mat> &space, const std::vector<PetscReal> &alpha, Vec f, const PetscInt index[], PetscReal *plain, PetscReal *corrected);

// Mean and standard deviation of u over the parameters at every node, as vectors with the layout of `like`.
PetscErrorCode moment_fields(Vec x, Vec like, Vec *mean, Vec *deviation);

} // namespace cookies

#endif
