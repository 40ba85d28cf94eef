#include "mat/impls/tt/impl.hpp"

#include <algorithm>

namespace petsctt {

namespace {

std::string number(Int a)
{
  return std::to_string((long long)a);
}

std::string mode_name(Int k)
{
  return "Factor of mode " + number(k);
}

} // namespace

std::string why_not_factor(const Space &space, Int k, Mat M)
{
  PetscInt    m, n, mloc, nloc;
  PetscMPIInt size, relation = MPI_UNEQUAL;
  MPI_Comm    comm = PetscObjectComm((PetscObject)M);
  const Int   N = space.N(k), want = space.n(k);

  if (MatGetSize(M, &m, &n) || MatGetLocalSize(M, &mloc, &nloc) || MPI_Comm_size(comm, &size)) return mode_name(k) + " has no sizes";
  if (m != N || n != N)
    return mode_name(k) + " is " + number(m) + " x " + number(n) + ", but the mode has size " + number(N);
  if (size > 1 || (!space.replicated(k) && space.comm().size() > 1)) {
    if (size != space.comm().size() || MPI_Comm_compare(comm, space.comm().mpi(), &relation) || (relation != MPI_IDENT && relation != MPI_CONGRUENT))
      return mode_name(k) + " lives on " + number(size) + " processes, but the mode is " +
             (space.replicated(k) ? "replicated: its factors live on one process each or on all " : "distributed over all ") +
             number(space.comm().size()) + " of the operator in their order";
  }
  if (!space.replicated(k) && (mloc != want || nloc != want))
    return mode_name(k) + " has " + number(mloc) + " local rows and " + number(nloc) + " local columns, but this process owns " + number(want) +
           " indices of the mode";
  return "";
}

namespace {

// A factor that is needed: checks that it is assembled, and on a replicated mode renews the copy if the original has changed.
PetscErrorCode make_ready(MatTT &t, Int k, Int f)
{
  Factors         &mode = t.factors[k];
  Mat              M    = mode.user[f];
  PetscObjectState state;
  PetscMPIInt      size;
  PetscBool        assembled;

  PetscFunctionBegin;
  PetscCall(MatAssembled(M, &assembled));
  PetscCheck(assembled, PetscObjectComm((PetscObject)M), PETSC_ERR_ARG_WRONGSTATE, "Factor %lld of mode %lld is not assembled", (long long)f, (long long)k);
  PetscCall(PetscObjectStateGet((PetscObject)M, &state));
  PetscCheck(mode.frozen[f] < 0 || mode.frozen[f] == state, PetscObjectComm((PetscObject)M), PETSC_ERR_ARG_WRONGSTATE,
             "Factor %lld of mode %lld has changed since MatTTCompress() made coefficients of its values; add the terms anew and compress again", (long long)f, (long long)k);
  if (mode.ready[f] && mode.state[f] == state) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatDestroy(&mode.ready[f]));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)M), &size));
  if (t.space->replicated(k) && size > 1) PetscCall(as_redundant_aij(M, &mode.ready[f]));
  else {
    PetscCall(PetscObjectReference((PetscObject)M));
    mode.ready[f] = M;
  }
  mode.state[f] = state;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The structure decides which collective calls follow, so it must be the same everywhere.
PetscErrorCode check_structure(const MatTT &t)
{
  PetscFunctionBegin;
  std::string bytes;
  auto        add = [&](const auto &v) { bytes.append(reinterpret_cast<const char *>(&v), sizeof(v)); };
  for (const BlockCore &core : t.used) {
    add(core.s0);
    add(core.s1);
    for (const Entry &e : core.entries) add(e.i), add(e.j), add(e.f), add(e.c);
  }
  PetscCall(same_everywhere(t.space->comm().mpi(), bytes.data(), bytes.size(), "Blocks or coefficients of the MATTT"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode prepare(Mat A)
{
  PetscFunctionBegin;
  PetscCall(require_modes(A));
  MatTT &t = data_of(A);
  if (!t.merged) {
    // Without blocks that the user may still replace, the merged form is kept: shifts of thousands of time steps do not pile up.
    PetscCallTT(t.used = t.given; merge(t.used); if (!t.block_form) t.given = t.used);
    PetscCall(check_structure(t));
    t.merged = true;
    if (t.compress_rtol >= 0) {
      const Real rtol = t.compress_rtol;
      t.compress_rtol = -1; // once; compress() comes back here
      PetscCall(compress(A, rtol));
    }
  }
  for (Int k = 0; k < t.space->d(); k++) {
    std::vector<bool> seen(t.factors[k].user.size(), false);
    for (const Entry &e : t.used[k].entries)
      if (e.f >= 0 && !seen[e.f]) {
        seen[e.f] = true;
        PetscCall(make_ready(t, k, e.f));
      }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
