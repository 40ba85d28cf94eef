// Set-up of PCTTKRON: which modes, their matrices, their solvers, the common scale.
#include "pc/impls/ttkron/ttkron.hpp"

#include "mat/mattt.hpp"
#include "petscttdm.h"
#include "sys/guard.hpp"
#include "sys/handle.hpp"

#include <algorithm>

namespace petsctt {

namespace {

using std::vector;

// Has M no entry off the diagonal in the rows of this process? Types whose rows cannot be looked at count as not diagonal. Not collective.
PetscErrorCode locally_diagonal(Mat M, bool *diagonal)
{
  PetscBool match;
  PetscInt  begin, end;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)M, &match, "diagonal", MATCONSTANTDIAGONAL, ""));
  *diagonal = match;
  if (match) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectBaseTypeCompareAny((PetscObject)M, &match, MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQDENSE, MATMPIDENSE, ""));
  if (!match) PetscFunctionReturn(PETSC_SUCCESS);
  *diagonal = true;
  PetscCall(MatGetOwnershipRange(M, &begin, &end));
  for (PetscInt i = begin; i < end && *diagonal; i++) {
    const PetscInt    *cols;
    const PetscScalar *values;
    PetscInt           n;
    PetscCall(MatGetRow(M, i, &n, &cols, &values));
    for (PetscInt j = 0; j < n; j++) *diagonal = *diagonal && (cols[j] == i || values[j] == PetscScalar(0));
    PetscCall(MatRestoreRow(M, i, &n, &cols, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode is_diagonal(Mat M, bool *diagonal)
{
  int all;

  PetscFunctionBegin;
  PetscCall(locally_diagonal(M, diagonal));
  all = *diagonal;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, PetscObjectComm((PetscObject)M)));
  *diagonal = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The modes on which A has a block that is not diagonal, or with `all` one that is not the identity; mode 0 when there is none. One reduction.
PetscErrorCode modes_with_coupling(Mat A, bool all, vector<Int> *modes)
{
  const Int   d = space_of(A)->d();
  vector<int> coupled((std::size_t)d, 0);
  vector<Mat> factors;

  PetscFunctionBegin;
  for (Int k = 0; k < d; k++) {
    PetscCall(mode_factors(A, k, factors));
    for (Mat F : factors) {
      bool diagonal;
      diagonal = false;
      if (!all) PetscCall(locally_diagonal(F, &diagonal));
      coupled[k] = coupled[k] || !diagonal;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, coupled.data(), (PetscMPIInt)d, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  modes->clear();
  for (Int k = 0; k < d; k++) {
    if (coupled[k]) modes->push_back(k);
  }
  if (modes->empty()) modes->push_back(0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_modes(PC pc, vector<Int> *modes)
{
  Kron &kron = kron_of(pc);
  bool  any  = false;

  PetscFunctionBegin;
  modes->clear();
  for (auto &entry : kron.modes) any = any || entry.second.user;
  if (!kron.chosen.empty()) *modes = kron.chosen;
  else if (any) {
    for (auto &entry : kron.modes) {
      if (entry.second.user) modes->push_back(entry.first);
    }
  } else {
    PetscCall(require_mattt(pc->pmat, "Without PCTTKronSetModeMat() the preconditioning matrix of ttkron"));
    PetscCheck(kron_space(pc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The modes of the preconditioning matrix of ttkron are not set");
    PetscCall(modes_with_coupling(pc->pmat, kron.nearest || kron.exponentials > 0, modes));
  }
  if (kron_space(pc)) {
    const Int d = kron_space(pc)->d();
    PetscCheck(modes->back() < d, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " of ttkron is not one of the %" PetscInt_FMT " modes 0..%" PetscInt_FMT " of the operator",
               modes->back(), d, d - 1);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_reference(PC pc)
{
  const vector<Int> &ref = kron_of(pc).reference;

  PetscFunctionBegin;
  if (ref.empty() || !kron_space(pc)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(!kron_of(pc).nearest || kron_of(pc).exponentials > 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
             "ttkron has a reference point and is to be the nearest Kronecker product: the two exclude each other");
  const Space &space = *kron_space(pc);
  PetscCheck((Int)ref.size() == space.d(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ,
             "The reference point of ttkron has %" PetscInt_FMT " indices, the operator %" PetscInt_FMT " modes", (PetscInt)ref.size(), space.d());
  for (Int k = 0; k < space.d(); k++)
    PetscCheck(ref[k] >= -1 && ref[k] < space.N(k), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
               "Index %" PetscInt_FMT " of the reference point of ttkron on mode %" PetscInt_FMT " is not in -1..%" PetscInt_FMT, ref[k], k, space.N(k) - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A parallel matrix of a replicated mode: every process gets all of it.
PetscErrorCode localise(const SpacePtr &space, Int k, Mat *M)
{
  PetscMPIInt size;
  Mat         local;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)*M), &size));
  if (size == 1 || !space || !space->replicated(k)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateRedundantMatrix(*M, size, MPI_COMM_NULL, MAT_INITIAL_MATRIX, &local));
  PetscCall(MatDestroy(M));
  *M = local;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Nearest Kronecker product: the matrices of all active modes but those of the user, which count as identities in the search, as they do
// when the operator is projected.
PetscErrorCode get_nearest(PC pc)
{
  Kron             &kron  = kron_of(pc);
  const SpacePtr    space = kron_space(pc);
  bool              any   = false;
  vector<PetscBool> identity;
  vector<Mat>       M;

  PetscFunctionBegin;
  kron.distance = -1;
  for (Int k : kron.active) any = any || !kron.modes[k].user;
  if (!any) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(require_mattt(pc->pmat, "The preconditioning matrix, to which ttkron is to be the nearest Kronecker product,"));
  PetscCheck(space, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The modes of the preconditioning matrix of ttkron are not set");
  identity.assign((std::size_t)space->d(), PETSC_TRUE);
  M.assign((std::size_t)space->d(), nullptr);
  for (Int k : kron.active)
    if (!kron.modes[k].user) identity[k] = PETSC_FALSE;
  PetscCall(MatTTGetNearestKronecker(pc->pmat, identity.data(), M.data(), &kron.distance));
  for (Int k : kron.active) {
    if (kron.modes[k].user) continue;
    PetscCall(MatDestroy(&kron.modes[k].M));
    kron.modes[k].M = M[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_matrix(PC pc, Int k)
{
  Kron          &kron  = kron_of(pc);
  KronMode      &mode  = kron.modes[k];
  const SpacePtr space = kron_space(pc);

  PetscFunctionBegin;
  if (kron.nearest && !mode.user) PetscFunctionReturn(PETSC_SUCCESS); // get_nearest() made it
  PetscCall(MatDestroy(&mode.M));
  if (mode.user) {
    PetscCall(PetscObjectReference((PetscObject)mode.user));
    mode.M = mode.user;
    PetscCall(localise(space, k, &mode.M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(space, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG,
             "Mode %" PetscInt_FMT " of ttkron has no matrix: the preconditioning matrix is of type %s, not tt, so PCTTKronSetModeMat() must give it", k,
             ((PetscObject)pc->pmat)->type_name);
  PetscCall(MatTTGetProjectedMode(pc->pmat, k, kron.reference.empty() ? NULL : kron.reference.data(), &mode.M));
  PetscCall(localise(space, k, &mode.M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The projection of the operator on no mode at all, from its projection M on one: mean of the diagonal or one entry of it.
PetscErrorCode projected_scalar(Mat M, Int index, PetscScalar *s)
{
  VecHandle          diagonal;
  PetscInt           begin, end, N;
  const PetscScalar *a;
  PetscScalar        sum = 0;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(M, diagonal.out(), NULL));
  PetscCall(MatGetDiagonal(M, diagonal));
  PetscCall(VecGetOwnershipRange(diagonal, &begin, &end));
  PetscCall(VecGetSize(diagonal, &N));
  PetscCall(VecGetArrayRead(diagonal, &a));
  for (PetscInt i = begin; i < end; i++) {
    if (index < 0 || index == i) sum += a[i - begin];
  }
  PetscCall(VecRestoreArrayRead(diagonal, &a));
  PetscCallMPI(MPI_Allreduce(&sum, s, 1, MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)M)));
  if (index < 0) *s /= (PetscReal)N;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// P = s^{1-m} (x)_k M_k over the m projected modes: P^{-1} has the factor s^{m-1}.
PetscErrorCode set_factor(PC pc)
{
  Kron       &kron = kron_of(pc);
  Int         m = 0, first = -1;
  PetscScalar s;

  PetscFunctionBegin;
  kron.factor     = Scalar(1);
  kron.normalized = false;
  if (kron.nearest) PetscFunctionReturn(PETSC_SUCCESS); // the product has the scale of the operator
  for (Int k : kron.active) {
    if (kron.modes[k].user) continue;
    if (first < 0) first = k;
    m++;
  }
  if (m < 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(projected_scalar(kron.modes[first].M, kron.reference.empty() ? -1 : kron.reference[first], &s));
  // a replicated mode gives every process its own sum, equal up to the arithmetic of different machines
  PetscCallMPI(MPI_Bcast(&s, 1, MPIU_SCALAR, 0, PetscObjectComm((PetscObject)pc)));
  if (s == PetscScalar(0)) {
    PetscCall(PetscInfo(pc, "The projected scalar of the operator is zero: the product of the projections is not normalised\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (Int i = 1; i < m; i++) kron.factor *= Scaled(s);
  kron.normalized = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// M := m I + t (M - m I), m the mean of the diagonal, for the matrices made from the operator. They are our own.
PetscErrorCode stretch(PC pc)
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  if (kron.stretch == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (Int k : kron.active) {
    PetscScalar m;
    if (kron.modes[k].user) continue;
    PetscCall(projected_scalar(kron.modes[k].M, -1, &m));
    PetscCall(MatScale(kron.modes[k].M, kron.stretch));
    PetscCall(MatShift(kron.modes[k].M, (1 - kron.stretch) * m));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Type and solver package of an inner PC that has no type yet.
PetscErrorCode set_default_solver(KronMode &mode)
{
  PC            pc;
  PCType        type;
  bool          diagonal;
  PetscMPIInt   size;
  PetscBool     set, spd, dense, available = PETSC_FALSE;
  MatFactorType factor = MAT_FACTOR_LU;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(mode.ksp, &pc));
  PetscCall(PCGetType(pc, &type));
  if (type) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(is_diagonal(mode.M, &diagonal));
  if (diagonal) {
    PetscCall(PCSetType(pc, PCJACOBI));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)mode.M), &size));
  // From some version on PETSc hands parallel dense matrices to MUMPS as well; the solutions are NaN (seen with 3.22.5).
  PetscCall(PetscObjectTypeCompare((PetscObject)mode.M, MATMPIDENSE, &dense));
  PetscCall(MatIsSPDKnown(mode.M, &set, &spd));
  if (!is_complex && set && spd) { // Hermitian factorisation: MUMPS has none
    if (dense) available = PETSC_FALSE;
    else if (size > 1) PetscCall(MatGetFactorAvailable(mode.M, MATSOLVERMUMPS, MAT_FACTOR_CHOLESKY, &available));
    else PetscCall(MatGetFactorAvailable(mode.M, NULL, MAT_FACTOR_CHOLESKY, &available));
    if (available) factor = MAT_FACTOR_CHOLESKY;
  }
  if (size > 1 && !available && !dense) PetscCall(MatGetFactorAvailable(mode.M, MATSOLVERMUMPS, MAT_FACTOR_LU, &available));
  const bool mumps = size > 1 && available;
  if (!available && !dense) PetscCall(MatGetFactorAvailable(mode.M, NULL, MAT_FACTOR_LU, &available));
  if (available || size == 1) { // in serial without any, PCLU says what is wrong
    PetscCall(PCSetType(pc, factor == MAT_FACTOR_CHOLESKY ? PCCHOLESKY : PCLU));
    if (mumps) PetscCall(PCFactorSetMatSolverType(pc, MATSOLVERMUMPS));
  } else {
    PetscCall(PCSetType(pc, PCREDUNDANT));
    mode.note = std::string("no parallel direct solver for matrices of type ") + ((PetscObject)mode.M)->type_name + " here: every process factors all of it";
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PCJACOBI puts 1 for a zero on the diagonal; for a diagonal matrix that is a zero pivot.
PetscErrorCode zero_pivot(Mat M, PC inner, bool *zero)
{
  PetscBool          jacobi;
  bool               only_diagonal;
  VecHandle          diagonal;
  PetscInt           n;
  const PetscScalar *a;

  PetscFunctionBegin;
  *zero = false;
  PetscCall(PetscObjectTypeCompare((PetscObject)inner, PCJACOBI, &jacobi));
  if (!jacobi) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(is_diagonal(M, &only_diagonal));
  if (!only_diagonal) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(M, diagonal.out(), NULL));
  PetscCall(MatGetDiagonal(M, diagonal));
  PetscCall(VecGetLocalSize(diagonal, &n));
  PetscCall(VecGetArrayRead(diagonal, &a));
  *zero = std::find(a, a + n, PetscScalar(0)) != a + n;
  PetscCall(VecRestoreArrayRead(diagonal, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A DMTT that the PC has got from its KSP, SNES or TS knows a DM for the mode: what PCMG, PCFIELDSPLIT and the like build on. It does not give the
// operator; and one that the user has set stays.
PetscErrorCode hand_down_dm(PC pc, Int k)
{
  KronMode   &mine = kron_of(pc).modes[k];
  DM          dm, mode, present;
  PC          inner;
  PetscBool   tensor = PETSC_FALSE;
  PetscInt    d;
  PetscMPIInt same;

  PetscFunctionBegin;
  PetscCall(PCGetDM(pc, &dm));
  if (dm) PetscCall(PetscObjectTypeCompare((PetscObject)dm, DMTT, &tensor));
  if (!tensor) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPGetPC(mine.ksp, &inner));
  PetscCall(PCGetDM(inner, &present));
  PetscCall(DMTTGetNumModes(dm, &d));
  if ((present && present != mine.dm) || k >= d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMTTGetModeDM(dm, k, &mode));
  if (!mode || mode == present) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)mode), PetscObjectComm((PetscObject)mine.ksp), &same));
  if (same != MPI_IDENT && same != MPI_CONGRUENT) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(KSPSetDM(mine.ksp, mode));
  PetscCall(KSPSetDMActive(mine.ksp, PETSC_FALSE));
  mine.dm = mode;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode setup_solver(PC pc, Int k)
{
  KronMode          &mode = kron_of(pc).modes[k];
  PC                 inner;
  PCFailedReason     failure;
  KSPConvergedReason reason;
  bool               zero, failed;

  PetscFunctionBegin;
  PetscCall(kron_create_ksp(pc, k));
  PetscCall(hand_down_dm(pc, k));
  PetscCall(KSPSetOperators(mode.ksp, mode.M, mode.M));
  PetscCall(set_default_solver(mode));
  if (!mode.options && pc->setfromoptionscalled) {
    PetscCall(KSPSetFromOptions(mode.ksp));
    mode.options = true;
  }
  PetscCall(KSPSetUp(mode.ksp));
  PetscCall(KSPSetUpOnBlocks(mode.ksp));
  PetscCall(KSPGetPC(mode.ksp, &inner));
  PetscCall(PCGetFailedReason(inner, &failure));
  PetscCall(KSPGetConvergedReason(mode.ksp, &reason));
  PetscCall(zero_pivot(mode.M, inner, &zero));
  if (zero && failure == PC_NOERROR) failure = PC_FACTOR_NUMERIC_ZEROPIVOT;
  PetscCall(kron_agree(pc, k, failure, reason, "set-up", &failed));
  kron_of(pc).failed = kron_of(pc).failed || failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode kron_agree(PC pc, Int k, PCFailedReason failure, KSPConvergedReason reason, const char *when, bool *failed)
{
  int both[2];

  PetscFunctionBegin;
  if (reason == KSP_DIVERGED_ITS) reason = KSP_CONVERGED_ITERATING; // PETSc's convention for inner solvers
  both[0] = failure == PC_NOERROR ? 0 : (failure > 0 ? (int)failure : (int)PC_SUBPC_ERROR);
  both[1] = reason < 0 ? -(int)reason : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, both, 2, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  *failed = both[0] || both[1];
  if (!*failed) PetscFunctionReturn(PETSC_SUCCESS);
  const char *why   = KSPConvergedReasons[-both[1]]; // 0 is CONVERGED_ITERATING
  failure           = both[0] ? (PCFailedReason)both[0] : PC_SUBPC_ERROR;
  const char *state = PCFailedReasons[failure];
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "ttkron: the solver of mode %" PetscInt_FMT " failed in %s: %s, PC %s", k, when,
             both[1] ? why : "no KSP reason", state);
  PetscCall(PetscInfo(pc, "ttkron: the solver of mode %" PetscInt_FMT " failed in %s: %s, PC %s\n", k, when, both[1] ? why : "no KSP reason", state));
  PetscCall(PCSetFailedReason(pc, failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SpacePtr kron_space(PC pc)
{
  return pc->pmat && is_mattt(pc->pmat) ? space_of(pc->pmat) : nullptr;
}

PetscErrorCode kron_solver_comm(PC pc, Int k, MPI_Comm *comm)
{
  Kron &kron = kron_of(pc);
  auto  it   = kron.modes.find(k);

  PetscFunctionBegin;
  *comm = MPI_COMM_NULL;
  if (kron_space(pc)) {
    const Space &space = *kron_space(pc);
    PetscCheck(k < space.d(), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " of ttkron is not one of the %" PetscInt_FMT " modes of the operator", k, space.d());
    *comm = space.replicated(k) ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)pc);
  } else if (it != kron.modes.end() && it->second.user) *comm = PetscObjectComm((PetscObject)it->second.user);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_create_ksp(PC pc, Int k)
{
  KronMode   &mode = kron_of(pc).modes[k];
  const char *prefix;
  char        own[64];
  MPI_Comm    comm;

  PetscFunctionBegin;
  if (mode.ksp) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(kron_solver_comm(pc, k, &comm));
  PetscCheck(comm != MPI_COMM_NULL, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The solver of mode %" PetscInt_FMT " of ttkron is not known yet: set the operators or the matrix of this mode first", k);
  PetscCall(KSPCreate(comm, &mode.ksp));
  PetscCall(PetscObjectIncrementTabLevel((PetscObject)mode.ksp, (PetscObject)pc, 1));
  PetscCall(PCGetOptionsPrefix(pc, &prefix));
  PetscCall(PetscSNPrintf(own, sizeof own, "pc_ttkron_mode_%" PetscInt_FMT "_", k));
  PetscCall(KSPSetOptionsPrefix(mode.ksp, prefix));
  PetscCall(KSPAppendOptionsPrefix(mode.ksp, own));
  PetscCall(KSPSetType(mode.ksp, KSPPREONLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_check_matrices(PC pc, const SpacePtr &space)
{
  Kron    &kron = kron_of(pc);
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  if (kron.checked == space) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(kron.active.back() < space->d(), comm, PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " of ttkron is not one of the %" PetscInt_FMT " modes of the vectors", kron.active.back(), space->d());
  for (Int k : kron.active) {
    Mat             M    = kron.modes[k].M;
    const Mode     &mode = space->mode(k);
    PetscInt        rows;
    const PetscInt *ranges;
    PetscMPIInt     size;
    int             bad = 0;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)M), &size));
    PetscCheck(mode.replicated || size == space->comm().size(), comm, PETSC_ERR_ARG_INCOMP,
               "Matrix of mode %" PetscInt_FMT " of ttkron lives on %d processes, the mode is distributed over %d", k, size, space->comm().size());
    PetscCheck(!mode.replicated || size == 1, comm, PETSC_ERR_ARG_INCOMP, "Matrix of mode %" PetscInt_FMT " of ttkron lives on %d processes, the mode is replicated", k, size);
    PetscCall(MatGetSize(M, &rows, NULL));
    PetscCall(MatGetOwnershipRanges(M, &ranges));
    if (rows != mode.N) bad = 1;
    else if (!mode.replicated && !std::equal(mode.starts.begin(), mode.starts.end(), ranges)) bad = 2;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, comm));
    PetscCheck(bad != 1, comm, PETSC_ERR_ARG_SIZ, "Matrix of mode %" PetscInt_FMT " of ttkron has %" PetscInt_FMT " rows, the mode %" PetscInt_FMT " points", k, rows, mode.N);
    PetscCheck(bad != 2, comm, PETSC_ERR_ARG_SIZ, "Rows of the matrix of mode %" PetscInt_FMT " of ttkron are not distributed over the processes as the mode is", k);
  }
  kron.checked = space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode matrix_states(PC pc, PetscObjectState *sum)
{
  PetscObjectState state;

  PetscFunctionBegin;
  *sum = 0;
  if (kron_space(pc)) PetscCall(factor_states(pc->pmat, sum));
  for (auto &entry : kron_of(pc).modes) {
    if (!entry.second.user) continue;
    PetscCall(PetscObjectStateGet((PetscObject)entry.second.user, &state));
    *sum += state;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode kron_refresh(PC pc)
{
  PetscObjectState sum;
  int              changed;

  PetscFunctionBegin;
  if (!pc->setupcalled || pc->reusepreconditioner) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(matrix_states(pc, &sum));
  changed = sum != kron_of(pc).states;
  // the matrices of replicated modes are each process's own, and so are their states
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &changed, 1, MPI_INT, MPI_MAX, PetscObjectComm((PetscObject)pc)));
  if (!changed) PetscFunctionReturn(PETSC_SUCCESS);
  if (kron_space(pc)) PetscCall(PetscObjectStateIncrease((PetscObject)pc->pmat));
  pc->setupcalled = decltype(pc->setupcalled)(0);
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_setup(PC pc)
{
  Kron       &kron = kron_of(pc);
  vector<Int> modes;

  PetscFunctionBegin;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  kron.failed = false;
  kron.checked.reset();
  PetscCall(choose_modes(pc, &modes));
  PetscCall(check_reference(pc));
  kron.active = modes;
  for (auto &entry : kron.modes) {
    if (!std::binary_search(modes.begin(), modes.end(), entry.first)) PetscCall(kron_reset_mode(entry.second));
  }
  PetscCall(MatDestroy(&kron.inverse));
  if (kron.exponentials > 0) {
    for (auto &entry : kron.modes) {
      PetscCheck(!entry.second.user, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_INCOMP,
                 "ttkron has a matrix for mode %" PetscInt_FMT " and is to be a sum of exponentials: the two exclude each other", entry.first);
      PetscCall(kron_reset_mode(entry.second));
    }
    PetscCall(require_mattt(pc->pmat, "The preconditioning matrix, of which ttkron is to take exponentials,"));
    PetscCheck(kron_space(pc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE, "The modes of the preconditioning matrix of ttkron are not set");
    PetscCall(matrix_states(pc, &kron.states));
    PetscCall(kron_setup_exponentials(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  kron.distance = -1;
  if (kron.nearest) PetscCall(get_nearest(pc));
  for (Int k : kron.active) PetscCall(get_matrix(pc, k));
  PetscCall(matrix_states(pc, &kron.states));
  if (kron_space(pc)) PetscCall(kron_check_matrices(pc, kron_space(pc)));
  PetscCall(set_factor(pc));
  PetscCall(stretch(pc));
  for (Int k : kron.active) {
    KronMode &mode = kron.modes[k];
    PetscCall(VecDestroy(&mode.b));
    PetscCall(VecDestroy(&mode.x));
    PetscCall(setup_solver(pc, k));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
