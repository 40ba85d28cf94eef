#ifndef PETSCTT_IOBOUND_STATEMENT_HPP
#define PETSCTT_IOBOUND_STATEMENT_HPP

#include <string>
#include <vector>

// Lower bounds for the words that a loop program moves between a fast memory of M words and the rest, whatever its schedule: the model of
// disjoint array access programs (Kwasniewski, Kabic, Ben-Nun, Ziogas, Saethre, Gaillard, Schneider, Besta, Kozhevnikov, VandeVondele,
// Hoefler: On the parallel I/O optimality of linear algebra kernels, arXiv 2010.05975). Arithmetic only: no communicator, no PETSc.
namespace petsctt::iobound {

// An input of a statement: the loop variables that address it. weight: words that an element costs at least, below 1 where computing it anew
// from the inputs of its own statement is cheaper than loading it (output reuse: producer_weight()).
struct Access {
  std::string      array;
  std::vector<int> variables;
  double           weight = 1;
};

// One statement of the loop body: its loop variables, what it reads (the old value of what it updates included), how often it runs.
struct Statement {
  std::string         name;
  int                 variables = 0; // numbered from 0
  std::vector<Access> inputs;
  double              executions = 0; // |V|
  int                 used_once  = 0; // u: inputs of each execution that no other execution reads
};

// The largest number of executions in a part of the schedule that reads at most X words: psi(X) = max prod D_t, with D_t >= 1 values of variable t,
// subject to sum_j w_j prod_{t in phi_j} D_t <= X. Infinite if a variable addresses no input. 1 at least.
struct Largest {
  double              executions = 1;
  std::vector<double> D; // the maximiser
};
Largest largest_part(const Statement &s, double X);

// rho = min over X > M of psi(X) / (X - M): no schedule runs the statement more often per word. At most 1/u.
struct Intensity {
  double  rho = 0;
  double  X0  = 0; // the minimiser; infinite where rho is a limit
  Largest part;    // at X0 (at a very large X where X0 is infinite)
};
Intensity intensity(const Statement &s, double M);

// Words that an element of the output of s costs at least where another statement reads it: min(1, 1/rho).
double producer_weight(const Statement &s, double M);

// Loads of an input in the statement's own optimal schedule: |A(X0)| |V| / psi(X0).
double loads(const Statement &s, const Access &a, const Intensity &i);

} // namespace petsctt::iobound

#endif
