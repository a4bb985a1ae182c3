// SPDX-License-Identifier: Apache-2.0
#include "kernels/scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/reference_for_test.h"
#include "kernels/softmax.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kScoresClassCounts[] = {1, 2, 3, 20, 57, 200};

struct Emitted {
  RandomTile random;
  AlignedArray<float> probs;
  AlignedArray<float> log_label;
  Emitted(uint64_t seed, int64_t num_classes, int64_t count, double spread)
      : random(seed, num_classes, count, spread),
        probs(num_classes * kTileVoxels),
        log_label(kTileVoxels) {
    SoftmaxTile(random.tile, 1.0, {probs.data(), log_label.data()});
  }
};

// All sums of a tile.
ScoreSums SumsOf(const float* probs,
                 const float* log_label,
                 const int32_t* labels,
                 int64_t num_classes) {
  AlignedArray<float> confidence(kTileVoxels);
  AlignedArray<uint16_t> predicted(kTileVoxels);
  TopLabelTile(probs, num_classes, confidence.data(), predicted.data());
  ScoreSums sums;
  AddTopLabelSums(confidence.data(), predicted.data(), labels, &sums);
  AddLossSums(probs, log_label, labels, num_classes, &sums);
  AddEntropySum(probs, labels, num_classes, &sums);
  return sums;
}

// 1e-11 relative: what an oracle in double precision would see.
TEST(ScoreSums, AgreeWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kScoresClassCounts) {
      for (const double spread : {0.0, 3.0, 40.0, 87.0}) {
        const Emitted e(3, num_classes, 249, spread);
        const ScoreSums exact = reference::Scores(
            e.probs.data(), e.log_label.data(), e.random.labels.data(), num_classes);
        const ScoreSums fast =
            SumsOf(e.probs.data(), e.log_label.data(), e.random.labels.data(), num_classes);
        const double count = static_cast<double>(exact.count);
        EXPECT_EQ(fast.count, exact.count) << target;
        EXPECT_EQ(fast.correct, exact.correct) << target;
        EXPECT_NEAR(fast.confidence, exact.confidence, 1e-11 * exact.confidence) << target;
        EXPECT_NEAR(fast.log_loss, exact.log_loss, 1e-13 * (exact.log_loss + count)) << target;
        EXPECT_NEAR(fast.brier, exact.brier, 1e-11 * exact.brier + 1e-15 * count) << target;
        EXPECT_NEAR(fast.entropy, exact.entropy, 1e-11 * std::fabs(exact.entropy)) << target;
      }
    }
  });
}

TEST(ScoreSums, OfOneHotProbabilitiesAreZero) {
  ForEveryTarget([](const std::string& target) {
    RandomTile random(9, 4, kTileVoxels, 1.0);
    AlignedArray<float> probs(4 * kTileVoxels);
    AlignedArray<float> log_label(kTileVoxels);
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      random.labels[v] = static_cast<int32_t>(v % 4);
      probs[v % 4 * kTileVoxels + v] = 1.0f;
    }
    const ScoreSums sums = SumsOf(probs.data(), log_label.data(), random.labels.data(), 4);
    EXPECT_EQ(sums.count, kTileVoxels) << target;
    EXPECT_EQ(sums.correct, kTileVoxels) << target;
    EXPECT_EQ(sums.log_loss, 0.0) << target;
    EXPECT_EQ(sums.brier, 0.0) << target;
    EXPECT_NEAR(sums.entropy, 0.0, 1e-30) << target;
  });
}

TEST(TopLabelTile, TakesTheLowestClassOfEqualOnes) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kScoresClassCounts) {
      Emitted e(5, num_classes, kTileVoxels, 4.0);
      // Coarse values make ties the rule.
      for (int64_t i = 0; i < e.probs.size(); ++i) {
        e.probs[i] = std::round(8.0f * e.probs[i]) / 8.0f;
      }
      AlignedArray<float> confidence(kTileVoxels);
      AlignedArray<uint16_t> predicted(kTileVoxels);
      TopLabelTile(e.probs.data(), num_classes, confidence.data(), predicted.data());
      for (int64_t v = 0; v < kTileVoxels; ++v) {
        const int64_t exact = reference::TopLabel(e.probs.data(), num_classes, v);
        ASSERT_EQ(predicted[v], exact) << target;
        ASSERT_EQ(confidence[v], e.probs[exact * kTileVoxels + v]) << target;
      }
    }
  });
}

}  // namespace
}  // namespace segcal
