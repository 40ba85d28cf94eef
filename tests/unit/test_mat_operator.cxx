// MATTT as an operator: every operation against dense Kronecker products, on mixtures of modes and of matrix types.
#include "test_mat_fixture.hpp"

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

// One Kronecker term: what the matrix gets and what the oracle uses.
struct TestTerm {
  Scalar                   c;
  std::vector<std::string> type; // "" for the identity
  std::vector<Formula>     f;
};

struct Operator {
  std::vector<Int>       N;
  std::vector<TestTerm>  terms;
  MatHandle              A;
  std::vector<Scalar> times(const std::vector<Scalar> &x, Apply how) const
  {
    std::vector<Scalar> y(x.size(), 0);
    for (const TestTerm &t : terms) y = sum(y, kron_times(N, t.c, t.f, x, how));
    return y;
  }
};

// Modes 9 (distributed), 4 (replicated), 3 (distributed: fewer than some numbers of processes), 5 (replicated).
void make_operator(Operator &op)
{
  op.N = {9, 4, 3, 5};
  const PetscInt N[] = {9, 4, 3, 5}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 4, n, N, op.A.out()));
  op.terms.push_back({number(1.5, 0.5), {"aij", "", "dense", ""}, {general(1, 9), Formula(), general(2, 3), Formula()}});
  op.terms.push_back({number(-2, 1), {"", "aij", "aij", "shell"}, {Formula(), general(3, 4), general(4, 3), general(5, 5)}});
  op.terms.push_back({1, {"baij", "constantdiagonal", "", "diagonal"}, {general(6, 9), [](Int i, Int j) { return i == j ? number(0.5, 2) : Scalar(0); }, Formula(), diagonal(2)}});
  op.terms.push_back({number(0.25, 0), {"", "", "", ""}, std::vector<Formula>(4)});
  for (const TestTerm &t : op.terms) {
    std::vector<MatHandle> own(4);
    Mat                    factors[4];
    for (Int k = 0; k < 4; k++) {
      if (t.f[k]) MAT_OK(make_factor(*space_of(op.A.get()), k, t.type[k], t.f[k], own[k].out()));
      factors[k] = own[k];
    }
    MAT_OK(MatTTAddTerm(op.A, t.c, factors));
  }
}

constexpr Real tol = 1e-12;

} // namespace

TEST(MatTT, UnroundedApplication)
{
  Operator op;
  make_operator(op);
  for (std::vector<Int> ranks : {std::vector<Int>{1, 1, 1, 1, 1}, {1, 3, 2, 4, 1}, {1, 9, 12, 5, 1}}) {
    VecHandle x;
    MAT_OK(random_vec(op.A, ranks, 7, x.out()));
    for (auto how : {Apply::plain, Apply::transpose, Apply::hermitian}) {
      Train y;
      MAT_OK(apply(op.A, how, train_of(x), y));
      EXPECT_LT(distance(full_of(y), op.times(full_of(x), how)), tol) << "how = " << (int)how;
      const std::vector<PetscInt> S = block_ranks(op.A);
      for (Int k = 0; k <= 4; k++) EXPECT_EQ(y.r(k), S[k] * train_of(x).r(k));
    }
  }
}

TEST(MatTT, MultFamily)
{
  Operator op;
  make_operator(op);
  VecHandle x, z, y;
  MAT_OK(random_vec(op.A, {1, 3, 2, 3, 1}, 1, x.out()));
  MAT_OK(random_vec(op.A, {1, 2, 4, 2, 1}, 2, z.out()));
  MAT_OK(MatCreateVecs(op.A, NULL, y.out()));
  MAT_OK(VecTTSetRoundRtol(y, 1e-13));
  const auto fx = full_of(x), fz = full_of(z);
  MAT_OK(MatMult(op.A, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::plain)), tol);
  MAT_OK(MatMultTranspose(op.A, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::transpose)), tol);
  MAT_OK(MatMultHermitianTranspose(op.A, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::hermitian)), tol);
  MAT_OK(MatMultAdd(op.A, x, z, y));
  EXPECT_LT(distance(full_of(y), sum(op.times(fx, Apply::plain), fz)), tol);
  MAT_OK(MatMultTransposeAdd(op.A, x, z, y));
  EXPECT_LT(distance(full_of(y), sum(op.times(fx, Apply::transpose), fz)), tol);
  MAT_OK(MatMultHermitianTransposeAdd(op.A, x, z, y));
  EXPECT_LT(distance(full_of(y), sum(op.times(fx, Apply::hermitian), fz)), tol);
  auto Ax = op.times(fx, Apply::plain);
  for (Scalar &v : Ax) v = -v;
  MAT_OK(MatResidual(op.A, z, x, y));
  EXPECT_LT(distance(full_of(y), sum(Ax, fz)), tol);
  // in place: y := y + A x
  MAT_OK(VecTTSetRoundRtol(z, 1e-13));
  MAT_OK(MatMultAdd(op.A, x, z, z));
  EXPECT_LT(distance(full_of(z), sum(op.times(fx, Apply::plain), fz)), tol);
}

// PETSc caches norms by object state and does not raise it after MatMult() itself.
TEST(MatTT, ProductsRaiseTheState)
{
  Operator op;
  make_operator(op);
  VecHandle x, y;
  MAT_OK(random_vec(op.A, {1, 2, 2, 2, 1}, 3, x.out()));
  MAT_OK(random_vec(op.A, {1, 1, 1, 1, 1}, 4, y.out()));
  PetscErrorCode (*products[])(Mat, Vec, Vec) = {MatMult, MatMultTranspose, MatMultHermitianTranspose};
  for (auto product : products) {
    PetscReal        stale, norm;
    PetscObjectState before, after;
    MAT_OK(VecScale(y, 3));
    MAT_OK(VecNorm(y, NORM_2, &stale));
    MAT_OK(PetscObjectStateGet((PetscObject)y.get(), &before));
    MAT_OK(product(op.A, x, y));
    MAT_OK(PetscObjectStateGet((PetscObject)y.get(), &after));
    EXPECT_GT(after, before);
    MAT_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_NEAR(norm / norm_of(full_of(y)), 1, 1e-12);
  }
}

TEST(MatTT, Diagonal)
{
  Operator op;
  make_operator(op);
  // MATSHELL has no diagonal here: replace the operator by one without it
  op.terms.erase(op.terms.begin() + 1);
  const PetscInt N[] = {9, 4, 3, 5}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  MatHandle      A;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 4, n, N, A.out()));
  for (const TestTerm &t : op.terms) {
    std::vector<MatHandle> own(4);
    Mat                    factors[4];
    for (Int k = 0; k < 4; k++) {
      if (t.f[k]) MAT_OK(make_factor(*space_of(A.get()), k, t.type[k], t.f[k], own[k].out()));
      factors[k] = own[k];
    }
    MAT_OK(MatTTAddTerm(A, t.c, factors));
  }
  VecHandle d;
  MAT_OK(MatCreateVecs(A, NULL, d.out()));
  MAT_OK(VecTTSetRoundRtol(d, 1e-13));
  MAT_OK(MatGetDiagonal(A, d));
  std::vector<Scalar> oracle;
  for (Int p = 0; p < 9 * 4 * 3 * 5; p++) {
    Scalar    s    = 0;
    const Int i[4] = {p % 9, p / 9 % 4, p / 36 % 3, p / 108};
    for (const TestTerm &t : op.terms) {
      Scalar one = t.c;
      for (Int k = 0; k < 4; k++)
        if (t.f[k]) one *= t.f[k](i[k], i[k]);
      s += one;
    }
    oracle.push_back(s);
  }
  EXPECT_LT(distance(full_of(d), oracle), tol);
}

TEST(MatTT, AssembledAgrees)
{
  Operator op;
  make_operator(op);
  MatHandle B;
  MAT_OK(MatTTGetAssembled(op.A, B.out()));
  VecHandle x, fx, fy;
  MAT_OK(random_vec(op.A, {1, 3, 2, 4, 1}, 7, x.out()));
  const auto full = full_of(x), oracle = op.times(full, Apply::plain);
  MAT_OK(MatCreateVecs(B, fx.out(), fy.out()));
  PetscInt           start, end;
  PetscScalar       *a;
  const PetscScalar *b;
  MAT_OK(VecGetOwnershipRange(fx, &start, &end));
  MAT_OK(VecGetArray(fx, &a));
  std::copy(full.begin() + start, full.begin() + end, a);
  MAT_OK(VecRestoreArray(fx, &a));
  MAT_OK(MatMult(B, fx, fy));
  MAT_OK(VecGetArrayRead(fy, &b));
  for (PetscInt i = start; i < end; i++) EXPECT_LT(petsctt::abs(b[i - start] - oracle[i]), 1e-11);
  MAT_OK(VecRestoreArrayRead(fy, &b));
  // Frobenius norm and its logarithm
  PetscReal norm, assembled, log10norm;
  MAT_OK(MatNorm(op.A, NORM_FROBENIUS, &norm));
  MAT_OK(MatNorm(B, NORM_FROBENIUS, &assembled));
  EXPECT_NEAR(norm / assembled, 1, 1e-12);
  MAT_OK(MatTTNormLog10(op.A, &log10norm));
  EXPECT_NEAR(log10norm, std::log10(assembled), 1e-12);
  // the same through MatConvert()
  MatHandle C;
  PetscBool equal;
  MAT_OK(MatConvert(op.A, MATAIJ, MAT_INITIAL_MATRIX, C.out()));
  MAT_OK(MatEqual(B, C, &equal));
  EXPECT_TRUE(equal);
}

TEST(MatTT, ScaleShiftAxpyCopyDuplicate)
{
  Operator op;
  make_operator(op);
  VecHandle x, y;
  MAT_OK(random_vec(op.A, {1, 3, 2, 3, 1}, 1, x.out()));
  MAT_OK(MatCreateVecs(op.A, NULL, y.out()));
  MAT_OK(VecTTSetRoundRtol(y, 1e-13));
  const auto   fx = full_of(x), Ax = op.times(fx, Apply::plain);
  const Scalar c = number(-0.5, 2), s = number(3, -1);
  auto         combination = [&](Scalar alpha, Scalar beta) { // alpha A x + beta x
    std::vector<Scalar> v(fx.size());
    for (std::size_t p = 0; p < v.size(); p++) v[p] = alpha * Ax[p] + beta * fx[p];
    return v;
  };
  MatHandle B, Z;
  MAT_OK(MatDuplicate(op.A, MAT_COPY_VALUES, B.out()));
  MAT_OK(MatScale(B, c));
  MAT_OK(MatMult(B, x, y));
  EXPECT_LT(distance(full_of(y), combination(c, 0)), tol);
  MAT_OK(MatShift(B, s));
  MAT_OK(MatMult(B, x, y));
  EXPECT_LT(distance(full_of(y), combination(c, s)), tol);
  const auto before = block_ranks(op.A);
  MAT_OK(MatAXPY(B, 2, op.A, DIFFERENT_NONZERO_PATTERN)); // the same factors: no rank is added
  EXPECT_EQ(block_ranks(B), before);
  MAT_OK(MatMult(B, x, y));
  EXPECT_LT(distance(full_of(y), combination(c + Scalar(2), s)), tol);
  MAT_OK(MatAYPX(B, 2, op.A, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatMult(B, x, y));
  EXPECT_LT(distance(full_of(y), combination(Scalar(2) * c + Scalar(5), Scalar(2) * s)), tol);
  MAT_OK(MatMult(op.A, x, y)); // the original is untouched
  EXPECT_LT(distance(full_of(y), Ax), tol);
  MAT_OK(MatDuplicate(op.A, MAT_DO_NOT_COPY_VALUES, Z.out()));
  MAT_OK(MatMult(Z, x, y));
  EXPECT_TRUE(train_of(y).is_zero());
  MAT_OK(MatCopy(B, Z, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatMult(Z, x, y));
  EXPECT_LT(distance(full_of(y), combination(Scalar(2) * c + Scalar(5), Scalar(2) * s)), tol);
  MAT_OK(MatZeroEntries(Z));
  MAT_OK(MatMult(Z, x, y));
  EXPECT_TRUE(train_of(y).is_zero());
  PetscReal log10norm;
  MAT_OK(MatTTNormLog10(Z, &log10norm));
  EXPECT_TRUE(std::isinf(log10norm) && log10norm < 0);
  // A - A is zero exactly
  MAT_OK(MatCopy(op.A, Z, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatAXPY(Z, -1, op.A, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatMult(Z, x, y));
  EXPECT_TRUE(train_of(y).is_zero());
}

TEST(MatTT, TransposeAndConjugateAsOperators)
{
  Operator op;
  make_operator(op);
  VecHandle x, y;
  MAT_OK(random_vec(op.A, {1, 3, 2, 3, 1}, 1, x.out()));
  MAT_OK(MatCreateVecs(op.A, NULL, y.out()));
  MAT_OK(VecTTSetRoundRtol(y, 1e-13));
  const auto fx = full_of(x);
  MatHandle  T;
  MAT_OK(MatTranspose(op.A, MAT_INITIAL_MATRIX, T.out()));
  MAT_OK(MatMult(T, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::transpose)), tol);
  Mat reuse = T;
  MAT_OK(MatTranspose(op.A, MAT_REUSE_MATRIX, &reuse));
  MAT_OK(MatMult(T, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::transpose)), tol);
  Mat in_place = T;
  MAT_OK(MatTranspose(in_place, MAT_INPLACE_MATRIX, &in_place));
  MAT_OK(MatMult(T, x, y));
  EXPECT_LT(distance(full_of(y), op.times(fx, Apply::plain)), tol);
}

// Without a MATSHELL, which cannot be conjugated.
TEST(MatTT, HermitianOperators)
{
  const PetscInt N[] = {9, 4}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  MatHandle      A, H, F0, F1, S0;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, n, N, A.out()));
  MAT_OK(make_factor(*space_of(A.get()), 0, "aij", general(1, 9), F0.out()));
  MAT_OK(make_factor(*space_of(A.get()), 1, "dense", general(2, 4), F1.out()));
  Mat factors[] = {F0, F1};
  MAT_OK(MatTTAddTerm(A, number(1, 2), factors));
  VecHandle x, y;
  MAT_OK(random_vec(A, {1, 3, 1}, 1, x.out()));
  MAT_OK(MatCreateVecs(A, NULL, y.out()));
  const auto oracle = kron_times({9, 4}, number(1, 2), {general(1, 9), general(2, 4)}, full_of(x), Apply::hermitian);
  MAT_OK(MatHermitianTranspose(A, MAT_INITIAL_MATRIX, H.out()));
  MAT_OK(MatMult(H, x, y));
  EXPECT_LT(distance(full_of(y), oracle), 1e-7); // default rounding
  PetscBool yes;
  MAT_OK(MatIsSymmetric(A, 1e-10, &yes));
  EXPECT_FALSE(yes);
  MAT_OK(MatIsHermitian(A, 1e-10, &yes));
  EXPECT_FALSE(yes);
  // A + A^H is Hermitian, A + A^T symmetric
  MAT_OK(MatAXPY(H, 1, A, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatIsHermitian(H, 1e-13, &yes));
  EXPECT_TRUE(yes);
  MAT_OK(MatIsSymmetric(H, 1e-13, &yes));
  EXPECT_EQ((bool)yes, !is_complex);
  MatHandle T;
  MAT_OK(MatTranspose(A, MAT_INITIAL_MATRIX, T.out()));
  MAT_OK(MatAXPY(T, 1, A, DIFFERENT_NONZERO_PATTERN));
  MAT_OK(MatIsSymmetric(T, 1e-13, &yes));
  EXPECT_TRUE(yes);
}

TEST(MatTT, ZeroVectorAndNaN)
{
  Operator op;
  make_operator(op);
  VecHandle x, y;
  MAT_OK(MatCreateVecs(op.A, x.out(), y.out()));
  MAT_OK(VecTTSetConstant(y, 1));
  MAT_OK(VecSet(x, 0));
  MAT_OK(MatMult(op.A, x, y));
  EXPECT_TRUE(train_of(y).is_zero());
  MAT_OK(VecTTSetConstant(x, 1));
  MAT_OK(MatScale(op.A, std::nan("")));
  MAT_OK(MatMult(op.A, x, y));
  PetscReal norm;
  MAT_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_TRUE(std::isnan(norm));
}

// NaN or Inf in one of several factors: in the norm, and in the products, of the compressed operator as well.
TEST(MatTT, NaNInAFactor)
{
  const Real     bad[] = {std::nan(""), std::numeric_limits<Real>::infinity()};
  const PetscInt N[] = {6, 5}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  for (Real value : bad)
    for (int where = 0; where < 4; where++) { // mode, and whether it is the first or the second matrix of it
      MatHandle A, F[2][2];
      VecHandle x, y;
      PetscReal norm, log10norm;
      MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, n, N, A.out()));
      for (int term = 0; term < 2; term++) {
        for (Int k = 0; k < 2; k++) {
          const Formula good = general(term, N[k]);
          const bool    here = where == k + 2 * term;
          MAT_OK(make_factor(*space_of(A.get()), k, "aij", [&](Int i, Int j) { return here && i == 1 && j == 1 ? Scalar(value) : good(i, j); }, F[term][k].out()));
        }
        const Mat factors[] = {F[term][0], F[term][1]};
        MAT_OK(MatTTAddTerm(A, 1, factors));
      }
      MAT_OK(MatTTNormLog10(A, &log10norm));
      EXPECT_FALSE(std::isfinite(log10norm)) << value << " at " << where;
      MAT_OK(MatTTCompress(A, 1e-3));
      MAT_OK(MatNorm(A, NORM_FROBENIUS, &norm));
      EXPECT_FALSE(std::isfinite(norm)) << value << " at " << where;
      MAT_OK(MatCreateVecs(A, x.out(), y.out()));
      MAT_OK(VecTTSetConstant(x, 1));
      MAT_OK(MatMult(A, x, y));
      MAT_OK(VecNorm(y, NORM_2, &norm));
      EXPECT_TRUE(std::isnan(norm)) << value << " at " << where;
    }
}

// A factor changed by the user changes the operator, also where it was copied to all processes.
TEST(MatTT, FollowsChangesOfFactors)
{
  const PetscInt N[] = {6, 5}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  MatHandle      A, F0, F1;
  int            rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, n, N, A.out()));
  MAT_OK(make_factor(*space_of(A.get()), 0, "aij", general(1, 6), F0.out()));
  const Mode split = split_evenly(5, space_of(A.get())->comm().size());
  MAT_OK(make_aij(PETSC_COMM_WORLD, split.local(rank), 5, general(2, 5), F1.out())); // parallel, on a replicated mode
  Mat factors[] = {F0, F1};
  MAT_OK(MatTTAddTerm(A, 1, factors));
  VecHandle x;
  MAT_OK(random_vec(A, {1, 3, 1}, 1, x.out()));
  Train y;
  MAT_OK(apply(A, Apply::plain, train_of(x), y));
  const auto oracle = kron_times({6, 5}, 1, {general(1, 6), general(2, 5)}, full_of(x), Apply::plain);
  EXPECT_LT(distance(full_of(y), oracle), tol);
  MAT_OK(MatScale(F0, 2));
  MAT_OK(MatScale(F1, 3));
  MAT_OK(apply(A, Apply::plain, train_of(x), y));
  auto six = oracle;
  for (Scalar &v : six) v *= 6;
  EXPECT_LT(distance(full_of(y), six), tol);
}

TEST(MatTT, BlockTrainForm)
{
  // The Laplacian of three modes with block rank 2, blocks given one by one.
  const PetscInt N[] = {5, 6, 4}, S[] = {1, 2, 2, 1};
  MatHandle      A, L[3];
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, NULL, N, A.out()));
  for (Int k = 0; k < 3; k++) MAT_OK(make_factor(*space_of(A.get()), k, "aij", second_difference(), L[k].out()));
  MAT_OK(MatTTSetBlockRanks(A, S));
  MAT_OK(MatTTSetBlock(A, 0, 0, 0, 1, L[0]));
  MAT_OK(MatTTSetBlock(A, 0, 0, 1, 1, NULL));
  MAT_OK(MatTTSetBlock(A, 1, 0, 0, 1, NULL));
  MAT_OK(MatTTSetBlock(A, 1, 1, 0, 1, L[1]));
  MAT_OK(MatTTSetBlock(A, 1, 1, 1, 7, NULL));
  MAT_OK(MatTTSetBlock(A, 1, 1, 1, 1, NULL)); // replaces
  MAT_OK(MatTTSetBlock(A, 2, 0, 0, 1, NULL));
  MAT_OK(MatTTSetBlock(A, 2, 1, 0, 1, L[2]));
  EXPECT_EQ(block_ranks(A), std::vector<PetscInt>(S, S + 4));
  PetscScalar c;
  Mat         M;
  MAT_OK(MatTTGetBlock(A, 1, 0, 1, &c, &M));
  EXPECT_EQ(c, PetscScalar(0));
  EXPECT_EQ(M, (Mat)NULL);
  MAT_OK(MatTTGetBlock(A, 1, 1, 0, &c, &M));
  EXPECT_EQ(c, PetscScalar(1));
  EXPECT_EQ(M, L[1].get());
  VecHandle x;
  MAT_OK(random_vec(A, {1, 3, 2, 1}, 1, x.out()));
  Train y;
  MAT_OK(apply(A, Apply::plain, train_of(x), y));
  const Formula       D  = second_difference(), I;
  const auto          fx = full_of(x);
  std::vector<Scalar> oracle(fx.size(), 0);
  for (Int k = 0; k < 3; k++) {
    std::vector<Formula> f(3);
    f[k]   = D;
    oracle = sum(oracle, kron_times({5, 6, 4}, 1, f, fx, Apply::plain));
  }
  EXPECT_LT(distance(full_of(y), oracle), tol);
}
