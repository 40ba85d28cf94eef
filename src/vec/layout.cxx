#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "vec/vectt.hpp"

#include <string>

namespace petsctt {

PetscErrorCode nominal_sizes(const Space &space, PetscInt *n, PetscInt *N, bool *product)
{
  PetscInt prod = 1, sum = 0, local = PETSC_DECIDE, global;
  bool     fits = true;

  PetscFunctionBegin;
  for (Int k = 0; k < space.d(); ++k) {
    PetscCheck(sum <= PETSC_MAX_INT - space.N(k), PETSC_COMM_SELF, PETSC_ERR_SUP, "The modes %s add up to more than a PetscInt holds, %" PetscInt_FMT,
               space.describe().c_str(), PETSC_MAX_INT);
    sum += space.N(k);
    if (fits && prod > PETSC_MAX_INT / space.N(k)) fits = false;
    if (fits) prod *= space.N(k);
  }
  global = fits ? prod : sum;
  // PETSc's rule (PetscSplitOwnership), without its collective call
  local = global / space.comm().size() + ((global % space.comm().size()) > space.comm().rank() ? 1 : 0);
  if (n) *n = local;
  if (N) *N = global;
  if (product) *product = fits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode nominal_index(const Space &space, const std::vector<Int> &index, PetscInt *i)
{
  bool product;

  PetscFunctionBegin;
  PetscCall(nominal_sizes(space, nullptr, nullptr, &product));
  PetscCheck(product, PETSC_COMM_SELF, PETSC_ERR_SUP, "The modes %s have more entries than a PetscInt can number", space.describe().c_str());
  *i = 0;
  for (Int k = space.d() - 1; k >= 0; --k) *i = *i * space.N(k) + index[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode first_difference(MPI_Comm comm, const std::vector<PetscInt> &a, PetscInt *where)
{
  std::vector<PetscInt> extremes(2 * a.size());

  PetscFunctionBegin;
  for (std::size_t i = 0; i < a.size(); ++i) {
    extremes[2 * i]     = a[i];
    extremes[2 * i + 1] = -1 - a[i]; // the complement: cannot overflow
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, extremes.data(), (PetscMPIInt)extremes.size(), MPIU_INT, MPI_MAX, comm));
  *where = -1;
  for (std::size_t i = 0; i < a.size() && *where < 0; ++i)
    if (extremes[2 * i] != -1 - extremes[2 * i + 1]) *where = (PetscInt)i;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

enum Kind : PetscInt { kind_replicated, kind_distributed, kind_explicit };

// Reads -tt_replicate_max once per call; the same limit for vectors and operators, hence no prefix.
PetscErrorCode replicate_max(PetscInt *limit)
{
  PetscFunctionBegin;
  *limit = 32;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-tt_replicate_max", limit, nullptr));
  PetscCheck(*limit >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "-tt_replicate_max %" PetscInt_FMT " is negative", *limit);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode make_space(MPI_Comm comm, PetscInt d, const PetscInt n[], const PetscInt N[], SpacePtr *space)
{
  PetscInt              where, limit;
  PetscMPIInt           size;
  std::vector<PetscInt> kinds, locals;
  std::vector<Mode>     modes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(first_difference(comm, {d}, &where));
  PetscCheck(where < 0, comm, PETSC_ERR_ARG_INCOMP, "The number of modes differs between processes (here %" PetscInt_FMT ")", d);
  PetscCheck(d >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "The number of modes is %" PetscInt_FMT ", must be at least 1", d);
  PetscCheck(N, comm, PETSC_ERR_ARG_NULL, "The mode sizes N are missing");

  PetscCall(first_difference(comm, std::vector<PetscInt>(N, N + d), &where));
  PetscCheck(where < 0, comm, PETSC_ERR_ARG_INCOMP, "The size of mode %" PetscInt_FMT " differs between processes (here %" PetscInt_FMT ")", where, N[where < 0 ? 0 : where]);
  for (PetscInt k = 0; k < d; ++k)
    PetscCheck(N[k] >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " has size %" PetscInt_FMT ", must be at least 1", k, N[k]);

  PetscCall(replicate_max(&limit));
  kinds.resize(d);
  locals.assign(d, -1);
  for (PetscInt k = 0; k < d; ++k) {
    const PetscInt want = n ? n[k] : PETSC_TT_AUTO;
    if (want == PETSC_TT_AUTO) kinds[k] = N[k] <= limit ? kind_replicated : kind_distributed;
    else if (want == PETSC_TT_REPLICATED) kinds[k] = kind_replicated;
    else if (want == PETSC_TT_DISTRIBUTED) kinds[k] = kind_distributed;
    else {
      kinds[k]  = kind_explicit;
      locals[k] = want; // negative ones are refused below, with everybody
    }
  }
  PetscCall(first_difference(comm, kinds, &where));
  PetscCheck(where < 0, comm, PETSC_ERR_ARG_INCOMP, "Mode %" PetscInt_FMT ": the processes must agree whether its local size is given, replicated or decided by PETSc (here %" PetscInt_FMT ")",
             where, n ? n[where < 0 ? 0 : where] : PETSC_TT_AUTO);

  std::vector<PetscInt> all((std::size_t)size * d);
  PetscCallMPI(MPI_Allgather(locals.data(), (PetscMPIInt)d, MPIU_INT, all.data(), (PetscMPIInt)d, MPIU_INT, comm));
  for (PetscInt k = 0; k < d; ++k) {
    if (kinds[k] != kind_explicit) {
      modes.push_back(kinds[k] == kind_replicated ? replicate(N[k]) : split_evenly(N[k], size));
      continue;
    }
    Mode     m;
    PetscInt sum = 0;
    m.N          = N[k];
    m.replicated = false;
    m.starts.assign(1, 0);
    for (PetscMPIInt p = 0; p < size; ++p) {
      const PetscInt local = all[(std::size_t)p * d + k];
      PetscCheck(local >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT ": process %d gives the local size %" PetscInt_FMT, k, p, local);
      PetscCheck(local <= N[k] - sum, comm, PETSC_ERR_ARG_SIZ, "Mode %" PetscInt_FMT ": the local sizes of processes 0 to %d add up to more than its size %" PetscInt_FMT, k, p, N[k]);
      sum += local;
      m.starts.push_back(sum);
    }
    PetscCheck(sum == N[k], comm, PETSC_ERR_ARG_SIZ, "Mode %" PetscInt_FMT ": the local sizes add up to %" PetscInt_FMT ", its size is %" PetscInt_FMT, k, sum, N[k]);
    modes.push_back(std::move(m));
  }
  PetscCallTT(*space = std::make_shared<const Space>(comm, std::move(modes)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
