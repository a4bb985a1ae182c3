// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/tiles_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Value;
using testing::Voxel;

Voxel Decided(int32_t label, uint16_t decision, size_t predicted) {
  Voxel voxel{.probs = {0.25f, 0.25f, 0.25f}, .label = label, .decision = decision};
  voxel.probs[predicted] = 0.5f;
  return voxel;
}

TEST(Flips, ShareOutIntoHarmfulBeneficialAndNeutral) {
  const auto flips = Accumulate("flips",
                                {Decided(0, 0, 1),           // harmful
                                 Decided(2, 2, 0),           // harmful
                                 Decided(1, 0, 1),           // beneficial
                                 Decided(2, 0, 1),           // neutral
                                 Decided(1, 1, 1),           // kept, right
                                 Decided(1, 2, 2),           // kept, wrong
                                 Decided(0, 0, 0),           // kept, right
                                 Decided(2, 2, 2),           // kept, right
                                 Decided(kNoLabel, 0, 1)});  // not counted
  EXPECT_EQ(Value(*flips, "flip_rate"), 50.0);
  EXPECT_EQ(Value(*flips, "flips_harmful"), 25.0);
  EXPECT_EQ(Value(*flips, "flips_beneficial"), 12.5);
  EXPECT_EQ(Value(*flips, "flips_neutral"), 12.5);
}

TEST(Flips, ATieKeepsOnlyTheLowestClass) {
  const Voxel kept{.probs = {0.5f, 0.5f}, .label = 0, .decision = 0};
  const Voxel flipped{.probs = {0.5f, 0.5f}, .label = 1, .decision = 1};
  EXPECT_EQ(Value(*Accumulate("flips", {kept}), "flip_rate"), 0.0);
  EXPECT_EQ(Value(*Accumulate("flips", {flipped}), "flips_harmful"), 100.0);
}

// Flips change accuracy by exactly beneficial minus harmful.
TEST(Flips, ExplainTheChangeOfAccuracy) {
  const std::vector<Voxel> voxels = testing::RandomVoxels(/*seed=*/4, 4000, 5);
  int64_t before = 0;
  int64_t after = 0;
  int64_t labelled = 0;
  for (const Voxel& voxel : voxels) {
    before += voxel.label == voxel.decision ? 1 : 0;
    after += voxel.Correct() ? 1 : 0;
    labelled += voxel.label != kNoLabel ? 1 : 0;
  }
  const auto flips = Accumulate("flips", voxels);
  const double change = 100.0 * static_cast<double>(after - before) / static_cast<double>(labelled);
  EXPECT_NE(change, 0.0);
  EXPECT_NEAR(Value(*flips, "flips_beneficial") - Value(*flips, "flips_harmful"), change, 1e-12);
}

TEST(Flips, OneFlipInTwoToThe33IsSeen) {
  auto flips = Accumulate("flips", {Decided(0, 0, 0)});
  testing::Double(flips.get(), 33);
  flips->Merge(*Accumulate("flips", {Decided(0, 0, 1)}));
  EXPECT_EQ(Value(*flips, "flip_rate"), 100.0 / (0x1p33 + 1.0));
}

TEST(Flips, AreAuditedByTheClassOfTheLabel) {
  const auto flips =
      Accumulate("flips", {Decided(0, 0, 1), Decided(0, 0, 0), Decided(1, 0, 1), Decided(1, 1, 1)});
  const MetricValue harmful = testing::Number(*flips, "flips_harmful");
  const MetricValue beneficial = testing::Number(*flips, "flips_beneficial");
  EXPECT_EQ(harmful.per_class[0], 50.0);
  EXPECT_EQ(harmful.per_class[1], 0.0);
  EXPECT_EQ(beneficial.per_class[1], 50.0);
  EXPECT_TRUE(std::isnan(harmful.per_class[2]));  // no such label
}

}  // namespace
}  // namespace segcal
