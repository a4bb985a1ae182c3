// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/temperature_pass.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

// Independent scalar twin of (T2)-(T5), in double from the float32 logits.
Point1D Expected(const Scene& scene, double beta) {
  Point1D mean{.x = beta};
  const auto n = static_cast<size_t>(scene.num_voxels());
  const auto num_classes = static_cast<size_t>(scene.dataset.num_classes());
  double count = 0.0;
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      if (scene.labels[i][v] == 255) continue;
      std::vector<double> z(num_classes), q(num_classes);
      double sum = 0.0;
      for (size_t c = 0; c < num_classes; ++c) {
        z[c] = static_cast<double>(scene.logits[i][0][c * n + v]);
        sum += q[c] = std::exp(beta * z[c]);
      }
      const auto moment = [&](double centre, int power) {
        double m = 0.0;
        for (size_t c = 0; c < num_classes; ++c) m += q[c] / sum * std::pow(z[c] - centre, power);
        return m;
      };
      const double expected = moment(0.0, 1);
      const double of_label = z[static_cast<size_t>(scene.labels[i][v])];
      mean.value += std::log(sum) - beta * of_label;
      mean.slope += expected - of_label;
      mean.curvature += moment(expected, 2);
      mean.third += moment(expected, 3);
      count += 1.0;
    }
  }
  return {beta, mean.value / count, mean.slope / count, mean.curvature / count, mean.third / count};
}

TEST(TemperaturePass, EqualsTheDefinition) {
  const Scene scene = RandomScene({.num_cases = 2, .num_classes = 4, .shape = {33, 35}});
  for (const double beta : {0.0, 0.3, 1.0, 2.5}) {
    const Point1D expected = Expected(scene, beta);
    const Point1D found = MeanPoint(beta, TemperaturePass(*scene.Stream(2), "test", {}, beta));
    EXPECT_EQ(found.x, beta);
    EXPECT_NEAR(found.value, expected.value, 1e-6) << beta;
    EXPECT_NEAR(found.slope, expected.slope, 1e-6) << beta;
    EXPECT_NEAR(found.curvature, expected.curvature, 2e-6) << beta;
    EXPECT_NEAR(found.third, expected.third, 2e-5) << beta;
  }
}

bool SameBits(const TemperatureSums& a, const TemperatureSums& b) {
  return a.count == b.count && a.loss == b.loss && a.slope == b.slope &&
         a.curvature == b.curvature && a.skew == b.skew;
}

TEST(TemperaturePass, HasTheSameBitsForAnyNumberOfThreads) {
  const Scene scene = RandomScene({.num_cases = 5, .num_classes = 3, .shape = {130, 97}});
  const TemperatureSums one = TemperaturePass(*scene.Stream(1), "test", {}, 0.7);
  EXPECT_GT(one.count, 0);
  for (const int threads : {2, 3, 7}) {
    EXPECT_TRUE(SameBits(TemperaturePass(*scene.Stream(threads), "test", {}, 0.7), one)) << threads;
  }
}

TEST(TemperaturePass, OverASampleOfEverythingEqualsThePassOverTheData) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {50, 97}});
  const auto stream = scene.Stream(2);
  const TileSample sample = SampleTiles(*stream, {}, 1 << 20, 0);
  const TemperatureSums all = TemperaturePass(*stream, "test", {}, 0.7);
  const TemperatureSums sampled = TemperaturePass(sample, 2, 0.7);
  EXPECT_EQ(sampled.count, all.count);
  EXPECT_NEAR(sampled.loss, all.loss, 1e-9 * all.loss);
  EXPECT_TRUE(SameBits(sampled, TemperaturePass(sample, 1, 0.7)));
  EXPECT_TRUE(SameBits(sampled, TemperaturePass(sample, 5, 0.7)));
}

}  // namespace
}  // namespace segcal
