// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

// Closed form: the loss of none(z) is the mean of log sum exp z - z_y.
TEST(NoCalibration, ReportsTheLossOfTheInput) {
  const testing::Scene scene =
      testing::RandomScene({.num_cases = 1, .num_classes = 3, .ignored = 0.2});
  const Model model = FitStream(*scene.Stream(1), ParsePipeline("none(z)"), 0);
  double loss = 0.0;
  int64_t count = 0;
  const int64_t n = scene.num_voxels();
  for (int64_t v = 0; v < n; ++v) {
    const int32_t label = scene.labels[0][static_cast<size_t>(v)];
    if (label == 255) continue;
    double sum = 0.0;
    for (int64_t c = 0; c < 3; ++c)
      sum += std::exp(static_cast<double>(scene.logits[0][0][static_cast<size_t>(c * n + v)]));
    loss +=
        std::log(sum) - static_cast<double>(scene.logits[0][0][static_cast<size_t>(label * n + v)]);
    ++count;
  }
  EXPECT_EQ(model.report().data.labelled, count);
  EXPECT_NEAR(model.report().nll_before, loss / static_cast<double>(count), 1e-6);
  EXPECT_EQ(model.report().nll_before, model.report().nll_after);
  EXPECT_EQ(model.report().status, FitStatus::kNothingToFit);
}

}  // namespace
}  // namespace segcal
