// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "calibrators/list.h"
#include "core/json.h"
#include "core/rng.h"
#include "methods/selective/selective_scaling.h"
#include "pipeline/fit.h"
#include "pipeline/model.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::RandomScene;
using testing::Scene;
using testing::TempFolder;

constexpr int64_t kClasses = 3;

// Confident decisions; in those that are wrong, and in no other, one class is all but excluded:
// what a selector can see and a temperature cannot. With precision below 1, some that look so are
// right.
Scene TellTale(double wrong_share = 0.3, double precision = 1.0) {
  Scene scene = RandomScene({.num_cases = 3, .num_classes = kClasses, .shape = {64, 60}});
  Rng rng(/*seed=*/11, /*stream=*/0);
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    for (size_t v = 0; v < n; ++v) {
      const auto winner = static_cast<size_t>(rng.Below(kClasses));
      const size_t second = (winner + 1) % kClasses;
      const size_t third = (winner + 2) % kClasses;
      const bool wrong = rng.Uniform() < wrong_share;
      std::vector<float>& z = scene.logits[i][0];
      z[winner * n + v] = 9.0f;
      z[second * n + v] = static_cast<float>(3.0 - rng.Uniform());
      z[third * n + v] = static_cast<float>(wrong ? -5.0 - rng.Uniform() : 3.0 - rng.Uniform());
      if (scene.labels[i][v] != 255) {
        const bool is_wrong = wrong && rng.Uniform() < precision;
        scene.labels[i][v] = static_cast<int32_t>(is_wrong ? second : winner);
      }
    }
  }
  return scene;
}

Model FitOn(const Scene& scene, const std::string& pipeline, int threads = 2) {
  return FitStream(*scene.Stream(threads), ParsePipeline(pipeline), /*seed=*/3);
}
double Figure(const Model& model, const std::string& name) {
  return model.report().figures.at(name);
}

// Flags a voxel if a log-probability is below -10: for a tell-tale scene, if its decision is wrong.
Json OracleSelector() {
  const SelectorShape shape(kClasses);
  std::vector<double> x(static_cast<size_t>(shape.size()), 0.0);
  const auto at = [&](int64_t i) -> double& { return x[static_cast<size_t>(i)]; };
  for (int64_t c = 0; c < kClasses; ++c) {
    at(shape.weights(0) + c * kClasses + c) = 1.0;
    at(shape.gamma(0) + c) = -1.0;
    at(shape.beta(0) + c) = -10.0;
    at(shape.weights(1) + c) = 1.0;
  }
  at(shape.weights(2)) = 1.0;
  at(shape.weights(3) + kClasses) = 1.0;
  at(shape.gamma(1)) = at(shape.gamma(2)) = 1.0;
  at(shape.bias()) = 1e-6;
  SelectorStatistics statistics;
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    const auto channels = static_cast<size_t>(shape.outputs(layer));
    statistics.mean[static_cast<size_t>(layer)].assign(channels, 0.0);
    statistics.variance[static_cast<size_t>(layer)].assign(channels, 1.0 - kVarianceFloor);
  }
  return Selector(shape, x, statistics).ToJson();
}

// The model with other parameters, through its file.
Model WithParameters(const Model& model, const Json& changed) {
  const TempFolder folder;
  Json json = ParseJson(model.ToJson(), "model");
  json["parameters"].update(changed);
  return Model::Load(folder.Put("model.json", DumpJson(json)));
}

struct Scored {
  double ece = 0.0;    // ten bins
  double bound = 0.0;  // if all that is wrong has confidence 1/C and the rest is as it was
  double accuracy = 0.0;
};

Scored ScoreOf(const Model& model, const Model& base, const Scene& scene) {
  double gap[10] = {};
  Scored scored;
  double count = 0.0;
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t i = 0; i < scene.logits.size(); ++i) {
    const std::vector<float> probs = ApplyInMemory(model, scene, i);
    const std::vector<float> before = ApplyInMemory(base, scene, i);
    for (size_t v = 0; v < n; ++v) {
      if (scene.labels[i][v] == 255) continue;
      size_t best = 0;
      double was = 0.0;
      for (size_t c = 0; c < kClasses; ++c) {
        if (probs[c * n + v] > probs[best * n + v]) best = c;
        was = std::max(was, static_cast<double>(before[c * n + v]));
      }
      const auto confidence = static_cast<double>(probs[best * n + v]);
      const bool correct = static_cast<int32_t>(best) == scene.labels[i][v];
      gap[static_cast<size_t>(std::ceil(confidence * 10.0)) - 1] += confidence - (correct ? 1 : 0);
      scored.bound += correct ? 1.0 - was : 1.0 / kClasses;
      scored.accuracy += correct ? 1.0 : 0.0;
      count += 1.0;
    }
  }
  for (const double g : gap) scored.ece += std::fabs(g) / count;
  scored.bound /= count;
  scored.accuracy /= count;
  return scored;
}

// S3 Fig. 4: with every misprediction found, the error is that of the correct voxels and of 1/C.
TEST(Selective, OracleSelectorReachesTheBound) {
  const Scene scene = TellTale();
  for (const std::string base : {"none", "ts"}) {
    const std::string pipeline = (base == "none" ? "selective(z" : "selective+" + base + "(z") +
                                 (base == "none" ? ", epochs=0)" : ", selective.epochs=0)");
    const Model fitted = FitOn(scene, pipeline);
    const Model oracle =
        WithParameters(fitted, {{"selector", OracleSelector()}, {"temperature", 1e10}});
    const Model alone = FitOn(scene, base + "(z)");
    const Scored found = ScoreOf(oracle, alone, scene);
    EXPECT_NEAR(found.ece, found.bound, 1e-6) << base;
    // The prediction itself is too confident; `ts` is not, and pays for those it was wrong about.
    if (base == "none") {
      EXPECT_LT(found.ece, 0.6 * ScoreOf(alone, alone, scene).ece);
    }
    // Nothing is decided differently, though the voxels that were scaled are flat.
    EXPECT_EQ(found.accuracy, ScoreOf(alone, alone, scene).accuracy) << base;
  }
}

// Whether there is no selector, or one that never says so.
TEST(Selective, EqualsItsBaseWhereNothingIsFlagged) {
  const Scene scene = TellTale();
  Json silent = OracleSelector();
  silent[kHiddenLayers]["bias"] = {1e6, 0.0};
  for (const std::string base : {"ts", "dc", "cms_ap"}) {
    const Model fitted = FitOn(scene, "selective+" + base + "(z, selective.epochs=0)");
    const Model alone = FitOn(scene, base + "(z)");
    const Model none = WithParameters(fitted, {{"selector", nullptr}, {"temperature", 1e10}});
    const Model never = WithParameters(fitted, {{"selector", silent}, {"temperature", 1e10}});
    for (size_t i = 0; i < scene.logits.size(); ++i) {
      EXPECT_TRUE(ApplyInMemory(none, scene, i) == ApplyInMemory(alone, scene, i)) << base;
      EXPECT_TRUE(ApplyInMemory(never, scene, i) == ApplyInMemory(alone, scene, i)) << base;
    }
  }
}

TEST(Selective, LearnsToFindMispredictions) {
  const Model model = FitOn(TellTale(), "selective(z, learning_rate=0.01)");
  EXPECT_GT(Figure(model, "misprediction_recall"), 0.95);
  EXPECT_GT(Figure(model, "misprediction_precision"), 0.95);
  EXPECT_EQ(Figure(model, "temperature"), 1e10);
  EXPECT_LT(model.report().nll_after, 0.9 * model.report().nll_before);
  EXPECT_EQ(model.report().status, FitStatus::kTrained);
}

// Losses of one kind: what a constant score has, of three voxels in ten wrong and counted twice,
// and what the selector has.
TEST(Selective, ReportsTheLossItIsTrainedOn) {
  const FitOutcome outcome =
      FitOn(TellTale(), "selective+ts(z, selective.learning_rate=0.01)").report();
  const double rate = 0.6 / 1.3;
  EXPECT_NEAR(outcome.training.identity_nll,
              -rate * std::log(rate) - (1.0 - rate) * std::log(1.0 - rate),
              0.01);
  EXPECT_LT(outcome.training.validation_nll, 0.2 * outcome.training.identity_nll);
  EXPECT_NE(outcome.figures.at("validation_nll_base"), outcome.training.identity_nll);
}

// Between the two thresholds of (SS9) the temperature is the best one by expected calibration
// error: here flagged voxels are right half of the time, so neither end is.
TEST(Selective, ChoosesTheTemperatureByRecall) {
  const Scene scene = TellTale(/*wrong_share=*/0.4, /*precision=*/0.5);
  const Model base = FitOn(scene, "none(z)");
  const Model fitted = FitOn(scene, "selective(z, epochs=0)");
  const Selector oracle = Selector::FromJson(OracleSelector(), kClasses, "oracle");
  const auto chosen = [&](double recall) {
    return ChooseTemperature(
        *scene.Stream(2), Pooling{}, *ModelAccess::State(base).calibrator, oracle, recall);
  };
  EXPECT_EQ(chosen(0.51), 1e10);
  EXPECT_EQ(chosen(0.34), 2.0);
  EXPECT_EQ(chosen(std::nan("")), 2.0);
  const auto ece_at = [&](double temperature) {
    const Model model =
        WithParameters(fitted, {{"selector", OracleSelector()}, {"temperature", temperature}});
    return ScoreOf(model, base, scene).ece;
  };
  const double between = chosen(0.4);
  EXPECT_GT(between, 2.0);
  EXPECT_LT(between, 1e10);
  for (const double other : {2.0, 4.0, 8.0, 16.0, 64.0, 1024.0, 1e10}) {
    EXPECT_LE(ece_at(between), ece_at(other) + 1e-6) << between << " and " << other;
  }
}

// Emits 0.6f to the bit, except for softmax at voxels that the oracle flags.
class SixTenths final : public PixelCalibrator {
 public:
  Properties properties() const override { return {true, Preserves::kOrder}; }
  ParameterCounts counts(int64_t) const override { return {}; }
  FitOutcome Fit(const FitContext&) override { return {}; }
  Json Parameters() const override { return {}; }
  void SetParameters(const Json&, int64_t, const std::string&) override {}
  void ApplyTile(const Tile& tile, const TileProbs& out) const override {
    for (int64_t v = 0; v < tile.count; ++v) {
      const bool flagged = tile.logits[2 * kTileVoxels + v] < -10.0f;
      const float fixed[] = {0.6f, 0.2f, 0.2f};
      double sum = 0.0;
      for (int64_t c = 0; c < kClasses; ++c) sum += Exp(tile, c, v);
      for (int64_t c = 0; c < kClasses; ++c) {
        out.probs[c * kTileVoxels + v] =
            flagged ? static_cast<float>(Exp(tile, c, v) / sum) : fixed[c];
      }
    }
  }

 private:
  static double Exp(const Tile& tile, int64_t c, int64_t v) {
    return std::exp(static_cast<double>(tile.logits[c * kTileVoxels + v]));
  }
};

// 0.6f is above 0.6 and yet in (0.5, 0.6], as in the metrics. Half of the voxels have it and are
// wrong. The others are flagged and right, in that bin at temperature 4 (0.57), where errors make
// up for each other; at 2 in the next (0.67), at 8 in the one before (0.49).
TEST(Selective, ChoosesTheTemperatureByTheBinsOfTheMetrics) {
  Scene scene = RandomScene({.num_cases = 1, .num_classes = kClasses, .shape = {512}});
  for (size_t v = 0; v < 512; ++v) {
    const bool flagged = v >= 256;
    const float logits[] = {1.4f, 0.0f, flagged ? -12.0f : 0.0f};
    for (size_t c = 0; c < kClasses; ++c) scene.logits[0][0][c * 512 + v] = logits[c];
    scene.labels[0][v] = flagged ? 0 : 1;
  }
  const Selector oracle = Selector::FromJson(OracleSelector(), kClasses, "oracle");
  EXPECT_EQ(ChooseTemperature(*scene.Stream(2), Pooling{}, SixTenths(), oracle, /*recall=*/0.4),
            4.0);
}

TEST(Selective, DeclaresWhatItsBaseKeeps) {
  for (const auto& [pipeline, preserves] : {std::pair{"selective(z)", "order"},
                                            {"selective+ts(z)", "order"},
                                            {"selective+cms_ap(z)", "argmax"},
                                            {"selective+dc(z)", "none"}}) {
    const PipelineSpec spec = ParsePipeline(pipeline);
    const Properties properties = MakeCalibrator(spec.stages, {})->properties();
    EXPECT_STREQ(Name(properties.preserves), preserves) << pipeline;
    EXPECT_TRUE(properties.translation_invariant) << pipeline;
  }
  const PipelineSpec spec = ParsePipeline("selective+ms(z)");
  EXPECT_FALSE(MakeCalibrator(spec.stages, {})->properties().translation_invariant);
}

TEST(Selective, FlagsNothingWhereEverythingIsRight) {
  const Scene scene = TellTale(/*wrong_share=*/0.0);
  const Model model = FitOn(scene, "selective(z)");
  EXPECT_TRUE(ModelAccess::State(model).calibrator->Parameters()["selector"].is_null());
  bool said = false;
  for (const std::string& warning : model.report().warnings) {
    said = said || warning.find("0 mispredictions") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST(Selective, RefusesParametersThatAreNotItsOwn) {
  const Model model = FitOn(TellTale(), "selective(z, epochs=0)");
  testing::ExpectError(ErrorCode::kBadData, {"temperature", "0"}, [&] {
    WithParameters(model, {{"temperature", 0.0}});
  });
  testing::ExpectError(ErrorCode::kBadData, {"selector", "4 layers"}, [&] {
    WithParameters(model, {{"selector", Json::array()}});
  });
}

// A stream over the scene that breaks off as soon as the given epoch has ended.
struct Killed {};
std::unique_ptr<CaseStream> StreamUntil(const Scene& scene, int64_t epoch) {
  StreamOptions options = scene.Stream(2)->options();
  options.progress = [epoch](const Progress& progress) {
    if (!progress.detail.empty() && progress.done == epoch) throw Killed();
  };
  return std::make_unique<CaseStream>(scene.InMemory(), std::vector<Pooling>{{}}, options);
}

TEST(Selective, ResumesToTheSameBytes) {
  const Scene scene = TellTale();
  const PipelineSpec spec = ParsePipeline("selective+ts(z, selective.epochs=9)");
  const std::string whole = FitStream(*scene.Stream(2), spec, 3).ToJson();
  const TempFolder folder;
  const std::string path = folder.File("model.json.part");
  for (const int64_t epoch : {2, 5, 9}) {
    // Told of an epoch before it is kept, so the state is that of the epoch before.
    EXPECT_THROW(FitStream(*StreamUntil(scene, epoch), spec, 3, {}, {path, epoch > 2}), Killed);
    ASSERT_TRUE(std::filesystem::exists(path));
  }
  const Json kept = ReadJson(path);
  EXPECT_EQ(kept["parts"]["selective"]["running"]["history"]["training_loss"].size(), 8);
  EXPECT_EQ(FitStream(*scene.Stream(1), spec, 3, {}, {path, true}).ToJson(), whole);
  // Once more, from a training that has ended.
  EXPECT_EQ(FitStream(*scene.Stream(1), spec, 3, {}, {path, true}).ToJson(), whole);
}

TEST(Selective, DoesNotGoOnWithAnotherFit) {
  const Scene scene = TellTale();
  const PipelineSpec spec = ParsePipeline("selective(z, epochs=2)");
  const TempFolder folder;
  const std::string path = folder.File("model.json.part");
  FitStream(*scene.Stream(2), spec, 3, {}, {path, false});
  const auto resume = [&](const Scene& data, const char* pipeline, uint64_t seed) {
    FitStream(*data.Stream(2), ParsePipeline(pipeline), seed, {}, {path, true});
  };
  const auto refused = [&](const Scene& data, const char* pipeline, uint64_t seed) {
    testing::ExpectError(
        ErrorCode::kBadData, {path, "another fit"}, [&] { resume(data, pipeline, seed); });
  };
  resume(scene, "selective(z, epochs=2)", 3);
  refused(scene, "selective(z, epochs=3)", 3);
  refused(scene, "selective(z, epochs=2)", 4);
  refused(TellTale(/*wrong_share=*/0.31), "selective(z, epochs=2)", 3);
}

}  // namespace
}  // namespace segcal
