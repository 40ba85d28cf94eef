static char help[] = "The distributed LU and Cholesky on every number of processes up to the number of those that are there.\n\n";

// The processes are split in two, which do the same with 1 and all but 1 of them, 2 and all but 2, ..: two numbers of processes at a time. On each, small matrices
// are factorised on the grids that the plan has for large ones, and on others: all processes but the last few in a square, and two layers. ||P A - L U||, the
// pivots, ||A - L L^H|| and solves are compared with dense arithmetic on the first process. The exit status is not 0 if anything is wrong.
#include "lu/cholesky.hpp"
#include "lu/lu.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"

#include <petscsys.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace petsctt;
using namespace petsctt::lu;

namespace {

using std::size_t;

int checked = 0; // factorisations

// Some numbers in (-1, 1) without a pattern; with `definite` a Hermitian positive definite matrix of order n
Scalar entry(Count i, Count j, Count n, bool definite)
{
  if (definite && i == j) return (Real)(2 * n);
  const Count  r = definite ? std::max(i, j) : i, c = definite ? std::min(i, j) : j;
  const double t = std::fmod(std::abs(std::sin(12.9898 * (double)(r + 1) + 78.233 * (double)(c + 1)) * 43758.5453), 1), u = std::fmod(997 * t, 1);
#if defined(PETSC_USE_COMPLEX)
  return Scalar((Real)(2 * t - 1), (Real)(definite && i < j ? 1 - 2 * u : 2 * u - 1));
#else
  return (Real)(t + u - 1);
#endif
}

Real norm(const std::vector<Scalar> &a)
{
  Real s = 0;
  for (Scalar v : a) s += abs2(v);
  return std::sqrt(s);
}

// A matrix, the rows of it that each process of a communicator has: not the same number on all
struct Problem {
  MPI_Comm            comm;
  int                 rank, size;
  Count               n, first, m;
  bool                definite;
  std::vector<Count>  starts;
  std::vector<Scalar> a; // m x n

  Problem(MPI_Comm c, Count order, bool spd) : comm(c), n(order), definite(spd)
  {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int p = 0; p <= size; ++p) starts.push_back(n * p * (p + size) / (2 * (Count)size * size));
    first = starts[(size_t)rank];
    m     = starts[(size_t)rank + 1] - first;
    a.resize((size_t)(m * n));
    for (Count j = 0; j < n; ++j)
      for (Count i = 0; i < m; ++i) a[(size_t)(i + j * m)] = entry(first + i, j, n, definite);
  }
};

// ||P A - L U|| / ||A|| of factors on process 0; `conjugate`: U is the conjugate transpose of L, without pivots
Real residual(const Problem &p, const std::vector<Scalar> &f, const std::vector<Count> &pivots, bool conjugate)
{
  const Count         n = p.n;
  std::vector<Scalar> given((size_t)(n * n)), difference((size_t)(n * n));
  for (Count j = 0; j < n; ++j)
    for (Count i = 0; i < n; ++i) {
      Scalar s = 0;
      if (conjugate)
        for (Count k = 0; k <= std::min(i, j); ++k) s += f[(size_t)(i + k * n)] * conj(f[(size_t)(j + k * n)]);
      else {
        if (i <= j) s = f[(size_t)(i + j * n)];
        for (Count k = 0; k < std::min(i, j + 1); ++k) s += f[(size_t)(i + k * n)] * f[(size_t)(k + j * n)];
      }
      given[(size_t)(i + j * n)]      = entry(conjugate ? i : pivots[(size_t)i], j, n, p.definite);
      difference[(size_t)(i + j * n)] = given[(size_t)(i + j * n)] - s;
    }
  return norm(difference) / norm(given);
}

// ||op(A) X - B|| / (||A|| ||X||), on all processes, for solutions X of which each has its rows
Real backward_error(const Problem &p, bool transposed, Count nrhs, const std::vector<Scalar> &x, const std::vector<Scalar> &b)
{
  const Count         n = p.n;
  std::vector<Scalar> r((size_t)(n * nrhs), 0), all((size_t)(n * nrhs), 0), mine((size_t)(p.m * nrhs));
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < p.m; ++i) all[(size_t)(p.first + i + c * n)] = x[(size_t)(i + c * p.m)];
  MPI_Allreduce(MPI_IN_PLACE, all.data(), (int)all.size(), MPIU_SCALAR, MPIU_SUM, p.comm);
  for (Count c = 0; c < nrhs; ++c)
    for (Count i = 0; i < p.m; ++i) {
      Scalar s = -b[(size_t)(i + c * p.m)];
      for (Count j = 0; j < n; ++j) s += (transposed ? entry(j, p.first + i, n, p.definite) : p.a[(size_t)(i + j * p.m)]) * all[(size_t)(j + c * n)];
      mine[(size_t)(i + c * p.m)] = s;
    }
  Real sums[2] = {norm(mine), norm(p.a)};
  for (Real &s : sums) s *= s;
  MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPIU_SUM, p.comm);
  return std::sqrt(sums[0] / sums[1]) / norm(all);
}

PetscErrorCode check(const Problem &p, Real error, const char *what, const std::string &where)
{
  PetscFunctionBegin;
  PetscCheck(error <= (Real)p.n * 20 * std::numeric_limits<Real>::epsilon(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: %s %g", where.c_str(), what, (double)error);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Solve> PetscErrorCode check_solves(const Problem &p, const std::string &where, const Solve &solve)
{
  PetscFunctionBegin;
  for (bool transposed : {false, true}) {
    constexpr Count     nrhs = 2;
    std::vector<Scalar> b((size_t)(p.m * nrhs)), x((size_t)(p.m * nrhs));
    for (size_t e = 0; e < b.size(); ++e) b[e] = entry(p.first + (Count)e, 77, 0, false);
    if (!solve(transposed, nrhs, b.data(), x.data())) continue;
    PetscCall(check(p, backward_error(p, transposed, nrhs, x, b), transposed ? "backward error, transposed," : "backward error", where));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(const Grid &g, MPI_Comm comm)
{
  const Problem     p(comm, g.n, false);
  const std::string where = std::to_string(p.size) + " processes, grid " + std::to_string(g.px) + " x " + std::to_string(g.py) + " x " + std::to_string(g.layers) + ", order " + std::to_string((long long)g.n) +
                            ", tile " + std::to_string((long long)g.tile);

  PetscFunctionBegin;
  PetscCallTT({
    LU f(comm, p.starts, g);
    f.factor(p.a.data(), p.m);
    PetscCheck(f.outcome().finite && f.outcome().zero_pivot < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no factors", where.c_str());
    std::vector<Scalar> packed(p.rank == 0 ? (size_t)(g.n * g.n) : 0);
    f.gather(packed.data());
    if (p.rank == 0) {
      std::vector<Count> rows = f.pivots();
      std::sort(rows.begin(), rows.end());
      for (Count s = 0; s < g.n; ++s) PetscCheck(rows[(size_t)s] == s, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: the pivots are no permutation", where.c_str());
      PetscCall(check(p, residual(p, packed, f.pivots(), false), "||P A - L U||", where));
    }
    PetscCall(check_solves(p, where, [&](bool transposed, Count nrhs, const Scalar *b, Scalar *x) {
      f.solve(transposed ? 'T' : 'N', nrhs, b, p.m, x, p.m);
      return true;
    }));
  });
  ++checked;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(const SymmetricGrid &g, MPI_Comm comm)
{
  const Problem     p(comm, g.n, true);
  const std::string where = std::to_string(p.size) + " processes, Cholesky on " + std::to_string(g.layers) + " layers of " + std::to_string(g.per_layer()) + ", order " + std::to_string((long long)g.n) + ", tile " +
                            std::to_string((long long)g.tile);

  PetscFunctionBegin;
  PetscCallTT({
    Cholesky f(comm, p.starts, g);
    f.factor(p.a.data(), p.m);
    PetscCheck(f.outcome().finite && f.outcome().not_positive < 0, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no factor", where.c_str());
    std::vector<Scalar> packed(p.rank == 0 ? (size_t)(g.n * g.n) : 0);
    f.gather(packed.data());
    if (p.rank == 0) PetscCall(check(p, residual(p, packed, {}, true), "||A - L L^H||", where));
    PetscCall(check_solves(p, where, [&](bool transposed, Count nrhs, const Scalar *b, Scalar *x) {
      if (!transposed) f.solve(nrhs, b, p.m, x, p.m);
      return !transposed;
    }));
  });
  ++checked;
  PetscFunctionReturn(PETSC_SUCCESS);
}

// Grids for all processes of comm
PetscErrorCode run(MPI_Comm comm)
{
  int           size;
  Grid          plan;
  SymmetricGrid symmetric;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  const Count n = 30 + size;
  PetscCallTT(plan = plan_lu(8192, size));
  const int root = (int)std::sqrt((double)size), half = (int)std::sqrt(size / 2.);
  struct {
    int px, py, layers;
  } const shapes[] = {{plan.px, plan.py, plan.layers}, {root, size / root, 1}, {std::max(1, half), std::max(1, size / 2 / std::max(1, half)), size > 1 ? 2 : 1}};
  for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); ++s) {
    Grid g;
    g.px     = shapes[s].px;
    g.py     = shapes[s].py;
    g.layers = shapes[s].layers;
    g.n      = n;
    g.tile   = 6;
    PetscCall(run(g, comm));
  }
  PetscCallTT(symmetric = plan_cholesky(8192, size));
  symmetric.n    = n;
  symmetric.tile = 3;
  PetscCall(run(symmetric, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode all()
{
  int rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  for (int some = 0; some <= size / 2; ++some) {
    MPI_Comm comm;
    PetscCallMPI(MPI_Comm_split(PETSC_COMM_WORLD, rank < some, size - rank, &comm)); // another order than that of the world
    PetscCall(run(comm));
    PetscCallMPI(MPI_Comm_free(&comm));
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "1 to %d processes, %d factorisations on the last one\n", size, checked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  const PetscErrorCode code = all();
  if (code) MPI_Abort(PETSC_COMM_WORLD, (int)code); // others may be waiting
  PetscCall(PetscFinalize());
  return 0;
}
