// PCTTKRON as a sum of exponentials: the quadrature against 1/x, the preconditioner against the operator it inverts, solves, bad input.
#include "pc/impls/ttkron/quadrature.hpp"
#include "pc_fixture.hpp"
#include "petscttksp.h"

#include <petsc/private/kspimpl.h>

using namespace petsctt;
using namespace petsctt::test;
using std::string;
using std::vector;
using Terms = vector<FormulaTerm>;

namespace {

const char *const kinds[] = {"r", "ulfdr", "dr"};

using KSPHandle = Handle<KSP, KSPDestroy>;

// Hermitian, positive definite, the sum of different one-mode terms; the second has a negative eigenvalue on its own.
Terms sum_of_terms(Real shift = 0.7)
{
  const Formula shifted = [shift](Int i, Int j) -> Scalar { return laplace()(i, j) - (i == j ? Scalar(shift) : Scalar(0)); };
  return {{1, {laplace(), {}, {}}}, {0.5, {{}, shifted, {}}}, {2, {{}, {}, laplace()}}, {0.1, {{}, {}, diagonal([](Int i) { return Scalar((Real)i); })}}};
}

// The same with convection.
Terms convection(Real shift = 0.7)
{
  const Formula upwind = [](Int i, Int j) -> Scalar { return i == j ? 1. : j == i - 1 ? -1. : 0.; };
  Terms         terms  = sum_of_terms(shift);
  terms.push_back({0.7, {upwind, {}, {}}});
  terms.push_back({0.3, {{}, {}, upwind}});
  return terms;
}

PetscErrorCode make_pc(const SpacePtr &space, const Terms &terms, Real eps, MatHandle &A, PCHandle &pc)
{
  PetscFunctionBegin;
  PetscCall(make_operator(space, terms, A.out()));
  PetscCall(PCCreate(PETSC_COMM_WORLD, pc.out()));
  PetscCall(PCSetOperators(pc, A, A));
  PetscCall(PCSetType(pc, PCTTKRON));
  PetscCall(PCTTKronSetExponentials(pc, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

TEST(Exponentials, Quadrature)
{
  for (Real ratio : {1., 1.5, 30., 1e3, 1e6}) {
    for (Real eps : {0.3, 1e-2, 1e-4, 1e-8, 1e-12}) {
      SCOPED_TRACE(std::to_string((double)ratio) + " " + std::to_string(-std::log10((double)eps)));
      const Real           least = 0.37;
      const ExponentialSum s     = exponential_sum(least, ratio * least, eps);
      EXPECT_LE(s.error, eps);
      for (int i = 0; i <= 997; i++) {
        const Real x = least * std::pow(ratio, (Real)i / 997);
        Real       v = 0;
        for (std::size_t q = 0; q < s.weight.size(); q++) v += s.weight[q] * std::exp(-s.exponent[q] * x);
        ASSERT_LE(std::abs(1 - x * v), 1.05 * eps) << x;
      }
      const Real digits = std::log(1 / eps);
      EXPECT_LE((Real)s.weight.size(), 10 + (std::log(ratio) + digits) * (digits + 5) / 8);
    }
  }
  EXPECT_THROW((void)exponential_sum(0, 1, 1e-3), Error);
  EXPECT_THROW((void)exponential_sum(2, 1, 1e-3), Error);
  EXPECT_THROW((void)exponential_sum(1, 2, 1), Error);
}

// ||x - A P^{-1} x|| <= eps ||x|| for a Hermitian sum of one-mode terms, rounding included; both sides of the product.
TEST(Exponentials, InvertsASum)
{
  for (const char *kind : kinds) {
    for (Real eps : {1e-1, 1e-3, 1e-7}) {
      SCOPED_TRACE(string(kind) + " " + std::to_string(-std::log10((double)eps)));
      const SpacePtr space = make_space({7, 3, 5}, kind);
      MatHandle      A;
      PCHandle       pc;
      VecHandle      x, y;
      PetscReal      got;
      PetscInt       terms;
      ASSERT_OK(make_pc(space, sum_of_terms(), eps, A, pc));
      ASSERT_OK(random_vec(space, {1, 2, 2, 1}, 5, x.out()));
      ASSERT_OK(VecDuplicate(x, y.out()));
      ASSERT_OK(PCApply(pc, x, y));
      ASSERT_OK(PCTTKronGetExponentials(pc, &got, &terms));
      EXPECT_EQ(got, eps);
      EXPECT_GT(terms, 2);
      const Dense dx = dense(train_of(x));
      EXPECT_LE(distance(apply_terms(dense(train_of(y)), sum_of_terms()), dx), 1.1 * eps);
      // modes without a solver are identities
      if (eps < 1e-6) {
        const PetscInt modes[] = {0, 2};
        const Scalar   rest    = 0.5 * 1.3; // the mean of the diagonal of mode 1
        Terms          two     = {sum_of_terms()[0], {rest, {{}, {}, {}}}, sum_of_terms()[2], sum_of_terms()[3]};
        ASSERT_OK(PCTTKronSetModes(pc, 2, modes));
        ASSERT_OK(PCApply(pc, x, y));
        EXPECT_LE(distance(apply_terms(dense(train_of(y)), two), dx), 1.1 * eps);
      }
    }
  }
}

// Not symmetric: the transpose is the transpose, and the preconditioner near the inverse.
TEST(Exponentials, Transpose)
{
  const SpacePtr space = make_space({6, 4, 5}, "drd");
  MatHandle      A;
  PCHandle       pc;
  VecHandle      x, y, Px, Py;
  ASSERT_OK(make_pc(space, convection(), 1e-6, A, pc));
  ASSERT_OK(random_vec(space, {1, 2, 2, 1}, 7, x.out()));
  ASSERT_OK(random_vec(space, {1, 1, 3, 1}, 8, y.out()));
  ASSERT_OK(VecDuplicate(x, Px.out()));
  ASSERT_OK(VecDuplicate(x, Py.out()));
  ASSERT_OK(PCApply(pc, x, Px));
  ASSERT_OK(PCApplyTranspose(pc, y, Py));
  EXPECT_LE(distance(apply_terms(dense(train_of(Px)), convection()), dense(train_of(x))), 1e-4);
  const Dense a = dense(train_of(Px)), b = dense(train_of(y)), c = dense(train_of(x)), e = dense(train_of(Py));
  Scalar      left = 0, right = 0;
  Real        size = 0;
  for (std::size_t l = 0; l < a.a.size(); l++) {
    left += a.a[l] * b.a[l];
    right += c.a[l] * e.a[l];
    size += petsctt::abs(a.a[l] * b.a[l]);
  }
  EXPECT_LE(petsctt::abs(left - right), 1e-5 * size);
}

// Few steps on either side, and a new set-up when a factor changes.
TEST(Exponentials, Solves)
{
  for (PCSide side : {PC_RIGHT, PC_LEFT}) {
    for (Real eps : {1e-1, 1e-2}) {
      const SpacePtr     space = make_space({9, 8, 10}, "drd");
      Options            options({"-pc_type ttkron", "-pc_ttkron_exponentials " + std::to_string(eps), "-ksp_rtol 1e-8"});
      MatHandle          A;
      VecHandle          b, x;
      KSPHandle          ksp;
      KSPConvergedReason reason;
      PetscInt           its;
      ASSERT_OK(make_operator(space, convection(0.1), A.out()));
      ASSERT_OK(random_vec(space, {1, 2, 2, 1}, 3, b.out()));
      ASSERT_OK(VecDuplicate(b, x.out()));
      ASSERT_OK(KSPCreate(PETSC_COMM_WORLD, ksp.out()));
      ASSERT_OK(KSPSetOperators(ksp, A, A));
      ASSERT_OK(KSPSetType(ksp, KSPTTGMRES));
      ASSERT_OK(KSPSetPCSide(ksp, side));
      ASSERT_OK(KSPSetFromOptions(ksp));
      ASSERT_OK(KSPSolve(ksp, b, x));
      EXPECT_EQ(options.unused(), "");
      for (Real factor : {1., 3.}) {
        if (factor != 1) { // a multiple of the operator: as many steps
          ASSERT_OK(MatScale(A, factor));
          ASSERT_OK(KSPSolve(ksp, b, x));
        }
        ASSERT_OK(KSPGetConvergedReason(ksp, &reason));
        ASSERT_OK(KSPGetIterationNumber(ksp, &its));
        EXPECT_EQ(reason, KSP_CONVERGED_RTOL);
        EXPECT_LE(its, eps < 0.05 ? 8 : 12) << PCSides[side];
        EXPECT_LE(distance(scaled(factor, apply_terms(dense(train_of(x)), convection(0.1))), dense(train_of(b))), 1.01e-8);
      }
    }
  }
}

TEST(Exponentials, BadInput)
{
  const SpacePtr space = make_space({4, 3, 5}, "drd");
  MatHandle      A, negative, M;
  VecHandle      x, y;
  PCHandle       pc, second;
  Terms          terms = sum_of_terms();
  ASSERT_OK(make_pc(space, terms, 1e-2, A, pc));
  ASSERT_OK(random_vec(space, {1, 1, 1, 1}, 3, x.out()));
  ASSERT_OK(VecDuplicate(x, y.out()));
  terms.push_back({-9, {{}, {}, {}}});
  ASSERT_OK(make_pc(space, terms, 1e-2, negative, second));
  ASSERT_OK(mode_matrix(*space, 0, laplace(), M.out()));
  {
    QuietErrors quiet;
    EXPECT_EQ((int)PCTTKronSetExponentials(pc, 1), PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_EQ((int)PCTTKronSetExponentials(pc, -1), PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_EQ((int)PCTTKronSetExponentials(pc, 1e-13), PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_EQ((int)PCSetUp(second), PETSC_ERR_ARG_OUTOFRANGE);
    EXPECT_NE(QuietErrors::text().find("positive definite Hermitian part"), string::npos) << QuietErrors::text();
    EXPECT_EQ((int)PCTTKronSetModes(pc, 2, NULL), PETSC_ERR_ARG_NULL);
  }
  // back to one product and again to the sum
  ASSERT_OK(PCTTKronSetExponentials(pc, 0));
  ASSERT_OK(PCSetUp(pc));
  ASSERT_OK(PCTTKronSetExponentials(pc, 1e-4));
  ASSERT_OK(PCApply(pc, x, y));
  EXPECT_LE(distance(apply_terms(dense(train_of(y)), sum_of_terms()), dense(train_of(x))), 1.1e-4);
  ASSERT_OK(PCTTKronSetModeMat(pc, 0, M));
  QuietErrors quiet;
  EXPECT_EQ((int)PCSetUp(pc), PETSC_ERR_ARG_INCOMP);
  EXPECT_NE(QuietErrors::text().find("exclude each other"), string::npos) << QuietErrors::text();
}
