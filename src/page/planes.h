// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace segcal {

// How the page stores numbers of voxels. docs/report.md describes the code; web/planes.js reads it.

// Steps of a stored probability: level n stands for sin²(π/2 · n / 100). Steps are 1.6 percentage
// points wide in the middle and fine at both ends, where confidence lives: next to 1 comes 0.99975.
inline constexpr int kProbabilityLevels = 100;
uint8_t ProbabilityLevel(double probability) noexcept;
double LevelProbability(uint8_t level) noexcept;

// Steps of a stored number between two ends; 255 is "not a number".
inline constexpr int kFieldLevels = 254;
uint8_t FieldLevel(double value, double low, double high) noexcept;

// A stack of slices of one number, [slice][row][column].
struct BytePlane {
  int64_t slices = 1;
  int64_t rows = 0;
  int64_t columns = 0;
  std::vector<uint8_t> values = {};
};

// What a plane has beyond another (null: none) and beyond what its neighbours predict: value less
// reference, less the median edge predictor of these differences, modulo 256. Mostly small numbers,
// which deflate to a fifth. The planes have the same shape.
std::string PredictPlane(const BytePlane& plane, const BytePlane* reference);

}  // namespace segcal
