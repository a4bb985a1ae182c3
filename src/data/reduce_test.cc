// SPDX-License-Identifier: Apache-2.0
#include "data/reduce.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::Scene;

// The sum of all first logits.
struct FirstLogits {
  void Flush() {
    total += pending;
    pending = 0;
  }
  static constexpr auto SumFields() { return std::tuple(&FirstLogits::total); }
  int64_t pending = 0;  // whole numbers: exact in any order
  int64_t total = 0;
};

int64_t FirstLogit(const Tile& tile, int64_t v) {
  return static_cast<int64_t>(tile.logits[v] * 256.0f);
}

TEST(ReduceTiles, AddsUpEveryVoxelForAnyNumberOfThreads) {
  const Scene scene = RandomScene({.num_cases = 3, .num_classes = 2, .shape = {130, 97}});
  const auto add = [](const Tile& tile, int64_t, FirstLogits* sums) {
    for (int64_t v = 0; v < tile.count; ++v) sums->pending += FirstLogit(tile, v);
  };
  const auto sum = [&](int threads) {
    return ReduceTiles(*scene.Stream(threads), "test", {}, FirstLogits{}, add).total;
  };
  int64_t expected = 0;
  for (const auto& members : scene.logits) {
    for (size_t v = 0; v < members[0].size() / 2; ++v) {
      const float first = members[0][v];
      const float second = members[0][members[0].size() / 2 + v];
      expected += static_cast<int64_t>((first - std::max(first, second)) * 256.0f);
    }
  }
  EXPECT_NE(expected, 0);
  for (const int threads : {1, 2, 3}) EXPECT_EQ(sum(threads), expected) << threads;
  reduce_through_bytes = true;
  EXPECT_EQ(sum(3), expected);
  reduce_through_bytes = false;
}

TEST(ReduceItems, FlushesEveryItemAndAddsUpNoneOfNone) {
  const auto make = [] { return FirstLogits{}; };
  const auto add = [](int64_t item, FirstLogits* sums) {
    EXPECT_EQ(sums->pending, 0);
    sums->pending += item;
  };
  EXPECT_EQ(ReduceItems(100, 3, make, add).total, 4950);
  EXPECT_EQ(ReduceItems(0, 3, make, add).total, 0);
}

TEST(WorkerSums, MakesAndMergesOnlyWhatWasUsed) {
  int made = 0;
  WorkerSums<FirstLogits> sums(8, [&] {
    ++made;
    return FirstLogits{};
  });
  sums.At(2).total = 5;
  sums.At(7).total = 6;
  sums.At(2).total += 1;
  EXPECT_EQ(made, 2);
  EXPECT_EQ(sums.TakeTotal().total, 12);
  EXPECT_EQ(sums.TakeTotal().total, 0);
}

}  // namespace
}  // namespace segcal
