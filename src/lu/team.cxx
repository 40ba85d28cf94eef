#include "lu/team.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace petsctt::lu {

namespace {

constexpr Count chunk = longest_message;

void wait_all(std::vector<MPI_Request> &requests)
{
  if (!requests.empty()) check_mpi(MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  requests.clear();
}

} // namespace

void check_mpi(int ierr, const char *call)
{
  if (ierr != MPI_SUCCESS) fail(PETSC_ERR_MPI, "%s returned error %d", call, ierr);
}

Team::Team(MPI_Comm comm, std::vector<int> members, int tag, Ledger *ledger) : comm_(comm), members_(std::move(members)), tag_(tag), ledger_(ledger)
{
  int rank;
  check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  me_ = (int)(std::find(members_.begin(), members_.end(), rank) - members_.begin());
}

void Team::isend(const Scalar *a, Count n, int to, std::vector<MPI_Request> &requests) const
{
  for (Count i = 0; i < n; i += chunk) {
    requests.emplace_back();
    check_mpi(MPI_Isend(a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, members_[(std::size_t)to], tag_, comm_, &requests.back()), "MPI_Isend");
    ++ledger_->messages;
  }
  ledger_->words += n;
}

void Team::irecv(Scalar *a, Count n, int from, std::vector<MPI_Request> &requests) const
{
  for (Count i = 0; i < n; i += chunk) {
    requests.emplace_back();
    check_mpi(MPI_Irecv(a + i, (int)std::min(chunk, n - i), MPIU_SCALAR, members_[(std::size_t)from], tag_, comm_, &requests.back()), "MPI_Irecv");
  }
  ledger_->received += n;
}

void Team::send(const Scalar *a, Count n, int to) const
{
  std::vector<MPI_Request> r;
  isend(a, n, to, r);
  wait_all(r);
}

void Team::recv(Scalar *a, Count n, int from) const
{
  std::vector<MPI_Request> r;
  irecv(a, n, from, r);
  wait_all(r);
}

void Team::exchange(const Scalar *out, const std::vector<Count> &counts_out, Scalar *in, const std::vector<Count> &counts_in) const
{
  std::vector<MPI_Request> r;
  const std::size_t        p = members_.size();
  std::vector<Count>       from(p + 1, 0), to(p + 1, 0);
  for (std::size_t q = 0; q < p; ++q) {
    from[q + 1] = from[q] + counts_in[q];
    to[q + 1]   = to[q] + counts_out[q];
  }
  // everybody begins with its neighbour, so that no process gets all messages at once
  for (int s = 1; s < (int)p; ++s) {
    const int q = (me_ + (int)p - s) % (int)p;
    irecv(in + from[(std::size_t)q], counts_in[(std::size_t)q], q, r);
  }
  for (int s = 1; s < (int)p; ++s) {
    const int q = (me_ + s) % (int)p;
    isend(out + to[(std::size_t)q], counts_out[(std::size_t)q], q, r);
  }
  const std::size_t m = (std::size_t)me_;
  std::copy(out + to[m], out + to[m] + counts_out[m], in + from[m]);
  wait_all(r);
}

void Team::allgather(const Scalar *mine, Scalar *all, const std::vector<Count> &counts) const
{
  std::vector<MPI_Request> r;
  const int                p = size();
  std::vector<Count>       from((std::size_t)p + 1, 0);
  for (int q = 0; q < p; ++q) from[(std::size_t)q + 1] = from[(std::size_t)q] + counts[(std::size_t)q];
  for (int s = 1; s < p; ++s) {
    const int q = (me_ + p - s) % p;
    irecv(all + from[(std::size_t)q], counts[(std::size_t)q], q, r);
  }
  for (int s = 1; s < p; ++s) isend(mine, counts[(std::size_t)me_], (me_ + s) % p, r);
  std::copy(mine, mine + counts[(std::size_t)me_], all + from[(std::size_t)me_]);
  wait_all(r);
}

void Team::bcast(Scalar *a, Count n, int root) const
{
  const int p = size(), q = (me_ + p - root) % p;
  int       step = 1;
  for (; step < p; step *= 2)
    if (q & step) break;
  if (q) recv(a, n, (q - step + root) % p); // step: the lowest bit of q
  std::vector<MPI_Request> r;
  for (step /= 2; step > 0; step /= 2)
    if (q + step < p) isend(a, n, (q + step + root) % p, r);
  wait_all(r);
}

void Team::pipeline(Scalar *a, Count n, int root) const
{
  const int p = size();
  if (p == 1 || n == 0) return;
  const int   q = (me_ + p - root) % p, next = (me_ + 1) % p, previous = (me_ + p - 1) % p;
  // pieces of 64 kB and more, four at most: latency against the time to fill the pipeline
  const Count pieces = p == 2 ? 1 : std::max<Count>(1, std::min<Count>(4, n / 8192)), piece = (n + pieces - 1) / pieces;
  std::vector<MPI_Request> in, out;
  if (q)
    for (Count i = 0; i < n; i += piece) irecv(a + i, std::min(piece, n - i), previous, in);
  std::size_t s = 0;
  for (Count i = 0; i < n; i += piece) {
    const Count m = std::min(piece, n - i);
    if (q)
      for (Count got = 0; got < m; got += chunk, ++s) check_mpi(MPI_Wait(&in[s], MPI_STATUS_IGNORE), "MPI_Wait");
    if (q < p - 1) isend(a + i, m, next, out);
  }
  wait_all(out);
}

template <class Combine>
void Team::reduce(Scalar *a, Count n, int root, Combine combine) const
{
  const int p = size(), q = (me_ + p - root) % p;
  Buffer    other((std::size_t)n);
  for (int step = 1; step < p; step *= 2) {
    if (q & step) {
      send(a, n, (q - step + root) % p);
      break;
    }
    if (q + step >= p) continue;
    recv(other.data(), n, (q + step + root) % p);
    for (Count i = 0; i < n; ++i) a[i] = combine(a[i], other[(std::size_t)i]);
  }
}

void Team::max(Scalar *a, Count n) const
{
  reduce(a, n, 0, [](Scalar x, Scalar y) { return real(x) >= real(y) ? x : y; });
  bcast(a, n, 0);
}

void Team::sum_to(Scalar *a, Count n, int root) const
{
  reduce(a, n, root, [](Scalar x, Scalar y) { return x + y; });
}

void Ring::begin(Scalar *a, Count n, int root)
{
  drain();
  const int p = team_->size(), q = (team_->me() + p - root) % p;
  a_          = a;
  root_       = root;
  if (p == 1) return;
  PETSCTT_REQUIRE(n <= chunk, PETSC_ERR_PLIB, "%lld entries in one message; at most %lld", (long long)n, (long long)chunk);
  if (q == 0) team_->isend(a, n, (team_->me() + 1) % p, out_);
  else {
    in_.emplace_back();
    check_mpi(MPI_Irecv(a, (int)n, MPIU_SCALAR, team_->members_[(std::size_t)((team_->me() + p - 1) % p)], team_->tag_, team_->comm_, &in_.back()), "MPI_Irecv");
  }
}

void Ring::end()
{
  if (in_.empty()) return;
  const int  p = team_->size(), q = (team_->me() + p - root_) % p;
  MPI_Status status;
  int        n;
  check_mpi(MPI_Wait(&in_[0], &status), "MPI_Wait");
  check_mpi(MPI_Get_count(&status, MPIU_SCALAR, &n), "MPI_Get_count");
  in_.clear();
  team_->ledger_->received += n;
  if (q < p - 1) team_->isend(a_, n, (team_->me() + 1) % p, out_);
}

void Ring::drain()
{
  wait_all(out_);
}

} // namespace petsctt::lu
