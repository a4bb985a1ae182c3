// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "calibrators/list.h"
#include "core/json.h"
#include "pipeline/model.h"
#include "segcal/error.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"
#include "tests/support/scene_files.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::FitAs;
using testing::RandomScene;
using testing::Scene;

Json ParametersOf(const Model& model) { return ModelAccess::State(model).calibrator->Parameters(); }
double GammaOf(const Model& model) { return ParametersOf(model)["gamma"].get<double>(); }

// Entropy of softmax(z) of every voxel of a case, in double.
std::vector<double> EntropiesOf(const Scene& scene, size_t i) {
  const auto n = static_cast<size_t>(scene.num_voxels());
  const size_t num_classes = scene.logits[i][0].size() / n;
  std::vector<double> entropies(n);
  for (size_t v = 0; v < n; ++v) {
    double largest = -INFINITY, sum = 0.0, weighted = 0.0;
    for (size_t c = 0; c < num_classes; ++c)
      largest = std::max(largest, static_cast<double>(scene.logits[i][0][c * n + v]));
    for (size_t c = 0; c < num_classes; ++c) {
      const double u = static_cast<double>(scene.logits[i][0][c * n + v]) - largest;
      sum += std::exp(u);
      weighted += u * std::exp(u);
    }
    entropies[v] = std::log(sum) - weighted / sum;
  }
  return entropies;
}

// Share of the correct voxels that are above the threshold.
double MisCoverage(const Scene& scene, double gamma) {
  double correct = 0.0, away = 0.0;
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    const std::vector<int32_t> decision =
        testing::Argmax(scene.logits[i][0], scene.dataset.num_classes());
    const std::vector<double> entropies = EntropiesOf(scene, i);
    for (size_t v = 0; v < entropies.size(); ++v) {
      if (scene.labels[i][v] != decision[v]) continue;
      correct += 1.0;
      away += entropies[v] > gamma ? 1.0 : 0.0;
    }
  }
  return away / correct;
}

// 500 voxels are held aside: the share sent away is alpha within four standard deviations.
TEST(MetaCal, SendsAwayTheShareOfCorrectVoxelsItWasAskedFor) {
  const Scene scene = RandomScene({.num_cases = 3, .shape = {200, 200}});
  for (const double alpha : {0.05, 0.2}) {
    const Model model = FitAs("meta(z, alpha=" + std::to_string(alpha) + ")", scene);
    const double tolerance = 4.0 * std::sqrt(alpha * (1.0 - alpha) / 500.0);
    EXPECT_NEAR(MisCoverage(scene, GammaOf(model)), alpha, tolerance) << alpha;
    EXPECT_EQ(model.report().status, FitStatus::kConverged);
  }
}

TEST(MetaCal, IsUniformAboveTheThresholdAndTemperedBelow) {
  // Without ties: `ts` keeps decisions, `meta` does not.
  const Scene scene =
      testing::WithoutTies(RandomScene({.num_cases = 1, .num_classes = 4, .shape = {60, 70}}));
  const std::vector<double> entropies = EntropiesOf(scene, 0);
  const std::vector<int32_t> decision = testing::Argmax(scene.logits[0][0], 4);
  const size_t n = entropies.size();
  for (const char* name : {"meta", "meta_star"}) {
    const Model model = FitAs(std::string(name) + "(z, alpha=0.3)", scene);
    const std::vector<float> q = ApplyInMemory(model, scene, 0);
    const Model ts =
        testing::TemperatureModel(scene.dataset, ParametersOf(model)["beta"].get<double>());
    const std::vector<float> tempered = ApplyInMemory(ts, scene, 0);
    const double gamma = GammaOf(model);
    int64_t above = 0;
    for (size_t v = 0; v < n; ++v) {
      if (std::fabs(entropies[v] - gamma) < 1e-6) continue;  // decided by rounding
      const bool away = entropies[v] > gamma;
      above += away ? 1 : 0;
      for (size_t c = 0; c < 4; ++c) {
        const float other = away ? 0.25f : tempered[c * n + v];
        const bool raised = name[4] != '\0' && away && decision[v] == static_cast<int32_t>(c);
        ASSERT_EQ(q[c * n + v], raised ? std::nextafter(0.25f, 1.0f) : other) << name << " " << v;
      }
    }
    EXPECT_GT(above, 100);
    EXPECT_LT(above, static_cast<int64_t>(n) - 100);
  }
}

// Independent: the temperature of the voxels below the threshold, by bisection of the slope. The
// voxels held aside, 500 of 36 000, move it a little.
TEST(MetaCal, FitsTheTemperatureBelowTheThreshold) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {200, 200}});
  const Model model = FitAs("meta(z)", scene);
  const std::vector<double> entropies = EntropiesOf(scene, 0);
  const auto n = static_cast<size_t>(scene.num_voxels());
  const double gamma = GammaOf(model);
  const auto slope = [&](double beta) {
    double total = 0.0;
    for (size_t v = 0; v < n; ++v) {
      if (scene.labels[0][v] == 255 || !(entropies[v] < gamma)) continue;
      double sum = 0.0, weighted = 0.0;
      for (size_t c = 0; c < 3; ++c) {
        const auto z = static_cast<double>(scene.logits[0][0][c * n + v]);
        sum += std::exp(beta * z);
        weighted += z * std::exp(beta * z);
      }
      const auto label = static_cast<size_t>(scene.labels[0][v]);
      total += weighted / sum - static_cast<double>(scene.logits[0][0][label * n + v]);
    }
    return total;
  };
  double low = 0.05, high = 2.0;
  for (int i = 0; i < 40; ++i) (slope(0.5 * (low + high)) > 0.0 ? high : low) = 0.5 * (low + high);
  EXPECT_NEAR(ParametersOf(model)["beta"].get<double>(), low, 0.01);
  const Certificate& certificate = model.report().certificates.at(0);
  EXPECT_LE(certificate.gradient, 1e-6);
  EXPECT_LT(certificate.voxels, model.report().data.labelled - 500);
}

TEST(MetaCal, DependsOnTheSeedAndNotOnThreads) {
  const Scene scene = RandomScene({.num_cases = 3, .shape = {90, 110}});
  const std::string one = FitAs("meta(z)", scene, 3, 1).ToJson();
  EXPECT_EQ(one, FitAs("meta(z)", scene, 3, 3).ToJson());
  EXPECT_NE(one, FitAs("meta(z)", scene, 4, 1).ToJson());
}

// Accuracy falls with entropy in the scene: the voxels below the threshold are as accurate as
// asked, within four standard deviations of the accuracy of the half of 500 held voxels that is
// below it.
TEST(MetaCal, ReachesTheAccuracyItWasAskedFor) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 3, .shape = {200, 200}});
  const Model model = FitAs("meta(z, mode=accuracy, accuracy=0.8)", scene);
  const double gamma = GammaOf(model);
  double hits = 0.0, all = 0.0, overall = 0.0, labelled = 0.0;
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<int32_t> decision = testing::Argmax(scene.logits[i][0], 3);
    const std::vector<double> entropies = EntropiesOf(scene, i);
    for (size_t v = 0; v < entropies.size(); ++v) {
      if (scene.labels[i][v] == 255) continue;
      const double hit = scene.labels[i][v] == decision[v] ? 1.0 : 0.0;
      overall += hit;
      labelled += 1.0;
      if (entropies[v] > gamma) continue;
      all += 1.0;
      hits += hit;
    }
  }
  EXPECT_LT(overall / labelled, 0.7);
  EXPECT_NEAR(hits / all, 0.8, 4.0 * std::sqrt(0.8 * 0.2 / 250.0));
}

TEST(MetaCal, WithoutAThresholdScalesAllVoxels) {
  const Scene scene = RandomScene({.shape = {60, 60}});
  const Model model = FitAs("meta(z, mode=accuracy, accuracy=0.01)", scene);
  EXPECT_TRUE(ParametersOf(model)["gamma"].is_null());
  EXPECT_FALSE(model.report().warnings.empty());
  const Scene few = RandomScene({.num_cases = 1, .shape = {9}});
  const Model small = FitAs("meta_star(z)", few);
  EXPECT_TRUE(ParametersOf(small)["gamma"].is_null());
  EXPECT_NE(small.report().warnings.back().find("10 are required"), std::string::npos)
      << small.report().warnings.back();
}

TEST(MetaCal, OneClassHasNothingToFit) {
  const Scene scene = RandomScene({.num_classes = 1});
  const Model model = FitAs("meta(z)", scene);
  EXPECT_EQ(model.report().status, FitStatus::kNothingToFit);
  for (const float q : ApplyInMemory(model, scene, 0)) ASSERT_EQ(q, 1.0f);
}

TEST(MetaCal, ClaimsAndParametersAreChecked) {
  EXPECT_TRUE(MakeCalibrator({"meta"}, {})->Claims().empty());
  const auto calibrator = MakeCalibrator({"meta_star"}, {});
  ASSERT_EQ(calibrator->Claims().size(), 1u);
  EXPECT_TRUE(calibrator->Claims()[0].holds);
  const auto set = [&](const Json& json) { calibrator->SetParameters(json, 3, "m.json"); };
  EXPECT_NO_THROW(set({{"gamma", nullptr}, {"beta", 0.5}}));
  testing::ExpectError(ErrorCode::kBadData, {"m.json: gamma is -1"}, [&] {
    set({{"gamma", -1.0}, {"beta", 0.5}});
  });
  testing::ExpectError(ErrorCode::kBadData, {"m.json: beta is -0.5, a value in [0, 1000000]"}, [&] {
    set({{"gamma", 1.0}, {"beta", -0.5}});
  });
  EXPECT_THROW(MakeCalibrator({"meta"}, {{"mode", "magic"}}), Error);
  EXPECT_THROW(MakeCalibrator({"meta"}, {{"alpha", "1.5"}}), Error);
}

}  // namespace
}  // namespace segcal
