// SPDX-License-Identifier: Apache-2.0
#include "verify/verify_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace segcal {
namespace {

constexpr auto kVoxels = static_cast<size_t>(kBlockVoxels);

InputForm FormOf(int64_t num_classes,
                 InputKind input = InputKind::kLogits,
                 const std::string& pooling = "z") {
  InputForm form{.classes = {}, .input = input, .pooling = ParsePooling(pooling)};
  for (int64_t c = 0; c < num_classes; ++c) form.classes.push_back("c" + std::to_string(c));
  return form;
}

std::vector<float> RowOf(const std::vector<float>& member, size_t v) {
  std::vector<float> row;
  for (size_t i = v; i < member.size(); i += kVoxels) row.push_back(member[i]);
  return row;
}

// Oracle: pooling itself, which throws on a voxel that is no legal input.
TEST(VerifyInputs, ArePooledWithoutAFaultForEveryInputAndPooling) {
  for (const InputKind input : {InputKind::kLogits, InputKind::kLogProbs, InputKind::kProbs}) {
    for (const char* pooling : {"z", "p", "z0", "z3"}) {
      for (const int64_t num_classes : {1, 2, 7}) {
        const InputForm form = FormOf(num_classes, input, pooling);
        const InputGenerator generator(form, /*seed=*/3);
        const GeneratedCase made = generator.Mixed(2);
        const auto reader = generator.Open(made);
        EXPECT_EQ(reader->shape().size(), 2u);
        VoxelBlock block;
        TileBuffer buffer;
        block.Read(*reader, 0, kBlockVoxels);
        for (int64_t t = 0; t < block.num_tiles(); ++t)
          EXPECT_NO_THROW(block.PoolTileInto(t, form.pooling, &buffer)) << Name(input) << pooling;
        EXPECT_EQ(block.TakeRenormalised(), 0) << Name(input) << pooling;
      }
    }
  }
}

TEST(VerifyInputs, AreAFunctionOfSeedAndIndex) {
  const InputForm form = FormOf(4);
  const GeneratedCase made = InputGenerator(form, 5).Mixed(7);
  EXPECT_TRUE(InputGenerator(form, 5).Mixed(7).members == made.members);
  EXPECT_FALSE(InputGenerator(form, 5).Mixed(8).members == made.members);
  EXPECT_FALSE(InputGenerator(form, 6).Mixed(7).members == made.members);
}

// Each kind must have what it is for, or it finds nothing.
TEST(VerifyInputs, HaveTiesNearTiesMergedNeighboursAndExtremes) {
  const InputForm form = FormOf(6, InputKind::kLogits, "z0");
  const InputGenerator generator(form, 1);
  const GeneratedCase made = generator.Mixed(0);
  const auto reader = generator.Open(made);
  VoxelBlock block;
  TileBuffer buffer;
  block.Read(*reader, 0, kBlockVoxels);
  std::array<int, 6> seen{}, found{};
  for (size_t v = 0; v < kVoxels; ++v) {
    const auto kind = static_cast<size_t>(made.kinds[v]);
    const auto t = static_cast<int64_t>(v) / kTileVoxels;
    const Tile tile = block.PoolTileInto(t, form.pooling, &buffer);
    std::vector<float> row = RowOf(made.members[0], v);
    const float largest = *std::max_element(row.begin(), row.end());
    bool has = made.kinds[v] == RowKind::kRandom;
    for (size_t a = 0; a < row.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        const auto pooled = [&](size_t c) {
          return tile.logits[static_cast<int64_t>(c) * kTileVoxels +
                             static_cast<int64_t>(v) % kTileVoxels];
        };
        const bool tie = row[a] == row[b];
        const bool near = !tie && row[a] == largest && std::nextafter(largest, -1e9f) == row[b];
        if (made.kinds[v] == RowKind::kTies) has = has || tie;
        if (made.kinds[v] == RowKind::kNearTies) has = has || near;
        if (made.kinds[v] == RowKind::kMerged) has = has || (!tie && pooled(a) == pooled(b));
      }
    }
    if (made.kinds[v] == RowKind::kExtremes)
      has = std::any_of(row.begin(), row.end(), [](float z) { return std::fabs(z) > 1e29f; });
    ++seen[kind];
    found[kind] += has ? 1 : 0;
  }
  for (const RowKind kind : {RowKind::kRandom,
                             RowKind::kNearTies,
                             RowKind::kTies,
                             RowKind::kMerged,
                             RowKind::kExtremes}) {
    const auto k = static_cast<size_t>(kind);
    EXPECT_GT(seen[k], 1000) << Name(kind);
    EXPECT_GT(10 * found[k], seen[k]) << Name(kind);
  }
}

// Means of two members fall between float32 numbers, where rounding could lose the decision.
TEST(VerifyInputs, HaveMeansThatFloat32CannotHold) {
  const GeneratedCase made = InputGenerator(FormOf(3), 1).Mixed(0);
  ASSERT_EQ(made.members.size(), 2u);
  int between = 0;
  for (size_t i = 0; i < made.members[0].size(); ++i) {
    const double mean =
        0.5 * (static_cast<double>(made.members[0][i]) + static_cast<double>(made.members[1][i]));
    between += static_cast<double>(static_cast<float>(mean)) != mean ? 1 : 0;
  }
  EXPECT_GT(between, 1000);
}

TEST(VerifyInputs, AddWholeOffsetsToTheGridWithoutRounding) {
  const InputGenerator generator(FormOf(5), 2);
  const GeneratedCase made = generator.OnGrid(4);
  const GeneratedCase shifted = generator.WithOffsets(made);
  double largest = 0.0;
  for (size_t m = 0; m < made.members.size(); ++m) {
    for (size_t v = 0; v < kVoxels; ++v) {
      const std::vector<float> row = RowOf(made.members[m], v);
      const std::vector<float> moved = RowOf(shifted.members[m], v);
      const double offset = static_cast<double>(moved[0]) - static_cast<double>(row[0]);
      EXPECT_EQ(offset, std::nearbyint(offset));
      largest = std::max(largest, std::fabs(offset));
      for (size_t c = 0; c < row.size(); ++c) {
        EXPECT_LE(std::fabs(row[c]), 64.0f);
        EXPECT_EQ(std::fmod(static_cast<double>(row[c]) * 256.0, 1.0), 0.0);
        ASSERT_EQ(static_cast<double>(moved[c]), static_cast<double>(row[c]) + offset);
      }
    }
  }
  EXPECT_LE(largest, 0x1p14);
  EXPECT_GT(largest, 0x1p13);
}

}  // namespace
}  // namespace segcal
