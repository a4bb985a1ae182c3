// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/tiles_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Number;
using testing::RandomVoxels;
using testing::Value;
using testing::Voxel;

// Plain twin of one class: bins found by comparing with the edges as they are defined.
struct PlainClass {
  long double ece = 0, mce = 0, ace = 0, reliability = 0, resolution = 0, uncertainty = 0;
};
PlainClass Plain(const std::vector<Voxel>& voxels, size_t c, int num_bins, int ace_bins) {
  const auto class_of = static_cast<int32_t>(c);
  std::vector<long double> n(static_cast<size_t>(num_bins)), hits(n), sum(n);
  std::vector<long double> an(static_cast<size_t>(ace_bins)), ahits(an), asum(an);
  long double total = 0, labelled = 0;
  for (const Voxel& voxel : voxels) {
    if (voxel.label == kNoLabel) continue;
    const float x = voxel.probs[c];
    size_t k = 0;
    while (static_cast<int>(k) + 1 < num_bins &&
           x > static_cast<float>(static_cast<double>(k + 1) / num_bins))
      ++k;
    size_t j = 0;
    while (static_cast<int>(j) + 1 < ace_bins &&
           static_cast<double>(x) >= static_cast<double>(j + 1) * ((1.0 + 1e-8) / ace_bins))
      ++j;
    const long double hit = voxel.label == class_of ? 1 : 0;
    n[k] += 1, hits[k] += hit, sum[k] += x;
    an[j] += 1, ahits[j] += hit, asum[j] += x;
    total += 1, labelled += hit;
  }
  PlainClass found;
  found.uncertainty = labelled / total * (1 - labelled / total);
  for (size_t k = 0; k < n.size(); ++k) {
    if (n[k] == 0) continue;
    const long double gap = std::fabs(sum[k] - hits[k]) / n[k];
    const long double apart = hits[k] / n[k] - labelled / total;
    found.ece += n[k] / total * gap;
    found.mce = std::max(found.mce, gap);
    found.reliability += n[k] / total * gap * gap;
    found.resolution += n[k] / total * apart * apart;
  }
  long double non_empty = 0;
  for (size_t j = 0; j < an.size(); ++j) {
    if (an[j] == 0) continue;
    found.ace += std::fabs(asum[j] - ahits[j]) / an[j];
    non_empty += 1;
  }
  found.ace /= non_empty;
  return found;
}

TEST(Classwise, MatchesPlainTwin) {
  for (const size_t num_classes : {1u, 2u, 7u}) {
    const std::vector<Voxel> voxels =
        RandomVoxels(/*seed=*/31, 4001, static_cast<int64_t>(num_classes));
    for (const int bins : {1, 13, 50}) {
      const auto errors = Accumulate("classwise", voxels, {{"bins", std::to_string(bins)}});
      long double sum = 0, largest = 0, average = 0, reliability = 0, resolution = 0, rest = 0;
      for (size_t c = 0; c < num_classes; ++c) {
        const PlainClass plain = Plain(voxels, c, bins, 15);
        sum += plain.ece;
        largest += plain.mce;
        average += plain.ace;
        reliability += plain.reliability;
        resolution += plain.resolution;
        rest += plain.uncertainty;
        EXPECT_NEAR(
            Number(*errors, "classwise_ece").per_class[c], static_cast<double>(plain.ece), 1e-12);
      }
      const auto near = [&](const char* name, long double expected) {
        EXPECT_NEAR(Value(*errors, name), static_cast<double>(expected), 1e-12) << name << bins;
      };
      const auto count = static_cast<long double>(num_classes);
      near("classwise_ece", sum / count);
      near("classwise_ece_sum", sum);
      near("sce", sum / count);
      near("classwise_mce", largest / count);
      near("classwise_ace", average / count);
      near("brier_reliability", reliability);
      near("brier_resolution", resolution);
      near("brier_uncertainty", rest);
    }
  }
}

TEST(Classwise, TwoClassesAreEquallyWrong) {
  // Dyadic probabilities inside bins, so both classes bin alike: 0.625 and 0.375.
  std::vector<Voxel> voxels;
  for (int i = 0; i < 8; ++i) voxels.push_back({.probs = {0.625f, 0.375f}, .label = i < 7 ? 0 : 1});
  const MetricValue errors = Number(*Accumulate("classwise", voxels), "classwise_ece");
  EXPECT_EQ(errors.per_class[0], 0.25);
  EXPECT_EQ(errors.per_class[1], 0.25);
}

TEST(Classwise, ForegroundLeavesTheBackgroundOutOfVoxelsAndMeans) {
  const std::vector<Voxel> voxels = RandomVoxels(/*seed=*/32, 900, 3);
  std::vector<Voxel> kept;
  for (const Voxel& voxel : voxels) {
    if (voxel.label != 0) kept.push_back(voxel);
  }
  const MetricValue found =
      Number(*Accumulate("classwise", voxels, {{"foreground", "true"}}, /*background=*/0),
             "classwise_ece");
  const MetricValue all = Number(*Accumulate("classwise", kept), "classwise_ece");
  EXPECT_EQ(found.per_class, all.per_class);
  EXPECT_DOUBLE_EQ(found.value, (all.per_class[1] + all.per_class[2]) / 2.0);
}

// A class that is absent from labels and never probable has no error; one that is probable has.
TEST(Classwise, AbsentClassesAreMeasuredToo) {
  const std::vector<Voxel> voxels = {{.probs = {0.75f, 0.25f, 0.0f}, .label = 0},
                                     {.probs = {0.75f, 0.25f, 0.0f}, .label = 0}};
  const MetricValue errors = Number(*Accumulate("classwise", voxels), "classwise_ece");
  EXPECT_EQ(errors.per_class, (std::vector<double>{0.25, 0.25, 0.0}));
}

TEST(Classwise, PresetOfMonaiAveragesBinsOfEveryChannel) {
  // Channel 0: 0.5 (bin 10, closed) right and 0.55 (bin 11) wrong.
  const std::vector<Voxel> voxels = {{.probs = {0.5f, 0.5f}, .label = 0},
                                     {.probs = {0.5625f, 0.4375f}, .label = 1}};
  const MetricValue average =
      Number(*Accumulate("classwise", voxels, {{"preset", "monai"}}), "classwise_ace");
  EXPECT_EQ(average.per_class[0], (0.5 + 0.5625) / 2.0);
  EXPECT_EQ(average.per_class[1], (0.5 + 0.5625) / 2.0);
}

}  // namespace
}  // namespace segcal
