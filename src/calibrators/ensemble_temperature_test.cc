// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "calibrators/list.h"
#include "core/json.h"
#include "core/rng.h"
#include "pipeline/model.h"
#include "segcal/error.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::FitAs;
using testing::RandomScene;
using testing::Scene;

struct Parts {
  double temperature;
  std::vector<double> weights;
};
Parts ListParts(const Model& model) {
  const Json json = ModelAccess::State(model).calibrator->Parameters();
  return {1.0 / json["beta"].get<double>(), json["weights"].get<std::vector<double>>()};
}

// Labels drawn from the mixture itself: with probability w_0 from softmax(z / T), w_1 from
// softmax(z), w_2 uniformly.
Scene MixtureScene(double temperature, const std::vector<double>& weights) {
  Scene scene = RandomScene(
      {.seed = 12, .num_cases = 4, .num_classes = 4, .shape = {400, 300}, .scale = 3.0});
  const int64_t n = scene.num_voxels();
  for (size_t i = 0; i < scene.labels.size(); ++i) {
    Rng rng(/*seed=*/77, /*stream=*/i);
    for (int64_t v = 0; v < n; ++v) {
      const double part = rng.Uniform();
      const double beta = part < weights[0]                ? 1.0 / temperature
                          : part < weights[0] + weights[1] ? 1.0
                                                           : 0.0;
      double best = -INFINITY;
      for (int64_t c = 0; c < 4; ++c) {
        const auto z = static_cast<double>(scene.logits[i][0][static_cast<size_t>(c * n + v)]);
        const double score = beta * z - std::log(-std::log(rng.Uniform()));
        if (score <= best) continue;
        best = score;
        scene.labels[i][static_cast<size_t>(v)] = static_cast<int32_t>(c);
      }
    }
  }
  return scene;
}

// Known truth.
TEST(EnsembleTemperature, RecoversTheMixtureLabelsWereDrawnFrom) {
  const Model model = FitAs("ets(z)", MixtureScene(3.0, {0.6, 0.3, 0.1}));
  const Parts parts = ListParts(model);
  EXPECT_NEAR(parts.temperature, 3.0, 0.15);
  EXPECT_NEAR(parts.weights[0], 0.6, 0.03);
  EXPECT_NEAR(parts.weights[1], 0.3, 0.03);
  EXPECT_NEAR(parts.weights[2], 0.1, 0.03);
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(model.report().certificates.at(0).gradient, 1e-6);
  EXPECT_LE(model.report().passes, 8);
}

TEST(EnsembleTemperature, EndsAtACornerWhereOnlyOnePartIsTrue) {
  for (const size_t corner : {size_t{1}, size_t{2}}) {
    std::vector<double> truth(3, 0.0);
    truth[corner] = 1.0;
    const Model model = FitAs("ets(z)", MixtureScene(2.0, truth));
    EXPECT_EQ(model.report().status, FitStatus::kConverged) << corner;
    // All probability may also come from T = 1 or T = infinity: the loss tells, not the weights.
    const Model ts = FitAs("ts(z)", MixtureScene(2.0, truth));
    EXPECT_NEAR(model.report().nll_after, ts.report().nll_after, 2e-5) << corner;
  }
}

TEST(EnsembleTemperature, IsNeverAboveTemperatureScaling) {
  for (const double true_beta : {0.05, 0.3, 1.0, 2.0}) {
    for (const double scale : {0.3, 2.0, 20.0}) {
      const Scene scene = RandomScene({.seed = 3, .scale = scale, .true_beta = true_beta});
      const Model ets = FitAs("ets(z)", scene);
      EXPECT_LE(ets.report().nll_after, FitAs("ts(z)", scene).report().nll_after + 1e-8)
          << true_beta << " " << scale;
      EXPECT_EQ(ets.report().status, FitStatus::kConverged) << true_beta << " " << scale;
      EXPECT_LE(ets.report().certificates.at(0).gradient, 1e-6) << true_beta << " " << scale;
    }
  }
}

// One label in twenty is noise: a uniform part pays, and confident mistakes no longer flatten all.
TEST(EnsembleTemperature, IsBelowTemperatureScalingWhereLabelsAreNoisy) {
  const Scene scene = MixtureScene(1.0, {0.0, 0.95, 0.05});
  const Model ets = FitAs("ets(z)", scene);
  const Model ts = FitAs("ts(z)", scene);
  EXPECT_LT(ets.report().nll_after, ts.report().nll_after - 5e-3);
  EXPECT_NEAR(ListParts(ets).weights[2], 0.05, 0.01);
}

Scene WithLabelOf(Scene scene, bool largest) {
  const int64_t n = scene.num_voxels();
  for (size_t i = 0; i < scene.labels.size(); ++i) {
    for (int64_t v = 0; v < n; ++v) {
      const auto z = [&](int64_t c) { return scene.logits[i][0][static_cast<size_t>(c * n + v)]; };
      int32_t best = 0;
      for (int32_t c = 1; c < scene.dataset.num_classes(); ++c) {
        if (largest ? z(c) > z(best) : z(c) < z(best)) best = c;
      }
      scene.labels[i][static_cast<size_t>(v)] = best;
    }
  }
  return scene;
}

TEST(EnsembleTemperature, AllCorrectLabelsEndAtTheCapAndSaySo) {
  const Model model = FitAs("ets(z)", WithLabelOf(RandomScene({}), true));
  EXPECT_EQ(ModelAccess::State(model).calibrator->Parameters()["beta"].get<double>(), 1e6);
  EXPECT_EQ(ListParts(model).weights, (std::vector<double>{1.0, 0.0, 0.0}));
  EXPECT_EQ(model.report().status, FitStatus::kAtBound);
  EXPECT_FALSE(model.report().certificates.at(0).bounded);
}

TEST(EnsembleTemperature, AllWrongLabelsEndUniform) {
  const Model model = FitAs("ets(z)", WithLabelOf(RandomScene({}), false));
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_NEAR(model.report().nll_after, std::log(5.0), 1e-6);
}

TEST(EnsembleTemperature, OneClassHasNothingToFit) {
  const Model model = FitAs("ets(z)", RandomScene({.num_classes = 1}));
  EXPECT_EQ(model.report().status, FitStatus::kNothingToFit);
  EXPECT_EQ(model.report().nll_after, 0.0);
}

TEST(EnsembleTemperature, ClaimsHoldAfterAFit) {
  const Model model = FitAs("ets(z)", RandomScene({}));
  const std::vector<Claim> claims = ModelAccess::State(model).calibrator->Claims();
  ASSERT_EQ(claims.size(), 3u);
  for (const Claim& claim : claims) EXPECT_TRUE(claim.holds) << claim.what << " " << claim.found;
}

TEST(EnsembleTemperature, RefusesParametersOutsideOfTheModel) {
  const auto calibrator = MakeCalibrator({"ets"}, {});
  const auto set = [&](const Json& json) { calibrator->SetParameters(json, 3, "m.json"); };
  const auto refused = [&](const Json& json, const std::string& why) {
    testing::ExpectError(ErrorCode::kBadData, {"m.json: ", why}, [&] { set(json); });
  };
  EXPECT_NO_THROW(set({{"beta", 0.5}, {"weights", {0.5, 0.25, 0.25}}}));
  refused({{"beta", 0.0}, {"weights", {1.0, 0.0, 0.0}}}, "beta is 0, a value in (0, 1000000]");
  refused({{"beta", 0.5}, {"weights", {0.5, 0.5}}}, "2 weights, 3 are required");
  refused({{"beta", 0.5}, {"weights", {1.5, -0.5, 0.0}}}, "weights[0] is 1.5");
  refused({{"beta", 0.5}, {"weights", {1.0, 1e-20, 0.0}}}, "weights[1] is 1e-20");
  refused({{"beta", 0.5}, {"weights", {0.5, 0.4, 0.0}}}, "the weights sum to 0.9, 1 is required");
}

}  // namespace
}  // namespace segcal
