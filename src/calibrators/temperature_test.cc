// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "core/json.h"
#include "methods/shared/temperature_pass.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/error.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::SceneOptions;

const Pooling kMeanLogitsPooling{};

double BetaOf(const Model& model) {
  return ModelAccess::State(model).calibrator->Parameters()["beta"].get<double>();
}
Model FitTs(const Scene& scene, int threads = 2) {
  return FitStream(*scene.Stream(threads), ParsePipeline("ts(z)"), 0);
}

// Property: the analytic slope (T3), curvature (T4) and third derivative (T5) match central
// differences of the loss (T2), the slope and the curvature.
TEST(TemperatureObjective, DerivativesMatchFiniteDifferences) {
  const Scene scene = RandomScene({.num_classes = 7});
  const auto stream = scene.Stream(2);
  const auto at = [&](double beta) {
    return MeanPoint(beta, TemperaturePass(*stream, "test", kMeanLogitsPooling, beta));
  };
  for (const double beta : {0.1, 0.5, 1.0, 3.0}) {
    const double h = 5e-3 * beta;  // the sums are good to about 4e-8
    const Point1D low = at(beta - h), mid = at(beta), high = at(beta + h);
    EXPECT_NEAR(mid.slope, (high.value - low.value) / (2 * h), 2e-5) << beta;
    EXPECT_NEAR(mid.curvature, (high.slope - low.slope) / (2 * h), 2e-5) << beta;
    EXPECT_NEAR(mid.third, (high.curvature - low.curvature) / (2 * h), 3e-4) << beta;
  }
}

// Known truth: labels drawn at beta = 0.5.
TEST(TemperatureScaling, RecoversTheTemperatureLabelsWereDrawnFrom) {
  const Scene scene = RandomScene({.num_cases = 4, .shape = {300, 400}, .true_beta = 0.5});
  const Model model = FitTs(scene);
  EXPECT_NEAR(BetaOf(model), 0.5, 0.005);
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  ASSERT_EQ(model.report().certificates.size(), 1u);
  EXPECT_LE(model.report().certificates[0].gradient, 1e-6);
  EXPECT_LE(model.report().passes, 4);
}

// Ding et al. 2021, Theorem 4: at an interior optimum the NLL is the entropy of the output.
TEST(TemperatureScaling, LossEqualsEntropyAtTheOptimum) {
  const Scene scene = RandomScene({.seed = 3, .num_classes = 4, .ignored = 0.0});
  const Model model = FitTs(scene);
  const double beta = BetaOf(model);
  double entropy = 0.0;
  int64_t count = 0;
  for (const auto& members : scene.logits) {
    for (int64_t v = 0; v < scene.num_voxels(); ++v) {
      double sum = 0.0, weighted = 0.0;
      for (int64_t c = 0; c < 4; ++c) {
        const double x =
            beta * static_cast<double>(members[0][static_cast<size_t>(c * scene.num_voxels() + v)]);
        sum += std::exp(x);
        weighted += std::exp(x) * x;
      }
      entropy += std::log(sum) - weighted / sum;
      ++count;
    }
  }
  EXPECT_NEAR(model.report().nll_after, entropy / static_cast<double>(count), 2e-7);
}

Scene WithLabels(Scene scene, const std::function<int32_t(const Scene&, size_t, int64_t)>& label) {
  for (size_t i = 0; i < scene.labels.size(); ++i) {
    for (int64_t v = 0; v < scene.num_voxels(); ++v)
      scene.labels[i][static_cast<size_t>(v)] = label(scene, i, v);
  }
  return scene;
}

int32_t ClassByRank(const Scene& scene, size_t i, int64_t v, bool largest) {
  const int64_t n = scene.num_voxels();
  int32_t best = 0;
  for (int64_t c = 1; c < scene.dataset.num_classes(); ++c) {
    const float a = scene.logits[i][0][static_cast<size_t>(c * n + v)];
    const float b = scene.logits[i][0][static_cast<size_t>(best * n + v)];
    if (largest ? a > b : a < b) best = static_cast<int32_t>(c);
  }
  return best;
}

TEST(TemperatureScaling, AllCorrectLabelsEndAtTheCapAndSaySo) {
  const Scene scene = WithLabels(RandomScene({}), [](const Scene& s, size_t i, int64_t v) {
    return ClassByRank(s, i, v, true);
  });
  const Model model = FitTs(scene);
  EXPECT_EQ(BetaOf(model), 1e6);
  EXPECT_EQ(model.report().status, FitStatus::kAtBound);
  EXPECT_FALSE(model.report().certificates[0].bounded);
  EXPECT_FALSE(model.report().warnings.empty());
  EXPECT_TRUE(std::isfinite(model.report().nll_after));
}

TEST(TemperatureScaling, AllWrongLabelsEndAtInfiniteTemperature) {
  const Scene scene = WithLabels(RandomScene({}), [](const Scene& s, size_t i, int64_t v) {
    return ClassByRank(s, i, v, false);
  });
  const Model model = FitTs(scene);
  EXPECT_EQ(BetaOf(model), 0.0);
  EXPECT_EQ(model.report().status, FitStatus::kAtBound);
  EXPECT_NEAR(model.report().nll_after, std::log(5.0), 1e-6);
}

TEST(TemperatureScaling, OneClassHasNothingToFit) {
  const Model model = FitTs(RandomScene({.num_classes = 1}));
  EXPECT_EQ(BetaOf(model), 1.0);
  EXPECT_EQ(model.report().status, FitStatus::kNothingToFit);
  EXPECT_EQ(model.report().nll_after, 0.0);
}

TEST(TemperatureScaling, TwoClassesConverge) {
  const Model model = FitTs(RandomScene({.num_classes = 2, .shape = {200, 200}}));
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_NEAR(BetaOf(model), 0.5, 0.02);
}

TEST(TemperatureScaling, NothingLabelledIsAnErrorThatSaysSo) {
  const Scene scene =
      WithLabels(RandomScene({}), [](const Scene&, size_t, int64_t) { return 255; });
  try {
    FitTs(scene);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadData);
    EXPECT_NE(std::string(error.what()).find("no labelled voxel"), std::string::npos)
        << error.what();
  }
}

TEST(TemperatureScaling, ModelBytesDoNotDependOnThreads) {
  const Scene scene = RandomScene({.num_cases = 3, .num_members = 2, .shape = {130, 97}});
  const std::string one = FitTs(scene, 1).ToJson();
  EXPECT_EQ(one, FitTs(scene, 2).ToJson());
  EXPECT_EQ(one, FitTs(scene, 3).ToJson());
}

TEST(TemperatureScaling, OptionsOutOfRangeAreRefused) {
  EXPECT_THROW(MakeCalibrator({"ts"}, {{"gradient_tolerance", "0"}}), Error);
  EXPECT_THROW(MakeCalibrator({"ts"}, {{"max_beta", "1e9"}}), Error);
  EXPECT_THROW(MakeCalibrator({"ts"}, {{"speed", "1"}}), Error);
  EXPECT_NO_THROW(MakeCalibrator({"ts"}, {{"max_iterations", "5"}}));
}

}  // namespace
}  // namespace segcal
