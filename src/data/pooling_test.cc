// SPDX-License-Identifier: Apache-2.0
#include "data/pooling.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/voxel_block.h"
#include "kernels/softmax.h"
#include "tests/support/errors.h"
#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::ExpectError;

TEST(Pooling, EveryFormReadsBackToItself) {
  for (const char* text : {"z", "p", "z0", "z1", "z17", "z99999"}) {
    EXPECT_TRUE(LooksLikePooling(text)) << text;
    EXPECT_EQ(FormatPooling(ParsePooling(text)), text);
  }
  EXPECT_EQ(ParsePooling("z12").member, 12);
  EXPECT_EQ(ParsePooling("p").rule, PoolRule::kMeanProbs);
}

TEST(Pooling, OtherTextIsRefused) {
  for (const char* text : {"", "Z", "p0", "z-1", "z 1", "zz", "z123456", "mean"}) {
    EXPECT_FALSE(LooksLikePooling(text)) << text;
    ExpectError(ErrorCode::kInvalidArgument, {std::string("\"") + text + "\"", "z0"}, [&] {
      ParsePooling(text);
    });
  }
}

TEST(InputKind, IsOneOfThreeWords) {
  EXPECT_EQ(ParseInputKind("logits"), InputKind::kLogits);
  EXPECT_EQ(ParseInputKind("log_probabilities"), InputKind::kLogProbs);
  EXPECT_EQ(ParseInputKind("probabilities"), InputKind::kProbs);
  ExpectError(ErrorCode::kInvalidArgument, {"\"softmax\""}, [] { ParseInputKind("softmax"); });
}

TEST(InputKind, HasTheFloorOfTheDefinitions) {
  EXPECT_EQ(InputFloor(InputKind::kProbs), std::log(1e-8));
  EXPECT_EQ(InputFloor(InputKind::kLogits), -87.0);
}

// Probabilities of every voxel of a scene's first case, [voxel][class].
std::vector<float> PooledProbs(const testing::Scene& scene, const Pooling& pooling) {
  std::vector<float> probs;
  TileBuffer buffer;
  AlignedBuffer memory;
  const int64_t num_classes = scene.dataset.num_classes();
  auto* out = reinterpret_cast<float*>(memory.Reserve((num_classes + 1) * kTileVoxels * 4));
  const TileProbs emitted{.probs = out, .log_label = out + num_classes * kTileVoxels};
  const auto stream = scene.Stream(1);
  stream->ForEachBlock("test", [&](VoxelBlock& block, int64_t, int) {
    for (int64_t t = 0; t < block.num_tiles(); ++t) {
      const Tile tile = block.PoolTileInto(t, pooling, &buffer);
      SoftmaxTile(tile, 1.0, emitted);
      for (int64_t v = 0; v < tile.count; ++v) {
        for (int64_t c = 0; c < tile.num_classes; ++c) probs.push_back(out[c * kTileVoxels + v]);
      }
    }
  });
  return probs;
}

// An offset of a whole number per voxel and member, exact in float32.
testing::Scene WithMemberShifts(testing::Scene scene) {
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t m = 0; m < scene.logits[0].size(); ++m) {
    auto& values = scene.logits[0][m];
    for (size_t i = 0; i < values.size(); ++i) {
      const auto shift = static_cast<int>((i % n * 7 + m * 311) % 2001) - 1000;
      values[i] += static_cast<float>(shift);
    }
  }
  return scene;
}

// Softmax forgets an offset common to all classes, and so do both means over members: exp(mean z)
// gets one factor, each p_m none. Checked against the unshifted input.
TEST(Pooling, ForgetsAnOffsetOfEachMember) {
  const testing::Scene scene =
      testing::RandomScene({.num_cases = 1, .num_members = 3, .num_classes = 6, .shape = {19, 31}});
  const testing::Scene shifted = WithMemberShifts(scene);
  for (const char* text : {"z", "p", "z0", "z2"}) {
    const auto expected = PooledProbs(scene, ParsePooling(text));
    const auto found = PooledProbs(shifted, ParsePooling(text));
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-6) << text;
  }
}

// Closed forms: p is the mean of softmaxes, z the softmax of the mean.
TEST(Pooling, AveragesProbabilitiesOrLogits) {
  const testing::Scene scene = testing::RandomScene(
      {.seed = 2, .num_cases = 1, .num_members = 2, .num_classes = 3, .shape = {300}});
  const auto mean_probs = PooledProbs(scene, ParsePooling("p"));
  const auto mean_logits = PooledProbs(scene, ParsePooling("z"));
  const auto n = static_cast<size_t>(scene.num_voxels());
  for (size_t v = 0; v < n; ++v) {
    double z[2][3], sum[2] = {0, 0}, pooled_sum = 0.0;
    for (size_t m = 0; m < 2; ++m) {
      for (size_t c = 0; c < 3; ++c) {
        z[m][c] = static_cast<double>(scene.logits[0][m][c * n + v]);
        sum[m] += std::exp(z[m][c]);
      }
    }
    for (size_t c = 0; c < 3; ++c) pooled_sum += std::exp(0.5 * (z[0][c] + z[1][c]));
    for (size_t c = 0; c < 3; ++c) {
      const double p = 0.5 * (std::exp(z[0][c]) / sum[0] + std::exp(z[1][c]) / sum[1]);
      ASSERT_NEAR(static_cast<double>(mean_probs[v * 3 + c]), p, 1e-6);
      const double q = std::exp(0.5 * (z[0][c] + z[1][c])) / pooled_sum;
      ASSERT_NEAR(static_cast<double>(mean_logits[v * 3 + c]), q, 1e-6);
    }
  }
}

}  // namespace
}  // namespace segcal
