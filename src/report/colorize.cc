// SPDX-License-Identifier: Apache-2.0
#include "report/colorize.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/throw.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

void CheckSize(const char* what, size_t found, SliceSize size) {
  if (size.width > 0 && size.height > 0 && found == static_cast<size_t>(size.count())) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: {} values, a slice of {} x {} (width x height) needs {}",
        what,
        found,
        size.width,
        size.height,
        size.count());
}

// Diagonal stripes, about 48 over the longer side, so that they show at any size.
Rgb Hatch(int64_t x, int64_t y, SliceSize size) noexcept {
  const int64_t stripe = std::max<int64_t>(1, std::max(size.width, size.height) / 96);
  return (x + y) / stripe % 2 == 0 ? kHatchLight : kHatchDark;
}

// An image whose pixel i is color_of(i), or hatched where takes_part(i) is false.
template <class TakesPart, class ColorOf>
RgbImage Draw(SliceSize size, TakesPart takes_part, ColorOf color_of) {
  RgbImage image(size.width, size.height);
  size_t i = 0;
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x, ++i) {
      image.pixels[i] = takes_part(i) ? color_of(i) : Hatch(x, y, size);
    }
  }
  return image;
}

}  // namespace

RgbImage ColorizeLabels(std::span<const int32_t> labels,
                        SliceSize size,
                        const std::vector<Rgb>& colors) {
  CheckSize("labels", labels.size(), size);
  return Draw(
      size,
      [&](size_t i) { return labels[i] >= 0; },
      [&](size_t i) { return colors.at(static_cast<size_t>(labels[i])); });
}

RgbImage ColorizeField(
    std::span<const float> values, SliceSize size, double low, double high, ColorMap map) {
  CheckSize("field", values.size(), size);
  const MapColors colors = FindColors(map);
  const auto position = [&](double value) {
    return high > low ? (value - low) / (high - low) : 0.5;
  };
  return Draw(
      size,
      [&](size_t i) { return std::isfinite(values[i]); },
      [&](size_t i) { return colors[MapStep(position(static_cast<double>(values[i])))]; });
}

RgbImage ColorizeConfidence(std::span<const float> confidence, SliceSize size, double low) {
  CheckSize("confidence", confidence.size(), size);
  return ColorizeField(confidence, size, low, 1.0, ColorMap::kSequential);
}

RgbImage ColorizeErrors(std::span<const int32_t> predicted,
                        std::span<const int32_t> labels,
                        SliceSize size) {
  CheckSize("prediction", predicted.size(), size);
  CheckSize("labels", labels.size(), size);
  return Draw(
      size,
      [&](size_t i) { return labels[i] != kNoLabel; },
      [&](size_t i) { return predicted[i] == labels[i] ? kCalm : kRed; });
}

RgbImage ColorizeFlips(std::span<const int32_t> before,
                       std::span<const int32_t> after,
                       std::span<const int32_t> labels,
                       SliceSize size) {
  CheckSize("prediction before", before.size(), size);
  CheckSize("prediction after", after.size(), size);
  CheckSize("labels", labels.size(), size);
  return Draw(
      size,
      [&](size_t i) { return labels[i] != kNoLabel; },
      [&](size_t i) {
        if (before[i] == after[i]) return kCalm;
        if (labels[i] == after[i]) return kBlue;
        return labels[i] == before[i] ? kRed : kAmber;
      });
}

}  // namespace segcal
