// A TT vector as an ordinary vector of scalars, and back. Such a vector is what goes into files, so every viewer of PETSc that can
// carry a vector can carry a TT vector, VecLoad() of a vector whose type PETSc does not know yet can read one, and other programs
// (PetscBinaryIO in Python) read the file as it stands. All numbers are scalars; integers are exact in them.
//
//   0  magic                     1  bytes of a scalar (8 or 16)   2  version 1       3  d
//   4, 5  number of scalars M of the whole as M / 2^24 and M mod 2^24                6  1 when zero   7  0
//   8  mantissa of the scale     9  its exponent of 2             10 cores orthogonal from the left   11 from the right
//   12 .. 12+2d-1                mode size N_k and its kind, for every k: 0 distributed, 1 replicated, 2 written by one process, to which
//                                both are the same: decided when loaded, as PETSC_TT_AUTO
//   .. + d+1                     TT ranks r_0 .. r_d
//   then the cores one after the other, r_{k-1} x N_k x r_k, first index fastest; none for zero
#include "sys/handle.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace petsctt {

namespace {

constexpr double   magic = 7041827; // "TT" and a number of ours; exact in single precision
constexpr PetscInt fixed_part = 12;
constexpr double   split      = 16777216; // 2^24

bool is_integer(PetscScalar a, double least, double most)
{
  const double r = (double)PetscRealPart(a);
  return PetscImaginaryPart(a) == 0 && r >= least && r <= most && r == std::floor(r);
}

Count head_length(Int d)
{
  return fixed_part + 2 * (Count)d + d + 1;
}

// Where the local part of every core lies in the packed vector, in the order in which this process stores it: (a,i,b) of
// core k at head + sum of the cores before + a + r0 (start + i + N b). For writing, a replicated core belongs to process 0.
PetscErrorCode positions(const Space &space, const std::vector<Int> &r, bool writing, std::vector<PetscInt> &at)
{
  PetscFunctionBegin;
  Count offset = head_length(space.d());
  for (Int k = 0; k < space.d(); ++k) {
    const Count r0 = r[k], r1 = r[k + 1], N = space.N(k);
    if (!(writing && space.replicated(k) && space.comm().rank() > 0)) {
      for (Count b = 0; b < r1; ++b) {
        const Count first = offset + r0 * (space.start(k) + N * b);
        for (Count i = 0; i < r0 * space.n(k); ++i) at.push_back((PetscInt)(first + i));
      }
    }
    offset += r0 * N * r1;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_scatter(Vec packed, const std::vector<PetscInt> &at, Vec *local, VecScatter *scatter)
{
  ISHandle is;

  PetscFunctionBegin;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)at.size(), at.data(), PETSC_USE_POINTER, is.out()));
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, (PetscInt)at.size(), local));
  PetscCall(VecScatterCreate(packed, is, *local, nullptr, scatter));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The entries first .. first+n-1 of a distributed vector, on every process. Collective.
PetscErrorCode fetch(Vec packed, PetscInt first, PetscInt n, std::vector<PetscScalar> &out)
{
  VecHandle             local;
  ScatterHandle         scatter;
  std::vector<PetscInt> at(n);
  const PetscScalar    *a;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; ++i) at[i] = first + i;
  PetscCall(make_scatter(packed, at, local.out(), scatter.out()));
  PetscCall(VecScatterBegin(scatter, packed, local, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, packed, local, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(local, &a));
  out.assign(a, a + n);
  PetscCall(VecRestoreArrayRead(local, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::vector<PetscScalar> make_head(const Train &x, Count M)
{
  std::vector<PetscScalar> h = {magic, (PetscReal)sizeof(PetscScalar), 1, (PetscReal)x.d(), (PetscReal)std::floor((double)M / split), (PetscReal)std::fmod((double)M, split), (PetscReal)x.is_zero(), 0};
  h.insert(h.end(), {x.scale().mantissa(), (PetscReal)x.scale().exponent2(), (PetscReal)x.left(), (PetscReal)x.right()});
  for (Int k = 0; k < x.d(); ++k) h.insert(h.end(), {(PetscReal)x.space()->N(k), x.space()->comm().size() == 1 ? (PetscReal)2 : (PetscReal)x.space()->replicated(k)});
  for (Int k = 0; k <= x.d(); ++k) h.push_back((PetscReal)x.r(k));
  return h;
}

// Reads and checks everything that precedes the cores; what is wrong is wrong on all processes.
PetscErrorCode read_head(Vec packed, StoredTrain &h)
{
  std::vector<PetscScalar> a;
  PetscInt                 M;
  MPI_Comm                 comm = PetscObjectComm((PetscObject)packed);

  PetscFunctionBegin;
  PetscCall(VecGetSize(packed, &M));
  PetscCheck(M >= packed_head, comm, PETSC_ERR_FILE_UNEXPECTED, "Not a TT vector: %" PetscInt_FMT " scalars are fewer than its description alone", M);
  PetscCall(fetch(packed, 0, packed_head, a));
  const std::string wrong = wrong_head(a.data(), M);
  PetscCheck(wrong.empty(), comm, PETSC_ERR_FILE_UNEXPECTED, "%s", wrong.c_str());
  const Int   d = (Int)PetscRealPart(a[3]);
  const Count length = head_length(d);
  PetscCheck(length <= M, comm, PETSC_ERR_FILE_UNEXPECTED, "Truncated TT vector: its description of %" PetscInt_FMT " modes takes %lld scalars, there are %" PetscInt_FMT, d, (long long)length, M);
  h.zero = PetscRealPart(a[6]) != 0;
  PetscCall(fetch(packed, packed_head, (PetscInt)length - packed_head, a));
  const PetscScalar *p = a.data();
  PetscCheck(is_integer(p[1], -1e15, 1e15) && is_integer(p[2], 0, d) && is_integer(p[3], 0, d), comm, PETSC_ERR_FILE_UNEXPECTED,
             "Damaged TT vector: exponent %g, orthogonal cores %g and %g of %" PetscInt_FMT, (double)PetscRealPart(p[1]), (double)PetscRealPart(p[2]), (double)PetscRealPart(p[3]), d);
  PetscCallTT(h.scale = Scaled(p[0], (std::int64_t)PetscRealPart(p[1])));
  PetscCheck(h.zero || !h.scale.is_zero(), comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector: its scale is 0, but it is not marked as zero");
  h.left  = (Int)PetscRealPart(p[2]);
  h.right = (Int)PetscRealPart(p[3]);
  p += fixed_part - packed_head;
  for (Int k = 0; k < d; ++k, p += 2) {
    PetscCheck(is_integer(p[0], 1, (double)PETSC_MAX_INT) && is_integer(p[1], 0, 2), comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector: mode %" PetscInt_FMT " has size %g and kind %g", k,
               (double)PetscRealPart(p[0]), (double)PetscRealPart(p[1]));
    h.N.push_back((Int)PetscRealPart(p[0]));
    const double kind = (double)PetscRealPart(p[1]);
    h.kind.push_back(kind == 0 ? PETSC_TT_DISTRIBUTED : kind == 1 ? PETSC_TT_REPLICATED : PETSC_TT_AUTO);
  }
  double entries = (double)length;
  for (Int k = 0; k <= d; ++k, ++p) {
    PetscCheck(is_integer(*p, 1, (double)PETSC_MAX_INT) && ((k > 0 && k < d) || *p == PetscScalar(1)), comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector: TT rank %" PetscInt_FMT " is %g", k, (double)PetscRealPart(*p));
    h.r.push_back((Int)PetscRealPart(*p));
    if (k && !h.zero) entries += (double)h.r[k - 1] * (double)h.N[k - 1] * (double)h.r[k];
  }
  PetscCheck(entries == (double)M, comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector: modes and TT ranks make %.0f scalars, there are %" PetscInt_FMT, entries, M);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

std::string wrong_head(const PetscScalar a[packed_head], PetscInt entries)
{
  const double re = (double)PetscRealPart(a[0]), im = (double)PetscImaginaryPart(a[0]), next = (double)PetscRealPart(a[1]);
  const auto   number = [](double x) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.16g", x);
    return std::string(text);
  };
  if (re != magic)
    return "Not a TT vector but an ordinary vector of " + number((double)entries) + " entries; load it into a standard vector and call VecTTSetFull()";
  if (!is_complex && next == 0) return "The TT vector was written with complex scalars, this PETSc has real ones";
  if (is_complex && im != 0) return "The TT vector was written with real scalars, this PETSc has complex ones";
  if (next != (double)sizeof(PetscScalar)) return "The TT vector was written with scalars of " + number(next) + " bytes, here they have " + number((double)sizeof(PetscScalar));
  if (a[2] != PetscScalar(1)) return "The TT vector is of file version " + number((double)PetscRealPart(a[2])) + "; this library reads version 1";
  if (!is_integer(a[3], 1, 1e6)) return "Damaged TT vector: " + number((double)PetscRealPart(a[3])) + " modes";
  if (!is_integer(a[4], 0, 1e15) || !is_integer(a[5], 0, split)) return "Damaged TT vector: its length is not an integer";
  const double M = (double)PetscRealPart(a[4]) * split + (double)PetscRealPart(a[5]);
  if (M != (double)entries) return "Truncated or damaged TT vector: it should have " + number(M) + " scalars, there are " + number((double)entries);
  return std::string();
}

PetscErrorCode space_for(const StoredTrain &h, MPI_Comm comm, SpacePtr *space)
{
  const Int d = (Int)h.N.size();

  PetscFunctionBegin;
  if (!*space) PetscCall(make_space(comm, d, h.kind.data(), h.N.data(), space));
  bool same = (*space)->d() == d;
  for (Int k = 0; same && k < d; ++k) same = (*space)->N(k) == h.N[k];
  if (!same) {
    std::string modes;
    for (Int k = 0; k < d && modes.size() < 180; ++k) modes += (k ? " x " : "") + std::to_string((long long)h.N[k]);
    SETERRQ(comm, PETSC_ERR_FILE_UNEXPECTED, "The modes of the TT vector in the file, %s, are not those of the vector to load, %s", modes.c_str(), (*space)->describe().c_str());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_packed(Vec packed, bool *yes)
{
  PetscInt           M, start, end;
  const PetscScalar *a;
  PetscInt           found = 0;

  PetscFunctionBegin;
  PetscCall(VecGetSize(packed, &M));
  PetscCall(VecGetOwnershipRange(packed, &start, &end));
  if (start == 0 && end > 0) {
    PetscCall(VecGetArrayRead(packed, &a));
    found = (double)PetscRealPart(a[0]) == magic;
    PetscCall(VecRestoreArrayRead(packed, &a));
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &found, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)packed)));
  *yes = found && M >= packed_head;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode pack(Vec v, Vec *out)
{
  VecHandle             packed, local;
  ScatterHandle         scatter;
  std::vector<PetscInt> at;
  PetscScalar          *a;

  PetscFunctionBegin;
  const Train &x      = train_of(v);
  const Space &space  = *x.space();
  const Count  length = head_length(x.d());
  const double M      = (double)length + (x.is_zero() ? 0 : x.global_entries());
  PetscCheck(M <= (double)PETSC_MAX_INT, PetscObjectComm((PetscObject)v), PETSC_ERR_SUP, "The TT vector has %.0f scalars, more than a file of this PETSc can hold (%" PetscInt_FMT "): use 64-bit indices",
             M, PETSC_MAX_INT);
  PetscCall(VecCreate(PetscObjectComm((PetscObject)v), packed.out()));
  PetscCall(VecSetSizes(packed, PETSC_DECIDE, (PetscInt)M));
  PetscCall(VecSetType(packed, VECSTANDARD));

  // process 0 brings the description, then everybody his cores
  const std::vector<PetscScalar> head = make_head(x, (Count)M);
  PetscCallTT({
    if (space.comm().rank() == 0)
      for (Count i = 0; i < length; ++i) at.push_back((PetscInt)i);
  });
  if (!x.is_zero()) PetscCallTT(PetscCall(positions(space, x.ranks(), true, at)));
  PetscCall(make_scatter(packed, at, local.out(), scatter.out()));
  PetscCall(VecGetArray(local, &a));
  PetscScalar *to = a;
  if (space.comm().rank() == 0) to = std::copy(head.begin(), head.end(), to);
  if (!x.is_zero())
    for (Int k = 0; k < x.d(); ++k)
      if (!(space.replicated(k) && space.comm().rank() > 0)) to = std::copy(x.core(k).data(), x.core(k).data() + x.core(k).count(), to);
  PetscCall(VecRestoreArray(local, &a));
  PetscCall(VecScatterBegin(scatter, local, packed, INSERT_VALUES, SCATTER_REVERSE));
  PetscCall(VecScatterEnd(scatter, local, packed, INSERT_VALUES, SCATTER_REVERSE));
  *out = packed.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode unpack(Vec packed, MPI_Comm comm, SpacePtr space, Train *out)
{
  StoredTrain           h;
  VecHandle             local;
  ScatterHandle         scatter;
  std::vector<PetscInt> at;
  const PetscScalar    *a;

  PetscFunctionBegin;
  PetscCall(read_head(packed, h));
  PetscCall(space_for(h, comm, &space));
  const Int d = space->d();
  Train x;
  PetscCallTT(x = Train(space));
  if (h.zero) {
    *out = std::move(x);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallTT(PetscCall(positions(*space, h.r, false, at)));
  PetscCall(make_scatter(packed, at, local.out(), scatter.out()));
  PetscCall(VecScatterBegin(scatter, packed, local, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, packed, local, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(local, &a));
  const PetscScalar *from = a;
  PetscCallTT({
    for (Int k = 0; k < d; ++k) {
      Core c(h.r[k], space->n(k), h.r[k + 1]);
      std::copy(from, from + c.count(), c.data());
      from += c.count();
      x.set_core(k, std::move(c));
    }
    x.check();
    x.set_scale(h.scale);
    x.set_orthogonal(h.left, h.right);
  });
  PetscCall(VecRestoreArrayRead(local, &a));
  *out = std::move(x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
