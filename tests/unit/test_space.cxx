#include "dense.hpp"

using namespace petsctt;
using namespace petsctt::test;

TEST(Space, EvenSplitIsPetscsForAnyNumberOfProcesses)
{
  for (int P : {1, 2, 3, 7, 16, 1000, 1024})
    for (Int N : {1, 2, 3, 101, 1023, 1024, 1025, 1580, 1000003}) {
      const Mode m = split_evenly(N, P);
      ASSERT_EQ((int)m.starts.size(), P + 1);
      EXPECT_EQ(m.starts[0], 0);
      EXPECT_EQ(m.starts[P], N);
      EXPECT_FALSE(m.replicated);
      for (int p = 0; p < P; ++p) {
        const Int expected = N / P + (N % P > p ? 1 : 0); // PetscSplitOwnership
        ASSERT_EQ(m.local(p), expected) << "N " << N << " P " << P << " p " << p;
        ASSERT_EQ(m.start(p), m.starts[p]);
      }
    }
}

TEST(Space, AgreesWithPetscLayout)
{
  for (Int N : {1, 3, 101}) {
    const SpacePtr s = make_space({N}, "d");
    PetscInt       n = PETSC_DECIDE, NN = N;
    ASSERT_EQ(PetscSplitOwnership(PETSC_COMM_WORLD, &n, &NN), 0);
    EXPECT_EQ(s->n(0), n);
  }
}

TEST(Space, SizesAndDescription)
{
  const SpacePtr s = make_space({1580, 101, 7}, "ddr");
  EXPECT_EQ(s->d(), 3);
  EXPECT_EQ(s->N(1), 101);
  EXPECT_EQ(s->n(2), 7);
  EXPECT_EQ(s->start(2), 0);
  EXPECT_NEAR((double)s->full_size(), 1580. * 101 * 7, 1e-6);
  EXPECT_NEAR((double)s->log10_full_size(), std::log10(1580. * 101 * 7), 1e-12);
  EXPECT_EQ(s->describe(), size() > 1 ? "1580 x 101 x 7r" : "1580 x 101 x 7");
  const SpacePtr big = make_space(std::vector<Int>(400, 10), "r");
  EXPECT_TRUE(std::isinf(big->full_size()));
  EXPECT_NEAR((double)big->log10_full_size(), 400, 1e-9);
  EXPECT_LT(big->describe().size(), 220u);
}

TEST(Space, Sameness)
{
  const SpacePtr a = make_space({5, 6}, "d"), b = make_space({5, 6}, "d"), c = make_space({6, 5}, "d"), e = make_space({30}, "d"), f = make_space({5, 6}, "dr");
  EXPECT_TRUE(a->same(*b));
  EXPECT_FALSE(a->same(*c));
  EXPECT_FALSE(a->same(*e)) << "equal products of modes are not equal modes";
  EXPECT_EQ(a->same(*f), size() == 1);
  EXPECT_EQ(make_space({9}, "d")->same(*make_space({9}, "l")), size() == 1);
  EXPECT_NO_THROW(require_same_space(*a, *b, "test"));
  EXPECT_ERROR(require_same_space(*a, *c, "test"), PETSC_ERR_ARG_INCOMP);
  try {
    require_same_space(*a, *c, "this operation");
  } catch (const Error &err) {
    for (const char *part : {"this operation", "5 x 6", "6 x 5"}) EXPECT_NE(std::string(err.what()).find(part), std::string::npos) << err.what();
  }
  MPI_Comm dup;
  MPI_Comm_dup(PETSC_COMM_WORLD, &dup);
  {
    const Space g(dup, {make_mode(5, 'd'), make_mode(6, 'd')});
    EXPECT_TRUE(a->same(g)) << "congruent communicators";
    if (size() > 1) {
      const Space h(PETSC_COMM_SELF, {split_evenly(5, 1), split_evenly(6, 1)});
      EXPECT_FALSE(a->same(h));
    }
  }
  MPI_Comm_free(&dup);
}

TEST(Space, BadModes)
{
  EXPECT_ERROR(Space(PETSC_COMM_WORLD, {}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(Space(PETSC_COMM_WORLD, {replicate(0)}), PETSC_ERR_ARG_OUTOFRANGE);
  EXPECT_ERROR(Space(PETSC_COMM_WORLD, {split_evenly(4, size() + 1)}), PETSC_ERR_ARG_SIZ);
  Mode m       = split_evenly(8, size());
  m.starts.back() = 9;
  EXPECT_ERROR(Space(PETSC_COMM_WORLD, {m}), PETSC_ERR_ARG_SIZ);
  if (size() > 1) {
    m           = split_evenly(8, size());
    m.starts[1] = 9;
    EXPECT_ERROR(Space(PETSC_COMM_WORLD, {m}), PETSC_ERR_ARG_SIZ);
  }
}

TEST(Comm, Collectives)
{
  const Comm comm(PETSC_COMM_WORLD);
  const int  P = comm.size();
  Scalar     s[2] = {Scalar(1), Scalar(comm.rank())};
  comm.sum(s, 2);
  EXPECT_EQ(s[0], Scalar(P));
  EXPECT_EQ(s[1], Scalar(P * (P - 1) / 2));
  Real m = comm.rank();
  comm.max(&m, 1);
  EXPECT_EQ(m, P - 1);
  Scalar b = comm.rank() + 5;
  comm.bcast(&b, 1, P - 1);
  EXPECT_EQ(b, Scalar(P + 4));
  std::vector<Count>  counts(P);
  std::vector<Scalar> mine, all;
  for (int p = 0; p < P; ++p) {
    counts[p] = p % 3;
    for (int j = 0; j < p % 3; ++j) {
      all.push_back(Scalar(10 * p + j));
      if (p == comm.rank()) mine.push_back(Scalar(10 * p + j));
    }
  }
  std::vector<Scalar> got(all.size());
  comm.allgatherv(mine.data(), got.data(), counts);
  EXPECT_EQ(got, all);
  if (P == 1) {
    const CommCounts before = Comm::counts();
    comm.sum(s, 2);
    EXPECT_EQ(Comm::counts().messages, before.messages);
    EXPECT_EQ(Comm::counts().words, before.words);
  }
}
