// KSPTTGMRES against dense solves, and what it says when it cannot solve.
#include "pc_fixture.hpp"
#include "petscttksp.h"

#include <petsc/private/kspimpl.h>

#include <cstdarg>
#include <limits>

using namespace petsctt;
using namespace petsctt::test;
using std::string;
using std::vector;
using Terms = vector<FormulaTerm>;

namespace {

const vector<Int> sizes = {6, 5, 4};

Scalar imaginary(Real re, Real im)
{
#if defined(PETSC_USE_COMPLEX)
  return Scalar(re, im);
#else
  return re + 0 * im;
#endif
}

Terms laplacian() { return {{1, {laplace(), {}, {}}}, {1, {{}, laplace(), {}}}, {1, {{}, {}, laplace()}}}; }

// (laplace + 1/2) x I x I + stiffness of a part x diag(0, 1, ..) x I + another x I x diag
Terms parametric()
{
  const Formula half = diagonal([](Int) { return Scalar(0.5); }), alpha = diagonal([](Int i) { return Scalar((Real)i); });
  const Formula left = diagonal([](Int i) { return Scalar(i < 3 ? 1. : 0.); }), right = diagonal([](Int i) { return Scalar(i > 3 ? 0.7 : 0.); });
  return {{1, {laplace(), {}, {}}}, {1, {half, {}, {}}}, {1, {left, alpha, {}}}, {1, {right, {}, alpha}}};
}

// Not symmetric; complex where scalars are.
Terms general() { return {{1, {banded(1), {}, {}}}, {imaginary(0.3, 0.2), {{}, banded(2), {}}}, {imaginary(0.1, -0.1), {{}, banded(4), banded(3)}}}; }

// Gaussian elimination with partial pivoting of the assembled operator.
Dense solve_dense(const Terms &terms, const Dense &b, bool transpose = false)
{
  const std::size_t n = b.a.size();
  vector<Scalar>    A(n * n);
  Dense             x = b;
  for (std::size_t j = 0; j < n; ++j) {
    Dense e(b.N);
    e.a[j]            = 1;
    const Dense column = apply_terms(e, terms);
    for (std::size_t i = 0; i < n; ++i) A[transpose ? j + n * i : i + n * j] = column.a[i];
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (petsctt::abs(A[i + n * k]) > petsctt::abs(A[p + n * k])) p = i;
    for (std::size_t j = 0; j < n; ++j) std::swap(A[k + n * j], A[p + n * j]);
    std::swap(x.a[k], x.a[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Scalar f = A[i + n * k] / A[k + n * k];
      if (f == Scalar(0)) continue;
      for (std::size_t j = k; j < n; ++j) A[i + n * j] -= f * A[k + n * j];
      x.a[i] -= f * x.a[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t j = k + 1; j < n; ++j) x.a[k] -= A[k + n * j] * x.a[j];
    x.a[k] /= A[k + n * k];
  }
  return x;
}

// Everything PETSc prints in the scope, on the first process.
class Captured {
public:
  Captured() : old_(PetscVFPrintf)
  {
    text().clear();
    PetscVFPrintf = keep;
  }
  ~Captured() { PetscVFPrintf = old_; }
  static string &text()
  {
    static string t;
    return t;
  }
  // Process 0 has it all.
  static void expect(const string &what)
  {
    EXPECT_TRUE(rank() || text().find(what) != string::npos) << "no \"" << what << "\" in\n" << text();
  }

private:
  static PetscErrorCode keep(FILE *, const char format[], va_list args)
  {
    char        line[8192];
    std::size_t length;

    PetscFunctionBegin;
    PetscCall(PetscVSNPrintf(line, sizeof(line), format, &length, args));
    text() += line;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode (*old_)(FILE *, const char[], va_list);
};

// A system with a solver; options have the prefix t_.
struct System {
  SpacePtr    space;
  Terms       terms;
  MatHandle   A;
  VecHandle   b, x;
  KSPHandle   ksp;
  PC          pc = NULL;

  PetscErrorCode create(const Terms &t, const string &kinds = "d", PetscReal rtol = 1e-9, PCType type = PCNONE)
  {
    PetscFunctionBegin;
    terms = t;
    space = make_space(sizes, kinds);
    PetscCall(make_operator(space, terms, A.out()));
    PetscCall(random_vec(space, {1, 2, 2, 1}, 5, b.out()));
    PetscCall(create_vec(space, b, x.out()));
    PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
    PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPTTGMRES));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, type));
    PetscCall(KSPSetTolerances(ksp, rtol, 1e-300, PETSC_DEFAULT, 500));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode solve()
  {
    PetscFunctionBegin;
    PetscCall(KSPSetFromOptions(ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  KSPConvergedReason reason() const
  {
    KSPConvergedReason r;
    KSPGetConvergedReason(ksp, &r);
    return r;
  }
  PetscInt its() const
  {
    PetscInt n;
    KSPGetIterationNumber(ksp, &n);
    return n;
  }
  bool rank_limited() const
  {
    PetscBool limited;
    KSPTTGMRESGetRankLimited(ksp, &limited);
    return limited;
  }
  // || b - A x || / || b || with full arrays
  Real residual() const { return distance(apply_terms(dense(train_of(x)), terms), dense(train_of(b))); }
  // converged, the true residual is at the tolerance and is what the solver says it is, x is the dense solution
  void expect_solved(Real rtol, Real error)
  {
    EXPECT_GT((int)reason(), 0) << "after " << its() << " iterations, residual " << residual();
    EXPECT_LE(residual(), 1.01 * rtol + 1e-14);
    PetscReal told, told_ksp;
    EXPECT_OK(KSPTTGMRESGetTrueResidualNorm(ksp, &told));
    EXPECT_OK(KSPGetResidualNorm(ksp, &told_ksp));
    EXPECT_EQ(told, told_ksp);
    const Real norm = dense(train_of(b)).norm();
    EXPECT_NEAR(told / norm, residual(), 0.1 * residual() + 1e-13);
    EXPECT_LT(distance(dense(train_of(x)), solve_dense(terms, dense(train_of(b)))), error);
    EXPECT_FALSE(rank_limited());
  }
};

TEST(TTGMRES, LaplacianOnEveryDistribution)
{
  for (const char *kinds : {"d", "r", "drr", "ulf"}) {
    SCOPED_TRACE(kinds);
    System s;
    ASSERT_OK(s.create(laplacian(), kinds));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
  }
}

// The dense solution is the same on any number of processes.
TEST(TTGMRES, SameAnswerOnAnyNumberOfProcesses)
{
  System s;
  ASSERT_OK(s.create(parametric(), "dr", 1e-12, PCTTKRON));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-12, 1e-10);
}

TEST(TTGMRES, ParametricWithKroneckerPreconditioner)
{
  System s;
  ASSERT_OK(s.create(parametric(), "d", 1e-9, PCTTKRON));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
  EXPECT_LT(s.its(), 40);
}

TEST(TTGMRES, GeneralOperator)
{
  for (const char *side : {"right", "left"})
    for (PCType type : {PCNONE, PCTTKRON}) {
      SCOPED_TRACE(string(side) + " " + type);
      Options o({string("-t_ksp_pc_side ") + side});
      System  s;
      ASSERT_OK(s.create(general(), "d", 1e-9, type));
      ASSERT_OK(s.solve());
      s.expect_solved(1e-9, 1e-7);
      EXPECT_EQ(o.unused(), "");
    }
}

// From the left, with a preconditioner that is far from having the norm of the operator: the target is b - A x.
TEST(TTGMRES, LeftSide)
{
  for (const char *restart : {"100", "6"}) {
    SCOPED_TRACE(restart);
    Options o({"-t_ksp_pc_side left", "-t_pc_ttkron_nearest", "-t_pc_ttkron_stretch 1.2", string("-t_ksp_ttgmres_restart ") + restart});
    System  s;
    ASSERT_OK(s.create({{1e4, {laplace(), {}, {}}}, {1e4, {{}, laplace(), {}}}, {1e4, {{}, {}, laplace()}}}, "d", 1e-9, PCTTKRON));
    ASSERT_OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
    ASSERT_OK(VecTTSetConstant(s.x, 1e-3));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
    EXPECT_EQ(o.unused(), "");
  }
  Options     o({"-t_ksp_pc_side left", "-t_ksp_ttgmres_flexible"});
  System      s;
  QuietErrors quiet;
  ASSERT_OK(s.create(laplacian()));
  EXPECT_EQ((int)s.solve(), PETSC_ERR_SUP);
  EXPECT_NE(QuietErrors::text().find("no -ksp_ttgmres_flexible"), string::npos) << QuietErrors::text();
}

// A = c I: x = b / c in one step.
TEST(TTGMRES, MultipleOfTheIdentity)
{
  const Scalar c = imaginary(0, 1) == Scalar(0) ? Scalar(2) : imaginary(0, 1);
  System       s;
  ASSERT_OK(s.create({{c, {{}, {}, {}}}}, "d", 1e-12));
  ASSERT_OK(s.solve());
  EXPECT_GT((int)s.reason(), 0);
  EXPECT_LE(s.its(), 1);
  EXPECT_LT(distance(dense(train_of(s.x)), scaled(Scalar(1) / c, dense(train_of(s.b)))), 1e-12);
}

TEST(TTGMRES, TransposedSolve)
{
  for (PCSide side : {PC_RIGHT, PC_LEFT})
    for (PCType type : {PCNONE, PCTTKRON}) {
      System s;
      ASSERT_OK(s.create(general(), "d", 1e-9, type));
      ASSERT_OK(KSPSetPCSide(s.ksp, side));
      ASSERT_OK(KSPSetFromOptions(s.ksp));
      ASSERT_OK(KSPSolveTranspose(s.ksp, s.b, s.x));
      EXPECT_GT((int)s.reason(), 0);
      EXPECT_LT(distance(dense(train_of(s.x)), solve_dense(s.terms, dense(train_of(s.b)), true)), 1e-7);
    }
}

TEST(TTGMRES, NonzeroInitialGuess)
{
  for (const char *flexible : {"0", "1"}) {
    SCOPED_TRACE(flexible);
    Options o({string("-t_ksp_ttgmres_flexible ") + flexible});
    System  s;
    ASSERT_OK(s.create(laplacian()));
    VecHandle guess;
    ASSERT_OK(random_vec(s.space, {1, 3, 2, 1}, 77, guess.out()));
    ASSERT_OK(VecScale(guess, 30));
    ASSERT_OK(VecCopy(guess, s.x));
    ASSERT_OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
    const PetscInt first = s.its();
    ASSERT_OK(s.solve()); // from the solution
    EXPECT_GT((int)s.reason(), 0);
    EXPECT_LT(s.its(), first);
    EXPECT_LE(s.residual(), 1.01e-9);
  }
}

TEST(TTGMRES, ZeroRightHandSide)
{
  System s;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(VecSet(s.b, 0));
  ASSERT_OK(VecTTSetConstant(s.x, 3));
  ASSERT_OK(s.solve());
  EXPECT_GT((int)s.reason(), 0);
  EXPECT_EQ(s.its(), 0);
  PetscReal norm;
  ASSERT_OK(VecNorm(s.x, NORM_2, &norm));
  EXPECT_EQ(norm, 0);
}

TEST(TTGMRES, NaNInTheRightHandSide)
{
  System s;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(VecTTSetConstant(s.b, std::numeric_limits<Real>::quiet_NaN()));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.reason(), KSP_DIVERGED_NANORINF);
}

// Also in the rows of one process only.
TEST(TTGMRES, NaNInTheOperator)
{
  const Formula nan = [](Int i, Int j) { return i == 5 && j == 5 ? Scalar(std::numeric_limits<Real>::quiet_NaN()) : Scalar(i == j ? 1 : 0); };
  System        s;
  ASSERT_OK(s.create({{1, {laplace(), {}, {}}}, {1, {nan, {}, laplace()}}}));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.reason(), KSP_DIVERGED_NANORINF);
}

TEST(TTGMRES, NaNInTheInitialGuess)
{
  System s;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(VecTTSetConstant(s.x, std::numeric_limits<Real>::infinity()));
  ASSERT_OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.reason(), KSP_DIVERGED_NANORINF);
}

TEST(TTGMRES, IterationLimit)
{
  Options o({"-t_ksp_max_it 3", "-t_ksp_converged_reason"});
  System  s;
  ASSERT_OK(s.create(laplacian()));
  Captured captured;
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.reason(), KSP_DIVERGED_ITS);
  EXPECT_EQ(s.its(), 3);
  EXPECT_FALSE(s.rank_limited());
  EXPECT_LT(s.residual(), 1);
  Captured::expect("DIVERGED_ITS");
  Captured::expect("Recomputed relative residual");
  EXPECT_EQ(Captured::text().find("rank cap"), string::npos);
}

TEST(TTGMRES, RankCap)
{
  for (const char *cap : {"1", "2", "3"}) {
    SCOPED_TRACE(cap);
    Options o({"-t_ksp_converged_reason"});
    System  s;
    ASSERT_OK(s.create(laplacian()));
    ASSERT_OK(VecTTSetMaxRank(s.x, std::atoi(cap)));
    Captured captured;
    ASSERT_OK(s.solve());
    EXPECT_TRUE(s.reason() == KSP_DIVERGED_BREAKDOWN || s.reason() == KSP_DIVERGED_ITS) << KSPConvergedReasons[s.reason()];
    EXPECT_TRUE(s.rank_limited());
    EXPECT_LT(s.its(), 500);
    Captured::expect("The rank cap kept the solve from converging: raise -vec_tt_max_rank or -ksp_rtol");
    EXPECT_LE(train_of(s.x).max_rank(), std::atoi(cap));
    PetscReal told;
    ASSERT_OK(KSPTTGMRESGetTrueResidualNorm(s.ksp, &told));
    EXPECT_NEAR(told / dense(train_of(s.b)).norm(), s.residual(), 0.1 * s.residual()); // what is left is said
    // without the cap the same solver converges
    ASSERT_OK(VecTTSetMaxRank(s.x, 0));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
  }
}

TEST(TTGMRES, SmallRestart)
{
  for (const char *flexible : {"0", "1"}) {
    SCOPED_TRACE(flexible);
    Options o({"-t_ksp_ttgmres_restart 5", string("-t_ksp_ttgmres_flexible ") + flexible});
    System  s;
    ASSERT_OK(s.create(laplacian()));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
    EXPECT_GT(s.its(), 10);
    PetscInt restart;
    ASSERT_OK(KSPTTGMRESGetRestart(s.ksp, &restart));
    EXPECT_EQ(restart, 5);
  }
}

TEST(TTGMRES, Windows)
{
  for (PetscInt window : {0, 1, 4}) {
    SCOPED_TRACE(window);
    System s;
    ASSERT_OK(s.create(general()));
    ASSERT_OK(KSPTTGMRESSetWindow(s.ksp, window));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
    PetscInt w;
    ASSERT_OK(KSPTTGMRESGetWindow(s.ksp, &w));
    EXPECT_EQ(w, window);
  }
}

// Memory is taken for the steps that are made, not for those that are allowed.
TEST(TTGMRES, HugeRestart)
{
  for (const char *dots : {"true", "false"}) {
    Options o({"-t_ksp_ttgmres_restart 1000000", string("-t_ksp_ttgmres_sketched_dots ") + dots});
    System  s;
    ASSERT_OK(s.create(laplacian()));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
  }
}

TEST(TTGMRES, BadParameters)
{
  System s;
  ASSERT_OK(s.create(laplacian()));
  QuietErrors quiet;
  EXPECT_EQ((int)KSPTTGMRESSetRestart(s.ksp, 0), (int)PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(QuietErrors::text().find("Restart 0"), string::npos);
  EXPECT_EQ((int)KSPTTGMRESSetWindow(s.ksp, -2), (int)PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE((int)KSPSetPCSide(s.ksp, PC_SYMMETRIC) || (int)KSPSetUp(s.ksp), 0);
}

// A preconditioner that is different in every application.
TEST(TTGMRES, InnerKrylovSolver)
{
  Options o({"-t_ksp_ksp_type cg", "-t_ksp_ksp_rtol 1e-1", "-t_ksp_pc_type none"});
  System  s;
  ASSERT_OK(s.create(laplacian(), "d", 1e-9, PCKSP));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
  EXPECT_LT(s.its(), 30);
  Captured captured;
  ASSERT_OK(KSPView(s.ksp, PETSC_VIEWER_STDOUT_WORLD));
  Captured::expect("variable (flexible)");
}

TEST(TTGMRES, InnerSolversOfKroneckerPreconditioner)
{
  Options o({"-t_pc_ttkron_mode_0_ksp_type gmres", "-t_pc_ttkron_mode_0_ksp_rtol 1e-2", "-t_pc_ttkron_mode_0_pc_type none"});
  System  s;
  ASSERT_OK(s.create(parametric(), "d", 1e-9, PCTTKRON));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
}

TEST(TTGMRES, SingularModeMatrix)
{
  for (PCSide side : {PC_RIGHT, PC_LEFT}) {
    System    s;
    MatHandle M;
    ASSERT_OK(s.create(laplacian(), "d", 1e-9, PCTTKRON));
    ASSERT_OK(KSPSetPCSide(s.ksp, side));
    ASSERT_OK(mode_matrix(*s.space, 0, diagonal([](Int i) { return Scalar(i == 2 ? 0 : 1); }), M.out()));
    ASSERT_OK(PCTTKronSetModeMat(s.pc, 0, M));
    ASSERT_OK(s.solve());
    EXPECT_EQ(s.reason(), KSP_DIVERGED_PC_FAILED) << KSPConvergedReasons[s.reason()];
  }
}

// In the middle of a cycle KSPBuildSolution() gives the iterate whose residual is the one that is monitored.
struct Seen {
  Vec                         b;
  Mat                         A;
  vector<std::pair<Real, Real>> norms; // monitored, true
};
PetscErrorCode look(KSP ksp, PetscInt, PetscReal rnorm, void *ctx)
{
  Seen     *seen = static_cast<Seen *>(ctx);
  Vec       x;
  VecHandle r;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecDuplicate(x, r.out()));
  PetscCall(VecTTSetRoundRtol(r, 1e-13));
  PetscCall(MatMult(seen->A, x, r));
  PetscCall(VecAYPX(r, -1, seen->b));
  PetscCall(VecNorm(r, NORM_2, &norm));
  seen->norms.push_back({rnorm, norm});
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST(TTGMRES, MonitoredResidual)
{
  for (const char *flexible : {"0", "1"}) {
    SCOPED_TRACE(flexible);
    Options o({string("-t_ksp_ttgmres_flexible ") + flexible, "-t_ksp_ttgmres_restart 6"});
    System  s;
    ASSERT_OK(s.create(parametric(), "d", 1e-9, PCTTKRON));
    ASSERT_OK(VecTTSetConstant(s.x, 2));
    ASSERT_OK(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE));
    Seen seen{s.b, s.A, {}};
    ASSERT_OK(KSPMonitorSet(s.ksp, look, &seen, NULL));
    ASSERT_OK(s.solve());
    s.expect_solved(1e-9, 1e-7);
    EXPECT_EQ((PetscInt)seen.norms.size(), s.its() + 1);
    for (std::size_t i = 0; i < seen.norms.size(); i++) EXPECT_NEAR(seen.norms[i].second / seen.norms[i].first, 1, 0.3) << "iteration " << i;
  }
}

TEST(TTGMRES, Printing)
{
  Options o({"-t_ksp_monitor_true_residual", "-t_ksp_converged_reason", "-t_ksp_view", "-t_ksp_ttgmres_monitor_ranks"});
  System  s;
  ASSERT_OK(s.create(laplacian()));
  Captured captured;
  ASSERT_OK(s.solve());
  for (const char *text : {"0 KSP unpreconditioned resid norm", "true resid norm", "TT ranks", "Linear t_ solve converged due to CONVERGED_RTOL", "Recomputed relative residual",
                           "type: ttgmres", "restart=100", "recomputed residual norm", "right preconditioning"})
    Captured::expect(text);
  EXPECT_EQ(o.unused(), "");
}

PetscErrorCode multiply_shell(Mat S, Vec x, Vec y)
{
  Mat A;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(S, &A));
  PetscCall(MatMult(A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST(TTGMRES, ShellOperator)
{
  System    s;
  MatHandle S;
  PetscInt  n, N;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(VecGetLocalSize(s.b, &n));
  ASSERT_OK(VecGetSize(s.b, &N));
  ASSERT_OK(MatCreateShell(PETSC_COMM_WORLD, n, n, N, N, s.A.get(), S.out()));
  ASSERT_OK(MatShellSetOperation(S, MATOP_MULT, (void (*)(void))multiply_shell));
  ASSERT_OK(KSPSetOperators(s.ksp, S, S));
  ASSERT_OK(VecTTSetRoundRtol(s.x, 1e-12)); // MatMult() rounds to what its result says
  ASSERT_OK(KSPSetPCSide(s.ksp, PC_LEFT));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
}

TEST(TTGMRES, OrdinaryVectors)
{
  MatHandle I;
  VecHandle x, b;
  KSPHandle ksp;
  PC        pc;
  ASSERT_OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 20, 20, 1, NULL, 0, NULL, I.out()));
  ASSERT_OK(MatAssemblyBegin(I, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(I, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatShift(I, 1));
  ASSERT_OK(MatCreateVecs(I, x.out(), b.out()));
  ASSERT_OK(VecSet(b, 1));
  ASSERT_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
  ASSERT_OK(KSPSetOperators(ksp, I, I));
  ASSERT_OK(KSPSetType(ksp, KSPTTGMRES));
  ASSERT_OK(KSPGetPC(ksp, &pc));
  ASSERT_OK(PCSetType(pc, PCNONE));
  QuietErrors quiet;
  EXPECT_EQ((int)KSPSolve(ksp, b, x), (int)PETSC_ERR_ARG_WRONG);
  EXPECT_NE(QuietErrors::text().find("-ksp_type gmres"), string::npos) << QuietErrors::text();
}

PetscErrorCode three_steps(KSP, PetscInt it, PetscReal, KSPConvergedReason *reason, void *calls)
{
  PetscFunctionBegin;
  ++*static_cast<int *>(calls);
  *reason = it >= 3 ? KSP_CONVERGED_ITS : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

TEST(TTGMRES, OwnConvergenceTest)
{
  System s;
  int    calls = 0;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(KSPSetConvergenceTest(s.ksp, three_steps, &calls, NULL));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.reason(), KSP_CONVERGED_ITS);
  EXPECT_EQ(s.its(), 3);
  EXPECT_GE(calls, 4);
}

// No norm is looked at: a fixed number of steps, and the reason that PETSc's own GMRES gives.
TEST(TTGMRES, NoNorm)
{
  Options o({"-t_ksp_norm_type none", "-t_ksp_max_it 4"});
  System  s;
  ASSERT_OK(s.create(laplacian()));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.its(), 4);
  const KSPConvergedReason reason = s.reason();
  ASSERT_OK(KSPSetType(s.ksp, KSPGMRES));
  ASSERT_OK(s.solve());
  EXPECT_EQ(s.its(), 4);
  EXPECT_EQ(reason, s.reason()) << KSPConvergedReasons[reason] << ", not " << KSPConvergedReasons[s.reason()];
}

// Also before the first step and after the solve, where the solution is not to be preconditioned once more.
TEST(TTGMRES, BuildSolution)
{
  System s;
  ASSERT_OK(s.create(parametric(), "d", 1e-9, PCTTKRON));
  ASSERT_OK(s.solve());
  VecHandle v;
  Vec       got;
  ASSERT_OK(VecDuplicate(s.x, v.out()));
  ASSERT_OK(KSPBuildSolution(s.ksp, v, NULL));
  EXPECT_LT(distance(dense(train_of(v)), dense(train_of(s.x))), 1e-14);
  ASSERT_OK(KSPBuildSolution(s.ksp, NULL, &got));
  EXPECT_LT(distance(dense(train_of(got)), dense(train_of(s.x))), 1e-14);
}

TEST(TTGMRES, TwoRightHandSides)
{
  System s;
  ASSERT_OK(s.create(parametric(), "d", 1e-9, PCTTKRON));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
  VecHandle other;
  ASSERT_OK(random_vec(s.space, {1, 3, 3, 1}, 99, other.out()));
  ASSERT_OK(VecCopy(other, s.b));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
  // a rank-capped solve in between leaves nothing behind
  ASSERT_OK(VecTTSetMaxRank(s.x, 1));
  ASSERT_OK(s.solve());
  EXPECT_LT((int)s.reason(), 0);
  ASSERT_OK(VecTTSetMaxRank(s.x, 0));
  ASSERT_OK(s.solve());
  s.expect_solved(1e-9, 1e-7);
}

} // namespace
