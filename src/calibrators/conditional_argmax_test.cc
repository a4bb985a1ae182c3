// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Gaps to the winner grow or shrink by what the winner is; a far loser lifts another class.
std::vector<double> ArgmaxMap(const std::vector<double>& z) {
  const auto winner = static_cast<size_t>(std::max_element(z.begin(), z.end()) - z.begin());
  std::vector<double> scores(z.size(), 0.0);
  for (size_t k = 0; k < z.size(); ++k) {
    if (k == winner) continue;
    const size_t other = 3 - winner - k;
    scores[k] = -((0.3 + 0.2 * static_cast<double>(winner)) * (z[winner] - z[k]) +
                  0.1 * (z[winner] - z[other]) + 0.1);
  }
  return scores;
}

TEST(ConditionalArgmax, IsNoWorseThanTheTruthItContains) {
  const KnownScene known = DrawFrom(ArgmaxMap, 3);
  const Model model = FitTo(known.scene, "cms_ap(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_LT(known.true_nll, LossOf(FitTo(known.scene, "ts(z)")));
}

// Labels that contradict the winner press the gaps to exactly zero, not near it.
TEST(ConditionalArgmax, ReachesItsBoundsExactly) {
  KnownScene known = DrawFrom(ArgmaxMap, 3);
  for (size_t c = 0; c < known.scene.labels.size(); ++c) {
    for (size_t v = 0; v < known.scene.labels[c].size(); ++v) {
      const std::vector<double> z = LogitsAt(known.scene, c, v);
      int32_t& label = known.scene.labels[c][v];
      if (label != 255 && z[0] >= z[1] && z[0] >= z[2]) label = v % 3 == 0 ? 2 : 1;
    }
  }
  const Model model = FitTo(known.scene, "cms_ap(z)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_EQ(WeightOf(model, 0, 0, 0), 0.0);
  const std::vector<Claim> claims = ModelAccess::State(model).calibrator->Claims();
  for (const Claim& claim : claims) EXPECT_TRUE(claim.holds) << claim.what;
}

}  // namespace
}  // namespace segcal
