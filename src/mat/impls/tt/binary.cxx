#include "mat/impls/tt/file.hpp"
#include "sys/binary.hpp"

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

PetscErrorCode write_factor(PetscViewer viewer, const Space &space, Int k, Mat M)
{
  MPI_Comm comm = space.comm().mpi();
  Share    share;

  PetscFunctionBegin;
  PetscCall(share_of(space, k, M, share));
  Int64 mine = (Int64)share.columns.size(), before = 0, total = 0;
  PetscCallMPI(MPI_Scan(&mine, &before, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&mine, &total, 1, MPIU_INT64, MPI_SUM, comm));
  before -= mine;
  PetscCheck(total <= PETSC_MAX_INT, comm, PETSC_ERR_SUP,
             "A factor of mode %lld has %lld non-zeros, more than a binary file of this PETSc can hold (%lld): use HDF5, or 64-bit indices", (long long)k, (long long)total,
             (long long)PETSC_MAX_INT);
  PetscCall(write_ints(viewer, {total}));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.lengths.data(), (PetscInt)share.lengths.size(), share.start, space.N(k), PETSC_INT64));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.columns.data(), (PetscInt)mine, (PetscInt)before, (PetscInt)total, PETSC_INT64));
  PetscCall(PetscViewerBinaryWriteAll(viewer, share.values.data(), (PetscInt)mine, (PetscInt)before, (PetscInt)total, PETSC_SCALAR));
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

// Reads numbers for all processes, and fails on all alike, with nothing allocated, where the file is shorter than the numbers it announces.
struct Reader {
  PetscViewer viewer;
  PetscInt64  left; // bytes; -1: not known

  PetscErrorCode read(Int64 n, std::size_t bytes, PetscDataType type, void *a)
  {
    PetscFunctionBegin;
    if (n == 0) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscViewerBinaryRead(viewer, a, (PetscInt)n, NULL, type));
    if (left >= 0) left -= n * (Int64)bytes;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode holds(Int64 n, std::size_t bytes) const
  {
    PetscFunctionBegin;
    PetscCheck(left < 0 || n <= left / (Int64)bytes, PetscObjectComm((PetscObject)viewer), PETSC_ERR_FILE_UNEXPECTED,
               "Truncated file: %lld numbers of the MATTT in it should follow, %lld bytes are left", (long long)n, (long long)left);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode ints(Int64 n, std::vector<Int64> &a)
  {
    PetscFunctionBegin;
    PetscCall(holds(n, sizeof(Int64)));
    PetscCallTT(a.resize((std::size_t)n));
    PetscCall(read(n, sizeof(Int64), PETSC_INT64, a.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode scalars(Int64 n, std::vector<Scalar> &a)
  {
    PetscFunctionBegin;
    PetscCall(holds(n, sizeof(Scalar)));
    PetscCallTT(a.resize((std::size_t)n));
    PetscCall(read(n, sizeof(Scalar), PETSC_SCALAR, a.data()));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

PetscErrorCode read_header(Reader &file, MPI_Comm comm, StoredOperator &h)
{
  std::vector<Int64> a;

  PetscFunctionBegin;
  PetscCall(file.ints(1, a));
  PetscCheck(a[0] >> 32 == magic >> 32, comm, PETSC_ERR_FILE_UNEXPECTED, "The file holds no MATTT here: its first number is %lld (a stored matrix of another type starts with %d)",
             (long long)(a[0] >> 32), MAT_FILE_CLASSID);
  PetscCheck(a[0] == magic, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file has format %lld, this library reads format %lld",
             (long long)(a[0] & 0xffffffff), (long long)(magic & 0xffffffff));
  PetscCall(file.ints(3, a));
  PetscCheck(a[0] == (Int64)sizeof(PetscReal) && a[1] == (is_complex ? 1 : 0), comm, PETSC_ERR_FILE_UNEXPECTED,
             "The MATTT in the file has %s numbers with %lld-byte reals, this PETSc has %s numbers with %d-byte reals", a[1] ? "complex" : "real",
             (long long)a[0], is_complex ? "complex" : "real", (int)sizeof(PetscReal));
  PetscCall(in_range(comm, "number of modes", {a[2]}, 1, 10000000));
  h.d = (Int)a[2];
  PetscCall(file.ints(h.d, h.N));
  PetscCall(file.ints(h.d, h.kind));
  PetscCall(file.ints(h.d + 1, h.S));
  PetscCall(file.ints(h.d, h.F));
  PetscCall(file.ints(h.d, h.E));
  PetscCall(check_operator(comm, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every process reads all rows in pieces and keeps its own: what one of them finds wrong all do, and nobody waits in vain.
// Cost: the non-zeros of the factor sent to all processes.
PetscErrorCode read_factor(Reader &file, const Space &space, Int k, Mat *out)
{
  constexpr Int64     piece = 1 << 20;
  MPI_Comm            comm = space.comm().mpi();
  const PetscInt      N = space.N(k), n = space.n(k), start = space.start(k);
  std::vector<Int64>  one, lengths, columns;
  std::vector<Scalar> values;

  PetscFunctionBegin;
  PetscCall(file.ints(1, one));
  const Int64 total = one[0];
  PetscCall(in_range(comm, "number of non-zeros", one, 0, PETSC_MAX_INT));
  PetscCall(file.ints(N, lengths));
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
  PetscCall(file.holds(total, sizeof(Int64) + sizeof(Scalar)));
  std::vector<PetscInt>    ia(1, 0), ja;
  std::vector<PetscScalar> va;
  PetscCallTT(ja.reserve((std::size_t)(last - first)); va.reserve((std::size_t)(last - first)));
  for (PetscInt i = start; i < start + n; i++) ia.push_back(ia.back() + (PetscInt)lengths[i]);
  for (Int64 at = 0; at < total; at += piece) {
    const Int64 m = std::min(piece, total - at), from = std::max(at, first), to = std::min(at + m, last);
    PetscCall(file.ints(m, columns));
    PetscCall(in_range(comm, "column", columns, 0, N - 1));
    for (Int64 p = from; p < to; p++) ja.push_back((PetscInt)columns[p - at]);
  }
  for (Int64 at = 0; at < total; at += piece) {
    const Int64 m = std::min(piece, total - at), from = std::max(at, first), to = std::min(at + m, last);
    PetscCall(file.scalars(m, values));
    for (Int64 p = from; p < to; p++) va.push_back(values[p - at]);
  }
  PetscCall(factor_of_rows(space, k, ia.data(), ja.data(), va.data(), out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_blocks(Reader &file, MPI_Comm comm, const StoredOperator &h, Int k, BlockCore &core)
{
  std::vector<Int64>  where;
  std::vector<Scalar> c;

  PetscFunctionBegin;
  PetscCall(file.ints(3 * h.E[k], where));
  PetscCall(file.scalars(h.E[k], c));
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
  Ahead ahead;
  PetscCall(look_ahead(viewer, &ahead));
  Reader file{viewer, ahead.left};
  PetscCall(read_header(file, comm, h));
  PetscCall(take_modes(A, h));
  MatTT     &t = data_of(A);
  BlockTrain blocks;
  PetscCallTT(blocks = zero_blocks(h.d));
  for (Int k = 0; k < h.d; k++) {
    PetscCall(read_blocks(file, comm, h, k, blocks[k]));
    for (Int64 f = 0; f < h.F[k]; f++) {
      MatHandle M;
      Int       number;
      PetscCall(read_factor(file, *t.space, k, M.out()));
      PetscCall(factor_index(t, k, M, &number));
    }
  }
  PetscCall(file.ints(1, end));
  PetscCheck(end[0] == magic, comm, PETSC_ERR_FILE_UNEXPECTED, "The MATTT in the file is damaged: its end mark is missing");
  PetscCall(take_blocks(A, std::move(blocks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
