// What the factorisations of dense and of sparse matrices by conflux have in common.
#include "mat/solver/conflux/conflux.hpp"

#include "iobound/program.hpp"

#include <cinttypes>
#include <cstdio>

namespace petsctt::conflux {

PetscErrorCode free_memory(MPI_Comm comm, double *words)
{
  MPI_Comm    node;
  PetscMPIInt size;
  double      mine = 0, all;

  PetscFunctionBegin;
  if (std::FILE *f = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    while (std::fgets(line, sizeof(line), f)) {
      long long kilobytes;
      if (std::sscanf(line, "MemAvailable: %lld kB", &kilobytes) == 1) mine = 0.9 * 1024. * (double)kilobytes;
    }
    std::fclose(f);
  }
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &size));
  PetscCallMPI(MPI_Comm_free(&node));
  mine /= (double)size * (double)sizeof(PetscScalar);
  if (mine <= 0) mine = PETSC_MAX_REAL;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, comm));
  *words = all >= PETSC_MAX_REAL ? 0 : all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_options(Mat F, Settings &s)
{
  PetscInt  grid[3] = {s.wishes.px, s.wishes.py, s.wishes.layers}, n = 3, tile = (PetscInt)s.wishes.tile;
  PetscReal memory = (PetscReal)(s.wishes.memory * (double)sizeof(PetscScalar) / 1048576.);
  PetscBool set;

  PetscFunctionBegin;
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(PetscOptionsIntArray("-mat_conflux_grid", "process rows, process columns, layers; 0 leaves one to the plan", "MatConfluxSetGrid", grid, &n, &set));
  if (set) {
    PetscCheck(n == 3, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_SIZ, "-mat_conflux_grid needs 3 numbers, process rows, process columns and layers, got %" PetscInt_FMT, n);
    PetscCall(MatConfluxSetGrid(F, grid[0], grid[1], grid[2]));
  }
  PetscCall(PetscOptionsInt("-mat_conflux_tile", "columns of a tile", "MatConfluxSetTile", tile, &tile, &set));
  if (set) PetscCall(MatConfluxSetTile(F, tile));
  PetscCall(PetscOptionsReal("-mat_conflux_memory", "megabytes a process may use; default: what is free", "MatConfluxSetMemory", memory, &memory, &set));
  if (set) PetscCall(MatConfluxSetMemory(F, memory));
  PetscCall(PetscOptionsInt("-mat_conflux_refine", "steps of iterative refinement in each solve", "MatConfluxSetRefinement", s.refine, &s.refine, &set));
  if (set) PetscCall(MatConfluxSetRefinement(F, s.refine));
  PetscCall(PetscOptionsViewer("-mat_conflux_view", "print what a factorisation did", "MatConfluxGetInfo", NULL, NULL, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode report_failure(Mat F, PetscInt zero_column, bool finite, const char what[])
{
  PetscFunctionBegin;
  F->factorerrortype             = MAT_FACTOR_NOERROR;
  F->factorerror_zeropivot_row   = 0;
  F->factorerror_zeropivot_value = 0;
  if (!finite) {
    PetscCheck(!F->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_FP, "Numbers that are not finite in the %s", what);
    PetscCall(PetscInfo(F, "Numbers that are not finite in the %s\n", what));
    F->factorerrortype = MAT_FACTOR_OTHER;
  } else if (zero_column >= 0) {
    PetscCheck(!F->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_MAT_LU_ZRPVT, "Zero pivot in column %" PetscInt_FMT " of the %s", zero_column, what);
    PetscCall(PetscInfo(F, "Zero pivot in column %" PetscInt_FMT " of the %s\n", zero_column, what));
    F->factorerrortype           = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_row = zero_column;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::factor(MPI_Comm comm, MatFactorType type, const PetscInt *rows, const PetscInt *columns, const Scalar *a, Count lda, const Settings &s, Mat F)
{
  PetscMPIInt size;
  lu::Wishes  wishes = s.wishes;
  lu::Grid    grid;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const std::vector<Count> r(rows, rows + size + 1), c(columns, columns + size + 1);
  if (!s.memory_set && !wishes.px && !wishes.py && !wishes.layers) PetscCall(free_memory(comm, &wishes.memory));
  PetscCallTT(grid = lu::plan_lu(r.back(), size, wishes));
  // the memory that is free differs from one time to the next: a grid that has been chosen stays
  const bool same = lu_ && comm == comm_ && type == type_ && r == rows_ && c == columns_ && (s.wishes.px || s.wishes.py || s.wishes.layers || s.wishes.tile ? grid.px == grid_.px && grid.py == grid_.py && grid.layers == grid_.layers && grid.tile == grid_.tile : true);
  if (!same) {
    lu_.reset();
    PetscCallTT(lu_ = std::make_unique<lu::LU>(comm, r, grid, c));
    comm_    = comm;
    type_    = type;
    rows_    = r;
    columns_ = c;
    grid_    = grid;
  }
  solves_ = 0;
  {
    LogScope log(events().conflux_layout, (PetscObject)F);
    PetscCallTT(lu_->load(a, lda));
  }
  {
    LogScope log(events().conflux_factor, (PetscObject)F);
    PetscCallTT(lu_->factorize());
  }
  const lu::Outcome &o = lu_->outcome();
  PetscCall(report_failure(F, (PetscInt)o.zero_pivot, o.finite, "matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::solve(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  PetscFunctionBegin;
  PetscCheck(lu_, PETSC_COMM_SELF, PETSC_ERR_ORDER, "There are no factors yet");
  LogScope log(events().conflux_solve);
  PetscCallTT(lu_->solve(op, nrhs, b, ldb, x, ldx));
  solves_ += nrhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::info(MatConfluxInfo *info) const
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  if (!lu_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  const lu::LU::Traffic &t = lu_->traffic();
  double                 sum[4] = {(double)t.factor.words, (double)t.factor.messages, (double)t.layout.words, (double)t.solve.words};
  double                 max[3] = {(double)std::max(t.factor.words, t.factor.received), (double)t.factor.messages, lu_->memory_words()};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, comm_));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, max, 3, MPI_DOUBLE, MPI_MAX, comm_));
  info->grid[0]      = grid_.px;
  info->grid[1]      = grid_.py;
  info->grid[2]      = grid_.layers;
  info->tile         = (PetscInt)grid_.tile;
  info->n            = (PetscInt)grid_.n;
  info->words        = (PetscReal)(sum[0] / size);
  info->messages     = (PetscReal)(sum[1] / size);
  info->words_layout = (PetscReal)(sum[2] / size);
  info->words_solve  = (PetscReal)(sum[3] / size);
  info->words_max    = (PetscReal)max[0];
  info->messages_max = (PetscReal)max[1];
  info->memory       = (PetscReal)max[2];
  info->solves       = (PetscInt)solves_;
  info->words_model  = (PetscReal)lu::predict_lu(grid_).words;
  const double N = (double)grid_.n, P = (double)grid_.active(), M = std::max(4., N * N * grid_.layers / P);
  if (P > 1) info->words_bound = (PetscReal)(iobound::lower_bound(iobound::lu(N), M).Q / P);
  const lu::Outcome &o = lu_->outcome();
  info->growth         = o.max_a > 0 ? o.max_u / o.max_a : 0;
  info->largest_l      = o.max_l;
  info->smallest_pivot = o.min_pivot;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print(const MatConfluxInfo &i, MatFactorType type, PetscViewer viewer)
{
  const PetscReal megabytes = (PetscReal)sizeof(PetscScalar) / 1048576;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "%s of order %" PetscInt_FMT " on %" PetscInt_FMT " x %" PetscInt_FMT " processes in %" PetscInt_FMT " layers, tiles of %" PetscInt_FMT "\n", type == MAT_FACTOR_CHOLESKY ? "Cholesky" : "LU", i.n,
                                   i.grid[0], i.grid[1], i.grid[2], i.tile));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory %.4g MB on the process with the most\n", (double)(i.memory * megabytes)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "words per process: mean %.4g, max %.4g (model %.4g, lower bound %.4g); to bring the matrix in %.4g\n", (double)i.words, (double)i.words_max, (double)i.words_model, (double)i.words_bound,
                                   (double)i.words_layout));
  PetscCall(PetscViewerASCIIPrintf(viewer, "messages per process: mean %.4g, max %.4g\n", (double)i.messages, (double)i.messages_max));
  PetscCall(PetscViewerASCIIPrintf(viewer, "solves: %" PetscInt_FMT " right-hand sides, %.4g words per process\n", i.solves, (double)i.words_solve));
  PetscCall(PetscViewerASCIIPrintf(viewer, "growth %.3g, largest entry of L %.3g, smallest pivot %.3g\n", (double)i.growth, (double)i.largest_l, (double)i.smallest_pivot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode solver_type(Mat, MatSolverType *type)
{
  PetscFunctionBegin;
  *type = MATSOLVERCONFLUX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_grid(Mat F, PetscInt px, PetscInt py, PetscInt layers)
{
  lu::Wishes &w = common(F)->settings.wishes;

  PetscFunctionBegin;
  PetscCheck(px >= 0 && py >= 0 && layers >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "A grid of %" PetscInt_FMT " x %" PetscInt_FMT " processes in %" PetscInt_FMT " layers", px, py, layers);
  PetscCall(PetscMPIIntCast(px, &w.px));
  PetscCall(PetscMPIIntCast(py, &w.py));
  PetscCall(PetscMPIIntCast(layers, &w.layers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_tile(Mat F, PetscInt tile)
{
  PetscFunctionBegin;
  PetscCheck(tile >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "Tiles of %" PetscInt_FMT " columns", tile);
  common(F)->settings.wishes.tile = tile;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_memory(Mat F, PetscReal megabytes)
{
  Settings &s = common(F)->settings;

  PetscFunctionBegin;
  PetscCheck(megabytes >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "A limit of %g MB", (double)megabytes);
  s.wishes.memory = (double)megabytes * 1048576. / (double)sizeof(PetscScalar);
  s.memory_set    = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode set_refinement(Mat F, PetscInt steps)
{
  PetscFunctionBegin;
  PetscCheck(steps >= 0, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " steps of refinement", steps);
  common(F)->settings.refine = steps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode get_info(Mat F, MatConfluxInfo *info)
{
  PetscFunctionBegin;
  PetscCall(common(F)->dense.info(info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create_factor(Mat A, MatFactorType type, Common *data, Mat *F)
{
  Mat B;

  PetscFunctionBegin;
  std::unique_ptr<Common> owner(data);
  PetscCheck(A->rmap->N == A->cmap->N, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "A matrix of %" PetscInt_FMT " x %" PetscInt_FMT " has no factorisation by conflux: it must be square", A->rmap->N, A->cmap->N);
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), &B));
  PetscCall(MatSetSizes(B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(PetscStrallocpy(MATSOLVERCONFLUX, &((PetscObject)B)->type_name));
  PetscCall(MatSetUp(B));
  B->data            = owner.release();
  B->factortype      = type;
  B->assembled       = PETSC_TRUE;
  B->preallocated    = PETSC_TRUE;
  B->trivialsymbolic = PETSC_TRUE;
  B->ops->destroy    = destroy_factor;
  PetscCall(PetscFree(B->solvertype));
  PetscCall(PetscStrallocpy(MATSOLVERCONFLUX, &B->solvertype));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatFactorGetSolverType_C", solver_type));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConfluxSetGrid_C", set_grid));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConfluxSetTile_C", set_tile));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConfluxSetMemory_C", set_memory));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConfluxSetRefinement_C", set_refinement));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatConfluxGetInfo_C", get_info));
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy_factor(Mat F)
{
  PetscFunctionBegin;
  delete common(F);
  F->data = NULL;
  for (const char *name : {"MatFactorGetSolverType_C", "MatConfluxSetGrid_C", "MatConfluxSetTile_C", "MatConfluxSetMemory_C", "MatConfluxSetRefinement_C", "MatConfluxGetInfo_C"})
    PetscCall(PetscObjectComposeFunction((PetscObject)F, name, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt::conflux
