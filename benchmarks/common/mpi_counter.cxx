#include "common/mpi_counter.hpp"

// the C++ classes that old versions of mpi.h bring along want a library of their own
#define OMPI_SKIP_MPICXX  1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <cstdio>
#include <vector>

namespace {

bool                counting = false;
double              messages, sent, received; // received: of collectives
std::vector<double> sent_to;                  // bytes to each process of MPI_COMM_WORLD

double bytes(double n, MPI_Datatype t)
{
  int size;
  PMPI_Type_size(t, &size);
  return n * size;
}

int size_of(MPI_Comm c)
{
  int p;
  PMPI_Comm_size(c, &p);
  return p;
}

int rank_of(MPI_Comm c)
{
  int r;
  PMPI_Comm_rank(c, &r);
  return r;
}

void message(double n, MPI_Datatype t, int to, MPI_Comm c)
{
  if (!counting || to == MPI_PROC_NULL) return;
  MPI_Group here, world;
  int       p;
  PMPI_Comm_group(c, &here);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(here, 1, &to, world, &p);
  PMPI_Group_free(&here);
  PMPI_Group_free(&world);
  if (p == rank_of(MPI_COMM_WORLD)) return;
  sent_to[(std::size_t)p] += bytes(n, t);
  ++messages;
}

void collective(double m, double out, double in)
{
  messages += m;
  sent += out;
  received += in;
}

// The part of a p-th that the others have.
double others(MPI_Comm c)
{
  const double p = size_of(c);
  return (p - 1) / p;
}

void refuse(const char *name)
{
  if (!counting) return;
  std::fprintf(stderr, "%s is not known to the counter of messages\n", name);
  PMPI_Abort(MPI_COMM_WORLD, 1);
}

// Blocks of n[q] entries for member q, without its own.
double blocks(const int n[], MPI_Datatype t, MPI_Comm c, double *number)
{
  double total = 0;
  for (int q = 0; q < size_of(c); ++q)
    if (q != rank_of(c) && n[q]) {
      total += bytes(n[q], t);
      ++*number;
    }
  return total;
}

} // namespace

namespace bench {

void mpi_counter_start()
{
  messages = sent = received = 0;
  sent_to.assign((std::size_t)size_of(MPI_COMM_WORLD), 0);
  PMPI_Barrier(MPI_COMM_WORLD);
  counting = true;
}

MpiCount mpi_counter_stop()
{
  MpiCount n;
  double   in = 0;
  counting    = false;
  PMPI_Reduce_scatter_block(sent_to.data(), &in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  n.messages = messages;
  n.sent     = sent;
  n.received = received + in;
  for (double b : sent_to) n.sent += b;
  return n;
}

} // namespace bench

// The functions of MPI. Their names must be seen from outside whatever the program's default is.
#pragma GCC visibility push(default)
extern "C" {

#define COUNTED_SEND(name) \
  int MPI_##name(const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) \
  { \
    message(n, t, to, c); \
    return PMPI_##name(a, n, t, to, tag, c); \
  }
COUNTED_SEND(Send)
COUNTED_SEND(Bsend)
COUNTED_SEND(Ssend)
COUNTED_SEND(Rsend)

#define COUNTED_ISEND(name) \
  int MPI_##name(const void *a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r) \
  { \
    message(n, t, to, c); \
    return PMPI_##name(a, n, t, to, tag, c, r); \
  }
COUNTED_ISEND(Isend)
COUNTED_ISEND(Ibsend)
COUNTED_ISEND(Issend)
COUNTED_ISEND(Irsend)

int MPI_Sendrecv(const void *a, int n, MPI_Datatype t, int to, int tag, void *b, int m, MPI_Datatype u, int from, int tag_in, MPI_Comm c, MPI_Status *s)
{
  message(n, t, to, c);
  return PMPI_Sendrecv(a, n, t, to, tag, b, m, u, from, tag_in, c, s);
}

int MPI_Sendrecv_replace(void *a, int n, MPI_Datatype t, int to, int tag, int from, int tag_in, MPI_Comm c, MPI_Status *s)
{
  message(n, t, to, c);
  return PMPI_Sendrecv_replace(a, n, t, to, tag, from, tag_in, c, s);
}

int MPI_Bcast(void *a, int n, MPI_Datatype t, int root, MPI_Comm c)
{
  if (counting && size_of(c) > 1) collective(others(c), bytes(n, t) * others(c), rank_of(c) == root ? 0 : bytes(n, t));
  return PMPI_Bcast(a, n, t, root, c);
}

int MPI_Reduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c)
{
  if (counting && size_of(c) > 1) collective(others(c), rank_of(c) == root ? 0 : bytes(n, t), bytes(n, t) * others(c));
  return PMPI_Reduce(a, b, n, t, op, root, c);
}

int MPI_Allreduce(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
  if (counting) collective(2 * others(c), 2 * bytes(n, t) * others(c), 2 * bytes(n, t) * others(c));
  return PMPI_Allreduce(a, b, n, t, op, c);
}

int MPI_Reduce_scatter(const void *a, void *b, const int n[], MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
  if (counting) {
    double total = 0;
    for (int q = 0; q < size_of(c); ++q) total += bytes(n[q], t);
    collective(size_of(c) - 1, total * others(c), total * others(c));
  }
  return PMPI_Reduce_scatter(a, b, n, t, op, c);
}

int MPI_Reduce_scatter_block(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
  if (counting) collective(size_of(c) - 1, bytes(n, t) * (size_of(c) - 1), bytes(n, t) * (size_of(c) - 1));
  return PMPI_Reduce_scatter_block(a, b, n, t, op, c);
}

int MPI_Allgather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
  if (counting) collective(size_of(c) - 1, bytes(m, u) * (size_of(c) - 1), bytes(m, u) * (size_of(c) - 1));
  return PMPI_Allgather(a, n, t, b, m, u, c);
}

int MPI_Allgatherv(const void *a, int n, MPI_Datatype t, void *b, const int m[], const int at[], MPI_Datatype u, MPI_Comm c)
{
  if (counting) {
    double       number = 0;
    const double in     = blocks(m, u, c, &number);
    collective(size_of(c) - 1, (in + bytes(m[rank_of(c)], u)) * others(c), in);
  }
  return PMPI_Allgatherv(a, n, t, b, m, at, u, c);
}

int MPI_Gather(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
  if (counting) {
    if (rank_of(c) == root) collective(0, 0, bytes(m, u) * (size_of(c) - 1));
    else collective(1, bytes(n, t), 0);
  }
  return PMPI_Gather(a, n, t, b, m, u, root, c);
}

int MPI_Gatherv(const void *a, int n, MPI_Datatype t, void *b, const int m[], const int at[], MPI_Datatype u, int root, MPI_Comm c)
{
  if (counting) {
    double number = 0;
    if (rank_of(c) == root) collective(0, 0, blocks(m, u, c, &number));
    else collective(n > 0, bytes(n, t), 0);
  }
  return PMPI_Gatherv(a, n, t, b, m, at, u, root, c);
}

int MPI_Scatter(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
  if (counting) {
    if (rank_of(c) == root) collective(size_of(c) - 1, bytes(n, t) * (size_of(c) - 1), 0);
    else collective(0, 0, bytes(m, u));
  }
  return PMPI_Scatter(a, n, t, b, m, u, root, c);
}

int MPI_Scatterv(const void *a, const int n[], const int at[], MPI_Datatype t, void *b, int m, MPI_Datatype u, int root, MPI_Comm c)
{
  if (counting) {
    double number = 0;
    if (rank_of(c) == root) {
      const double out = blocks(n, t, c, &number);
      collective(number, out, 0);
    } else collective(0, 0, bytes(m, u));
  }
  return PMPI_Scatterv(a, n, at, t, b, m, u, root, c);
}

int MPI_Alltoall(const void *a, int n, MPI_Datatype t, void *b, int m, MPI_Datatype u, MPI_Comm c)
{
  if (counting) collective(size_of(c) - 1, bytes(m, u) * (size_of(c) - 1), bytes(m, u) * (size_of(c) - 1));
  return PMPI_Alltoall(a, n, t, b, m, u, c);
}

int MPI_Alltoallv(const void *a, const int n[], const int at[], MPI_Datatype t, void *b, const int m[], const int at_in[], MPI_Datatype u, MPI_Comm c)
{
  if (counting) {
    double       number = 0, ignored = 0;
    const double in = blocks(m, u, c, &ignored);
    // MPI_IN_PLACE: as much goes out as comes in
    const double out = a == MPI_IN_PLACE ? blocks(m, u, c, &number) : blocks(n, t, c, &number);
    collective(number, out, in);
  }
  return PMPI_Alltoallv(a, n, at, t, b, m, at_in, u, c);
}

int MPI_Scan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
  if (counting) collective(rank_of(c) + 1 < size_of(c), rank_of(c) + 1 < size_of(c) ? bytes(n, t) : 0, rank_of(c) > 0 ? bytes(n, t) : 0);
  return PMPI_Scan(a, b, n, t, op, c);
}

int MPI_Exscan(const void *a, void *b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c)
{
  if (counting) collective(rank_of(c) + 1 < size_of(c), rank_of(c) + 1 < size_of(c) ? bytes(n, t) : 0, rank_of(c) > 0 ? bytes(n, t) : 0);
  return PMPI_Exscan(a, b, n, t, op, c);
}

int MPI_Start(MPI_Request *r)
{
  refuse("MPI_Start");
  return PMPI_Start(r);
}

int MPI_Startall(int n, MPI_Request r[])
{
  refuse("MPI_Startall");
  return PMPI_Startall(n, r);
}

int MPI_Put(const void *a, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w)
{
  refuse("MPI_Put");
  return PMPI_Put(a, n, t, to, at, m, u, w);
}

int MPI_Get(void *a, int n, MPI_Datatype t, int from, MPI_Aint at, int m, MPI_Datatype u, MPI_Win w)
{
  refuse("MPI_Get");
  return PMPI_Get(a, n, t, from, at, m, u, w);
}

int MPI_Accumulate(const void *a, int n, MPI_Datatype t, int to, MPI_Aint at, int m, MPI_Datatype u, MPI_Op op, MPI_Win w)
{
  refuse("MPI_Accumulate");
  return PMPI_Accumulate(a, n, t, to, at, m, u, op, w);
}

} // extern "C"
#pragma GCC visibility pop
