// SPDX-License-Identifier: Apache-2.0
#include "pipeline/emit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace segcal {
namespace {

// Emits the same probability for every class: a tie everywhere.
class Uniform final : public BoundCalibrator {
 public:
  void Apply(const Tile& tile, const TileProbs& out) const override {
    std::fill_n(
        out.probs, tile.num_classes * kTileVoxels, 1.0f / static_cast<float>(tile.num_classes));
    std::fill_n(out.log_label, kTileVoxels, 0.0f);
  }
};

struct alignas(64) Decisions {
  uint16_t at[kTileVoxels];
};

std::vector<float> Emit(Preserves preserves, const Decisions& decisions) {
  Tile tile;
  tile.num_classes = 3;
  tile.count = kTileVoxels;
  tile.decision = decisions.at;
  EmitBuffer buffer;
  const TileProbs probs = buffer.Reserve(3);
  EmitTile(Uniform(), {.translation_invariant = true, .preserves = preserves}, tile, probs);
  return {probs.probs, probs.probs + 3 * kTileVoxels};
}

// The winner rule of the definitions: m(1 + 2^-23), m the largest other value.
TEST(EmitTile, RaisesTheDecisionAboveATieWherePromised) {
  Decisions decisions;
  for (size_t v = 0; v < kTileVoxels; ++v) decisions.at[v] = static_cast<uint16_t>(v % 3);
  const float third = 1.0f / 3.0f;
  for (const Preserves preserves : {Preserves::kArgmax, Preserves::kOrder}) {
    const std::vector<float> probs = Emit(preserves, decisions);
    for (size_t v = 0; v < kTileVoxels; ++v) {
      for (size_t c = 0; c < 3; ++c) {
        const float expected = c == v % 3 ? third * (1.0f + 0x1p-23f) : third;
        ASSERT_EQ(probs[c * kTileVoxels + v], expected);
      }
    }
    EXPECT_GT(third * (1.0f + 0x1p-23f), third);
  }
}

TEST(EmitTile, LeavesTiesWhereNothingIsPromised) {
  Decisions decisions{};
  for (const float q : Emit(Preserves::kNone, decisions)) ASSERT_EQ(q, 1.0f / 3.0f);
}

}  // namespace
}  // namespace segcal
