#include "mat/impls/tt/csr.hpp"
#include "mat/impls/tt/ghost.hpp"
#include "mat/impls/tt/impl.hpp"
#include "base/blas.hpp"

#include <algorithm>

namespace petsctt {

namespace {

// Read access to the rows of a SEQAIJ for the length of a scope.
struct CsrView {
  Mat             M;
  Csr             csr{0, nullptr, nullptr, nullptr};
  const PetscInt *ia = nullptr, *ja = nullptr;

  explicit CsrView(Mat M) : M(M)
  {
    PetscBool          done;
    PetscInt           n;
    const PetscScalar *va;
    PetscThrowTT(MatGetRowIJ(M, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done));
    PETSCTT_REQUIRE(done, PETSC_ERR_SUP, "MatGetRowIJ() gave no rows of a %s", ((PetscObject)M)->type_name);
    PetscThrowTT(MatSeqAIJGetArrayRead(M, &va));
    csr = Csr{n, ia, ja, va};
  }
  CsrView(const CsrView &)            = delete;
  CsrView &operator=(const CsrView &) = delete;
  ~CsrView()
  {
    PetscBool done;
    PetscInt  n;
    (void)MatSeqAIJRestoreArrayRead(M, &csr.va);
    (void)MatRestoreRowIJ(M, 0, PETSC_FALSE, PETSC_FALSE, &n, &ia, &ja, &done);
  }
};

void local_part(const Csr &A, bool transposed, bool conjugated, const Scalar *X, Scalar *Y, Int n, Int w)
{
  if (!transposed) csr_times(A, conjugated, X, w, Y, w, w);
  else {
    std::fill(Y, Y + (Count)n * w, Scalar(0));
    csr_transposed_times(A, conjugated, X, w, Y, w, w);
  }
}

// Y(:, i, b) := sum_j a_ij X(:, j, b). A slab b of a core is n rows of r0 contiguous entries. Where r0 is small several slabs
// are interleaved first, so that the inner loop always has up to 16 contiguous entries.
void local_apply(const Csr &A, bool transposed, bool conjugated, const Core &X, Core &Y)
{
  constexpr Int narrow = 8, wide = 16;
  const Int     r0 = X.r0, n = X.n, r1 = X.r1;
  const Count   slab = (Count)r0 * n;
  if (r0 >= narrow || r1 == 1) {
    for (Int b = 0; b < r1; b++) local_part(A, transposed, conjugated, X.data() + slab * b, Y.data() + slab * b, n, r0);
    return;
  }
  const Int most = std::min<Int>(r1, std::max<Int>(1, wide / r0));
  Buffer    P((std::size_t)(slab * most)), Q((std::size_t)(slab * most));
  for (Int b0 = 0; b0 < r1; b0 += most) {
    const Int m = std::min<Int>(most, r1 - b0), w = m * r0;
    for (Int b = 0; b < m; b++) {
      const Scalar *x = X.data() + slab * (b0 + b);
      for (Int i = 0; i < n; i++)
        for (Int a = 0; a < r0; a++) P[(std::size_t)((Count)w * i + r0 * b + a)] = x[(Count)r0 * i + a];
    }
    local_part(A, transposed, conjugated, P.data(), Q.data(), n, w);
    for (Int b = 0; b < m; b++) {
      Scalar *y = Y.data() + slab * (b0 + b);
      for (Int i = 0; i < n; i++)
        for (Int a = 0; a < r0; a++) y[(Count)r0 * i + a] = Q[(std::size_t)((Count)w * i + r0 * b + a)];
    }
  }
}

// Rows with ghosts: Y(:, i, :) += sum_g a_ig G(g, :).
void ghost_apply(const Csr &A, bool conjugated, const Buffer &G, Core &Y)
{
  const Count w = (Count)Y.r0 * Y.r1;
  Buffer      row((std::size_t)w);
  for (Int i = 0; i < A.rows; i++) {
    if (A.ia[i] == A.ia[i + 1]) continue;
    row.fill(0);
    for (Int p = A.ia[i]; p < A.ia[i + 1]; p++) add_row(A.va[p], conjugated, G.data() + w * A.ja[p], row.data(), w);
    scatter_add_row(row.data(), Y, i);
  }
}

// G(g, :) := sum_i a_ig X(:, i, :).
void ghost_apply_transposed(const Csr &A, bool conjugated, const Core &X, Int ghosts, Buffer &G)
{
  const Count w = (Count)X.r0 * X.r1;
  Buffer      row((std::size_t)w);
  G = Buffer((std::size_t)(w * ghosts));
  G.fill(0);
  for (Int i = 0; i < A.rows; i++) {
    if (A.ia[i] == A.ia[i + 1]) continue;
    gather_row(X, i, row.data());
    for (Int p = A.ia[i]; p < A.ia[i + 1]; p++) add_row(A.va[p], conjugated, row.data(), G.data() + w * A.ja[p], w);
  }
}

PetscErrorCode apply_mpiaij(Mat M, Apply how, const Core &X, Core &Y)
{
  const bool       transposed = how != Apply::plain, conjugated = how == Apply::hermitian;
  Mat              Ad, Ao;
  const GhostPlan *plan;
  GhostExchange    exchange;
  Buffer           G;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(M, &Ad, &Ao, NULL));
  PetscCall(ghost_plan(M, &plan));
  PetscCall(PetscLogEventBegin(events().ghost, M, 0, 0, 0));
  if (transposed) {
    PetscCallTT(CsrView off(Ao); ghost_apply_transposed(off.csr, conjugated, X, plan->ghosts, G));
    PetscCall(exchange.start_backward(*plan, G, X.r0, X.r1));
  } else PetscCall(exchange.start_forward(*plan, X));
  PetscCall(PetscLogEventEnd(events().ghost, M, 0, 0, 0));
  PetscCallTT(CsrView diagonal(Ad); local_apply(diagonal.csr, transposed, conjugated, X, Y));
  PetscCall(PetscLogEventBegin(events().ghost, M, 0, 0, 0));
  if (transposed) PetscCall(exchange.finish_backward(Y));
  else {
    PetscCall(exchange.finish_forward(G));
    PetscCallTT(CsrView off(Ao); ghost_apply(off.csr, conjugated, G, Y));
  }
  PetscCall(PetscLogEventEnd(events().ghost, M, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

PetscErrorCode apply_aij(Mat M, Apply how, const Core &X, Core &Y)
{
  PetscFunctionBegin;
  if (is_type(M, MATMPIAIJ)) PetscCall(apply_mpiaij(M, how, X, Y));
  else PetscCallTT(CsrView rows(M); local_apply(rows.csr, how != Apply::plain, how == Apply::hermitian, X, Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
