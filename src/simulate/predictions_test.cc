// SPDX-License-Identifier: Apache-2.0
#include "simulate/predictions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/half.h"

namespace segcal {
namespace {

SimulationPlan SmallPlan(SimulateOptions options = {}) {
  options.size = {20, 30};
  options.num_classes = 3;
  options.threads = 1;
  return MakePlan(options);
}

std::vector<float> Predict(const SimulationPlan& plan, int64_t member) {
  const CaseStreams streams{1, 0};
  const Scene scene = MakeScene(*plan.preset, plan.shape(), plan.num_classes(), streams);
  return MemberPrediction(plan, SharedLogits(plan, scene, streams), member, streams);
}

TEST(HalfFromFloat, InvertsFloatFromHalf) {
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const float value = FloatFromHalf(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    EXPECT_EQ(HalfFromFloat(value), bits);
  }
}

TEST(HalfFromFloat, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7BFFu; ++bits) {
    const float low = FloatFromHalf(static_cast<uint16_t>(bits));
    const float high = FloatFromHalf(static_cast<uint16_t>(bits + 1));
    const float middle = 0.5f * (low + high);
    EXPECT_EQ(HalfFromFloat(middle), bits % 2 == 0 ? bits : bits + 1);
    EXPECT_EQ(HalfFromFloat(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(HalfFromFloat(std::nextafter(middle, 1e9f)), bits + 1);
  }
  EXPECT_EQ(HalfFromFloat(65519.0f), 0x7BFF);
  EXPECT_EQ(HalfFromFloat(-65520.0f), 0xFC00);
}

TEST(MemberPrediction, WithoutDisturbancesEveryMemberIsTheSharedOne) {
  SimulateOptions options;
  options.offset = 0.0;
  options.member_noise = 0.0;
  const SimulationPlan plan = SmallPlan(options);
  EXPECT_EQ(Predict(plan, 0), Predict(plan, 1));
}

// An offset alone moves all classes of a voxel alike, differently per voxel and member.
TEST(MemberPrediction, OffsetIsCommonToTheClassesOfAVoxel) {
  SimulateOptions options;
  options.member_noise = 0.0;
  options.offset = 3.0;
  const SimulationPlan plan = SmallPlan(options);
  const std::vector<float> a = Predict(plan, 0);
  const std::vector<float> b = Predict(plan, 1);
  for (const size_t v : {0, 299, 599}) {
    const float shift = a[v] - b[v];
    EXPECT_GT(std::fabs(shift), 0.01f);
    EXPECT_NEAR(a[600 + v] - b[600 + v], shift, 1e-4f);
    EXPECT_NEAR(a[1200 + v] - b[1200 + v], shift, 1e-4f);
  }
}

TEST(MemberPrediction, HalfPrecisionValuesAreRepresentable) {
  SimulateOptions options;
  options.dtype = DType::kF16;
  for (const float x : Predict(SmallPlan(options), 0)) {
    EXPECT_EQ(x, FloatFromHalf(HalfFromFloat(x)));
  }
}

TEST(MemberPrediction, ProbabilitiesAreTheSoftmaxOfTheLogits) {
  SimulateOptions options;
  const std::vector<float> logits = Predict(SmallPlan(options), 0);
  options.input = InputKind::kProbs;
  const std::vector<float> probs = Predict(SmallPlan(options), 0);
  for (size_t v = 0; v < 600; ++v) {
    const double sum = std::exp(static_cast<double>(logits[v])) +
                       std::exp(static_cast<double>(logits[600 + v])) +
                       std::exp(static_cast<double>(logits[1200 + v]));
    EXPECT_NEAR(static_cast<double>(probs[600 + v]),
                std::exp(static_cast<double>(logits[600 + v])) / sum,
                1e-7);
  }
}

TEST(AddToPool, IsTheMeanOfLogits) {
  SimulateOptions options;
  options.num_members = 2;
  const SimulationPlan plan = SmallPlan(options);
  const std::vector<float> a = Predict(plan, 0);
  const std::vector<float> b = Predict(plan, 1);
  std::vector<double> pooled(a.size(), 0.0);
  AddToPool(plan, a, &pooled);
  AddToPool(plan, b, &pooled);
  for (size_t i = 0; i < a.size(); i += 77) {
    EXPECT_NEAR(pooled[i], 0.5 * (static_cast<double>(a[i]) + static_cast<double>(b[i])), 1e-12);
  }
}

// Rows are divided by their sum, then floored at 1e-8.
TEST(AddToPool, TakesLogarithmsOfProbabilitiesWithAFloor) {
  SimulateOptions options;
  options.input = InputKind::kProbs;
  const SimulationPlan plan = SmallPlan(options);
  std::vector<float> stored(1800, 0.0f);
  for (size_t v = 0; v < 600; ++v) {
    stored[v] = 0.5f;
    stored[600 + v] = 0.25f;
  }
  std::vector<double> pooled(1800, 0.0);
  AddToPool(plan, stored, &pooled);
  EXPECT_NEAR(pooled[10], std::log(2.0 / 3.0), 1e-12);
  EXPECT_NEAR(pooled[610], std::log(1.0 / 3.0), 1e-12);
  EXPECT_NEAR(pooled[1210], std::log(1e-8), 1e-12);
}

}  // namespace
}  // namespace segcal
