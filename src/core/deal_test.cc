// SPDX-License-Identifier: Apache-2.0
#include "core/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/rng.h"

namespace segcal {
namespace {

std::vector<int64_t> Loads(const std::vector<int64_t>& sizes, int64_t num_parts) {
  std::vector<int64_t> loads(static_cast<size_t>(num_parts));
  const std::vector<int64_t> dealt = DealBySize(sizes, num_parts);
  for (size_t i = 0; i < sizes.size(); ++i) loads[static_cast<size_t>(dealt[i])] += sizes[i];
  return loads;
}

// Worked by hand: 7 and 6 open the parts, 5 joins the 6 and 4 the 7, which makes both 11; the first
// 3 goes to the first part, the second to the other.
TEST(DealBySize, GivesTheLargestFirstToThePartThatHasLeast) {
  EXPECT_EQ(DealBySize({3, 7, 4, 6, 5, 3}, 2), (std::vector<int64_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(Loads({3, 7, 4, 6, 5, 3}, 2), (std::vector<int64_t>{14, 14}));
}

// Graham's bound: the largest load is at most 4/3 of the best possible, which is at least the mean
// and at least the largest item.
TEST(DealBySize, IsWithinAThirdOfTheBestPossible) {
  Rng rng(/*seed=*/5, /*stream=*/0);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<int64_t> sizes(static_cast<size_t>(1 + rng.Below(40)));
    for (int64_t& size : sizes) size = 1 + rng.Below(1000);
    const int64_t num_parts = 1 + rng.Below(8);
    const std::vector<int64_t> loads = Loads(sizes, num_parts);
    const double mean = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), 0.0)) /
                        static_cast<double>(num_parts);
    // With more items than parts, two of the num_parts + 1 largest share a part.
    std::sort(sizes.rbegin(), sizes.rend());
    double least = std::max(mean, static_cast<double>(sizes.front()));
    if (std::ssize(sizes) > num_parts) {
      const auto last = static_cast<size_t>(num_parts);
      least = std::max(least, static_cast<double>(sizes[last - 1] + sizes[last]));
    }
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()), 4.0 / 3.0 * least + 1e-9);
  }
}

TEST(DealBySize, SpreadsWhatHasNoSize) {
  const std::vector<int64_t> dealt = DealBySize({0, 0, 0, 0}, 2);
  EXPECT_EQ(std::count(dealt.begin(), dealt.end(), 0), 2);
}

}  // namespace
}  // namespace segcal
