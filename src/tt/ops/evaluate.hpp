#ifndef PETSCTT_TT_OPS_EVALUATE_HPP
#define PETSCTT_TT_OPS_EVALUATE_HPP

#include "tt/train.hpp"

#include <vector>

namespace petsctt {

// values[j] = x(index[j*d], ..., index[j*d + d-1]), j < m; indices are global and the same on every process, so are values.
// Collective; one sum of m r_k words per distributed mode.
void entries(const Train &x, Int m, const Int *index, Scalar *values);

// Fibre along mode k: local part (n(k) entries) of x(i_0,..,i_{k-1}, : ,i_{k+1},..,i_{d-1}); index[k] is ignored. Collective.
void fibre(const Train &x, Int k, const Int *index, Scalar *values);

// Contraction of the modes with contract[k] by sum over i of w_k(i) x(...,i,...), no conjugation; weights[k] points to the local
// part of w_k, or is null for ones. At least one mode must stay; the result lives in `rest`, the space of the modes that stay,
// in their order. Collective; one sum of r_{k-1} r_k words per distributed contracted mode.
Train contract(const Train &x, const std::vector<bool> &contract, const std::vector<const Scalar *> &weights, const SpacePtr &rest);

// Contraction of all modes.
Scaled contract_all(const Train &x, const std::vector<const Scalar *> &weights);

// Smallest and largest real part of all entries and where they are (d indices each), by enumeration: exact. Of places that are
// equal up to round-off the first counts, first mode fastest. Throws
// PETSC_ERR_SUP when there are more than `limit` entries. Collective, work shared by the processes.
struct Extremes {
  Real             min, max;
  std::vector<Int> argmin, argmax;
};
Extremes extremes(const Train &x, double limit);

} // namespace petsctt

#endif
