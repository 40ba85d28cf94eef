// The nearest Kronecker product: against the singular value decomposition of the rearranged operator for two modes, exact products, and what makes
// a product stationary; as PCTTKRON, and stretched.
#include "base/blas.hpp"
#include "pc_fixture.hpp"

#include <algorithm>

using namespace petsctt;
using namespace petsctt::test;
using std::string;
using std::vector;

namespace {

// Entry (i, j) of a matrix of mode k, on all processes.
PetscErrorCode entries_of(const Space &space, Int k, Mat M, vector<Scalar> &a)
{
  const Int N = space.N(k), n = space.n(k), start = space.start(k);

  PetscFunctionBegin;
  a.assign((std::size_t)(N * N), 0);
  for (Int i = start; i < start + n; i++) {
    PetscInt           m;
    const PetscInt    *columns;
    const PetscScalar *values;
    PetscCall(MatGetRow(M, i, &m, &columns, &values));
    for (PetscInt p = 0; p < m; p++) a[i + (std::size_t)N * columns[p]] = values[p];
    PetscCall(MatRestoreRow(M, i, &m, &columns, &values));
  }
  if (!space.replicated(k)) space.comm().sum(a.data(), (Count)a.size());
  PetscFunctionReturn(PETSC_SUCCESS);
}

vector<Scalar> entries_of(const Formula &f, Int N)
{
  vector<Scalar> a;
  for (Int j = 0; j < N; j++)
    for (Int i = 0; i < N; i++) a.push_back(f ? f(i, j) : Scalar(i == j));
  return a;
}

Scalar inner(const vector<Scalar> &a, const vector<Scalar> &b)
{
  Scalar s = 0;
  for (std::size_t i = 0; i < a.size(); i++) s += a[i] * conj(b[i]);
  return s;
}

struct Product {
  vector<Mat>            M;
  vector<vector<Scalar>> a;
  PetscReal              error = -1;
  ~Product()
  {
    for (Mat &m : M) (void)MatDestroy(&m);
  }
};

void find(const SpacePtr &space, const vector<FormulaTerm> &terms, const vector<PetscBool> &identity, Product &p)
{
  MatHandle A;
  ASSERT_OK(make_operator(space, terms, A.out()));
  p.M.assign((std::size_t)space->d(), nullptr);
  p.a.resize((std::size_t)space->d());
  ASSERT_OK(MatTTGetNearestKronecker(A, identity.empty() ? NULL : identity.data(), p.M.data(), &p.error));
  for (Int k = 0; k < space->d(); k++) {
    if (p.M[k]) ASSERT_OK(entries_of(*space, k, p.M[k], p.a[k]));
    else p.a[k] = entries_of(Formula(), space->N(k));
  }
}

// < A, (x)_j P_j > with P_j = a_j but for mode k, where it is `with` (k < 0: nowhere)
Scalar product_with(const SpacePtr &space, const vector<FormulaTerm> &terms, const vector<vector<Scalar>> &a, Int k, const vector<Scalar> &with)
{
  Scalar sum = 0;
  for (const FormulaTerm &t : terms) {
    Scalar c = t.c;
    for (Int j = 0; j < space->d(); j++) c *= inner(entries_of(t.factors[j], space->N(j)), j == k ? with : a[j]);
    sum += c;
  }
  return sum;
}

Real norm_of(const SpacePtr &space, const vector<FormulaTerm> &terms)
{
  Scalar sum = 0;
  for (const FormulaTerm &s : terms)
    for (const FormulaTerm &t : terms) {
      Scalar c = s.c * conj(t.c);
      for (Int j = 0; j < space->d(); j++) c *= inner(entries_of(s.factors[j], space->N(j)), entries_of(t.factors[j], space->N(j)));
      sum += c;
    }
  return std::sqrt(real(sum));
}

const vector<const char *> kinds = {"d", "r", "ulfdr"};

// A sum that no product comes close to.
vector<FormulaTerm> mixed(Int d)
{
  vector<FormulaTerm> terms;
  for (Int t = 0; t < 3; t++) {
    FormulaTerm term{Scalar(1 + 0.4 * (Real)t), vector<Formula>((std::size_t)d)};
    for (Int k = 0; k < d; k++)
      if ((k + t) % 3 != 0) term.factors[k] = banded((int)(3 * t + k));
    terms.push_back(term);
  }
  return terms;
}

} // namespace

TEST(Nearest, OneProductIsFound)
{
  for (const char *kind : kinds) {
    SCOPED_TRACE(kind);
    const SpacePtr            space = make_space({7, 3, 5, 4}, kind);
    const vector<FormulaTerm> terms = {{Scalar(-3), {banded(1), {}, banded(2), banded(3)}}};
    Product                   p;
    find(space, terms, {}, p);
    EXPECT_LT(p.error, 1e-7); // root of what round-off leaves of 1 - 1
    Scalar c = 1;             // the entries (1, 1, 1, 1), and the scale shared by the modes
    for (Int k = 0; k < 4; k++) {
      c *= p.a[k][1 + (std::size_t)space->N(k)] / entries_of(terms[0].factors[k], space->N(k))[1 + (std::size_t)space->N(k)];
      const Real size = std::sqrt(real(inner(p.a[k], p.a[k])) / (Real)space->N(k)), first = std::sqrt(real(inner(p.a[0], p.a[0])) / 7.);
      EXPECT_NEAR(size, first, 1e-12 * first);
    }
    EXPECT_LT(petsctt::abs(c - terms[0].c), 1e-12);
  }
}

TEST(Nearest, TwoModesAreTheTruncatedSVD)
{
  for (const char *kind : kinds) {
    SCOPED_TRACE(kind);
    const SpacePtr      space = make_space({6, 5}, kind);
    const auto          terms = mixed(2);
    Product             p;
    find(space, terms, {}, p);
    // rearranged: rows are the entries of mode 0, columns those of mode 1
    vector<Scalar> R(36 * 25, 0), U(36 * 25), V(25 * 25);
    vector<Real>   s(25);
    for (const FormulaTerm &t : terms) {
      const auto a = entries_of(t.factors[0], 6), b = entries_of(t.factors[1], 5);
      for (std::size_t j = 0; j < 25; j++)
        for (std::size_t i = 0; i < 36; i++) R[i + 36 * j] += t.c * a[i] * b[j];
    }
    ASSERT_TRUE(gesvd(36, 25, R.data(), 36, s.data(), U.data(), V.data()));
    Real all = 0, worst = 0;
    for (Real v : s) all += v * v;
    for (std::size_t j = 0; j < 25; j++)
      for (std::size_t i = 0; i < 36; i++) worst = std::max(worst, petsctt::abs(p.a[0][i] * p.a[1][j] - s[0] * U[i] * V[25 * j]));
    EXPECT_LT(worst, 1e-6 * s[0]); // vectors converge half as far as the value
    EXPECT_NEAR(p.error, std::sqrt(1 - s[0] * s[0] / all), 1e-10);
  }
}

// No mode alone can improve the product: < A - P, P with any other matrix of the span on mode k > = 0.
TEST(Nearest, IsStationary)
{
  for (const char *kind : kinds) {
    for (bool with_identity : {false, true}) {
      SCOPED_TRACE(string(kind) + (with_identity ? ", identity on mode 1" : ""));
      const SpacePtr    space = make_space({4, 5, 3, 6}, kind);
      const auto        terms = mixed(4);
      vector<PetscBool> identity;
      Product           p;
      if (with_identity) identity = {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE};
      find(space, terms, identity, p);
      if (with_identity) {
        EXPECT_EQ(p.M[1], nullptr);
      }
      const Real norm  = norm_of(space, terms);
      Scalar     whole = 1;
      for (Int k = 0; k < 4; k++) whole *= inner(p.a[k], p.a[k]);
      const Real size = std::sqrt(real(whole));
      EXPECT_LT(petsctt::abs(product_with(space, terms, p.a, -1, {}) - whole), 1e-10 * norm * size);
      EXPECT_NEAR(p.error, std::sqrt(std::max<Real>(0, 1 - real(whole) / (norm * norm))), 1e-9);
      for (Int k = 0; k < 4; k++) {
        if (with_identity && k == 1) continue;
        for (const FormulaTerm &t : terms) {
          const auto B = entries_of(t.factors[k], space->N(k));
          Scalar     own = inner(p.a[k], B);
          for (Int j = 0; j < 4; j++)
            if (j != k) own *= inner(p.a[j], p.a[j]);
          const Real scale = norm * size / std::sqrt(real(inner(p.a[k], p.a[k]))) * std::sqrt(real(inner(B, B)));
          EXPECT_LT(petsctt::abs(product_with(space, terms, p.a, k, B) - own), 1e-5 * scale) << "mode " << k;
        }
      }
    }
  }
}

TEST(Nearest, ManyModesAndZero)
{
  // 300 modes: norms beyond the range of a number
  const SpacePtr      space = make_space(vector<Int>(300, 10), "r");
  vector<FormulaTerm> terms;
  for (Int k : {0, 150, 299}) {
    terms.push_back({Scalar(1), vector<Formula>(300)});
    terms.back().factors[k] = laplace();
  }
  Product p;
  find(space, terms, {}, p);
  EXPECT_GT(p.error, 0.01);
  EXPECT_LT(p.error, 0.5);
  Product zero;
  find(make_space({4, 5}, "d"), {}, {}, zero);
  EXPECT_EQ(zero.error, 0);
  for (const auto &a : zero.a)
    for (Scalar v : a) EXPECT_EQ(v, Scalar(0));
}

// As a preconditioner: P^{-1} multiplied by the matrices of the nearest product, stretched or not, is the identity.
TEST(Nearest, Preconditioner)
{
  for (const char *kind : kinds) {
    for (double stretch : {1.0, 1.5}) {
      SCOPED_TRACE(string(kind) + " stretch " + std::to_string(stretch));
      const SpacePtr            space = make_space({7, 3, 5}, kind);
      const auto                d_i   = diagonal([](Int i) { return Scalar(2 + 0.1 * (Real)i); });
      const vector<FormulaTerm> terms = {{1, {banded(1), {}, {}}}, {0.3, {banded(2), {}, d_i}}};
      Options                   options({"-pc_ttkron_nearest 1", "-pc_ttkron_stretch " + std::to_string(stretch)});
      MatHandle                 A;
      VecHandle                 x, y;
      PCHandle                  pc;
      Product                   p;
      PetscInt                  n;
      const PetscInt           *modes;
      PetscBool                 nearest;
      PetscReal                 error, t;
      find(space, terms, {PETSC_FALSE, PETSC_TRUE, PETSC_FALSE}, p);
      ASSERT_OK(make_operator(space, terms, A.out()));
      ASSERT_OK(random_vec(space, {1, 2, 2, 1}, 11, x.out()));
      ASSERT_OK(VecDuplicate(x, y.out()));
      ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
      ASSERT_OK(PCSetOperators(pc, A, A));
      ASSERT_OK(PCSetType(pc, PCTTKRON));
      ASSERT_OK(PCSetFromOptions(pc));
      ASSERT_OK(PCApply(pc, x, y));
      EXPECT_EQ(options.unused(), "");
      ASSERT_OK(PCTTKronGetModes(pc, &n, &modes));
      EXPECT_EQ(vector<PetscInt>(modes, modes + n), (vector<PetscInt>{0, 2})); // the diagonal factor counts, the identity does not
      ASSERT_OK(PCTTKronGetNearest(pc, &nearest, &error));
      ASSERT_OK(PCTTKronGetStretch(pc, &t));
      EXPECT_EQ(nearest, PETSC_TRUE);
      EXPECT_NEAR(error, p.error, 1e-12);
      EXPECT_EQ(t, stretch);
      Dense back = dense(train_of(y));
      for (Int k : {0, 2}) {
        const Int N = space->N(k);
        Scalar    m = 0;
        for (Int i = 0; i < N; i++) m += p.a[k][i + (std::size_t)N * i] / (Real)N;
        const vector<Scalar> &a = p.a[k];
        back                    = apply_formula(back, k, [&](Int i, Int j) { return (i == j ? m : Scalar(0)) + stretch * (a[i + (std::size_t)N * j] - (i == j ? m : Scalar(0))); });
      }
      EXPECT_LT(distance(back, dense(train_of(x))), 1e-11);
      ASSERT_OK(PCReset(pc));
      ASSERT_OK(PCTTKronGetNearest(pc, &nearest, &error));
      EXPECT_EQ(error, -1); // that of a product that is no more
    }
  }
}

TEST(Nearest, BadInput)
{
  const SpacePtr    space = make_space({4, 5}, "d");
  MatHandle         A;
  PCHandle          pc;
  Mat               M[2];
  const PetscBool   all[2] = {PETSC_TRUE, PETSC_TRUE};
  const PetscInt    at[2]  = {0, -1};
  ASSERT_OK(make_operator(space, {{1, {banded(1), {}}}, {1, {{}, banded(2)}}}, A.out()));
  ASSERT_OK(PCCreate(PETSC_COMM_WORLD, pc.out()));
  ASSERT_OK(PCSetOperators(pc, A, A));
  ASSERT_OK(PCSetType(pc, PCTTKRON));
  ASSERT_OK(PCTTKronSetNearest(pc, PETSC_TRUE));
  ASSERT_OK(PCTTKronSetReference(pc, at));
  QuietErrors quiet;
  EXPECT_EQ((int)MatTTGetNearestKronecker(A, all, M, NULL), PETSC_ERR_ARG_WRONG);
  EXPECT_NE(QuietErrors::text().find("All 2 modes"), string::npos) << QuietErrors::text();
  EXPECT_EQ((int)PCTTKronSetStretch(pc, 0), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)PCTTKronSetStretch(pc, PETSC_INFINITY), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_EQ((int)PCSetUp(pc), PETSC_ERR_ARG_INCOMP);
  EXPECT_NE(QuietErrors::text().find("exclude each other"), string::npos) << QuietErrors::text();
}
