// SPDX-License-Identifier: Apache-2.0
#include "page/planes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace segcal {
namespace {

TEST(ProbabilityLevel, IsWithinEightThousandthsOfTheProbability) {
  double worst = 0.0;
  for (int i = 0; i <= 100000; ++i) {
    const double p = i / 100000.0;
    worst = std::max(worst, std::abs(LevelProbability(ProbabilityLevel(p)) - p));
  }
  // Half a step in the middle: sin(π/2) · π/2 / 100 / 2.
  EXPECT_LE(worst, 0.00786);
  EXPECT_GE(worst, 0.0078);
}

TEST(ProbabilityLevel, KeepsTheEndsAndTheOrder) {
  EXPECT_EQ(ProbabilityLevel(0.0), 0);
  EXPECT_EQ(ProbabilityLevel(1.0), kProbabilityLevels);
  EXPECT_EQ(ProbabilityLevel(0.5), kProbabilityLevels / 2);
  EXPECT_EQ(ProbabilityLevel(1.0000001), kProbabilityLevels);
  for (int i = 1; i <= 1000; ++i)
    EXPECT_LE(ProbabilityLevel((i - 1) / 1000.0), ProbabilityLevel(i / 1000.0));
}

TEST(FieldLevel, SpansTheScaleAndMarksWhatIsNoNumber) {
  EXPECT_EQ(FieldLevel(2.0, 2.0, 6.0), 0);
  EXPECT_EQ(FieldLevel(4.0, 2.0, 6.0), 127);
  EXPECT_EQ(FieldLevel(6.0, 2.0, 6.0), 254);
  EXPECT_EQ(FieldLevel(9.0, 2.0, 6.0), 254);
  EXPECT_EQ(FieldLevel(3.0, 3.0, 3.0), 0);
  EXPECT_EQ(FieldLevel(std::numeric_limits<double>::quiet_NaN(), 0.0, 1.0), 255);
}

// The reader's side, from its description: every difference is what is stored plus what the three
// differences before it predict.
BytePlane Undo(const std::string& stored, const BytePlane& shape, const BytePlane* reference) {
  BytePlane plane = shape;
  std::vector<int> d(stored.size());
  const int64_t w = shape.columns;
  for (int64_t z = 0; z < shape.slices; ++z) {
    for (int64_t y = 0; y < shape.rows; ++y) {
      for (int64_t x = 0; x < w; ++x) {
        const auto at = [&](int64_t yy, int64_t xx) {
          return yy < 0 || xx < 0 ? 0 : d[static_cast<size_t>((z * shape.rows + yy) * w + xx)];
        };
        const int a = at(y, x - 1);
        const int b = at(y - 1, x);
        const int c = at(y - 1, x - 1);
        const int p = c >= std::max(a, b) ? std::min(a, b)
                                          : (c <= std::min(a, b) ? std::max(a, b) : a + b - c);
        const auto i = static_cast<size_t>((z * shape.rows + y) * w + x);
        const int base = reference != nullptr ? reference->values[i] : 0;
        plane.values[i] = static_cast<uint8_t>(base + p + stored[i]);
        d[i] = plane.values[i] - base;
      }
    }
  }
  return plane;
}

BytePlane MakePlane(int64_t slices, int64_t rows, int64_t columns, int seed) {
  BytePlane plane{.slices = slices, .rows = rows, .columns = columns, .values = {}};
  for (int64_t i = 0; i < slices * rows * columns; ++i)
    plane.values.push_back(static_cast<uint8_t>((i * i * 7 + seed * i + seed) % 256));
  return plane;
}

TEST(PredictPlane, CanBeUndone) {
  const BytePlane first = MakePlane(3, 5, 7, 11);
  const BytePlane second = MakePlane(3, 5, 7, 2);
  EXPECT_EQ(Undo(PredictPlane(first, nullptr), first, nullptr).values, first.values);
  EXPECT_EQ(Undo(PredictPlane(second, &first), second, &first).values, second.values);
}

TEST(PredictPlane, LeavesNothingOfAPlaneThatIsItsReferenceAndASlope) {
  const BytePlane first = MakePlane(1, 6, 8, 3);
  BytePlane second = first;
  for (size_t i = 0; i < second.values.size(); ++i)
    second.values[i] = static_cast<uint8_t>(first.values[i] / 2);
  EXPECT_EQ(PredictPlane(first, &first), std::string(first.values.size(), '\0'));
  EXPECT_NE(PredictPlane(second, &first), std::string(first.values.size(), '\0'));
}

}  // namespace
}  // namespace segcal
