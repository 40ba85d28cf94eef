// PCTTKRON: the PC type itself. Settings, options, view, reset, destruction; set-up is in setup.cxx, application in apply.cxx.
#include "pc/impls/ttkron/ttkron.hpp"

#include "sys/guard.hpp"

#include <algorithm>

namespace petsctt {

namespace {

using std::max;
using std::vector;

// Something that set-up depends on has changed.
void set_up_again(PC pc)
{
  pc->setupcalled = decltype(pc->setupcalled)(0);
}

PetscErrorCode set_modes(PC pc, PetscInt n, const PetscInt modes[])
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  PetscCheck(n >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Number of modes %" PetscInt_FMT " is negative", n);
  PetscCheck(n == 0 || modes, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_NULL, "No array of the %" PetscInt_FMT " modes", n);
  vector<Int> sorted(modes, modes + n);
  std::sort(sorted.begin(), sorted.end());
  for (PetscInt i = 0; i < n; i++) {
    PetscCheck(sorted[i] >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " is negative", sorted[i]);
    PetscCheck(i == 0 || sorted[i] != sorted[i - 1], PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONG, "Mode %" PetscInt_FMT " is given twice",
               sorted[i]);
  }
  kron.chosen = sorted;
  set_up_again(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_modes(PC pc, PetscInt *n, const PetscInt *modes[])
{
  const Kron        &kron = kron_of(pc);
  const vector<Int> &list = pc->setupcalled ? kron.active : kron.chosen;

  PetscFunctionBegin;
  if (n) *n = (PetscInt)list.size();
  if (modes) *modes = list.data();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_reference(PC pc, const PetscInt index[])
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  if (index) {
    PetscCheck(kron_space(pc), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
               "Set the operators, with a preconditioning matrix of type tt, before the reference point: the number of modes is not known yet");
    kron.reference.assign(index, index + kron_space(pc)->d());
  } else kron.reference.clear();
  set_up_again(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_nearest(PC pc, PetscBool nearest)
{
  PetscFunctionBegin;
  if (kron_of(pc).nearest != (bool)nearest) set_up_again(pc);
  kron_of(pc).nearest = nearest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_nearest(PC pc, PetscBool *nearest, PetscReal *error)
{
  PetscFunctionBegin;
  if (nearest) *nearest = kron_of(pc).nearest ? PETSC_TRUE : PETSC_FALSE;
  if (error) *error = kron_of(pc).nearest ? kron_of(pc).distance : -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_stretch(PC pc, PetscReal t)
{
  PetscFunctionBegin;
  PetscCheck(t > 0 && t < PETSC_INFINITY, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Stretch %g must be positive and finite", (double)t);
  if (kron_of(pc).stretch != t) set_up_again(pc);
  kron_of(pc).stretch = t;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_stretch(PC pc, PetscReal *t)
{
  PetscFunctionBegin;
  *t = kron_of(pc).stretch;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_exponentials(PC pc, PetscReal eps)
{
  PetscFunctionBegin;
  PetscCheck(eps == 0 || (eps >= 1e-12 && eps < 1), PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Error %g of the sum of exponentials must be in [1e-12, 1), or 0 for none", (double)eps);
  if (kron_of(pc).exponentials != eps) set_up_again(pc);
  kron_of(pc).exponentials = eps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_exponentials(PC pc, PetscReal *eps, PetscInt *terms)
{
  const Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  if (eps) *eps = kron.exponentials;
  if (terms) *terms = kron.inverse ? kron.terms : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_mode_mat(PC pc, PetscInt k, Mat M)
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  PetscCheck(k >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " is negative", k);
  if (M) {
    PetscInt m, n;
    PetscCall(MatGetSize(M, &m, &n));
    PetscCheck(m == n, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_SIZ, "Matrix of mode %" PetscInt_FMT " is not square: %" PetscInt_FMT " x %" PetscInt_FMT, k, m, n);
    PetscCall(PetscObjectReference((PetscObject)M));
  }
  KronMode &mode = kron.modes[k];
  PetscCall(MatDestroy(&mode.user));
  mode.user = M;
  if (mode.ksp) { // it may live on another communicator than it has to now
    MPI_Comm comm = MPI_COMM_NULL;
    int      same = MPI_UNEQUAL;
    PetscCall(kron_solver_comm(pc, k, &comm));
    if (comm != MPI_COMM_NULL) PetscCallMPI(MPI_Comm_compare(PetscObjectComm((PetscObject)mode.ksp), comm, &same));
    if (same != MPI_IDENT && same != MPI_CONGRUENT) PetscCall(kron_destroy_solver(mode));
  }
  set_up_again(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_mode_mat(PC pc, PetscInt k, Mat *M)
{
  Kron &kron = kron_of(pc);
  auto  it   = kron.modes.find(k);

  PetscFunctionBegin;
  *M = it == kron.modes.end() ? nullptr : (it->second.M ? it->second.M : it->second.user);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_mode_ksp(PC pc, PetscInt k, KSP *ksp)
{
  PetscFunctionBegin;
  PetscCheck(k >= 0, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE, "Mode %" PetscInt_FMT " is negative", k);
  PetscCall(kron_create_ksp(pc, k));
  *ksp = kron_of(pc).modes[k].ksp;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_block_size(PC pc, PetscInt block)
{
  PetscFunctionBegin;
  PetscCheck(block > 0 || block == PETSC_DECIDE, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "Number of columns %" PetscInt_FMT " must be positive, or PETSC_DECIDE", block);
  kron_of(pc).block = block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_block_size(PC pc, PetscInt *block)
{
  PetscFunctionBegin;
  *block = kron_of(pc).block;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(PC pc, OptionItems PetscOptionsObject)
{
  Kron     &kron = kron_of(pc);
  PetscBool set;
  PetscInt  block = kron.block, d = 4096;
  PetscBool nearest = kron.nearest ? PETSC_TRUE : PETSC_FALSE;
  PetscReal t = kron.stretch, eps = kron.exponentials;

  PetscFunctionBegin;
  if (kron_space(pc)) d = max<PetscInt>(d, kron_space(pc)->d());
  PetscOptionsHeadBegin(PetscOptionsObject, "Kronecker product of mode solvers");
  {
    vector<PetscInt> list(d);
    PetscInt         n = d;
    PetscCall(PetscOptionsIntArray("-pc_ttkron_modes", "Modes with a solver", "PCTTKronSetModes", list.data(), &n, &set));
    if (set) PetscCall(set_modes(pc, n, list.data()));
    n = d;
    PetscCall(PetscOptionsIntArray("-pc_ttkron_reference", "Point to project at, one index per mode, -1 = mean", "PCTTKronSetReference", list.data(), &n, &set));
    if (set) { // the number of modes is compared at set-up, when it is known
      kron.reference.assign(list.begin(), list.begin() + n);
      set_up_again(pc);
    }
  }
  PetscCall(PetscOptionsBool("-pc_ttkron_nearest", "Nearest Kronecker product in place of projections", "PCTTKronSetNearest", nearest, &nearest, &set));
  if (set) PetscCall(set_nearest(pc, nearest));
  PetscCall(PetscOptionsReal("-pc_ttkron_stretch", "Factor of what the matrices made from the operator deviate from their means", "PCTTKronSetStretch", t, &t, &set));
  if (set) PetscCall(set_stretch(pc, t));
  PetscCall(PetscOptionsReal("-pc_ttkron_exponentials", "Error of a sum of exponentials that takes the place of the product", "PCTTKronSetExponentials", eps, &eps, &set));
  if (set) PetscCall(set_exponentials(pc, eps));
  PetscCall(PetscOptionsInt("-pc_ttkron_block", "Columns solved at a time", "PCTTKronSetBlockSize", block, &block, &set));
  if (set) PetscCall(set_block_size(pc, block));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_reset(PC pc)
{
  Kron &kron = kron_of(pc);

  PetscFunctionBegin;
  for (auto &entry : kron.modes) PetscCall(kron_reset_mode(entry.second));
  PetscCall(MatDestroy(&kron.inverse));
  kron.distance = -1;
  kron.active.clear();
  kron.in = kron.out = Buffer();
  kron.checked.reset();
  kron.failed = false;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_destroy(PC pc)
{
  PetscFunctionBegin;
  PetscCall(kron_reset(pc));
  for (auto &entry : kron_of(pc).modes) {
    PetscCall(kron_destroy_solver(entry.second));
    PetscCall(MatDestroy(&entry.second.user));
  }
  delete &kron_of(pc);
  pc->data = nullptr;
  for (const char *name : {"PCTTKronSetModeMat_C", "PCTTKronGetModeMat_C", "PCTTKronGetModeKSP_C", "PCTTKronSetModes_C", "PCTTKronGetModes_C",
                           "PCTTKronSetReference_C", "PCTTKronSetNearest_C", "PCTTKronGetNearest_C", "PCTTKronSetStretch_C",
                           "PCTTKronGetStretch_C", "PCTTKronSetExponentials_C", "PCTTKronGetExponentials_C",
                           "PCTTKronSetBlockSize_C", "PCTTKronGetBlockSize_C"})
    PetscCall(PetscObjectComposeFunction((PetscObject)pc, name, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_apply_plain(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(kron_apply(pc, false, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_apply_transpose(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(kron_apply(pc, true, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// "0 3 4", cut after about 60 characters.
std::string list_of(const vector<Int> &values)
{
  std::string s;
  for (Int v : values) {
    if (s.size() > 60) return s + " ...";
    s += (s.empty() ? "" : " ") + std::to_string((long long)v);
  }
  return s;
}

} // namespace

PetscErrorCode kron_reset_mode(KronMode &mode)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy(&mode.M));
  PetscCall(VecDestroy(&mode.b));
  PetscCall(VecDestroy(&mode.x));
  if (mode.ksp) PetscCall(KSPReset(mode.ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_destroy_solver(KronMode &mode)
{
  PetscFunctionBegin;
  PetscCall(kron_reset_mode(mode));
  PetscCall(KSPDestroy(&mode.ksp));
  mode.dm      = nullptr;
  mode.options = false;
  mode.note.clear();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode kron_view(PC pc, PetscViewer viewer)
{
  Kron     &kron = kron_of(pc);
  PetscBool ascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  const vector<Int> &list = kron.active.empty() ? kron.chosen : kron.active;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  modes with a solver: %s; identity on the others\n", list.empty() ? "chosen at set-up" : list_of(list).c_str()));
  if (!kron.reference.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "  operator projected at indices %s (-1 = mean)\n", list_of(kron.reference).c_str()));
  if (kron.inverse) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  the inverse is a sum of %" PetscInt_FMT " Kronecker products of exponentials, relative error %.2g, rounded to %.2g\n",
                                     kron.terms, (double)kron.sum_error, (double)kron.rounding));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (kron.nearest && kron.distance >= 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  nearest Kronecker product, %.4g of the Frobenius norm of the operator away from it\n", (double)kron.distance));
  if (kron.stretch != 1) PetscCall(PetscViewerASCIIPrintf(viewer, "  deviations of its matrices from their means multiplied by %g\n", (double)kron.stretch));
  if (kron.normalized)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  product of several projections, its inverse scaled by a factor of modulus 10^%.4g\n", (double)kron.factor.log10_abs()));
  if (kron.block != PETSC_DECIDE) PetscCall(PetscViewerASCIIPrintf(viewer, "  at most %" PetscInt_FMT " columns at a time\n", kron.block));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  for (Int k : kron.active) {
    KronMode   &mode = kron.modes[k];
    MPI_Comm    comm = PetscObjectComm((PetscObject)mode.ksp);
    PetscMPIInt inner, outer;
    PetscCallMPI(MPI_Comm_size(comm, &inner));
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &outer));
    PetscCall(PetscViewerASCIIPrintf(viewer, "mode %" PetscInt_FMT ", matrix %s%s:\n", k, mode.user ? "given by the user" : kron.nearest ? "from the nearest Kronecker product" : "projected from the operator",
                                     inner < outer ? ", the same solver on every process" : ""));
    if (!mode.note.empty()) PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", mode.note.c_str()));
    if (inner == outer) PetscCall(KSPView(mode.ksp, viewer));
    else {
      PetscViewer sub;
      PetscMPIInt rank;
      PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)pc), &rank));
      PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &sub));
      if (rank == 0) PetscCall(KSPView(mode.ksp, sub));
      PetscCall(PetscViewerFlush(sub));
      PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &sub));
      PetscCall(PetscViewerFlush(viewer));
    }
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt

/*MC
  PCTTKRON - "ttkron": a Kronecker product of solvers, one per mode, for operators of type `MATTT` and vectors of type `VECTT`

  Options Database Keys:
+ -pc_ttkron_modes <k,...>           - modes with a solver; the preconditioner is the identity on the others
. -pc_ttkron_reference <i_0,i_1,...> - point at which the operator is projected, one index per mode, -1 = mean (default)
. -pc_ttkron_nearest                 - the Kronecker product nearest to the operator in place of projections
. -pc_ttkron_stretch <t>             - multiply by t what the matrices made from the operator deviate from their means
. -pc_ttkron_exponentials <eps>      - a sum of Kronecker products of exponentials of relative error eps in place of one product
. -pc_ttkron_block <n>               - largest number of columns solved at a time
- -pc_ttkron_mode_<k>_               - prefix of the `KSP` of mode k, such as -pc_ttkron_mode_0_pc_type gamg

  Level: beginner

  Notes:
  With the solvers on modes K, the preconditioner is the inverse of P = (x)_k M_k, M_k = I for k not in K. It is applied to the core of each
  mode of K alone, all r_{k-1} r_k columns of it as one block, so the TT ranks stay what they are and nothing is rounded.

  By default M_k is the projection of the preconditioning matrix on mode k: in every term c (x)_j F_j the factors of the other
  modes are replaced by their means, trace(F_j)/N_j, or by the diagonal entry at a reference point. For the parameter-dependent problem
  A_0 (x) I + sum_i A_i (x) D_i this is the mean-based preconditioner (A_0 + sum_i mean(D_i) A_i)^{-1} on mode 0. The
  modes with a solver are by default those on which the operator has a block that is not diagonal.

  With m > 1 projected modes every M_k carries the scale s of the whole operator, its projection on no mode at all, and P = s^{1-m} (x)_k M_k.
  An operator that is one Kronecker product is then inverted exactly, and a sum of one-mode terms s I + sum_k E_k, such as a
  Laplacian, is approximated by s (x)_k (I + E_k/s), which agrees with it to first order in E_k/s. When s is zero, as for a
  skew operator, the product is left as it is. Matrices of the user are taken as they stand and do not count in m.

  With -pc_ttkron_nearest the M_k are those of the Kronecker product nearest to the operator in the Frobenius norm (`MatTTGetNearestKronecker()`). The
  modes with a solver are then by default all those on which the operator has a block that is not the identity, diagonal ones included.

  A product that agrees to first order with a sum of one-mode terms, as both of these do, is far too large for the smallest eigenvalues: for a Laplacian in d
  dimensions it is s (1 - 1/d)^d where the sum is nearly zero. -pc_ttkron_stretch t puts m_k I + t (M_k - m_k I) in the place of M_k, m_k the mean of
  its diagonal, which makes that s (1 - t/d)^d; some t between 1 and 2 saves steps, for smooth right-hand sides larger ones do
  (`PCTTKronSetStretch()`).

  -pc_ttkron_exponentials eps makes the preconditioner a sum of Kronecker products, P^{-1} = sum_q w_q (x)_k exp(-a_q T_k), which is the inverse of sum_k T_k,
  T_k acting on mode k alone, up to the error eps (`PCTTKronSetExponentials()`). It takes far fewer steps than one product, but its applications are rounded
  and it has no solvers.

  The default solver of a mode is `KSPPREONLY` with `PCLU`, `PCCHOLESKY` for a real matrix known to be positive definite, `PCJACOBI`
  for a diagonal one. On several processes the factorisation is that of MUMPS, failing this any package that can factor the matrix;
  without one `PCREDUNDANT` solves on every process, and -ksp_view says so. A replicated mode is solved by every process alike.

  When the preconditioner has got a `DMTT` from its solver (`KSPSetDM()`, `SNESSetDM()`, `TSSetDM()`), the solver of mode k gets the DM of that mode, for the
  preconditioners that build on one: -pc_ttkron_mode_0_pc_type mg -pc_ttkron_mode_0_pc_mg_levels 3 -pc_ttkron_mode_0_pc_mg_galerkin both is geometric multigrid.

  The preconditioner is set up again when the operator has changed, and also when the values of one of the matrices that the operator is made of, or of
  one given by `PCTTKronSetModeMat()`, have changed.

  A solver that is not a direct one makes the preconditioner change between applications: use a flexible `KSP`. When the solver of a mode
  fails in set-up or application, the `KSP` ends with KSP_DIVERGED_PC_FAILED and -info names mode and reason; as everywhere in PETSc, an
  inner solver that stops at its -ksp_max_it has not failed.

.seealso: `PCTTKronSetModes()`, `PCTTKronSetModeMat()`, `PCTTKronGetModeKSP()`, `PCTTKronSetReference()`, `PCTTKronSetNearest()`,
          `PCTTKronSetStretch()`, `PCTTKronSetExponentials()`, `PCTTKronSetBlockSize()`, `MATTT`, `VECTT`, `KSPTTGMRES`
M*/
PETSCTT_EXTERN PetscErrorCode PCCreate_TTKron(PC pc)
{
  using namespace petsctt;

  PetscFunctionBegin;
  PetscCallTT(pc->data = new Kron);
  pc->ops->setup          = kron_setup;
  pc->ops->setuponblocks  = kron_refresh; // KSPSolve() calls it before every solve
  pc->ops->apply          = kron_apply_plain;
  pc->ops->applytranspose = kron_apply_transpose;
  pc->ops->setfromoptions = set_from_options;
  pc->ops->view           = kron_view;
  pc->ops->reset          = kron_reset;
  pc->ops->destroy        = kron_destroy;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetModeMat_C", set_mode_mat));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetModeMat_C", get_mode_mat));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetModeKSP_C", get_mode_ksp));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetModes_C", set_modes));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetModes_C", get_modes));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetReference_C", set_reference));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetNearest_C", set_nearest));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetNearest_C", get_nearest));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetStretch_C", set_stretch));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetStretch_C", get_stretch));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetExponentials_C", set_exponentials));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetExponentials_C", get_exponentials));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronSetBlockSize_C", set_block_size));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCTTKronGetBlockSize_C", get_block_size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
