// Block ranks: merging of equal states, MatTTCompress(), many modes, norms beyond the range of a real number; P4 and P7.
#include "test_mat_fixture.hpp"

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

// sum over i of c_i (I x .. x M_i x .. x I)
PetscErrorCode add_mode_sum(Mat A, const std::vector<Mat> &M, const std::vector<Scalar> &c)
{
  PetscFunctionBegin;
  for (std::size_t i = 0; i < M.size(); i++) {
    std::vector<Mat> factors(M.size(), (Mat)NULL);
    factors[i] = M[i];
    PetscCall(MatTTAddTerm(A, c[i], factors.data()));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_laplacian(Int d, Int N, bool one_matrix, Mat *A)
{
  std::vector<PetscInt>  sizes((std::size_t)d, N);
  std::vector<MatHandle> own((std::size_t)d);
  std::vector<Mat>       L;

  PetscFunctionBegin;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, d, NULL, sizes.data(), A));
  for (Int k = 0; k < d; k++) {
    if (k == 0 || !one_matrix) PetscCall(make_factor(*space_of(*A), k, "aij", second_difference(), own[k].out()));
    L.push_back(one_matrix ? own[0] : own[k]);
  }
  PetscCall(add_mode_sum(*A, L, std::vector<Scalar>((std::size_t)d, 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

} // namespace

TEST(MatRanks, ParametricOperatorIsMerged)
{
  const PetscInt N[] = {40, 5, 6, 7, 5};
  MatHandle      A, F[5], D[5];
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 5, NULL, N, A.out()));
  for (int i = 0; i < 5; i++) {
    MAT_OK(make_factor(*space_of(A.get()), 0, "aij", general(i, 40), F[i].out()));
    if (i > 0) MAT_OK(make_factor(*space_of(A.get()), i, "aij", diagonal(i), D[i].out()));
    Mat factors[5] = {F[i], NULL, NULL, NULL, NULL};
    if (i > 0) factors[i] = D[i];
    MAT_OK(MatTTAddTerm(A, 1 + 0.1 * i, factors));
  }
  EXPECT_EQ(block_ranks(A), (std::vector<PetscInt>{1, 5, 4, 3, 2, 1}));
}

TEST(MatRanks, LaplacianIsMergedToRankTwo)
{
  for (Int d = 2; d <= 10; d++) {
    MatHandle A;
    MAT_OK(make_laplacian(d, 4, true, A.out()));
    std::vector<PetscInt> S((std::size_t)d + 1, 2);
    S.front() = S.back() = 1;
    EXPECT_EQ(block_ranks(A), S);
    // a shift makes no rank, a scale neither
    MAT_OK(MatShift(A, 3));
    MAT_OK(MatScale(A, 0.3));
    EXPECT_EQ(block_ranks(A), S);
  }
}

// Matrices that are equal by value only, and of one mode a multiple of the other: nothing to see for pointers.
TEST(MatRanks, CompressFindsEqualValues)
{
  for (Int d = 3; d <= 10; d++) {
    const std::vector<PetscInt> N((std::size_t)d, 4);
    MatHandle                   A, B;
    MAT_OK(MatCreateTT(PETSC_COMM_WORLD, d, NULL, N.data(), A.out()));
    for (int copy = 1; copy <= 3; copy++) { // sum over k of (1 + 2 + 3) L_k, as 3 d terms with 3 d matrices
      std::vector<MatHandle> own((std::size_t)d);
      std::vector<Mat>       L;
      for (Int k = 0; k < d; k++) {
        MAT_OK(make_factor(*space_of(A.get()), k, k % 2 ? "dense" : "aij", second_difference(), own[k].out()));
        MAT_OK(MatScale(own[k], copy));
        L.push_back(own[k]);
      }
      MAT_OK(add_mode_sum(A, L, std::vector<Scalar>((std::size_t)d, 1)));
    }
    MAT_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
    MAT_OK(MatTTCompress(A, 1e-12));
    std::vector<PetscInt> S((std::size_t)d + 1, 2);
    S.front() = S.back() = 1;
    EXPECT_EQ(block_ranks(A), S);
    PetscReal norm, difference;
    MAT_OK(MatNorm(B, NORM_FROBENIUS, &norm));
    MAT_OK(MatAXPY(B, -1, A, DIFFERENT_NONZERO_PATTERN));
    MAT_OK(MatNorm(B, NORM_FROBENIUS, &difference));
    EXPECT_LT(difference, 1e-12 * norm);
    MatHandle C;
    MAT_OK(make_laplacian(d, 4, true, C.out()));
    VecHandle x;
    std::vector<Int> r((std::size_t)d + 1, 2);
    MAT_OK(random_vec(A, r, 5, x.out()));
    Train y, z;
    MAT_OK(apply(A, Apply::plain, train_of(x), y));
    MAT_OK(apply(C, Apply::plain, train_of(x), z));
    if (d <= 5) {
      auto six = full_of(z);
      for (Scalar &v : six) v *= 6;
      EXPECT_LT(distance(full_of(y), six), 1e-12);
    }
  }
}

TEST(MatRanks, CompressKeepsItsTolerance)
{
  // A0 x B0 + 1e-3 A1 x B1 + 1e-6 A2 x B2
  const PetscInt N[] = {30, 35};
  MatHandle      A, B;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  for (int i = 0; i < 3; i++) {
    MatHandle F0, F1;
    MAT_OK(make_factor(*space_of(A.get()), 0, "aij", general(i, 30), F0.out()));
    MAT_OK(make_factor(*space_of(A.get()), 1, "aij", general(i + 5, 35), F1.out()));
    Mat factors[] = {F0, F1};
    MAT_OK(MatTTAddTerm(A, std::pow(1e-3, i), factors));
  }
  for (auto want : {std::pair<Real, PetscInt>{1e-9, 3}, {1e-4, 2}, {1e-2, 1}}) {
    MAT_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out()));
    MAT_OK(MatTTCompress(B, want.first));
    EXPECT_EQ(block_ranks(B), (std::vector<PetscInt>{1, want.second, 1}));
    PetscReal norm, error;
    MAT_OK(MatNorm(A, NORM_FROBENIUS, &norm));
    MAT_OK(MatAXPY(B, -1, A, DIFFERENT_NONZERO_PATTERN));
    MAT_OK(MatNorm(B, NORM_FROBENIUS, &error));
    EXPECT_LE(error, 1.01 * want.first * norm);
    B = MatHandle();
  }
}

// A compressed operator has coefficients made of the values of its factors: used with other values it would be wrong.
TEST(MatRanks, CompressedOperatorRefusesChangedFactors)
{
  const PetscInt N[] = {6, 5, 4};
  MatHandle      A, B, C, L[2];
  Vec            x, y;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, NULL, N, A.out()));
  for (MatHandle &M : L) MAT_OK(make_factor(*space_of(A.get()), 0, "aij", second_difference(), M.out()));
  const auto add_terms = [&] {
    for (Mat M : {L[0].get(), L[1].get()}) {
      const Mat term[] = {M, NULL, NULL};
      MAT_OK(MatTTAddTerm(A, 1, term));
    }
    MatHandle D;
    MAT_OK(make_factor(*space_of(A.get()), 1, "aij", diagonal(1), D.out()));
    const Mat term[] = {L[1], D, NULL};
    MAT_OK(MatTTAddTerm(A, 1, term));
  };
  add_terms();
  MAT_OK(MatCreateVecs(A, &x, &y));
  MAT_OK(VecTTSetConstant(x, 1));
  MAT_OK(MatDuplicate(A, MAT_COPY_VALUES, B.out())); // as it was given
  MAT_OK(MatTTCompress(A, 1e-12));
  EXPECT_EQ(block_ranks(A)[1], 1); // L x (2 I + D)
  MAT_OK(MatDuplicate(A, MAT_COPY_VALUES, C.out()));
  MAT_OK(MatMult(A, x, y));
  MAT_OK(MatScale(L[0], 2));
  MAT_OK(MatMult(B, x, y)); // 3 L + L x D
  for (Mat M : {A.get(), C.get()}) {
    MAT_OK(PetscPushErrorHandler(PetscIgnoreErrorHandler, NULL));
    const PetscErrorCode code = MatMult(M, x, y);
    MAT_OK(PetscPopErrorHandler());
    EXPECT_EQ((int)code, (int)PETSC_ERR_ARG_WRONGSTATE);
    MAT_OK(VecDestroy(&x)); // newer PETSc leaves them locked
    MAT_OK(VecDestroy(&y));
    MAT_OK(MatCreateVecs(B, &x, &y));
    MAT_OK(VecTTSetConstant(x, 1));
  }
  MAT_OK(MatZeroEntries(A));
  add_terms();
  MAT_OK(MatMult(A, x, y));
  const std::vector<Scalar> fresh = full_of(y);
  MAT_OK(MatMult(B, x, y));
  EXPECT_LT(distance(fresh, full_of(y)), 1e-12);
  MAT_OK(VecDestroy(&x));
  MAT_OK(VecDestroy(&y));
}

// P7: derivatives and Laplacian on a 32^3 grid against the assembled matrices.
TEST(MatRanks, GridOperatorsAgainstAssembled)
{
  const PetscInt N[] = {32, 32, 32}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED};
  const Real     h = 1.0 / 33;
  for (int which = 0; which < 4; which++) { // d/dx, d/dy, d/dz, Laplacian
    MatHandle A, B, F[3];
    MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, N, A.out()));
    for (int k = 0; k < 3; k++) {
      if (which < 3 && k != which) continue;
      MAT_OK(make_factor(*space_of(A.get()), k, "aij", which < 3 ? central_difference() : second_difference(), F[k].out()));
      MAT_OK(MatScale(F[k], which < 3 ? 1 / h : 1 / (h * h)));
      Mat factors[3] = {NULL, NULL, NULL};
      factors[k]     = F[k];
      MAT_OK(MatTTAddTerm(A, 1, factors));
    }
    MAT_OK(MatTTGetAssembled(A, B.out()));
    VecHandle x, fx, fy;
    MAT_OK(random_vec(A, {1, 5, 4, 1}, 3, x.out()));
    Train y;
    MAT_OK(apply(A, Apply::plain, train_of(x), y));
    const auto full = full_of(x), product = full_of(y);
    MAT_OK(MatCreateVecs(B, fx.out(), fy.out()));
    PetscInt           start, end, nx;
    PetscScalar       *a;
    const PetscScalar *b;
    MAT_OK(VecGetOwnershipRange(fx, &start, &end));
    MAT_OK(VecGetLocalSize(x, &nx));
    EXPECT_EQ(nx, end - start); // the nominal layout is that of the assembled problem
    MAT_OK(VecGetArray(fx, &a));
    std::copy(full.begin() + start, full.begin() + end, a);
    MAT_OK(VecRestoreArray(fx, &a));
    MAT_OK(MatMult(B, fx, fy));
    MAT_OK(VecGetArrayRead(fy, &b));
    Real sums[2] = {0, 0};
    for (PetscInt i = start; i < end; i++) sums[0] += abs2(b[i - start] - product[i]), sums[1] += abs2(b[i - start]);
    MAT_OK(VecRestoreArrayRead(fy, &b));
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPIU_REAL, MPI_SUM, PETSC_COMM_WORLD);
    EXPECT_LT(std::sqrt(sums[0] / sums[1]), 1e-13) << "operator " << which;
  }
}

// P4: the 1-D second difference on 2^L points as a train of 2 x 2 matrices (Kazeev & Khoromskij 2012): 2 I - S - S^T, where the shift S = J x I x .. + J' x J x .. + ..
TEST(MatRanks, QuantisedLaplacian)
{
  for (Int L : {6, 12, 20}) {
    std::vector<PetscInt> N((std::size_t)L, 2), S((std::size_t)L + 1, 3);
    S.front() = S.back() = 1;
    MatHandle A, J, Jt;
    MAT_OK(MatCreateTT(PETSC_COMM_WORLD, L, NULL, N.data(), A.out()));
    MAT_OK(make_aij(PETSC_COMM_SELF, 2, 2, [](Int i, Int j) { return Scalar(i == 0 && j == 1 ? 1 : 0); }, J.out()));
    MAT_OK(make_aij(PETSC_COMM_SELF, 2, 2, [](Int i, Int j) { return Scalar(i == 1 && j == 0 ? 1 : 0); }, Jt.out()));
    // With the lowest bit first, x -> x + 1: the lowest bit goes 0 -> 1 and is done, or 1 -> 0 with a carry. States after a
    // bit: 0 done, 1 carry up, 2 carry down.
    MAT_OK(MatTTSetBlockRanks(A, S.data()));
    for (Int k = 0; k < L; k++) {
      const bool last = k + 1 == L;
      if (k == 0) { // 2 I - J - J^T; J = |0><1| raises the carry of the other kind
        MAT_OK(MatTTSetBlock(A, 0, 0, 1, -1, Jt));
        MAT_OK(MatTTSetBlock(A, 0, 0, 2, -1, J));
        continue;
      }
      MAT_OK(MatTTSetBlock(A, k, 0, 0, 1, NULL));
      // entry (i, i+1): lower bits of i all 1, of i+1 all 0 (Jt-type carry), then 0 -> 1 once
      MAT_OK(MatTTSetBlock(A, k, 1, 0, 1, J));
      MAT_OK(MatTTSetBlock(A, k, 2, 0, 1, Jt));
      if (!last) {
        MAT_OK(MatTTSetBlock(A, k, 1, 1, 1, Jt));
        MAT_OK(MatTTSetBlock(A, k, 2, 2, 1, J));
      }
    }
    // block (0, 0) of the first core is 2 I - J - J^T: given as a term each
    std::vector<Mat> first((std::size_t)L, (Mat)NULL);
    MAT_OK(MatTTAddTerm(A, 2, NULL));
    first[0] = J;
    MAT_OK(MatTTAddTerm(A, -1, first.data()));
    first[0] = Jt;
    MAT_OK(MatTTAddTerm(A, -1, first.data()));
    const auto ranks = block_ranks(A);
    for (PetscInt r : ranks) EXPECT_LE(r, 3);
    MAT_OK(MatTTCompress(A, 0));
    for (PetscInt r : block_ranks(A)) EXPECT_LE(r, 3);
    // || tridiag(-1,2,-1) ||_F^2 = 4 n + 2 (n - 1)
    PetscReal log10norm;
    const Real n = std::pow(2.0, L);
    MAT_OK(MatTTNormLog10(A, &log10norm));
    EXPECT_NEAR(log10norm, 0.5 * std::log10(6 * n - 2), 1e-12);
    if (L == 6) {
      MatHandle B;
      MAT_OK(MatTTGetAssembled(A, B.out()));
      PetscInt start, end;
      MAT_OK(MatGetOwnershipRange(B, &start, &end));
      for (PetscInt i = start; i < end; i++) {
        PetscInt           m;
        const PetscInt    *j;
        const PetscScalar *v;
        Real               wrong = 0;
        MAT_OK(MatGetRow(B, i, &m, &j, &v));
        for (PetscInt p = 0; p < m; p++) wrong = std::max(wrong, petsctt::abs(v[p] - second_difference()(i, j[p])));
        EXPECT_GE(m, 2);
        EXPECT_LT(wrong, 1e-13);
        MAT_OK(MatRestoreRow(B, i, &m, &j, &v));
      }
    }
  }
}

// P4: identity on 1000 modes of 10.
TEST(MatRanks, IdentityOnManyModes)
{
  const std::vector<PetscInt> N(1000, 10);
  MatHandle                   A;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 1000, NULL, N.data(), A.out()));
  MAT_OK(MatShift(A, 1));
  MAT_OK(MatShift(A, 1));
  for (PetscInt r : block_ranks(A)) EXPECT_EQ(r, 1);
  PetscReal log10norm, norm;
  MAT_OK(MatTTNormLog10(A, &log10norm));
  EXPECT_NEAR(log10norm, 500 + std::log10(2), 1e-9);
  {
    Quiet quiet;
    EXPECT_NE((int)MatNorm(A, NORM_FROBENIUS, &norm), 0); // names the logarithm, never Inf
    EXPECT_NE(Quiet::text().find("500"), std::string::npos) << Quiet::text();
  }
  MAT_OK(MatNorm(A, NORM_1, &norm));
  EXPECT_DOUBLE_EQ(norm, 2);
  MAT_OK(MatTTCompress(A, 1e-10));
  MAT_OK(MatTTNormLog10(A, &log10norm));
  EXPECT_NEAR(log10norm, 500 + std::log10(2), 1e-9);
}

// A mode with a single block has its coefficient in the scale of the product. The sum that forms the product after all, because the cores' gauge
// is beyond the range of squares, must not lose it.
TEST(MatRanks, SingleBlocksAndExtremeGauge)
{
  const PetscInt N[] = {6, 30, 7};
  MatHandle      A, F[3];
  VecHandle      x, y, z;
  PetscReal      norm, difference;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, NULL, N, A.out()));
  Mat factors[3];
  for (int k = 0; k < 3; k++) {
    MAT_OK(make_factor(*space_of(A.get()), k, "aij", general(k, N[k]), F[k].out()));
    factors[k] = F[k];
  }
  MAT_OK(MatTTAddTerm(A, 0.3, factors));
  for (const char *type : {"qr", "gram", "randomized", "auto"}) {
    MAT_OK(PetscOptionsSetValue(NULL, "-vec_tt_round_type", type));
    MAT_OK(MatCreateVecs(A, x.out(), y.out()));
    MAT_OK(PetscOptionsClearValue(NULL, "-vec_tt_round_type"));
    MAT_OK(set_train(x, random_train(space_of(A.get()), {1, 3, 3, 1}, 1)));
    MAT_OK(MatMult(A, x, y));
    MAT_OK(VecNorm(y, NORM_2, &norm));
    MAT_OK(VecDuplicate(y, z.out()));
    // the same x, seen from other bases
    MAT_OK(change_train(x, [](Train &t) {
      for (Int k = 0; k < 3; k += 2)
        for (Count i = 0; i < t.core(k).count(); ++i) t.core_rw(k).data()[i] *= k ? 1e-170 : 1e170;
      t.set_orthogonal(0, 0);
    }));
    MAT_OK(MatMult(A, x, z));
    MAT_OK(VecAXPY(z, -1, y));
    MAT_OK(VecNorm(z, NORM_2, &difference));
    EXPECT_LT(difference, 1e-7 * norm) << type;
    MAT_OK(MatMult(A, x, z));
    MAT_OK(VecNorm(z, NORM_2, &difference));
    EXPECT_NEAR(difference, norm, 1e-12 * norm) << type;
  }
}

TEST(MatRanks, ThousandTermLaplacian)
{
  MatHandle A;
  MAT_OK(make_laplacian(300, 6, true, A.out()));
  const auto S = block_ranks(A);
  for (std::size_t k = 1; k < 300; k++) EXPECT_EQ(S[k], 2);
}

TEST(MatRanks, ProjectedModes)
{
  const PetscInt N[] = {40, 5, 6}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED};
  MatHandle      A, F[3], D[3];
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, N, A.out()));
  for (int i = 0; i < 3; i++) {
    MAT_OK(make_factor(*space_of(A.get()), 0, "aij", general(i, 40), F[i].out()));
    if (i > 0) MAT_OK(make_factor(*space_of(A.get()), i, "aij", diagonal(i), D[i].out()));
    Mat factors[3] = {F[i], NULL, NULL};
    if (i > 0) factors[i] = D[i];
    MAT_OK(MatTTAddTerm(A, 2 + i, factors));
  }
  const PetscInt ref[] = {0, -1, 4};
  for (const PetscInt *r : {(const PetscInt *)NULL, ref}) {
    Scalar w[3] = {1, 0, 0};
    for (int i = 1; i < 3; i++) {
      if (r && r[i] >= 0) w[i] = diagonal(i)(r[i], r[i]);
      else
        for (Int p = 0; p < N[i]; p++) w[i] += diagonal(i)(p, p) / (Real)N[i];
    }
    MatHandle M;
    MAT_OK(MatTTGetProjectedMode(A, 0, r, M.out()));
    PetscInt start, end;
    MAT_OK(MatGetOwnershipRange(M, &start, &end));
    for (PetscInt i = start; i < end; i++)
      for (PetscInt j = 0; j < 40; j++) {
        PetscScalar v;
        Scalar      s = 0;
        for (int t = 0; t < 3; t++) s += Scalar(2.0 + t) * w[t] * general(t, 40)(i, j);
        MAT_OK(MatGetValue(M, i, j, &v));
        EXPECT_LT(petsctt::abs(v - s), 1e-12);
      }
    // a parameter mode: its matrices live on one process each when replicated
    MatHandle P;
    MAT_OK(MatTTGetProjectedMode(A, 1, r, P.out()));
    Scalar mean[3];
    for (int t = 0; t < 3; t++) {
      mean[t] = 0;
      for (Int p = 0; p < 40; p++) mean[t] += general(t, 40)(p, p) / 40.0;
      if (r) mean[t] = general(t, 40)(r[0], r[0]);
    }
    MAT_OK(MatGetOwnershipRange(P, &start, &end));
    EXPECT_EQ(end - start, 5);
    for (PetscInt i = 0; i < 5; i++) {
      PetscScalar v;
      MAT_OK(MatGetValue(P, i, i, &v));
      EXPECT_LT(petsctt::abs(v - (2.0 * mean[0] + 3.0 * mean[1] * diagonal(1)(i, i) + 4.0 * mean[2] * w[2])), 1e-12);
    }
  }
}
