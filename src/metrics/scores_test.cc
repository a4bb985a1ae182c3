// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "metrics/tiles_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::RandomVoxels;
using testing::Value;
using testing::Voxel;

TEST(Scores, AreMeansOfHandComputedVoxels) {
  const auto scores = Accumulate("scores",
                                 {{.probs = {0.5f, 0.25f, 0.25f}, .label = 0},
                                  {.probs = {0.25f, 0.5f, 0.25f}, .label = 2},
                                  {.probs = {0.0f, 0.0f, 1.0f}, .label = 2}});
  const double log2 = std::log(2.0);
  EXPECT_NEAR(Value(*scores, "nll"), (1.0 + 2.0 + 0.0) * log2 / 3.0, 1e-7);
  EXPECT_NEAR(Value(*scores, "brier"), (0.375 + 0.875 + 0.0) / 3.0, 1e-15);
  EXPECT_NEAR(Value(*scores, "entropy"), (1.5 + 1.5 + 0.0) * log2 / 3.0, 1e-7);
  EXPECT_DOUBLE_EQ(Value(*scores, "accuracy"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(Value(*scores, "confidence"), 2.0 / 3.0);
  EXPECT_NEAR(Value(*scores, "over_confidence"), 0.0, 1e-7);
}

// Independent twin: long double sums over the emitted float32 values.
TEST(Scores, MatchPlainSumsOverEmittedValues) {
  for (const int64_t num_classes : {1, 2, 5, 21}) {
    const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/11, 3001, num_classes);
    long double nll = 0, brier = 0, entropy = 0, correct = 0, confidence = 0, n = 0;
    for (const Voxel& voxel : voxels) {
      if (voxel.label == kNoLabel) continue;
      n += 1;
      nll -= voxel.LogLabel();
      confidence += voxel.Confidence();
      correct += voxel.Correct() ? 1 : 0;
      for (int32_t c = 0; c < num_classes; ++c) {
        const long double q = voxel.probs[static_cast<size_t>(c)];
        const long double difference = q - (c == voxel.label ? 1 : 0);
        brier += difference * difference;
        if (q > 0) entropy -= q * std::log(q);
      }
    }
    const auto scores = Accumulate("scores", voxels);
    const auto near = [&](const char* name, long double sum) {
      const double expected = static_cast<double>(sum / n);
      EXPECT_NEAR(Value(*scores, name), expected, 1e-12 + 1e-9 * std::fabs(expected))
          << name << ", " << num_classes << " classes";
    };
    near("nll", nll);
    near("brier", brier);
    near("entropy", entropy);
    near("accuracy", correct);
    near("confidence", confidence);
    near("over_confidence", nll - entropy);
  }
}

TEST(Scores, OverConfidenceHasTheSignOfTheMistake) {
  const Voxel sure_and_wrong{.probs = {0.99f, 0.01f}, .label = 1};
  const Voxel unsure_and_right{.probs = {0.75f, 0.25f}, .label = 0};
  EXPECT_GT(Value(*Accumulate("scores", {sure_and_wrong}), "over_confidence"), 0.0);
  EXPECT_LT(Value(*Accumulate("scores", {unsure_and_right}), "over_confidence"), 0.0);
}

TEST(Scores, WithoutEntropyOnlyTheNumbersThatNeedItAreUndefined) {
  const std::vector<Voxel> voxels = RandomVoxels(3, 300, 4);
  const auto all = Accumulate("scores", voxels);
  const auto some = Accumulate("scores", voxels, {{"entropy", "false"}});
  for (const char* name : {"nll", "brier", "accuracy", "confidence"})
    EXPECT_EQ(Value(*some, name), Value(*all, name)) << name;
  EXPECT_TRUE(std::isnan(Value(*some, "entropy")));
  EXPECT_TRUE(std::isnan(Value(*some, "over_confidence")));
}

// One voxel in 2^33 is wrong: a float32 counter cannot tell it from none.
TEST(Scores, AccuracyStaysExactPastTwoToThe33) {
  auto scores = Accumulate("scores", {{.probs = {0.75f, 0.25f}, .label = 0}});
  testing::Double(scores.get(), 33);
  scores->Merge(*Accumulate("scores", {{.probs = {0.75f, 0.25f}, .label = 1}}));
  EXPECT_EQ(Value(*scores, "accuracy"), 0x1p33 / (0x1p33 + 1.0));
  EXPECT_EQ(Value(*scores, "confidence"), 0.75);
  EXPECT_EQ(static_cast<float>(0x1p33) + 1.0f, static_cast<float>(0x1p33));
}

}  // namespace
}  // namespace segcal
