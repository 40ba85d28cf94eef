// What the factorisations of dense and of sparse matrices by conflux have in common.
#include "mat/solver/conflux/conflux.hpp"

#include "base/memory.hpp"
#include "iobound/program.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <limits>

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

PetscErrorCode agree_on_memory(MPI_Comm comm, double words, const char what[])
{
  double found[2] = {can_take_memory(words * (double)sizeof(PetscScalar)) ? 0. : 1., words};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 2, MPI_DOUBLE, MPI_MAX, comm));
  PetscCheck(found[0] == 0, comm, PETSC_ERR_MEM, "Not all processes have the memory for %s, %g words at the most", what, found[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode check_layouts(Mat F, char op, PetscLayout b, PetscLayout x)
{
  const PetscLayout rows = op == 'N' ? F->rmap : F->cmap, columns = op == 'N' ? F->cmap : F->rmap;
  PetscBool         same_b, same_x;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCompare(b, rows, &same_b));
  PetscCall(PetscLayoutCompare(x, columns, &same_x));
  PetscCheck(same_b, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_SIZ, "The %" PetscInt_FMT " rows of the right-hand side are not distributed as those of the matrix: %" PetscInt_FMT " here, %" PetscInt_FMT " of the matrix",
             b->N, b->n, rows->n);
  PetscCheck(same_x, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_SIZ, "The %" PetscInt_FMT " rows of the solution are not distributed as the columns of the matrix: %" PetscInt_FMT " here, %" PetscInt_FMT " of the matrix",
             x->N, x->n, columns->n);
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

PetscErrorCode report_failure(Mat F, PetscInt pivot, bool finite, const char what[])
{
  const char *const bad = F->factortype == MAT_FACTOR_CHOLESKY ? "not positive" : "zero";

  PetscFunctionBegin;
  F->factorerrortype             = MAT_FACTOR_NOERROR;
  F->factorerror_zeropivot_row   = 0;
  F->factorerror_zeropivot_value = 0;
  if (!finite) {
    PetscCheck(!F->erroriffailure, PetscObjectComm((PetscObject)F), PETSC_ERR_FP, "Numbers that are not finite in the %s", what);
    PetscCall(PetscInfo(F, "Numbers that are not finite in the %s\n", what));
    F->factorerrortype = MAT_FACTOR_OTHER;
  } else if (pivot >= 0) {
    PetscCheck(!F->erroriffailure, PetscObjectComm((PetscObject)F), F->factortype == MAT_FACTOR_CHOLESKY ? PETSC_ERR_MAT_CH_ZRPVT : PETSC_ERR_MAT_LU_ZRPVT, "Pivot %" PetscInt_FMT " of the %s is %s", pivot, what, bad);
    PetscCall(PetscInfo(F, "Pivot %" PetscInt_FMT " of the %s is %s\n", pivot, what, bad));
    F->factorerrortype           = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    F->factorerror_zeropivot_row = pivot;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::factor(MPI_Comm comm, MatFactorType type, const PetscInt *rows, const PetscInt *columns, const Scalar *a, Count lda, const Settings &s, Mat F)
{
  PetscMPIInt size;
  lu::Wishes  wishes = s.wishes;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const std::vector<Count> r(rows, rows + size + 1), c(columns, columns + size + 1);
  // the memory that is free differs from one time to the next: what has been planned stays until something else is asked for
  const auto same = [](const lu::Wishes &x, const lu::Wishes &y) { return x.px == y.px && x.py == y.py && x.layers == y.layers && x.tile == y.tile && x.memory == y.memory; };
  if (!(lu_ || cholesky_) || comm != comm_ || type != type_ || r != rows_ || c != columns_ || !same(s.wishes, wishes_)) {
    lu_.reset();
    cholesky_.reset();
    if (size > 1) PetscCall(agree_on_memory(comm, lu::Factorization::scratch, "the lists of a factorisation"));
    if (!s.memory_set && !wishes.px && !wishes.py && !wishes.layers) PetscCall(free_memory(comm, &wishes.memory));
    if (type == MAT_FACTOR_CHOLESKY) {
      PetscCheck(r == c, comm, PETSC_ERR_SUP, "Cholesky factors by conflux need the same split of rows and columns");
      PetscCallTT(cholesky_ = std::make_unique<lu::Cholesky>(comm, r, lu::plan_cholesky(r.back(), size, wishes)));
    } else {
      PetscCallTT(lu_ = std::make_unique<lu::LU>(comm, r, lu::plan_lu(r.back(), size, wishes), c));
      const lu::Grid &g = lu_->grid();
      if (wishes.memory > 0) PetscCallTT(lu_->limit_memory(std::max(1., wishes.memory - (double)g.local_rows(0) * (double)g.local_cols(0))));
    }
    comm_    = comm;
    type_    = type;
    rows_    = r;
    columns_ = c;
    wishes_  = s.wishes;
  }
  solves_ = 0;
  agreed_ = 0;
  {
    LogScope log(events().conflux_layout, (PetscObject)F);
    PetscCallTT(either()->load(a, lda));
  }
  {
    LogScope log(events().conflux_factor, (PetscObject)F);
    PetscCallTT(either()->factorize());
  }
  if (lu_) PetscCall(report_failure(F, (PetscInt)lu_->outcome().zero_pivot, lu_->outcome().finite, "matrix"));
  else PetscCall(report_failure(F, (PetscInt)cholesky_->outcome().not_positive, cholesky_->outcome().finite, "matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::solve(char op, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  PetscFunctionBegin;
  PetscCheck(either(), PETSC_COMM_SELF, PETSC_ERR_ORDER, "There are no factors yet");
  LogScope log(events().conflux_solve);
  if (rows_.size() > 2) { // decided on together: large blocks of right-hand sides, and the first time small ones as well
    const double words = either()->solve_words(nrhs);
    if (words > agreed_ || words > 1e6) PetscCall(agree_on_memory(comm_, words, "right-hand sides"));
    agreed_ = std::max(agreed_, words);
  }
  if (lu_) PetscCallTT(lu_->solve(op, nrhs, b, ldb, x, ldx));
  else if (!is_complex || op != 'T') PetscCallTT(cholesky_->solve(nrhs, b, ldb, x, ldx));
  else { // the transpose of a Hermitian matrix is its conjugate
    PetscMPIInt rank;
    PetscCallMPI(MPI_Comm_rank(comm_, &rank));
    const Count m = rows_[(std::size_t)rank + 1] - rows_[(std::size_t)rank];
    for (Count j = 0; j < nrhs; ++j)
      for (Count i = 0; i < m; ++i) x[i + j * ldx] = conj(b[i + j * ldb]);
    PetscCallTT(cholesky_->solve(nrhs, x, ldx, x, ldx));
    for (Count j = 0; j < nrhs; ++j)
      for (Count i = 0; i < m; ++i) x[i + j * ldx] = conj(x[i + j * ldx]);
  }
  solves_ += nrhs;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Dense::info(MatConfluxInfo *info) const
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  if (!either()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm_, &size));
  const lu::Factorization::Traffic &traffic = either()->traffic();
  const lu::Ledger                 &t       = traffic.factor;
  double sum[5] = {(double)t.words, (double)t.messages, (double)traffic.layout.words, (double)(traffic.solve.words + traffic.prepare.words), (double)(traffic.solve.messages + traffic.prepare.messages)};
  double max[3] = {(double)std::max(t.words, t.received), (double)t.messages, either()->memory_words()};
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, sum, 5, MPI_DOUBLE, MPI_SUM, comm_));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, max, 3, MPI_DOUBLE, MPI_MAX, comm_));
  info->words        = (PetscReal)(sum[0] / size);
  info->messages     = (PetscReal)(sum[1] / size);
  info->words_layout = (PetscReal)(sum[2] / size);
  info->words_solve  = (PetscReal)(sum[3] / size);
  info->messages_solve = (PetscReal)(sum[4] / size);
  info->words_max    = (PetscReal)max[0];
  info->messages_max = (PetscReal)max[1];
  info->memory       = (PetscReal)max[2];
  info->solves       = (PetscInt)solves_;
  double N, P;
  if (lu_) {
    const lu::Grid    &g = lu_->grid();
    const lu::Outcome &o = lu_->outcome();
    info->grid[0]        = g.px;
    info->grid[1]        = g.py;
    info->grid[2]        = g.layers;
    info->tile           = (PetscInt)g.tile;
    N                    = (double)g.n;
    P                    = (double)g.active();
    info->words_model    = (PetscReal)(lu::predict_lu(g).words * P / size);
    info->words_solve_model    = (PetscReal)(traffic.words * P / size);
    info->messages_solve_model = (PetscReal)(traffic.messages * P / size);
    for (int s = 0; s < 2; ++s) {
      const Count          n = s ? 512 : 1;
      const lu::Prediction p = lu::predict_solve(g, n, lu_->schedule(n));
      info->words_solve_planned[s]    = (PetscReal)(p.words * P / size);
      info->messages_solve_planned[s] = (PetscReal)(p.messages * P / size);
    }
    info->growth         = o.max_a > 0 ? o.max_u / o.max_a : 0;
    info->largest_l      = o.max_l;
    info->smallest_pivot = o.min_pivot;
  } else {
    const lu::SymmetricGrid     &g = cholesky_->grid();
    const lu::Cholesky::Outcome &o = cholesky_->outcome();
    info->grid[0]                  = g.per_layer();
    info->grid[1]                  = 1;
    info->grid[2]                  = g.layers;
    info->tile                     = (PetscInt)g.tile;
    N                              = (double)g.n;
    P                              = (double)g.active();
    info->words_model              = (PetscReal)(lu::predict_cholesky(g).words * P / size);
    info->growth                   = o.max_a > 0 ? o.max_pivot * o.max_pivot / o.max_a : 0;
    info->largest_l                = o.max_pivot;
    info->smallest_pivot           = o.min_pivot;
  }
  info->n        = (PetscInt)N;
  const double M = std::max(4., N * N * (double)info->grid[2] / P);
  if (P > 1) info->words_bound = (PetscReal)(iobound::lower_bound(lu_ ? iobound::lu(N) : iobound::cholesky(N), M).Q / size);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print(const MatConfluxInfo &i, MatFactorType type, PetscViewer viewer)
{
  const PetscReal megabytes = (PetscReal)sizeof(PetscScalar) / 1048576;

  PetscFunctionBegin;
  if (type == MAT_FACTOR_CHOLESKY)
    PetscCall(PetscViewerASCIIPrintf(viewer, "Cholesky of order %" PetscInt_FMT " on %" PetscInt_FMT " processes in each of %" PetscInt_FMT " layers, tiles of %" PetscInt_FMT "\n", i.n, i.grid[0], i.grid[2], i.tile));
  else
    PetscCall(PetscViewerASCIIPrintf(viewer, "LU of order %" PetscInt_FMT " on %" PetscInt_FMT " x %" PetscInt_FMT " processes in each of %" PetscInt_FMT " layers, tiles of %" PetscInt_FMT "\n", i.n, i.grid[0], i.grid[1], i.grid[2], i.tile));
  PetscCall(PetscViewerASCIIPrintf(viewer, "memory %.4g MB on the process with the most\n", (double)(i.memory * megabytes)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "words per process: mean %.4g, max %.4g (model %.4g, lower bound %.4g); to bring the matrix in %.4g\n", (double)i.words, (double)i.words_max, (double)i.words_model, (double)i.words_bound,
                                   (double)i.words_layout));
  PetscCall(PetscViewerASCIIPrintf(viewer, "messages per process: mean %.4g, max %.4g\n", (double)i.messages, (double)i.messages_max));
  PetscCall(PetscViewerASCIIPrintf(viewer, "solves: %" PetscInt_FMT " right-hand sides, %.4g words and %.4g messages per process", i.solves, (double)i.words_solve, (double)i.messages_solve));
  if (type == MAT_FACTOR_LU) {
    PetscCall(PetscViewerASCIIPrintf(viewer, " (model %.4g and %.4g)\n", (double)i.words_solve_model, (double)i.messages_solve_model));
    PetscCall(PetscViewerASCIIPrintf(viewer, "planned for a solve with 1 right-hand side: %.4g words, %.4g messages; with 512: %.4g, %.4g", (double)i.words_solve_planned[0], (double)i.messages_solve_planned[0],
                                     (double)i.words_solve_planned[1], (double)i.messages_solve_planned[1]));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "\n"));
  PetscCall(PetscViewerASCIIPrintf(viewer, "growth %.3g, largest %s of L %.3g, smallest pivot %.3g\n", (double)i.growth, type == MAT_FACTOR_CHOLESKY ? "pivot" : "entry", (double)i.largest_l, (double)i.smallest_pivot));
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
  set_solves(B);
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
