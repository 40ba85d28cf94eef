// VecView() and VecLoad() with PETSc's binary viewer (HDF5: test_hdf5.cxx), and files that are not what they should be.
#include "test_vec_fixture.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <petscmat.h>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

constexpr const char *file_name = "vec_tt_test.bin";

class VecTTFile : public testing::Test {
protected:
  void TearDown() override
  {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (rank() == 0) {
      std::remove(file_name);
      std::remove((std::string(file_name) + ".info").c_str());
    }
    MPI_Barrier(PETSC_COMM_WORLD);
  }
  static PetscErrorCode open(PetscFileMode mode, Vec, Vec *, ViewerHandle &viewer, bool mpiio = false)
  {
    PetscFunctionBegin;
    PetscCall(PetscViewerCreate(PETSC_COMM_WORLD, viewer.out()));
    PetscCall(PetscViewerSetType(viewer, PETSCVIEWERBINARY));
    PetscCall(PetscViewerFileSetMode(viewer, mode));
    PetscCall(PetscViewerBinarySetUseMPIIO(viewer, mpiio ? PETSC_TRUE : PETSC_FALSE));
    PetscCall(PetscViewerFileSetName(viewer, file_name));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode write(const std::vector<Vec> &v, bool mpiio = false)
  {
    ViewerHandle viewer;
    PetscFunctionBegin;
    PetscCall(open(FILE_MODE_WRITE, nullptr, nullptr, viewer, mpiio));
    for (Vec x : v) PetscCall(VecView(x, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static PetscErrorCode read(const std::vector<Vec> &v, bool mpiio = false)
  {
    ViewerHandle viewer;
    PetscFunctionBegin;
    PetscCall(open(FILE_MODE_READ, nullptr, nullptr, viewer, mpiio));
    for (Vec x : v) PetscCall(VecLoad(x, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  static std::string bytes()
  {
    std::ifstream in(file_name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  static void put(const std::string &b)
  {
    MPI_Barrier(PETSC_COMM_WORLD);
    if (rank() == 0) std::ofstream(file_name, std::ios::binary) << b;
    MPI_Barrier(PETSC_COMM_WORLD);
  }
};

TEST_F(VecTTFile, RoundTripIntoVectorsWithModes)
{
  for (bool mpiio : {false, true})
    for (const char *kinds : {"d", "r", "dr", "u", "l"}) {
      VecHandle x, y, z;
      VEC_OK(make_vec({6, 5, 7}, kinds, 3, 1, x.out()));
      VEC_OK(VecTTOrthogonalize(x, 1));
      VEC_OK(VecScale(x, number(3, 1)));
      VEC_OK(VecDuplicate(x, z.out())); // zero
      VEC_OK(write({x, z, x}, mpiio));
      VEC_OK(make_vec({6, 5, 7}, "rdd", 1, 2, y.out())); // other owners
      VEC_OK(read({y}, mpiio));
      EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
      EXPECT_EQ(train_of(y).left(), train_of(x).left());
      EXPECT_EQ(train_of(y).right(), train_of(x).right());
      expect_orthogonality_as_claimed(train_of(y));
      VEC_OK(read({y, z, y}, mpiio));
      EXPECT_TRUE(train_of(z).is_zero());
      EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
    }
}

// As a program does that never heard of us: no sizes, no modes.
TEST_F(VecTTFile, LoadsIntoVectorsWithoutSizes)
{
  VecHandle x, a, b, c, d;
  PetscInt  N;
  PetscBool tt;
  Real      norm;
  VEC_OK(make_vec({6, 5, 40}, "rdd", 3, 1, x.out()));
  VEC_OK(write({x, x, x, x}));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, a.out()));
  VEC_OK(VecSetType(a, VECTT));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, c.out()));
  VEC_OK(VecSetSizes(c, PETSC_DECIDE, 1200));
  VEC_OK(VecSetType(c, VECTT));
  VEC_OK(PetscOptionsSetValue(nullptr, "-vec_type", "tt"));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, b.out())); // no type: what ex10 does
  VEC_OK(VecCreate(PETSC_COMM_WORLD, d.out()));
  VEC_OK(VecSetFromOptions(d));
  VEC_OK(read({a, b, c, d}));
  VEC_OK(PetscOptionsClearValue(nullptr, "-vec_type"));
  for (Vec v : {a.get(), b.get(), c.get(), d.get()}) {
    VEC_OK(PetscObjectTypeCompare((PetscObject)v, VECTT, &tt));
    ASSERT_TRUE(tt);
    VEC_OK(VecGetSize(v, &N));
    EXPECT_EQ(N, 1200);
    EXPECT_LT(distance(dense_of(v), dense_of(x)), 1e-15);
    VecHandle y;
    VEC_OK(VecDuplicate(v, y.out()));
    VEC_OK(VecWAXPY(y, -1, x, v)); // same modes, same owners
    VEC_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_LT(norm, 1e-12 * dense_of(x).norm());
  }
}

// The options ask for our type, but the file has an ordinary vector: it is loaded as ever.
TEST_F(VecTTFile, OrdinaryVectorsStayOrdinary)
{
  VecHandle x, y, z;
  PetscBool tt, equal;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, x.out()));
  VEC_OK(VecSetSizes(x, PETSC_DECIDE, 17));
  VEC_OK(VecSetType(x, VECSTANDARD));
  VEC_OK(VecSetRandom(x, nullptr));
  VEC_OK(write({x}));
  VEC_OK(PetscOptionsSetValue(nullptr, "-vec_type", "tt"));
  VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
  VEC_OK(read({y}));
  VEC_OK(PetscObjectTypeCompare((PetscObject)y.get(), VECTT, &tt));
  EXPECT_FALSE(tt);
  VEC_OK(VecEqual(x, y, &equal));
  EXPECT_TRUE(equal);
  VEC_OK(VecDuplicate(y, z.out()));
  VEC_OK(VecCopy(y, z));
  VEC_OK(VecAXPY(z, 1, y));
  VEC_OK(PetscOptionsClearValue(nullptr, "-vec_type"));
}

TEST_F(VecTTFile, OtherModesAreRefused)
{
  VecHandle x, y, z;
  VEC_OK(make_vec({6, 5}, "d", 2, 1, x.out()));
  VEC_OK(write({x}));
  VEC_OK(make_vec({5, 6}, "d", 2, 1, y.out()));
  EXPECT_PETSC_ERROR(read({y}), PETSC_ERR_FILE_UNEXPECTED, "6 x 5");
  VEC_OK(VecCreate(PETSC_COMM_WORLD, z.out()));
  VEC_OK(VecSetSizes(z, PETSC_DECIDE, 31));
  VEC_OK(VecSetType(z, VECTT));
  EXPECT_PETSC_ERROR(read({z}), PETSC_ERR_FILE_UNEXPECTED, "nominal size 30");
}

// A vector that every process has for itself, and one file for all of them, or the other way round.
TEST_F(VecTTFile, OtherProcessesAreRefused)
{
  VecHandle    x, own;
  ViewerHandle viewer;
  if (test_vec::size() == 1) GTEST_SKIP() << "there is one process";
  VEC_OK(make_vec({6, 5}, "d", 2, 1, x.out()));
  VEC_OK(write({x}));
  VEC_OK(VecCreate(PETSC_COMM_SELF, own.out()));
  VEC_OK(open(FILE_MODE_READ, nullptr, nullptr, viewer));
  EXPECT_PETSC_ERROR(VecTTLoad(own, viewer), PETSC_ERR_ARG_NOTSAMECOMM, "is on 1 processes, the viewer on");
  VEC_OK(VecTTSetModes(own, 2, nullptr, std::vector<PetscInt>{6, 5}.data()));
  // VecView() last: PETSc locks the vector for it and leaves it locked after an error, and from PETSc 3.22 on VecLoad() refuses a locked one.
  EXPECT_PETSC_ERROR(VecLoad(own, viewer), PETSC_ERR_ARG_NOTSAMECOMM, "is on 1 processes, the viewer on");
  EXPECT_PETSC_ERROR(VecView(own, viewer), PETSC_ERR_ARG_NOTSAMECOMM, "is on 1 processes, the viewer on");
}

// On every process the same error, that says what is wrong, and nobody waits.
TEST_F(VecTTFile, DamagedFilesAreRefused)
{
  const auto refused = [&](const char *text) {
    for (bool mpiio : {false, true}) {
      VecHandle y;
      VEC_OK(make_vec({6, 5, 7}, "d", 1, 2, y.out()));
      EXPECT_PETSC_ERROR(read({y}, mpiio), PETSC_ERR_FILE_UNEXPECTED, text);
      VecHandle z; // the size, but no modes
      VEC_OK(VecCreate(PETSC_COMM_WORLD, z.out()));
      VEC_OK(VecSetSizes(z, PETSC_DECIDE, 210));
      VEC_OK(VecSetType(z, VECTT));
      EXPECT_PETSC_ERROR(read({z}, mpiio), PETSC_ERR_FILE_UNEXPECTED, text);
    }
  };
  VecHandle x;
  VEC_OK(make_vec({6, 5, 7}, "d", 2, 1, x.out()));
  VEC_OK(write({x}));
  const std::string good   = bytes();
  const std::size_t header = 2 * sizeof(PetscInt), w = sizeof(Scalar);
  put(good.substr(0, good.size() - 8));
  refused("Truncated file");
  put(good.substr(0, header + 9 * w));
  refused("Truncated file");
  put(good.substr(0, header + 2));
  refused("Truncated file");
  put(good.substr(0, 3));
  refused("Truncated file");
  put("");
  refused("ends where a vector should begin");
  put("#!/bin/sh\necho this is not a file of PETSc\n");
  refused("Not a file of PETSc");
  std::string other = good;
  other[header + 2 * w + 1] = '\x70'; // version
  put(other);
  refused("file version");
  other = good;
  for (std::size_t i = 0; i < sizeof(Real); ++i) other[header + w + i] = 0; // as complex numbers would have it in a real PETSc
  put(other);
  refused(is_complex ? "scalars of 0 bytes" : "complex scalars");
  other                           = good;
  other[header + (12 + 6) * w + 1] = '\x18'; // r_0: another number
  put(other);
  refused("TT rank 0");
  other = good;
  for (std::size_t i = 0; i < w; ++i) other[header + 8 * w + i] = 0; // mantissa of the scale
  put(other);
  refused("its scale is 0");
  if (sizeof(PetscInt) == 8) { // so many scalars that their bytes do not fit 64 bits, and too few for a description
    other    = good.substr(0, header + 3 * w);
    other[8] = '\x20';
    put(other);
    refused("Truncated file");
  }
  // an index size that is not ours; newer PETSc reads it
  std::string header_of_other;
  for (PetscInt64 number : {(PetscInt64)VEC_FILE_CLASSID, (PetscInt64)((good.size() - header) / w)})
    for (int i = sizeof(PetscInt) == 8 ? 3 : 7; i >= 0; --i) header_of_other += (char)(number >> (8 * i) & 255);
  put(header_of_other + good.substr(header));
  if (PETSCTT_LOADS_ANY_INDEX_SIZE) {
    VecHandle y;
    VEC_OK(make_vec({6, 5, 7}, "d", 1, 2, y.out()));
    VEC_OK(read({y}));
    EXPECT_LT(distance(dense_of(y), dense_of(x)), 1e-15);
  } else {
    refused(sizeof(PetscInt) == 8 ? "32-bit indices" : "64-bit indices");
  }
  // a matrix
  MatHandle    A;
  ViewerHandle viewer;
  VEC_OK(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, 5, 5, 1, nullptr, 1, nullptr, A.out()));
  VEC_OK(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  VEC_OK(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  VEC_OK(open(FILE_MODE_WRITE, nullptr, nullptr, viewer));
  VEC_OK(MatView(A, viewer));
  viewer = ViewerHandle();
  refused("A matrix, not a vector");
  // an ordinary vector
  VecHandle y;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
  VEC_OK(VecSetSizes(y, PETSC_DECIDE, 170));
  VEC_OK(VecSetType(y, VECSTANDARD));
  VEC_OK(VecSet(y, 1));
  VEC_OK(write({y}));
  refused("ordinary vector of 170 entries");
  // and into a vector without modes
  VecHandle z;
  VEC_OK(VecCreate(PETSC_COMM_WORLD, z.out()));
  VEC_OK(VecSetType(z, VECTT));
  EXPECT_PETSC_ERROR(read({z}), PETSC_ERR_ARG_WRONGSTATE, "not the TT vector of a file");
}

} // namespace
