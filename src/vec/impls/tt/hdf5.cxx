// A TT vector in an HDF5 file: a group with the name of the vector. Its attributes, integers unless said otherwise:
//
//   petsctt_type       "vectt" (text)
//   petsctt_version    1
//   complex            1 when scalars are complex: then every one is two numbers, a last dimension of length 2
//   modes              N_0 .. N_{d-1}
//   distribution       of every mode: 0 distributed, 1 replicated, 2 written by one process, to which both are the same: decided when loaded
//   ranks              r_0 .. r_d
//   scale              mantissa of the scale (a scalar)          scale_exponent     its exponent of 2
//   orthogonal_left    cores orthogonal from the left            orthogonal_right   from the right
//   zero               1 when the vector is zero; then there are no cores
//
// and its datasets core_0 .. core_{d-1}: core k is r_k x N_k x r_{k+1} with its first index fastest, which in the row-major order of HDF5 is
// r_{k+1} x N_k x r_k. The vector is scale 2^scale_exponent times the product of the cores. Nothing depends on the number of processes.
#include "sys/hdf5.hpp"
#include "vec/impls/tt/ttimpl.hpp"

#include <algorithm>

namespace petsctt {

namespace {

using Ints = std::vector<PetscInt64>;

std::string core_name(Int k)
{
  return "core_" + std::to_string((long long)k);
}

// Core k of which this process stores n indices from `start` on.
Slab core_slab(Int r0, Int N, Int r1, Int start, Int n)
{
  return {{r1, N, r0}, {0, start, 0}, {r1, n, r0}};
}

PetscErrorCode in_range(MPI_Comm comm, const HDF5Group &group, const char what[], const Ints &a, PetscInt64 least, PetscInt64 most)
{
  PetscFunctionBegin;
  for (std::size_t k = 0; k < a.size(); ++k)
    PetscCheck(a[k] >= least && a[k] <= most, comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector %s: %s[%d] is %lld, not in %lld..%lld", group.path(), what, (int)k,
               (long long)a[k], (long long)least, (long long)most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_head(const HDF5Group &group, MPI_Comm comm, StoredTrain &h)
{
  Ints        N, kind, r, a;
  PetscScalar mantissa;

  PetscFunctionBegin;
  PetscCall(group.get("modes", N));
  PetscCheck(!N.empty() && N.size() <= 1000000, comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector %s: %lld modes", group.path(), (long long)N.size());
  PetscCall(in_range(comm, group, "modes", N, 1, PETSC_MAX_INT));
  PetscCall(group.get("distribution", N.size(), kind));
  PetscCall(in_range(comm, group, "distribution", kind, 0, 2));
  PetscCall(group.get("ranks", N.size() + 1, r));
  PetscCall(in_range(comm, group, "ranks", r, 1, PETSC_MAX_INT));
  PetscCheck(r.front() == 1 && r.back() == 1, comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector %s: the outer TT ranks are %lld and %lld, not 1", group.path(),
             (long long)r.front(), (long long)r.back());
  PetscCall(group.get("zero", 1, a));
  PetscCall(in_range(comm, group, "zero", a, 0, 1));
  h.zero = a[0] == 1;
  PetscCall(group.get("scale", mantissa));
  PetscCall(group.get("scale_exponent", 1, a));
  PetscCall(in_range(comm, group, "scale_exponent", a, -(PetscInt64)1000000000000000, (PetscInt64)1000000000000000));
  PetscCallTT(h.scale = Scaled(mantissa, a[0]));
  PetscCheck(h.zero || !h.scale.is_zero(), comm, PETSC_ERR_FILE_UNEXPECTED, "Damaged TT vector %s: its scale is 0, but it is not marked as zero", group.path());
  PetscCall(group.get("orthogonal_left", 1, a));
  PetscCall(in_range(comm, group, "orthogonal_left", a, 0, (PetscInt64)N.size()));
  h.left = (Int)a[0];
  PetscCall(group.get("orthogonal_right", 1, a));
  PetscCall(in_range(comm, group, "orthogonal_right", a, 0, (PetscInt64)N.size()));
  h.right = (Int)a[0];
  PetscCallTT({
    h.N.assign(N.begin(), N.end());
    h.r.assign(r.begin(), r.end());
    for (PetscInt64 k : kind) h.kind.push_back(k == 0 ? PETSC_TT_DISTRIBUTED : k == 1 ? PETSC_TT_REPLICATED : PETSC_TT_AUTO);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode view_hdf5(Vec v, PetscViewer viewer)
{
  HDF5Group group;
  Ints      N, kind, r;

  PetscFunctionBegin;
  const Train &x     = train_of(v);
  const Space &space = *x.space();
  const bool   one = space.comm().size() == 1, first = space.comm().rank() == 0;
  PetscCallTT({
    for (Int k = 0; k < x.d(); ++k) N.push_back(space.N(k));
    for (Int k = 0; k < x.d(); ++k) kind.push_back(one ? 2 : space.replicated(k) ? 1 : 0);
    for (Int k = 0; k <= x.d(); ++k) r.push_back(x.r(k));
  });
  PetscCall(HDF5Group::fits_attribute(PetscObjectComm((PetscObject)v), (PetscInt64)r.size()));
  PetscCall(group.create(viewer, (PetscObject)v, "vectt"));
  PetscCall(group.put("modes", N));
  PetscCall(group.put("distribution", kind));
  PetscCall(group.put("ranks", r));
  PetscCall(group.put("zero", Ints{x.is_zero()}));
  PetscCall(group.put("scale", x.scale().mantissa()));
  PetscCall(group.put("scale_exponent", Ints{x.scale().exponent2()}));
  PetscCall(group.put("orthogonal_left", Ints{x.left()}));
  PetscCall(group.put("orthogonal_right", Ints{x.right()}));
  if (x.is_zero()) PetscFunctionReturn(PETSC_SUCCESS);
  for (Int k = 0; k < x.d(); ++k) {
    Slab slab = core_slab(x.r(k), space.N(k), x.r(k + 1), space.start(k), space.n(k));
    if (space.replicated(k) && !first) slab.count.clear();
    PetscCall(group.write(core_name(k), slab, x.core(k).data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_hdf5(Vec v, PetscViewer viewer, SpacePtr space, Train *out)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)v);
  HDF5Group   group;
  StoredTrain h;
  Train       x;

  PetscFunctionBegin;
  PetscCall(group.open(viewer, (PetscObject)v, "vectt"));
  PetscCall(read_head(group, comm, h));
  if (!h.zero)
    for (std::size_t k = 0; k < h.N.size(); ++k) PetscCall(group.expect_scalars(core_name((Int)k), {h.r[k + 1], h.N[k], h.r[k]}));
  PetscCall(space_for(h, comm, &space));
  PetscCallTT(x = Train(space));
  if (!h.zero) {
    for (Int k = 0; k < space->d(); ++k) {
      Core c;
      PetscCallTT(c = Core(h.r[k], space->n(k), h.r[k + 1]));
      PetscCall(group.read(core_name(k), core_slab(h.r[k], h.N[k], h.r[k + 1], space->start(k), space->n(k)), c.data()));
      PetscCallTT(x.set_core(k, std::move(c)));
    }
    PetscCallTT({
      x.check();
      x.set_scale(h.scale);
      x.set_orthogonal(h.left, h.right);
    });
  }
  *out = std::move(x);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
