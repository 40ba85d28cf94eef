#ifndef PETSCTT_BENCHMARKS_PROBLEMS_HPP
#define PETSCTT_BENCHMARKS_PROBLEMS_HPP

// Operators of the benchmarks.
#include "petscttmat.h"

#include <string>
#include <vector>

namespace bench {

struct Problem {
  std::string                   name;
  Mat                           A = NULL;
  Vec                           b = NULL;  // right-hand side, if the problem has one
  std::vector<PetscReal>        alphas;    // samples of a parameter
  std::vector<std::vector<Mat>> factors;   // the matrices of mode k, each once, identities left out
  Problem()                = default;
  Problem(const Problem &) = delete;
  ~Problem();
};

// d modes of n points, distributed: sum over k of I x ... x tridiag(-1,2,-1) (n+1)^2 x ... x I, as d terms.
PetscErrorCode make_laplacian(PetscInt d, PetscInt n, Problem &p);

// The cookies problem with `samples` values 0 ... 100 of each parameter, and its right-hand side: tutorials/ex3.cxx.
PetscErrorCode make_cookies(const char mesh[], PetscInt samples, Problem &p);

} // namespace bench

#endif
