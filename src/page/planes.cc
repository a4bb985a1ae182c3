// SPDX-License-Identifier: Apache-2.0
#include "page/planes.h"

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

constexpr double kQuarterTurn = 1.57079632679489661923;

// The predictor of lossless JPEG (LOCO-I): the smaller or larger neighbour at an edge, else the
// plane through the three.
int PredictFrom(int left, int above, int corner) noexcept {
  if (corner >= std::max(left, above)) return std::min(left, above);
  if (corner <= std::min(left, above)) return std::max(left, above);
  return left + above - corner;
}

}  // namespace

uint8_t ProbabilityLevel(double probability) noexcept {
  const double clamped = std::clamp(probability, 0.0, 1.0);
  const double angle = std::asin(std::sqrt(clamped)) / kQuarterTurn;
  return static_cast<uint8_t>(std::lround(kProbabilityLevels * angle));
}

double LevelProbability(uint8_t level) noexcept {
  const double sine = std::sin(kQuarterTurn * level / kProbabilityLevels);
  return sine * sine;
}

uint8_t FieldLevel(double value, double low, double high) noexcept {
  if (!std::isfinite(value)) return 255;
  if (!(high > low)) return 0;
  const double position = std::clamp((value - low) / (high - low), 0.0, 1.0);
  return static_cast<uint8_t>(std::lround(kFieldLevels * position));
}

std::string PredictPlane(const BytePlane& plane, const BytePlane* reference) {
  const auto width = static_cast<size_t>(plane.columns);
  const auto height = static_cast<size_t>(plane.rows);
  std::string out(plane.values.size(), '\0');
  const auto difference = [&](size_t i) {
    return plane.values[i] - (reference != nullptr ? reference->values[i] : 0);
  };
  for (size_t i = 0; i < out.size(); ++i) {
    const size_t x = i % width;
    const size_t y = i / width % height;
    const int left = x > 0 ? difference(i - 1) : 0;
    const int above = y > 0 ? difference(i - width) : 0;
    const int corner = x > 0 && y > 0 ? difference(i - width - 1) : 0;
    out[i] = static_cast<char>((difference(i) - PredictFrom(left, above, corner)) & 0xff);
  }
  return out;
}

}  // namespace segcal
