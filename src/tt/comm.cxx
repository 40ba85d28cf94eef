#include "tt/comm.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace petsctt {

namespace {

constexpr Count chunk = Count(1) << 28; // entries per MPI call: below the range of an int, also in bytes for double

int rounds(int size)
{
  int r = 0;
  while ((1 << r) < size) ++r;
  return r;
}

void check_mpi(int ierr, const char *call)
{
  if (ierr != MPI_SUCCESS) fail(PETSC_ERR_MPI, "%s returned error %d", call, ierr);
}

} // namespace

Comm::Comm(MPI_Comm comm) : comm_(comm)
{
  check_mpi(MPI_Comm_rank(comm, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(comm, &size_), "MPI_Comm_size");
}

CommCounts &Comm::counts()
{
  static CommCounts c;
  return c;
}

void Comm::sum(Scalar *a, Count n) const
{
  if (size_ == 1 || n == 0) return;
  for (Count i = 0; i < n; i += chunk) check_mpi(MPI_Allreduce(MPI_IN_PLACE, a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, MPIU_SUM, comm_), "MPI_Allreduce");
  counts().messages += rounds(size_);
  counts().words += 2 * n * (size_ - 1) / size_; // reduce-scatter and allgather
}

void Comm::max(Real *a, Count n) const
{
  if (size_ == 1 || n == 0) return;
  for (Count i = 0; i < n; i += chunk) check_mpi(MPI_Allreduce(MPI_IN_PLACE, a + i, (int)std::min(chunk, n - i), MPIU_REAL, MPIU_MAX, comm_), "MPI_Allreduce");
  counts().messages += rounds(size_);
  counts().words += 2 * n * (size_ - 1) / size_;
}

void Comm::bcast(Scalar *a, Count n, int root) const
{
  if (size_ == 1 || n == 0) return;
  for (Count i = 0; i < n; i += chunk) check_mpi(MPI_Bcast(a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, root, comm_), "MPI_Bcast");
  counts().messages += rounds(size_);
  counts().words += n * (size_ - 1) / size_;
}

void Comm::bcast(Int *a, Count n, int root) const
{
  if (size_ == 1 || n == 0) return;
  check_mpi(MPI_Bcast(a, (int)n, MPIU_INT, root, comm_), "MPI_Bcast");
  counts().messages += rounds(size_);
  counts().words += n * (size_ - 1) / size_;
}

void Comm::send(const Scalar *a, Count n, int to, int tag) const
{
  // Empty messages are sent too: the receiver knows the count only from the plan, and the pair stays matched.
  Count i = 0;
  do {
    check_mpi(MPI_Send(a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, to, tag, comm_), "MPI_Send");
    ++counts().messages;
    i += chunk;
  } while (i < n);
  counts().words += n;
}

void Comm::recv(Scalar *a, Count n, int from, int tag) const
{
  Count i = 0;
  do {
    check_mpi(MPI_Recv(a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, from, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    i += chunk;
  } while (i < n);
}

void Comm::allgatherv(const Scalar *mine, Scalar *all, const std::vector<Count> &n) const
{
  if (size_ == 1) {
    std::copy(mine, mine + n[0], all);
    return;
  }
  std::vector<int> cnt(size_), dsp(size_);
  Count            total = 0;
  for (int p = 0; p < size_; ++p) {
    PETSCTT_REQUIRE(total + n[p] < PETSC_MPI_INT_MAX, PETSC_ERR_SUP, "Gathering %lld entries exceeds the range of an MPI count", (long long)(total + n[p]));
    cnt[p] = (int)n[p];
    dsp[p] = (int)total;
    total += n[p];
  }
  check_mpi(MPI_Allgatherv(mine, cnt[rank_], MPIU_SCALAR, all, cnt.data(), dsp.data(), MPIU_SCALAR, comm_), "MPI_Allgatherv");
  counts().messages += rounds(size_);
  counts().words += total - n[rank_];
}

} // namespace petsctt
