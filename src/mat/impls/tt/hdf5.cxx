// A MATTT in an HDF5 file: a group with the name of the matrix. Its attributes, integers unless said otherwise:
//
//   petsctt_type "mattt" (text), petsctt_version 1, complex: as for vectors (vec/impls/tt/hdf5.cxx)
//   modes         N_0 .. N_{d-1}
//   distribution  of every mode: 0 distributed, 1 replicated, 2 written by one process: decided when loaded
//   block_ranks   S_0 .. S_d
//   factors       number of factors of every mode
//
// and one group per mode, mode_k:
//
//   entries       (dataset, n x 3) i, j, f: block (i, j) of the S_k x S_{k+1} blocks has factor f of the mode, -1 for the identity. A block may have
//                 more than one entry: it is their sum
//   coefficients  (dataset, n scalars) that they are multiplied with
//   factor_f      groups with the datasets indptr (N_k + 1), indices, data: the factor by compressed sparse rows
//
// Nothing depends on the number of processes.
#include "mat/impls/tt/file.hpp"
#include "sys/hdf5.hpp"

#include <algorithm>

namespace petsctt {

namespace {

using Ints = std::vector<PetscInt64>;

std::string numbered(const char name[], PetscInt64 k)
{
  return name + std::to_string((long long)k);
}

// All of a dataset, which process 0 writes or everybody reads.
Slab whole(const Ints &dims, bool mine)
{
  return {dims, Ints(dims.size(), 0), mine ? dims : Ints()};
}

PetscErrorCode write_factor(const HDF5Group &parent, const std::string &name, const Space &space, Int k, Mat M)
{
  MPI_Comm   comm  = space.comm().mpi();
  const bool first = space.comm().rank() == 0;
  HDF5Group  group;
  Share      share;
  Ints       pointers;

  PetscFunctionBegin;
  PetscCall(share_of(space, k, M, share));
  PetscInt64 mine = (PetscInt64)share.columns.size(), before = 0, total = 0;
  PetscCallMPI(MPI_Scan(&mine, &before, 1, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPI_Allreduce(&mine, &total, 1, MPIU_INT64, MPI_SUM, comm));
  before -= mine;
  PetscCallTT({
    if (first) pointers.push_back(0); // the others begin with the end of their first row
    PetscInt64 at = before;
    for (PetscInt64 m : share.lengths) pointers.push_back(at += m);
  });
  PetscCall(group.create(parent, name));
  PetscCall(group.write("indptr", {{(PetscInt64)space.N(k) + 1}, {first ? 0 : share.start + 1}, {(PetscInt64)pointers.size()}}, pointers.data()));
  PetscCall(group.write("indices", {{total}, {before}, {mine}}, share.columns.data()));
  PetscCall(group.write("data", {{total}, {before}, {mine}}, share.values.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every process reads where all rows begin, so that what is wrong there is wrong for all, and columns and values of its own rows.
PetscErrorCode read_factor(const HDF5Group &parent, const std::string &name, const Space &space, Int k, Mat *out)
{
  MPI_Comm       comm = space.comm().mpi();
  const PetscInt N = space.N(k), n = space.n(k), start = space.start(k);
  HDF5Group      group;
  Ints           pointers, columns;
  PetscInt64     total;

  PetscFunctionBegin;
  PetscCall(group.open(parent, name));
  PetscCall(group.length("indices", total));
  PetscCall(in_range(comm, "number of non-zeros", {total}, 0, PETSC_MAX_INT));
  PetscCall(group.expect_integers("indices", {total}));
  PetscCall(group.expect_scalars("data", {total}));
  PetscCall(group.expect_integers("indptr", {(PetscInt64)N + 1}));
  PetscCallTT(pointers.resize((std::size_t)N + 1));
  PetscCall(group.read("indptr", whole({(PetscInt64)N + 1}, true), pointers.data()));
  PetscCall(in_range(comm, "first row pointer", {pointers.front()}, 0, 0));
  PetscCall(in_range(comm, "last row pointer", {pointers.back()}, total, total));
  for (PetscInt i = 0; i < N; i++) PetscCall(in_range(comm, "row length", {pointers[i + 1] - pointers[i]}, 0, N));
  const PetscInt64         from = pointers[start], m = pointers[start + n] - from;
  std::vector<PetscInt>    ia, ja;
  std::vector<PetscScalar> va;
  PetscCallTT({
    columns.resize((std::size_t)m);
    va.resize((std::size_t)m);
    for (PetscInt i = 0; i <= n; i++) ia.push_back((PetscInt)(pointers[start + i] - from));
  });
  PetscCall(group.read("indices", {{total}, {from}, {m}}, columns.data()));
  PetscCall(group.read("data", {{total}, {from}, {m}}, va.data()));
  std::string message;
  PetscCallTT({
    for (PetscInt64 j : columns)
      if (j < 0 || j >= N)
        message = "The MATTT in the file is damaged: column " + std::to_string((long long)j) + " of a factor of " + std::to_string((long long)N) + " columns in " + group.path();
    ja.assign(columns.begin(), columns.end());
  });
  PetscCall(agree(comm, PETSC_ERR_FILE_UNEXPECTED, message));
  PetscCall(factor_of_rows(space, k, ia.data(), ja.data(), va.data(), out));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_head(const HDF5Group &group, MPI_Comm comm, StoredOperator &h)
{
  PetscFunctionBegin;
  PetscCall(group.get("modes", h.N));
  PetscCall(in_range(comm, "number of modes", {(PetscInt64)h.N.size()}, 1, 10000000));
  h.d = (Int)h.N.size();
  PetscCall(group.get("distribution", h.N.size(), h.kind));
  PetscCall(group.get("block_ranks", h.N.size() + 1, h.S));
  PetscCall(group.get("factors", h.N.size(), h.F));
  for (Int k = 0; k < h.d; k++) {
    HDF5Group  mode;
    PetscInt64 entries;
    PetscCall(mode.open(group, numbered("mode_", k)));
    PetscCall(mode.length("coefficients", entries));
    h.E.push_back(entries);
  }
  PetscCall(check_operator(comm, h));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

// Writes the merged form and the factors that occur in it.
PetscErrorCode MatView_TT_HDF5(Mat A, PetscViewer viewer)
{
  HDF5Group      group;
  StoredOperator h;

  PetscFunctionBegin;
  PetscCall(describe_operator(A, h));
  const MatTT &t     = data_of(A);
  const bool   first = t.space->comm().rank() == 0;
  PetscCall(HDF5Group::fits_attribute(PetscObjectComm((PetscObject)A), (PetscInt64)h.S.size()));
  PetscCall(group.create(viewer, (PetscObject)A, "mattt"));
  PetscCall(group.put("modes", h.N));
  PetscCall(group.put("distribution", h.kind));
  PetscCall(group.put("block_ranks", h.S));
  PetscCall(group.put("factors", h.F));
  for (Int k = 0; k < h.d; k++) {
    HDF5Group           mode;
    Ints                where;
    std::vector<Scalar> c;
    PetscCallTT(entries_of(t.used[k], h.list[k], where, c));
    PetscCall(mode.create(group, numbered("mode_", k)));
    PetscCall(mode.write("entries", whole({h.E[k], 3}, first), where.data()));
    PetscCall(mode.write("coefficients", whole({h.E[k]}, first), c.data()));
    for (std::size_t f = 0; f < h.list[k].size(); f++) {
      MatHandle M;
      PetscCall(factor_as_aij(t, k, h.list[k][f], M.out())); // diagonals come back as sparse matrices
      PetscCall(write_factor(mode, numbered("factor_", (PetscInt64)f), *t.space, k, M));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatLoad_TT_HDF5(Mat A, PetscViewer viewer)
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  HDF5Group      group;
  StoredOperator h;
  BlockTrain     blocks;

  PetscFunctionBegin;
  PetscCall(group.open(viewer, (PetscObject)A, "mattt"));
  PetscCall(read_head(group, comm, h));
  PetscCall(take_modes(A, h));
  MatTT &t = data_of(A);
  PetscCallTT(blocks = zero_blocks(h.d));
  for (Int k = 0; k < h.d; k++) {
    HDF5Group           mode;
    Ints                where;
    std::vector<Scalar> c;
    PetscCall(mode.open(group, numbered("mode_", k)));
    PetscCall(mode.expect_integers("entries", {h.E[k], 3}));
    PetscCall(mode.expect_scalars("coefficients", {h.E[k]}));
    PetscCallTT(where.resize(3 * (std::size_t)h.E[k]); c.resize((std::size_t)h.E[k]));
    PetscCall(mode.read("entries", whole({h.E[k], 3}, true), where.data()));
    PetscCall(mode.read("coefficients", whole({h.E[k]}, true), c.data()));
    PetscCall(blocks_of(comm, h, k, where, c, blocks[k]));
    for (PetscInt64 f = 0; f < h.F[k]; f++) {
      MatHandle M;
      Int       number;
      PetscCall(read_factor(mode, numbered("factor_", f), *t.space, k, M.out()));
      PetscCall(factor_index(t, k, M, &number));
    }
  }
  PetscCall(take_blocks(A, std::move(blocks)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
