// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Sorted gaps scaled by the winner's own factor, never reordered.
std::vector<double> OrderMap(const std::vector<double>& z) {
  std::vector<size_t> order = {0, 1, 2, 3};
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return z[a] > z[b]; });
  std::vector<double> scores(z.size(), 0.0);
  for (size_t k = 1; k < z.size(); ++k) {
    const double gap = z[order[k - 1]] - z[order[k]];
    const double factor = 0.3 + 0.1 * static_cast<double>(order[0]);
    scores[order[k]] = scores[order[k - 1]] - (factor * gap + (gap > 0.0 ? 0.1 : 0.0));
  }
  return scores;
}

TEST(ConditionalOrder, IsNoWorseThanTheTruthItContains) {
  const KnownScene known = DrawFrom(OrderMap, 4);
  const Model model = FitTo(known.scene, "cms_op(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_LT(known.true_nll, LossOf(FitTo(known.scene, "ts(z)")));
}

// Equal logits say nothing about which class is likelier, whatever the biases are.
TEST(ConditionalOrder, KeepsTiesOfTheInput) {
  const KnownScene known = DrawFrom(OrderMap, 4);
  const Model model = FitTo(known.scene, "cms_op(z)");
  Scene scene = known.scene;
  for (auto& members : scene.logits) {
    const size_t n = members[0].size() / 4;
    for (size_t v = 0; v < n; ++v) {
      members[0][v] = 5.0f;
      members[0][2 * n + v] = members[0][3 * n + v] = members[0][n + v] = -1.0f;
    }
  }
  const std::vector<float> q = ApplyInMemory(model, scene, 0);
  const size_t n = q.size() / 4;
  for (size_t v = 0; v < n; ++v) {
    ASSERT_EQ(q[n + v], q[2 * n + v]);
    ASSERT_EQ(q[n + v], q[3 * n + v]);
  }
}

}  // namespace
}  // namespace segcal
