// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "pipeline/model.h"
#include "tests/support/errors.h"
#include "tests/support/models.h"
#include "tests/support/scene_files.h"

namespace segcal {
namespace {

using testing::ApplyInMemory;
using testing::ExpectError;
using testing::RandomScene;
using testing::Scene;
using testing::TemperatureModel;
using testing::ViewOf;

ProbsSpan SpanOf(std::vector<float>* out, int64_t num_classes) {
  const int64_t voxels = static_cast<int64_t>(out->size()) / num_classes;
  return {.data = out->data(),
          .num_classes = num_classes,
          .num_voxels = voxels,
          .class_stride = voxels};
}

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
      LogitsView view = ViewOf(scene.logits[0][0], 3);
      view.data = bytes.data();
      view.dtype = dtype;
      if (channels_last) {
        view.class_stride = 1;
        view.voxel_stride = 3;
      }
      std::vector<float> out(expected.size());
      model.Apply(std::span(&view, 1), SpanOf(&out, 3), 1);
      EXPECT_EQ(out, expected) << Name(dtype) << channels_last;
    }
  }
}

TEST(ModelApply, WritesAnyLayout) {
  const Scene scene = RandomScene({.num_cases = 1, .num_classes = 3, .shape = {33, 41}});
  const Model model = TemperatureModel(scene.dataset, 0.7);
  const std::vector<float> expected = ApplyInMemory(model, scene, 0);
  const LogitsView view = ViewOf(scene.logits[0][0], 3);
  std::vector<float> out(expected.size());
  ProbsSpan span = SpanOf(&out, 3);
  span.class_stride = 1;
  span.voxel_stride = 3;
  model.Apply(std::span(&view, 1), span, 2);
  EXPECT_EQ(out, testing::ChannelsLast(expected, 3));
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
  dataset.input = "probabilities";
  const ProbsView probs_view{ViewOf(probs, 3)};
  TemperatureModel(dataset, 0.7).Apply(std::span(&probs_view, 1), SpanOf(&from_probs, 3));
  dataset.input = "log_probabilities";
  const LogProbsView logs_view{ViewOf(logs, 3)};
  TemperatureModel(dataset, 0.7).Apply(std::span(&logs_view, 1), SpanOf(&from_logs, 3));
  for (size_t i = 0; i < probs.size(); ++i) {
    ASSERT_NEAR(from_probs[i], expected[i], 2e-6);
    ASSERT_NEAR(from_logs[i], expected[i], 2e-6);
  }
}

TEST(ModelApply, TakesOneClassAndOneVoxelInAnyLayout) {
  Dataset dataset;
  dataset.classes = {"all"};
  dataset.input = "logits";
  const std::vector<float> values = {3.0f, -1.0f, 2.0f};
  LogitsView view = ViewOf(values, 1);
  std::vector<float> out(3);
  for (const int64_t class_stride : {1, 3, 99}) {
    view.class_stride = class_stride;
    out.assign(3, 0.0f);
    TemperatureModel(dataset, 2.0).Apply(std::span(&view, 1), SpanOf(&out, 1), 1);
    EXPECT_EQ(out, (std::vector<float>{1, 1, 1}));
  }
  dataset.classes = {"a", "b", "c"};
  LogitsView one_voxel = ViewOf(values, 3);
  for (const int64_t voxel_stride : {1, 3}) {
    one_voxel.voxel_stride = voxel_stride;
    TemperatureModel(dataset, 0.0).Apply(std::span(&one_voxel, 1), SpanOf(&out, 3), 1);
    EXPECT_NEAR(out[0] + out[1] + out[2], 1.0f, 1e-6f);
    EXPECT_GT(out[0], out[1]);  // the decision, even at an infinite temperature
  }
}

TEST(ModelApply, SaysWhatDoesNotFit) {
  const Scene scene =
      RandomScene({.num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {10}});
  const Model model = TemperatureModel(scene.dataset, 0.7);
  const LogitsView view = ViewOf(scene.logits[0][0], 3);
  std::vector<float> out(30);
  const auto refused =
      [&](ErrorCode code, const std::vector<std::string>& parts, const Model& m, LogitsView in) {
        ExpectError(code, parts, [&] { m.Apply(std::span(&in, 1), SpanOf(&out, 3)); });
      };
  LogitsView strided = view;
  strided.num_voxels = 5;
  strided.voxel_stride = 2;
  refused(ErrorCode::kUnsupported, {"member 0", "voxel stride 2", "contiguous"}, model, strided);
  LogitsView few = view;
  few.num_classes = 2;
  refused(ErrorCode::kBadData, {"member 0", "2 channels", "3 classes"}, model, few);
  LogitsView whole = view;
  whole.dtype = DType::kI32;
  refused(ErrorCode::kBadData, {"int32"}, model, whole);
  refused(ErrorCode::kInvalidArgument,
          {"member 1", "1 members"},
          TemperatureModel(scene.dataset, 1.0, "z1"),
          view);
  std::vector<float> small(15);
  ExpectError(ErrorCode::kInvalidArgument, {"5 voxels", "10"}, [&] {
    model.Apply(std::span(&view, 1), SpanOf(&small, 3));
  });
  ExpectError(ErrorCode::kInvalidArgument, {"no member"}, [&] {
    model.Apply(std::span<const LogitsView>(), SpanOf(&out, 3));
  });
  const ProbsView probs{view};
  ExpectError(ErrorCode::kInvalidArgument, {"takes logits", "given probabilities"}, [&] {
    model.Apply(std::span(&probs, 1), SpanOf(&out, 3));
  });
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
