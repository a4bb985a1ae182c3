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

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::FitAs;
using testing::RandomScene;
using testing::Scene;

Json ClassOf(const Model& model, size_t c) {
  return ModelAccess::State(model).calibrator->Parameters()["classes"][c];
}

// p of class 0 is 1/5 four times (one hit) and 4/5 four times (three hits).
Scene EightVoxels() {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 2, .shape = {8}});
  for (size_t v = 0; v < 8; ++v) {
    scene.logits[0][0][v] = v < 4 ? 0.0f : std::log(16.0f);
    scene.logits[0][0][8 + v] = std::log(4.0f);
    scene.labels[0][v] = v == 0 || v > 4 ? 0 : 1;
  }
  return scene;
}

TEST(HistogramBinning, CountsByHand) {
  const Scene scene = EightVoxels();
  const Model model = FitAs("hist(z, bins=4)", scene);
  const Json own = ClassOf(model, 0);
  EXPECT_EQ(own["upper"], Json({0.25, 0.5, 0.75, 1.0}));
  // Bins without voxels keep their middle.
  EXPECT_EQ(own["values"], Json({1.5 / 5.0, 0.375, 0.625, 3.5 / 5.0}));
  const std::vector<float> q = ApplyInMemory(model, scene, 0);
  EXPECT_NEAR(q[0], 0.3, 1e-7);
  EXPECT_NEAR(q[4], 0.7, 1e-7);
  EXPECT_NEAR(q[8], 0.7, 1e-7);
}

TEST(HistogramBinning, ByMassCutsWhereTheVoxelsAre) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {90, 100}});
  const Model model = FitAs("hist(z, bins=9, edges=mass)", scene);
  int64_t labelled = 0;
  for (const int32_t label : scene.labels[0]) labelled += label != 255 ? 1 : 0;
  const std::vector<float> p = ApplyInMemory(FitAs("none(z)", scene), scene, 0);
  for (size_t c = 0; c < 3; ++c) {
    const auto upper = ClassOf(model, c)["upper"].get<std::vector<double>>();
    ASSERT_EQ(upper.size(), 9u);
    EXPECT_EQ(upper.back(), 1.0);
    for (size_t k = 0; k < 9; ++k) {
      int64_t inside = 0;
      for (size_t v = 0; v < 9000; ++v) {
        const auto x = static_cast<double>(p[c * 9000 + v]);
        inside += scene.labels[0][v] != 255 && x <= upper[k] && (k == 0 || x > upper[k - 1]);
      }
      // Logits are multiples of 2^-8, so few probabilities are equal.
      EXPECT_NEAR(static_cast<double>(inside), static_cast<double>(labelled) / 9.0, 5.0) << k;
    }
  }
}

// Known truth: two classes, labels from softmax(beta z): the frequency in a bin is the mean of the
// true probability there.
TEST(HistogramBinning, FindsTheFrequencyOfEveryBin) {
  const Scene scene = RandomScene(
      {.num_cases = 2, .num_classes = 2, .shape = {500, 500}, .true_beta = 0.4, .ignored = 0.0});
  const std::vector<float> p = ApplyInMemory(FitAs("none(z)", scene), scene, 0);
  std::vector<double> sum(15, 0.0), count(15, 0.0);
  for (size_t v = 0; v < 250000; ++v) {
    const auto x = static_cast<double>(p[v]);
    const auto bin = static_cast<size_t>(std::min(14.0, std::ceil(15.0 * x) - 1.0));
    sum[bin] += 1.0 / (1.0 + std::pow((1.0 - x) / x, 0.4));
    count[bin] += 1.0;
  }
  const auto values = ClassOf(FitAs("hist(z)", scene), 0)["values"].get<std::vector<double>>();
  ASSERT_EQ(values.size(), 15u);
  for (size_t k = 0; k < 15; ++k) {
    // Five standard deviations of a frequency; both cases are in it.
    EXPECT_NEAR(values[k], sum[k] / count[k], 5.0 * 0.5 / std::sqrt(2.0 * count[k]) + 1e-3) << k;
  }
}

TEST(HistogramBinning, OneClassStaysCertain) {
  const Scene scene = RandomScene({.num_classes = 1});
  for (const float q : ApplyInMemory(FitAs("hist(z)", scene), scene, 0)) ASSERT_EQ(q, 1.0f);
}

TEST(HistogramBinning, RefusesParametersOutsideOfTheModel) {
  const auto calibrator = MakeCalibrator({"hist"}, {});
  const auto one = [](const Json& upper, const Json& values) {
    return Json{{"upper", upper}, {"values", values}};
  };
  const auto refused = [&](const Json& json, const std::string& why) {
    testing::ExpectError(ErrorCode::kBadData, {"m.json: ", why}, [&] {
      calibrator->SetParameters({{"classes", Json::array({json, one({1.0}, {0.5})})}}, 2, "m.json");
    });
  };
  EXPECT_NO_THROW(calibrator->SetParameters(
      {{"classes", Json::array({one({0.5, 1.0}, {0.1, 0.2})})}}, 1, "m.json"));
  refused(one({0.5, 0.5}, {0.1, 0.2}), "classes[0]: upper[1] is 0.5");
  refused(one({0.1, 1.0}, {0.1, 0.2}), "upper[0] is 0.1, ascending float32 values");
  refused(one({0.5, 1.0}, {0.1, 1.2}), "values[1] is 1.2");
  refused(one({0.5}, {0.1, 0.2}), "1 upper and 2 values");
  testing::ExpectError(ErrorCode::kBadData, {"m.json: 1 classes, 3 are required"}, [&] {
    calibrator->SetParameters({{"classes", Json::array({one({1.0}, {0.5})})}}, 3, "m.json");
  });
  EXPECT_THROW(MakeCalibrator({"hist"}, {{"edges", "taste"}}), Error);
}

}  // namespace
}  // namespace segcal
