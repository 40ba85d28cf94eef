#include "aij_graph.hpp"

#include "aij_cover.hpp"
#include "sys/compat.hpp"
#include "sys/handle.hpp"

#include <algorithm>
#include <cmath>

#include <dlfcn.h>

namespace petsctt {

namespace {

using std::pair;
using std::size_t;
using std::vector;
using Lists = vector<vector<PetscInt>>;

using PartitioningHandle = Handle<MatPartitioning, MatPartitioningDestroy>;

void unique(vector<PetscInt> &v)
{
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

PetscInt place(const vector<PetscInt> &sorted, PetscInt number)
{
  return (PetscInt)(std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin());
}

// Numbers to places: neighbours with the process that has each.
void localise(PetscMPIInt rank, const vector<PetscInt> &neighbour, const vector<PetscInt> &part, Graph &g)
{
  vector<pair<PetscInt, PetscInt>> ghosts;
  for (size_t e = 0; e < neighbour.size(); ++e)
    if (part[e] != rank) ghosts.emplace_back(neighbour[e], part[e]);
  std::sort(ghosts.begin(), ghosts.end());
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
  g.ghost.clear();
  g.ghost_part.clear();
  for (const auto &v : ghosts) {
    g.ghost.push_back(v.first);
    g.ghost_part.push_back((PetscMPIInt)v.second);
  }
  g.index.resize(neighbour.size());
  for (size_t e = 0; e < neighbour.size(); ++e)
    g.index[e] = part[e] == rank ? place(g.own, neighbour[e]) : (PetscInt)g.own.size() + place(g.ghost, neighbour[e]);
}

// For each other process: own unknowns with a neighbour there, and neighbours there of own unknowns; as graph places, in the same order on both.
void boundaries(PetscMPIInt size, const Graph &g, Lists &mine, Lists &theirs)
{
  const PetscInt n = (PetscInt)g.own.size();
  mine.assign((size_t)size, {});
  theirs.assign((size_t)size, {});
  for (PetscInt i = 0; i < n; ++i)
    for (PetscInt e = g.first[(size_t)i]; e < g.first[(size_t)i + 1]; ++e) {
      const PetscInt j = g.index[(size_t)e];
      if (j < n) continue;
      vector<PetscInt> &m = mine[(size_t)g.ghost_part[(size_t)(j - n)]];
      if (m.empty() || m.back() != i) m.push_back(i);
    }
  for (size_t j = 0; j < g.ghost.size(); ++j) theirs[(size_t)g.ghost_part[j]].push_back(n + (PetscInt)j);
}

// States of own unknowns to the processes that have them as ghosts.
PetscErrorCode share(MPI_Comm comm, const Lists &mine, const Lists &theirs, vector<char> &state)
{
  Lists out(mine.size()), in;

  PetscFunctionBegin;
  for (size_t q = 0; q < mine.size(); ++q)
    for (PetscInt i : mine[q]) out[q].push_back(state[(size_t)i]);
  PetscCall(exchange(comm, out, in));
  for (size_t q = 0; q < mine.size(); ++q)
    for (size_t s = 0; s < theirs[q].size(); ++s) state[(size_t)theirs[q][s]] = (char)in[q][s];
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Unknowns all of whose neighbours elsewhere are in the set are not needed in it. Of two such neighbours the one with the smaller number leaves.
PetscErrorCode prune(MPI_Comm comm, const Graph &g, const Lists &mine, const Lists &theirs, vector<char> &in)
{
  const PetscInt n = (PetscInt)g.own.size();

  PetscFunctionBegin;
  for (int round = 0; round < 8; ++round) {
    vector<char> spare(in.size(), 0);
    PetscInt     left = 0, any = 0;
    for (const auto &list : mine)
      for (PetscInt i : list) {
        if (!in[(size_t)i]) continue;
        spare[(size_t)i] = 1;
        for (PetscInt e = g.first[(size_t)i]; e < g.first[(size_t)i + 1]; ++e)
          if (g.index[(size_t)e] >= n && !in[(size_t)g.index[(size_t)e]]) spare[(size_t)i] = 0;
      }
    PetscCall(share(comm, mine, theirs, spare));
    for (PetscInt i = 0; i < n; ++i) {
      if (!spare[(size_t)i]) continue;
      bool leaves = true;
      for (PetscInt e = g.first[(size_t)i]; e < g.first[(size_t)i + 1]; ++e) {
        const PetscInt j = g.index[(size_t)e];
        if (j >= n && spare[(size_t)j] && g.number(j) < g.own[(size_t)i]) leaves = false;
      }
      if (leaves) {
        in[(size_t)i] = 0;
        ++left;
      }
    }
    PetscCallMPI(MPI_Allreduce(&left, &any, 1, MPIU_INT, MPI_MAX, comm));
    if (!any) break;
    PetscCall(share(comm, mine, theirs, in));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode exchange(MPI_Comm comm, const Lists &out, Lists &in)
{
  PetscMPIInt         size, tag;
  vector<PetscInt>    to(out.size()), from(out.size());
  vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  for (size_t p = 0; p < out.size(); ++p) to[p] = (PetscInt)out[p].size();
  PetscCallMPI(MPI_Alltoall(to.data(), 1, MPIU_INT, from.data(), 1, MPIU_INT, comm));
  PetscCall(PetscCommGetNewTag(comm, &tag));
  in.assign((size_t)size, {});
  for (size_t p = 0; p < in.size(); ++p) {
    PetscMPIInt count;
    in[p].resize((size_t)from[p]);
    PetscCall(PetscMPIIntCast(from[p], &count));
    if (!count) continue;
    requests.emplace_back();
    PetscCallMPI(MPI_Irecv(in[p].data(), count, MPIU_INT, (int)p, tag, comm, &requests.back()));
  }
  for (size_t p = 0; p < out.size(); ++p) {
    PetscMPIInt count;
    PetscCall(PetscMPIIntCast(to[p], &count));
    if (!count) continue;
    requests.emplace_back();
    PetscCallMPI(MPI_Isend(out[p].data(), count, MPIU_INT, (int)p, tag, comm, &requests.back()));
  }
  PetscCallMPI(MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode graph_of(Mat A, Graph *g)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt size, rank;
  PetscInt    begin, end;
  PetscLayout map;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatGetLayouts(A, &map, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  vector<pair<PetscInt, PetscInt>> edges;
  Lists                            out((size_t)size), in;
  for (PetscInt i = begin; i < end; ++i) {
    const PetscInt *columns;
    PetscInt        count;
    PetscCall(MatGetRow(A, i, &count, &columns, NULL));
    for (PetscInt c = 0; c < count; ++c) {
      const PetscInt j = columns[c];
      if (j == i) continue;
      edges.emplace_back(i, j);
      if (j >= begin && j < end) edges.emplace_back(j, i);
      else {
        PetscMPIInt owner;
        PetscCall(PetscLayoutFindOwner(map, j, &owner));
        out[(size_t)owner].push_back(j);
        out[(size_t)owner].push_back(i);
      }
    }
    PetscCall(MatRestoreRow(A, i, &count, &columns, NULL));
  }
  PetscCall(exchange(comm, out, in));
  for (const auto &list : in)
    for (size_t s = 0; s < list.size(); s += 2) edges.emplace_back(list[s], list[s + 1]);
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  vector<PetscInt> neighbour, part;
  g->own.clear();
  g->first.assign(1, 0);
  size_t e = 0;
  for (PetscInt i = begin; i < end; ++i) {
    g->own.push_back(i);
    for (; e < edges.size() && edges[e].first == i; ++e) {
      PetscMPIInt owner;
      PetscCall(PetscLayoutFindOwner(map, edges[e].second, &owner));
      neighbour.push_back(edges[e].second);
      part.push_back(owner);
    }
    g->first.push_back((PetscInt)neighbour.size());
  }
  localise(rank, neighbour, part, *g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// PETSc 3.18 to 3.25 pass arrays of PetscInt to PT-Scotch whatever its integers are. Debian's PETSc with 64-bit indices is linked with the one of 32
// bits, which reads nonsense and fails on some processes while others wait.
bool integers_of_ptscotch_fit()
{
  using SizeOf         = int (*)(void);
  const SizeOf size_of = reinterpret_cast<SizeOf>(dlsym(RTLD_DEFAULT, "SCOTCH_numSizeof"));
  return size_of ? (size_t)size_of() == sizeof(PetscInt) : sizeof(PetscInt) == sizeof(int);
}

} // namespace

PetscErrorCode repartition(Mat A, const Graph &given, const char *prefix, Graph *g, char *name, size_t length, bool *done)
{
  MPI_Comm            comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt         size, rank;
  PetscLayout         map;
  const PetscInt      n = (PetscInt)given.own.size();
  PetscInt            N, *rows, *columns;
  MatHandle           adjacency;
  ISHandle            is;
  SFHandle            sf;
  PartitioningHandle  partitioning;
  MatPartitioningType type;
  const PetscInt     *part;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(MatPartitioningCreate(comm, partitioning.out()));
  PetscCall(PetscObjectSetOptionsPrefix((PetscObject)partitioning.get(), prefix));
  PetscCall(MatPartitioningSetFromOptions(partitioning));
  PetscCall(MatPartitioningGetType(partitioning, &type));
  PetscCall(PetscStrncpy(name, type, length));
  PetscBool ptscotch, current;
  PetscCall(PetscStrcmp(type, MATPARTITIONINGPTSCOTCH, &ptscotch));
  PetscCall(PetscStrcmp(type, MATPARTITIONINGCURRENT, &current));
  *done = !current && (!ptscotch || integers_of_ptscotch_fit());
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetLayouts(A, &map, NULL));
  PetscCall(MatGetSize(A, &N, NULL));
  PetscCall(PetscMalloc1(n + 1, &rows));
  PetscCall(PetscMalloc1(given.index.size(), &columns));
  std::copy(given.first.begin(), given.first.end(), rows);
  for (PetscInt i = 0; i < n; ++i) {
    for (PetscInt e = rows[i]; e < rows[i + 1]; ++e) columns[e] = given.number(given.index[(size_t)e]);
    std::sort(columns + rows[i], columns + rows[i + 1]);
  }
  PetscCall(MatCreateMPIAdj(comm, n, N, rows, columns, NULL, adjacency.out())); // takes the arrays
  PetscCall(MatPartitioningSetAdjacency(partitioning, adjacency));
  PetscCall(MatPartitioningApply(partitioning, is.out()));
  // new places of the neighbours, then rows to where they belong
  vector<PetscInt> ghost_part(given.ghost.size());
  PetscCall(ISGetIndices(is, &part));
  PetscCall(PetscSFCreate(comm, sf.out()));
  PetscCall(PetscSFSetGraphLayout(sf, map, (PetscInt)given.ghost.size(), NULL, PETSC_COPY_VALUES, given.ghost.data()));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, part, ghost_part.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, part, ghost_part.data(), MPI_REPLACE));
  Lists out((size_t)size), in;
  for (PetscInt i = 0; i < n; ++i) {
    vector<PetscInt> &list = out[(size_t)part[i]];
    list.push_back(given.own[(size_t)i]);
    list.push_back(given.first[(size_t)i + 1] - given.first[(size_t)i]);
    for (PetscInt e = given.first[(size_t)i]; e < given.first[(size_t)i + 1]; ++e) {
      const PetscInt j = given.index[(size_t)e];
      list.push_back(given.number(j));
      list.push_back(j < n ? part[j] : ghost_part[(size_t)(j - n)]);
    }
  }
  PetscCall(ISRestoreIndices(is, &part));
  PetscCall(exchange(comm, out, in));
  vector<PetscInt> neighbour, parts;
  g->own.clear();
  g->first.assign(1, 0);
  for (const auto &list : in) // from process to process: ascending
    for (size_t s = 0; s < list.size();) {
      g->own.push_back(list[s]);
      const size_t end = s + 2 + 2 * (size_t)list[s + 1];
      for (s += 2; s < end; s += 2) {
        neighbour.push_back(list[s]);
        parts.push_back(list[s + 1]);
      }
      g->first.push_back((PetscInt)neighbour.size());
    }
  localise(rank, neighbour, parts, *g);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode separator(MPI_Comm comm, const Graph &g, vector<char> *in)
{
  PetscMPIInt    size, rank;
  const PetscInt n = (PetscInt)g.own.size();
  Lists          mine, theirs;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  boundaries(size, g, mine, theirs);
  in->assign(g.own.size() + g.ghost.size(), 0);
  // One of each two processes covers the edges between them; both have them.
  const auto here = [&](PetscMPIInt q) { return (rank < q) == ((rank + q) % 2 == 0); };
  Lists      answers((size_t)size), received;
  for (PetscMPIInt q = 0; q < size; ++q) {
    if (q == rank || mine[(size_t)q].empty() || !here(q)) continue;
    vector<PetscInt> first{0}, to;
    vector<char>     left, right;
    for (PetscInt i : mine[(size_t)q]) {
      for (PetscInt e = g.first[(size_t)i]; e < g.first[(size_t)i + 1]; ++e) {
        const PetscInt j = g.index[(size_t)e];
        if (j >= n && g.ghost_part[(size_t)(j - n)] == q) to.push_back(place(theirs[(size_t)q], j));
      }
      first.push_back((PetscInt)to.size());
    }
    minimum_vertex_cover((PetscInt)theirs[(size_t)q].size(), first, to, left, right);
    for (size_t s = 0; s < left.size(); ++s)
      if (left[s]) (*in)[(size_t)mine[(size_t)q][s]] = 1;
    answers[(size_t)q].assign(right.begin(), right.end());
  }
  PetscCall(exchange(comm, answers, received));
  for (PetscMPIInt q = 0; q < size; ++q)
    for (size_t s = 0; s < received[(size_t)q].size(); ++s)
      if (received[(size_t)q][s]) (*in)[(size_t)mine[(size_t)q][s]] = 1;
  PetscCall(share(comm, mine, theirs, *in));
  PetscCall(prune(comm, g, mine, theirs, *in));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode split(MPI_Comm comm, const Graph &g, const vector<char> &in, Split *s)
{
  PetscMPIInt         size, mine;
  vector<PetscInt>    chosen, touched;
  vector<PetscMPIInt> counts, offsets;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *s = Split();
  for (size_t i = 0; i < g.own.size(); ++i) {
    if (in[i]) chosen.push_back(g.own[i]);
    else {
      s->interior.push_back(g.own[i]);
      for (PetscInt e = g.first[i]; e < g.first[i + 1]; ++e)
        if (in[(size_t)g.index[(size_t)e]]) touched.push_back(g.number(g.index[(size_t)e]));
    }
  }
  PetscCall(PetscMPIIntCast((PetscInt)chosen.size(), &mine));
  counts.resize((size_t)size);
  offsets.assign((size_t)size + 1, 0);
  PetscCallMPI(MPI_Allgather(&mine, 1, MPI_INT, counts.data(), 1, MPI_INT, comm));
  for (size_t p = 0; p < counts.size(); ++p) {
    PetscCheck(counts[p] <= PETSC_MPI_INT_MAX - offsets[p], comm, PETSC_ERR_SUP, "More than %d interface unknowns", PETSC_MPI_INT_MAX);
    offsets[p + 1] = offsets[p] + counts[p];
  }
  s->interface.resize((size_t)offsets.back());
  PetscCallMPI(MPI_Allgatherv(chosen.data(), mine, MPIU_INT, s->interface.data(), counts.data(), offsets.data(), MPIU_INT, comm));
  std::sort(s->interface.begin(), s->interface.end());
  unique(touched);
  for (PetscInt j : touched) s->touched.push_back(place(s->interface, j));
  for (Count p = 0; p <= size; ++p) s->starts.push_back((Count)s->interface.size() * p / size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode modelled_work(MPI_Comm comm, const Split &s, double *flops)
{
  PetscMPIInt  size;
  const double n = (double)s.interior.size(), t = (double)s.touched.size(), m = (double)s.interface.size();
  const double mine = 40 * n * std::sqrt(n) + 32 * n * std::log2(n + 1) * t;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Allreduce(&mine, flops, 1, MPI_DOUBLE, MPI_MAX, comm));
  *flops += 2. / 3 * m * m * m / size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
