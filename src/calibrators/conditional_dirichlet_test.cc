// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

size_t Winner(const std::vector<double>& z) {
  return static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
}

// A temperature of its own for every winner, and a bias against class 0.
std::vector<double> ConditionalMap(const std::vector<double>& z) {
  const double beta = 0.4 + 0.3 * static_cast<double>(Winner(z));
  std::vector<double> scores;
  for (const double x : z) scores.push_back(beta * x);
  scores[0] -= 0.2;
  return scores;
}

TEST(ConditionalDirichlet, IsNoWorseThanTheTruthItContains) {
  const KnownScene known = DrawFrom(ConditionalMap, 3);
  const Model model = FitTo(known.scene, "cdc(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_EQ(model.report().certificates.size(), 3u);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_LT(known.true_nll, LossOf(FitTo(known.scene, "dc(z, kappa=0)")));
}

// Expert 2 never wins: it is the anchor, without shrinkage the identity.
TEST(ConditionalDirichlet, ExpertsWithoutVoxelsAreTheAnchor) {
  KnownScene known = DrawFrom(ConditionalMap, 3);
  for (auto& members : known.scene.logits) {
    for (size_t i = 2 * members[0].size() / 3; i < members[0].size(); ++i) members[0][i] = -60.0f;
  }
  for (auto& labels : known.scene.labels) {
    for (int32_t& label : labels) label = label == 2 ? 1 : label;
  }
  const Model held = FitTo(known.scene, "cdc(z)");
  const double beta = ModelAccess::State(FitTo(known.scene, "ts(z)"))
                          .calibrator->Parameters()["beta"]
                          .get<double>();
  const Model identity = FitTo(known.scene, "cdc(z, kappa=0)");
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(WeightOf(held, 2, k, k), beta, 2e-3 * beta);
    EXPECT_EQ(WeightOf(identity, 2, k, k), 1.0);
  }
  EXPECT_EQ(held.report().certificates[2].voxels, 0);
}

}  // namespace
}  // namespace segcal
