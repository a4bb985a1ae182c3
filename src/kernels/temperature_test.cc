// SPDX-License-Identifier: Apache-2.0
#include "kernels/temperature.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/reference_for_test.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kTemperatureClassCounts[] = {1, 2, 3, 7, 19, 20, 33, 65, 200};

// The bounds stated in temperature.h.
void ExpectClose(const TemperatureSums& fast,
                 const reference::TemperatureResult& exact,
                 double classes) {
  const double count = static_cast<double>(exact.sums.count);
  EXPECT_EQ(fast.count, exact.sums.count);
  EXPECT_NEAR(fast.loss, exact.sums.loss, 2e-7 * (exact.scale.loss + count));
  EXPECT_NEAR(fast.slope, exact.sums.slope, 2e-7 * exact.scale.slope + 1e-30);
  EXPECT_NEAR(
      fast.curvature, exact.sums.curvature, 1e-7 * (classes + 10) * exact.scale.curvature + 1e-30);
  EXPECT_NEAR(fast.skew, exact.sums.skew, 4e-7 * (classes + 10) * exact.scale.skew + 1e-30);
}

TEST(TemperatureSums, AgreeWithReferenceOverClassesTemperaturesAndSpreads) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kTemperatureClassCounts) {
      for (const double spread : {0.5, 6.0, 30.0, 87.0}) {
        const RandomTile random(21, num_classes, 251, spread);
        for (const double beta : {0.0, 1e-3, 0.3, 1.0, 1.0 / 3.0, 1.9, 20.0, 1e3, 1e6}) {
          SCOPED_TRACE(target + " C " + std::to_string(num_classes) + " spread " +
                       std::to_string(spread) + " beta " + std::to_string(beta));
          TemperatureSums fast;
          AddTemperatureSums(random.tile, beta, &fast);
          ExpectClose(
              fast, reference::Temperature(random.tile, beta), static_cast<double>(num_classes));
        }
      }
    }
  });
}

// Closed form: two classes, u = (0, -d): loss = log(1 + e^-bd) + [y = 1] b d.
TEST(TemperatureSums, TwoClassesHaveTheLogisticLoss) {
  ForEveryTarget([](const std::string& target) {
    RandomTile random(1, 2, 1, 1.0);
    random.logits[0] = 0.0f;
    random.logits[kTileVoxels] = -2.0f;
    random.labels[0] = 1;
    TemperatureSums sums;
    AddTemperatureSums(random.tile, 0.75, &sums);
    const double p = 1.0 / (1.0 + std::exp(1.5));
    EXPECT_EQ(sums.count, 1) << target;
    EXPECT_NEAR(sums.loss, std::log1p(std::exp(-1.5)) + 1.5, 1e-6) << target;
    EXPECT_NEAR(sums.slope, -2.0 * p + 2.0, 1e-6) << target;
    EXPECT_NEAR(sums.curvature, 4.0 * p * (1.0 - p), 1e-6) << target;
    EXPECT_NEAR(sums.skew, -8.0 * p * (1.0 - p) * (1.0 - 2.0 * p), 1e-6) << target;
  });
}

// beta counts in double: between two of its values that are one float32, the slope changes by its
// derivative.
TEST(TemperatureSums, ResolveChangesOfBetaBelowFloatPrecision) {
  ForEveryTarget([](const std::string& target) {
    const RandomTile random(8, 20, kTileVoxels, 20.0);
    const double beta = 1.0 + 0x1p-26;
    const double step = 0x1p-30;
    TemperatureSums low;
    TemperatureSums high;
    AddTemperatureSums(random.tile, beta, &low);
    AddTemperatureSums(random.tile, beta + step, &high);
    EXPECT_NEAR((high.loss - low.loss) / step, low.slope, 1e-4 * std::fabs(low.slope)) << target;
    EXPECT_NEAR((high.slope - low.slope) / step, low.curvature, 1e-4 * low.curvature) << target;
  });
}

TEST(TemperatureSums, AddToWhatIsThere) {
  const RandomTile random(8, 5, 100, 20.0);
  TemperatureSums once;
  AddTemperatureSums(random.tile, 0.5, &once);
  TemperatureSums twice = once;
  AddTemperatureSums(random.tile, 0.5, &twice);
  EXPECT_EQ(twice.count, 2 * once.count);
  EXPECT_DOUBLE_EQ(twice.loss, 2 * once.loss);
  EXPECT_DOUBLE_EQ(twice.curvature, 2 * once.curvature);
}

TEST(TemperatureSums, AreZeroWithoutLabels) {
  RandomTile random(8, 5, 100, 20.0);
  std::fill_n(random.labels.data(), kTileVoxels, kNoLabel);
  TemperatureSums sums;
  AddTemperatureSums(random.tile, 0.5, &sums);
  EXPECT_EQ(sums.count, 0);
  EXPECT_EQ(sums.loss, 0.0);
  EXPECT_EQ(sums.slope, 0.0);
  EXPECT_EQ(sums.skew, 0.0);
}

TEST(LabelMargins, AgreeWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kTemperatureClassCounts) {
      const RandomTile random(31, num_classes, 201, 30.0);
      const LabelMargins exact = reference::Margins(random.tile);
      LabelMargins fast;
      AddLabelMargins(random.tile, &fast);
      EXPECT_EQ(fast.count, exact.count) << target;
      EXPECT_EQ(fast.below_max, exact.below_max) << target;
      const double scale = 30.0 * static_cast<double>(exact.count);
      EXPECT_NEAR(fast.slope_at_zero, exact.slope_at_zero, 2e-7 * scale) << target;
    }
  });
}

}  // namespace
}  // namespace segcal
