#include "aij.hpp"

#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <algorithm>
#include <cmath>

namespace petsctt {

namespace {

using std::size_t;

// k scalars that belong together.
class Unit {
public:
  explicit Unit(Count k) : plain_(k == 1)
  {
    if (plain_) return;
    MPI_Type_contiguous((int)k, MPIU_SCALAR, &type_);
    MPI_Type_commit(&type_);
  }
  ~Unit()
  {
    if (!plain_) MPI_Type_free(&type_);
  }
  Unit(const Unit &)            = delete;
  Unit &operator=(const Unit &) = delete;
  operator MPI_Datatype() const { return type_; }

private:
  bool         plain_;
  MPI_Datatype type_ = MPIU_SCALAR;
};

// Column-major n x k (leading dimension ld) to and from one row after the other.
void to_rows(Count n, Count k, const Scalar *a, Count ld, Scalar *rows)
{
  for (Count c = 0; c < k; ++c)
    for (Count i = 0; i < n; ++i) rows[i * k + c] = a[i + c * ld];
}
void from_rows(Count n, Count k, const Scalar *rows, Scalar *a, Count ld)
{
  for (Count c = 0; c < k; ++c)
    for (Count i = 0; i < n; ++i) a[i + c * ld] = rows[i * k + c];
}

// Interface rows to where interiors touch them, one row after the other.
PetscErrorCode spread(const SparseLU &f, Count k, const Buffer &r, Buffer &t)
{
  Buffer rows((size_t)(f.n_r() * k));
  Unit   unit(k);

  PetscFunctionBegin;
  to_rows(f.n_r(), k, r.data(), f.n_r(), rows.data());
  t = Buffer((size_t)(f.n_t() * k));
  PetscCall(PetscSFBcastBegin(f.touch, unit, rows.data(), t.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(f.touch, unit, rows.data(), t.data(), MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// r += the sums of t.
PetscErrorCode collect(const SparseLU &f, Count k, const Buffer &t, Buffer &r)
{
  Buffer rows((size_t)(f.n_r() * k));
  Unit   unit(k);

  PetscFunctionBegin;
  rows.fill(0);
  PetscCall(PetscSFReduceBegin(f.touch, unit, t.data(), rows.data(), MPIU_SUM));
  PetscCall(PetscSFReduceEnd(f.touch, unit, t.data(), rows.data(), MPIU_SUM));
  for (Count c = 0; c < k; ++c)
    for (Count i = 0; i < f.n_r(); ++i) r[(size_t)(i + c * f.n_r())] += rows[(size_t)(i * k + c)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

Strided columns(const Buffer &a, Count n) { return {const_cast<Scalar *>(a.data()), 1, n}; }
Strided rows(const Buffer &a, Count k) { return {const_cast<Scalar *>(a.data()), k, 1}; }

} // namespace

PetscErrorCode subtract_product(const SparseLU &f, MPI_Comm comm, char op, const Leaves &x, Leaves &y)
{
  const bool  transposed = op != 'N';
  const Count k = x.k, n = f.n_i(), m = f.n_g();

  PetscFunctionBegin;
  subtract_product(f.ii, transposed, k, columns(x.i, n), columns(y.i, n));
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  Buffer t;
  PetscCall(spread(f, k, x.r, t));
  subtract_product(transposed ? f.gi : f.ig, transposed, k, rows(t, k), columns(y.i, n));
  t.fill(0);
  subtract_product(transposed ? f.ig : f.gi, transposed, k, columns(x.i, n), rows(t, k));
  PetscCall(collect(f, k, t, y.r));
  Buffer all((size_t)(m * k));
  all.fill(0);
  if (transposed) subtract_product(f.gg, true, k, columns(x.r, f.n_r()), rows(all, k));
  else to_rows(f.n_r(), k, x.r.data(), f.n_r(), all.data() + f.g_begin * k);
  for (Count done = 0; done < m * k; done += 1 << 30) // sums over disjoint rows are a copy
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, all.data() + done, (int)std::min<Count>(m * k - done, 1 << 30), MPIU_SCALAR, MPIU_SUM, comm));
  if (!transposed) subtract_product(f.gg, false, k, rows(all, k), columns(y.r, f.n_r()));
  else
    for (Count c = 0; c < k; ++c)
      for (Count i = 0; i < f.n_r(); ++i) y.r[(size_t)(i + c * f.n_r())] += all[(size_t)((f.g_begin + i) * k + c)];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_scaled(SparseLU &f, char op, Leaves &v)
{
  const bool  transposed = op != 'N';
  const Count k = v.k, n = f.n_i(), ld = std::max<Count>(1, f.n_r());

  PetscFunctionBegin;
  Buffer z(v.i.size()), t((size_t)(f.n_t() * k));
  if (f.n_g()) {
    t.fill(0);
    if (f.n_t()) {
      PetscCall(solve_block(f.interior, transposed, n, k, v.i.data(), z.data()));
      subtract_product(transposed ? f.ig : f.gi, transposed, k, columns(z, n), rows(t, k));
    }
    PetscCall(collect(f, k, t, v.r));
    PetscCall(f.dense.solve(op, k, v.r.data(), ld, v.r.data(), ld));
    PetscCall(spread(f, k, v.r, t));
    subtract_product(transposed ? f.gi : f.ig, transposed, k, rows(t, k), columns(v.i, n));
  }
  if (n) PetscCall(solve_block(f.interior, transposed, n, k, v.i.data(), z.data()));
  std::swap(v.i, z);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_refined(SparseLU &f, MPI_Comm comm, char op, Leaves &v)
{
  PetscFunctionBegin;
  if (!f.refinements) {
    PetscCall(solve_scaled(f, op, v));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const Leaves b = v;
  PetscCall(solve_scaled(f, op, v));
  for (int s = 0; s < f.refinements; ++s) {
    Leaves r = b;
    PetscCall(subtract_product(f, comm, op, v, r));
    PetscCall(solve_scaled(f, op, r));
    for (size_t i = 0; i < r.i.size(); ++i) v.i[i] += r.i[i];
    for (size_t i = 0; i < r.r.size(); ++i) v.r[i] += r.r[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode solve_columns(SparseLU &f, MPI_Comm comm, char op, Count n, Count nrhs, const Scalar *b, Count ldb, Scalar *x, Count ldx)
{
  const bool  transposed = op != 'N';
  const Count block = f.columns, n_i = f.n_i(), n_r = f.n_r();

  PetscFunctionBegin;
  // right-hand sides as they come, as leaves, and while they are solved for: large blocks of them are decided on together
  if (f.largest * std::min(block, nrhs) > 250000)
    PetscCall(conflux::agree_on_memory(comm, (double)std::min(block, nrhs) * (double)(n + (f.refinements ? 7 : 4) * (n_i + n_r) + 2 * f.n_t()), "a block of right-hand sides"));
  // A = R^-1 A' C^-1 with the scales R and C: A^-1 b = C A'^-1 R b, and the transpose
  const auto before = [&](Count i) { return i < n_i ? (transposed ? f.column_i : f.row_i)[(size_t)i] : transposed ? f.column_g[(size_t)(f.g_begin + i - n_i)] : f.row_g[(size_t)(i - n_i)]; };
  const auto after  = [&](Count i) { return i < n_i ? (transposed ? f.row_i : f.column_i)[(size_t)i] : transposed ? f.row_g[(size_t)(i - n_i)] : f.column_g[(size_t)(f.g_begin + i - n_i)]; };
  for (Count first = 0; first < nrhs; first += block) {
    Leaves v;
    v.k = std::min(block, nrhs - first);
    v.i = Buffer((size_t)(n_i * v.k));
    v.r = Buffer((size_t)(n_r * v.k));
    Unit   unit(v.k);
    Buffer root((size_t)(n * v.k)), leaf((size_t)((n_i + n_r) * v.k));
    to_rows(n, v.k, b + first * ldb, ldb, root.data());
    PetscCall(PetscSFBcastBegin(f.rows, unit, root.data(), leaf.data(), MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(f.rows, unit, root.data(), leaf.data(), MPI_REPLACE));
    for (Count i = 0; i < n_i + n_r; ++i) {
      const Real s = before(i);
      for (Count c = 0; c < v.k; ++c) (i < n_i ? v.i[(size_t)(i + c * n_i)] : v.r[(size_t)(i - n_i + c * n_r)]) = s * leaf[(size_t)(i * v.k + c)];
    }
    PetscCall(solve_refined(f, comm, op, v));
    for (Count i = 0; i < n_i + n_r; ++i) {
      const Real s = after(i);
      for (Count c = 0; c < v.k; ++c) leaf[(size_t)(i * v.k + c)] = s * (i < n_i ? v.i[(size_t)(i + c * n_i)] : v.r[(size_t)(i - n_i + c * n_r)]);
    }
    PetscCall(PetscSFReduceBegin(f.rows, unit, leaf.data(), root.data(), MPI_REPLACE));
    PetscCall(PetscSFReduceEnd(f.rows, unit, leaf.data(), root.data(), MPI_REPLACE));
    from_rows(n, v.k, root.data(), x + first * ldx, ldx);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
