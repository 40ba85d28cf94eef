// Bad input, as a user's program gives it: every case ends on all processes, with the error or the reason that it should have.
//   bad_input                                       all cases in which the program goes on
//   bad_input -load_vec|-load_mat FILE               loads a vector or an operator, ends with the error of PETSc
//             [-untyped]                             into a vector whose type PETSc chooses by -vec_type, as its own programs do
//   bad_input -write_vec|-write_mat FILE [-bytes n]  writes one, cut after n bytes; with -load_* in the same run: then loads it
#include <petsctt.h>

#include "tridiagonal.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

const PetscReal nan_value = std::numeric_limits<PetscReal>::quiet_NaN();
int             failures  = 0;
std::string     message; // of the last error

// Keeps the message and prints nothing.
PetscErrorCode keep(MPI_Comm, int, const char *, const char *, PetscErrorCode code, PetscErrorType type, const char *text, void *)
{
  if (type == PETSC_ERROR_INITIAL && text) message = text;
  return code;
}

PetscErrorCode judge(bool good, const std::string &name, const std::string &what)
{
  int mine = good, all;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (!all) failures++;
  if (!all && !good) PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "wrong: %s: %s\n", name.c_str(), what.c_str()));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  if (all) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "right: %s: %s\n", name.c_str(), what.c_str()));
  PetscFunctionReturn(0);
}

// `action` must fail with `code` on every process and say `part`.
PetscErrorCode expect_error(const std::string &name, PetscErrorCode code, const std::string &part, const std::function<PetscErrorCode()> &action)
{
  PetscFunctionBeginUser;
  message.clear();
  PetscCall(PetscPushErrorHandler(keep, NULL));
  const PetscErrorCode got = action();
  PetscCall(PetscPopErrorHandler());
  PetscCall(judge(got == code && message.find(part) != std::string::npos, name, "error " + std::to_string((int)got) + ", " + message));
  PetscFunctionReturn(0);
}

struct Problem {
  std::vector<PetscInt> N, n;
  Mat                   A = nullptr;
  Vec                   b = nullptr, x = nullptr;
};

PetscErrorCode destroy(Problem &p)
{
  PetscFunctionBeginUser;
  PetscCall(MatDestroy(&p.A));
  PetscCall(VecDestroy(&p.b));
  PetscCall(VecDestroy(&p.x));
  PetscFunctionReturn(0);
}

// A_0 x I x I + A_1 x D x I + I x I x 2 D with a right-hand side of ones.
PetscErrorCode make_problem(const std::vector<PetscInt> &N, PetscInt how, const std::function<PetscScalar(PetscInt)> &diag, PetscScalar off, Problem *p)
{
  Mat A0, A1, D1, D2;

  PetscFunctionBeginUser;
  p->N = N;
  p->n.assign(N.size(), how);
  PetscCall(VecCreateTT(PETSC_COMM_WORLD, (PetscInt)N.size(), p->n.data(), N.data(), &p->b));
  PetscCall(VecTTSetConstant(p->b, 1.0));
  PetscCall(VecDuplicate(p->b, &p->x));
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, (PetscInt)N.size(), p->n.data(), N.data(), &p->A));
  PetscCall(tridiagonal(p->b, 0, diag, off, off, &A0));
  PetscCall(tridiagonal(p->b, 0, [](PetscInt i) { return PetscScalar(i % 2); }, 0.0, 0.0, &A1));
  PetscCall(tridiagonal(p->b, 1, [](PetscInt i) { return PetscScalar((PetscReal)(i + 1)); }, 0.0, 0.0, &D1));
  PetscCall(tridiagonal(p->b, 2, [](PetscInt i) { return PetscScalar((PetscReal)i); }, 0.0, 0.0, &D2));
  const Mat t0[] = {A0, NULL, NULL}, t1[] = {A1, D1, NULL}, t2[] = {A0, NULL, D2};
  PetscCall(MatTTAddTerm(p->A, 1.0, t0));
  if (off != 0.0) PetscCall(MatTTAddTerm(p->A, 1.0, t1));
  PetscCall(MatTTAddTerm(p->A, 2.0, t2));
  for (Mat *M : {&A0, &A1, &D1, &D2}) PetscCall(MatDestroy(M));
  PetscCall(MatAssemblyBegin(p->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(p->A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscScalar two_and_a_half(PetscInt)
{
  return 2.5;
}

PetscErrorCode good_problem(Problem *p)
{
  PetscFunctionBeginUser;
  PetscCall(make_problem({12, 4, 5}, PETSC_TT_AUTO, two_and_a_half, -1.0, p));
  PetscFunctionReturn(0);
}

struct Result {
  KSPConvergedReason reason;
  PCFailedReason     failure;
  PetscInt           its;
  PetscReal          residual; // recomputed, relative to the norm of b unless that is zero
  PetscBool          limited = PETSC_FALSE;
};

PetscErrorCode solve(Problem &p, const char *type, Result *result)
{
  KSP       ksp;
  PC        pc;
  Vec       r;
  PetscReal norm;
  PetscBool ttgmres;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, p.A, p.A));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(KSPSetTolerances(ksp, 1e-6, 1e-50, PETSC_DEFAULT, 60));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, p.b, p.x));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(KSPGetIterationNumber(ksp, &result->its));
  PetscCall(PCGetFailedReason(pc, &result->failure));
  PetscCall(PetscStrcmp(type, KSPTTGMRES, &ttgmres));
  if (ttgmres) PetscCall(KSPTTGMRESGetRankLimited(ksp, &result->limited));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDuplicate(p.b, &r));
  PetscCall(VecTTSetRoundRtol(r, 1e-12));
  PetscCall(VecTTSetMaxRank(r, 0));
  PetscCall(MatMult(p.A, p.x, r));
  PetscCall(VecAYPX(r, -1.0, p.b));
  PetscCall(VecNorm(r, NORM_2, &result->residual));
  PetscCall(VecNorm(p.b, NORM_2, &norm));
  if (norm > 0) result->residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(0);
}

std::string describe(const Result &r)
{
  return std::string(KSPConvergedReasons[r.reason]) + " after " + std::to_string((long long)r.its) + " iterations, residual " + std::to_string(r.residual);
}

const std::vector<const char *> solvers = {KSPCG, KSPGMRES, KSPFGMRES, KSPTTGMRES};

PetscErrorCode mismatched_modes()
{
  const std::vector<PetscInt> one = {7, 7, 7, 11}, other = {7, 11, 7, 7}; // equal sizes of every layout
  PetscFunctionBeginUser;
  for (PetscInt how : {(PetscInt)PETSC_TT_AUTO, (PetscInt)PETSC_TT_DISTRIBUTED}) {
    const std::vector<PetscInt> n(4, how);
    auto                        pair = [&](const std::function<PetscErrorCode(Vec, Vec)> &f) {
      return [&n, &one, &other, f]() {
        Vec x, y;
        PetscFunctionBeginUser;
        PetscCall(VecCreateTT(PETSC_COMM_WORLD, 4, n.data(), one.data(), &x));
        PetscCall(VecCreateTT(PETSC_COMM_WORLD, 4, n.data(), other.data(), &y));
        PetscCall(VecTTSetConstant(x, 1.0));
        PetscCall(VecTTSetConstant(y, 1.0));
        const PetscErrorCode code = f(x, y);
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&y));
        PetscFunctionReturn(code);
      };
    };
    PetscCall(expect_error("VecAXPY of different modes", PETSC_ERR_ARG_INCOMP, "11", pair([](Vec x, Vec y) { return VecAXPY(y, 1.0, x); })));
    PetscCall(expect_error("VecDot of different modes", PETSC_ERR_ARG_INCOMP, "11", pair([](Vec x, Vec y) {
                             PetscScalar a;
                             return VecDot(x, y, &a);
                           })));
    PetscCall(expect_error("VecCopy between different modes", PETSC_ERR_ARG_INCOMP, "11", pair([](Vec x, Vec y) { return VecCopy(x, y); })));
    PetscCall(expect_error("VecPointwiseMult of different modes", PETSC_ERR_ARG_INCOMP, "11", pair([](Vec x, Vec y) { return VecPointwiseMult(y, y, x); })));
    PetscCall(expect_error("MatMult with other modes", PETSC_ERR_ARG_INCOMP, "11", pair([&](Vec x, Vec y) {
                             Mat A;
                             PetscFunctionBeginUser;
                             PetscCall(MatCreateTT(PETSC_COMM_WORLD, 4, n.data(), one.data(), &A));
                             const Mat identity[] = {NULL, NULL, NULL, NULL};
                             PetscCall(MatTTAddTerm(A, 1.0, identity));
                             PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
                             PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
                             const PetscErrorCode code = MatMult(A, x, y);
                             PetscCall(MatDestroy(&A));
                             PetscFunctionReturn(code);
                           })));
  }
  Vec standard;
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 240, &standard));
  PetscCall(VecSet(standard, 1.0));
  Problem p;
  PetscCall(good_problem(&p));
  PetscCall(expect_error("VecAXPY of an ordinary vector", PETSC_ERR_ARG_WRONG, "", [&]() { return VecAXPY(p.b, 1.0, standard); }));
  PetscCall(destroy(p));
  // A vector that was read when a function failed stays locked against writing since PETSc 3.22: take a fresh one.
  PetscCall(VecDestroy(&standard));
  PetscCall(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 240, &standard));
  PetscCall(good_problem(&p));
  PetscCall(expect_error("MatMult into an ordinary vector", PETSC_ERR_ARG_WRONG, "", [&]() { return MatMult(p.A, p.b, standard); }));
  PetscCall(destroy(p));
  PetscCall(VecDestroy(&standard));
  PetscFunctionReturn(0);
}

PetscErrorCode wrong_factors()
{
  PetscFunctionBeginUser;
  Problem p;
  Mat     M;
  PetscCall(good_problem(&p));
  PetscCall(tridiagonal(p.b, 1, two_and_a_half, -1.0, -1.0, &M));
  const Mat factors[] = {M, NULL, NULL};
  PetscCall(expect_error("factor of the wrong size", PETSC_ERR_ARG_SIZ, "12", [&]() { return MatTTAddTerm(p.A, 1.0, factors); }));
  PetscCall(expect_error("mode matrix of the wrong size", PETSC_ERR_ARG_SIZ, "12", [&]() {
    PC pc;
    PetscFunctionBeginUser;
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetOperators(pc, p.A, p.A));
    PetscCall(PCSetType(pc, PCTTKRON));
    PetscCall(PCTTKronSetModeMat(pc, 0, M));
    const PetscErrorCode code = PCSetUp(pc);
    PetscCall(PCDestroy(&pc));
    PetscFunctionReturn(code);
  }));
  PetscCall(MatDestroy(&M));
  PetscCall(destroy(p));
  const PetscInt none[] = {3, 0}, negative[] = {3, -2}, n[] = {PETSC_TT_AUTO, PETSC_TT_AUTO};
  Vec            v;
  PetscCall(expect_error("no modes", PETSC_ERR_ARG_OUTOFRANGE, "0", [&]() { return VecCreateTT(PETSC_COMM_WORLD, 0, n, none, &v); }));
  PetscCall(expect_error("empty mode", PETSC_ERR_ARG_OUTOFRANGE, "0", [&]() { return VecCreateTT(PETSC_COMM_WORLD, 2, n, none, &v); }));
  PetscCall(expect_error("negative mode", PETSC_ERR_ARG_OUTOFRANGE, "-2", [&]() { return VecCreateTT(PETSC_COMM_WORLD, 2, n, negative, &v); }));
  PetscFunctionReturn(0);
}

PetscErrorCode not_a_number()
{
  PetscFunctionBeginUser;
  for (const char *type : solvers) {
    Problem p;
    Result  r;
    PetscCall(good_problem(&p));
    PetscCall(VecScale(p.b, nan_value));
    PetscCall(solve(p, type, &r));
    PetscCall(judge(r.reason == KSP_DIVERGED_NANORINF, std::string("NaN in b with ") + type, describe(r)));
    PetscCall(destroy(p));
    PetscCall(make_problem({12, 4, 5}, PETSC_TT_AUTO, [](PetscInt i) { return PetscScalar(i == 3 ? nan_value : 2.5); }, -1.0, &p));
    PetscCall(solve(p, type, &r));
    PetscCall(judge(r.reason == KSP_DIVERGED_NANORINF || r.reason == KSP_DIVERGED_PC_FAILED, std::string("NaN in A with ") + type, describe(r)));
    PetscCall(destroy(p));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode zero_rhs()
{
  PetscFunctionBeginUser;
  for (const char *type : solvers) {
    Problem   p;
    Result    r;
    PetscReal norm;
    PetscCall(good_problem(&p));
    PetscCall(VecSet(p.b, 0.0));
    PetscCall(solve(p, type, &r));
    PetscCall(VecNorm(p.x, NORM_2, &norm));
    PetscCall(judge(r.reason > 0 && r.its == 0 && norm == 0, std::string("zero right-hand side with ") + type, describe(r)));
    PetscCall(destroy(p));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode singular_mode()
{
  PetscFunctionBeginUser;
  for (const char *type : solvers) {
    Problem p;
    Result  r;
    PetscCall(make_problem({12, 4, 5}, PETSC_TT_AUTO, [](PetscInt i) { return PetscScalar(i == 3 ? 0.0 : 2.5); }, 0.0, &p));
    PetscCall(solve(p, type, &r));
    PetscCall(judge(r.reason == KSP_DIVERGED_PC_FAILED && r.failure == PC_FACTOR_NUMERIC_ZEROPIVOT, std::string("singular mode matrix with ") + type,
                    describe(r) + ", " + PCFailedReasons[r.failure < 0 ? 0 : r.failure]));
    PetscCall(destroy(p));
  }
  PetscFunctionReturn(0);
}

// A cap that keeps the solver from its tolerance. Stock types only test their recurrence, so of them we ask that they end.
PetscErrorCode rank_cap_one()
{
  PetscFunctionBeginUser;
  for (const char *type : solvers) {
    Problem           p;
    Result            r;
    PetscBool         ours;
    VecTTRoundingInfo info;
    PetscCall(good_problem(&p));
    PetscCall(VecTTSetMaxRank(p.b, 1));
    PetscCall(VecTTSetMaxRank(p.x, 1));
    PetscCall(solve(p, type, &r));
    PetscCall(VecTTGetRoundingInfo(p.x, &info));
    PetscCall(PetscStrcmp(type, KSPTTGMRES, &ours));
    const PetscInt *ranks;
    PetscCall(VecTTGetRanks(p.x, &ranks));
    const bool capped = ranks[1] == 1 && ranks[2] == 1;
    PetscCall(judge(capped && (!ours || (r.reason < 0 && r.limited)), std::string("rank cap 1 with ") + type,
                    describe(r) + (r.limited ? ", limited by the cap" : "")));
    PetscCall(destroy(p));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode more_processes_than_points()
{
  PetscFunctionBeginUser;
  for (const char *type : solvers) {
    Problem p;
    Result  r;
    PetscCall(make_problem({2, 3, 2}, PETSC_TT_DISTRIBUTED, two_and_a_half, -1.0, &p));
    PetscCall(solve(p, type, &r));
    PetscCall(judge(r.reason > 0 && r.residual < 1e-5, std::string("modes of 2, 3 and 2 points with ") + type, describe(r)));
    PetscCall(destroy(p));
  }
  PetscFunctionReturn(0);
}

PetscErrorCode write_cut(const char *file, PetscBool mat, PetscInt bytes)
{
  Problem     p;
  PetscViewer viewer;
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(good_problem(&p));
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_WRITE, &viewer));
  if (mat) PetscCall(MatView(p.A, viewer));
  else PetscCall(VecView(p.b, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (rank == 0 && bytes >= 0) PetscCheck(!truncate(file, (off_t)bytes), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot cut %s", file);
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCall(destroy(p));
  PetscFunctionReturn(0);
}

PetscErrorCode load(const char *file, PetscBool mat)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
  if (mat) {
    Mat A;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
    PetscCall(MatSetType(A, MATTT));
    PetscCall(MatLoad(A, viewer));
    PetscCall(MatDestroy(&A));
  } else {
    Vec x;
    PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
    PetscBool untyped;
    PetscCall(PetscOptionsHasName(NULL, NULL, "-untyped", &untyped));
    if (!untyped) PetscCall(VecSetType(x, VECTT));
    PetscCall(VecLoad(x, viewer));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "loaded without an error\n"));
  PetscFunctionReturn(0);
}

} // namespace

int main(int argc, char **argv)
{
  char      file[PETSC_MAX_PATH_LEN];
  PetscBool set, mat = PETSC_FALSE, files = PETSC_FALSE;
  PetscInt  bytes = -1;

  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(PetscTTInitializePackage());
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-bytes", &bytes, NULL));
  for (const char *kind : {"vec", "mat"}) {
    PetscCall(PetscOptionsGetString(NULL, NULL, (std::string("-write_") + kind).c_str(), file, sizeof file, &set));
    if (set) PetscCall(write_cut(file, mat, bytes));
    files = (PetscBool)(files || set);
    PetscCall(PetscOptionsGetString(NULL, NULL, (std::string("-load_") + kind).c_str(), file, sizeof file, &set));
    if (set) PetscCall(load(file, mat));
    files = (PetscBool)(files || set);
    mat   = PETSC_TRUE;
  }
  if (!files) {
    PetscCall(mismatched_modes());
    PetscCall(wrong_factors());
    PetscCall(not_a_number());
    PetscCall(zero_rhs());
    PetscCall(singular_mode());
    PetscCall(rank_cap_one());
    PetscCall(more_processes_than_points());
  }
  PetscCall(PetscFinalize());
  return failures ? 1 : 0;
}
