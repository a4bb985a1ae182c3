// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "calibrators/simulated_for_test.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "tests/support/models.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::Simulated;

// Cases whose logits are as many times too large as their temperature: it can be read from them.
double TemperatureOf(size_t i) { return 1.0 + 0.25 * static_cast<double>(i % 9); }

Scene OneTemperaturePerCase(size_t num_cases, uint64_t seed) {
  Scene scene;
  for (size_t i = 0; i < num_cases; ++i) {
    Scene one = RandomScene({.seed = seed + i,
                             .num_cases = 1,
                             .num_classes = 3,
                             .shape = {48, 64},
                             .scale = 2.0 * TemperatureOf(i),
                             .true_beta = 1.0 / TemperatureOf(i)});
    if (i == 0) {
      scene = one;
      continue;
    }
    scene.logits.push_back(std::move(one.logits[0]));
    scene.labels.push_back(std::move(one.labels[0]));
    scene.dataset.cases.push_back(one.dataset.cases[0]);
    scene.dataset.cases.back().id = "case" + std::to_string(i);
  }
  return scene;
}

double TemperatureFound(const Model& model, const Scene& scene, size_t i) {
  const auto stream = scene.Stream(1);
  const auto reader = stream->Open(static_cast<int64_t>(i));
  const auto bound = ModelAccess::State(model).calibrator->Bind(*reader, {}, {});
  alignas(64) float temperature[kTileVoxels];
  Tile tile;
  EXPECT_TRUE(bound->Temperature(tile, temperature));
  return static_cast<double>(temperature[0]);
}

TEST(ImageTemperature, RecoversTheTemperatureOfCasesItWasNotFittedOn) {
  const Scene fitted = OneTemperaturePerCase(36, 100);
  const Model model = FitStream(*fitted.Stream(2), ParsePipeline("ibts(z)"), /*seed=*/7);
  const Scene other = OneTemperaturePerCase(9, 900);
  for (size_t i = 0; i < 9; ++i) {
    EXPECT_NEAR(TemperatureFound(model, other, i), TemperatureOf(i), 0.1 * TemperatureOf(i)) << i;
  }
}

TEST(ImageTemperature, IsNoWorseThanOneTemperatureWhereThatIsTheTruth) {
  SimulateOptions options;
  options.num_classes = 4;
  options.size = {100, 120};
  options.num_cases = 12;
  const Simulated data(options);
  EXPECT_LT(data.TestLoss("ibts(z)"), data.TestLoss("ts(z)") + 1e-3);
}

// One temperature: log q_0 - log q_1 is the same multiple of z_0 - z_1 everywhere.
TEST(ImageTemperature, DividesTheWholeCaseByOneTemperature) {
  const Scene scene = OneTemperaturePerCase(4, 5);
  const Model model = FitStream(*scene.Stream(2), ParsePipeline("ibts(z, epochs=5)"), /*seed=*/7);
  const double temperature = TemperatureFound(model, scene, 2);
  const std::vector<float> probs = testing::ApplyInMemory(model, scene, 2);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t v = 0; v < n; ++v) {
    const double gap =
        static_cast<double>(scene.logits[2][0][v]) - static_cast<double>(scene.logits[2][0][n + v]);
    const double found =
        std::log(static_cast<double>(probs[v]) / static_cast<double>(probs[n + v]));
    ASSERT_NEAR(found, gap / temperature, 2e-5 + 1e-5 * std::fabs(gap)) << v;
  }
}

}  // namespace
}  // namespace segcal
