#include "dm/impls/tt/ttimpl.hpp"

namespace petsctt {

namespace {

// A DM that every process has of its own is shown by the first.
PetscErrorCode view_mode_dm(DM dm, DM mode, PetscViewer viewer)
{
  bool        self;
  PetscViewer sub;
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCall(on_one_process(dm, mode, &self));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (!self) PetscCall(DMView(mode, viewer));
  else {
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)dm), &rank));
    PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &sub));
    if (rank == 0) PetscCall(DMView(mode, sub));
    PetscCall(PetscViewerFlush(sub));
    PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &sub));
    PetscCall(PetscViewerFlush(viewer));
  }
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_mode(DM dm, PetscInt k, PetscViewer viewer)
{
  const DMMode   &mode  = impl(dm).modes[(std::size_t)k];
  const SpacePtr &space = impl(dm).space;
  bool            self  = false;

  PetscFunctionBegin;
  if (mode.dm) PetscCall(on_one_process(dm, mode.dm, &self));
  if (space) {
    const bool parallel = space->comm().size() > 1;
    PetscCall(PetscViewerASCIIPrintf(viewer, "mode %" PetscInt_FMT ": %" PetscInt_FMT " indices%s%s\n", k, space->N(k),
                                     !parallel ? "" : space->replicated(k) ? ", on every process" : ", distributed",
                                     !mode.dm ? "" : self ? ", those of a DM that every process has of its own" : ", those of the DM"));
  } else if (mode.dm) PetscCall(PetscViewerASCIIPrintf(viewer, "mode %" PetscInt_FMT ": a DM%s\n", k, self ? " that every process has of its own" : ""));
  else if (mode.N >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "mode %" PetscInt_FMT ": %" PetscInt_FMT " indices\n", k, mode.N));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "mode %" PetscInt_FMT ": neither a DM nor a size yet\n", k));
  if (mode.dm) PetscCall(view_mode_dm(dm, mode.dm, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace
} // namespace petsctt

using namespace petsctt;

// The modes, each with its DM; of many modes those in the middle are left out, as long as they are sizes.
PetscErrorCode DMView_TT(DM dm, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;
  const PetscInt    d = (PetscInt)impl(dm).modes.size(), most = 24;
  PetscInt          skipped = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  PetscCheck(ascii, PetscObjectComm((PetscObject)dm), PETSC_ERR_SUP,
             "A viewer of type %s cannot show a DMTT; view the DMs of its modes, see DMTTGetModeDM()", ((PetscObject)viewer)->type_name);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  if (impl(dm).space)
    PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " modes: %s%s, 10^%.4g entries\n", d, impl(dm).space->describe().c_str(),
                                     impl(dm).space->comm().size() > 1 ? " (r: replicated)" : "",
                                     (double)impl(dm).space->log10_full_size()));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " modes, not set up yet\n", d));
  for (PetscInt k = 0; k < d; ++k) {
    const bool middle = d > most && k >= most / 2 && k < d - most / 2 && !impl(dm).modes[(std::size_t)k].dm && format != PETSC_VIEWER_ASCII_INFO_DETAIL;
    if (middle) ++skipped;
    else PetscCall(view_mode(dm, k, viewer));
  }
  if (skipped) PetscCall(PetscViewerASCIIPrintf(viewer, "(%" PetscInt_FMT " modes in the middle: see ::ascii_info_detail)\n", skipped));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
