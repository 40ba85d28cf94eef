#include "dm/impls/tt/ttimpl.hpp"

#include <petsc/private/matimpl.h>

#include <cstring>

namespace petsctt {

PetscErrorCode copy_modes(DM from, DM to)
{
  PetscFunctionBegin;
  PetscCall(DMTTSetNumModes(to, (PetscInt)impl(from).modes.size()));
  PetscCallTT(impl(to).modes = impl(from).modes);
  for (DMMode &mode : impl(to).modes)
    if (mode.dm) PetscCall(PetscObjectReference((PetscObject)mode.dm));
  impl(to).space = impl(from).space;
  PetscFunctionReturn(PETSC_SUCCESS);
}

namespace {

PetscErrorCode DMSetUp_TT(DM dm)
{
  SpacePtr space;

  PetscFunctionBegin;
  PetscCheck(!impl(dm).modes.empty(), PetscObjectComm((PetscObject)dm), PETSC_ERR_ARG_WRONGSTATE, "The DM has no modes; call DMTTSetNumModes() or give -dm_tt_modes");
  PetscCall(make_dm_space(dm, &space));
  impl(dm).space = space;
  PetscCall(DMViewFromOptions(dm, nullptr, "-dm_view")); // as the DMs of PETSc do
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -dm_tt_modes acts on modes that are sizes, and makes them where there are none yet. The DMs of modes read their own options in DMSetUp().
PetscErrorCode DMSetFromOptions_TT(DM dm, OptionItems PetscOptionsObject)
{
  constexpr PetscInt    most = 4096;
  PetscInt              m    = most;
  PetscBool             set;
  std::vector<PetscInt> N;
  MPI_Comm              comm = PetscObjectComm((PetscObject)dm);

  PetscFunctionBegin;
  PetscCallTT(N.resize((std::size_t)most));
  PetscOptionsHeadBegin(PetscOptionsObject, "DMTT options");
  PetscCall(PetscOptionsIntArray("-dm_tt_modes", "Sizes of the modes; 0 leaves a mode as the program gave it", "DMTTSetModeSize", N.data(), &m, &set));
  PetscOptionsHeadEnd();
  if (!set || impl(dm).space) PetscFunctionReturn(PETSC_SUCCESS);
  const PetscInt d = (PetscInt)impl(dm).modes.size();
  PetscCheck(d == 0 || m == d, comm, PETSC_ERR_ARG_INCOMP, "-dm_tt_modes lists %" PetscInt_FMT " modes, the DM has %" PetscInt_FMT, m, d);
  if (d == 0) PetscCall(DMTTSetNumModes(dm, m));
  for (PetscInt k = 0; k < m; ++k) {
    const DMMode &mode = impl(dm).modes[(std::size_t)k];
    if (N[(std::size_t)k] == 0) continue;
    PetscCheck(!mode.dm, comm, PETSC_ERR_ARG_WRONG,
               "-dm_tt_modes: mode %" PetscInt_FMT " has a DM, so its size cannot be given; write 0 for it and use the options of its DM, -dm_tt_mode_%" PetscInt_FMT "_...", k, k);
    PetscCall(DMTTSetModeSize(dm, k, mode.n >= 0 ? PETSC_TT_AUTO : mode.n, N[(std::size_t)k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// PETSc has made the clone and copies what all DMs have after this; it takes over that this one is set up.
PetscErrorCode DMClone_TT(DM dm, DM *clone)
{
  PetscFunctionBegin;
  PetscCall(DMSetType(*clone, DMTT));
  PetscCall(DMSetVecType(*clone, dm->vectype));
  PetscCall(DMSetMatType(*clone, dm->mattype));
  if (!impl(dm).modes.empty()) PetscCall(copy_modes(dm, *clone));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Global and local vectors alike, see transfer.cxx.
PetscErrorCode DMCreateVector_TT(DM dm, Vec *v)
{
  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "Creation of a vector"));
  PetscCheck(!std::strcmp(dm->vectype, VECTT), PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "A DMTT makes vectors of type " VECTT ", not %s; if -dm_vec_type is meant for the DM of a mode, give that a prefix or write "
             "-dm_tt_mode_<k>_dm_vec_type. VecTTGetFull() has all entries of small vectors",
             dm->vectype);
  PetscCall(create_vec(impl(dm).space, nullptr, v));
  PetscCall(VecSetDM(*v, dm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Zero: KSP, SNES and TS hand it to the function of the user that adds the terms. It takes the options of its type only, not -mat_type, which
// would make something else of it.
// There is none; that a matrix of a DMTT claims to have one is how PCSetUp() comes to ask for PCBJACOBI when no type was set, which src/pc answers with PCTTKRON.
PetscErrorCode no_diagonal_block(Mat A, Mat *)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "MatGetDiagonalBlock() of a " MATTT ": there are no entries; MatTTGetAssembled() assembles small operators");
}

PetscErrorCode DMCreateMatrix_TT(DM dm, Mat *A)
{
  MatHandle             fresh;
  std::vector<PetscInt> n, N;

  PetscFunctionBegin;
  PetscCall(require_set_up(dm, "DMCreateMatrix()"));
  PetscCheck(!std::strcmp(dm->mattype, MATTT), PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "A DMTT makes matrices of type " MATTT ", not %s; if -dm_mat_type is meant for the DM of a mode, give that a prefix or write "
             "-dm_tt_mode_<k>_dm_mat_type. MatTTGetAssembled() assembles small operators",
             dm->mattype);
  const Space &space = *impl(dm).space;
  for (Int k = 0; k < space.d(); ++k) {
    n.push_back(space.replicated(k) ? PETSC_TT_REPLICATED : space.n(k));
    N.push_back(space.N(k));
  }
  PetscCall(MatCreateTT(PetscObjectComm((PetscObject)dm), space.d(), n.data(), N.data(), fresh.out()));
  PetscObjectOptionsBegin((PetscObject)fresh.get());
  PetscTryTypeMethod(fresh.get(), setfromoptions, PetscOptionsObject);
  PetscOptionsEnd();
  PetscCall(MatSetDM(fresh, dm));
  PetscCall(MatSetOperation(fresh, MATOP_GET_DIAGONAL_BLOCK, (void (*)(void))no_diagonal_block));
  *A = fresh.release();
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace
} // namespace petsctt

using namespace petsctt;

PetscErrorCode DMDestroy_TT(DM dm)
{
  PetscFunctionBegin;
  for (DMMode &mode : impl(dm).modes) PetscCall(DMDestroy(&mode.dm));
  delete static_cast<TensorDM *>(dm->data);
  dm->data = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  DMTT - DMTT = "tt" - A DM made of one DM, or a size, for each mode of a tensor. It makes vectors of type `VECTT` and operators of type `MATTT`, and
  lets solvers be given by callbacks: `KSPSetDM()`, `SNESSetDM()`, `TSSetDM()`

  Options Database Keys:
+ -dm_tt_modes <N0,N1,...> - sizes of the modes; 0 leaves a mode as the program gave it. Makes the modes of a DM that has none
- -dm_tt_mode_<k>_         - prefix of the options of the DM of mode k when the program has neither set up that DM nor given it a prefix: `DMSetUp()` then calls
                             `DMSetFromOptions()` for it, if it was called for this one. Example: -dm_tt_mode_0_da_refine 2

  Level: beginner

  Notes:
  Index i of a mode with a DM is entry i of the global vectors of that DM, in the numbering of PETSc, and each process stores the part of the mode
  that it owns of these vectors. A field over the mode, such as the solution at given parameters, is an ordinary global vector of the
  mode's DM: that DM writes it to a VTK file, interpolates it, has its coordinates and ghost points. The numbering of a `DMDA` or a `DMPLEX` depends on the number of
  processes, so a TT vector that `VecView()` writes to a binary file is to be read on as many as wrote it. The DM of a mode lives on the processes of this DM; or every
  process gives one of its own, all alike, and the mode is replicated.

  Local vectors are like global ones, because a tensor train has no ghost entries; the copies between them copy or add.

  `DMCreateMatrix()` gives an operator without terms. The function of `KSPSetComputeOperators()` (`SNESSetJacobian()`, ...) may be called again with the operator
  that it has filled before: it begins with `MatZeroEntries()`, calls `MatTTAddTerm()` with matrices such as `DMCreateMatrix()` of the modes' DMs makes them, and
  ends with `MatAssemblyBegin()` and `MatAssemblyEnd()`.

  The preconditioner of a solver that has a `DMTT` (`KSPSetDM()`, `SNESSetDM()`, `TSSetDM()`) is `PCTTKRON` unless the type of the `PC` was set or given by -pc_type. It is chosen in
  `KSPSetFromOptions()` or, as of PETSc 3.20 or without that call, when the solver is set up.

  `DMRefine()` and `DMCoarsen()` refine and coarsen the DMs of all modes whose types can do it; the other modes stay. `DMCreateInterpolation()` is refused, and with it `PCMG` and
  -snes_grid_sequence on all modes together. Multigrid works on one mode: -pc_ttkron_mode_<k>_pc_type mg.

.seealso: `DMTTCreate()`, `DMTTSetModeDM()`, `DMTTSetModeSize()`, `DMTTCreateModeVec()`, `DMTTGetModeField()`, `DMTTGetModeMean()`, `VECTT`, `MATTT`, `KSPSetDM()`
M*/
PetscErrorCode DMCreate_TT(DM dm)
{
  PetscFunctionBegin;
  PetscCallTT(dm->data = new TensorDM);
  dm->ops->setfromoptions      = DMSetFromOptions_TT;
  dm->ops->setup               = DMSetUp_TT;
  dm->ops->clone               = DMClone_TT;
  dm->ops->view                = DMView_TT;
  dm->ops->createglobalvector  = DMCreateVector_TT;
  dm->ops->createlocalvector   = DMCreateVector_TT;
  dm->ops->creatematrix        = DMCreateMatrix_TT;
  dm->ops->createinterpolation = DMCreateInterpolation_TT;
  dm->ops->refine              = DMRefine_TT;
  dm->ops->coarsen             = DMCoarsen_TT;
  dm->ops->globaltolocalbegin  = DMCopyBegin_TT;
  dm->ops->globaltolocalend    = DMCopyEnd_TT;
  dm->ops->localtoglobalbegin  = DMCopyBegin_TT;
  dm->ops->localtoglobalend    = DMCopyEnd_TT;
  dm->ops->localtolocalbegin   = DMCopyBegin_TT;
  dm->ops->localtolocalend     = DMCopyEnd_TT;
  dm->ops->destroy             = DMDestroy_TT;
  PetscCall(DMSetVecType(dm, VECTT));
  PetscCall(DMSetMatType(dm, MATTT));
  PetscFunctionReturn(PETSC_SUCCESS);
}
