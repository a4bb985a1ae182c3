// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "segcal/dataset.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

// Cases in groups of the given sizes; size 1 means no group name.
Dataset Grouped(const std::vector<int>& sizes) {
  Dataset dataset;
  for (size_t g = 0; g < sizes.size(); ++g) {
    for (int i = 0; i < sizes[g]; ++i) {
      Case entry;
      entry.id = std::to_string(dataset.cases.size());
      if (sizes[g] > 1) entry.group = "g" + std::to_string(g);
      dataset.cases.push_back(entry);
    }
  }
  return dataset;
}

std::map<std::string, int> CountSplits(const Dataset& dataset) {
  std::map<std::string, int> counts;
  for (const Case& c : dataset.cases) ++counts[c.split];
  return counts;
}

TEST(AssignSplits, TakesWholeNumbersThatSumToTheGroupsAsCounts) {
  Dataset dataset = Grouped(std::vector<int>(271, 1));
  AssignSplits(&dataset, {{"calibration", 50}, {"validation", 27}, {"test", 194}}, 3);
  const auto counts = CountSplits(dataset);
  EXPECT_EQ(counts.at("calibration"), 50);
  EXPECT_EQ(counts.at("validation"), 27);
  EXPECT_EQ(counts.at("test"), 194);
}

TEST(AssignSplits, ComesWithinOneGroupOfEveryShare) {
  for (const int groups : {1, 7, 10, 99}) {
    Dataset dataset = Grouped(std::vector<int>(static_cast<size_t>(groups), 1));
    AssignSplits(&dataset, {{"a", 0.2}, {"b", 0.3}, {"c", 0.5}}, 1);
    auto counts = CountSplits(dataset);
    EXPECT_LT(std::fabs(counts["a"] - 0.2 * groups), 1.0) << groups;
    EXPECT_LT(std::fabs(counts["b"] - 0.3 * groups), 1.0) << groups;
    EXPECT_LT(std::fabs(counts["c"] - 0.5 * groups), 1.0) << groups;
    EXPECT_EQ(counts["a"] + counts["b"] + counts["c"], groups);
  }
}

std::vector<int> Sizes(int groups, const std::vector<double>& shares) {
  std::vector<std::pair<std::string, double>> splits;
  for (size_t k = 0; k < shares.size(); ++k) splits.emplace_back(std::to_string(k), shares[k]);
  Dataset dataset = Grouped(std::vector<int>(static_cast<size_t>(groups), 1));
  AssignSplits(&dataset, splits, 1);
  auto counts = CountSplits(dataset);
  std::vector<int> sizes;
  for (const auto& [name, share] : splits) sizes.push_back(counts[name]);
  return sizes;
}

// By hand: Hamilton's method, ties to the first.
TEST(AssignSplits, GivesWhatIsLeftToTheLargestFractions) {
  EXPECT_EQ(Sizes(6, {0.4, 0.2, 0.4}), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(Sizes(7, {0.4, 0.2, 0.4}), (std::vector<int>{3, 1, 3}));
  EXPECT_EQ(Sizes(8, {0.4, 0.2, 0.4}), (std::vector<int>{3, 2, 3}));
  EXPECT_EQ(Sizes(5, {1, 1}), (std::vector<int>{3, 2}));
  EXPECT_EQ(Sizes(10, {0.5, 0.2, 0.3}), (std::vector<int>{5, 2, 3}));
}

TEST(AssignSplits, LeavesNoSplitEmptyWhereThereAreGroupsForAll) {
  EXPECT_EQ(Sizes(3, {0.9, 0.05, 0.05}), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(Sizes(10, {0.01, 0.98, 0.01}), (std::vector<int>{1, 8, 1}));
  EXPECT_EQ(Sizes(2, {0.4, 0.2, 0.4}), (std::vector<int>{1, 0, 1}));
}

TEST(AssignSplits, KeepsGroupsTogether) {
  Dataset dataset = Grouped({5, 1, 4, 3, 1, 1, 8, 2, 2, 6});
  AssignSplits(&dataset, {{"a", 1}, {"b", 1}}, 9);
  std::map<std::string, std::set<std::string>> splits_of_group;
  for (const Case& c : dataset.cases) {
    if (!c.group.empty()) splits_of_group[c.group].insert(c.split);
  }
  for (const auto& [group, splits] : splits_of_group) EXPECT_EQ(splits.size(), 1u) << group;
}

// A case named like a group is still on its own.
TEST(AssignSplits, DoesNotMixCaseIdsWithGroupNames) {
  Dataset dataset;
  for (int i = 0; i < 40; ++i) {
    Case& entry = dataset.cases.emplace_back();
    entry.id = "x" + std::to_string(i);
    if (i % 2 == 0) entry.group = "x1";
  }
  AssignSplits(&dataset, {{"a", 1}, {"b", 20}}, 2);
  EXPECT_EQ(CountSplits(dataset).size(), 2u);
}

std::string Assignment(Dataset dataset, uint64_t seed) {
  AssignSplits(&dataset, {{"a", 1}, {"b", 1}}, seed);
  std::string text;
  for (const Case& c : dataset.cases) text += c.split;
  return text;
}

TEST(AssignSplits, DependsOnTheSeedAlone) {
  const Dataset dataset = Grouped(std::vector<int>(40, 1));
  EXPECT_EQ(Assignment(dataset, 5), Assignment(dataset, 5));
  EXPECT_NE(Assignment(dataset, 5), Assignment(dataset, 6));
}

// Each of 8 cases should be in "a" in half of 400 shuffles: standard deviation 10.
TEST(AssignSplits, GivesEveryCaseTheSameChance) {
  const Dataset dataset = Grouped(std::vector<int>(8, 1));
  std::vector<int> in_a(8);
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const std::string text = Assignment(dataset, seed);
    for (size_t i = 0; i < 8; ++i) in_a[i] += text[i] == 'a' ? 1 : 0;
  }
  for (const int count : in_a) EXPECT_NEAR(count, 200, 50);
}

TEST(AssignSplits, RefusesSharesThatAreNotPositive) {
  Dataset dataset = Grouped({1, 1});
  for (const double share : {0.0, -1.0, std::nan(""), HUGE_VAL}) {
    ExpectError(ErrorCode::kInvalidArgument, {"split \"b\"", "not positive"}, [&] {
      AssignSplits(&dataset, {{"a", 1}, {"b", share}}, 1);
    });
  }
  ExpectError(ErrorCode::kInvalidArgument, {"no splits"}, [&] { AssignSplits(&dataset, {}, 1); });
}

}  // namespace
}  // namespace segcal
