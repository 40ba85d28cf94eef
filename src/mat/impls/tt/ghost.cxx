#include "mat/impls/tt/ghost.hpp"

#include "mat/impls/tt/impl.hpp"

#include <petscsf.h>

namespace petsctt {

namespace {

constexpr const char *plan_name = "PetscTTGhostPlan";

PetscErrorCode destroy_plan(void *plan)
{
  delete static_cast<GhostPlan *>(plan);
  return PETSC_SUCCESS;
}

// The type in which these PetscSF functions count processes: PetscInt or PetscMPIInt, depending on PETSc's version.
template <class N, class... Rest> N counted_in(PetscErrorCode (*)(PetscSF, N *, Rest...));

PetscErrorCode make_plan(Mat M, GhostPlan &plan)
{
  Mat                Ao;
  const PetscInt    *garray;
  PetscLayout        columns;
  SFHandle           sf;
  PetscInt           nghost;
  const PetscMPIInt *from, *to;
  const PetscInt    *from_start, *from_row, *to_start, *to_row;

  decltype(counted_in(PetscSFGetRootRanks)) nfrom;
  decltype(counted_in(PetscSFGetLeafRanks)) nto;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(M, NULL, &Ao, &garray));
  PetscCall(MatGetLocalSize(Ao, NULL, &nghost));
  PetscCall(MatGetLayouts(M, NULL, &columns));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)M), sf.out()));
  PetscCall(PetscSFSetGraphLayout(sf, columns, nghost, NULL, PETSC_COPY_VALUES, garray));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &nfrom, &from, &from_start, &from_row, NULL)); // owners of my ghosts
  PetscCall(PetscSFGetLeafRanks(sf, &nto, &to, &to_start, &to_row));               // who has rows of mine as ghosts
  PetscCallTT({
    plan.ghosts = nghost;
    plan.from.assign(from, from + nfrom);
    plan.to.assign(to, to + nto);
    plan.from_start.assign(1, 0);
    plan.to_start.assign(1, 0);
    for (PetscInt p = 0; p < nfrom; p++) plan.from_start.push_back(from_start[p + 1] - from_start[0]);
    for (PetscInt p = 0; p < nto; p++) plan.to_start.push_back(to_start[p + 1] - to_start[0]);
    plan.from_row.clear();
    plan.to_row.clear();
    // A null list of rows stands for 0, 1, 2, ...
    for (Int q = 0; q < plan.from_start.back(); q++) plan.from_row.push_back(from_row ? from_row[q] : q);
    for (Int q = 0; q < plan.to_start.back(); q++) plan.to_row.push_back(to_row ? to_row[q] : q);
  });
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode ghost_plan(Mat M, const GhostPlan **out)
{
  PetscContainer   box;
  GhostPlan       *plan;
  PetscObjectState pattern;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)M, plan_name, (PetscObject *)&box));
  if (!box) {
    PetscCallTT(plan = new GhostPlan);
    PetscCall(PetscContainerCreate(PetscObjectComm((PetscObject)M), &box));
    PetscCall(PetscContainerSetPointer(box, plan));
    PetscCall(PetscContainerSetUserDestroy(box, destroy_plan));
    PetscCall(PetscObjectCompose((PetscObject)M, plan_name, (PetscObject)box));
    PetscCall(PetscContainerDestroy(&box));
    PetscCall(PetscObjectQuery((PetscObject)M, plan_name, (PetscObject *)&box));
    plan->comm = PetscObjectComm((PetscObject)M);
    PetscCall(PetscObjectGetNewTag((PetscObject)M, &plan->tag));
  }
  PetscCall(PetscContainerGetPointer(box, (void **)&plan));
  PetscCall(MatGetNonzeroState(M, &pattern));
  if (plan->pattern != pattern) {
    PetscCall(make_plan(M, *plan));
    plan->pattern = pattern;
  }
  *out = plan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void gather_row(const Core &X, Int i, Scalar *row)
{
  const Scalar *x = X.data() + (Count)X.r0 * i;
  for (Int b = 0; b < X.r1; b++, x += (Count)X.r0 * X.n, row += X.r0) std::copy(x, x + X.r0, row);
}

void scatter_add_row(const Scalar *row, Core &Y, Int i)
{
  Scalar *y = Y.data() + (Count)Y.r0 * i;
  for (Int b = 0; b < Y.r1; b++, y += (Count)Y.r0 * Y.n, row += Y.r0)
    for (Int a = 0; a < Y.r0; a++) y[a] += row[a];
}

// One message per neighbour, counted as the TT layer counts its own.
PetscErrorCode GhostExchange::start(const std::vector<int> &to, const std::vector<Int> &to_start, const std::vector<int> &from,
                                    const std::vector<Int> &from_start)
{
  PetscMPIInt w, n;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast((PetscInt)w_, &w));
  PetscCallMPI(MPI_Type_contiguous(w, MPIU_SCALAR, &row_));
  PetscCallMPI(MPI_Type_commit(&row_));
  requests_.assign(to.size() + from.size(), MPI_REQUEST_NULL);
  for (std::size_t p = 0; p < from.size(); p++) {
    PetscCall(PetscMPIIntCast(from_start[p + 1] - from_start[p], &n));
    PetscCallMPI(MPI_Irecv(in_.data() + w_ * from_start[p], n, row_, from[p], plan_->tag, plan_->comm, &requests_[p]));
  }
  for (std::size_t p = 0; p < to.size(); p++) {
    PetscCall(PetscMPIIntCast(to_start[p + 1] - to_start[p], &n));
    PetscCallMPI(MPI_Isend(out_.data() + w_ * to_start[p], n, row_, to[p], plan_->tag, plan_->comm, &requests_[from.size() + p]));
    Comm::counts().messages++;
    Comm::counts().words += w_ * n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GhostExchange::wait()
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Waitall((PetscMPIInt)requests_.size(), requests_.data(), MPI_STATUSES_IGNORE));
  PetscCallMPI(MPI_Type_free(&row_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GhostExchange::start_forward(const GhostPlan &plan, const Core &X)
{
  PetscFunctionBegin;
  plan_ = &plan;
  w_    = (Count)X.r0 * X.r1;
  PetscCallTT(out_ = Buffer((std::size_t)(w_ * (Count)plan.to_row.size())); in_ = Buffer((std::size_t)(w_ * (Count)plan.from_row.size())));
  for (std::size_t q = 0; q < plan.to_row.size(); q++) gather_row(X, plan.to_row[q], out_.data() + w_ * (Count)q);
  PetscCall(start(plan.to, plan.to_start, plan.from, plan.from_start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GhostExchange::finish_forward(Buffer &rows)
{
  PetscFunctionBegin;
  PetscCall(wait());
  PetscCallTT(rows = Buffer((std::size_t)(w_ * plan_->ghosts)));
  for (std::size_t q = 0; q < plan_->from_row.size(); q++)
    std::copy(in_.data() + w_ * (Count)q, in_.data() + w_ * (Count)(q + 1), rows.data() + w_ * plan_->from_row[q]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GhostExchange::start_backward(const GhostPlan &plan, const Buffer &rows, Int r0, Int r1)
{
  PetscFunctionBegin;
  plan_ = &plan;
  w_    = (Count)r0 * r1;
  PetscCallTT(out_ = Buffer((std::size_t)(w_ * (Count)plan.from_row.size())); in_ = Buffer((std::size_t)(w_ * (Count)plan.to_row.size())));
  for (std::size_t q = 0; q < plan.from_row.size(); q++)
    std::copy(rows.data() + w_ * plan.from_row[q], rows.data() + w_ * (plan.from_row[q] + 1), out_.data() + w_ * (Count)q);
  PetscCall(start(plan.from, plan.from_start, plan.to, plan.to_start));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GhostExchange::finish_backward(Core &Y)
{
  PetscFunctionBegin;
  PetscCall(wait());
  for (std::size_t q = 0; q < plan_->to_row.size(); q++) scatter_add_row(in_.data() + w_ * (Count)q, Y, plan_->to_row[q]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
