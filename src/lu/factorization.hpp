#ifndef PETSCTT_LU_FACTORIZATION_HPP
#define PETSCTT_LU_FACTORIZATION_HPP

#include "lu/team.hpp"

#include <vector>

namespace petsctt::lu {

// What LU and Cholesky have in common: the processes, of which those of a grid are active; the rows of A that each has; what has been sent; and the order of
// events: load(), factorize(), solves.
class Factorization {
public:
  // Words of lists and small arrays beside those that a plan counts, about: a process is asked for them as well.
  static constexpr double scratch = 1 << 17;

  // Collective on the communicator; frees the duplicate.
  virtual ~Factorization();
  Factorization(const Factorization &)            = delete;
  Factorization &operator=(const Factorization &) = delete;

  // The rows of this process, column-major: brings A to where it is factorised, and factorises it. Collective, both; or factor() for both. load() throws
  // PETSC_ERR_MEM on all processes where one has not the memory that the plan predicts; there is nothing to factorise or to solve with then.
  void         load(const Scalar *a, Count lda);
  virtual void factorize() = 0;
  void         factor(const Scalar *a, Count lda)
  {
    load(a, lda);
    factorize();
  }

  struct Traffic {
    Ledger layout, factor, solve, prepare; // bringing A here; factorising; all solves since, and what some ways of solving need first
    double words = 0, messages = 0;        // of the solves and what they needed first, where that is predicted, for an active process
  };
  const Traffic &traffic() const { return traffic_; }
  virtual double memory_words() const = 0; // of this process, factors and what the factorisation needed at its largest
  virtual double solve_words(Count nrhs) const = 0; // about what a solve takes beside them on the process with the most, right-hand sides and solutions not counted

protected:
  // Duplicates comm unless it has one process. Throws PETSC_ERR_ARG_SIZ where the rows are not those of a matrix of order n on these processes.
  Factorization(MPI_Comm comm, std::vector<Count> row_starts, Count n);

  // Forgets matrix and factors, and the outcome
  virtual void clear() = 0;
  // Takes the memory and brings A here, and says in the outcome whether it is finite.
  virtual void distribute(const Scalar *a, Count lda) = 0;
  // Whether all processes have the memory and whether all of A is finite, and its largest modulus, from what each has found. Collective.
  struct Found {
    bool memory, finite;
    Real top;
  };
  Found agree(bool memory, Real top) const;

  MPI_Comm           comm_ = MPI_COMM_NULL;
  int                rank_ = 0, size_ = 1;
  bool               active_ = false, loaded_ = false, factored_ = false;
  std::vector<Count> starts_; // first row of each process, and the order
  mutable Ledger     ledger_;
  Traffic            traffic_;
  Team               world_;
  double             largest_ = 0; // words in buffers at the most
};

} // namespace petsctt::lu

#endif
