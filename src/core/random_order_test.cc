// SPDX-License-Identifier: Apache-2.0
#include "core/random_order.h"

#include <gtest/gtest.h>

namespace segcal {
namespace {

TEST(RandomOrder, HoldsEveryNumberOnceAndDependsOnTheStreamAlone) {
  const std::vector<int64_t> order = RandomOrder(1000, Rng(/*seed=*/3, /*stream=*/5));
  EXPECT_EQ(RandomOrder(1000, Rng(3, 5)), order);
  EXPECT_NE(RandomOrder(1000, Rng(3, 6)), order);
  EXPECT_NE(RandomOrder(1000, Rng(4, 5)), order);
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(sorted[i], static_cast<int64_t>(i));
  EXPECT_TRUE(RandomOrder(0, Rng(3, 5)).empty());
}

// Each of the six orders of three about equally often: 1000 of 6000, with a deviation of 29.
TEST(RandomOrder, HasNoFavourites) {
  std::vector<int64_t> counts(27, 0);
  for (uint64_t stream = 0; stream < 6000; ++stream) {
    const std::vector<int64_t> order = RandomOrder(3, Rng(/*seed=*/1, stream));
    ++counts[static_cast<size_t>(9 * order[0] + 3 * order[1] + order[2])];
  }
  for (const int64_t count : counts) {
    EXPECT_TRUE(count == 0 || std::abs(count - 1000) < 130) << count;
  }
}

}  // namespace
}  // namespace segcal
