// SPDX-License-Identifier: Apache-2.0
#include "mpi/link.h"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/progress.h"

namespace segcal::mpi {
namespace {

// MPI counts in int.
constexpr size_t kLargestMessage = size_t{1} << 29;

constexpr int kTag = 0;

// Rests longer the longer a wait lasts: what comes soon is found at once, and ranks that share a
// core leave it to those that work. MPI's own waits would keep every core busy.
class Rest {
 public:
  void Take() {
    if (++rests_ < kBusyRests) {
      ::sched_yield();
      return;
    }
    const struct timespec pause = {0, nanoseconds_};
    ::nanosleep(&pause, nullptr);
    nanoseconds_ = std::min(nanoseconds_ + nanoseconds_ / 4, kLongest);
  }

 private:
  static constexpr int kBusyRests = 200;
  static constexpr long kLongest = 1'000'000;
  int rests_ = 0;
  long nanoseconds_ = 10'000;
};

void Wait(MPI_Request* request, const std::function<void()>& poll) {
  using Clock = std::chrono::steady_clock;
  Rest rest;
  auto polled = Clock::now();
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    rest.Take();
    if (Clock::now() - polled < kPollInterval) continue;
    poll();
    polled = Clock::now();
  }
}

template <class Visit>
void ForEachMessage(size_t size, const Visit& visit) {
  for (size_t begin = 0; begin < size; begin += kLargestMessage)
    visit(begin, static_cast<int>(std::min(kLargestMessage, size - begin)));
}

}  // namespace

MpiLink::MpiLink(int* argc, char*** argv) {
  int provided = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiLink::~MpiLink() { MPI_Finalize(); }

void MpiLink::Send(int to, const std::string& bytes, const std::function<void()>& poll) {
  const uint64_t size = bytes.size();
  MPI_Request request;
  MPI_Isend(&size, 1, MPI_UINT64_T, to, kTag, MPI_COMM_WORLD, &request);
  Wait(&request, poll);
  ForEachMessage(bytes.size(), [&](size_t begin, int count) {
    MPI_Isend(bytes.data() + begin, count, MPI_BYTE, to, kTag, MPI_COMM_WORLD, &request);
    Wait(&request, poll);
  });
}

std::string MpiLink::Receive(int from, const std::function<void()>& poll) {
  uint64_t size = 0;
  MPI_Request request;
  MPI_Irecv(&size, 1, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, &request);
  Wait(&request, poll);
  std::string bytes(size, '\0');
  ForEachMessage(bytes.size(), [&](size_t begin, int count) {
    MPI_Irecv(bytes.data() + begin, count, MPI_BYTE, from, kTag, MPI_COMM_WORLD, &request);
    Wait(&request, poll);
  });
  return bytes;
}

int MpiLink::ShareOfCores() const {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (::sched_getaffinity(0, sizeof(own), &own) != 0) return 1;
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &machine);
  int count = 1;
  MPI_Comm_size(machine, &count);
  std::vector<cpu_set_t> all(static_cast<size_t>(count));
  constexpr int kBytes = sizeof(cpu_set_t);
  MPI_Allgather(&own, kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE, machine);
  MPI_Comm_free(&machine);
  double share = 0.0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &own)) continue;
    const auto users = std::count_if(
        all.begin(), all.end(), [&](const cpu_set_t& set) { return CPU_ISSET(core, &set) != 0; });
    share += 1.0 / static_cast<double>(users);
  }
  // A half of two cores, twice, is one, whatever the sum of two halves is.
  return std::max(1, static_cast<int>(std::floor(share + 1e-6)));
}

}  // namespace segcal::mpi
