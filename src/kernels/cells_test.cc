// SPDX-License-Identifier: Apache-2.0
#include "kernels/cells.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"
#include "kernels/dispatch.h"

namespace segcal {
namespace {

// Every instruction set of this machine against one voxel after the other.
TEST(SplitRow, MatchesItsScalarTwinOnEveryTarget) {
  constexpr float kLow = 0.01f;
  const std::string before = ActiveTarget();
  for (const std::string& target : SupportedTargets()) {
    PinTarget(target);
    for (uint64_t seed = 0; seed < 20; ++seed) {
      Rng rng(seed, 0);
      alignas(64) float row[kTileVoxels];
      alignas(64) int32_t labels[kTileVoxels];
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        row[v] = static_cast<float>(std::exp(-0.5 * static_cast<double>(seed) * rng.Uniform()));
        if (rng.Below(9) == 0) row[v] = 0.0f;
        if (rng.Below(9) == 0) row[v] = kLow;
        labels[v] = static_cast<int32_t>(rng.Below(4)) - 1;
      }
      LowSums expected;
      std::vector<float> kept;
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        if (labels[v] == kNoLabel) continue;
        const bool hit = labels[v] == 1;
        if (row[v] >= kLow) {
          kept.push_back(hit ? -row[v] : row[v]);
          continue;
        }
        expected.count += 1;
        expected.correct += hit ? 1 : 0;
        expected.zeros += row[v] == 0.0f ? 1 : 0;
        expected.zeros_correct += row[v] == 0.0f && hit ? 1 : 0;
        expected.confidence += static_cast<double>(row[v]);
      }
      LowSums found;
      float others[kTileVoxels];
      const int64_t n = SplitRow(row, 1, labels, kLow, &found, others);
      EXPECT_EQ(std::vector<float>(others, others + n), kept) << target << " " << seed;
      EXPECT_EQ(found.count, expected.count);
      EXPECT_EQ(found.correct, expected.correct);
      EXPECT_EQ(found.zeros, expected.zeros);
      EXPECT_EQ(found.zeros_correct, expected.zeros_correct);
      EXPECT_NEAR(found.confidence, expected.confidence, 1e-14);
    }
  }
  PinTarget(before);
}

}  // namespace
}  // namespace segcal
