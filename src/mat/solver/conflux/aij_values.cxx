#include "aij.hpp"

#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace petsctt {

namespace {

using std::size_t;
using std::vector;

// Largest modulus by row or by column, of values with the row scales taken into account if there are any.
bool largest(const Csr &a, const vector<Real> *row_scale, vector<Real> *by_row, vector<Real> *by_column)
{
  bool finite = true;
  for (PetscInt r = 0; r < a.rows; ++r)
    for (PetscInt e = a.first[r]; e < a.first[r + 1]; ++e) {
      const Real m = petsctt::abs(a.value[e]) * (row_scale ? (*row_scale)[(size_t)r] : 1);
      if (!is_finite(m)) finite = false;
      if (by_row) (*by_row)[(size_t)r] = std::max((*by_row)[(size_t)r], m);
      if (by_column) (*by_column)[(size_t)a.column[e]] = std::max((*by_column)[(size_t)a.column[e]], m);
    }
  return finite;
}

// The power of two that brings m to [1/2, 1); 1 for 0.
void to_scale(vector<Real> &m)
{
  constexpr int limit = std::numeric_limits<Real>::max_exponent - 4;
  for (Real &v : m) {
    int exponent = 0;
    if (v > 0) std::frexp(v, &exponent);
    v = std::ldexp((Real)1, std::max(-limit, std::min(limit, -exponent)));
  }
}

PetscErrorCode apply(Mat A, const Csr &a, const vector<Real> &row, const vector<Real> &column)
{
  PetscScalar *value;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetArray(A, &value));
  for (PetscInt r = 0; r < a.rows; ++r)
    for (PetscInt e = a.first[r]; e < a.first[r + 1]; ++e) value[e] *= row[(size_t)r] * column[(size_t)a.column[e]];
  PetscCall(MatSeqAIJRestoreArray(A, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void column_sums(const Csr &a, vector<Real> &sums)
{
  for (PetscInt r = 0; r < a.rows; ++r)
    for (PetscInt e = a.first[r]; e < a.first[r + 1]; ++e) sums[(size_t)a.column[e]] += petsctt::abs(a.value[e]);
}

// In pieces that MPI can count.
template <class T> PetscErrorCode reduce(MPI_Comm comm, vector<T> &v, MPI_Datatype type, MPI_Op op)
{
  PetscFunctionBegin;
  for (size_t done = 0; done < v.size(); done += 1 << 30)
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, v.data() + done, (int)std::min<size_t>(v.size() - done, 1 << 30), type, op, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Real norm1(const Leaves &v)
{
  Real s = 0;
  for (size_t i = 0; i < v.i.size(); ++i) s += petsctt::abs(v.i[i]);
  for (size_t i = 0; i < v.r.size(); ++i) s += petsctt::abs(v.r[i]);
  return s;
}

} // namespace

PetscErrorCode scale(SparseLU &f, MPI_Comm comm, bool *finite)
{
  const size_t n = (size_t)f.n_i(), t = (size_t)f.n_t(), m = (size_t)f.n_g();

  PetscFunctionBegin;
  f.row_i.assign(n, 0);
  f.row_t.assign(t, 0);
  f.row_g.assign((size_t)f.n_r(), 0);
  int fine = largest(f.ii, nullptr, &f.row_i, nullptr);
  fine &= largest(f.ig, nullptr, &f.row_i, nullptr);
  fine &= largest(f.gi, nullptr, &f.row_t, nullptr);
  fine &= largest(f.gg, nullptr, &f.row_g, nullptr);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_MIN, comm));
  *finite = fine;
  if (!fine) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFReduceBegin(f.touch, MPIU_REAL, f.row_t.data(), f.row_g.data(), MPIU_MAX));
  PetscCall(PetscSFReduceEnd(f.touch, MPIU_REAL, f.row_t.data(), f.row_g.data(), MPIU_MAX));
  to_scale(f.row_i);
  to_scale(f.row_g);
  PetscCall(PetscSFBcastBegin(f.touch, MPIU_REAL, f.row_g.data(), f.row_t.data(), MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(f.touch, MPIU_REAL, f.row_g.data(), f.row_t.data(), MPI_REPLACE));
  f.column_i.assign(n, 0);
  f.column_t.assign(t, 0);
  f.column_g.assign(m, 0);
  largest(f.ii, &f.row_i, nullptr, &f.column_i);
  largest(f.gi, &f.row_t, nullptr, &f.column_i);
  largest(f.ig, &f.row_i, nullptr, &f.column_t);
  largest(f.gg, &f.row_g, nullptr, &f.column_g);
  for (size_t s = 0; s < t; ++s) {
    Real &all = f.column_g[(size_t)f.split.touched[s]];
    all       = std::max(all, f.column_t[s]);
  }
  PetscCall(reduce(comm, f.column_g, MPIU_REAL, MPIU_MAX));
  to_scale(f.column_i);
  to_scale(f.column_g);
  for (size_t s = 0; s < t; ++s) f.column_t[s] = f.column_g[(size_t)f.split.touched[s]];
  PetscCall(apply(f.sub[0], f.ii, f.row_i, f.column_i));
  PetscCall(apply(f.sub[1], f.ig, f.row_i, f.column_t));
  PetscCall(apply(f.sub[2], f.gi, f.row_t, f.column_i));
  PetscCall(apply(f.sub[3], f.gg, f.row_g, f.column_g));
  // the norm of what results
  vector<Real> sums_i(n, 0), sums_t(t, 0), sums_g(m, 0);
  column_sums(f.ii, sums_i);
  column_sums(f.gi, sums_i);
  column_sums(f.ig, sums_t);
  column_sums(f.gg, sums_g);
  for (size_t s = 0; s < t; ++s) sums_g[(size_t)f.split.touched[s]] += sums_t[s];
  PetscCall(reduce(comm, sums_g, MPIU_REAL, MPIU_SUM));
  f.norm = 0;
  for (Real s : sums_i) f.norm = std::max(f.norm, s);
  for (Real s : sums_g) f.norm = std::max(f.norm, s);
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &f.norm, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode extract(SparseLU &f, Mat A)
{
  PetscObjectId    id;
  PetscObjectState pattern;
  IS               rows[4], columns[4];

  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(MatGetNonzeroState(A, &pattern));
  const bool same = f.sub && id == f.id && pattern == f.pattern;
  if (!same) {
    if (f.sub) PetscCall(MatDestroySubMatrices(4, &f.sub));
    PetscCall(MatDestroy(&f.interior));
  }
  for (int p = 0; p < 4; ++p) {
    rows[p]    = f.parts[2 * p];
    columns[p] = f.parts[2 * p + 1];
  }
  PetscCall(MatCreateSubMatrices(A, 4, rows, columns, same ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &f.sub));
  f.id      = id;
  f.pattern = pattern;
  PetscCall(csr_of(f.sub[0], &f.ii));
  PetscCall(csr_of(f.sub[1], &f.ig));
  PetscCall(csr_of(f.sub[2], &f.gi));
  PetscCall(csr_of(f.sub[3], &f.gg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// -A_GI A_II^-1 A_IG of this process, T x T, one row after the other, by some columns at a time.
PetscErrorCode contribution(SparseLU &f, Buffer &c, Real *top)
{
  const Count      block = f.columns, n = f.n_i(), t = f.n_t();
  vector<PetscInt> next(f.ig.first, f.ig.first + n); // entries of a row are ascending

  PetscFunctionBegin;
  c = Buffer((size_t)(t * t));
  c.fill(0);
  for (Count first = 0; first < t; first += block) {
    const Count k = std::min(block, t - first);
    Buffer      b((size_t)(n * k)), x((size_t)(n * k));
    b.fill(0);
    for (Count i = 0; i < n; ++i)
      for (PetscInt &e = next[(size_t)i]; e < f.ig.first[i + 1] && f.ig.column[e] < first + k; ++e) b[(size_t)(i + (f.ig.column[e] - first) * n)] = f.ig.value[e];
    PetscCall(solve_block(f.interior, false, n, k, b.data(), x.data()));
    subtract_product(f.gi, false, k, Strided{x.data(), 1, n}, Strided{c.data() + first, t, 1});
  }
  *top = 0;
  for (size_t s = 0; s < c.size(); ++s) {
    const Real m = petsctt::abs(c[s]);
    if (!(m <= *top)) *top = m;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode assemble_interface(const SparseLU &f, MPI_Comm comm, const Buffer &c, Buffer &s)
{
  const Count         rows = f.n_r(), t = f.n_t();
  PetscMPIInt         rank, size, tag;
  vector<MPI_Request> requests;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscCommGetNewTag(comm, &tag));
  const auto range = [&](const vector<PetscInt> &touched, int p) { // those among the interface rows of process p
    const auto from = std::lower_bound(touched.begin(), touched.end(), f.split.starts[(size_t)p]), to = std::lower_bound(from, touched.end(), f.split.starts[(size_t)p + 1]);
    return std::make_pair((Count)(from - touched.begin()), (Count)(to - touched.begin()));
  };
  const auto piece = [](Count width) { return std::max<Count>(1, ((Count)1 << 27) / std::max<Count>(1, width)); }; // rows in a message
  for (int p = 0; p < size; ++p) {
    const auto r = range(f.split.touched, p);
    if (p == rank) continue;
    for (Count i = r.first; i < r.second; i += piece(t)) {
      requests.emplace_back();
      PetscCallMPI(MPI_Isend(c.data() + i * t, (int)(std::min(piece(t), r.second - i) * t), MPIU_SCALAR, p, tag, comm, &requests.back()));
    }
  }
  for (PetscInt i = 0; i < f.gg.rows; ++i)
    for (PetscInt e = f.gg.first[i]; e < f.gg.first[i + 1]; ++e) s[(size_t)(i + f.gg.column[e] * rows)] = f.gg.value[e];
  Buffer in;
  for (int p = 0; p < size; ++p) { // in the order of processes: the same sums every time
    const vector<PetscInt> &touched = p == rank ? f.split.touched : f.incoming[(size_t)p];
    const Count             width = (Count)touched.size();
    const auto              r     = range(touched, rank);
    for (Count i = r.first; i < r.second; i += piece(width)) {
      const Count   count = std::min(piece(width), r.second - i);
      const Scalar *from  = c.data() + i * width;
      if (p != rank) {
        in = Buffer((size_t)(count * width));
        PetscCallMPI(MPI_Recv(in.data(), (int)(count * width), MPIU_SCALAR, p, tag, comm, MPI_STATUS_IGNORE));
        from = in.data();
      }
      for (Count a = 0; a < count; ++a)
        for (Count b = 0; b < width; ++b) s[(size_t)(touched[(size_t)(i + a)] - f.g_begin + touched[(size_t)b] * rows)] += from[a * width + b];
    }
  }
  PetscCallMPI(MPI_Waitall((int)requests.size(), requests.data(), MPI_STATUSES_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Condition number, and backward error of a solution known beforehand; solves are refined if that makes it smaller.
PetscErrorCode assess(SparseLU &f, MPI_Comm comm)
{
  const Count n = f.n_i(), r = f.n_r();
  Real        inverse = 0;

  PetscFunctionBegin;
  f.refinements    = 0;
  f.backward_error = 0;
  PetscCall(inverse_norm1(
    comm, n + r,
    [&](char op, Scalar *v) -> PetscErrorCode {
      Leaves l;
      l.k = 1;
      l.i = Buffer((size_t)n);
      l.r = Buffer((size_t)r);
      std::copy_n(v, n, l.i.data());
      std::copy_n(v + n, r, l.r.data());
      PetscFunctionBegin;
      PetscCall(solve_scaled(f, op, l));
      std::copy_n(l.i.data(), n, v);
      std::copy_n(l.r.data(), r, v + n);
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    &inverse));
  f.rcond = f.norm > 0 && inverse > 0 ? 1 / f.norm / inverse : 0;
  if (!(f.rcond > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  Leaves x, b;
  x.k = b.k = 1;
  x.i = b.i = Buffer((size_t)n);
  x.r = b.r = Buffer((size_t)r);
  for (Count i = 0; i < n; ++i) x.i[(size_t)i] = 1 - 2 * std::cos((Real)(3 * i + 1));
  for (Count i = 0; i < r; ++i) x.r[(size_t)i] = 1 - 2 * std::sin((Real)(5 * i + 2));
  b.i.fill(0);
  b.r.fill(0);
  PetscCall(subtract_product(f, comm, 'N', x, b));
  for (f.refinements = (int)f.settings.refine;; ++f.refinements) {
    Leaves y = b, residual = b;
    PetscCall(solve_refined(f, comm, 'N', y));
    PetscCall(subtract_product(f, comm, 'N', y, residual));
    Real norms[3] = {norm1(residual), norm1(y), norm1(b)};
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, norms, 3, MPIU_REAL, MPIU_SUM, comm));
    f.backward_error = norms[1] > 0 ? norms[0] / (f.norm * norms[1] + norms[2]) : norms[0];
    if (f.backward_error <= 100 * PETSC_MACHINE_EPSILON || f.refinements >= std::max<PetscInt>(2, f.settings.refine)) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace petsctt
