// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "calibrators/known_maps_for_test.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)

std::vector<double> DirichletMap(const std::vector<double>& z) {
  std::vector<double> x = Softmax(z);
  for (double& p : x) p = std::log(p);
  return {0.8 * x[0] + 0.1 * x[1], 0.2 * x[0] + 0.6 * x[1] + 0.1, 0.9 * x[2] - 0.2 * x[1] - 0.3};
}

TEST(Dirichlet, IsNoWorseThanTheTruthItContains) {
  const KnownScene known = DrawFrom(DirichletMap, 3);
  const Model model = FitTo(known.scene, "dc(z, kappa=0)");
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(LossOf(model), known.true_nll);
  EXPECT_GE(LossOf(model), known.true_nll - 30.0 / 40000.0);
}

// Off-diagonal penalty without bound: what is left is a diagonal.
TEST(Dirichlet, LambdaShrinksTheOffDiagonal) {
  const Model model = FitTo(DrawFrom(DirichletMap, 3).scene, "dc(z, lambda=1e5, kappa=1e-9)");
  for (size_t r = 0; r < 3; ++r) {
    for (size_t s = 0; s < 3; ++s) {
      for (size_t k = 0; k < 3; ++k) {
        if (r == k || s == k) continue;
        EXPECT_NEAR(WeightOf(model, 0, r, k), WeightOf(model, 0, s, k), 1e-3);
      }
    }
  }
}

}  // namespace
}  // namespace segcal
