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
  return [this](const Progress& inside) {
    Progress progress = inside;
    progress.stage = inside.stage.empty() ? Title() : fmt::format("{}: {}", Title(), inside.stage);
    return callback_(progress);
  };
}

std::string UnitProgress::Title() const {
  std::string title = fmt::format("unit {} of {}", std::min(done_ + 1, total_), total_);
  if (timed_ > 0) {
    const double left = spent_ / static_cast<double>(timed_) * static_cast<double>(total_ - done_);
    title += fmt::format(", about {} left", Duration(left));
  }
  return unit_.empty() ? title : title + ", " + unit_;
}

void UnitProgress::Begin(std::string unit) {
  unit_ = std::move(unit);
  began_ = Clock::now();
}

double UnitProgress::End(int64_t units) {
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  spent_ += seconds;
  timed_ += units;
  done_ += units;
  timings_.push_back({unit_, seconds});
  unit_.clear();
  return seconds;
}

void UnitProgress::Skip(const std::string& unit, double seconds) {
  ++done_;
  timings_.push_back({unit, seconds});
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
