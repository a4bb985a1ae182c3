// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

// Rows sum to 0.9: a shift of z moves all scores alike.
std::vector<double> ConstrainedMap(const std::vector<double>& z) {
  return {0.7 * z[0] + 0.1 * z[1] + 0.1 * z[2] + 0.2, 0.9 * z[1], 0.2 * z[0] + 0.7 * z[2] - 0.3};
}

TEST(ConstrainedMatrixScaling, ContainsMapsWithEqualRowSums) {
  const KnownScene known = DrawFrom(ConstrainedMap, 3);
  const Model model = FitTo(known.scene, "ms_c(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_LE(LossOf(FitTo(known.scene, "ms(z, kappa=0)")), LossOf(model) + 1e-9);
}

TEST(ConstrainedMatrixScaling, ClaimsEqualRowSums) {
  const Model model = FitTo(DrawFrom(ConstrainedMap, 3).scene, "ms_c(z)");
  const std::vector<Claim> claims = ModelAccess::State(model).calibrator->Claims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_EQ(claims[0].property, "translation_invariant");
  EXPECT_TRUE(claims[0].holds);
}

}  // namespace
}  // namespace segcal
