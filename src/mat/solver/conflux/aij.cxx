// MatSolverType "conflux" for MATAIJ: interiors by a sequential package of PETSc, the interface by the distributed dense LU.
#include "aij.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt {

namespace {

using std::size_t;
using std::vector;

const char *const repartitions[] = {"auto", "always", "never", "ConfluxRepartition", "", nullptr};

SparseLU &lu_of(Mat F) { return *static_cast<SparseLU *>(conflux::common(F)); }

PetscErrorCode read_sparse_options(Mat F)
{
  SparseLU   &f = lu_of(F);
  char        package[64] = "";
  PetscEnum   mode = (PetscEnum)f.repartition;
  const char *prefix;

  PetscFunctionBegin;
  PetscCall(conflux::read_options(F, f.settings));
  PetscObjectOptionsBegin((PetscObject)F);
  PetscCall(PetscOptionsEnum("-mat_conflux_repartition", "move unknowns to other processes for the factorisation", "MATSOLVERCONFLUX", repartitions, mode, &mode, NULL));
  PetscCall(PetscOptionsString("-mat_conflux_interior_mat_solver_type", "sequential package for the interiors", "MATSOLVERCONFLUX", package, package, sizeof(package), NULL));
  PetscOptionsEnd();
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)F, &prefix));
  f.repartition   = (int)mode;
  f.block.prefix  = std::string(prefix ? prefix : "") + "mat_conflux_interior_";
  f.block.package = package;
  PetscCheck(f.block.package != MATSOLVERCONFLUX, PetscObjectComm((PetscObject)F), PETSC_ERR_ARG_WRONG, "The interiors need a sequential package, not " MATSOLVERCONFLUX);
  MatHandle probe;
  PetscBool there;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 1, 1, 1, NULL, probe.out()));
  if (f.block.package.empty()) {
    for (const char *candidate : {MATSOLVERMUMPS, MATSOLVERUMFPACK, MATSOLVERPETSC}) {
      PetscCall(MatGetFactorAvailable(probe, candidate, MAT_FACTOR_LU, &there));
      if (there && f.block.package.empty()) f.block.package = candidate;
    }
  } else { // its failures would be taken for singular interiors
    PetscCall(MatGetFactorAvailable(probe, package, MAT_FACTOR_LU, &there));
    PetscCheck(there, PetscObjectComm((PetscObject)F), PETSC_ERR_MISSING_FACTOR, "-mat_conflux_interior_mat_solver_type %s: PETSc has no LU factorisation of that name for sequential sparse matrices",
               package);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What follows from f.in: lists, scatters, and index sets.
PetscErrorCode layout(SparseLU &f, Mat A)
{
  MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt  rank, size;
  PetscLayout  map;
  LayoutHandle rows;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(split(comm, f.graph, f.in, &f.split));
  f.g_begin = f.split.starts[(size_t)rank];
  f.g_end   = f.split.starts[(size_t)rank + 1];
  Count largest = std::max<Count>(1, f.n_i());
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_INT64_T, MPI_MAX, comm));
  f.columns = std::min<Count>(128, std::max<Count>(8, ((Count)1 << 24) / largest));
  f.largest = largest;
  if (f.sub) PetscCall(MatDestroySubMatrices(4, &f.sub));
  PetscCall(MatDestroy(&f.interior));
  // from A's rows
  vector<PetscInt> leaves = f.split.interior;
  leaves.insert(leaves.end(), f.split.interface.begin() + f.g_begin, f.split.interface.begin() + f.g_end);
  PetscCall(MatGetLayouts(A, &map, NULL));
  f.rows = SFHandle();
  PetscCall(PetscSFCreate(comm, f.rows.out()));
  PetscCall(PetscSFSetGraphLayout(f.rows, map, (PetscInt)leaves.size(), NULL, PETSC_COPY_VALUES, leaves.data()));
  // from interface rows
  PetscCall(PetscLayoutCreateFromSizes(comm, (PetscInt)f.n_r(), (PetscInt)f.n_g(), 1, rows.out()));
  f.touch = SFHandle();
  PetscCall(PetscSFCreate(comm, f.touch.out()));
  PetscCall(PetscSFSetGraphLayout(f.touch, rows, (PetscInt)f.n_t(), NULL, PETSC_COPY_VALUES, f.split.touched.data()));
  vector<vector<PetscInt>> out((size_t)size);
  for (int p = 0; p < size; ++p) {
    const auto at = std::lower_bound(f.split.touched.begin(), f.split.touched.end(), f.split.starts[(size_t)p]);
    if (p != rank && at != f.split.touched.end() && *at < f.split.starts[(size_t)p + 1]) out[(size_t)p] = f.split.touched;
  }
  PetscCall(exchange(comm, out, f.incoming));
  // parts of A
  vector<PetscInt> touched;
  for (PetscInt t : f.split.touched) touched.push_back(f.split.interface[(size_t)t]);
  const vector<PetscInt> here(f.split.interface.begin() + f.g_begin, f.split.interface.begin() + f.g_end);
  const vector<PetscInt> *const sets[8] = {&f.split.interior, &f.split.interior, &f.split.interior, &touched, &touched, &f.split.interior, &here, &f.split.interface};
  for (int s = 0; s < 8; ++s) {
    f.parts[s] = ISHandle();
    PetscCall(ISCreateGeneral(PETSC_COMM_SELF, (PetscInt)sets[s]->size(), sets[s]->data(), PETSC_COPY_VALUES, f.parts[s].out()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode analyse(Mat F, Mat A)
{
  SparseLU   &f    = lu_of(F);
  MPI_Comm    comm = PetscObjectComm((PetscObject)F);
  PetscMPIInt size;
  const char *prefix;
  Split       split_given;
  double      work = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscObjectGetOptionsPrefix((PetscObject)F, &prefix));
  PetscCall(graph_of(A, &f.graph));
  PetscCall(separator(comm, f.graph, &f.in));
  PetscCall(split(comm, f.graph, f.in, &split_given));
  PetscCall(modelled_work(comm, split_given, &work));
  f.given_interface = (Count)split_given.interface.size();
  f.moved           = 0;
  f.partition       = "that of the matrix";
  constexpr double worthwhile = 1e7; // flops; partitioning a small matrix takes longer than it can save
  if (size > 1 && (f.repartition == 1 || (f.repartition == 0 && work > worthwhile))) {
    Graph        other;
    vector<char> in;
    Split        split_other;
    char         name[64];
    double       work_other;
    bool         done;
    PetscCall(repartition(A, f.graph, prefix, &other, name, sizeof(name), &done));
    if (!done) {
      f.partition = f.partition + " (" + name + " cannot be used here)";
    } else {
      PetscCall(separator(comm, other, &in));
      PetscCall(split(comm, other, in, &split_other));
      PetscCall(modelled_work(comm, split_other, &work_other));
      PetscCall(PetscInfo(F, "Interface of %lld unknowns and %g flops with the layout of the matrix, %lld and %g with partitioning %s\n", (long long)f.given_interface, work,
                          (long long)split_other.interface.size(), work_other, name));
      if (f.repartition == 1 || work_other < 0.8 * work) {
        f.graph     = std::move(other);
        f.in        = std::move(in);
        f.partition = name;
      }
    }
  }
  PetscCall(layout(f, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode symbolic(Mat F, Mat A, IS, IS, const MatFactorInfo *)
{
  PetscBool congruent;
  PetscInt  m, n;

  PetscFunctionBegin;
  PetscCall(conflux::check_layouts(F, 'N', A->rmap, A->cmap));
  PetscCall(MatGetSize(A, &m, &n));
  PetscCheck(m == n, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ, "Matrix is not square: %" PetscInt_FMT " x %" PetscInt_FMT, m, n);
  PetscCall(MatHasCongruentLayouts(A, &congruent));
  PetscCheck(congruent, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "The rows and the columns of the matrix are not distributed alike");
  PetscCall(read_sparse_options(F));
  lu_of(F).ready = false;
  PetscCallTT(PetscThrowTT(analyse(F, A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
PetscErrorCode symbolic_cholesky(Mat F, Mat A, IS, const MatFactorInfo *info)
{
  PetscFunctionBegin;
  PetscCall(symbolic(F, A, NULL, NULL, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Every entry of A is in one of the parts, or the split was made for another pattern.
PetscErrorCode extract_all(Mat F, Mat A)
{
  SparseLU &f    = lu_of(F);
  MPI_Comm  comm = PetscObjectComm((PetscObject)F);
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  for (int attempt = 0; attempt < 2; ++attempt) {
    PetscCall(extract(f, A));
    double counts[2] = {info.nz_used, 0};
    for (const Csr *part : {&f.ii, &f.ig, &f.gi, &f.gg}) counts[1] += part->rows ? (double)part->first[part->rows] : 0;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_DOUBLE, MPI_SUM, comm));
    if (counts[0] == counts[1]) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCheck(!attempt, comm, PETSC_ERR_PLIB, "Matrix has %g entries, its parts have %g", counts[0], counts[1]);
    PetscCall(PetscInfo(F, "Matrix has another pattern than that of the symbolic factorisation, which is repeated\n"));
    PetscCall(analyse(F, A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The part of the factorisation that a process does alone: `weak` are unknowns without which its interior may do better.
PetscErrorCode try_interior(SparseLU &f, Count k, Buffer &c, vector<PetscInt> *weak, bool *out_of_memory)
{
  constexpr Real singular = 100 * PETSC_MACHINE_EPSILON, growth = 1e6;
  BlockOutcome   outcome;
  Real           top = 0;

  PetscFunctionBegin;
  if (!f.n_i()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(factor_block(f.sub[0], f.block, &f.interior, &outcome));
  *out_of_memory = outcome.out_of_memory;
  if (*out_of_memory) PetscFunctionReturn(PETSC_SUCCESS);
  bool good = outcome.factored && outcome.rcond > singular;
  if (good) {
    PetscCallTT(PetscThrowTT(contribution(f, c, &top)));
    good = top <= growth; // entries of A are at most 1
  }
  if (!good) PetscCall(weak_unknowns(f.sub[0], f.block, k, weak));
  PetscCall(PetscInfo(NULL, "Interior of %lld unknowns: %s, reciprocal condition %g, largest entry of the Schur complement %g, %zu unknowns to move\n", (long long)f.n_i(),
                      outcome.factored ? "factored" : "not factored", (double)outcome.rcond, (double)top, weak->size()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Nothing is thrown: the processes have to agree on what has become of it.
PetscErrorCode factor_interior(SparseLU &f, Count k, Buffer &c, vector<PetscInt> *weak, bool *out_of_memory)
{
  PetscFunctionBegin;
  PetscCallTT(PetscThrowTT(try_interior(f, k, c, weak, out_of_memory)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode fail_factor(Mat F, Mat A, MatFactorError error, PetscInt row, PetscReal value, const char *what)
{
  PetscFunctionBegin;
  PetscCheck(!A->erroriffailure, PetscObjectComm((PetscObject)F), error == MAT_FACTOR_OUTMEMORY ? PETSC_ERR_MEM : PETSC_ERR_MAT_LU_ZRPVT, "%s (row %" PetscInt_FMT ", value %g)", what, row,
             (double)value);
  PetscCall(PetscInfo(F, "%s (row %" PetscInt_FMT ", value %g)\n", what, row, (double)value));
  F->factorerrortype             = error;
  F->factorerror_zeropivot_row   = row;
  F->factorerror_zeropivot_value = value;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor_interface(Mat F, const Buffer &c)
{
  SparseLU              &f    = lu_of(F);
  MPI_Comm               comm = PetscObjectComm((PetscObject)F);
  const vector<PetscInt> rows(f.split.starts.begin(), f.split.starts.end());
  Buffer                 s;

  PetscFunctionBegin;
  PetscCall(conflux::agree_on_memory(comm, (double)(f.n_r() * f.n_g()), "the interface matrix"));
  PetscCallTT(s = Buffer((size_t)(f.n_r() * f.n_g())));
  s.fill(0);
  PetscCall(assemble_interface(f, comm, c, s));
  PetscCall(f.dense.factor(comm, MAT_FACTOR_LU, rows.data(), rows.data(), s.data(), std::max<Count>(1, f.n_r()), f.settings, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode factor(Mat F, Mat A, const MatFactorInfo *info)
{
  SparseLU &f    = lu_of(F);
  MPI_Comm  comm = PetscObjectComm((PetscObject)F);
  Buffer    c;

  PetscFunctionBegin;
  PetscCall(MatFactorClearError(F));
  F->assembled = PETSC_TRUE;
  for (Count k = 16;; k *= 2) {
    bool             finite = true, out_of_memory = false;
    vector<PetscInt> weak;
    PetscCall(extract_all(F, A));
    PetscCall(scale(f, comm, &finite));
    if (!finite) {
      PetscCall(fail_factor(F, A, MAT_FACTOR_OTHER, 0, 0, "An entry of the matrix is not finite"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    const PetscErrorCode code = factor_interior(f, k, c, &weak, &out_of_memory);
    int                  found[3] = {(int)code, out_of_memory, !weak.empty()};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, found, 3, MPI_INT, MPI_MAX, comm));
    PetscCheck(!found[0], comm, (PetscErrorCode)found[0], "The interior of a process cannot be factored with %s", f.block.package.c_str());
    if (found[1]) {
      PetscCall(fail_factor(F, A, MAT_FACTOR_OUTMEMORY, 0, 0, "Not enough memory for the interior of a process"));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (!found[2]) break;
    Count moved = (Count)weak.size();
    for (PetscInt i : weak) {
      const PetscInt number = f.split.interior[(size_t)i];
      f.in[(size_t)(std::lower_bound(f.graph.own.begin(), f.graph.own.end(), number) - f.graph.own.begin())] = 1;
    }
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT64_T, MPI_SUM, comm));
    f.moved += moved;
    PetscCall(layout(f, A));
  }
  if (f.n_g()) {
    PetscCall(factor_interface(F, c));
    if (F->factorerrortype == MAT_FACTOR_NUMERIC_ZEROPIVOT)
      PetscCall(fail_factor(F, A, MAT_FACTOR_NUMERIC_ZEROPIVOT, f.split.interface[(size_t)F->factorerror_zeropivot_row], 0, "Zero pivot"));
    else if (F->factorerrortype) PetscCall(fail_factor(F, A, F->factorerrortype, 0, 0, "An entry of the interface matrix is not finite"));
    if (F->factorerrortype) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(assess(f, comm));
  // PCFactor's default for zero pivots is 100 eps, and a MatFactorInfo without one has 0
  const PetscReal singular = info->zeropivot > 0 ? info->zeropivot / 10 : 10 * PETSC_MACHINE_EPSILON;
  if (f.rcond <= singular && F->rmap->N) // no row in particular
    PetscCall(fail_factor(F, A, MAT_FACTOR_NUMERIC_ZEROPIVOT, -1, f.rcond, "Singular to working precision: reciprocal condition number"));
  else if (!(f.backward_error <= std::sqrt(PETSC_MACHINE_EPSILON)))
    PetscCall(fail_factor(F, A, MAT_FACTOR_OTHER, 0, f.backward_error, "Factors too inaccurate: backward error"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Words that this process holds: parts of A, interior factors as far as the package says, and of the interface the most of any process.
PetscErrorCode memory(const SparseLU &f, double *parts, double *interior)
{
  MatInfo info;

  PetscFunctionBegin;
  *parts = *interior = 0;
  for (const Csr *part : {&f.ii, &f.ig, &f.gi, &f.gg}) *parts += f.sub && part->rows ? (double)part->first[part->rows] : 0;
  if (f.interior) {
    PetscCall(MatGetInfo(f.interior, MAT_LOCAL, &info));
    *interior = info.nz_used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print_sparse(Mat F, PetscViewer viewer)
{
  const SparseLU &f    = lu_of(F);
  MPI_Comm        comm = PetscObjectComm((PetscObject)F);
  PetscMPIInt     size;
  double          mean[3], most[3];

  PetscFunctionBegin;
  if (f.split.starts.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_size(comm, &size));
  mean[0] = (double)f.n_i();
  PetscCall(memory(f, &mean[1], &mean[2]));
  PetscCallMPI(MPI_Allreduce(mean, most, 3, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, mean, 3, MPI_DOUBLE, MPI_SUM, comm));
  for (double &v : mean) v /= size;
  PetscCall(PetscViewerASCIIPrintf(viewer, "interiors by %s: mean %.6g, max %.6g unknowns per process; partition: %s\n", f.block.package.c_str(), mean[0], most[0], f.partition.c_str()));
  PetscCall(PetscViewerASCIIPrintf(viewer, "words per process: parts of the matrix mean %.4g, max %.4g, factors of the interior mean %.4g, max %.4g\n", mean[1], most[1], mean[2], most[2]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "interface: %lld unknowns, %lld of them because interiors were close to singular; %lld with the layout of the matrix\n", (long long)f.n_g(),
                                   (long long)f.moved, (long long)f.given_interface));
  if (f.norm > 0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "scaled matrix: reciprocal condition number about %.2g; backward error of a solve %.2g after %d steps of refinement\n", (double)f.rcond,
                                     (double)f.backward_error, f.refinements));
  if (f.n_g() && !F->factorerrortype) {
    MatConfluxInfo info;
    PetscCall(f.dense.info(&info));
    PetscCall(conflux::print(info, MAT_FACTOR_LU, viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode numeric(Mat F, Mat A, const MatFactorInfo *info)
{
  PetscViewer       viewer;
  PetscViewerFormat format;
  PetscBool         found;

  PetscFunctionBegin;
  const StageScope stage(events().factorisation);
  PetscCall(conflux::check_layouts(F, 'N', A->rmap, A->cmap));
  lu_of(F).ready = false;
  PetscCallTT(PetscThrowTT(factor(F, A, info)));
  lu_of(F).ready = true;
  PetscCall(PETSCTT_OPTIONS_VIEWER(PetscObjectComm((PetscObject)F), ((PetscObject)F)->options, ((PetscObject)F)->prefix, "-mat_conflux_view", &viewer, &format, &found));
  if (found) {
    PetscCall(PetscViewerPushFormat(viewer, format));
    PetscCall(print_sparse(F, viewer));
    PetscCall(PetscViewerPopFormat(viewer));
    PetscCall(PetscViewerDestroy(&viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_info(Mat F, MatInfoType type, MatInfo *info)
{
  const SparseLU &f = lu_of(F);
  double          v[3], parts, interior;

  PetscFunctionBegin;
  PetscCall(memory(f, &parts, &interior));
  v[0] = interior + (double)(f.n_r() * f.n_g());
  v[1] = (parts + v[0]) * (double)sizeof(Scalar);
  v[2] = parts;
  if (type != MAT_LOCAL) PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, v, 3, MPI_DOUBLE, type == MAT_GLOBAL_MAX ? MPI_MAX : MPI_SUM, PetscObjectComm((PetscObject)F)));
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->block_size        = 1;
  info->nz_allocated      = v[0];
  info->nz_used           = v[0];
  info->memory            = v[1];
  info->fill_ratio_needed = v[2] > 0 ? v[0] / v[2] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(Mat F, PetscViewer viewer)
{
  PetscBool         ascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) PetscCall(print_sparse(F, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode SparseLU::solve(Mat F, char op, Count k, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  PetscFunctionBegin;
  PetscCall(solve_columns(*this, PetscObjectComm((PetscObject)F), op, F->rmap->n, k, b, ldb, x, ldx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

SparseLU::~SparseLU()
{
  if (sub) (void)MatDestroySubMatrices(4, &sub);
  (void)MatDestroy(&interior);
}

} // namespace petsctt

// MAT_FACTOR_CHOLESKY runs through the same LU: MATAIJ holds all entries of a Hermitian matrix, and factors of either kind solve alike.
PETSC_EXTERN PetscErrorCode MatGetFactor_aij_conflux(Mat A, MatFactorType ftype, Mat *F)
{
  using namespace petsctt;
  Mat B;

  PetscFunctionBegin;
  PetscCheck(ftype == MAT_FACTOR_LU || ftype == MAT_FACTOR_CHOLESKY, PetscObjectComm((PetscObject)A), PETSC_ERR_SUP, "conflux makes factors of type LU and CHOLESKY, not %s", MatFactorTypes[ftype]);
  PetscCall(conflux::create_factor(A, ftype, new SparseLU, &B));
  if (ftype == MAT_FACTOR_LU) {
    B->ops->lufactorsymbolic = symbolic;
    B->ops->lufactornumeric  = numeric;
  } else {
    B->ops->choleskyfactorsymbolic = symbolic_cholesky;
    B->ops->choleskyfactornumeric  = numeric;
  }
  B->ops->getinfo    = get_info;
  B->ops->view       = view;
  B->trivialsymbolic = PETSC_FALSE;
  B->canuseordering  = PETSC_FALSE;
  for (MatFactorType t : {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY}) {
    PetscCall(PetscFree(B->preferredordering[t]));
    PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, (char **)&B->preferredordering[t]));
  }
  *F = B;
  PetscFunctionReturn(PETSC_SUCCESS);
}
