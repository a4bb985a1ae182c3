// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_location.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/json.h"
#include "methods/affine/affine_for_test.h"
#include "pipeline/model.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::ExpectError;
using testing::FitAs;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;

// 800 voxels, exact in float32 at every offset that the tests use.
Scene SmallScene(double offset = 0.0, double factor = 1.0) {
  Scene scene = RandomScene(
      {.num_cases = 1, .num_classes = kClasses, .shape = {20, 40}, .ignored = 0.0, .offset = 0.5});
  for (float& z : scene.logits[0][0])
    z = static_cast<float>(factor * static_cast<double>(z) + offset);
  return scene;
}

Json ExpertOf(const Model& model) {
  return ModelAccess::State(model).calibrator->Parameters()["experts"][0];
}

// Differences of rows do not depend on the gauge.
double RowDifference(const Model& model, size_t row, size_t column) {
  const Json weights = ExpertOf(model)["weights"];
  return weights[row][column].get<double>() - weights[0][column].get<double>();
}

// Without a penalty the offset moves the bias and nothing else, and certificates do not see it.
TEST(AffineLocation, OffsetsChangeTheBiasAlone) {
  for (const char* pipeline : {"ms(z, kappa=0)", "vs(z, kappa=0)"}) {
    const Model plain = FitAs(pipeline, SmallScene());
    for (const double offset : {-40.0, 100.0, 4096.0}) {
      const Model model = FitAs(pipeline, SmallScene(offset));
      EXPECT_EQ(model.report().status, FitStatus::kConverged) << pipeline << " " << offset;
      EXPECT_LE(model.report().certificates[0].gradient, 1e-6);
      EXPECT_NEAR(model.report().nll_after, plain.report().nll_after, 1e-6);
      for (size_t r = 1; r < kClasses; ++r) {
        for (size_t k = 0; k < kClasses; ++k) {
          EXPECT_NEAR(RowDifference(model, r, k), RowDifference(plain, r, k), 1e-4)
              << pipeline << " " << offset;
        }
      }
    }
  }
}

// Offsets that differ from voxel to voxel make logits wide; that a sign says nothing is learned.
TEST(AffineLocation, WideLogitsConverge) {
  Scene wide = SmallScene();
  for (size_t i = 0; i < wide.logits[0][0].size(); ++i)
    wide.logits[0][0][i] += i % 2 == 0 ? 128.0f : -128.0f;
  const Model model = FitAs("ms(z, kappa=0)", wide);
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_LE(model.report().certificates[0].gradient, 1e-6);
  EXPECT_NEAR(
      model.report().nll_after, FitAs("ms(z, kappa=0)", SmallScene()).report().nll_after, 0.01);
}

// The objective is that of W z + b, wherever it is counted from: the penalty of a bias that makes
// up for an offset of 100 keeps the row sums together.
TEST(AffineLocation, PenaltiesAreThoseOfTheLogitsThemselves) {
  const Model model = FitAs("ms(z, kappa=1e-2, anchor=identity)", SmallScene(/*offset=*/100.0));
  EXPECT_EQ(model.report().status, FitStatus::kConverged);
  EXPECT_TRUE(model.report().certificates[0].gap.has_value());
  const Json expert = ExpertOf(model);
  for (size_t r = 1; r < kClasses; ++r) {
    double difference = 0.0;
    for (size_t k = 0; k < kClasses; ++k) difference += RowDifference(model, r, k);
    EXPECT_LT(std::fabs(difference), 0.01);
    EXPECT_LT(std::fabs(expert["bias"][r].get<double>()), 0.1);
  }
}

TEST(AffineLocation, ModelsReadBackToTheSameBits) {
  const TempFolder folder;
  for (const char* pipeline : {"ms(z)", "vs(z)"}) {
    const Scene scene = SmallScene(/*offset=*/100.0);
    const Model model = FitAs(pipeline, scene);
    EXPECT_NEAR(
        ModelAccess::State(model).calibrator->Parameters()["centre"].get<double>(), 100.0, 1.0);
    const Model read = Model::Load(folder.Put("model.json", model.ToJson()));
    EXPECT_TRUE(ApplyInMemory(read, scene, 0) == ApplyInMemory(model, scene, 0));
    Json hostile = ParseJson(model.ToJson(), "model");
    hostile["parameters"]["centre"] = 1e300;
    ExpectError(ErrorCode::kBadData, {"centre", "1e+300"}, [&] {
      Model::Load(folder.Put("model.json", DumpJson(hostile)));
    });
  }
}

TEST(AffineLocation, LeavesOrdinaryLogitsAsTheyAre) {
  const Model model = FitAs("ms(z)", SmallScene());
  EXPECT_FALSE(ModelAccess::State(model).calibrator->Parameters().contains("centre"));
}

// Methods that do not see offsets have no such limit.
TEST(AffineLocation, RefusesLogitsThatLeaveNoDigits) {
  const Scene huge = SmallScene(/*offset=*/0.0, /*factor=*/1e18);
  for (const std::string name : {"ms", "vs"}) {
    ExpectError(ErrorCode::kBadData, {name, "e+18", "dc"}, [&] { FitAs(name + "(z)", huge); });
  }
  const TempFolder folder;
  for (const char* pipeline : {"ms_c(z)", "dc(z)", "cms_ap(z)"}) {
    Model::Load(folder.Put("model.json", FitAs(pipeline, huge).ToJson()));
  }
}

TEST(AffineLocation, ParametersAreOneMapInBothCoordinates) {
  const AffineShape shape{
      .space = AffineSpace::kRaw, .num_classes = 2, .centre = 10.0, .scale = 4.0};
  // W = [1 2; 3 5], b = [-7, 7]: at z = 10 the scores are 23 and 87, which differ by 64.
  const std::vector<double> at_centre = ParametersAtCentre(shape, {1, 2, -7, 3, 5, 7});
  EXPECT_EQ(at_centre, (std::vector<double>{4, 8, -32, 12, 20, 32}));
  EXPECT_EQ(ParametersOfLogits(shape, at_centre), (std::vector<double>{1, 2, -7, 3, 5, 7}));
}

}  // namespace
}  // namespace segcal
