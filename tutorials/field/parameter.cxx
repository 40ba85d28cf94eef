#include "field.hpp"

#include <petscdt.h>

namespace field {

namespace {

// Orthonormal Legendre polynomials of degrees 0 .. n-1 at y: sqrt(2 j + 1) P_j(y), by the three-term recurrence of P_j.
std::vector<PetscReal> legendre(PetscInt n, PetscReal y)
{
  std::vector<PetscReal> p(n);
  PetscReal              before = 0, now = 1;
  for (PetscInt j = 0; j < n; ++j) {
    p[j]                 = PetscSqrtReal((PetscReal)(2 * j + 1)) * now;
    const PetscReal next = ((PetscReal)(2 * j + 1) * y * now - (PetscReal)j * before) / (PetscReal)(j + 1);
    before               = now;
    now                  = next;
  }
  return p;
}

} // namespace

PetscErrorCode Parameter::set(PetscInt number, bool use_chaos)
{
  PetscFunctionBeginUser;
  n     = number;
  chaos = use_chaos;
  points.resize(n);
  weights.resize(n);
  PetscCall(PetscDTGaussQuadrature(n, -1, 1, points.data(), weights.data()));
  for (PetscReal &w : weights) w /= 2; // the density of y is 1/2
  PetscFunctionReturn(0);
}

// With the other parameters at their means u is analytic in y as far as the coefficient is positive: in the ellipse with foci -1, 1 and half-axis t = 1/largest.
// Polynomials of degree < n approximate it up to a multiple of rho^-n, rho = t + sqrt(t^2 - 1), interpolation at the Gauss points too
// (I. Babuska, F. Nobile, R. Tempone, A stochastic collocation method for elliptic partial differential equations with random input data, 2007).
PetscInt Parameter::needed(PetscReal largest, PetscReal tol)
{
  if (!(largest > 0)) return 2;
  const PetscReal t = PetscMax(1 / largest, 1.01), rho = t + PetscSqrtReal(t * t - 1);
  return (PetscInt)PetscMax(2, PetscCeilReal(-PetscLogReal(tol) / PetscLogReal(rho)));
}

PetscReal Parameter::multiplication(PetscInt i, PetscInt j) const
{
  if (!chaos) return i == j ? points[i] : 0;
  if (i != j + 1 && j != i + 1) return 0;
  const PetscReal k = (PetscReal)PetscMax(i, j);
  return k / PetscSqrtReal((2 * k - 1) * (2 * k + 1));
}

PetscReal Parameter::one(PetscInt j) const
{
  return chaos ? (j == 0 ? 1 : 0) : PetscSqrtReal(weights[j]);
}

// In collocation u is the interpolating polynomial: the one of Lagrange to the point j is w_j sum_i p_i(y_j) p_i(y), since the quadrature is exact for
// products of two p_i.
std::vector<PetscReal> Parameter::evaluation(PetscReal y) const
{
  const std::vector<PetscReal> p = legendre(n, y);
  if (chaos) return p;
  std::vector<PetscReal> e(n, 0);
  for (PetscInt j = 0; j < n; ++j) {
    const std::vector<PetscReal> at = legendre(n, points[j]);
    for (PetscInt i = 0; i < n; ++i) e[j] += at[i] * p[i];
    e[j] *= PetscSqrtReal(weights[j]);
  }
  return e;
}

} // namespace field
