#ifndef PETSCTT_KSP_IMPLS_TTGMRES_PROJECTED_HPP
#define PETSCTT_KSP_IMPLS_TTGMRES_PROJECTED_HPP

#include "base/numbers.hpp"

#include <vector>

namespace petsctt {

// The small problem of one cycle: A P^{-1} V_j = V_{j+1} H_j + E with basis vectors of norm one that are orthogonal only roughly: rounding
// and the short window see to that. Their Gram matrix G = V^H V is handed in, so the least-squares problem
// min ||V_{j+1} (beta e_1 - H y)|| is solved as min ||U (beta e_1 - H y)||, G = U^H U, whatever the orthogonality. G may also be the Gram
// matrix of random images of the basis vectors: then the residual is nearly minimal. Numbers only, the same on every process.
class Projected {
public:
  void start(Real beta);
  Int  columns() const { return j_; }

  // Gram matrix of the basis vectors 0..n-1, packed n x n; inflation: factor by which norms measured with it are too small after a
  // least-squares fit.
  void set_gram(Int n, std::vector<Scalar> G, Real inflation);

  const std::vector<Scalar> &gram() const { return G_; }

  // Column j: coefficients h of the basis vectors first..j, norm of the new vector; set_gram() for j+2 vectors comes before.
  // error: norm of what rounding dropped from the new vector. False when the Gram matrix has lost definiteness: the column is
  // not added and the cycle must end.
  bool add(Int first, const std::vector<Scalar> &h, Real norm, Real error);

  const std::vector<Scalar> &y() const { return y_; } // minimiser
  Real residual() const { return residual_; }         // ||V (beta e_1 - H y)||
  Real error() const { return error_; }               // sqrt(sum |y_i|^2 error_i^2): what rounding adds to it
  Real growth() const { return growth_; }             // max |y_i| / residual before column i: how errors of a step are amplified

private:
  bool solve();
  Int  j_ = 0, ng_ = 0;
  Real beta_ = 0, residual_ = 0, error_ = 0, growth_ = 0, inflation_ = 1;
  std::vector<Scalar> G_, y_; // ng x ng, j
  std::vector<std::vector<Scalar>> H_; // columns, of j + 2 entries
  std::vector<Real>   errors_, before_;
};

// Coefficients of the best approximation by n vectors with Gram matrix G (n x n) of a vector whose dots with them are g.
std::vector<Scalar> best_coefficients(Int n, std::vector<Scalar> G, const std::vector<Scalar> &g);

} // namespace petsctt

#endif
