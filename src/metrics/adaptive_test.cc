// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "metrics/tiles_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Number;
using testing::RandomVoxels;
using testing::Value;
using testing::Voxel;

std::vector<Voxel> Labelled(std::vector<Voxel> voxels) {
  std::erase_if(voxels, [](const Voxel& voxel) { return voxel.label == kNoLabel; });
  return voxels;
}

// Plain twin without ties: sorted pairs, cut at floor(k n / B).
double EqualMass(std::vector<std::pair<float, bool>> values, size_t num_bins) {
  std::sort(values.begin(), values.end());
  double gaps = 0.0, bins = 0.0;
  for (size_t k = 0; k < num_bins; ++k) {
    const size_t first = k * values.size() / num_bins;
    const size_t last = (k + 1) * values.size() / num_bins;
    if (first == last) continue;
    double sum = 0.0;
    for (size_t i = first; i < last; ++i)
      sum += static_cast<double>(values[i].first) - (values[i].second ? 1.0 : 0.0);
    gaps += std::fabs(sum) / static_cast<double>(last - first);
    bins += 1.0;
  }
  return bins > 0.0 ? gaps / bins : std::nan("");
}

TEST(Adaptive, MatchesPlainTwin) {
  const std::vector<Voxel> voxels = Labelled(RandomVoxels(/*seed=*/41, 3001, 4));
  const auto errors = Accumulate("adaptive", voxels, {{"adaptive_bins", "11"}});
  for (size_t c = 0; c < 4; ++c) {
    std::vector<std::pair<float, bool>> all, above;
    for (const Voxel& voxel : voxels) {
      all.emplace_back(voxel.probs[c], voxel.label == static_cast<int32_t>(c));
      if (voxel.probs[c] > 1e-3f) above.push_back(all.back());
    }
    EXPECT_NEAR(Number(*errors, "adaptive_ece").per_class[c], EqualMass(all, 11), 1e-12);
    EXPECT_NEAR(Number(*errors, "tace").per_class[c], EqualMass(above, 11), 1e-12);
  }
}

// Twin of (AD5) by its definition: edges at percentiles, voxels by bin and predicted class.
TEST(Adaptive, PercentileBinsByPredictedClass) {
  const std::vector<Voxel> voxels = Labelled(RandomVoxels(/*seed=*/42, 1203, 3));
  std::vector<double> sorted;
  for (const Voxel& voxel : voxels) sorted.push_back(static_cast<double>(voxel.Confidence()));
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> edges;
  for (size_t k = 1; k < 10; ++k) {
    const double place = static_cast<double>((sorted.size() - 1) * k) / 10.0;
    const auto rank = static_cast<size_t>(place);
    const double rest = place - static_cast<double>(rank);
    edges.push_back(sorted[rank] + (sorted[rank + 1] - sorted[rank]) * rest);
  }
  edges.push_back(2.0);
  double sum = 0.0;
  for (uint16_t c = 0; c < 3; ++c) {
    double lower = -1.0;
    for (const double upper : edges) {
      double gap = 0.0;
      for (const Voxel& voxel : voxels) {
        const auto x = static_cast<double>(voxel.Confidence());
        if (voxel.Predicted() == c && x > lower && x <= upper)
          gap += x - (voxel.Correct() ? 1.0 : 0.0);
      }
      sum += std::fabs(gap);
      lower = upper;
    }
  }
  const auto errors = Accumulate("adaptive", voxels, {{"adaptive_bins", "10"}});
  EXPECT_NEAR(Value(*errors, "adaptive_ece_s2"), sum / static_cast<double>(voxels.size()), 1e-12);
}

// All voxels alike: whatever the bins, the gap is the same.
TEST(Adaptive, TiesAreSharedOutEvenly) {
  std::vector<Voxel> voxels;
  for (int i = 0; i < 10; ++i) voxels.push_back({.probs = {0.75f, 0.25f}, .label = i < 4 ? 0 : 1});
  const auto errors = Accumulate("adaptive", voxels, {{"adaptive_bins", "3"}});
  EXPECT_DOUBLE_EQ(Number(*errors, "adaptive_ece").per_class[0], 0.35);
  EXPECT_DOUBLE_EQ(Value(*errors, "adaptive_ece_s2"), 0.35);
}

TEST(Adaptive, AClassBelowTheThresholdIsLeftOutOfTheMean) {
  const std::vector<Voxel> voxels = {{.probs = {0.75f, 0.25f, 0.0f}, .label = 0}};
  const MetricValue tace = Number(*Accumulate("adaptive", voxels), "tace");
  EXPECT_TRUE(std::isnan(tace.per_class[2]));
  EXPECT_DOUBLE_EQ(tace.value, 0.25);
  EXPECT_DOUBLE_EQ(Value(*Accumulate("adaptive", voxels), "adaptive_ece"), 0.5 / 3.0);
}

TEST(Adaptive, IsComputedOnRequestOnly) { EXPECT_TRUE(testing::Family("adaptive").on_request); }

}  // namespace
}  // namespace segcal
