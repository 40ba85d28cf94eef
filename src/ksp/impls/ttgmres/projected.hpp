#ifndef PETSCTT_KSP_IMPLS_TTGMRES_PROJECTED_HPP
#define PETSCTT_KSP_IMPLS_TTGMRES_PROJECTED_HPP

#include "tt/numbers.hpp"

#include <vector>

namespace petsctt {

// The small problem of one cycle: A P^{-1} V_j = V_{j+1} H_j + E with basis vectors of norm one that rounding has left orthogonal
// only roughly. Their Gram matrix G = V^H V is kept, so the least-squares problem min ||V_{j+1} (beta e_1 - H y)|| is solved exactly
// whatever the orthogonality: min ||U (beta e_1 - H y)|| with G = U^H U. Numbers only, the same on every process.
class Projected {
public:
  void start(Int m, Real beta); // for at most m columns
  Int  columns() const { return j_; }

  // Coefficients of the best approximation by the basis vectors first..columns() of a vector whose dots with them are g.
  std::vector<Scalar> project(Int first, const std::vector<Scalar> &g) const;
  // Squared norm of the combination h of the basis vectors first..columns().
  Real norm2(Int first, const std::vector<Scalar> &h) const;

  // Column j: coefficients h of the basis vectors first..j, norm of the new vector, and the dots gram[i] = v_i^H v_{j+1}, i <= j.
  // error: norm of what rounding dropped from the new vector. False when the Gram matrix has lost definiteness: the column is
  // not added and the cycle must end.
  bool add(Int first, const std::vector<Scalar> &h, Real norm, const std::vector<Scalar> &gram, Real error);

  const std::vector<Scalar> &y() const { return y_; } // minimiser
  Real residual() const { return residual_; }         // ||V (beta e_1 - H y)||
  Real error() const { return error_; }               // sqrt(sum |y_i|^2 error_i^2): what rounding adds to it
  Real growth() const { return growth_; }             // max |y_i| / residual before column i: how errors of a step are amplified

private:
  bool solve();
  Int  m_ = 0, j_ = 0;
  Real beta_ = 0, residual_ = 0, error_ = 0, growth_ = 0;
  std::vector<Scalar> G_, H_; // (m+1) x (m+1), (m+1) x m
  std::vector<Scalar> y_;
  std::vector<Real>   errors_, before_;
};

} // namespace petsctt

#endif
