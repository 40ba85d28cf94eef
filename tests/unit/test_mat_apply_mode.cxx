// apply_mode(): one matrix on the middle index of a core, all matrix types, all shapes of cores, rows owned by nobody.
#include "test_mat_fixture.hpp"

#include <array>

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

Scalar entry(Int a, Int i, Int b)
{
  return number(std::sin(1.0 + a + 3.7 * i + 0.9 * b), std::cos(2.0 * a - i + 1.1 * b));
}

// Largest error of Y against the sum over all j, relative to the largest entry.
Real error_of(const Core &Y, Int start, Int N, const Formula &f, Apply how)
{
  Real worst = 0, largest = 1;
  for (Int b = 0; b < Y.r1; b++)
    for (Int i = 0; i < Y.n; i++)
      for (Int a = 0; a < Y.r0; a++) {
        Scalar sum = 0;
        for (Int j = 0; j < N; j++) sum += (how == Apply::plain ? f(start + i, j) : how == Apply::transpose ? f(j, start + i) : conj(f(j, start + i))) * entry(a, j, b);
        worst   = std::max(worst, petsctt::abs(sum - Y(a, i, b)));
        largest = std::max(largest, petsctt::abs(sum));
      }
  return worst / largest;
}

void check_type(const std::string &type, const Formula &f, const Mode &mode, MPI_Comm comm)
{
  int rank;
  MPI_Comm_rank(comm, &rank);
  const Int n = mode.local(rank), start = mode.start(rank), N = mode.N;
  MatHandle M;
  MAT_OK(make_factor(comm, n, N, type, f, M.out()));
  // the last shapes go through the other branches of the blocked kernels; other types work column by column
  const std::vector<std::array<Int, 2>> few = {{1, 1}, {3, 4}, {9, 1}}, many = {{1, 1}, {1, 7}, {1, 40}, {3, 1}, {3, 9}, {8, 2}, {11, 4}, {35, 1}, {2, 16}};
  for (auto how : {Apply::plain, Apply::transpose, Apply::hermitian})
    for (auto &s : type == "aij" || type == "dense" ? many : few) {
      Core X(s[0], n, s[1]), Y;
      for (Int b = 0; b < s[1]; b++)
        for (Int i = 0; i < n; i++)
          for (Int a = 0; a < s[0]; a++) X(a, i, b) = entry(a, start + i, b);
      MAT_OK(apply_mode(M, how, X, Y));
      EXPECT_LT(error_of(Y, start, N, f, how), 1e-13) << type << " N = " << N << " how = " << (int)how << " core " << s[0] << " x " << n << " x " << s[1];
    }
}

void check_all(const Mode &mode, MPI_Comm comm)
{
  for (const char *type : {"aij", "dense", "baij", "shell"}) check_type(type, general(2, mode.N), mode, comm);
  check_type("sbaij", [](Int i, Int j) { return std::abs((double)(i - j)) <= 2 ? Scalar(1.0 / (1 + i + j)) : Scalar(0); }, mode, comm);
  check_type("diagonal", diagonal(1), mode, comm);
  check_type("constantdiagonal", [](Int i, Int j) { return i == j ? number(2.5, 1) : Scalar(0); }, mode, comm);
}

int world_size()
{
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

} // namespace

TEST(MatApplyMode, Distributed)
{
  check_all(split_evenly(23, world_size()), PETSC_COMM_WORLD);
}

TEST(MatApplyMode, FewerRowsThanProcesses)
{
  check_all(split_evenly(2, world_size()), PETSC_COMM_WORLD);
}

TEST(MatApplyMode, AllRowsOnTheLastProcess)
{
  Mode m;
  m.N          = 11;
  m.replicated = false;
  m.starts.assign((std::size_t)world_size() + 1, 0);
  m.starts.back() = 11;
  check_all(m, PETSC_COMM_WORLD);
}

TEST(MatApplyMode, Replicated)
{
  check_all(replicate(9), PETSC_COMM_SELF);
}

TEST(MatApplyMode, NullIsTheIdentity)
{
  Core X(2, 3, 4), Y;
  for (Count p = 0; p < X.count(); p++) X.data()[p] = (Real)p;
  MAT_OK(apply_mode(NULL, Apply::plain, X, Y));
  for (Count p = 0; p < X.count(); p++) EXPECT_EQ(Y.data()[p], X.data()[p]);
}

TEST(MatApplyMode, WrongSizeIsAnErrorWithNumbers)
{
  MatHandle M;
  MAT_OK(make_aij(PETSC_COMM_SELF, 5, 5, general(0, 5), M.out()));
  Core  X(1, 4, 1), Y;
  Quiet quiet;
  X.data()[0] = 0;
  EXPECT_NE((int)apply_mode(M, Apply::plain, X, Y), 0);
  EXPECT_NE(Quiet::text().find("5 local rows"), std::string::npos) << Quiet::text();
}

// The exchange plan is kept with the matrix and follows changes of values and pattern.
TEST(MatApplyMode, FollowsChangesOfTheMatrix)
{
  const Mode mode = split_evenly(13, world_size());
  int        rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const Int n = mode.local(rank), start = mode.start(rank), N = mode.N;
  MatHandle M;
  Formula   f = second_difference();
  MAT_OK(make_aij(PETSC_COMM_WORLD, n, N, f, M.out()));
  Core X(2, n, 3), Y;
  for (Int b = 0; b < 3; b++)
    for (Int i = 0; i < n; i++)
      for (Int a = 0; a < 2; a++) X(a, i, b) = entry(a, start + i, b);
  MAT_OK(apply_mode(M, Apply::plain, X, Y));
  EXPECT_LT(error_of(Y, start, N, f, Apply::plain), 1e-13);
  MAT_OK(MatScale(M, 2));
  MAT_OK(apply_mode(M, Apply::plain, X, Y));
  EXPECT_LT(error_of(Y, start, N, [&](Int i, Int j) { return 2.0 * f(i, j); }, Apply::plain), 1e-13);
  // a far entry in every row: new ghosts
  for (Int i = start; i < start + n; i++) MAT_OK(MatSetValue(M, i, (i + 6) % N, 5, ADD_VALUES));
  MAT_OK(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
  MAT_OK(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
  for (auto how : {Apply::plain, Apply::transpose}) {
    MAT_OK(apply_mode(M, how, X, Y));
    EXPECT_LT(error_of(Y, start, N, [&](Int i, Int j) { return 2.0 * f(i, j) + ((i + 6) % N == j ? 5.0 : 0.0); }, how), 1e-13);
  }
}

// One message to each neighbour for all columns of a core, whatever their number.
TEST(MatApplyMode, OneMessagePerNeighbour)
{
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  const int size = world_size(), neighbours = (rank > 0) + (rank + 1 < size);
  MatHandle M;
  MAT_OK(make_aij(PETSC_COMM_WORLD, 5, 5 * size, second_difference(), M.out()));
  for (auto how : {Apply::plain, Apply::transpose})
    for (Int r1 : {1, 2, 30}) {
      Core X(3, 5, r1), Y;
      std::fill(X.data(), X.data() + X.count(), Scalar(1));
      const CommCounts before = Comm::counts();
      MAT_OK(apply_mode(M, how, X, Y));
      EXPECT_EQ(Comm::counts().messages - before.messages, neighbours) << "columns " << 3 * r1;
      EXPECT_EQ(Comm::counts().words - before.words, neighbours * 3 * r1) << "columns " << 3 * r1;
    }
}
