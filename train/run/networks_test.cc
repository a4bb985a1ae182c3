// SPDX-License-Identifier: Apache-2.0
#include "train/run/networks.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace segcal::train {
namespace {

using segcal::testing::ExpectError;

// Ten cases, of which the first four are two groups.
Dataset Cases() {
  Dataset dataset;
  for (int i = 0; i < 10; ++i) {
    dataset.cases.push_back({.id = std::to_string(i)});
    if (i < 4) dataset.cases.back().group = i % 2 == 0 ? "even" : "odd";
  }
  return dataset;
}

TEST(ListNetworks, HasEveryFoldOfEveryMember) {
  std::string names;
  for (const NetworkKey& key : ListNetworks(2, 2)) names += Name(key) + "; ";
  EXPECT_EQ(names, "member 0, fold 0; member 0, fold 1; member 1, fold 0; member 1, fold 1; ");
  EXPECT_EQ(ListNetworks(2, 0).back().fold, -1);
  EXPECT_EQ(BestFile("run", {.member = 1}), "run/member1/best.net");
  EXPECT_EQ(LastFile("run", {.member = 1, .fold = 2}), "run/member1/fold2/last.net");
}

TEST(DealFolds, DealsEveryCaseOnceAndGroupsTogether) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto fold_of = DealFolds(Cases(), 3, seed);
    ASSERT_EQ(fold_of.size(), 10u);
    EXPECT_EQ(fold_of.at("0"), fold_of.at("2"));
    EXPECT_EQ(fold_of.at("1"), fold_of.at("3"));
    // Eight groups: three, three and two, of one case or two.
    std::vector<int> cases(3);
    for (const auto& [id, fold] : fold_of) ++cases.at(static_cast<size_t>(fold));
    for (const int count : cases) {
      EXPECT_GE(count, 2);
      EXPECT_LE(count, 5);
    }
  }
}

TEST(DealFolds, GoesByTheSeed) {
  EXPECT_EQ(DealFolds(Cases(), 3, 1), DealFolds(Cases(), 3, 1));
  EXPECT_NE(DealFolds(Cases(), 3, 1), DealFolds(Cases(), 3, 2));
}

TEST(DealFolds, NeedsAGroupForEveryFold) {
  EXPECT_EQ(DealFolds(Cases(), 8, 1).size(), 10u);
  ExpectError(
      ErrorCode::kInvalidArgument, {"folds 9", "at most 8"}, [] { DealFolds(Cases(), 9, 1); });
}

}  // namespace
}  // namespace segcal::train
