#include "vec/interface/check.hpp"

namespace petsctt {

PetscErrorCode require_replicated(MPI_Comm comm, Count n, const PetscInt a[], const char *what)
{
  // number, then a hash of all of them: two integers travel whatever n is. The hash is kept below 2^31.
  std::uint64_t hash = 1469598103934665603u;
  for (Count i = 0; i < n; ++i) hash = (hash ^ (std::uint64_t)a[i]) * 1099511628211u;
  const PetscInt h[2] = {(PetscInt)n, (PetscInt)((hash ^ (hash >> 32)) & 0x7fffffff)};
  PetscInt       e[4] = {h[0], -h[0], h[1], -h[1]};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, e, 4, MPIU_INT, MPI_MAX, comm));
  PetscCheck(e[0] == -e[1] && e[2] == -e[3], comm, PETSC_ERR_ARG_INCOMP, "%s must be the same on all processes", what);
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  std::vector<Vec>      wanted(d, nullptr);

  PetscFunctionBegin;
  for (PetscInt k = 0; vecs && k < d; ++k)
    if (!used || used[k]) {
      wanted[k] = vecs[k];
      given[k]  = vecs[k] ? 1 : 0;
    }
  PetscCall(require_replicated(space.comm().mpi(), d, given.data(), "Which modes have a vector"));
  PetscCall(require_fit(space, wanted));
  vecs_.assign(d, nullptr);
  arrays_.assign(d, nullptr);
  pointers_.assign(d, nullptr);
  for (PetscInt k = 0; k < d; ++k) {
    if (!wanted[k]) continue;
    PetscCall(VecGetArrayRead(wanted[k], &arrays_[k]));
    vecs_[k]     = wanted[k];
    pointers_[k] = arrays_[k] ? arrays_[k] : nothing;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
