// VECTT and MATTT in HDF5 files: any number of processes, what is there already, and files that are not what they should be.
#include "test_mat_fixture.hpp"
#include "test_vec_fixture.hpp"

#if PETSCTT_HAVE_HDF5
  #include <cstdio>
  #include <functional>
  #include <petscviewerhdf5.h>

using namespace petsctt;
using petsctt::test_vec::dense_of;
using petsctt::test_vec::distance;
using petsctt::test_vec::make_vec;
using petsctt::test_vec::number;

namespace {

constexpr const char *file_name = "hdf5_test.h5";

PetscErrorCode open(MPI_Comm comm, PetscFileMode mode, PetscViewer *viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerHDF5Open(comm, file_name, mode, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T> PetscErrorCode write(T x, const char *name, PetscFileMode mode = FILE_MODE_WRITE)
{
  ViewerHandle viewer;

  PetscFunctionBegin;
  PetscCall(PetscObjectSetName((PetscObject)x, name));
  PetscCall(open(PetscObjectComm((PetscObject)x), mode, viewer.out()));
  PetscCall(PetscObjectView((PetscObject)x, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read(Vec x, const char *name, PetscErrorCode (*load)(Vec, PetscViewer) = VecLoad)
{
  ViewerHandle viewer;

  PetscFunctionBegin;
  if (name) PetscCall(PetscObjectSetName((PetscObject)x, name));
  PetscCall(open(PetscObjectComm((PetscObject)x), FILE_MODE_READ, viewer.out()));
  PetscCall(load(x, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read(MPI_Comm comm, const char *name, Mat *A)
{
  ViewerHandle viewer;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATTT));
  PetscCall(PetscObjectSetName((PetscObject)*A, name));
  PetscCall(open(comm, FILE_MODE_READ, viewer.out()));
  PetscCall(MatLoad(*A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

class HDF5File : public testing::Test {
protected:
  void TearDown() override
  {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (test_vec::rank() == 0) std::remove(file_name);
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  // What process 0 does to the file behind the back of everybody.
  static void damage(const std::function<void(hid_t)> &f)
  {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (test_vec::rank() == 0) {
      const hid_t file = H5Fopen(file_name, H5F_ACC_RDWR, H5P_DEFAULT);
      EXPECT_GE(file, 0);
      f(file);
      H5Fclose(file);
    }
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  static void set_attribute(hid_t file, const char *group, const char *name, std::vector<long long> a)
  {
    const hid_t     g = H5Gopen2(file, group, H5P_DEFAULT);
    const hsize_t   n = a.size();
    H5Adelete(g, name);
    const hid_t space = H5Screate_simple(1, &n, nullptr), at = H5Acreate2(g, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    EXPECT_TRUE(n == 0 || H5Awrite(at, H5T_NATIVE_LLONG, a.data()) >= 0);
    H5Aclose(at);
    H5Sclose(space);
    H5Gclose(g);
  }
};

TEST_F(HDF5File, VectorsThereAndBack)
{
  for (const char *kinds : {"d", "r", "dr", "u", "l"}) {
    VecHandle x, y, z, zero;
    VEC_OK(make_vec({6, 5, 7}, kinds, 3, 1, x.out()));
    VEC_OK(VecTTOrthogonalize(x, 1));
    VEC_OK(VecScale(x, number(3, 1)));
    VEC_OK(VecDuplicate(x, zero.out()));
    VEC_OK(write(x.get(), "x"));
    VEC_OK(write(zero.get(), "zero", FILE_MODE_APPEND));
    VEC_OK(make_vec({6, 5, 7}, "rdd", 1, 2, y.out())); // other owners
    VEC_OK(read(y, "x"));
    EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
    EXPECT_EQ(train_of(y).left(), train_of(x).left());
    EXPECT_EQ(train_of(y).right(), train_of(x).right());
    VEC_OK(read(y, "zero"));
    EXPECT_TRUE(train_of(y).is_zero());
    VEC_OK(VecCreate(PETSC_COMM_SELF, z.out())); // every process for itself, modes from the file
    VEC_OK(read(z, "x", VecTTLoad));
    EXPECT_LT(distance(dense_of(z), dense_of(x)), 1e-15);
  }
}

TEST_F(HDF5File, ModesOfTheFile)
{
  VecHandle x, y, z, binary, other;
  PetscBool same;
  VEC_OK(make_vec({6, 5, 40}, "rdd", 3, 1, x.out()));
  VEC_OK(write(x.get(), "x"));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
  VEC_OK(read(y, "x", VecTTLoad));
  VEC_OK(PetscObjectTypeCompare((PetscObject)y.get(), VECTT, &same));
  ASSERT_TRUE(same);
  EXPECT_TRUE(space_of(y)->same(*space_of(x)));
  EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
  // nominal sizes that fit, and others
  VEC_OK(VecCreate(PETSC_COMM_WORLD, z.out()));
  VEC_OK(VecSetSizes(z, PETSC_DECIDE, 1200));
  VEC_OK(VecSetType(z, VECTT));
  VEC_OK(read(z, "x"));
  EXPECT_LT(distance(dense_of(z), dense_of(x)), 1e-15);
  VEC_OK(VecCreate(PETSC_COMM_WORLD, other.out()));
  VEC_OK(VecSetSizes(other, PETSC_DECIDE, 1201));
  EXPECT_PETSC_ERROR(read(other, "x", VecTTLoad), PETSC_ERR_FILE_UNEXPECTED, "nominal size 1200");
  // VecTTLoad() of a binary file
  ViewerHandle viewer;
  VEC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file_name, FILE_MODE_WRITE, viewer.out()));
  VEC_OK(VecView(x, viewer));
  viewer = ViewerHandle();
  VEC_OK(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file_name, FILE_MODE_READ, viewer.out()));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, binary.out()));
  VEC_OK(VecTTLoad(binary, viewer));
  EXPECT_LT(distance(dense_of(binary), dense_of(x)), 1e-15);
  VecHandle another;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, another.out()));
  EXPECT_PETSC_ERROR(VecTTLoad(another, viewer), PETSC_ERR_FILE_UNEXPECTED, "ends where a vector should begin");
  if (test_vec::rank() == 0) std::remove((std::string(file_name) + ".info").c_str());
}

TEST_F(HDF5File, WrittenAgainAndInTimeSteps)
{
  VecHandle    x, y, z;
  ViewerHandle viewer;
  VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
  VEC_OK(make_vec({6, 5, 7}, "d", 2, 5, y.out()));
  VEC_OK(VecDuplicate(x, z.out()));
  VEC_OK(write(x.get(), "x"));
  VEC_OK(write(y.get(), "x", FILE_MODE_APPEND)); // other TT ranks
  VEC_OK(read(z, "x"));
  EXPECT_LT(distance(dense_of(z), dense_of(y)), 1e-15);
  VEC_OK(PetscObjectSetName((PetscObject)x.get(), "u"));
  VEC_OK(PetscObjectSetName((PetscObject)y.get(), "u"));
  VEC_OK(PetscObjectSetName((PetscObject)z.get(), "u"));
  VEC_OK(open(PETSC_COMM_WORLD, FILE_MODE_APPEND, viewer.out()));
  VEC_OK(PetscViewerHDF5PushGroup(viewer, "/run"));
  VEC_OK(PetscViewerHDF5PushTimestepping(viewer));
  VEC_OK(VecView(x, viewer));
  VEC_OK(PetscViewerHDF5IncrementTimestep(viewer));
  VEC_OK(VecView(y, viewer));
  VEC_OK(VecLoad(z, viewer));
  EXPECT_LT(distance(dense_of(z), dense_of(y)), 1e-15);
  VEC_OK(PetscViewerHDF5SetTimestep(viewer, 0));
  VEC_OK(VecLoad(z, viewer));
  EXPECT_LT(distance(dense_of(z), dense_of(x)), 1e-15);
}

TEST_F(HDF5File, WhatIsNoVectorIsRefused)
{
  VecHandle x, y, plain;
  VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
  VEC_OK(make_vec({6, 7, 5}, "d", 1, 1, y.out()));
  VEC_OK(write(x.get(), "x"));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, plain.out()));
  VEC_OK(VecSetSizes(plain, PETSC_DECIDE, 10));
  VEC_OK(VecSetType(plain, VECSTANDARD));
  VEC_OK(write(plain.get(), "plain", FILE_MODE_APPEND));
  EXPECT_PETSC_ERROR(read(y, "x"), PETSC_ERR_FILE_UNEXPECTED, "The modes of the TT vector in the file, 6 x 5 x 7");
  EXPECT_PETSC_ERROR(read(x, "nobody"), PETSC_ERR_FILE_UNEXPECTED, "nothing named /nobody");
  EXPECT_PETSC_ERROR(read(x, "plain"), PETSC_ERR_FILE_UNEXPECTED, "is a dataset");
  EXPECT_PETSC_ERROR(write(x.get(), "plain", FILE_MODE_APPEND), PETSC_ERR_FILE_WRITE, "something else named /plain");
  EXPECT_PETSC_ERROR(read(plain, "x", VecTTLoad), PETSC_ERR_ARG_WRONG, "already, not tt");
  VecHandle nameless;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, nameless.out()));
  EXPECT_PETSC_ERROR(read(nameless, nullptr, VecTTLoad), PETSC_ERR_ARG_WRONGSTATE, "PetscObjectSetName()");
  Mat A = nullptr;
  EXPECT_PETSC_ERROR(read(PETSC_COMM_WORLD, "x", &A), PETSC_ERR_FILE_UNEXPECTED, "is a vectt, not a mattt");
  VEC_OK(MatDestroy(&A));
}

TEST_F(HDF5File, DamagedVectors)
{
  if (test_vec::size() > 4) GTEST_SKIP() << "the same on four processes, which is quicker";
  struct Case {
    const char                 *name;
    std::vector<long long>      value;
    const char                 *text;
  };
  const Case cases[] = {
    {"ranks", {1, 2, 3, 1}, "core_0 is"},
    {"ranks", {1, 3, 3}, "has 3 numbers instead of 4"},
    {"ranks", {2, 3, 3, 1}, "outer TT ranks are 2 and 1"},
    {"ranks", {1, -3, 3, 1}, "ranks[1] is -3"},
    {"modes", {}, "0 modes"},
    {"modes", {6, 5, 1000000000000}, sizeof(PetscInt) == 4 ? "modes[2] is 1000000000000" : "instead of 1 x 1000000000000 x 3"},
    {"modes", {6, 5, 8}, "core_2 is"},
    {"distribution", {0, 0, 7}, "distribution[2] is 7"},
    {"orthogonal_left", {9}, "orthogonal_left[0] is 9"},
    {"complex", {!is_complex}, "scalars, this PETSc has"},
    {"petsctt_version", {2}, "file version 2"},
    {"petsctt_type", {1}, "has no attribute 'petsctt_type'"},
    {"scale", {1, 2, 3}, "'scale' of /x has 3 numbers"},
  };
  for (const Case &c : cases) {
    VecHandle x, y;
    VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
    VEC_OK(write(x.get(), "x"));
    damage([&](hid_t file) { set_attribute(file, "/x", c.name, c.value); });
    VEC_OK(VecDuplicate(x, y.out()));
    EXPECT_PETSC_ERROR(read(y, "x"), PETSC_ERR_FILE_UNEXPECTED, c.text);
  }
  {
    VecHandle x, y;
    VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
    VEC_OK(write(x.get(), "x"));
    damage([](hid_t file) { set_attribute(file, "/x", "scale", std::vector<long long>(is_complex ? 2 : 1, 0)); });
    VEC_OK(VecDuplicate(x, y.out()));
    EXPECT_PETSC_ERROR(read(y, "x"), PETSC_ERR_FILE_UNEXPECTED, "its scale is 0");
  }
  // texts where one is expected: HDF5 would write them all to where it is read
  for (bool variable : {false, true}) {
    VecHandle x, y;
    VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
    VEC_OK(write(x.get(), "x"));
    damage([variable](hid_t file) {
      const hsize_t                  n = 1000;
      const std::string              text(8, 'v');
      const std::vector<const char *> pointers(n, text.c_str());
      const std::string              fixed(8 * n, 'v');
      const hid_t                    g = H5Gopen2(file, "/x", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &n, nullptr);
      H5Tset_size(type, variable ? H5T_VARIABLE : 8);
      H5Adelete(g, "petsctt_type");
      const hid_t at = H5Acreate2(g, "petsctt_type", type, space, H5P_DEFAULT, H5P_DEFAULT);
      EXPECT_GE(H5Awrite(at, type, variable ? (const void *)pointers.data() : (const void *)fixed.data()), 0);
      H5Aclose(at);
      H5Sclose(space);
      H5Tclose(type);
      H5Gclose(g);
    });
    VEC_OK(VecDuplicate(x, y.out()));
    EXPECT_PETSC_ERROR(read(y, "x"), PETSC_ERR_FILE_UNEXPECTED, "has no attribute 'petsctt_type'");
  }
  VecHandle x;
  VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
  VEC_OK(write(x.get(), "x"));
  damage([](hid_t file) { H5Ldelete(file, "/x/core_1", H5P_DEFAULT); });
  EXPECT_PETSC_ERROR(read(x, "x"), PETSC_ERR_FILE_UNEXPECTED, "no dataset /x/core_1");
  damage([](hid_t file) {
    const hid_t g = H5Gopen2(file, "/x", H5P_DEFAULT);
    H5Adelete(g, "modes");
    H5Gclose(g);
  });
  EXPECT_PETSC_ERROR(read(x, "x"), PETSC_ERR_FILE_UNEXPECTED, "no attribute 'modes'");
}

// More modes than an attribute has room for: refused before anything happens to the file.
TEST_F(HDF5File, TooManyModes)
{
  VecHandle                   x, y, many;
  const std::vector<PetscInt> N(8100, 1);
  VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
  VEC_OK(write(x.get(), "x"));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, many.out()));
  VEC_OK(VecTTSetModes(many, (PetscInt)N.size(), nullptr, N.data()));
  EXPECT_PETSC_ERROR(write(many.get(), "x", FILE_MODE_APPEND), PETSC_ERR_SUP, "use a binary viewer for so many modes");
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(read(y, "x"));
  EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
}

const std::vector<Int> sizes = {13, 4, 2};

PetscErrorCode make_operator(Mat *A)
{
  const PetscInt N[] = {13, 4, 2}, n[] = {PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED, PETSC_TT_DISTRIBUTED};
  MatHandle      F[5];

  PetscFunctionBegin;
  PetscCall(MatCreateTT(PETSC_COMM_WORLD, 3, n, N, A));
  PetscCall(test_mat::make_factor(*space_of(*A), 0, "aij", test_mat::general(1, 13), F[0].out()));
  PetscCall(test_mat::make_factor(*space_of(*A), 1, "diagonal", test_mat::diagonal(1), F[1].out()));
  PetscCall(test_mat::make_factor(*space_of(*A), 0, "shell", test_mat::general(2, 13), F[2].out()));
  PetscCall(test_mat::make_factor(*space_of(*A), 1, "dense", test_mat::general(3, 4), F[3].out()));
  PetscCall(test_mat::make_factor(*space_of(*A), 2, "aij", test_mat::general(4, 2), F[4].out()));
  const Mat one[] = {F[0], F[1], NULL}, two[] = {F[2], F[3], F[4]};
  PetscCall(MatTTAddTerm(*A, number(2, 1), one));
  PetscCall(MatTTAddTerm(*A, number(-1, 3), two));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void expect_equal(Mat A, Mat B)
{
  VecHandle x, y;
  VEC_OK(test_mat::random_vec(A, {1, 3, 2, 1}, 4, x.out()));
  VEC_OK(test_mat::random_vec(B, {1, 3, 2, 1}, 4, y.out()));
  Train a, b;
  VEC_OK(apply(A, Apply::plain, train_of(x), a));
  VEC_OK(apply(B, Apply::plain, train_of(y), b));
  EXPECT_LT(test_mat::distance(test_mat::full_of(b), test_mat::full_of(a)), 1e-13);
}

TEST_F(HDF5File, OperatorsThereAndBack)
{
  MatHandle A, B, C, zero, Z;
  VEC_OK(make_operator(A.out()));
  VEC_OK(write(A.get(), "A"));
  VEC_OK(read(PETSC_COMM_WORLD, "A", B.out()));
  expect_equal(A, B);
  VEC_OK(read(PETSC_COMM_SELF, "A", C.out())); // every process for itself
  expect_equal(A, C);
  EXPECT_TRUE(space_of(B.get())->comm().size() == 1 || space_of(B.get())->same(*space_of(A.get())));
  const PetscInt N[] = {5, 6};
  PetscReal      norm;
  VEC_OK(MatCreateTT(PETSC_COMM_WORLD, 2, NULL, N, zero.out()));
  VEC_OK(write(zero.get(), "zero", FILE_MODE_APPEND));
  VEC_OK(read(PETSC_COMM_WORLD, "zero", Z.out()));
  VEC_OK(MatNorm(Z, NORM_FROBENIUS, &norm));
  EXPECT_EQ(norm, 0);
  // and with a vector in the same file
  VecHandle x, y;
  VEC_OK(make_vec({6, 5, 7}, "d", 3, 1, x.out()));
  VEC_OK(write(x.get(), "x", FILE_MODE_APPEND));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(read(y, "x"));
  EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
}

TEST_F(HDF5File, DamagedOperators)
{
  if (test_vec::size() > 4) GTEST_SKIP() << "the same on four processes, which is quicker";
  const std::vector<std::pair<std::function<void(hid_t)>, const char *>> cases = {
    {[](hid_t f) { set_attribute(f, "/A", "modes", {13, 4, 3}); }, "indptr is 3 instead of 4"},
    {[](hid_t f) { set_attribute(f, "/A", "block_ranks", {1, 1, 2, 1}); }, "block column"},
    {[](hid_t f) { set_attribute(f, "/A", "factors", {2, 9, 1}); }, "number of factors 9"},
    {[](hid_t f) { H5Ldelete(f, "/A/mode_1", H5P_DEFAULT); }, "no group /A/mode_1"},
    {[](hid_t f) { H5Ldelete(f, "/A/mode_0/factor_1", H5P_DEFAULT); }, "no group /A/mode_0/factor_1"},
    {[](hid_t f) { H5Ldelete(f, "/A/mode_0/factor_1/indices", H5P_DEFAULT); }, "no dataset /A/mode_0/factor_1/indices"},
    {[](hid_t f) {
       const hid_t            d = H5Dopen2(f, "/A/mode_0/factor_0/indices", H5P_DEFAULT), s = H5Dget_space(d);
       std::vector<long long> a((std::size_t)H5Sget_simple_extent_npoints(s), 0);
       a.back() = 13;
       EXPECT_GE(H5Dwrite(d, H5T_NATIVE_LLONG, H5S_ALL, H5S_ALL, H5P_DEFAULT, a.data()), 0);
       H5Sclose(s);
       H5Dclose(d);
     },
     "column 13"},
  };
  for (const auto &c : cases) {
    MatHandle A;
    Mat       B = nullptr;
    VEC_OK(make_operator(A.out()));
    VEC_OK(write(A.get(), "A"));
    damage(c.first);
    EXPECT_PETSC_ERROR(read(PETSC_COMM_WORLD, "A", &B), PETSC_ERR_FILE_UNEXPECTED, c.second);
    VEC_OK(MatDestroy(&B));
  }
}

} // namespace
#endif
