// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "core/half.h"
#include "pipeline/model.h"
#include "segcal/apply.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TemperatureModel;

// Closed form: softmax(beta z).
TEST(ModelApply, IsTheSoftmaxOfTheScaledLogits) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 4, .shape = {31, 29}});
  for (const double beta : {0.0, 0.5, 1.0, 3.0}) {
    const std::vector<float> probs = ApplyInMemory(TemperatureModel(scene.dataset, beta), scene, 0);
    const size_t n = probs.size() / 4;
    for (size_t v = 0; v < n; ++v) {
      double sum = 0.0;
      for (size_t c = 0; c < 4; ++c)
        sum += std::exp(beta * static_cast<double>(scene.logits[0][0][c * n + v]));
      for (size_t c = 0; c < 4; ++c) {
        const double q = std::exp(beta * static_cast<double>(scene.logits[0][0][c * n + v])) / sum;
        ASSERT_NEAR(static_cast<double>(probs[c * n + v]), q, 1e-6) << beta;
      }
    }
  }
}

TEST(ModelApply, HasTheSameBitsForAnyNumberOfThreads) {
  const Scene scene = RandomScene({.num_cases = 1, .num_members = 2, .shape = {170, 151}});
  const Model model = TemperatureModel(scene.dataset, 0.7, "p");
  const std::vector<float> one = ApplyInMemory(model, scene, 0, 1);
  EXPECT_EQ(ApplyInMemory(model, scene, 0, 2), one);
  EXPECT_EQ(ApplyInMemory(model, scene, 0, 3), one);
  EXPECT_EQ(ApplyInMemory(model, scene, 0, 0), one);
}

TEST(ModelApply, HasTheSameBitsForEveryTypeAndLayout) {
  Scene scene = RandomScene(
      {.num_cases = 1, .num_classes = 3, .shape = {70, 41}, .scale = 1.0, .offset = 0.5});
  for (float& z : scene.logits[0][0]) z = std::fmin(std::fmax(z, -7.0f), 7.0f);
  const Model model = TemperatureModel(scene.dataset, 0.7);
  const std::vector<float> expected = ApplyInMemory(model, scene, 0);
  const auto last = testing::ChannelsLast(scene.logits[0][0], 3);
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    for (const bool channels_last : {false, true}) {
      const auto bytes = testing::ConvertTo(dtype, channels_last ? last : scene.logits[0][0]);
      ArrayView view{.data = bytes.data(), .dtype = dtype, .shape = {3, 70, 41}};
      if (channels_last)
        view = ChannelsFirst(ArrayView{.data = bytes.data(), .dtype = dtype, .shape = {70, 41, 3}});
      std::vector<float> out(expected.size());
      model.Apply(LogitsView{view}, {.probabilities = MakeSpan(out.data(), {3, 70, 41})}, 1);
      EXPECT_EQ(out, expected) << Name(dtype) << channels_last;
    }
  }
}

TEST(ModelApply, WritesAnyLayout) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {33, 41}});
  const Model model = TemperatureModel(scene.dataset, 0.7);
  const std::vector<float> expected = ApplyInMemory(model, scene, 0);
  const LogitsView view{MakeView(scene.logits[0][0].data(), {3, 33, 41})};
  std::vector<float> out(expected.size());
  model.Apply(view, {.probabilities = ChannelsFirst(MakeSpan(out.data(), {33, 41, 3}))}, 2);
  EXPECT_EQ(out, testing::ChannelsLast(expected, 3));
  // Upside down, in the middle of a larger array.
  std::vector<float> large(3 * 50 * 60, -1.0f);
  const ArraySpan window{.data = large.data() + 40 * 60 + 7,
                         .dtype = DType::kF32,
                         .shape = {3, 33, 41},
                         .strides = {50 * 60, -60, 1}};
  model.Apply(view, {.probabilities = window}, 2);
  size_t untouched = 0;
  for (size_t c = 0, i = 0; c < 3; ++c) {
    for (size_t y = 0; y < 33; ++y) {
      for (size_t x = 0; x < 41; ++x, ++i)
        ASSERT_EQ(large[c * 3000 + (40 - y) * 60 + 7 + x], expected[i]);
    }
  }
  for (const float value : large) untouched += value == -1.0f ? 1 : 0;
  EXPECT_EQ(untouched, large.size() - expected.size());
}

// One call fills every kind of output, each in every type it may have.
TEST(ModelApply, WritesLabelsConfidenceEntropyAndTemperature) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {33, 41}});
  const Model model = TemperatureModel(scene.dataset, 0.5);
  const std::vector<float> probs = ApplyInMemory(model, scene, 0);
  const size_t n = 33 * 41;
  std::vector<uint16_t> half(3 * n);
  std::vector<uint16_t> half_confidence(n);
  std::vector<int32_t> labels(n);
  std::vector<float> entropy(n);
  std::vector<float> temperature(n);
  model.Apply(
      LogitsView{MakeView(scene.logits[0][0].data(), {3, 33, 41})},
      {.probabilities = {.data = half.data(), .dtype = DType::kF16, .shape = {3, 33, 41}},
       .labels = MakeSpan(labels.data(), {33, 41}),
       .confidence = {.data = half_confidence.data(), .dtype = DType::kF16, .shape = {33, 41}},
       .entropy = MakeSpan(entropy.data(), {33, 41}),
       .temperature = MakeSpan(temperature.data(), {33, 41})});
  for (size_t v = 0; v < n; ++v) {
    int32_t winner = 0;
    double nats = 0.0;
    for (size_t c = 0; c < 3; ++c) {
      const float q = probs[c * n + v];
      ASSERT_NEAR(FloatFromHalf(half[c * n + v]), q, q * 0x1p-10f + 1e-7f);
      if (q > probs[static_cast<size_t>(winner) * n + v]) winner = static_cast<int32_t>(c);
      nats -= static_cast<double>(q) * std::log(static_cast<double>(q));
    }
    ASSERT_EQ(labels[v], winner);
    ASSERT_EQ(half_confidence[v], HalfFromFloat(probs[static_cast<size_t>(winner) * n + v]));
    ASSERT_NEAR(entropy[v], nats, 1e-6);
    ASSERT_EQ(temperature[v], 2.0f);
  }
  std::vector<uint8_t> bytes(n);
  model.Apply(LogitsView{MakeView(scene.logits[0][0].data(), {3, 33, 41})},
              {.labels = MakeSpan(bytes.data(), {33, 41})});
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), labels.begin()));
}

// Masked voxels keep the uncalibrated prediction; files and memory may be mixed.
TEST(ApplyCase, TakesMasksAndFiles) {
  Scene scene = RandomScene(
      {.num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {33, 41}, .ignored = 0.0});
  const size_t n = 33 * 41;
  scene.masks.push_back(std::vector<uint8_t>(n, 1));
  for (size_t v = 0; v < n; v += 3) scene.masks[0][v] = 0;
  const Model model = TemperatureModel(scene.dataset, 0.5, "p");
  const Model plain = TemperatureModel(scene.dataset, 1.0, "p");
  const std::vector<float> calibrated = ApplyInMemory(model, scene, 0);
  const std::vector<float> uncalibrated = ApplyInMemory(plain, scene, 0);
  const testing::TempFolder folder;
  const Dataset files = testing::WriteScene(scene, folder.path());
  Case entry = scene.InMemory().cases[0];
  entry.members[1] = folder.File(files.cases[0].members[1].path());
  std::vector<float> out(3 * n);
  Apply(model, entry, {.probabilities = MakeSpan(out.data(), {3, 33, 41})});
  for (size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], i % n % 3 == 0 ? uncalibrated[i] : calibrated[i]) << i;
}

// How labels are coded is known to data sets only; a member that is not used need not be there.
TEST(ApplyCase, LooksAtNoLabelsAndNoOtherMember) {
  const Scene scene = RandomScene({.num_cases = 1, .num_members = 2, .num_classes = 3});
  Case entry = scene.InMemory().cases[0];
  entry.members[1] = "absent.npy";
  std::vector<float> out(scene.logits[0][0].size());
  const ArraySpan span = MakeSpan(out.data(), {3, 37, 41});
  Apply(TemperatureModel(scene.dataset, 0.5, "z0"), entry, {.probabilities = span});
  EXPECT_EQ(out, ApplyInMemory(TemperatureModel(scene.dataset, 0.5, "z0"), scene, 0));
}

TEST(ApplyCase, StopsWhenItsProgressCallbackSaysSo) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3});
  std::vector<float> out(scene.logits[0][0].size());
  RunOptions run;
  run.progress = [](const Progress&) { return false; };
  ExpectError(ErrorCode::kCancelled, {"apply ts(z)"}, [&] {
    Apply(TemperatureModel(scene.dataset, 0.5),
          scene.InMemory().cases[0],
          {.probabilities = MakeSpan(out.data(), {3, 37, 41})},
          run);
  });
}

// The three kinds of input describe the same prediction.
TEST(ModelApply, TakesLogProbabilitiesAndProbabilities) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {500}, .scale = 1.0});
  const std::vector<float> expected = ApplyInMemory(TemperatureModel(scene.dataset, 0.7), scene, 0);
  const std::vector<float> probs = ApplyInMemory(TemperatureModel(scene.dataset, 1.0), scene, 0);
  std::vector<float> logs;
  for (const float p : probs) logs.push_back(std::log(p));
  std::vector<float> from_probs(probs.size()), from_logs(probs.size());
  Dataset dataset = scene.dataset;
  dataset.input = InputKind::kProbs;
  TemperatureModel(dataset, 0.7)
      .Apply(ProbsView{MakeView(probs.data(), {3, 500})},
             {.probabilities = MakeSpan(from_probs.data(), {3, 500})});
  dataset.input = InputKind::kLogProbs;
  TemperatureModel(dataset, 0.7)
      .Apply(LogProbsView{MakeView(logs.data(), {3, 500})},
             {.probabilities = MakeSpan(from_logs.data(), {3, 500})});
  for (size_t i = 0; i < probs.size(); ++i) {
    ASSERT_NEAR(from_probs[i], expected[i], 2e-6);
    ASSERT_NEAR(from_logs[i], expected[i], 2e-6);
  }
}

TEST(ModelApply, TakesOneClassAndOneVoxelInAnyLayout) {
  Dataset dataset;
  dataset.classes = {"all"};
  dataset.input = InputKind::kLogits;
  const std::vector<float> values = {3.0f, -1.0f, 2.0f};
  std::vector<float> out(3);
  for (const int64_t class_stride : {1, 3, 99}) {
    ArrayView view = MakeView(values.data(), {1, 3});
    view.strides = {class_stride, 1};
    out.assign(3, 0.0f);
    TemperatureModel(dataset, 2.0)
        .Apply(LogitsView{view}, {.probabilities = MakeSpan(out.data(), {1, 3})}, 1);
    EXPECT_EQ(out, (std::vector<float>{1, 1, 1}));
  }
  dataset.classes = {"a", "b", "c"};
  for (const int64_t voxel_stride : {1, 3}) {
    ArrayView view = MakeView(values.data(), {3, 1});
    view.strides = {1, voxel_stride};
    TemperatureModel(dataset, 0.0)
        .Apply(LogitsView{view}, {.probabilities = MakeSpan(out.data(), {3, 1})}, 1);
    EXPECT_NEAR(out[0] + out[1] + out[2], 1.0f, 1e-6f);
    EXPECT_GT(out[0], out[1]);  // the decision, even at an infinite temperature
  }
}

class BadViews : public ::testing::Test {
 protected:
  BadViews()
      : scene_(RandomScene({.num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {10}})),
        model_(TemperatureModel(scene_.dataset, 0.7)),
        view_(MakeView(scene_.logits[0][0].data(), {3, 10})),
        out_(30),
        span_(MakeSpan(out_.data(), {3, 10})) {}

  void ExpectRefused(ErrorCode code, const std::vector<std::string>& parts, const ArrayView& in) {
    ExpectError(code, parts, [&] { model_.Apply(LogitsView{in}, {.probabilities = span_}); });
  }
  void ExpectRefusedOutput(const std::vector<std::string>& parts, const ApplyOutputs& out) {
    ExpectError(ErrorCode::kInvalidArgument, parts, [&] { model_.Apply(LogitsView{view_}, out); });
  }

  Scene scene_;
  Model model_;
  ArrayView view_;
  std::vector<float> out_;
  ArraySpan span_;
};

TEST_F(BadViews, OfInputsAreNamed) {
  ArrayView bad = view_;
  bad.shape = {2, 10};
  ExpectRefused(ErrorCode::kBadData, {"member 0", "2 channels", "3 classes"}, bad);
  bad = view_;
  bad.dtype = DType::kI32;
  ExpectRefused(ErrorCode::kBadData, {"member 0", "int32"}, bad);
  bad = view_;
  bad.data = nullptr;
  ExpectRefused(ErrorCode::kInvalidArgument, {"case array: member 0", "null"}, bad);
  bad = view_;
  bad.shape = {};
  ExpectRefused(ErrorCode::kInvalidArgument, {"member 0", "no shape"}, bad);
  bad = view_;
  bad.shape = {3, -10};
  ExpectRefused(ErrorCode::kInvalidArgument, {"member 0", "(3, -10)"}, bad);
  bad = view_;
  bad.shape = {3, int64_t{1} << 62};
  ExpectRefused(ErrorCode::kInvalidArgument, {"member 0", "fit into memory"}, bad);
  bad = view_;
  bad.strides = {1};
  ExpectRefused(ErrorCode::kInvalidArgument, {"member 0", "1 strides for 2 axes"}, bad);
  bad.strides = {int64_t{1} << 60, 1};
  ExpectRefused(ErrorCode::kInvalidArgument, {"member 0", "beyond any memory"}, bad);
}

TEST_F(BadViews, OfMembersThatDoNotFitAreNamed) {
  ExpectError(ErrorCode::kInvalidArgument, {"member 1", "1 members"}, [&] {
    TemperatureModel(scene_.dataset, 1.0, "z1").Apply(LogitsView{view_}, {.probabilities = span_});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"no member"}, [&] {
    model_.Apply(std::vector<LogitsView>{}, {.probabilities = span_});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"takes logits", "given probabilities"}, [&] {
    model_.Apply(ProbsView{view_}, {.probabilities = span_});
  });
}

TEST_F(BadViews, OfOutputsAreNamed) {
  ExpectRefusedOutput({"no output has data"}, {});
  ExpectRefusedOutput({"output labels", "null"},
                      {.probabilities = span_, .labels = {.data = nullptr, .shape = {10}}});
  ExpectRefusedOutput({"output probabilities", "(3, 5)", "(3, 10)"},
                      {.probabilities = MakeSpan(out_.data(), {3, 5})});
  ExpectRefusedOutput({"output confidence", "(3, 10)", "(10)"}, {.confidence = span_});
  ExpectRefusedOutput({"output labels", "float32", "uint8"},
                      {.labels = MakeSpan(out_.data(), {10})});
  ExpectRefusedOutput(
      {"output probabilities", "float64"},
      {.probabilities = {.data = out_.data(), .dtype = DType::kF64, .shape = {3, 10}}});
  ArraySpan folded = span_;
  folded.strides = {10, 0};
  ExpectRefusedOutput({"output probabilities", "several elements at one place"},
                      {.probabilities = folded});
}

TEST_F(BadViews, OfOutputsThatOverlapAreNamed) {
  ExpectRefusedOutput({"output confidence", "overlaps", "output probabilities"},
                      {.probabilities = span_, .confidence = MakeSpan(out_.data() + 25, {10})});
  ExpectRefusedOutput({"output probabilities", "overlaps", "member 0"},
                      {.probabilities = MakeSpan(scene_.logits[0][0].data(), {3, 10})});
}

TEST(ModelApply, NamesMemberAndVoxelOfABadValue) {
  Scene scene = RandomScene({.num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {1000}});
  scene.logits[0][1][2 * 1000 + 700] = NAN;
  for (const int threads : {1, 2}) {
    ExpectError(ErrorCode::kBadData, {"member 1", "voxel (700)", "NaN"}, [&] {
      ApplyInMemory(TemperatureModel(scene.dataset, 1.0), scene, 0, threads);
    });
  }
}

}  // namespace
}  // namespace segcal
