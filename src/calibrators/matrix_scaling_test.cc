// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

std::vector<double> MatrixMap(const std::vector<double>& z) {
  return {0.8 * z[0] + 0.2 * z[1] - 0.3,
          0.1 * z[0] + 0.5 * z[1] - 0.2 * z[2],
          0.3 * z[0] + 0.7 * z[2] + 0.4};
}

TEST(MatrixScaling, RecoversTheMapUpToItsGaugeAndIsNoWorseThanTheTruth) {
  const KnownScene known = DrawFrom(MatrixMap, 3);
  const Model model = FitTo(known.scene, "ms(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_GE(LossOf(model), known.true_nll - 30.0 / 40000.0);
  // Differences of rows do not depend on the gauge.
  EXPECT_NEAR(WeightOf(model, 0, 0, 0) - WeightOf(model, 0, 1, 0), 0.7, 0.04);
  EXPECT_NEAR(WeightOf(model, 0, 1, 2) - WeightOf(model, 0, 2, 2), -0.9, 0.04);
}

// With little left to shrink to, everything stays where it is drawn to.
TEST(MatrixScaling, ShrinksToTheAnchor) {
  const KnownScene known = DrawFrom(MatrixMap, 3);
  const Model model = FitTo(known.scene, "ms(z, kappa=1e4, anchor=identity)");
  for (size_t r = 0; r < 3; ++r) {
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(WeightOf(model, 0, r, k) - WeightOf(model, 0, 2, k),
                  (r == k ? 1.0 : 0.0) - (k == 2 ? 1.0 : 0.0),
                  1e-3);
    }
  }
}

// A class without labels pushes its bias to minus infinity unless something holds it.
TEST(MatrixScaling, SaysWhenThereIsNoFiniteOptimum) {
  KnownScene known = DrawFrom(MatrixMap, 3);
  for (auto& labels : known.scene.labels) {
    for (int32_t& label : labels) label = label == 2 ? 1 : label;
  }
  const Model endless = FitTo(known.scene, "ms(z, kappa=0)");
  EXPECT_EQ(endless.report().status, FitStatus::kUnbounded);
  EXPECT_FALSE(endless.report().certificates[0].bounded);
  EXPECT_FALSE(endless.report().warnings.empty());
  const Model held = FitTo(known.scene, "ms(z)");
  EXPECT_EQ(held.report().status, FitStatus::kConverged);
  EXPECT_TRUE(held.report().certificates[0].bounded);
  EXPECT_TRUE(held.report().certificates[0].gap.has_value());
}

TEST(MatrixScaling, ReportsPassesThatRunOut) {
  const Model model =
      FitTo(DrawFrom(MatrixMap, 3).scene, "ms(z, max_passes=2, gradient_tolerance=1e-15)");
  EXPECT_EQ(model.report().status, FitStatus::kNotConverged);
  EXPECT_FALSE(model.report().warnings.empty());
}

}  // namespace
}  // namespace segcal
