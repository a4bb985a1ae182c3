// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "kernels/emit.h"
#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

TEST(HashTile, IsTheSameForEveryInstructionSet) {
  for (const int64_t num_classes : {1, 2, 20, 200}) {
    const RandomTile random(1, num_classes, 243, 20.0);
    std::set<uint64_t> hashes;
    ForEveryTarget([&](const std::string&) { hashes.insert(HashTile(random.tile, 5)); });
    EXPECT_EQ(hashes.size(), 1u) << num_classes;
  }
}

// The value is part of model files and must not change from one version to the next. The number was
// computed by an independent script with integers of unlimited size.
TEST(HashTile, OfAFixedTileNeverChanges) {
  RandomTile fixed(1, 3, 10, 1.0);
  for (int64_t v = 0; v < 10; ++v) {
    for (int64_t c = 0; c < 3; ++c) {
      fixed.logits[c * kTileVoxels + v] =
          c + v % 7 == 0 ? 0.0f : -0.25f * static_cast<float>(c + v % 7);
    }
    fixed.offset[v] = static_cast<double>(v);
    fixed.decision[v] = static_cast<uint16_t>(v % 3);
    fixed.labels[v] = static_cast<int32_t>(v % 4 - 1);
  }
  EXPECT_EQ(HashTile(fixed.tile, 5), 0xDD6D7F89F937DAF3u);
}

TEST(HashTile, SeesEveryValueOfItsVoxelsAndNothingElse) {
  RandomTile random(1, 4, 200, 20.0);
  const uint64_t before = HashTile(random.tile, 5);
  std::set<uint64_t> hashes = {before, HashTile(random.tile, 6)};
  const auto expect_new = [&](const char* what) {
    EXPECT_TRUE(hashes.insert(HashTile(random.tile, 5)).second) << what;
  };
  random.logits[3 * kTileVoxels + 199] =
      std::nextafter(random.logits[3 * kTileVoxels + 199], -90.0f);
  expect_new("logit");
  random.offset[100] += 1.0;
  expect_new("offset");
  random.decision[0] ^= 1;
  expect_new("decision");
  random.labels[150] = random.labels[150] == kNoLabel ? 0 : kNoLabel;
  expect_new("label");
  random.logits[7] = -1.0f;
  random.logits[8] = -2.0f;
  expect_new("two logits");
  std::swap(random.logits[7], random.logits[8]);
  expect_new("order of voxels");
  const uint64_t last = HashTile(random.tile, 5);
  random.logits[200] = -1.0f;
  random.labels[200] = 1;
  EXPECT_EQ(HashTile(random.tile, 5), last) << "padding";
}

}  // namespace
}  // namespace segcal
