#ifndef PETSCTT_TUTORIALS_FIELD_HPP
#define PETSCTT_TUTORIALS_FIELD_HPP

// Diffusion with a random coefficient: the parts of ex8. All on a mesh of m x m squares of the unit square, h = 1/m; element (ex, ey) has the
// number ey + m ex, node (ix, iy) the coordinates (ix h, iy h).
#include <petscksp.h>

#include <string>
#include <vector>

namespace field {

// The kernel 3 sigma^2 rho with rho = exp(-s) ("exponential") or exp(-s^2/2) (Gaussian), s^2 = (dx/lx)^2 + (dy/ly)^2.
struct Kernel {
  bool      gaussian = false;
  PetscReal sigma = 0.15, lx = 1, ly = 0.7;

  PetscReal value(PetscReal dx, PetscReal dy) const;
};

// sqrt(lambda_k) phi_k on the elements, for the `terms` largest eigenvalues of the kernel's integral operator.
struct Expansion {
  PetscInt                            m = 0;
  PetscReal                           trace = 0; // sum of all eigenvalues
  std::vector<PetscReal>              lambda;
  std::vector<std::vector<PetscReal>> mode;      // mode[k][element], the same on all processes
};

// (lambda_k, phi_k) of (K phi)(x) = integral of kernel(x - x') phi(x') dx' in the space of functions constant on each element, with the
// mid-point rule: h^2 kernel(x_i - x_j) phi_j, a matrix of order m^2 that is applied, not stored: its entries depend on |i - j| in
// both directions only, which is a table of m^2 numbers. Solved by SLEPc's EPS (options -eps_...). The sign of phi_k is fixed by an
// inner product. Collective.
PetscErrorCode expand(MPI_Comm comm, const Kernel &kernel, PetscInt m, PetscInt terms, Expansion &out);

// The unknowns: the nodes with 0 < x < 1, node (ix, iy) being number iy + (m+1) (ix-1), distributed in equal shares. Bilinear (Q1) elements.
// u = (1 - x) + v; for coefficient c, constant on each element, of which all processes have all values:
//   A_ij = integral of c grad phi_i . grad phi_j,    b_i = - integral of c grad phi_i . grad(1 - x)
// Every process makes its own rows. Collective.
PetscErrorCode assemble(MPI_Comm comm, PetscInt m, const std::vector<PetscReal> &c, Mat *A, Vec *b);

// f and c such that f . v + c is the mean of u over the elements whose centres are in (0, 1/2)^2.
PetscErrorCode quarter_mean(PetscInt m, Vec f, PetscReal *c);

// Writes fields given at the unknowns, each with the values `left`, `right` it has on x = 0 and x = 1, as VTK image data (.vti, text). Collective.
struct NodeField {
  std::string name;
  Vec         values;
  PetscReal   left, right;
};
PetscErrorCode write_vti(const std::string &file, PetscInt m, const std::vector<NodeField> &fields);
// The part 1 - x of u at the unknowns.
PetscErrorCode lift(PetscInt m, Vec g);

// One parameter y, uniform on [-1, 1], in n numbers. Any function u(y) stands for coefficients in which the Euclidean norm is that of
// L2 with the uniform probability, and multiplication by y is the matrix Y:
//   collocation: u(y_j) sqrt(w_j/2) at the points of Gauss-Legendre quadrature; Y = diag(y_j)
//   chaos:       coefficients for the orthonormal Legendre polynomials of degrees 0 .. n-1; Y tridiagonal (their recurrence)
struct Parameter {
  bool                   chaos = false;
  PetscInt               n     = 0;
  std::vector<PetscReal> points, weights; // of the quadrature, weights summing to 1

  PetscErrorCode set(PetscInt n, bool chaos);
  // How many numbers leave an error of about `tol`, for a term of the coefficient whose largest absolute value is `largest` < 1, the mean of the coefficient.
  static PetscInt needed(PetscReal largest, PetscReal tol);
  // entry (i, j) of Y
  PetscReal multiplication(PetscInt i, PetscInt j) const;
  // the coefficients of 1: unit vector whose product with those of u is the mean of u
  PetscReal one(PetscInt j) const;
  // what the coefficients of u are to be multiplied by to get u(y)
  std::vector<PetscReal> evaluation(PetscReal y) const;
};

// Statistics by Monte Carlo: `samples` solves with ordinary PETSc objects.
struct MonteCarlo {
  std::vector<std::vector<PetscReal>> y; // the samples
  std::vector<PetscReal>              q; // f . v at each
  Vec                                 mean = NULL, variance = NULL; // of u at the unknowns
  PetscLogDouble                      seconds = 0;
};
// A[0] + sum_k y_k A[k], likewise b; options of the solver -mc_ksp_type etc. Collective.
PetscErrorCode monte_carlo(const std::vector<Mat> &A, const std::vector<Vec> &b, Vec f, PetscInt samples, unsigned long seed, MonteCarlo &out);
// Prints times at equal numbers of samples and at equal errors of the variance. `train`: seconds for all parameters at once, with a root mean square difference of
// e standard deviations at the samples, which changes the standard deviation by e of it at most, and the variance by 2 e + e^2. `relative_error`: the
// standard error of the variance, relative to it; it falls with the square root of the number of samples.
PetscErrorCode print_times(PetscLogDouble train, const MonteCarlo &mc, PetscReal relative_error, PetscReal e);

} // namespace field

#endif
