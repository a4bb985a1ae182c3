// SPDX-License-Identifier: Apache-2.0
#include "measures/bin_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace segcal {
namespace {

// The bin of x by a rule, -1 if it has none.
int64_t BinOf(float x, const BinRule& rule) {
  const std::vector<float> starts = BinStarts(rule);
  return std::upper_bound(starts.begin(), starts.end(), x) - starts.begin() - 1;
}

float Above(float x) { return std::nextafter(x, 2.0f); }
float Below(float x) { return std::nextafter(x, 0.0f); }

TEST(BinRule, ClosedPutsAnEdgeIntoTheBinItCloses) {
  for (const int64_t bins : {10, 15, 50}) {
    for (int64_t k = 1; k < bins; ++k) {
      const auto edge = static_cast<float>(static_cast<double>(k) / static_cast<double>(bins));
      EXPECT_EQ(BinOf(edge, {bins, "closed"}), k - 1) << k << "/" << bins;
      EXPECT_EQ(BinOf(Above(edge), {bins, "closed"}), k) << k << "/" << bins;
    }
    EXPECT_EQ(BinOf(0.0f, {bins, "closed"}), 0);
    EXPECT_EQ(BinOf(Above(1.0f), {bins, "closed"}), bins - 1);
  }
}

TEST(BinRule, ClosedWithoutZeroDiffersAtZeroOnly) {
  EXPECT_EQ(BinOf(0.0f, {15, "closed_without_zero"}), -1);
  EXPECT_EQ(BinOf(Above(0.0f), {15, "closed_without_zero"}), 0);
  EXPECT_EQ(BinOf(0.2f, {15, "closed_without_zero"}), BinOf(0.2f, {15, "closed"}));
}

// As NumPy's histogram has it: edges in double, the last bin closed.
TEST(BinRule, OpenComparesWithEdgesInDouble) {
  for (int64_t k = 1; k < 10; ++k) {
    const double edge = static_cast<double>(k) / 10.0;
    for (const float x : {Below(static_cast<float>(edge)),
                          static_cast<float>(edge),
                          Above(static_cast<float>(edge))}) {
      EXPECT_EQ(BinOf(x, {10, "open"}), static_cast<double>(x) >= edge ? k : k - 1) << k;
    }
  }
  EXPECT_EQ(BinOf(1.0f, {10, "open"}), 9);
}

TEST(BinRule, OneApartHasABinOfItsOwn) {
  const BinRule rule{15, "open_one_apart"};
  EXPECT_EQ(BinStarts(rule).size(), 16u);
  EXPECT_EQ(DiagramEdges(rule).size(), 17u);
  EXPECT_EQ(BinOf(1.0f, rule), 15);
  EXPECT_EQ(BinOf(Below(1.0f), rule), 14);
  EXPECT_EQ(BinOf(static_cast<float>(1.0 / 15.0), rule), 1);
}

TEST(BinRule, StretchedMovesEdgesJustAboveRoundNumbers) {
  EXPECT_EQ(BinOf(0.5f, {2, "stretched"}), 0);
  EXPECT_EQ(BinOf(Above(0.5f), {2, "stretched"}), 1);
  EXPECT_EQ(BinOf(1.0f, {20, "stretched"}), 19);
}

// The edge lies half a unit in the last place (of 1/2) above 1/2: closed, it takes one float more.
TEST(BinRule, ClosedStretchedTakesTheNextFloatToo) {
  EXPECT_EQ(BinOf(Above(0.5f), {2, "closed"}), 1);
  EXPECT_EQ(BinOf(Above(0.5f), {2, "closed_stretched"}), 0);
  EXPECT_EQ(BinOf(Above(Above(0.5f)), {2, "closed_stretched"}), 1);
}

TEST(BinRule, StartsAscendForEveryRule) {
  for (const std::string& edges : EdgeNames()) {
    for (const int64_t bins : {1, 2, 15, 100, 10000}) {
      const std::vector<float> starts = BinStarts({bins, edges});
      EXPECT_TRUE(std::is_sorted(starts.begin(), starts.end())) << edges << bins;
      EXPECT_TRUE(std::adjacent_find(starts.begin(), starts.end()) == starts.end()) << edges;
    }
  }
}

TEST(BinRule, SupportsTheCountsOfKnownConventions) {
  const std::vector<int64_t>& counts = SupportedBinCounts();
  for (const int64_t bins : {1, 5, 10, 15, 20, 25, 30, 50, 100})
    EXPECT_NE(std::find(counts.begin(), counts.end(), bins), counts.end()) << bins;
}

}  // namespace
}  // namespace segcal
