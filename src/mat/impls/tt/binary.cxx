#include "mat/impls/tt/file.hpp"

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
  StoredOperator h;

  PetscFunctionBegin;
  PetscCall(describe_operator(A, h));
  const MatTT &t     = data_of(A);
  const Space &space = *t.space;
  const Int    d     = space.d();
  PetscCall(PetscViewerSetUp(viewer));
  PetscCall(write_ints(viewer, {magic, (Int64)sizeof(PetscReal), is_complex ? 1 : 0, d}));
  for (const auto *a : {&h.N, &h.kind, &h.S, &h.F, &h.E}) PetscCall(write_ints(viewer, *a));
  for (Int k = 0; k < d; k++) {
    std::vector<Int64>  where;
    std::vector<Scalar> c;
    PetscCallTT(entries_of(t.used[k], h.list[k], where, c));
    PetscCall(write_ints(viewer, where));
    PetscCall(PetscViewerBinaryWrite(viewer, c.data(), (PetscInt)c.size(), PETSC_SCALAR));
    for (Int f : h.list[k]) {
      MatHandle M;
      PetscCall(factor_as_aij(t, k, f, M.out()));
      PetscCall(write_factor(viewer, space, k, M));
    }
  }
  PetscCall(write_ints(viewer, {magic}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode read_header(PetscViewer viewer, MPI_Comm comm, StoredOperator &h)
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
  PetscCall(check_operator(comm, h));
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
  PetscCall(factor_of_rows(space, k, ia.data(), ja.data(), va.data(), out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_blocks(PetscViewer viewer, MPI_Comm comm, const StoredOperator &h, Int k, BlockCore &core)
{
  std::vector<Int64>  where;
  std::vector<Scalar> c;

  PetscFunctionBegin;
  PetscCall(read_ints(viewer, 3 * h.E[k], where));
  PetscCallTT(c.resize((std::size_t)h.E[k]));
  if (h.E[k]) PetscCall(PetscViewerBinaryRead(viewer, c.data(), (PetscInt)h.E[k], NULL, PETSC_SCALAR));
  PetscCall(blocks_of(comm, h, k, where, c, core));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode MatLoad_TT_Binary(Mat A, PetscViewer viewer)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)A);
  StoredOperator     h;
  std::vector<Int64> end;

  PetscFunctionBegin;
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
  PetscCall(take_blocks(A, std::move(blocks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
