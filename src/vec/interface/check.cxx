#include "vec/interface/check.hpp"

#include "tt/ops/array.hpp"

#include <cstdio>

namespace petsctt {

PetscErrorCode require_mode(Vec v, PetscInt k)
{
  PetscFunctionBegin;
  PetscCheck(k >= 0 && k < space_of(v)->d(), PetscObjectComm((PetscObject)v), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " is outside 0..%" PetscInt_FMT, k, space_of(v)->d() - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

// The first mode whose vector does not fit on some process, or d; the same on all processes.
PetscErrorCode first_misfit(const Space &space, const std::vector<Vec> &vecs, PetscInt *mode, PetscInt *global)
{
  const PetscInt d     = space.d();
  PetscInt       first = d, e[2];

  PetscFunctionBegin;
  for (PetscInt k = d - 1; k >= 0; --k) {
    PetscInt n, N;
    if (!vecs[k]) continue;
    PetscCall(VecGetLocalSize(vecs[k], &n));
    PetscCall(VecGetSize(vecs[k], &N));
    if (n != space.n(k) || N != space.N(k) || is_vectt(vecs[k])) first = k;
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, space.comm().mpi()));
  *mode   = first;
  *global = -1;
  if (first < d) {
    if (vecs[first]) PetscCall(VecGetSize(vecs[first], global));
    e[0] = *global;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, e, 1, MPIU_INT, MPI_MAX, space.comm().mpi()));
    *global = e[0];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode require_fit(const Space &space, const std::vector<Vec> &vecs)
{
  PetscInt k, N;

  PetscFunctionBegin;
  PetscCall(first_misfit(space, vecs, &k, &N));
  PetscCheck(k == space.d(), space.comm().mpi(), PETSC_ERR_ARG_SIZ,
             "The vector of size %" PetscInt_FMT " given for mode %" PetscInt_FMT " does not fit it: the mode has size %" PetscInt_FMT " and is %s; VecTTCreateModeVec() creates vectors that fit", N, k,
             space.N(k), space.replicated(k) ? "stored whole on every process" : "distributed, with local sizes that the vector does not have");
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode require_mode_vec(const Space &space, PetscInt k, Vec w)
{
  std::vector<Vec> vecs(space.d(), nullptr);

  PetscFunctionBegin;
  PetscCheck(w, space.comm().mpi(), PETSC_ERR_ARG_NULL, "The vector over mode %" PetscInt_FMT " is NULL", k);
  vecs[k] = w;
  PetscCall(require_fit(space, vecs));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void settle_replicas(const Space &space, PetscInt k, Scalar *a, Count n, std::string &message)
{
  if (!space.replicated(k) || space.comm().size() == 1) return;
  Buffer mine((std::size_t)n);
  std::copy(a, a + n, mine.data());
  space.comm().bcast(a, n);
  const Real top = max_part(a, n), allowed = is_finite(top) ? 1e-8 * top : 0;
  for (Count i = 0; message.empty() && i < n; ++i) {
    const bool here = is_finite(mine[i]), there = is_finite(a[i]);
    if (here == there && (!here || petsctt::abs(mine[i] - a[i]) <= allowed)) continue;
    char text[256];
    std::snprintf(text, sizeof(text), "Mode %lld is replicated, but its values differ between the processes: number %lld is %g on process 0 and %g here", (long long)k, (long long)i,
                  (double)PetscRealPart(a[i]), (double)PetscRealPart(mine[i]));
    message = text;
  }
}

ModeArrays::~ModeArrays()
{
  for (std::size_t k = 0; k < vecs_.size(); ++k)
    if (vecs_[k]) (void)VecRestoreArrayRead(vecs_[k], &arrays_[k]);
}

PetscErrorCode ModeArrays::get(const Space &space, const Vec vecs[], const PetscBool used[])
{
  static const Scalar   nothing[1] = {0};
  const PetscInt        d          = space.d();
  std::vector<PetscInt> given(d, 0);
  std::string           message;
  std::vector<Vec>      wanted(d, nullptr);

  PetscFunctionBegin;
  for (PetscInt k = 0; vecs && k < d; ++k)
    if (!used || used[k]) {
      wanted[k] = vecs[k];
      given[k]  = vecs[k] ? 1 : 0;
    }
  PetscCall(same_everywhere(space.comm().mpi(), given.data(), given.size() * sizeof(PetscInt), "The modes that have a vector"));
  PetscCall(require_fit(space, wanted));
  vecs_.assign(d, nullptr);
  arrays_.assign(d, nullptr);
  pointers_.assign(d, nullptr);
  replicas_.resize(d);
  for (PetscInt k = 0; k < d; ++k) {
    if (!wanted[k]) continue;
    PetscCall(VecGetArrayRead(wanted[k], &arrays_[k]));
    vecs_[k]     = wanted[k];
    pointers_[k] = arrays_[k] ? arrays_[k] : nothing;
    if (!space.replicated(k) || space.comm().size() == 1) continue;
    replicas_[k] = Buffer((std::size_t)space.N(k));
    std::copy(arrays_[k], arrays_[k] + space.N(k), replicas_[k].data());
    settle_replicas(space, k, replicas_[k].data(), space.N(k), message);
    pointers_[k] = replicas_[k].data();
  }
  PetscCall(agree(space.comm().mpi(), PETSC_ERR_ARG_INCOMP, message));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
