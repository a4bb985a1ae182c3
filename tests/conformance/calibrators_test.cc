// SPDX-License-Identifier: Apache-2.0
// Promises that every calibrator keeps, including ones added tomorrow.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "calibrators/list.h"
#include "core/json.h"
#include "core/rng.h"
#include "data/reduce.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/apply.h"
#include "segcal/error.h"
#include "tests/conformance/method_test.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;

class EveryCalibrator : public testing::MethodTest {
 protected:
  static bool IsPixelWise(const Model& model) {
    const Needs needs = ModelAccess::State(model).calibrator->needs();
    return needs.halo == 0 && !needs.image && !needs.whole_case;
  }
  double LossOf(const Model& model, const Scene& scene) const;
};

std::filesystem::path Docs() {
  return std::filesystem::path(__FILE__).parent_path().parent_path().parent_path() / "docs";
}

std::string TextOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_P(EveryCalibrator, DescribesItself) {
  for (const char c : std::string(info().name)) {
    EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_') << info().name;
  }
  const std::string summary = info().summary;
  ASSERT_FALSE(summary.empty());
  EXPECT_EQ(summary.back(), '.') << summary;
  EXPECT_TRUE(std::filesystem::exists(Docs() / "methods" / (std::string(info().page) + ".md")));
  EXPECT_NE(TextOf(Docs() / "references.md").find(info().reference), std::string::npos)
      << info().reference;
}

TEST_P(EveryCalibrator, KnowsItsDefaultsAndRefusesOtherOptions) {
  const PipelineSpec spec = ParsePipeline(Pipeline());
  EXPECT_NO_THROW(MakeCalibrator(spec.stages, {}));
  OptionMap defaults;
  for (const auto& [key, value] : info().default_options())
    defaults[info().name + ("." + key)] = value;
  EXPECT_NO_THROW(MakeCalibrator(spec.stages, defaults));
  EXPECT_THROW(MakeCalibrator(spec.stages, {{std::string(info().name) + ".no_such_option", "1"}}),
               Error);
}

TEST_P(EveryCalibrator, CountsItsParameters) {
  const auto calibrator = MakeCalibrator(ParsePipeline(Pipeline()).stages, {});
  for (const int64_t num_classes : {2, 5, 20}) {
    const ParameterCounts counts = calibrator->counts(num_classes);
    EXPECT_GE(counts.identifiable, 0);
    EXPECT_GE(counts.optimised, counts.identifiable);
  }
}

// What every fit sums up can be packed, sent and joined in any order: the model stays the same.
TEST_P(EveryCalibrator, FitsTheSameWhereSumsGoThroughBytes) {
  const Scene scene = MakeScene({.num_cases = 6, .num_classes = 4});
  const std::string expected = FitTo(scene, 3).ToJson();
  reduce_through_bytes = true;
  const std::string joined = FitTo(scene, 3).ToJson();
  reduce_through_bytes = false;
  EXPECT_EQ(joined, expected);
}

// Sums in double of emitted float32 rows: (C + 8) 2^-24.
void ExpectDistributions(const std::vector<float>& probs, int64_t num_classes) {
  const size_t n = probs.size() / static_cast<size_t>(num_classes);
  const double tolerance = static_cast<double>(num_classes + 8) * 0x1p-24;
  for (size_t v = 0; v < n; ++v) {
    double sum = 0.0;
    for (size_t c = 0; c < static_cast<size_t>(num_classes); ++c) {
      const float q = probs[c * n + v];
      ASSERT_TRUE(q >= 0.0f && q <= 1.0f + tolerance) << q << " at voxel " << v;
      sum += static_cast<double>(q);
    }
    ASSERT_NEAR(sum, 1.0, tolerance) << "voxel " << v;
  }
}

// The checks of a sanitizer make a fit of many classes ten times longer.
#ifdef SEGCAL_SANITIZED
constexpr int64_t kManyClasses = 10;
#else
constexpr int64_t kManyClasses = 20;
#endif

TEST_P(EveryCalibrator, EmitsDistributions) {
  for (const int64_t num_classes : {int64_t{1}, int64_t{2}, int64_t{5}, kManyClasses}) {
    const Scene scene =
        MakeScene({.num_members = 2, .num_classes = num_classes, .shape = {41, 43}});
    for (const char* pooling : {"z", "p", "z1"}) {
      // A fit of many classes takes seconds: one of the poolings has to do.
      if (num_classes == kManyClasses && pooling[0] != 'p') continue;
      const Model model = FitTo(scene, 2, pooling);
      for (size_t i = 0; i < scene.logits.size(); ++i) {
        ExpectDistributions(Applied(model, scene, i), num_classes);
      }
    }
  }
}

// Rows no network should emit: equal, impossible classes, huge, tiny.
Scene Extremes() {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = 4, .shape = {15, 20}});
  const float rows[][4] = {{0, 0, 0, 0},
                           {1e30f, -1e30f, 0, 1},
                           {-INFINITY, 0, -INFINITY, -INFINITY},
                           {-INFINITY, 5, 5, 1},
                           {3e38f, 3e38f, -3e38f, 0},
                           {1e-40f, 0, -1e-40f, 1e-44f},
                           {88, 0, -88, -104},
                           {-1e30f, -1e30f, -1e30f, -1.0000001e30f}};
  for (size_t v = 0; v < 300; ++v) {
    for (size_t c = 0; c < 4; ++c) scene.logits[0][0][c * 300 + v] = rows[v % 8][c];
  }
  return scene;
}

TEST_P(EveryCalibrator, EmitsDistributionsForExtremeInput) {
  const Model model = FitTo(MakeScene({.num_classes = 4}));
  ExpectDistributions(Applied(model, Complete(Extremes()), 0), 4);
}

// Independent of the fit's own sums: the loss of the emitted probabilities, in double.
double EveryCalibrator::LossOf(const Model& model, const Scene& scene) const {
  double loss = 0.0;
  double count = 0.0;
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    const std::vector<float> probs = Applied(model, scene, i);
    for (size_t v = 0; v < n; ++v) {
      if (scene.labels[i][v] == 255) continue;
      loss -= std::log(static_cast<double>(probs[static_cast<size_t>(scene.labels[i][v]) * n + v]));
      count += 1.0;
    }
  }
  return loss / count;
}

TEST_P(EveryCalibrator, NeverEndsAboveTheLossOfItsInput) {
  for (const double true_beta : {0.3, 1.0, 2.0}) {
    const Scene scene =
        MakeScene({.seed = 9, .num_classes = 4, .shape = {60, 70}, .true_beta = true_beta});
    const Model model = FitTo(scene);
    const FitReport& fit = model.report();
    EXPECT_NEAR(fit.nll_after, LossOf(model, scene), 2e-6) << true_beta;
    // Methods that count, or fit part of the voxels, do not minimise this loss.
    int64_t certified = 0;
    for (const Certificate& c : fit.certificates) certified += c.voxels;
    if (certified != fit.data.labelled) continue;
    EXPECT_LE(fit.nll_after, fit.nll_before) << true_beta;
    const Model identity = FitStream(*scene.Stream(1), ParsePipeline("none(z)"), 0);
    EXPECT_LE(LossOf(model, scene), LossOf(identity, scene) + 1e-7) << true_beta;
  }
}

// z + c is exact for multiples of 2^-8 within 64 and whole numbers within 2^14.
TEST_P(EveryCalibrator, ForgetsOffsetsToTheBitWhereItSaysSo) {
  const Scene scene = MakeScene({.num_members = 2, .num_classes = 5, .shape = {50, 53}});
  Scene shifted = scene;
  Rng rng(/*seed=*/3, /*stream=*/0);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (auto& members : shifted.logits) {
    for (size_t v = 0; v < n; ++v) {
      const auto offset = static_cast<float>(rng.Below((1 << 15) + 1) - (1 << 14));
      for (auto& member : members) {
        for (size_t c = 0; c < 5; ++c) member[c * n + v] += offset;
      }
    }
  }
  for (const char* pooling : {"z", "z0"}) {
    const Model model = FitTo(scene, 2, pooling);
    // Nothing is promised then, and README's table says so; what is promised has no way around.
    if (!model.translation_invariant()) GTEST_SKIP() << "declares to depend on offsets";
    for (size_t i = 0; i < scene.logits.size(); ++i) {
      EXPECT_TRUE(Applied(model, scene, i) == Applied(model, shifted, i)) << pooling;
    }
  }
}

// Logits with many ties and near ties, so that rounding has something to break.
Scene NearTies() {
  Scene scene =
      RandomScene({.seed = 5, .num_cases = 1, .num_classes = 6, .shape = {60, 61}, .scale = 1.5});
  Rng rng(/*seed=*/4, /*stream=*/0);
  for (float& z : scene.logits[0][0]) {
    z = std::trunc(z);
    if (rng.Below(3) == 0) z = std::nextafter(z, rng.Below(2) == 0 ? -100.0f : 100.0f);
  }
  return scene;
}

// What `apply` writes for the scene's only case, in this type.
std::vector<float> Emitted(const Model& model, const Scene& scene, DType dtype) {
  const TempFolder folder;
  const Dataset dataset = testing::WriteScene(scene, folder.File("data"));
  ApplyOptions options;
  options.dtype = dtype;
  const std::string file = Apply(model, dataset, folder.File("out"), options).files.at(0);
  return dtype == DType::kF16 ? testing::ReadHalves(file) : testing::ReadFloats(file);
}

TEST_P(EveryCalibrator, KeepsTheOrderItPromisesInEmittedValues) {
  const Scene scene = Complete(NearTies());
  const Model model = FitTo(scene);
  const Preserves preserves = ModelAccess::State(model).calibrator->properties().preserves;
  // Nothing is promised then, and README's table says so.
  if (preserves == Preserves::kNone) GTEST_SKIP() << "declares to keep no decision";
  const std::vector<int32_t> decision = testing::Argmax(scene.logits[0][0], 6);
  const auto n = static_cast<size_t>(scene.num_voxels());
  const float* z = scene.logits[0][0].data();
  for (const DType dtype : {DType::kF32, DType::kF16}) {
    const std::vector<float> q = Emitted(model, scene, dtype);
    for (size_t v = 0; v < n; ++v) {
      const auto winner = static_cast<size_t>(decision[v]);
      for (size_t a = 0; a < 6; ++a) {
        ASSERT_TRUE(a == winner || q[a * n + v] < q[winner * n + v])
            << Name(dtype) << " voxel " << v;
        for (size_t b = 0; b < 6 && preserves == Preserves::kOrder; ++b) {
          ASSERT_TRUE(z[a * n + v] <= z[b * n + v] || q[a * n + v] >= q[b * n + v])
              << Name(dtype) << " voxel " << v;
        }
      }
    }
  }
}

// Class c becomes class (c + 2) % C.
template <class T>
std::vector<T> Rotated(const std::vector<T>& values, size_t num_classes) {
  const size_t n = values.size() / num_classes;
  std::vector<T> rotated(values.size());
  for (size_t c = 0; c < num_classes; ++c) {
    for (size_t v = 0; v < n; ++v) rotated[(c + 2) % num_classes * n + v] = values[c * n + v];
  }
  return rotated;
}

TEST_P(EveryCalibrator, CommutesWithRelabellingTheClasses) {
  const Scene scene =
      testing::WithoutTies(MakeScene({.seed = 6, .num_classes = 5, .shape = {50, 53}}));
  Scene other = scene;
  for (auto& members : other.logits) members[0] = Rotated(members[0], 5);
  for (auto& labels : other.labels) {
    for (int32_t& label : labels) label = label == 255 ? 255 : (label + 2) % 5;
  }
  const Model model = FitTo(scene);
  // A network's first weights belong to classes by their number: it learns another map, no worse.
  if (info().composes && model.report().training.epochs > 0)
    GTEST_SKIP() << "starts from random weights";
  const std::vector<float> expected = Rotated(Applied(model, scene, 0), 5);
  const std::vector<float> found = Applied(FitTo(other), other, 0);
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-5) << i;
}

TEST_P(EveryCalibrator, SavedAndLoadedAppliesToTheBit) {
  const Scene scene = MakeScene({.seed = 8, .num_members = 2, .num_classes = 4});
  const TempFolder folder;
  const Model model = FitTo(scene, 2, "p");
  model.Save(folder.File("model.json"));
  const Model loaded = Model::Load(folder.File("model.json"));
  EXPECT_EQ(loaded.ToJson(), model.ToJson());
  EXPECT_TRUE(Applied(loaded, scene, 1) == Applied(model, scene, 1));
}

TEST_P(EveryCalibrator, RefusesParametersItDoesNotKnow) {
  const Scene scene = MakeScene({.num_classes = 3, .shape = {20, 20}});
  const Model model = FitTo(scene);
  Json parameters = ModelAccess::State(model).calibrator->Parameters();
  EXPECT_NO_THROW(testing::WithParameters(model, parameters));
  parameters["no_such_parameter"] = 1;
  EXPECT_THROW(testing::WithParameters(model, parameters), Error);
}

TEST_P(EveryCalibrator, DoesNotDependOnThreads) {
  const Scene scene =
      MakeScene({.num_cases = 3, .num_members = 2, .num_classes = 4, .shape = {97, 103}});
  const Model one = FitTo(scene, 1);
  const std::vector<float> probs = Applied(one, scene, 2, 1);
  for (const int threads : {2, 3}) {
    const Model other = FitTo(scene, threads);
    EXPECT_EQ(other.ToJson(), one.ToJson());
    EXPECT_TRUE(Applied(other, scene, 2, threads) == probs);
  }
}

TEST_P(EveryCalibrator, DoesNotSeeVoxelsWithoutLabels) {
  const Scene scene =
      MakeScene({.num_cases = 1, .num_classes = 3, .shape = {60, 60}, .ignored = 0.4});
  Scene other = scene;
  for (size_t v = 0; v < 3600; ++v) {
    if (scene.labels[0][v] != 255) continue;
    for (size_t c = 0; c < 3; ++c)
      other.logits[0][0][c * 3600 + v] = static_cast<float>((v + c) % 9);
  }
  const Model model = FitTo(scene);
  // Then voxels without labels stand in the neighbourhoods of labelled ones, as they should.
  if (!IsPixelWise(model)) GTEST_SKIP() << "looks at neighbours";
  EXPECT_EQ(ModelAccess::State(FitTo(other)).calibrator->Parameters().dump(),
            ModelAccess::State(model).calibrator->Parameters().dump());
}

INSTANTIATE_TEST_SUITE_P(List,
                         EveryCalibrator,
                         ::testing::ValuesIn(Calibrators()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace segcal
