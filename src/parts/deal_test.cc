// SPDX-License-Identifier: Apache-2.0
#include "parts/deal.h"

#include <gtest/gtest.h>

#include <set>

#include "segcal/parts.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

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
