// MatView() and MatLoad() of MATTT in the binary viewer: any number of processes, damaged and foreign files; the ASCII view.
#include "test_mat_fixture.hpp"

#include <cstdio>
#include <fstream>
#include <petscviewer.h>
#include <unistd.h>

using namespace petsctt;
using namespace petsctt::test_mat;

namespace {

int world_rank()
{
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  return rank;
}

int world_size()
{
  int size;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

// A file name that all processes agree on; the file goes with the object.
struct TemporaryFile {
  char name[64] = "/tmp/petsctt-test-mat-XXXXXX";
  TemporaryFile()
  {
    if (world_rank() == 0) {
      const int fd = mkstemp(name);
      if (fd >= 0) close(fd);
    }
    MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, PETSC_COMM_WORLD);
  }
  ~TemporaryFile()
  {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (world_rank() == 0) {
      std::remove(name);
      std::remove((std::string(name) + ".info").c_str());
    }
  }
};

const std::vector<Int> sizes = {13, 4, 2};

std::vector<Scalar> oracle(const std::vector<Scalar> &x, Apply how)
{
  return sum(kron_times(sizes, number(2, 1), {general(1, 13), diagonal(1), Formula()}, x, how),
             kron_times(sizes, number(-1, 3), {general(2, 13), general(3, 4), general(4, 2)}, x, how));
}

PetscErrorCode make(Mat *A)
{
  const PetscInt N[] = {13, 4, 2}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED};
  MatHandle      F[5];

  PetscFunctionBegin;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, 3, n, N, A));
  PetscCall(make_factor(*space_of(*A), 0, "aij", general(1, 13), F[0].out()));
  PetscCall(make_factor(*space_of(*A), 1, "diagonal", diagonal(1), F[1].out()));
  PetscCall(make_factor(*space_of(*A), 0, "shell", general(2, 13), F[2].out()));
  PetscCall(make_factor(*space_of(*A), 1, "dense", general(3, 4), F[3].out()));
  PetscCall(make_factor(*space_of(*A), 2, "aij", general(4, 2), F[4].out()));
  const Mat one[] = {F[0], F[1], NULL}, two[] = {F[2], F[3], F[4]};
  PetscCall(MatTTAddTerm(*A, number(2, 1), one));
  PetscCall(MatTTAddTerm(*A, number(-1, 3), two));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode write(Mat A, const char *name)
{
  ViewerHandle viewer;

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, viewer.out()));
  PetscCall(MatView(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode load(MPI_Comm comm, const char *name, MatType type, Mat *A, bool mpiio = false)
{
  ViewerHandle viewer;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, type));
  PetscCall(PetscViewerCreate(comm, viewer.out()));
  PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(viewer, FILE_MODE_READ));
  PetscCall(PetscViewerBinarySetUseMPIIO(viewer, mpiio ? PETSC_TRUE : PETSC_FALSE));
  PetscCall(PetscViewerFileSetName(viewer, name));
  PetscCall(MatLoad(*A, viewer)); // sizes not set, as in stock programs
  PetscFunctionReturn(PETSC_SUCCESS);
}

void check_loaded(Mat A)
{
  VecHandle x;
  MAT_OK(random_vec(A, {1, 3, 2, 1}, 4, x.out()));
  for (auto how : {Apply::plain, Apply::transpose}) {
    Train y;
    MAT_OK(apply(A, how, train_of(x), y));
    EXPECT_LT(distance(full_of(y), oracle(full_of(x), how)), 1e-13);
  }
  if (space_of(A)->comm().size() == 1) return; // there all modes count as replicated
  EXPECT_TRUE(space_of(A)->replicated(1));
  EXPECT_FALSE(space_of(A)->replicated(0));
}

} // namespace

TEST(MatIO, RoundTripOnOtherNumbersOfProcesses)
{
  TemporaryFile file;
  MatHandle     A, B, C;
  MAT_OK(make(A.out()));
  MAT_OK(write(A, file.name));
  MAT_OK(load(PETSC_COMM_WORLD, file.name, MATTT, B.out()));
  check_loaded(B);
  MAT_OK(load(PETSC_COMM_SELF, file.name, MATTT, C.out())); // every process for itself
  check_loaded(C);
  MatHandle D;
  MAT_OK(load(PETSC_COMM_WORLD, file.name, MATTT, D.out(), true));
  check_loaded(D);
  EXPECT_EQ(block_ranks(A), block_ranks(B));
  // what was loaded can be written again and is the same file
  TemporaryFile again;
  MAT_OK(write(B, again.name));
  if (world_rank() == 0) {
    auto content = [](const char *name) {
      std::ifstream f(name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>());
    };
    EXPECT_TRUE(content(file.name) == content(again.name));
  }
}

TEST(MatIO, ZeroOperator)
{
  TemporaryFile  file;
  MatHandle      A, B;
  const PetscInt N[] = {5, 6};
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, A.out()));
  MAT_OK(write(A, file.name));
  MAT_OK(load(PETSC_COMM_WORLD, file.name, MATTT, B.out()));
  PetscReal norm;
  MAT_OK(MatNorm(B, NORM_FROBENIUS, &norm));
  EXPECT_EQ(norm, 0);
}

TEST(MatIO, TruncatedAndDamagedFiles)
{
  TemporaryFile file;
  MatHandle     A;
  MAT_OK(make(A.out()));
  MAT_OK(write(A, file.name));
  long long length = 0;
  std::string content;
  if (world_rank() == 0) {
    std::ifstream f(file.name, std::ios::binary);
    content.assign(std::istreambuf_iterator<char>(f), std::istreambuf_iterator<char>());
    length = (long long)content.size();
  }
  MPI_Bcast(&length, 1, MPI_LONG_LONG, 0, PETSC_COMM_WORLD);
  for (long long cut = 0; cut < length; cut += cut < 300 ? 37 : length / 9) {
    if (world_rank() == 0) std::ofstream(file.name, std::ios::binary).write(content.data(), cut);
    MPI_Barrier(PETSC_COMM_WORLD);
    for (bool mpiio : {false, true}) {
      MatHandle B;
      Quiet     quiet;
      EXPECT_NE((int)load(PETSC_COMM_WORLD, file.name, MATTT, B.out(), mpiio), 0) << "cut at " << cut << " of " << length;
      EXPECT_NE(Quiet::text().find("Truncated file"), std::string::npos) << Quiet::text();
    }
  }
  // numbers that are possible, but not in a file of this length: said before so much memory is asked for
  const std::vector<std::pair<std::size_t, std::uint32_t>> large = {{24, 9000000}, {32, 2000000000}, {136, 400000000}}; // d, N_0, E_0
  for (const auto &field : large) {
    if (world_rank() == 0) {
      std::string damaged = content;
      for (int b = 0; b < 4; b++) damaged[field.first + 4 + (std::size_t)b] = (char)(field.second >> (24 - 8 * b) & 255);
      std::ofstream(file.name, std::ios::binary).write(damaged.data(), length);
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    MatHandle B;
    Quiet     quiet;
    EXPECT_NE((int)load(PETSC_COMM_WORLD, file.name, MATTT, B.out()), 0) << "damaged at " << field.first;
    EXPECT_NE(Quiet::text().find("Truncated file"), std::string::npos) << Quiet::text();
  }
  for (long long at : {8LL, 24LL, 40LL, 80LL, 112LL}) { // integers of the header
    if (world_rank() == 0) {
      std::string damaged = content;
      for (int b = 0; b < 8; b++) damaged[(std::size_t)at + b] = (char)0x7f;
      std::ofstream(file.name, std::ios::binary).write(damaged.data(), length);
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    MatHandle B;
    Quiet     quiet;
    EXPECT_NE((int)load(PETSC_COMM_WORLD, file.name, MATTT, B.out()), 0) << "damaged at " << at;
    EXPECT_FALSE(Quiet::text().empty());
  }
}

TEST(MatIO, ForeignFiles)
{
  TemporaryFile file;
  MatHandle     A, B, C;
  MAT_OK(make_aij(PETSC_COMM_WORLD, PETSC_DECIDE, 13, general(1, 13), A.out()));
  MAT_OK(write(A, file.name));
  {
    Quiet quiet;
    EXPECT_NE((int)load(PETSC_COMM_WORLD, file.name, MATTT, B.out()), 0);
    EXPECT_NE(Quiet::text().find("no MATTT"), std::string::npos) << Quiet::text();
  }
  // and ours is none of a stock type
  TemporaryFile ours;
  MatHandle     T;
  MAT_OK(make(T.out()));
  MAT_OK(write(T, ours.name));
  {
    Quiet quiet;
    EXPECT_NE((int)load(PETSC_COMM_SELF, ours.name, MATAIJ, C.out()), 0);
    EXPECT_NE(Quiet::text().find("Not a matrix object"), std::string::npos) << Quiet::text();
  }
}

TEST(MatIO, OtherProcessesAreRefused)
{
  TemporaryFile file;
  MatHandle     A, B;
  ViewerHandle  viewer;
  if (world_size() == 1) GTEST_SKIP() << "there is one process";
  MAT_OK(make(A.out()));
  MAT_OK(write(A, file.name));
  MAT_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.name, FILE_MODE_READ, viewer.out()));
  MAT_OK(MatCreate(PETSC_COMM_SELF, B.out()));
  MAT_OK(MatSetType(B, MATTT));
  Quiet quiet;
  EXPECT_NE((int)MatLoad(B, viewer), 0);
  EXPECT_NE(Quiet::text().find("is on 1 processes, the viewer on"), std::string::npos) << Quiet::text();
}

TEST(MatIO, ModesOfTheMatrixMustFit)
{
  TemporaryFile file;
  MatHandle     A, B, C;
  MAT_OK(make(A.out()));
  MAT_OK(write(A, file.name));
  ViewerHandle   viewer;
  const PetscInt same[] = {13, 4, 2}, other[] = {13, 5, 2}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_REPLICATED};
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, same, B.out()));
  MAT_OK(MatTTAddTerm(B, 1, NULL)); // goes
  MAT_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.name, FILE_MODE_READ, viewer.out()));
  MAT_OK(MatLoad(B, viewer));
  check_loaded(B);
  EXPECT_TRUE(space_of(B.get())->replicated(2)); // the layout is that of the matrix
  ViewerHandle second;
  MAT_OK(MatCreateTT(PETSC_COMM_WORLD, 3, n, other, C.out()));
  MAT_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file.name, FILE_MODE_READ, second.out()));
  Quiet quiet;
  EXPECT_NE((int)MatLoad(C, second), 0);
  EXPECT_NE(Quiet::text().find("size 4"), std::string::npos) << Quiet::text();
}

TEST(MatIO, AsciiView)
{
  TemporaryFile file;
  MatHandle     A;
  MAT_OK(make(A.out()));
  {
    ViewerHandle viewer;
    MAT_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, file.name, viewer.out()));
    MAT_OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
    MAT_OK(MatView(A, viewer));
    MAT_OK(PetscViewerPopFormat(viewer));
  }
  if (world_rank() == 0) {
    std::ifstream f(file.name);
    std::string   text((std::istreambuf_iterator<char>(f)), std::istreambuf_iterator<char>());
    for (const char *part : {world_size() > 1 ? "13 x 4r x 2" : "13 x 4 x 2", "block ranks: 1, 2, 2, 1", "non-zero blocks: 2, 2, 2", "dense", "non-zeros"})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  }
}
