#include "lu/factorization.hpp"

#include "base/error.hpp"

#include <utility>

namespace petsctt::lu {

Factorization::Factorization(MPI_Comm comm, std::vector<Count> row_starts, Count n) : starts_(std::move(row_starts))
{
  check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
  check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  PETSCTT_REQUIRE((int)starts_.size() == size_ + 1 && starts_.back() == n, PETSC_ERR_ARG_SIZ, "Row ranges of %d processes do not make a matrix of order %lld", size_, (long long)n);
  std::vector<int> everybody((std::size_t)size_);
  for (int p = 0; p < size_; ++p) everybody[(std::size_t)p] = p;
  comm_ = comm;
  if (size_ > 1) check_mpi(MPI_Comm_dup(comm, &comm_), "MPI_Comm_dup"); // communicators are few, and one process sends nothing
  world_ = Team(comm_, std::move(everybody), 1, &ledger_);
}

Factorization::~Factorization()
{
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized && size_ > 1) MPI_Comm_free(&comm_);
}

Factorization::Found Factorization::agree(bool memory, Real top) const
{
  Scalar found[3] = {memory ? (Real)0 : (Real)1, is_finite(top) ? (Real)0 : (Real)1, is_finite(top) ? top : (Real)0};
  world_.max(found, 3);
  return {real(found[0]) == 0, real(found[1]) == 0, real(found[2])};
}

void Factorization::load(const Scalar *a, Count lda)
{
  factored_ = loaded_ = false;
  clear();
  ledger_  = Ledger();
  largest_ = 0;
  distribute(a, lda);
  traffic_        = Traffic();
  traffic_.layout = ledger_;
  loaded_         = true;
}

} // namespace petsctt::lu
