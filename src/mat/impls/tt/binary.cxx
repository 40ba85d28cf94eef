#include "mat/impls/tt/impl.hpp"
#include "vec/vectt.hpp"

#include <algorithm>
#include <petscviewer.h>

// MATTT in PETSc's binary viewer. All integers are 64 bits wide whatever PetscInt is; byte order is the viewer's (big-endian).
//   magic, bytes of a PetscReal, 0 real | 1 complex, d
//   N[d], kind[d] (0 distributed, 1 replicated, 2 written by one process: decided when loaded), S[d+1] block ranks, F[d] numbers of factors, E[d] numbers of entries
//   for each mode: E x (i, j, f), E coefficients, then F factors:
//     number of non-zeros, N row lengths, column numbers row by row, values likewise
//   magic again
// The file does not depend on the number of processes that wrote it.
namespace petsctt {

namespace {

using Int64 = PetscInt64;

// The upper half is a class id no other object has: readers of other objects see that one first.
constexpr Int64 magic = ((Int64)1211299 << 32) + 1;

PetscErrorCode write_ints(PetscViewer viewer, const std::vector<Int64> &a)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryWrite(viewer, a.data(), (PetscInt)a.size(), PETSC_INT64));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Fails on all processes alike when the file ends too early.
PetscErrorCode read_ints(PetscViewer viewer, Int64 n, std::vector<Int64> &a)
{
  PetscFunctionBegin;
  PetscCallTT(a.resize((std::size_t)n));
  if (n) PetscCall(PetscViewerBinaryRead(viewer, a.data(), (PetscInt)n, NULL, PETSC_INT64));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Rows [start, start + n) of mode k of factor M as this process writes them: its own of a distributed mode, an even share of a replicated one.
struct Share {
  std::vector<Int64>  lengths, columns;
  std::vector<Scalar> values;
  PetscInt            start = 0;
};

PetscErrorCode share_of(const Space &space, Int k, Mat M, Share &out)
{
  MatHandle  B;
  const Mode mode = space.replicated(k) ? split_evenly(space.N(k), space.comm().size()) : space.mode(k);
  const Int  n    = mode.local(space.comm().rank());

  PetscFunctionBegin;
  out.start = mode.start(space.comm().rank());
  PetscCall(as_aij(M, B.out()));
  for (PetscInt i = out.start; i < out.start + n; i++) {
    PetscInt           m;
    const PetscInt    *ja;
    const PetscScalar *va;
    PetscCall(MatGetRow(B, i, &m, &ja, &va));
    PetscCallTT({
      out.lengths.push_back(m);
      out.columns.insert(out.columns.end(), ja, ja + m);
      out.values.insert(out.values.end(), va, va + m);
    });
    PetscCall(MatRestoreRow(B, i, &m, &ja, &va));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode write_factor(PetscViewer viewer, const Space &space, Int k, Mat M)
{
  MPI_Comm comm = space.comm().mpi();
  Share    share;

  PetscFunctionBegin;
  PetscCall(share_of(space, k, M, share));
  PetscInt mine = (PetscInt)share.columns.size(), before = 0, total = 0;
  PetscCallMPI(MPI_Scan(&mine, &before, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&mine, &total, 1, MPIU_INT, MPI_SUM, comm));
  before -= mine;
  PetscCall(write_ints(viewer, {total}));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.lengths.data(), (PetscInt)share.lengths.size(), share.start, space.N(k), PETSC_INT64));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.columns.data(), mine, before, total, PETSC_INT64));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.values.data(), mine, before, total, PETSC_SCALAR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Writes the merged form and the factors that occur in it.
PetscErrorCode MatView_TT_Binary(Mat A, PetscViewer viewer)
{
  PetscFunctionBegin;
  PetscCall(prepare(A));
  const MatTT                  &t = data_of(A);
  const Space                  &space = *t.space;
  const Int                     d = space.d();
  std::vector<Int64>            N, kind, S(1, 1), F, E;
  std::vector<std::vector<Int>> list((std::size_t)d); // factors of each mode that are written
  PetscCall(PetscViewerSetUp(viewer));
  for (Int k = 0; k < d; k++) {
    for (const Entry &e : t.used[k].entries)
      if (e.f != identity_factor) list[k].push_back(e.f); // diagonals are written, and come back, as sparse matrices
    std::sort(list[k].begin(), list[k].end());
    list[k].erase(std::unique(list[k].begin(), list[k].end()), list[k].end());
    N.push_back(space.N(k));
    kind.push_back(space.comm().size() == 1 ? 2 : space.replicated(k) ? 1 : 0);
    S.push_back(t.used[k].s1);
    F.push_back((Int64)list[k].size());
    E.push_back((Int64)t.used[k].entries.size());
  }
  PetscCall(write_ints(viewer, {magic, (Int64)sizeof(PetscReal), is_complex ? 1 : 0, d}));
  for (const auto *a : {&N, &kind, &S, &F, &E}) PetscCall(write_ints(viewer, *a));
  for (Int k = 0; k < d; k++) {
    std::vector<Int64>  where;
    std::vector<Scalar> c;
    for (const Entry &e : t.used[k].entries) {
      const Int64 f = e.f == identity_factor ? -1 : std::lower_bound(list[k].begin(), list[k].end(), e.f) - list[k].begin();
      where.insert(where.end(), {(Int64)e.i, (Int64)e.j, f});
      c.push_back(e.c);
    }
    PetscCall(write_ints(viewer, where));
    PetscCall(PetscViewerBinaryWrite(viewer, c.data(), (PetscInt)c.size(), PETSC_SCALAR));
    for (Int f : list[k]) {
      MatHandle M;
      PetscCall(factor_as_aij(t, k, f, M.out()));
      PetscCall(write_factor(viewer, space, k, M));
    }
  }
  PetscCall(write_ints(viewer, {magic}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

struct Header {
  Int                d = 0;
  std::vector<Int64> N, kind, S, F, E;
};

PetscErrorCode in_range(MPI_Comm comm, const char *what, const std::vector<Int64> &a, Int64 from, Int64 to)
{
  PetscFunctionBegin;
  for (Int64 v : a)
    PetscCheck(v >= from && v <= to, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file is damaged: %s %lld is not in %lld..%lld", what, (long long)v,
               (long long)from, (long long)to);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_header(PetscViewer viewer, MPI_Comm comm, Header &h)
{
  std::vector<Int64> a;

  PetscFunctionBegin;
  PetscCall(read_ints(viewer, 1, a));
  PetscCheck(a[0] >> 32 == magic >> 32, comm, PETSC_ERR_FILE_UNEXPECTED, "The file holds no MATTT here: its first number is %lld (a stored matrix of another type starts with %d)",
             (long long)(a[0] >> 32), MAT_FILE_CLASSID);
  PetscCheck(a[0] == magic, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file has format %lld, this library reads format %lld",
             (long long)(a[0] & 0xffffffff), (long long)(magic & 0xffffffff));
  PetscCall(read_ints(viewer, 3, a));
  PetscCheck(a[0] == (Int64)sizeof(PetscReal) && a[1] == (is_complex ? 1 : 0), comm, PETSC_ERR_FILE_UNEXPECTED,
             "The MATTT in the file has %s numbers with %lld-byte reals, this PETSc has %s numbers with %d-byte reals", a[1] ? "complex" : "real",
             (long long)a[0], is_complex ? "complex" : "real", (int)sizeof(PetscReal));
  PetscCall(in_range(comm, "number of modes", {a[2]}, 1, 10000000));
  h.d = (Int)a[2];
  PetscCall(read_ints(viewer, h.d, h.N));
  PetscCall(read_ints(viewer, h.d, h.kind));
  PetscCall(read_ints(viewer, h.d + 1, h.S));
  PetscCall(read_ints(viewer, h.d, h.F));
  PetscCall(read_ints(viewer, h.d, h.E));
  PetscCall(in_range(comm, "mode size", h.N, 1, PETSC_MAX_INT));
  PetscCall(in_range(comm, "storage of a mode", h.kind, 0, 2));
  PetscCall(in_range(comm, "block rank", h.S, 1, 1000000000));
  PetscCall(in_range(comm, "outer block rank", {h.S.front(), h.S.back()}, 1, 1));
  PetscCall(in_range(comm, "number of entries", h.E, 0, 500000000));
  for (Int k = 0; k < h.d; k++) PetscCall(in_range(comm, "number of factors", {h.F[k]}, 0, h.E[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every process reads all rows in pieces and keeps its own: what one of them finds wrong all do, and nobody waits in vain.
// Cost: the non-zeros of the factor sent to all processes.
PetscErrorCode read_factor(PetscViewer viewer, const Space &space, Int k, Mat *out)
{
  constexpr Int64     piece = 1 << 20;
  MPI_Comm            comm = space.comm().mpi();
  const PetscInt      N = space.N(k), n = space.n(k), start = space.start(k);
  std::vector<Int64>  one, lengths, columns;
  std::vector<Scalar> values;

  PetscFunctionBegin;
  PetscCall(read_ints(viewer, 1, one));
  const Int64 total = one[0];
  PetscCall(in_range(comm, "number of non-zeros", one, 0, PETSC_MAX_INT));
  PetscCall(read_ints(viewer, N, lengths));
  PetscCall(in_range(comm, "row length", lengths, 0, N));
  Int64 sum = 0, first = 0, last = 0; // non-zeros; those of this process are [first, last)
  for (PetscInt i = 0; i < N; i++) {
    if (i == start) first = sum;
    sum += lengths[i];
    if (i + 1 == start + n) last = sum;
  }
  if (n == 0) first = last = 0;
  PetscCheck(sum == total, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file is damaged: rows add up to %lld non-zeros instead of %lld", (long long)sum,
             (long long)total);
  std::vector<PetscInt>    ia(1, 0), ja;
  std::vector<PetscScalar> va;
  PetscCallTT(ja.reserve((std::size_t)(last - first)); va.reserve((std::size_t)(last - first)));
  for (PetscInt i = start; i < start + n; i++) ia.push_back(ia.back() + (PetscInt)lengths[i]);
  for (Int64 at = 0; at < total; at += piece) {
    const Int64 m = std::min(piece, total - at), from = std::max(at, first), to = std::min(at + m, last);
    PetscCall(read_ints(viewer, m, columns));
    PetscCall(in_range(comm, "column", columns, 0, N - 1));
    for (Int64 p = from; p < to; p++) ja.push_back((PetscInt)columns[p - at]);
  }
  for (Int64 at = 0; at < total; at += piece) {
    const Int64 m = std::min(piece, total - at), from = std::max(at, first), to = std::min(at + m, last);
    PetscCallTT(values.resize((std::size_t)m));
    PetscCall(PetscViewerBinaryRead(viewer, values.data(), (PetscInt)m, NULL, PETSC_SCALAR));
    for (Int64 p = from; p < to; p++) va.push_back(values[p - at]);
  }
  PetscCall(MatCreate(mode_comm(space, k), out));
  PetscCall(MatSetSizes(*out, n, n, N, N));
  PetscCall(MatSetType(*out, MATAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(*out, ia.data(), ja.data(), va.data()));
  PetscCall(MatMPIAIJSetPreallocationCSR(*out, ia.data(), ja.data(), va.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_blocks(PetscViewer viewer, MPI_Comm comm, const Header &h, Int k, BlockCore &core)
{
  std::vector<Int64>  where;
  std::vector<Scalar> c;

  PetscFunctionBegin;
  core.s0 = (Int)h.S[k];
  core.s1 = (Int)h.S[k + 1];
  PetscCall(read_ints(viewer, 3 * h.E[k], where));
  PetscCallTT(c.resize((std::size_t)h.E[k]));
  if (h.E[k]) PetscCall(PetscViewerBinaryRead(viewer, c.data(), (PetscInt)h.E[k], NULL, PETSC_SCALAR));
  for (Int64 p = 0; p < h.E[k]; p++) {
    PetscCall(in_range(comm, "block row", {where[3 * p]}, 0, h.S[k] - 1));
    PetscCall(in_range(comm, "block column", {where[3 * p + 1]}, 0, h.S[k + 1] - 1));
    PetscCall(in_range(comm, "factor number", {where[3 * p + 2]}, -1, h.F[k] - 1));
    PetscCallTT(core.entries.push_back({(Int)where[3 * p], (Int)where[3 * p + 1], (Int)where[3 * p + 2], c[p]}));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The modes of the file become those of the matrix unless it has some, which must have the same sizes.
PetscErrorCode take_modes(Mat A, const Header &h)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  const SpacePtr space = space_of(A);
  if (!space) {
    std::vector<PetscInt> N(h.N.begin(), h.N.end()), n;
    for (Int64 kind : h.kind) n.push_back(kind == 0 ? PETSC_TT_DISTRIBUTED : kind == 1 ? PETSC_TT_REPLICATED : PETSC_TT_AUTO);
    PetscCall(MatTTSetModes(A, h.d, n.data(), N.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(space->d() == h.d, comm, PETSC_ERR_ARG_SIZ, "The MATTT in the file has %lld modes, the matrix %lld", (long long)h.d, (long long)space->d());
  for (Int k = 0; k < h.d; k++)
    PetscCheck(space->N(k) == h.N[k], comm, PETSC_ERR_ARG_SIZ, "Mode %lld of the MATTT in the file has size %lld, that of the matrix %lld", (long long)k,
               (long long)h.N[k], (long long)space->N(k));
  PetscCall(MatZeroEntries_TT(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatLoad_TT(Mat A, PetscViewer viewer)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);
  PetscBool          binary;
  Header             h;
  std::vector<Int64> end;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERBINARY, &binary));
  PetscCheck(binary, comm, PETSC_ERR_SUP, "A MATTT is loaded from a binary viewer, not one of type %s", ((PetscObject)viewer)->type_name);
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(read_header(viewer, comm, h));
  PetscCall(take_modes(A, h));
  MatTT     &t = data_of(A);
  BlockTrain blocks;
  PetscCallTT(blocks = zero_blocks(h.d));
  for (Int k = 0; k < h.d; k++) {
    PetscCall(read_blocks(viewer, comm, h, k, blocks[k]));
    for (Int64 f = 0; f < h.F[k]; f++) {
      MatHandle M;
      Int       number;
      PetscCall(read_factor(viewer, *t.space, k, M.out()));
      PetscCall(factor_index(t, k, M, &number));
    }
  }
  PetscCall(read_ints(viewer, 1, end));
  PetscCheck(end[0] == magic, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file is damaged: its end mark is missing");
  t.given      = std::move(blocks);
  t.block_form = true;
  PetscCall(operator_changed(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
