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

// Smallest and largest value of Q: over all points where they can be enumerated (*exact), otherwise over the 2^p corners of the
// parameter domain.
PetscErrorCode extremes(Vec Q, PetscReal *min, PetscReal *max, PetscBool *exact);

// Mean and standard deviation of u over the parameters at every node, as vectors with the layout of `like`.
PetscErrorCode moment_fields(Vec x, Vec like, Vec *mean, Vec *deviation);

} // namespace cookies

#endif
