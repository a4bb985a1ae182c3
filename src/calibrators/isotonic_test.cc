// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "core/json.h"
#include "pipeline/model.h"
#include "segcal/error.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::FitAs;
using testing::RandomScene;
using testing::Scene;

// Known truth: with two classes and labels drawn from softmax(beta z), the probability of class 0
// given p_0 = p is 1 / (1 + ((1 - p) / p)^beta).
TEST(Isotonic, RecoversAMonotoneTruth) {
  const Scene scene = RandomScene(
      {.num_cases = 2, .num_classes = 2, .shape = {500, 500}, .true_beta = 0.4, .ignored = 0.0});
  const Model none = FitAs("none(z)", scene);
  const std::vector<float> p = ApplyInMemory(none, scene, 0);
  for (const char* pipeline : {"irm(z)", "irova(z)"}) {
    const std::vector<float> q = ApplyInMemory(FitAs(pipeline, scene), scene, 0);
    double error = 0.0;
    const size_t n = p.size() / 2;
    for (size_t v = 0; v < n; ++v) {
      const auto x = static_cast<double>(p[v]);
      const double truth = 1.0 / (1.0 + std::pow((1.0 - x) / x, 0.4));
      error += std::fabs(static_cast<double>(q[v]) - truth);
    }
    EXPECT_LT(error / static_cast<double>(n), 0.01) << pipeline;
  }
}

// The fit by hand: a voxel of every kind, few distinct probabilities.
TEST(Isotonic, CountsByHand) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {8}});
  // p of class 0: 1/5 four times (one hit), 4/5 four times (three hits).
  for (size_t v = 0; v < 8; ++v) {
    scene.logits[0][0][v] = v < 4 ? 0.0f : std::log(16.0f);
    scene.logits[0][0][8 + v] = std::log(4.0f);
    scene.labels[0][v] = v == 0 || v > 4 ? 0 : 1;
  }
  // Class 0: 1 of 4, 3 of 4; class 1 the same; pooled 2 of 8 and 6 of 8.
  const std::vector<float> irova = ApplyInMemory(FitAs("irova(z)", scene), scene, 0);
  EXPECT_NEAR(irova[0], 1.5 / 5.0, 1e-7);
  EXPECT_NEAR(irova[4], 3.5 / 5.0, 1e-7);
  const std::vector<float> irm = ApplyInMemory(FitAs("irm(z)", scene), scene, 0);
  EXPECT_NEAR(irm[0], (2.5 / 9.0 + 0.2e-6) / (1.0 + 1e-6), 1e-7);
  EXPECT_NEAR(irm[4], (6.5 / 9.0 + 0.8e-6) / (1.0 + 1e-6), 1e-7);
  const std::vector<float> plain = ApplyInMemory(FitAs("irova(z, smoothing=0)", scene), scene, 0);
  EXPECT_NEAR(plain[0], 0.25, 1e-7);
  EXPECT_NEAR(plain[4], 0.75, 1e-7);
}

// Without smoothing a class that never came true gets 0; here all three are given such a map.
TEST(Isotonic, ARowOfZerosGivesTheInput) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {40}});
  const Json zero = {{"lower", {0.0}}, {"upper", {1.0}}, {"values", {0.0}}};
  const Model model =
      testing::WithParameters(FitAs("irova(z)", scene), {{"maps", {zero, zero, zero}}});
  EXPECT_TRUE(ApplyInMemory(model, scene, 0) == ApplyInMemory(FitAs("none(z)", scene), scene, 0));
}

TEST(Isotonic, GroupsValuesOnlyWhenTheyDoNotFitAndSaysSo) {
  const Scene scene = RandomScene({.num_classes = 3, .shape = {100, 100}});
  const Model exact = FitAs("irm(z)", scene);
  EXPECT_EQ(exact.report().solver, "pool adjacent violators, every value apart");
  const Model coarse = FitAs("irm(z, cells=4000)", scene);
  EXPECT_NE(coarse.report().solver.find("values grouped to 2^-"), std::string::npos)
      << coarse.report().solver;
  const std::vector<float> a = ApplyInMemory(exact, scene, 0);
  const std::vector<float> b = ApplyInMemory(coarse, scene, 0);
  double mean = 0.0;
  for (size_t i = 0; i < a.size(); ++i) mean += std::fabs(static_cast<double>(a[i] - b[i]));
  EXPECT_LT(mean / static_cast<double>(a.size()), 2e-3);
}

TEST(Isotonic, OneClassAndAnAbsentClassHaveDefinedResults) {
  const Scene one = RandomScene({.num_classes = 1});
  for (const float q : ApplyInMemory(FitAs("irm(z)", one), one, 0)) ASSERT_EQ(q, 1.0f);
  Scene absent = RandomScene({.num_classes = 3});
  for (auto& labels : absent.labels) {
    for (int32_t& label : labels) label = label == 2 ? 0 : label;
  }
  const std::vector<float> q = ApplyInMemory(FitAs("irova(z)", absent), absent, 0);
  const size_t n = q.size() / 3;
  for (size_t v = 0; v < n; ++v) ASSERT_LT(q[2 * n + v], 0.01f);
}

TEST(Isotonic, ClaimsHoldAfterAFit) {
  const Model model = FitAs("irm(z)", RandomScene({}));
  const std::vector<Claim> claims = ModelAccess::State(model).calibrator->Claims();
  ASSERT_EQ(claims.size(), 1u);
  EXPECT_TRUE(claims[0].holds) << claims[0].found;
  EXPECT_TRUE(ModelAccess::State(FitAs("irova(z)", RandomScene({}))).calibrator->Claims().empty());
}

TEST(Isotonic, RefusesTheWrongNumberOfMaps) {
  const Json map = {{"lower", {0.0}}, {"upper", {1.0}}, {"values", {0.5}}};
  const auto refused = [&](const char* name, const Json& maps, const std::string& why) {
    testing::ExpectError(ErrorCode::kBadData, {"m.json: ", why}, [&] {
      MakeCalibrator({name}, {})->SetParameters({{"maps", maps}}, 3, "m.json");
    });
  };
  refused("irm", {map, map}, "2 maps, 1 are required");
  refused("irova", {map, map}, "2 maps, 3 are required");
  Json broken = map;
  broken["values"] = {2.0};
  refused("irova", {map, broken, map}, "maps[1]: values[0] is 2");
}

}  // namespace
}  // namespace segcal
