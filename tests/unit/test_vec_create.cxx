// Creation, modes, layout, options, duplicates, views.
#include "test_vec_fixture.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace petsctt;
using namespace petsctt::test_vec;

namespace {

// Options for the length of a scope.
class Options {
public:
  Options(std::initializer_list<std::pair<std::string, std::string>> options) : options_(options)
  {
    for (const auto &o : options_) EXPECT_EQ((int)PetscOptionsSetValue(nullptr, o.first.c_str(), o.second.c_str()), 0);
  }
  ~Options()
  {
    for (const auto &o : options_) (void)PetscOptionsClearValue(nullptr, o.first.c_str());
  }

private:
  std::vector<std::pair<std::string, std::string>> options_;
};

TEST(VecTTCreate, ModesAndLayout)
{
  const PetscInt  N[3] = {50, 4, 33}, n[3] = {PETSC_TT_AUTO, PETSC_TT_DISTRIBUTED, PETSC_TT_REPLICATED};
  const PetscInt *M;
  PetscInt        d, start, end, local, global, sum;
  PetscBool       replicated;
  PetscReal       full, log;
  VecHandle       x;
  VecType         type;
  VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 3, n, N, x.out()));
  VEC_OK(VecGetType(x, &type));
  EXPECT_STREQ(type, "tt");
  VEC_OK(VecTTGetModes(x, &d, &M));
  ASSERT_EQ(d, 3);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(M[k], N[k]);
  const bool expected[3] = {size() == 1, size() == 1, true}; // 50 > 32 is distributed; on one process there is no difference
  for (int k = 0; k < 3; ++k) {
    VEC_OK(VecTTGetModeOwnership(x, k, &replicated, &start, &end));
    EXPECT_EQ(replicated == PETSC_TRUE, expected[k]) << k;
    sum = end - start;
    if (!replicated) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD);
    EXPECT_EQ(sum, N[k]);
  }
  VEC_OK(VecGetSize(x, &global));
  EXPECT_EQ(global, 50 * 4 * 33);
  VEC_OK(VecGetLocalSize(x, &local));
  sum = PETSC_DECIDE;
  VEC_OK(PetscSplitOwnership(PETSC_COMM_WORLD, &sum, &global));
  EXPECT_EQ(local, sum);
  VEC_OK(VecTTGetFullSize(x, &full, &log));
  EXPECT_EQ(full, 6600);
  EXPECT_NEAR(log, std::log10(6600.), 1e-12);
  Real norm;
  VEC_OK(VecNorm(x, NORM_2, &norm));
  EXPECT_EQ(norm, 0); // the value is zero until it is set
}

TEST(VecTTCreate, ExplicitLocalSizesAndFewPoints)
{
  const PetscInt N[2] = {5, 2}; // fewer points than processes, perhaps
  PetscInt       n[2] = {rank() == size() - 1 ? 5 : 0, PETSC_TT_DISTRIBUTED};
  PetscInt       start, end;
  VecHandle      x;
  Scalar         sum;
  VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 2, n, N, x.out()));
  VEC_OK(VecTTGetModeOwnership(x, 0, nullptr, &start, &end));
  EXPECT_EQ(end - start, n[0]);
  VEC_OK(VecTTSetConstant(x, 2));
  VEC_OK(VecSum(x, &sum));
  EXPECT_NEAR(PetscRealPart(sum), 20, 1e-12);
}

TEST(VecTTCreate, BadModesAreRefusedOnAllProcesses)
{
  Vec            x = nullptr;
  const PetscInt N[2] = {5, 7}, bad[2] = {5, 0};
  PetscInt       n[2] = {rank() == 0 ? 4 : 0, PETSC_TT_AUTO};
  EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, n, N, &x), PETSC_ERR_ARG_SIZ, "add up to 4");
  n[0] = rank() == 0 ? -3 : 8;
  EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, n, N, &x), PETSC_ERR_ARG_OUTOFRANGE, "-3");
  n[0] = 6;
  EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, n, N, &x), PETSC_ERR_ARG_SIZ, "more than its size 5");
  EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, bad, &x), PETSC_ERR_ARG_OUTOFRANGE, "size 0");
  EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 0, nullptr, N, &x), PETSC_ERR_ARG_OUTOFRANGE, "is 0");
  if (size() > 1) {
    const PetscInt differ[2] = {5, 7 + rank()};
    EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, differ, &x), PETSC_ERR_ARG_INCOMP, "mode 1 differs");
    EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, rank() == 0 ? 1 : 2, nullptr, N, &x), PETSC_ERR_ARG_INCOMP, "number of modes differs");
    n[0] = rank() == 0 ? PETSC_TT_REPLICATED : PETSC_TT_DISTRIBUTED;
    EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, n, N, &x), PETSC_ERR_ARG_INCOMP, "must agree");
  }
  EXPECT_EQ(x, nullptr);
}

TEST(VecTTCreate, ByTypeAndSizes)
{
  const PetscInt N[2] = {6, 7}, M[2] = {7, 6};
  VecHandle      x, y, z;
  // type, then modes: they give the sizes
  VEC_OK(VecCreate(PETSC_COMM_WORLD, x.out()));
  VEC_OK(VecSetType(x, VECTT));
  VEC_OK(VecTTSetModes(x, 2, nullptr, N));
  VEC_OK(VecTTSetConstant(x, 1));
  // sizes, type, modes
  VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
  VEC_OK(VecSetSizes(y, PETSC_DECIDE, 42));
  VEC_OK(VecSetType(y, VECTT));
  EXPECT_PETSC_ERROR(VecTTSetConstant(y, 1), PETSC_ERR_ARG_WRONGSTATE, "VecTTSetModes");
  EXPECT_PETSC_ERROR(VecSet(y, 1), PETSC_ERR_ARG_WRONGSTATE, "-vec_tt_modes");
  VEC_OK(VecTTSetModes(y, 2, nullptr, N));
  VEC_OK(VecCopy(x, y));
  VEC_OK(VecTTSetModes(y, 2, nullptr, N)); // again the same: fine
  EXPECT_PETSC_ERROR(VecTTSetModes(y, 2, nullptr, M), PETSC_ERR_ARG_WRONGSTATE, "set already");
  // sizes that do not fit
  VEC_OK(VecCreate(PETSC_COMM_WORLD, z.out()));
  VEC_OK(VecSetSizes(z, PETSC_DECIDE, 43));
  VEC_OK(VecSetType(z, VECTT));
  EXPECT_PETSC_ERROR(VecTTSetModes(z, 2, nullptr, N), PETSC_ERR_ARG_SIZ, "nominal size 42");
}

TEST(VecTTCreate, StockProgramByOptions)
{
  {
    Options   o{{"-a_vec_type", "tt"}, {"-a_vec_tt_dim", "4"}};
    VecHandle x, y;
    PetscInt  d;
    const PetscInt *N;
    VEC_OK(VecCreate(PETSC_COMM_WORLD, x.out()));
    VEC_OK(VecSetOptionsPrefix(x, "a_"));
    VEC_OK(VecSetSizes(x, PETSC_DECIDE, 4096));
    VEC_OK(VecSetFromOptions(x));
    VEC_OK(VecTTGetModes(x, &d, &N));
    EXPECT_EQ(d, 4);
    EXPECT_EQ(N[3], 8);
    VEC_OK(VecSet(x, 1));
    VEC_OK(VecDuplicate(x, y.out()));
    VEC_OK(VecWAXPY(y, 2, x, x));
    Real norm;
    VEC_OK(VecNorm(y, NORM_2, &norm));
    EXPECT_NEAR(norm, 3 * 64, 1e-10);
  }
  {
    Options   o{{"-vec_type", "tt"}, {"-vec_tt_modes", "5,6,7"}};
    VecHandle x, y;
    PetscInt  d;
    VEC_OK(VecCreate(PETSC_COMM_WORLD, x.out()));
    VEC_OK(VecSetSizes(x, PETSC_DECIDE, 210));
    VEC_OK(VecSetFromOptions(x));
    VEC_OK(VecTTGetModes(x, &d, nullptr));
    EXPECT_EQ(d, 3);
    VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
    VEC_OK(VecSetSizes(y, PETSC_DECIDE, 211));
    VEC_OK(VecSetFromOptions(y));
    EXPECT_PETSC_ERROR(VecSet(y, 1), PETSC_ERR_ARG_WRONGSTATE, "nominal size 210");
  }
  {
    Options   o{{"-vec_type", "tt"}, {"-vec_tt_dim", "3"}};
    VecHandle x;
    VEC_OK(VecCreate(PETSC_COMM_WORLD, x.out()));
    VEC_OK(VecSetSizes(x, PETSC_DECIDE, 100));
    VEC_OK(VecSetFromOptions(x));
    EXPECT_PETSC_ERROR(VecSet(x, 1), PETSC_ERR_ARG_WRONGSTATE, "not a power");
  }
}

// What SLEPc's BV does: an array of coefficients with the type of its vectors, on each process for itself.
TEST(VecTTCreate, WithoutModesOnCommSelfIsSequential)
{
  VecHandle x;
  PetscBool seq;
  VEC_OK(VecCreate(PETSC_COMM_SELF, x.out()));
  VEC_OK(VecSetSizes(x, 12, 12));
  VEC_OK(VecSetType(x, VECTT));
  VEC_OK(PetscObjectTypeCompare((PetscObject)x.get(), VECSEQ, &seq));
  EXPECT_TRUE(seq);
  VEC_OK(VecSet(x, 1));
  // a user who goes on to say what the modes are gets what he asked for
  const PetscInt N[2] = {3, 4};
  VEC_OK(VecTTSetModes(x, 2, nullptr, N));
  EXPECT_TRUE(is_vectt(x));
  VEC_OK(VecTTSetConstant(x, 2));
  Real norm;
  VEC_OK(VecNorm(x, NORM_2, &norm));
  EXPECT_NEAR(norm, 2 * std::sqrt(12.), 1e-12);
}

TEST(VecTTCreate, DuplicatesInheritModesAndPolicy)
{
  VecHandle x, y;
  Vec      *many;
  PetscReal rtol;
  PetscInt  cap;
  PetscInt64 seed;
  VecTTRoundType type;
  VEC_OK(make_vec({4, 5}, "d", 2, 1, x.out()));
  VEC_OK(VecTTSetRoundRtol(x, 1e-3));
  VEC_OK(VecTTSetMaxRank(x, 7));
  VEC_OK(VecTTSetRoundType(x, VEC_TT_ROUND_QR));
  VEC_OK(VecTTSetRoundSeed(x, 77));
  VEC_OK(VecDuplicateVecs(x, 3, &many));
  for (int i = 0; i < 3; ++i) {
    VEC_OK(VecTTGetRoundRtol(many[i], &rtol));
    VEC_OK(VecTTGetMaxRank(many[i], &cap));
    VEC_OK(VecTTGetRoundType(many[i], &type));
    VEC_OK(VecTTGetRoundSeed(many[i], &seed));
    EXPECT_EQ(rtol, (PetscReal)1e-3);
    EXPECT_EQ(cap, 7);
    EXPECT_EQ(type, VEC_TT_ROUND_QR);
    EXPECT_EQ(seed, 77);
    EXPECT_EQ(space_of(many[i]), space_of(x)); // shared, not copied
    EXPECT_TRUE(train_of(many[i]).is_zero());
  }
  VEC_OK(VecDestroyVecs(3, &many));
  VEC_OK(VecDuplicate(x, y.out()));
  VEC_OK(VecTTSetMaxRank(y, 9)); // its own from here on
  VEC_OK(VecTTGetMaxRank(x, &cap));
  EXPECT_EQ(cap, 7);
}

TEST(VecTTPolicy, ToleranceFollowsTheSolver)
{
  const PetscInt N[2] = {4, 5};
  PetscReal      rtol;
  VecHandle      x, y;
  VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, N, x.out()));
  VEC_OK(VecTTGetRoundRtol(x, &rtol));
  EXPECT_NEAR(rtol, 1e-8, 1e-20); // KSP's default is 1e-5
  {
    Options o{{"-ksp_rtol", "1e-7"}};
    VEC_OK(VecTTGetRoundRtol(x, &rtol));
    EXPECT_NEAR(rtol, 1e-10, 1e-22);
  }
  {
    Options o{{"-ksp_rtol", "1e-14"}};
    VEC_OK(VecTTGetRoundRtol(x, &rtol));
    EXPECT_NEAR(rtol, 1e-13, 1e-15); // not below round-off
  }
  {
    Options o{{"-ksp_rtol", "1e-4"}, {"-b_ksp_rtol", "1e-6"}};
    VEC_OK(VecCreate(PETSC_COMM_WORLD, y.out()));
    VEC_OK(VecSetOptionsPrefix(y, "b_"));
    VEC_OK(VecTTSetModes(y, 2, nullptr, N));
    VEC_OK(VecTTGetRoundRtol(y, &rtol));
    EXPECT_NEAR(rtol, 1e-9, 1e-21);
    VecHandle z;
    VEC_OK(VecDuplicate(y, z.out())); // the prefix goes along
    VEC_OK(VecTTGetRoundRtol(z, &rtol));
    EXPECT_NEAR(rtol, 1e-9, 1e-21);
  }
  VEC_OK(VecTTSetRoundRtol(x, 0.25));
  VEC_OK(VecTTGetRoundRtol(x, &rtol));
  EXPECT_EQ(rtol, 0.25);
  VEC_OK(VecTTSetRoundRtol(x, PETSC_DEFAULT));
  VEC_OK(VecTTGetRoundRtol(x, &rtol));
  EXPECT_NEAR(rtol, 1e-8, 1e-20);
  EXPECT_PETSC_ERROR(VecTTSetRoundRtol(x, -1e-3), PETSC_ERR_ARG_OUTOFRANGE, "-0.001");
  EXPECT_PETSC_ERROR(VecTTRound(x, -1e-3, 0, nullptr), PETSC_ERR_ARG_OUTOFRANGE, "-0.001");
  EXPECT_PETSC_ERROR(VecTTRound(x, 1e-3, -5, nullptr), PETSC_ERR_ARG_OUTOFRANGE, "-5");
  VEC_OK(VecTTRound(x, PETSC_DEFAULT, PETSC_DEFAULT, nullptr));
}

TEST(VecTTPolicy, FromOptions)
{
  const PetscInt N[2] = {4, 5};
  PetscReal      rtol;
  PetscInt       cap;
  PetscInt64     seed;
  VecTTRoundType type;
  VecHandle      x, y;
  {
    Options o{{"-vec_tt_round_type", "qr"}, {"-vec_tt_round_rtol", "1e-3"}, {"-vec_tt_max_rank", "5"}, {"-vec_tt_round_seed", "11"}, {"-q_vec_tt_max_rank", "3"}};
    VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, N, x.out()));
    VEC_OK(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, N, y.out()));
    VEC_OK(VecSetOptionsPrefix(y, "q_"));
    VEC_OK(VecSetFromOptions(y));
  }
  VEC_OK(VecTTGetRoundRtol(x, &rtol));
  VEC_OK(VecTTGetMaxRank(x, &cap));
  VEC_OK(VecTTGetRoundType(x, &type));
  VEC_OK(VecTTGetRoundSeed(x, &seed));
  EXPECT_EQ(rtol, (PetscReal)1e-3);
  EXPECT_EQ(cap, 5);
  EXPECT_EQ(type, VEC_TT_ROUND_QR);
  EXPECT_EQ(seed, 11);
  VEC_OK(VecTTGetMaxRank(y, &cap));
  EXPECT_EQ(cap, 3);
  EXPECT_PETSC_ERROR(VecTTSetRoundRtol(x, 2), PETSC_ERR_ARG_OUTOFRANGE, "2");
  EXPECT_PETSC_ERROR(VecTTSetMaxRank(x, -1), PETSC_ERR_ARG_OUTOFRANGE, "-1");
  {
    Options o{{"-vec_tt_max_rank", "-4"}};
    Vec     z = nullptr;
    EXPECT_PETSC_ERROR(VecCreateTT(PETSC_COMM_WORLD, 2, nullptr, N, &z), PETSC_ERR_ARG_OUTOFRANGE, "-4");
  }
}

TEST(VecTTCreate, ViewInfo)
{
  VecHandle    x;
  ViewerHandle viewer;
  char         name[] = "vec_tt_view.txt";
  VEC_OK(make_vec({40, 5, 6}, "drr", 3, 1, x.out()));
  VEC_OK(VecTTRound(x, 1e-10, 2, nullptr));
  VEC_OK(PetscViewerASCIIOpen(PETSC_COMM_WORLD, name, viewer.out()));
  VEC_OK(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO_DETAIL));
  VEC_OK(VecView(x, viewer));
  VEC_OK(PetscViewerPopFormat(viewer));
  VEC_OK(VecView(x, viewer));
  viewer = ViewerHandle();
  MPI_Barrier(PETSC_COMM_WORLD);
  std::ifstream      in(name);
  std::ostringstream text;
  text << in.rdbuf();
  for (const char *s : {"order: 3", "modes: 40", "TT ranks: 1 2 2 1", "stored: ", "full tensor: 1200 entries", "orthogonality: ", "scale: ", "last rounding: ", "max rank kept the tolerance", "core 2: 2 x 6"})
    EXPECT_NE(text.str().find(s), std::string::npos) << s << "\n" << text.str();
  MPI_Barrier(PETSC_COMM_WORLD);
  if (rank() == 0) std::remove(name);
}

} // namespace
