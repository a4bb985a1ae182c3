// SPDX-License-Identifier: Apache-2.0
#include "kernels/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/rng.h"
#include "kernels/dispatch.h"

namespace segcal {
namespace {

// The cell by a search over all starts.
int64_t SearchedCell(float x, const std::vector<float>& lower) {
  return std::upper_bound(lower.begin(), lower.end(), x) - lower.begin() - 1;
}

// Starts a few floats apart, within a step and around its ends.
TEST(FindCell, FindsWhatASearchFinds) {
  std::vector<float> lower = {0.0f, 1e-45f, 0.01f, std::nextafter(0.25f, 0.0f), 0.25f};
  for (int i = 0; i < 3; ++i) lower.push_back(std::nextafter(lower.back(), 1.0f));
  lower.insert(lower.end(), {0.2504f, 0.7f, 1.0f, std::numeric_limits<float>::infinity()});
  const std::vector<CellStep> steps = MakeCellSteps(lower);
  const CellEdges edges{.lower = lower, .steps = steps};
  std::vector<float> values = {std::nextafter(1.0f, 2.0f), 1.001f};
  for (const float start : lower) {
    if (std::isfinite(start))
      values.insert(values.end(),
                    {start, std::nextafter(start, 0.0f), std::nextafter(start, 2.0f)});
  }
  Rng rng(3, 0);
  for (int i = 0; i < 5000; ++i) values.push_back(static_cast<float>(rng.Uniform()));
  for (int i = 0; i < 5000; ++i)
    values.push_back(0.25f + 0.001f * static_cast<float>(rng.Uniform()));
  std::vector<int32_t> cells(values.size());
  FindCells(values.data(), std::ssize(values), edges, cells.data());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(cells[i], SearchedCell(values[i], lower)) << values[i];
}

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
