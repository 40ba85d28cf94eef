static char help[] = "Application of operators to tensor trains: rates against the triad and DGEMM, messages and words against the model.\n\n";

/*
  Three operators: the Laplacian in three and in six dimensions (tridiagonal factors) and the affine operator of the cookies problem
  (1580 points and four parameters). The product is formed, not rounded: block ranks times TT ranks.

  Sample runs.
      ./apply
      ./apply -problem laplace3d -n 2000 -r 40
      ./apply -problem cookies -samples 101 -r 80
      mpiexec -n 8 ./apply -machine_dgemm 500          messages and words

  What to look at: README.md of this folder says what each figure means.
*/
#include "common/measure.hpp"
#include "common/problems.hpp"

#include "mat/mattt.hpp"
#include "sys/compat.hpp"
#include "sys/guard.hpp"
#include "tt/ops/fill.hpp"
#include "vec/vectt.hpp"

#include <algorithm>
#include <set>

using namespace petsctt;
using bench::Figures;
using bench::Machine;
using bench::Problem;

namespace {

struct Options {
  char     problem[16] = "all", mesh[PETSC_MAX_PATH_LEN] = "2x2";
  PetscInt n = 0, r = 0;                  // 0: a default of each problem
  PetscInt samples = 101, assembled = 32;
};

PetscErrorCode get_options(Options &o)
{
  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Application", NULL);
  PetscCall(PetscOptionsString("-problem", "laplace3d, laplace6d, cookies or all", NULL, o.problem, o.problem, sizeof(o.problem), NULL));
  PetscCall(PetscOptionsString("-mesh", "mesh of the cookies problem", NULL, o.mesh, o.mesh, sizeof(o.mesh), NULL));
  PetscCall(PetscOptionsInt("-n", "points of a mode of the Laplacians; default 1000 in three and 200 in six dimensions", NULL, o.n, &o.n, NULL));
  PetscCall(PetscOptionsInt("-r", "TT ranks of the train; default 40, 30 in six dimensions", NULL, o.r, &o.r, NULL));
  PetscCall(PetscOptionsInt("-samples", "values of each parameter of the cookies problem", NULL, o.samples, &o.samples, NULL));
  PetscCall(PetscOptionsInt("-assembled", "points per direction for the comparison with the assembled Laplacian; 0: none", NULL, o.assembled, &o.assembled, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

// What one application must do at least, summed over the processes.
struct Work {
  double flops    = 0; // 2 r0 r1 for each entry of each matrix (complex: 8)
  double bytes    = 0; // the train read and the product written once, each matrix read once
  double messages = 0; // each process gets one from each owner of its ghosts, once per mode and matrix
  double words    = 0; // ghosts r0 r1
};

PetscErrorCode count_work(const Problem &p, const Train &x, const Train &y, Work &work)
{
  double local[4] = {0, 0, 0, 0};

  PetscFunctionBegin;
  for (Int k = 0; k < x.d(); ++k) {
    const double w = (double)x.r(k) * (double)x.r(k + 1);
    local[1] += sizeof(Scalar) * (double)(x.core(k).count() + y.core(k).count());
    for (Mat M : p.factors[(std::size_t)k]) {
      MatInfo   info;
      PetscBool mpi;
      PetscCall(MatGetInfo(M, MAT_LOCAL, &info));
      local[0] += (is_complex ? 8 : 2) * info.nz_used * w;
      local[1] += info.nz_used * (sizeof(Scalar) + sizeof(Int));
      PetscCall(PetscObjectTypeCompare((PetscObject)M, MATMPIAIJ, &mpi));
      if (!mpi) continue;
      Mat             Ao;
      const PetscInt *ghost;
      PetscInt        ghosts;
      PetscLayout     columns;
      std::set<int>   owners;
      PetscCall(MatMPIAIJGetSeqAIJ(M, NULL, &Ao, &ghost));
      PetscCall(MatGetLocalSize(Ao, NULL, &ghosts));
      PetscCall(MatGetLayouts(M, NULL, &columns));
      for (PetscInt g = 0; g < ghosts; ++g) {
        PetscMPIInt owner;
        PetscCall(PetscLayoutFindOwner(columns, ghost[g], &owner));
        owners.insert(owner);
      }
      local[2] += (double)owners.size();
      local[3] += (double)ghosts * w;
    }
  }
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, local, 4, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  work.flops    = local[0];
  work.bytes    = local[1];
  work.messages = local[2];
  work.words    = local[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

Train random(const Problem &p, PetscInt r)
{
  const SpacePtr  &space = space_of(p.A);
  std::vector<Int> ranks((std::size_t)space->d() + 1, r);
  ranks.front() = ranks.back() = 1;
  return random_train(space, ranks, 1);
}

// Every factor of every mode applied to the core of that mode, all columns at once.
PetscErrorCode apply_blocks(const Problem &p, const Train &x, Core &Z)
{
  PetscFunctionBegin;
  for (Int k = 0; k < x.d(); ++k)
    for (Mat M : p.factors[(std::size_t)k]) PetscCall(apply_mode(M, Apply::plain, x.core(k), Z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The same as one would write it down: each column copied into a vector, MatMult(), and back.
PetscErrorCode apply_columns(const Problem &p, const Train &x, Core &Z)
{
  PetscFunctionBegin;
  for (Int k = 0; k < x.d(); ++k)
    for (Mat M : p.factors[(std::size_t)k]) {
      const Core  &X = x.core(k);
      Vec          u, v;
      PetscScalar *a;
      PetscCall(MatCreateVecs(M, &u, &v));
      PetscCallTT(Z = Core(X.r0, X.n, X.r1));
      for (Int c = 0; c < X.r1; ++c)
        for (Int r = 0; r < X.r0; ++r) {
          PetscCall(VecGetArray(u, &a));
          for (Int i = 0; i < X.n; ++i) a[i] = X(r, i, c);
          PetscCall(VecRestoreArray(u, &a));
          PetscCall(MatMult(M, u, v));
          PetscCall(VecGetArray(v, &a));
          for (Int i = 0; i < X.n; ++i) Z(r, i, c) = a[i];
          PetscCall(VecRestoreArray(v, &a));
        }
      PetscCall(VecDestroy(&u));
      PetscCall(VecDestroy(&v));
    }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode nothing()
{
  return PETSC_SUCCESS;
}

double over(double a, double b)
{
  return b > 0 ? a / b : 1; // both are 0 on one process
}

PetscErrorCode bench_apply(const Problem &p, PetscInt r, const Machine &machine, Figures &figures)
{
  const std::string name = "apply." + p.name;
  const double      P    = space_of(p.A)->comm().size();
  Train             x, y;
  Core              Z;
  Work              work;
  bench::Traffic    traffic;
  bench::Memory     memory;
  double            seconds, blocks, columns;

  PetscFunctionBegin;
  PetscCallTT(x = random(p, r));
  PetscCall(petsctt::apply(p.A, Apply::plain, x, y)); // makes the plans of the exchanges
  PetscCall(bench::time_best(
    [&]() -> PetscErrorCode {
      PetscFunctionBegin;
      PetscCallTT(y = Train(x.space()));
      memory.start();
      traffic.start();
      PetscFunctionReturn(PETSC_SUCCESS);
    },
    [&]() { return petsctt::apply(p.A, Apply::plain, x, y); }, &seconds));
  PetscCall(traffic.stop());
  PetscCall(memory.stop());
  PetscCall(count_work(p, x, y, work));
  PetscCall(bench::time_best(nothing, [&]() { return apply_blocks(p, x, Z); }, &blocks));
  PetscCall(bench::time_best(nothing, [&]() { return apply_columns(p, x, Z); }, &columns));

  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, %s, TT rank %" PetscInt_FMT ", of the product %" PetscInt_FMT "\n", p.name.c_str(), x.space()->describe().c_str(), r, y.max_rank()));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %.4f s: %.3g Gflop/s, %.3g GB/s of %.3g GB; all columns of the factors at once %.4f s, one MatMult() per column %.4f s\n", seconds, 1e-9 * work.flops / seconds,
                        1e-9 * work.bytes / seconds, 1e-9 * work.bytes, blocks, columns));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  messages of all processes %.0f, model %.0f; words %.6g, model %.6g\n", traffic.total_messages, work.messages, traffic.total_words, work.words));
  figures.add(name + ".seconds", seconds);
  figures.add(name + ".stream_fraction", work.bytes / seconds / P / machine.triad);
  figures.add(name + ".dgemm_fraction", work.flops / seconds / P / machine.dgemm);
  figures.add(name + ".speedup_over_columns", columns / blocks);
  figures.add(name + ".messages", traffic.messages);
  figures.add(name + ".messages_over_model", over(traffic.total_messages, work.messages));
  figures.add(name + ".words", traffic.words);
  figures.add(name + ".words_over_model", over(traffic.total_words, work.words));
  figures.add(name + ".peak_over_product", memory.bytes / (sizeof(Scalar) * std::max(1.0, (double)y.local_entries())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// A x as a full vector by the assembled matrix, against the train.
PetscErrorCode bench_assembled(PetscInt n, PetscInt r, Figures &figures)
{
  Problem   p;
  Mat       B;
  Vec       vx, vy, fx, fy, fb;
  Train     x, y;
  double    train, full;
  PetscReal error, norm;

  PetscFunctionBegin;
  PetscCall(bench::make_laplacian(3, n, p));
  PetscCall(MatTTGetAssembled(p.A, &B));
  PetscCallTT(x = random(p, r));
  PetscCall(bench::time_best(nothing, [&]() { return petsctt::apply(p.A, Apply::plain, x, y); }, &train));
  PetscCall(create_vec(space_of(p.A), NULL, &vx));
  PetscCall(create_vec(space_of(p.A), NULL, &vy));
  PetscCall(set_train(vx, std::move(x)));
  PetscCall(set_train(vy, std::move(y)));
  PetscCall(VecTTGetFull(vx, &fx));
  PetscCall(VecTTGetFull(vy, &fy));
  PetscCall(VecDuplicate(fx, &fb));
  PetscCall(bench::time_best(nothing, [&]() { return MatMult(B, fx, fb); }, &full));
  PetscCall(VecNorm(fb, NORM_2, &norm));
  PetscCall(VecAXPY(fb, -1, fy));
  PetscCall(VecNorm(fb, NORM_2, &error));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "assembled Laplacian on %" PetscInt_FMT "^3: train of TT rank %" PetscInt_FMT " %.5f s, full vector %.5f s, difference %.2e\n", n, r, train, full, (double)(error / norm)));
  figures.add("apply.assembled.speedup", full / train);
  figures.add("apply.assembled.difference", (double)(error / norm));
  for (Vec *v : {&vx, &vy, &fx, &fy, &fb}) PetscCall(VecDestroy(v));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode body(Figures &figures)
{
  Options o;
  Machine machine;

  PetscFunctionBegin;
  PetscCall(get_options(o));
  const std::string which = o.problem;
  PetscCheck(which == "all" || which == "laplace3d" || which == "laplace6d" || which == "cookies", PETSC_COMM_WORLD, PETSC_ERR_ARG_UNKNOWN_TYPE,
             "-problem %s: laplace3d, laplace6d, cookies or all", o.problem);
  PetscCall(bench::measure_machine(&machine));
  PetscCall(bench::report_machine(machine, figures));
  if (which == "all" || which == "laplace3d") {
    Problem p;
    PetscCall(bench::make_laplacian(3, o.n > 0 ? o.n : 1000, p));
    PetscCall(bench_apply(p, o.r > 0 ? o.r : 40, machine, figures));
    if (o.assembled > 0) PetscCall(bench_assembled(o.assembled, 10, figures));
  }
  if (which == "all" || which == "laplace6d") {
    Problem p;
    PetscCall(bench::make_laplacian(6, o.n > 0 ? o.n : 200, p));
    PetscCall(bench_apply(p, o.r > 0 ? o.r : 30, machine, figures));
  }
  if (which == "all" || which == "cookies") {
    Problem p;
    PetscCall(bench::make_cookies(o.mesh, o.samples, p));
    PetscCall(bench_apply(p, o.r > 0 ? o.r : 40, machine, figures));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

int main(int argc, char **argv)
{
  return bench::run(argc, argv, help, body);
}
