// SPDX-License-Identifier: Apache-2.0
// What every calibrator declares holds on emitted values, however it was fitted; including
// calibrators added tomorrow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrators/list.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "segcal/error.h"
#include "segcal/simulate.h"
#include "segcal/verify.h"
#include "tests/conformance/method_test.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

class EveryMethod : public testing::MethodTest {
 protected:
  // Fits to the scene and checks what the model declares on this many generated voxels, or on those
  // of the scene where the method looks at images, which generated cases do not have.
  VerifyResult Checked(const Scene& scene, int64_t voxels, const std::string& pooling = "z") const;
};

// Sanitizers look for what code does wrong, which more voxels of the same kind do not show: a tenth
// has to do, as these tests would take a third of the time of all.
#ifdef SEGCAL_SANITIZED
constexpr int64_t kShare = 10;
#else
constexpr int64_t kShare = 1;
#endif

VerifyOptions Voxels(int64_t voxels) {
  VerifyOptions options;
  options.voxels = voxels / kShare;
  options.run.threads = 2;
  return options;
}

VerifyResult EveryMethod::Checked(const Scene& scene,
                                  int64_t voxels,
                                  const std::string& pooling) const {
  const Model model = FitTo(scene, 2, pooling);
  if (!NeedsImage()) return Verify(model, Voxels(voxels));
  const testing::TempFolder folder;
  return Verify(model, testing::WriteScene(scene, folder.path()), Voxels(0));
}

const VerifyCheck& Find(const VerifyResult& result, const std::string& name) {
  return *std::find_if(result.checks.begin(), result.checks.end(), [&](const VerifyCheck& check) {
    return check.name == name;
  });
}

// Half of a class is labelled as another, so that no map is left near the identity.
Scene TiltedScene() {
  Scene scene = RandomScene({.seed = 12, .num_classes = 5, .shape = {70, 80}});
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      if (scene.labels[i][v] == 4 && v % 2 == 0) scene.labels[i][v] = 0;
    }
  }
  return scene;
}

constexpr int64_t kManyVoxels = 1'000'000;

TEST_P(EveryMethod, HoldsWhatItDeclaresOnManyVoxels) {
  const Scene scene = Complete(TiltedScene());
  const VerifyResult result = Checked(scene, kManyVoxels);
  EXPECT_TRUE(result.holds()) << ToJson(result);
  if (NeedsImage()) {
    EXPECT_EQ(Find(result, "rows").voxels, 2 * scene.num_voxels());
    return;  // the cases of a data set have no twins with offsets
  }
  EXPECT_GE(Find(result, "rows").voxels, kManyVoxels / kShare);
  // Whoever does not declare to forget offsets is seen to depend on them.
  const VerifyCheck& translation = Find(result, "translation");
  EXPECT_EQ(translation.violations > 0, !result.translation_invariant);
}

TEST_P(EveryMethod, HoldsWhatItDeclaresForEveryPooling) {
  const Scene scene = MakeScene({.num_members = 2, .num_classes = 4});
  for (const char* pooling : {"p", "z1"}) {
    const VerifyResult result = Checked(scene, 100'000, pooling);
    EXPECT_TRUE(result.holds()) << pooling << ToJson(result);
    // The mean of probabilities forgets offsets before the method sees anything.
    if (std::string(pooling) != "p") continue;
    EXPECT_TRUE(result.translation_invariant);
    if (NeedsImage()) continue;
    EXPECT_EQ(Find(result, "translation").violations, 0);
  }
}

// Data on which a fit runs to the ends of what it may be.
TEST_P(EveryMethod, HoldsWhatItDeclaresAfterADegenerateFit) {
  const Scene plain = MakeScene({.seed = 3, .num_cases = 1, .num_classes = 4});
  const auto n = static_cast<size_t>(plain.num_voxels());
  const auto with_labels = [&](const auto& label_of) {
    Scene scene = plain;
    for (size_t v = 0; v < n; ++v) scene.labels[0][v] = label_of(v);
    return scene;
  };
  const auto extreme = [&](size_t v, bool largest) {
    int32_t best = 0;
    for (int32_t c = 1; c < 4; ++c) {
      const float z = plain.logits[0][0][static_cast<size_t>(c) * n + v];
      const float kept = plain.logits[0][0][static_cast<size_t>(best) * n + v];
      if (largest ? z > kept : z < kept) best = c;
    }
    return best;
  };
  const std::vector<std::pair<const char*, Scene>> scenes = {
      {"always right", with_labels([&](size_t v) { return extreme(v, true); })},
      {"always wrong", with_labels([&](size_t v) { return extreme(v, false); })},
      {"one label", with_labels([](size_t) { return 2; })},
      {"one voxel", with_labels([](size_t v) { return v == 100 ? 1 : 255; })}};
  for (const auto& [name, scene] : scenes) {
    try {
      const VerifyResult result = Checked(scene, 50'000);
      EXPECT_TRUE(result.holds()) << name << ToJson(result);
    } catch (const Error& error) {
      // A method may need more than that, and says so; the first two have thousands of voxels.
      EXPECT_TRUE(std::string(name).starts_with("one")) << name << ": " << error.what();
    }
  }
}

// Class 3 is never decided for nor labelled. Who has an expert per class has one without voxels,
// which is the fitted temperature.
TEST_P(EveryMethod, DefinesExpertsWithoutVoxels) {
  Scene scene = MakeScene({.seed = 4, .num_classes = 4, .shape = {50, 60}});
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      float* z = scene.logits[i][0].data() + v;
      z[3 * n] = std::min({z[0], z[n], z[2 * n]}) - 1.0f;
      if (scene.labels[i][v] == 3) scene.labels[i][v] = 0;
    }
  }
  EXPECT_TRUE(Checked(scene, 50'000).holds());

  const Model model = FitTo(scene);
  const std::vector<Certificate>& experts = model.report().certificates;
  // What follows is about the map of a class that wins nowhere; other methods have none.
  if (experts.size() != 4) GTEST_SKIP() << "no expert per class";
  ASSERT_EQ(experts[3].voxels, 0);
  Scene unseen = scene;
  for (auto& members : unseen.logits) {
    for (size_t v = 0; v < n; ++v) members[0][3 * n + v] += 20.0f;
  }
  const Model temperature = FitStream(*scene.Stream(2), ParsePipeline("ts(z)"), /*seed=*/7);
  const std::vector<float> expected = testing::ApplyInMemory(temperature, unseen, 0);
  const std::vector<float> found = testing::ApplyInMemory(model, unseen, 0);
  for (size_t k = 0; k < found.size(); ++k) ASSERT_NEAR(found[k], expected[k], 1e-5) << k;
}

// From simulated files through the public interface.
TEST_P(EveryMethod, FitsAndHoldsOnSimulatedFiles) {
  const testing::TempFolder folder;
  SimulateOptions simulated;
  simulated.preset = "street";
  simulated.num_cases = 4;
  simulated.num_members = 2;
  simulated.num_classes = 4;
  simulated.size = {48, 56};
  simulated.splits = {{"calibration", 2.0}, {"test", 2.0}};
  Simulate(folder.File("data"), simulated);
  const Dataset dataset = LoadDataset(folder.File("data"));
  const Model model = Fit(dataset, Pipeline("p")).model;
  VerifyOptions options = Voxels(0);
  options.split = "test";
  const VerifyResult result = Verify(model, dataset, options);
  EXPECT_TRUE(result.holds()) << ToJson(result);
  EXPECT_EQ(Find(result, "decision").voxels, 2 * 48 * 56);
  EXPECT_EQ(Find(result, "decision").input, "dataset");
}

INSTANTIATE_TEST_SUITE_P(List,
                         EveryMethod,
                         ::testing::ValuesIn(Calibrators()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace segcal
