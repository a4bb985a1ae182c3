// SPDX-License-Identifier: Apache-2.0
#include "study/unit_progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/json.h"

namespace segcal {
namespace {

std::string Duration(double seconds) {
  if (seconds < 90.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace

ProgressCallback UnitProgress::Listener() {
  if (!callback_) return {};
  return [this](const Progress& inside) { return callback_(Told(inside)); };
}

// Of one unit what happens inside; of several how many are done, since each tells its own.
Progress UnitProgress::Told(const Progress& inside) {
  const std::lock_guard lock(mutex_);
  Progress progress = inside;
  progress.stage = Title();
  if (under_way_.size() > 1) {
    progress.detail.clear();
    progress.done = done_;
    progress.total = total_;
  } else if (!inside.stage.empty()) {
    progress.stage += ": " + inside.stage;
  }
  return progress;
}

std::string UnitProgress::Title() const {
  const auto at_once = std::max<int64_t>(1, std::ssize(under_way_));
  const int64_t first = std::min(done_ + 1, total_);
  const int64_t last = std::min(done_ + at_once, total_);
  std::string title = first < last ? fmt::format("units {} to {} of {}", first, last, total_)
                                   : fmt::format("unit {} of {}", first, total_);
  if (timed_ > 0) {
    const double passed = std::chrono::duration<double>(Clock::now() - began_).count();
    const double left = passed / static_cast<double>(timed_) * static_cast<double>(total_ - done_);
    title += fmt::format(", about {} left", Duration(left));
  }
  constexpr int64_t kNamed = 2;
  int64_t named = 0;
  for (const auto& [number, unit] : under_way_) {
    if (named++ < kNamed) title += ", " + unit.unit;
  }
  return named > kNamed ? title + fmt::format(" and {} more", named - kNamed) : title;
}

int64_t UnitProgress::Begin(std::string unit) {
  const std::lock_guard lock(mutex_);
  under_way_[next_number_] = {std::move(unit), Clock::now()};
  return next_number_++;
}

double UnitProgress::End(int64_t number, int64_t units) {
  const std::lock_guard lock(mutex_);
  const UnderWay unit = under_way_.at(number);
  under_way_.erase(number);
  const double seconds = std::chrono::duration<double>(Clock::now() - unit.began).count();
  timed_ += units;
  done_ += units;
  timings_.push_back({unit.unit, seconds});
  return seconds;
}

void UnitProgress::Drop(int64_t number) {
  const std::lock_guard lock(mutex_);
  under_way_.erase(number);
}

void UnitProgress::Skip(const std::string& unit, double seconds) {
  const std::lock_guard lock(mutex_);
  ++done_;
  timings_.push_back({unit, seconds});
}

void UnitProgress::Forget(int64_t units) {
  const std::lock_guard lock(mutex_);
  total_ -= units;
}

std::string TimingsJson(const UnitProgress& progress) {
  double total = 0.0;
  Json units = Json::array();
  for (const UnitProgress::Timing& timing : progress.timings()) {
    total += timing.seconds;
    units.push_back({{"unit", timing.unit}, {"seconds", timing.seconds}});
  }
  return DumpJson({{"segcal_timing", 1}, {"total_seconds", total}, {"units", std::move(units)}});
}

}  // namespace segcal
