// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Scales 0.5 to 1.1, biases -0.4 to 0.4.
std::vector<double> VectorMap(const std::vector<double>& z) {
  std::vector<double> scores;
  for (size_t c = 0; c < z.size(); ++c) {
    const auto k = static_cast<double>(c);
    scores.push_back((0.5 + 0.2 * k) * z[c] + 0.4 * (k - 1.0) * (k - 2.0));
  }
  return scores;
}

TEST(VectorScaling, RecoversScalesAndIsNoWorseThanTheTruth) {
  const KnownScene known = DrawFrom(VectorMap, 4);
  const Model model = FitTo(known.scene, "vs(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(ResidualOf(model), 1e-6);
  EXPECT_LE(LossOf(model), known.true_nll);
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(WeightOf(model, 0, c, c), 0.5 + 0.2 * static_cast<double>(c), 0.04);
  }
}

TEST(VectorScaling, FixesWhatIsOffTheDiagonal) {
  const Model model = FitTo(DrawFrom(VectorMap, 4).scene, "vs(z)");
  for (size_t r = 0; r < 4; ++r) {
    for (size_t k = 0; k < 4; ++k) {
      if (r != k) {
        EXPECT_EQ(WeightOf(model, 0, r, k), 0.0);
      }
    }
  }
}

TEST(VectorScaling, CountsItsParameters) {
  const ParameterCounts counts =
      ModelAccess::State(FitTo(DrawFrom(VectorMap, 4).scene, "vs(z)")).calibrator->counts(20);
  EXPECT_EQ(counts.optimised, 40);
  EXPECT_EQ(counts.identifiable, 39);
}

}  // namespace
}  // namespace segcal
