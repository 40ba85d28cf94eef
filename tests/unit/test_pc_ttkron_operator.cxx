// PCTTKRON made from an operator: which modes, which matrices, the common scale; and in Krylov solvers.
#include "pc_fixture.hpp"

#include <cstdio>
#include <fstream>
#include <sstream>
#include <stdlib.h>
#include <unistd.h>

using namespace petsctt;
using namespace petsctt::test;
using std::string;
using std::vector;

namespace {

// 1-D stiffness matrix with coefficient 1 on the elements first..last, 0 elsewhere; node i lies between the elements i and i+1.
Formula stiffness(Int first, Int last)
{
  auto in = [=](Int e) { return e >= first && e <= last ? 1.0 : 0.0; };
  return [=](Int i, Int j) -> Scalar {
    if (i == j) return in(i) + in(i + 1);
    if (i == j + 1 || j == i + 1) return -in(std::max(i, j));
    return 0;
  };
}

Scalar trace_mean(const Formula &f, Int N)
{
  Scalar s = 0;
  for (Int i = 0; i < N; i++) s += f(i, i);
  return s / (Real)N;
}

// Projection of a sum of terms on mode k, entry by entry from its definition.
Formula projection(const vector<FormulaTerm> &terms, const vector<Int> &N, Int k, const vector<Int> &ref = {})
{
  return [=](Int i, Int j) {
    Scalar sum = 0;
    for (const FormulaTerm &t : terms) {
      Scalar c = t.c;
      for (Int l = 0; l < (Int)N.size(); l++) {
        if (l == k) c *= t.factors[l] ? t.factors[l](i, j) : Scalar(i == j ? 1 : 0);
        else if (t.factors[l]) c *= ref.empty() || ref[l] < 0 ? trace_mean(t.factors[l], N[l]) : t.factors[l](ref[l], ref[l]);
      }
      sum += c;
    }
    return sum;
  };
}

// x |-> P x with P = s^{1-m} (x)_k M_k.
Dense apply_product(const Dense &x, const vector<FormulaTerm> &terms, const vector<Int> &modes, const vector<Int> &ref = {})
{
  Dense         y = x;
  const Formula M = projection(terms, x.N, modes[0], ref);
  const Int     at = ref.empty() ? -1 : ref[modes[0]];
  const Scalar  s  = at < 0 ? trace_mean(M, x.N[modes[0]]) : M(at, at);
  for (Int k : modes) y = apply_formula(y, k, projection(terms, x.N, k, ref));
  for (std::size_t i = 1; i < modes.size(); i++) y = scaled(Scalar(1) / s, y);
  return y;
}

// Sets the preconditioner up, checks its modes and that P applied to its result gives the input.
void check_projected(const SpacePtr &space, const vector<FormulaTerm> &terms, const vector<Int> &modes, const vector<Int> &ref = {},
                     const vector<string> &options = {}, bool exact = false)
{
  Options         set(options);
  VecHandle       x, y;
  MatHandle       A;
  PCHandle        pc;
  const PetscInt *active;
  PetscInt        n;
  ASSERT_OK(make_operator(space, terms, A.out()));
  ASSERT_OK(MatCreateVecs(A, x.out(), y.out()));
  ASSERT_OK(set_train(x, random_train(space, vector<Int>((std::size_t)space->d() + 1, 2), 5)));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  ASSERT_OK(PCSetFromOptions(pc));
  ASSERT_OK(PCApply(pc, x, y));
  ASSERT_OK(PCTTKronGetModes(pc, &n, &active));
  EXPECT_EQ(vector<Int>(active, active + n), modes);
  const Dense got = dense(train_of(y)), want = dense(train_of(x));
  EXPECT_LT(distance(apply_product(got, terms, modes, ref), want), 1e-11);
  if (exact) {
    EXPECT_LT(distance(apply_terms(got, terms), want), 1e-11);
  }
  EXPECT_EQ(set.unused(), "");
}

// A_0 x I x I + A_1 x D_1 x I + A_2 x I x D_2: diffusion with two parameters.
struct Parametric {
  vector<Int>         N;
  SpacePtr            space;
  vector<FormulaTerm> terms;
  explicit Parametric(const string &kinds, Int n = 12, Int p = 3, Int q = 4) : N{n, p, q}, space(make_space(N, kinds))
  {
    const Formula D = diagonal([](Int i) { return Scalar((Real)i); });
    terms           = {{1, {stiffness(0, n), {}, {}}}, {2, {stiffness(3, 7), D, {}}}, {3, {stiffness(9, 11), {}, D}}};
  }
};

// Laplacian in three dimensions.
vector<FormulaTerm> laplacian()
{
  return {{1, {laplace(), {}, {}}}, {1, {{}, laplace(), {}}}, {1, {{}, {}, laplace()}}};
}

PetscErrorCode make_solver(Mat A, const string &options_prefix, KSP *ksp)
{
  PC pc;

  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, options_prefix.c_str()));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(KSPSetTolerances(*ksp, 1e-6, 1e-50, PETSC_DEFAULT, 200));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(0);
}

PetscErrorCode ones(Mat A, Vec *x, Vec *b)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, x, b));
  PetscCall(VecTTSetConstant(*b, 1));
  PetscCall(VecTTSetRoundRtol(*b, 1e-12));
  PetscCall(VecTTSetRoundRtol(*x, 1e-12));
  PetscFunctionReturn(0);
}

// ||b - A x|| / ||b||
Real true_residual(Vec x, Vec b, const vector<FormulaTerm> &terms)
{
  const Dense f = dense(train_of(b));
  return distance(apply_terms(dense(train_of(x)), terms), f);
}

} // namespace

TEST(PCTTKronOperator, DefaultModesOfParametricProblem)
{
  for (const char *kinds : {"d", "drr"}) {
    const Parametric p(kinds);
    check_projected(p.space, p.terms, {0});
    check_projected(p.space, p.terms, {0}, {-1, 0, 3}, {"-pc_ttkron_reference -1,0,3"});
    check_projected(p.space, p.terms, {0}, {2, -1, 3}, {"-pc_ttkron_reference 2,-1,3"});
    check_projected(p.space, p.terms, {0, 1, 2}, {}, {"-pc_ttkron_modes 2,0,1"});
    check_projected(p.space, p.terms, {0, 1, 2}, {4, 1, 2}, {"-pc_ttkron_modes 0,1,2", "-pc_ttkron_reference 4,1,2"});
  }
}

TEST(PCTTKronOperator, DefaultModesOfLaplacian)
{
  for (const char *kinds : {"d", "drd"}) check_projected(make_space({6, 5, 7}, kinds), laplacian(), {0, 1, 2});
}

TEST(PCTTKronOperator, DiagonalOperatorIsSolvedOnModeZero)
{
  const Formula D = diagonal([](Int i) { return Scalar((Real)(i + 1)); });
  check_projected(make_space({6, 5, 7}, "d"), {{1, {D, {}, {}}}, {1, {{}, D, {}}}}, {0});
}

// Rows with equal patterns: PETSc's sequential matrices have other functions for them.
TEST(PCTTKronOperator, FullMatrices)
{
  const Formula full = [](Int i, Int j) { return Scalar(i == j ? 9 + i : 1); };
  for (const char *kinds : {"r", "d"}) check_projected(make_space({6, 3, 2}, kinds), {{1, {full, {}, {}}}, {2, {full, full, full}}}, {0, 1, 2});
}

TEST(PCTTKronOperator, OneKroneckerProductIsInvertedExactly)
{
  for (const char *kinds : {"d", "rd"}) {
    check_projected(make_space({6, 5, 7}, kinds), {{Scalar(-3), {banded(1), banded(2), banded(3)}}}, {0, 1, 2}, {}, {}, true);
    check_projected(make_space({6, 5, 7}, kinds), {{Scalar(-3), {banded(1), banded(2), banded(3)}}}, {0, 1, 2}, {1, 3, 5},
                    {"-pc_ttkron_reference 1,3,5"}, true);
    check_projected(make_space({6, 5, 7}, kinds), {{Scalar(7), {banded(1), {}, banded(3)}}}, {0, 2}, {}, {}, true);
  }
}

TEST(PCTTKronOperator, SetUpFollowsTheOperator)
{
  const Parametric p("drr");
  VecHandle        x, y;
  MatHandle        A;
  PCHandle         pc;
  ASSERT_OK(make_operator(p.space, p.terms, A.out()));
  ASSERT_OK(ones(A, x.out(), y.out()));
  ASSERT_OK(VecTTSetConstant(x, 1));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  ASSERT_OK(PCApply(pc, x, y));
  const Dense before = dense(train_of(y));
  ASSERT_OK(MatScale(A, 4));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(scaled(4, dense(train_of(y))), before), 1e-13);
  vector<FormulaTerm> terms = p.terms;
  for (FormulaTerm &t : terms) t.c *= 4;
  terms.push_back({5, {stiffness(0, 20), {}, {}}});
  MatHandle M;
  ASSERT_OK(mode_matrix(*p.space, 0, terms.back().factors[0], M.out()));
  const Mat more[] = {M, NULL, NULL};
  ASSERT_OK(MatTTAddTerm(A, 5, more));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(apply_product(dense(train_of(y)), terms, {0}), dense(train_of(x))), 1e-11);
  // changes of the settings
  const PetscInt ref[] = {-1, 2, 0}, one[] = {0};
  ASSERT_OK(PCTTKronSetReference(pc, ref));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(apply_product(dense(train_of(y)), terms, {0}, {-1, 2, 0}), dense(train_of(x))), 1e-11);
  ASSERT_OK(PCTTKronSetReference(pc, NULL));
  ASSERT_OK(PCTTKronSetModes(pc, 1, one));
  ASSERT_OK(PCTTKronSetModeMat(pc, 0, M));
  ASSERT_OK(MatShift(M, 1)); // it is only referenced
  ASSERT_OK(PCApply(pc, x, y));
  auto shifted = [&](Int i, Int j) { return stiffness(0, 20)(i, j) + Scalar(i == j ? 1 : 0); };
  EXPECT_LT(distance(apply_formula(dense(train_of(y)), 0, shifted), dense(train_of(x))), 1e-11);
  ASSERT_OK(MatShift(M, 1));
  ASSERT_OK(PCApply(pc, x, y));
  auto twice = [&](Int i, Int j) { return stiffness(0, 20)(i, j) + Scalar(i == j ? 2 : 0); };
  EXPECT_LT(distance(apply_formula(dense(train_of(y)), 0, twice), dense(train_of(x))), 1e-11);
  ASSERT_OK(PCReset(pc));
  ASSERT_OK(PCTTKronSetModeMat(pc, 0, NULL));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCApply(pc, x, y));
  terms.back().factors[0] = twice; // M is a factor of the operator, too
  EXPECT_LT(distance(apply_product(dense(train_of(y)), terms, {0}), dense(train_of(x))), 1e-11);
}

// The values of the user's matrices change, which PETSc does not see in the operator: no reassembly, no KSPSetOperators().
TEST(PCTTKronOperator, SetUpFollowsTheFactors)
{
  const vector<Int>     N{8, 5, 4};
  const SpacePtr        space = make_space(N, "drr");
  const PetscInt        n[]   = {space->n(0), PETSC_TT_REPLICATED, PETSC_TT_REPLICATED};
  const vector<Formula> f{banded(1), banded(2), banded(3)};
  MatHandle             A, F[3];
  VecHandle             x, y;
  KSP                   ksp;
  PC                    pc;
  ASSERT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, N.data(), A.out()));
  for (Int k : {0, 2}) ASSERT_OK(mode_matrix(*space, k, f[k], F[k].out()));
  ASSERT_OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, N[1], N[1], N[1], NULL, N[1], NULL, F[1].out())); // parallel on a replicated mode: copied
  PetscInt start, end;
  ASSERT_OK(MatGetOwnershipRange(F[1], &start, &end));
  for (Int i = start; i < end; i++)
    for (Int j = 0; j < N[1]; j++) ASSERT_OK(MatSetValue(F[1], i, j, f[1](i, j), INSERT_VALUES));
  ASSERT_OK(MatAssemblyBegin(F[1], MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(F[1], MAT_FINAL_ASSEMBLY));
  const Mat factors[] = {F[0], F[1], F[2]};
  ASSERT_OK(MatTTAddTerm(A, 1, factors));
  ASSERT_OK(ones(A, x.out(), y.out()));
  ASSERT_OK(VecTTSetConstant(x, 1));
  ASSERT_OK(make_solver(A, "", &ksp));
  ASSERT_OK(KSPSetType(ksp, KSPPREONLY));
  ASSERT_OK(KSPGetPC(ksp, &pc));
  ASSERT_OK(PCTTKronSetModes(pc, 3, vector<PetscInt>{0, 1, 2}.data()));
  ASSERT_OK(KSPSolve(ksp, x, y));
  const Dense inverse = dense(train_of(y)); // of a single Kronecker product: exact
  EXPECT_LT(distance(apply_terms(inverse, {{1, f}}), dense(train_of(x))), 1e-12);
  PetscObjectState before, after, assembled;
  Real             c = 1;
  for (int k = 0; k < 3; k++) {
    ASSERT_OK(PetscObjectStateGet((PetscObject)A.get(), &before));
    ASSERT_OK(MatScale(F[k], k + 2));
    c *= k + 2;
    if (k == 1) ASSERT_OK(PCApply(pc, x, y)); // without a KSP
    else ASSERT_OK(KSPSolve(ksp, x, y));
    EXPECT_LT(distance(scaled(c, dense(train_of(y))), inverse), 1e-12) << "mode " << k;
    ASSERT_OK(PetscObjectStateGet((PetscObject)A.get(), &after));
    EXPECT_GT(after, before);
    ASSERT_OK(KSPSolve(ksp, x, y));
    ASSERT_OK(PetscObjectStateGet((PetscObject)A.get(), &assembled));
    EXPECT_EQ(after, assembled); // nothing new
  }
  // what goes by the state of the operator
  ASSERT_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  ASSERT_OK(PetscObjectStateGet((PetscObject)A.get(), &assembled));
  EXPECT_GT(assembled, after);
  // a matrix given for a mode
  MatHandle M;
  ASSERT_OK(mode_matrix(*space, 2, f[2], M.out()));
  ASSERT_OK(PCTTKronSetModeMat(pc, 2, M));
  ASSERT_OK(PCApply(pc, x, y));
  const Dense given = dense(train_of(y));
  ASSERT_OK(MatScale(M, 7));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LT(distance(scaled(7, dense(train_of(y))), given), 1e-12);
  // unless the user wants the old one
  ASSERT_OK(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  ASSERT_OK(MatScale(F[0], 3));
  ASSERT_OK(KSPSolve(ksp, x, y));
  EXPECT_LT(distance(scaled(7, dense(train_of(y))), given), 1e-12);
  ASSERT_OK(KSPDestroy(&ksp));
}

TEST(PCTTKronOperator, KrylovSolversAndInnerSolvers)
{
  const Parametric p("drr");
  MatHandle        A;
  ASSERT_OK(make_operator(p.space, p.terms, A.out()));
  const vector<vector<string>> runs = {{"-ksp_type cg"},
                                       {"-ksp_type gmres"},
                                       {"-ksp_type gmres", "-ksp_pc_side right"},
                                       {"-ksp_type bicg"},
                                       {"-ksp_type fgmres", "-pc_ttkron_mode_0_pc_type gamg"},
                                       {"-ksp_type fgmres", "-pc_ttkron_mode_0_pc_type hypre"},
                                       {"-ksp_type fgmres", "-pc_ttkron_mode_0_pc_type bjacobi", "-pc_ttkron_mode_0_sub_pc_type icc", "-pc_ttkron_mode_0_ksp_type cg",
                                        "-pc_ttkron_mode_0_ksp_rtol 1e-3"}};
  for (const vector<string> &run : runs) {
    SCOPED_TRACE(testing::PrintToString(run));
#if defined(PETSC_USE_COMPLEX)
    if (run.back().find("hypre") != string::npos) continue; // PETSc has it for real numbers only
#endif
    Options            options(run);
    VecHandle          x, b;
    KSPHandle          ksp;
    KSPConvergedReason reason;
    ASSERT_OK(ones(A, x.out(), b.out()));
    ASSERT_OK(make_solver(A, "", ksp.out()));
    ASSERT_OK(KSPSolve(ksp, b, x));
    ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT((int)reason, 0);
    EXPECT_LT(true_residual(x, b, p.terms), 1e-4);
    EXPECT_EQ(options.unused(), "");
  }
}

TEST(PCTTKronOperator, Nested)
{
  const Parametric p("drr");
  MatHandle        A;
  ASSERT_OK(make_operator(p.space, p.terms, A.out()));
  const vector<vector<string>> runs = {
    {"-n_ksp_type fgmres", "-n_pc_type ksp", "-n_ksp_ksp_type gmres", "-n_ksp_ksp_max_it 2", "-n_ksp_pc_type ttkron", "-n_ksp_pc_ttkron_mode_0_pc_type lu"},
    {"-n_ksp_type gmres", "-n_pc_type composite", "-n_pc_composite_pcs ttkron,none", "-n_sub_0_pc_ttkron_mode_0_ksp_type preonly"}};
  for (const vector<string> &run : runs) {
    SCOPED_TRACE(testing::PrintToString(run));
    Options            options(run);
    VecHandle          x, b;
    KSPHandle          ksp;
    KSPConvergedReason reason;
    ASSERT_OK(ones(A, x.out(), b.out()));
    ASSERT_OK(make_solver(A, "n_", ksp.out()));
    ASSERT_OK(KSPSolve(ksp, b, x));
    ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
    EXPECT_GT((int)reason, 0);
    EXPECT_LT(true_residual(x, b, p.terms), 1e-4);
    EXPECT_EQ(options.unused(), "");
  }
}

TEST(PCTTKronOperator, IterationsOfTheAssembledProblem)
{
  const Parametric    p("drr");
  MatHandle           A, full, P;
  VecHandle           x, b, u, f;
  KSPHandle           ksp, reference;
  PC                  pc;
  PetscInt            its, expected;
  KSPConvergedReason  reason;
  const Int           total = p.N[0] * p.N[1] * p.N[2];
  const Dense         index(p.N);
  const Formula       M0 = projection(p.terms, p.N, 0);
  ASSERT_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, total, total, 40, NULL, full.out()));
  ASSERT_OK(MatCreateSeqAIJ(PETSC_COMM_SELF, total, total, 40, NULL, P.out()));
  for (Int r = 0; r < total; r++) {
    const vector<Int> i = index.multi((std::size_t)r);
    for (Int c = 0; c < total; c++) {
      const vector<Int> j = index.multi((std::size_t)c);
      Scalar            a = 0, m = i[1] == j[1] && i[2] == j[2] ? M0(i[0], j[0]) : Scalar(0);
      for (const FormulaTerm &t : p.terms) {
        Scalar product = t.c;
        for (Int k = 0; k < 3; k++) product *= t.factors[k] ? t.factors[k](i[k], j[k]) : Scalar(i[k] == j[k] ? 1 : 0);
        a += product;
      }
      if (a != Scalar(0)) {
        ASSERT_OK(MatSetValue(full, r, c, a, INSERT_VALUES));
      }
      if (m != Scalar(0)) {
        ASSERT_OK(MatSetValue(P, r, c, m, INSERT_VALUES));
      }
    }
  }
  for (Mat M : {full.get(), P.get()}) {
    ASSERT_OK(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    ASSERT_OK(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  }
  ASSERT_OK(MatCreateVecs(full, u.out(), f.out()));
  ASSERT_OK(VecSet(f, 1));
  ASSERT_OK(KSPCreate(PETSC_COMM_SELF, reference.out()));
  ASSERT_OK(KSPSetOperators(reference, full, P));
  ASSERT_OK(KSPGetPC(reference, &pc));
  ASSERT_OK(PCSetType(pc, PCLU));
  ASSERT_OK(KSPSetType(reference, KSPCG));
  ASSERT_OK(KSPSetTolerances(reference, 1e-6, 1e-50, PETSC_DEFAULT, 200));
  ASSERT_OK(KSPSolve(reference, f, u));
  ASSERT_OK(KSPGetIterationNumber(reference, &expected));

  Options options({"-ksp_type cg"});
  ASSERT_OK(make_operator(p.space, p.terms, A.out()));
  ASSERT_OK(ones(A, x.out(), b.out()));
  ASSERT_OK(make_solver(A, "", ksp.out()));
  ASSERT_OK(KSPSolve(ksp, b, x));
  ASSERT_OK(KSPGetIterationNumber(ksp, &its));
  ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT((int)reason, 0);
  EXPECT_EQ(its, expected);
  const PetscScalar *a;
  Dense              want(p.N);
  ASSERT_OK(VecGetArrayRead(u, &a));
  std::copy(a, a + total, want.a.begin());
  ASSERT_OK(VecRestoreArrayRead(u, &a));
  EXPECT_LT(distance(dense(train_of(x)), want), 1e-7);
}

TEST(PCTTKronOperator, SingularModeMatrix)
{
  const SpacePtr space = make_space({8, 3}, "dr");
  // a row and column of zeros, with and without a place for the diagonal entry; a diagonal matrix with a zero
  const Formula hole = [](Int i, Int j) { return i == 2 || j == 2 ? Scalar(0) : laplace()(i, j); };
  const Formula D    = diagonal([](Int i) { return Scalar((Real)i); });
  struct Run {
    Formula        f;
    vector<string> options;
  };
  for (const Run &run : {Run{hole, {}}, Run{D, {}}, Run{laplace(), {"-pc_ttkron_mode_0_ksp_type richardson", "-pc_ttkron_mode_0_pc_type none", "-pc_ttkron_mode_0_ksp_richardson_scale 90"}}}) {
    for (const char *type : {"cg", "gmres", "preonly"}) {
      Options            options(run.options);
      VecHandle          x, b;
      MatHandle          A;
      KSPHandle          ksp;
      PC                 pc;
      PCFailedReason     why;
      KSPConvergedReason reason;
      ASSERT_OK(make_operator(space, {{1, {run.f, {}}}}, A.out()));
      ASSERT_OK(ones(A, x.out(), b.out()));
      ASSERT_OK(make_solver(A, "", ksp.out()));
      ASSERT_OK(KSPSetType(ksp, type));
      ASSERT_OK(KSPSolve(ksp, b, x));
      ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
      EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED) << type << " " << KSPConvergedReasons[reason];
      ASSERT_OK(KSPGetPC(ksp, &pc));
      ASSERT_OK(PCGetFailedReason(pc, &why));
      EXPECT_EQ(why, run.options.empty() ? PC_FACTOR_NUMERIC_ZEROPIVOT : PC_SUBPC_ERROR);

      KSPHandle strict;
      VecHandle y, c;
      ASSERT_OK(ones(A, y.out(), c.out()));
      ASSERT_OK(make_solver(A, "", strict.out()));
      ASSERT_OK(KSPSetType(strict, type));
      ASSERT_OK(KSPSetErrorIfNotConverged(strict, PETSC_TRUE));
      {
        QuietErrors quiet;
        EXPECT_EQ((int)KSPSolve(strict, c, y), PETSC_ERR_NOT_CONVERGED);
        EXPECT_NE(QuietErrors::text().find("solver of mode 0 failed"), string::npos) << QuietErrors::text();
      }
    }
  }
}

// A diagonal inner matrix that becomes regular again: the failure does not stick.
TEST(PCTTKronOperator, RecoversAfterFailure)
{
  const SpacePtr     space = make_space({8, 3}, "d");
  const Formula      D     = diagonal([](Int i) { return Scalar((Real)i); });
  VecHandle          x, b;
  MatHandle          A;
  KSPHandle          ksp;
  KSPConvergedReason reason;
  ASSERT_OK(make_operator(space, {{1, {D, {}}}}, A.out()));
  ASSERT_OK(ones(A, x.out(), b.out()));
  ASSERT_OK(make_solver(A, "", ksp.out()));
  ASSERT_OK(KSPSolve(ksp, b, x));
  ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_EQ(reason, KSP_DIVERGED_PC_FAILED);
  ASSERT_OK(MatShift(A, 1));
  ASSERT_OK(KSPSetOperators(ksp, A, A));
  ASSERT_OK(KSPSolve(ksp, b, x));
  ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
  EXPECT_GT((int)reason, 0);
}

TEST(PCTTKronOperator, BadSettings)
{
  const Parametric p("d");
  auto             attempt = [&](const vector<string> &list) {
    Options   options(list);
    VecHandle x, y;
    MatHandle A;
    PCHandle  pc;
    EXPECT_OK(make_operator(p.space, p.terms, A.out()));
    EXPECT_OK(ones(A, x.out(), y.out()));
    EXPECT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    EXPECT_OK(PCSetOperators(pc, A, A));
    EXPECT_OK(PCSetType(pc, PCTTKRON));
    QuietErrors    quiet;
    PetscErrorCode code = PCSetFromOptions(pc);
    if (!code) code = PCApply(pc, y, x);
    return code;
  };
  EXPECT_EQ((int)attempt({"-pc_ttkron_modes 3"}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_NE(QuietErrors::text().find("Mode 3"), string::npos) << QuietErrors::text();
  EXPECT_EQ((int)attempt({"-pc_ttkron_modes 0,-2"}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)attempt({"-pc_ttkron_modes 0,0"}), PETSC_ERR_ARG_WRONG);
  EXPECT_EQ((int)attempt({"-pc_ttkron_reference 0,1"}), PETSC_ERR_ARG_SIZ);
  EXPECT_NE(QuietErrors::text().find("2 indices, the operator 3 modes"), string::npos) << QuietErrors::text();
  EXPECT_EQ((int)attempt({"-pc_ttkron_reference 0,4,0"}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)attempt({"-pc_ttkron_reference 0,-2,0"}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)attempt({"-pc_ttkron_block 0"}), PETSC_ERR_ARG_OUTOFRANGE);
  // vectors of other modes whose sizes agree
  {
    const Parametric other("d", 12, 4, 3);
    VecHandle        x, y;
    MatHandle        A;
    PCHandle         pc;
    ASSERT_OK(make_operator(p.space, p.terms, A.out()));
    ASSERT_OK(random_vec(other.space, {1, 1, 1, 1}, 1, x.out()));
    ASSERT_OK(random_vec(other.space, {1, 1, 1, 1}, 1, y.out()));
    ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
    ASSERT_OK(PCSetOperators(pc, A, A));
    ASSERT_OK(PCSetType(pc, PCTTKRON));
    QuietErrors quiet;
    EXPECT_EQ((int)PCApply(pc, x, y), PETSC_ERR_ARG_INCOMP);
  }
}

TEST(PCTTKronOperator, View)
{
  const SpacePtr space = make_space({6, 5, 7}, "drd");
  Options        options({"-v_pc_ttkron_block 4", "-v_pc_ttkron_reference 1,-1,2"});
  VecHandle      x, b;
  MatHandle      A;
  KSPHandle      ksp;
  ViewerHandle   viewer;
  char           name[] = "/tmp/petsctt_view_XXXXXX";
  if (rank() == 0) close(mkstemp(name));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, PETSC_COMM_WORLD);
  ASSERT_OK(make_operator(space, laplacian(), A.out()));
  ASSERT_OK(ones(A, x.out(), b.out()));
  ASSERT_OK(make_solver(A, "v_", ksp.out()));
  ASSERT_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name, viewer.out()));
  ASSERT_OK(KSPView(ksp, viewer)); // before set-up
  ASSERT_OK(KSPSetUp(ksp));
  ASSERT_OK(KSPView(ksp, viewer));
  viewer = ViewerHandle();
  MPI_Barrier(PETSC_COMM_WORLD);
  std::stringstream text;
  text << std::ifstream(name).rdbuf();
  for (const char *part : {"modes with a solver: 0 1 2;", "chosen at set-up", "at most 4 columns", "indices 1 -1 2", "(v_pc_ttkron_mode_0_)", "(v_pc_ttkron_mode_1_)",
                           "(v_pc_ttkron_mode_2_)", "product of several projections"})
    EXPECT_NE(text.str().find(part), string::npos) << part << "\n" << text.str();
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(name);
}
