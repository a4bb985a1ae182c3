// SPDX-License-Identifier: Apache-2.0
#include "page/axis.h"

#include <algorithm>
#include <cmath>

#include "report/text.h"

namespace segcal {
namespace {

// The largest of 1, 2 and 5 times a power of ten that gives at least four steps.
double RoundStep(double range) {
  const double power = std::pow(10.0, std::floor(std::log10(range / 4.0)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= range / 4.0) return factor * power;
  }
  return power;
}

}  // namespace

Axis::Axis(double low, double high, double from_pixel, double to_pixel)
    : low_(low), high_(high), from_pixel_(from_pixel), to_pixel_(to_pixel) {
  if (!(low <= high) || !std::isfinite(high - low)) {
    low_ = 0.0;
    high_ = 1.0;
  }
  // All values equal: a little room around them.
  if (low_ == high_) {
    const double room = std::max(std::abs(low_) * 0.05, 1e-6);
    low_ -= room;
    high_ += room;
  }
  step_ = RoundStep(high_ - low_);
  low_ = std::floor(low_ / step_ + 1e-9) * step_;
  high_ = std::ceil(high_ / step_ - 1e-9) * step_;
}

double Axis::Pixel(double value) const noexcept {
  return from_pixel_ + (value - low_) / (high_ - low_) * (to_pixel_ - from_pixel_);
}

std::vector<double> Axis::Ticks() const {
  std::vector<double> ticks;
  const auto steps = static_cast<int>(std::lround((high_ - low_) / step_));
  for (int i = 0; i <= steps; ++i) ticks.push_back(low_ + i * step_);
  return ticks;
}

std::string Axis::Label(double tick) const {
  const int decimals = std::clamp(-static_cast<int>(std::floor(std::log10(step_) + 1e-9)), 0, 9);
  return FormatNumber(std::abs(tick) < step_ / 2.0 ? 0.0 : tick, decimals);
}

void RangeOfValues::Add(double value) noexcept {
  if (!std::isfinite(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

}  // namespace segcal
