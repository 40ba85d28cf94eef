#include "mat/impls/tt/impl.hpp"

#include <algorithm>

namespace petsctt {

PetscErrorCode mode_factors(Mat A, Int k, std::vector<Mat> &factors)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT &t = data_of(A);
  factors.clear();
  for (const Entry &e : t.used[k].entries) {
    if (e.f < 0) continue;
    Mat F = t.factors[k].ready[e.f];
    if (std::find(factors.begin(), factors.end(), F) == factors.end()) factors.push_back(F);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_states(Mat A, PetscObjectState *sum)
{
  PetscFunctionBegin;
  *sum = 0;
  for (const Factors &mode : data_of(A).factors)
    for (Mat M : mode.user) {
      PetscObjectState state;
      PetscCall(PetscObjectStateGet((PetscObject)M, &state));
      *sum += state;
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
