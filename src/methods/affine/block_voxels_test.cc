// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/block_voxels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/rng.h"

namespace segcal {
namespace {

constexpr AffineShape kGapsOfThree{
    .space = AffineSpace::kWinnerGaps, .per_decision = true, .num_classes = 3};

// Voxels of random features, of the expert of class 0, each of which counts once.
ExpertBatch RandomBatch(int64_t count) {
  ExpertBatch batch(kGapsOfThree, 0);
  Rng rng(4, 0);
  for (int64_t v = 0; v < count; ++v) {
    const float features[] = {static_cast<float>(5.0 * rng.Uniform()),
                              static_cast<float>(5.0 * rng.Uniform())};
    batch.AddColumn(features, static_cast<int32_t>(v % 3), 1.0f);
  }
  return batch;
}

std::vector<double> BlockOfRow(const std::vector<const ExpertBatch*>& batches, int64_t most) {
  const ExpertWeights weights(kGapsOfThree, {1.0, 0.1, 0.2, 0.3, 0.8, 0.0});
  const BlockVoxels voxels(kGapsOfThree, batches, weights, 1);
  std::vector<double> block(9);
  voxels.ComputeBlock(1, most, 2.0, block.data());
  return block;
}

TEST(BlockVoxels, FewThatWeighMostStandForTheRest) {
  const ExpertBatch batch = RandomBatch(kTileVoxels);
  const std::vector<double> all = BlockOfRow({&batch}, kTileVoxels);
  const std::vector<double> some = BlockOfRow({&batch}, kTileVoxels / 4);
  EXPECT_NE(all, some);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_NEAR(some[i], all[i], 0.35 * all[i]) << i;  // three deviations
    EXPECT_EQ(all[i], all[i % 3 * 3 + i / 3]) << i;
  }
}

TEST(BlockVoxels, OfSeveralBatchesAreTheirSum) {
  const ExpertBatch batch = RandomBatch(100);
  const std::vector<double> one = BlockOfRow({&batch}, kTileVoxels);
  const std::vector<double> twice = BlockOfRow({&batch, &batch}, kTileVoxels);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(twice[i], 2.0 * one[i], 1e-4 * one[i]) << i;
}

}  // namespace
}  // namespace segcal
