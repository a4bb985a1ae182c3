// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "segcal/progress.h"

namespace segcal {

// Which units of a study are under way, how many are done, and how long the rest may take; for
// people to look at, so nothing depends on it. Units may begin and end on several threads.
class UnitProgress {
 public:
  struct Timing {
    std::string unit;
    double seconds = 0.0;
  };

  UnitProgress(ProgressCallback callback, int64_t total)
      : callback_(std::move(callback)), total_(total) {}

  // What happens inside units, told as part of the study. This must outlive it.
  ProgressCallback Listener();

  // Returns the number by which the unit is ended.
  int64_t Begin(std::string unit);
  // So many units at once; returns the seconds since Begin.
  double End(int64_t number, int64_t units = 1);
  // It did not come to an end, and will begin again.
  void Drop(int64_t number);
  // A unit that an earlier run has done.
  void Skip(const std::string& unit, double seconds);
  // Units that turned out not to be there.
  void Forget(int64_t units);

  // To be called while no unit is under way.
  const std::vector<Timing>& timings() const noexcept { return timings_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct UnderWay {
    std::string unit;
    Clock::time_point began;
  };
  Progress Told(const Progress& inside);
  std::string Title() const;

  ProgressCallback callback_;
  const Clock::time_point began_ = Clock::now();
  std::mutex mutex_;
  int64_t total_;
  int64_t done_ = 0;
  int64_t timed_ = 0;  // of those done, the ones of this run
  int64_t next_number_ = 0;
  std::map<int64_t, UnderWay> under_way_;
  std::vector<Timing> timings_;
};

// timing.json: seconds of every unit, whichever run did it, and their sum.
std::string TimingsJson(const UnitProgress& progress);

}  // namespace segcal
