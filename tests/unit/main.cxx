// Runs all unit tests on every process of MPI_COMM_WORLD. Every test is collective; process 0 reports, the others speak only when
// something fails. Arguments that GoogleTest does not know go to PETSc.
#include "petscttsys.h"

#include <gtest/gtest.h>

#include <petscsys.h>

#include <chrono>
#include <cstdio>
#include <thread>

// Weak while the layers come together: the tests of the lower ones run without the upper ones.
extern "C" PetscErrorCode PetscTTInitializePackage(void) __attribute__((weak));

namespace {

int world_rank()
{
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Failures of the other processes, with the number of the process in front.
class OtherProcesses : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult &result) override
  {
    if (!result.failed()) return;
    const char *file = result.file_name() ? result.file_name() : "unknown file";
    std::fprintf(stderr, "[process %d] %s:%d: Failure\n%s\n", world_rank(), file, result.line_number(), result.summary());
    std::fflush(stderr);
  }
};

// Ends each test on all processes together, on a communicator of its own, so that a collective call left over from one test cannot meet the
// next. A process whose test failed may wait for one that is stuck in a collective call of the test: it gives up after a while.
class Together : public testing::EmptyTestEventListener {
public:
  Together() { MPI_Comm_dup(MPI_COMM_WORLD, &comm_); }
  ~Together() override { MPI_Comm_free(&comm_); }
  int failed_anywhere() const { return failed_; }

private:
  void OnTestEnd(const testing::TestInfo &info) override
  {
    using clock = std::chrono::steady_clock;
    int         mine = info.result()->Failed() ? 1 : 0, any = 0, done = 0;
    MPI_Request request;
    MPI_Iallreduce(&mine, &any, 1, MPI_INT, MPI_MAX, comm_, &request);
    for (const auto start = clock::now(); !done;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (!done && mine && clock::now() - start > std::chrono::seconds(30)) {
        std::fprintf(stderr, "[process %d] %s.%s failed here while other processes have not ended it after 30 s: abort\n", world_rank(),
                     info.test_suite_name(), info.name());
        std::fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      if (!done) std::this_thread::yield();
    }
    failed_ = failed_ || any;
  }

  MPI_Comm comm_   = MPI_COMM_NULL;
  int      failed_ = 0;
};

int run(int argc, char **argv)
{
  testing::InitGoogleTest(&argc, argv);
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  if (PetscTTInitializePackage) PetscCall(PetscTTInitializePackage());
  testing::TestEventListeners &listeners = testing::UnitTest::GetInstance()->listeners();
  if (world_rank() != 0) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new OtherProcesses);
  }
  auto *together = new Together;
  listeners.Append(together);
  int failed = RUN_ALL_TESTS();
  failed     = failed || together->failed_anywhere();
  if (testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was run\n");
    failed = 1;
  }
  delete listeners.Release(together);
  PetscCall(PetscFinalize());
  return failed;
}

} // namespace

int main(int argc, char **argv) { return run(argc, argv); }
