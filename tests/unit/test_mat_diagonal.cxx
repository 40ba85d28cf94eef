// Diagonals of TT vectors as terms of a MATTT: every operation against full arrays.
#include "petscttpc.h"
#include "test_mat_fixture.hpp"

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

constexpr Real tol = 1e-12;

// A = sum of two Kronecker terms + alpha diag(v), on modes 9 (distributed), 4 (replicated), 3 (distributed).
struct Sum {
  std::vector<Int>                  N = {9, 4, 3};
  std::vector<Scalar>               c;
  std::vector<std::vector<Formula>> f;
  Scalar                            alpha = number(0.75, -0.5);
  MatHandle                         constant, A; // without and with the diagonal
  VecHandle                         v;

  std::vector<Scalar> times(const std::vector<Scalar> &x, Apply how) const
  {
    std::vector<Scalar> y(x.size(), 0);
    for (std::size_t t = 0; t < c.size(); t++) y = sum(y, kron_times(N, c[t], f[t], x, how));
    const auto d = full_of(v);
    for (std::size_t i = 0; i < y.size(); i++) {
      const Scalar a = alpha * d[i];
      y[i] += (how == Apply::hermitian ? conj(a) : a) * x[i];
    }
    return y;
  }
};

void make_sum(Sum &s)
{
  const PetscInt N[] = {9, 4, 3}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED};
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, N, s.constant.out()));
  s.c = {number(1.5, 0.5), number(-2, 1)};
  s.f = {{general(1, 9), Formula(), general(2, 3)}, {Formula(), general(3, 4), Formula()}};
  for (std::size_t t = 0; t < s.c.size(); t++) {
    std::vector<MatHandle> own(3);
    Mat                    factors[3];
    for (Int k = 0; k < 3; k++) {
      if (s.f[t][k]) MAT_OK(make_factor(*space_of(s.constant.get()), k, "aij", s.f[t][k], own[k].out()));
      factors[k] = own[k];
    }
    MAT_OK(MatTTAddTerm(s.constant, s.c[t], factors));
  }
  MAT_OK(random_vec(s.constant, {1, 3, 2, 1}, 11, s.v.out()));
  MAT_OK(MatDuplicate(s.constant, MAT_COPY_VALUES, s.A.out()));
  MAT_OK(MatTTAddDiagonalVec(s.A, s.alpha, s.v));
}

void expect_product(Mat A, const Sum &s, const char *what)
{
  VecHandle x, y;
  MAT_OK(random_vec(A, {1, 4, 2, 1}, 5, x.out()));
  MAT_OK(MatCreateVecs(A, NULL, y.out()));
  MAT_OK(VecTTSetRoundRtol(y, 1e-13));
  MAT_OK(MatMult(A, x, y));
  EXPECT_LT(distance(full_of(y), s.times(full_of(x), Apply::plain)), tol) << what;
}

Real full_norm(const Sum &s)
{
  Real        square = 0;
  std::size_t n      = 9 * 4 * 3;
  for (std::size_t j = 0; j < n; j++) {
    std::vector<Scalar> e(n, 0);
    e[j] = 1;
    for (Scalar a : s.times(e, Apply::plain)) square += abs2(a);
  }
  return std::sqrt(square);
}

} // namespace

// Products by all ways of computing them: cores formed, the lazy product contracted from either side, and with forms of rounding that use these.
TEST(MatDiagonal, Products)
{
  Sum s;
  make_sum(s);
  VecHandle x;
  MAT_OK(random_vec(s.A, {1, 4, 2, 1}, 5, x.out()));
  const auto fx = full_of(x);
  for (auto how : {Apply::plain, Apply::transpose, Apply::hermitian}) {
    Train y;
    MAT_OK(apply(s.A, how, train_of(x), y));
    EXPECT_LT(distance(full_of(y), s.times(fx, how)), tol) << "how = " << (int)how;
    for (VecTTRoundType type : {VEC_TT_ROUND_QR, VEC_TT_ROUND_RANDOMIZED}) {
      VecHandle z;
      MAT_OK(MatCreateVecs(s.A, NULL, z.out()));
      MAT_OK(VecTTSetRoundType(z, type));
      MAT_OK(VecTTSetRoundRtol(z, 1e-13));
      if (how == Apply::plain) MAT_OK(MatMult(s.A, x, z));
      else if (how == Apply::transpose) MAT_OK(MatMultTranspose(s.A, x, z));
      else MAT_OK(MatMultHermitianTranspose(s.A, x, z));
      EXPECT_LT(distance(full_of(z), s.times(fx, how)), tol) << "how = " << (int)how << ", rounded by " << VecTTRoundTypes[type];
    }
  }
}

// v alone, of TT ranks 1 and others, on every distribution; a change of v afterwards does not matter. The lazy product from the left.
TEST(MatDiagonal, AloneIsTheEntrywiseProduct)
{
  const PetscInt                           N[] = {5, 2, 7};
  const std::vector<std::vector<PetscInt>> kinds = {{PETSC_TT_DISTRIBUTED, PETSC_TT_DISTRIBUTED, PETSC_TT_DISTRIBUTED},
                                                    {PETSC_TT_REPLICATED, PETSC_TT_REPLICATED, PETSC_TT_REPLICATED},
                                                    {PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED}};
  for (const auto &n : kinds)
    for (std::vector<Int> r : {std::vector<Int>{1, 1, 1, 1}, {1, 3, 4, 1}}) {
      MatHandle A;
      VecHandle v, x, y, w;
      MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n.data(), N, A.out()));
      MAT_OK(random_vec(A, r, 3, v.out()));
      MAT_OK(random_vec(A, {1, 2, 3, 1}, 4, x.out()));
      MAT_OK(VecScale(v, 1e-3));
      MAT_OK(MatDiagonalSet(A, v, ADD_VALUES)); // the same as MatTTAddDiagonalVec(A, 1, v)
      MAT_OK(MatCreateVecs(A, w.out(), y.out()));
      MAT_OK(VecTTSetRoundRtol(w, 1e-13));
      MAT_OK(VecTTSetRoundRtol(y, 1e-13));
      MAT_OK(VecPointwiseMult(w, v, x));
      MAT_OK(VecSet(v, 7));
      MAT_OK(MatMult(A, x, y));
      EXPECT_LT(distance(full_of(y), full_of(w)), tol);
      if (r[1] == 1) continue; // coefficients of single blocks go to the scale of the formed train
      std::unique_ptr<LazyTrain> lazy;
      MAT_OK(lazy_apply(A, Apply::plain, train_of(x), lazy));
      Core C;
      ASSERT_NO_THROW({
        Scalar one = 1;
        lazy->times_left(0, &one, 1, C);
      });
      Train formed;
      MAT_OK(apply(A, Apply::plain, train_of(x), formed));
      ASSERT_EQ(C.count(), formed.core(0).count());
      for (Count p = 0; p < C.count(); p++) EXPECT_NEAR(petsctt::abs(C.data()[p] - formed.core(0).data()[p]), 0, 1e-12 * (1 + petsctt::abs(C.data()[p])));
    }
}

TEST(MatDiagonal, ScaleAxpyDuplicateTranspose)
{
  Sum s;
  make_sum(s);
  MatHandle B, T, C, J;
  MAT_OK(MatDuplicate(s.A, MAT_COPY_VALUES, B.out()));
  MAT_OK(MatScale(s.A, 3));
  expect_product(B, s, "a duplicate does not change with the original");
  MAT_OK(MatAXPY(s.A, -2, B, DIFFERENT_NONZERO_PATTERN));
  expect_product(s.A, s, "3 A - 2 A");
  EXPECT_EQ(block_ranks(s.A), block_ranks(B)) << "equal diagonals are recognised";

  const Apply transposed = Apply::transpose;
  MAT_OK(MatTranspose(B, MAT_INITIAL_MATRIX, T.out()));
  VecHandle x, y;
  MAT_OK(random_vec(B, {1, 2, 3, 1}, 9, x.out()));
  MAT_OK(MatCreateVecs(B, NULL, y.out()));
  MAT_OK(VecTTSetRoundRtol(y, 1e-13));
  MAT_OK(MatMult(T, x, y));
  EXPECT_LT(distance(full_of(y), s.times(full_of(x), transposed)), tol);
  MAT_OK(MatConjugate(T));
  MAT_OK(MatMult(T, x, y));
  EXPECT_LT(distance(full_of(y), s.times(full_of(x), Apply::hermitian)), tol);
  expect_product(B, s, "what MatConjugate() did to the transpose is not seen by the original");

  // the values of a Jacobian replaced: a copy of the constant part, and the new diagonal
  MAT_OK(MatDuplicate(s.constant, MAT_DO_NOT_COPY_VALUES, J.out()));
  for (int evaluation = 0; evaluation < 2; evaluation++) {
    PetscObjectState before, after;
    MAT_OK(VecScale(s.v, 2));
    MAT_OK(PetscObjectStateGet((PetscObject)J.get(), &before));
    MAT_OK(MatCopy(s.constant, J, SAME_NONZERO_PATTERN));
    MAT_OK(MatTTAddDiagonalVec(J, s.alpha, s.v));
    MAT_OK(PetscObjectStateGet((PetscObject)J.get(), &after));
    EXPECT_GT(after, before);
    expect_product(J, s, "evaluated anew");
  }
  MAT_OK(MatZeroEntries(J));
  MAT_OK(MatMult(J, x, y));
  PetscReal norm;
  MAT_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_EQ(norm, 0);
}

TEST(MatDiagonal, DiagonalAssembledNorm)
{
  Sum s;
  make_sum(s);
  VecHandle d;
  MAT_OK(MatCreateVecs(s.A, NULL, d.out()));
  MAT_OK(VecTTSetRoundRtol(d, 1e-13));
  MAT_OK(MatGetDiagonal(s.A, d));
  const std::size_t   n = 9 * 4 * 3;
  std::vector<Scalar> diagonal(n);
  for (std::size_t j = 0; j < n; j++) {
    std::vector<Scalar> e(n, 0);
    e[j]        = 1;
    diagonal[j] = s.times(e, Apply::plain)[j];
  }
  EXPECT_LT(distance(full_of(d), diagonal), tol);

  MatHandle B;
  PetscReal norm, assembled;
  MAT_OK(MatTTGetAssembled(s.A, B.out()));
  MAT_OK(MatNorm(B, NORM_FROBENIUS, &assembled));
  EXPECT_NEAR(assembled / full_norm(s), 1, 1e-12);
  MAT_OK(MatNorm(s.A, NORM_FROBENIUS, &norm));
  EXPECT_NEAR(norm / assembled, 1, 1e-12);

  // one rank-one diagonal: the other norms exist too
  MatHandle D;
  VecHandle r;
  MAT_OK(MatDuplicate(s.constant, MAT_DO_NOT_COPY_VALUES, D.out()));
  MAT_OK(random_vec(D, {1, 1, 1, 1}, 2, r.out()));
  MAT_OK(MatTTAddDiagonalVec(D, 2, r));
  MAT_OK(MatNorm(D, NORM_INFINITY, &norm));
  MAT_OK(VecNorm(r, NORM_INFINITY, &assembled));
  EXPECT_NEAR(norm / (2 * assembled), 1, 1e-12);
  MAT_OK(MatNorm(D, NORM_FROBENIUS, &norm));
  MAT_OK(VecNorm(r, NORM_2, &assembled));
  EXPECT_NEAR(norm / (2 * assembled), 1, 1e-12);
}

// Two diagonals of which one is a multiple of the other, another way written: ranks fall to those of one, and the operator stays.
TEST(MatDiagonal, Compress)
{
  Sum s;
  make_sum(s);
  const auto before = block_ranks(s.A);
  VecHandle  w;
  MAT_OK(VecDuplicate(s.v, w.out()));
  MAT_OK(VecTTSetRoundRtol(w, 1e-13));
  MAT_OK(VecAXPY(w, -1, s.v)); // other cores than those of v
  MAT_OK(VecTTOrthogonalize(w, 2));
  MAT_OK(MatTTAddDiagonalVec(s.A, 0.5 * s.alpha, w));
  s.alpha *= 0.5;
  const auto doubled = block_ranks(s.A);
  MAT_OK(MatTTCompress(s.A, 0));
  const auto after = block_ranks(s.A);
  for (Int k = 1; k < 3; k++) {
    EXPECT_GT(doubled[k], before[k]);
    EXPECT_LE(after[k], before[k]);
  }
  expect_product(s.A, s, "compressed");
  MAT_OK(MatShift(s.A, 1));
  MAT_OK(MatShift(s.A, -1));
  expect_product(s.A, s, "compressed, then shifted to and fro");
  // a large tolerance drops what is small
  VecHandle tiny;
  MAT_OK(random_vec(s.A, {1, 2, 2, 1}, 77, tiny.out()));
  MAT_OK(MatTTAddDiagonalVec(s.A, 1e-14, tiny));
  MAT_OK(MatTTCompress(s.A, 1e-10));
  expect_product(s.A, s, "compressed to a tolerance");
}

// The projection on a mode: means of v over the others, or its values at a reference point.
TEST(MatDiagonal, Projection)
{
  Sum s;
  make_sum(s);
  const PetscInt ref[] = {-1, 2, 1};
  const auto     v     = full_of(s.v);
  for (int at_reference = 0; at_reference < 2; at_reference++) {
    MatHandle without, with;
    MAT_OK(MatTTGetProjectedMode(s.constant, 0, at_reference ? ref : NULL, without.out()));
    MAT_OK(MatTTGetProjectedMode(s.A, 0, at_reference ? ref : NULL, with.out()));
    MAT_OK(MatAXPY(with, -1, without, DIFFERENT_NONZERO_PATTERN));
    PetscInt start, end;
    MAT_OK(MatGetOwnershipRange(with, &start, &end));
    for (PetscInt i = start; i < end; i++) {
      Scalar want = 0;
      for (Int p = 0; p < 12; p++) want += v[(std::size_t)(i + 9 * p)] / (Real)12;
      if (at_reference) want = v[(std::size_t)(i + 9 * (2 + 4 * 1))];
      PetscScalar a;
      MAT_OK(MatGetValue(with, i, i, &a));
      EXPECT_NEAR(petsctt::abs(a - s.alpha * want), 0, 1e-12);
    }
  }
}

// Files hold the diagonals as sparse matrices.
TEST(MatDiagonal, ViewAndLoad)
{
  Sum s;
  make_sum(s);
  ViewerHandle viewer;
  MatHandle    B;
  const char   name[] = "mat_diagonal_test.bin";
  MAT_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, viewer.out()));
  MAT_OK(MatView(s.A, viewer));
  ViewerHandle(std::move(viewer));
  MAT_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, viewer.out()));
  MAT_OK(MatDuplicate(s.constant, MAT_DO_NOT_COPY_VALUES, B.out()));
  MAT_OK(MatLoad(B, viewer));
  expect_product(B, s, "loaded");
  MPI_Barrier(PETSC_COMM_WORLD);
  if (space_of(B.get())->comm().rank() == 0) {
    std::remove(name);
    std::remove((std::string(name) + ".info").c_str());
  }
  // and the text
  MAT_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name, viewer.out()));
  MAT_OK(MatView(s.A, viewer));
  MPI_Barrier(PETSC_COMM_WORLD);
  if (space_of(B.get())->comm().rank() == 0) std::remove(name);
}

TEST(MatDiagonal, BadInput)
{
  Sum s;
  make_sum(s);
  const PetscInt N[] = {9, 3, 4};
  MatHandle      B;
  VecHandle      other, standard;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, NULL, N, B.out()));
  MAT_OK(MatCreateVecs(B, other.out(), NULL));
  MAT_OK(VecCreateMPI(PETSC_COMM_WORLD, PETSC_DECIDE, 9 * 4 * 3, standard.out()));
  const auto fails = [&](auto &&call, const std::string &words) {
    Quiet quiet;
    EXPECT_NE((int)call(), 0);
    EXPECT_NE(Quiet::text().find(words), std::string::npos) << Quiet::text();
  };
  fails([&] { return MatTTAddDiagonalVec(s.A, 1, other); }, "9 x 4");
  fails([&] { return MatTTAddDiagonalVec(s.A, 1, standard); }, "not tt");
  fails([&] { return MatTTAddDiagonalVec(s.A, 1, NULL); }, "NULL");
  fails([&] { return MatDiagonalSet(s.A, s.v, INSERT_VALUES); }, "ADD_VALUES");
  int rank, size;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  if (size > 1) fails([&] { return MatTTAddDiagonalVec(s.A, rank, s.v); }, "differ");
  // nothing of this was kept
  expect_product(s.A, s, "after errors");
  // NaN comes through
  PetscReal norm;
  VecHandle x, y;
  MAT_OK(MatCreateVecs(s.A, x.out(), y.out()));
  MAT_OK(VecTTSetConstant(x, 1));
  MAT_OK(VecScale(s.v, std::numeric_limits<PetscReal>::quiet_NaN()));
  MAT_OK(MatTTAddDiagonalVec(s.A, 1, s.v));
  MAT_OK(MatMult(s.A, x, y));
  MAT_OK(VecNorm(y, NORM_2, &norm));
  EXPECT_TRUE(PetscIsNanReal(norm));
}
