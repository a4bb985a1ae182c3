// SPDX-License-Identifier: Apache-2.0
#include "parts/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/rng.h"
#include "segcal/parts.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

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

TEST(ParsePart, TakesTwoNumbers) {
  EXPECT_EQ(ParsePart("3/10").index, 3);
  EXPECT_EQ(ParsePart("3/10").count, 10);
  EXPECT_EQ(Name(ParsePart("10/10")), "10/10");
  for (const char* text : {"", "3", "3/", "/3", "a/b", "3/10/2", "3/10 ", "-1/3", "+1/3", "1 /3"})
    ExpectError(ErrorCode::kInvalidArgument, {"such as 3/10"}, [&] { ParsePart(text); });
  for (const char* text : {"0/3", "4/3", "0/0", "1/0"})
    ExpectError(ErrorCode::kInvalidArgument, {text, "1 to the number"}, [&] { ParsePart(text); });
}

Dataset TenCases(const testing::TempFolder& folder) {
  const testing::Scene scene =
      testing::RandomScene({.num_cases = 10, .num_classes = 2, .shape = {4, 5}});
  return testing::WriteScene(scene, folder.path());
}

TEST(SelectPart, DealsEveryCaseOnceAndKeepsTheirOrder) {
  const testing::TempFolder folder;
  const Dataset dataset = TenCases(folder);
  for (const int64_t count : {1, 2, 3, 10, 14}) {
    std::multiset<std::string> dealt;
    for (int64_t index = 1; index <= count; ++index) {
      std::vector<std::string> own;
      for (const Case& c : SelectPart(dataset, {index, count}).cases) own.push_back(c.id);
      EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
      EXPECT_LE(std::ssize(own), (10 + count - 1) / count);
      dealt.insert(own.begin(), own.end());
    }
    EXPECT_EQ(dealt.size(), 10u);
    EXPECT_EQ(std::set<std::string>(dealt.begin(), dealt.end()).size(), 10u);
  }
}

TEST(SelectPart, KeepsGroupsTogether) {
  const testing::TempFolder folder;
  Dataset dataset = TenCases(folder);
  for (size_t c = 0; c < 9; ++c) dataset.cases[c].group = "g" + std::to_string(c % 3);
  std::map<std::string, std::set<int64_t>> parts_of;
  for (int64_t index = 1; index <= 4; ++index) {
    for (const Case& c : SelectPart(dataset, {index, 4}).cases) parts_of[c.group].insert(index);
  }
  ASSERT_EQ(parts_of.size(), 4u);
  for (const auto& [group, parts] : parts_of) EXPECT_EQ(parts.size(), 1u) << group;
}

TEST(HashDataset, SeesWhatDeterminesResults) {
  const testing::TempFolder folder;
  const Dataset dataset = TenCases(folder);
  const uint64_t hash = HashDataset(dataset);
  EXPECT_EQ(HashDataset(testing::WriteScene(
                testing::RandomScene({.num_cases = 10, .num_classes = 2, .shape = {4, 5}}),
                folder.File("elsewhere"))),
            hash);
  Dataset other = dataset;
  std::swap(other.cases[0], other.cases[1]);
  EXPECT_NE(HashDataset(other), hash);
  other = dataset;
  other.ignore_label = 99;
  EXPECT_NE(HashDataset(other), hash);
  other = dataset;
  other.cases[3].group = "g";
  EXPECT_NE(HashDataset(other), hash);
  other = dataset;
  other.cases[3].mask = other.cases[3].labels;
  EXPECT_NE(HashDataset(other), hash);
  // A file that has grown.
  folder.Put("more", "x");
  std::filesystem::resize_file(
      std::filesystem::path(dataset.folder) / dataset.cases[2].labels.path(), 1000);
  EXPECT_NE(HashDataset(dataset), hash);
}

}  // namespace
}  // namespace segcal
