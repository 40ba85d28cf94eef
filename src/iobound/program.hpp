#ifndef PETSCTT_IOBOUND_PROGRAM_HPP
#define PETSCTT_IOBOUND_PROGRAM_HPP

#include "iobound/statement.hpp"

namespace petsctt::iobound {

// Statements that run one after the other or interleaved. Inputs of the same array are shared: what one statement has loaded another may use.
struct Program {
  std::string            name;
  std::vector<Statement> statements;
};

struct Bound {
  double                 Q     = 0; // words of all processes together, at least
  double                 reuse = 0; // taken off for inputs that statements share
  std::vector<double>    each;      // Q of each statement alone
  std::vector<Intensity> intensities;
};

// Q >= sum of |V_s| / rho_s - sum over shared arrays of Reuse, Reuse(A) = the smaller number of loads of A in the two statements' own optimal
// schedules. Sequential; a process of P does Q/P at least.
Bound lower_bound(const Program &p, double M);

// Known kernels. N: order of the matrices.
Program matmul(double N);   // C[i,j] += A[i,k] B[k,j]
Program lu(double N);       // without pivoting, which moves no less
Program cholesky(double N);
// Kernels of tensor trains: cores r x n x r.
Program tt_apply(double n, double r); // a dense n x n matrix on a mode: Y[a,i,b] += A[i,j] X[a,j,b]
Program tt_gram(double n, double r, double M);  // T[a,i,b] += G[a,c] X[c,i,b], H[d,b] += conj(X[a,i,d]) T[a,i,b]; T may be computed where it is used
Program qr_update(double m, double n);          // Householder QR of m x n, m >> n: W[k,j] += conj(V[i,k]) A[i,j], A[i,j] -= V[i,k] W[k,j]

} // namespace petsctt::iobound

#endif
