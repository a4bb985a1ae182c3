// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "report/colors.h"
#include "report/raster.h"

namespace segcal {

// Size of a slice, rows from the top.
struct SliceSize {
  int64_t width = 0;
  int64_t height = 0;

  int64_t count() const noexcept { return width * height; }
};

// The functions below draw [height][width] arrays; an array of another size is an Error. What takes
// no part (label -1, a number that is not finite) is hatched in grey.

// Class indices by the colours of the classes.
RgbImage ColorizeLabels(std::span<const int32_t> labels,
                        SliceSize size,
                        const std::vector<Rgb>& colors);

// Numbers by position between low and high; where low = high, all take the middle of the map.
RgbImage ColorizeField(
    std::span<const float> values, SliceSize size, double low, double high, ColorMap map);

// Confidences from `low` to 1.
RgbImage ColorizeConfidence(std::span<const float> confidence, SliceSize size, double low);

// Pale where prediction and label agree, red where not.
RgbImage ColorizeErrors(std::span<const int32_t> predicted,
                        std::span<const int32_t> labels,
                        SliceSize size);

// What calibration did to the decision: pale where nothing, blue where a wrong one became right,
// red where a right one became wrong, amber where a wrong one became another wrong one.
RgbImage ColorizeFlips(std::span<const int32_t> before,
                       std::span<const int32_t> after,
                       std::span<const int32_t> labels,
                       SliceSize size);

}  // namespace segcal
