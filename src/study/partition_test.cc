// SPDX-License-Identifier: Apache-2.0
#include "study/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

// Twelve cases, two to a group.
Dataset PairedCases() {
  Dataset dataset{.name = "pairs", .classes = {"a", "b"}, .input = InputKind::kLogits};
  for (int i = 0; i < 12; ++i) {
    Case c{.id = "case" + std::to_string(i), .members = {"m.npy"}, .labels = "l.png"};
    c.group = "group" + std::to_string(i / 2);
    dataset.cases.push_back(c);
  }
  return dataset;
}

std::vector<Partition> PartitionsOf(const Dataset& dataset,
                                    int64_t repeats,
                                    std::vector<double> split,
                                    std::vector<double>* used) {
  CompareOptions options;
  options.repeats = repeats;
  options.split = std::move(split);
  options.seed = 5;
  return MakePartitions(dataset, options, used);
}

TEST(Partition, KeepsGroupsTogetherAndUsesEveryCaseOnce) {
  std::vector<double> used;
  const Dataset dataset = PairedCases();
  const auto partitions = PartitionsOf(dataset, 3, {3, 1, 2}, &used);
  ASSERT_EQ(partitions.size(), 3u);
  EXPECT_EQ(used, (std::vector<double>{3, 1, 2}));
  std::set<std::vector<std::string>> tests;
  for (const Partition& partition : partitions) {
    EXPECT_EQ(partition.calibration.cases.size(), 6u);
    EXPECT_EQ(partition.validation.cases.size(), 2u);
    EXPECT_EQ(partition.test.cases.size(), 4u);
    std::map<std::string, std::set<const Dataset*>> parts_of_group;
    std::set<std::string> ids;
    for (const Dataset* part : {&partition.calibration, &partition.validation, &partition.test}) {
      for (const Case& c : part->cases) {
        parts_of_group[c.group].insert(part);
        ids.insert(c.id);
      }
    }
    EXPECT_EQ(ids.size(), 12u);
    for (const auto& [group, parts] : parts_of_group) EXPECT_EQ(parts.size(), 1u) << group;
    tests.insert(CaseIds(partition.test));
  }
  EXPECT_GT(tests.size(), 1u);  // another draw
  EXPECT_EQ(partitions[0].seed, 5u);
  EXPECT_EQ(partitions[2].seed, 7u);
}

TEST(Partition, TakesTheOwnSplitsOnceAndTheirSizesOtherwise) {
  Dataset dataset = PairedCases();
  const char* splits[] = {"calibration", "validation", "test", "test", "calibration", "shift"};
  for (size_t i = 0; i < dataset.cases.size(); ++i) dataset.cases[i].split = splits[i / 2];
  std::vector<double> used;
  const auto own = PartitionsOf(dataset, 1, {}, &used);
  EXPECT_TRUE(used.empty());
  EXPECT_EQ(CaseIds(own[0].validation), (std::vector<std::string>{"case2", "case3"}));
  const auto drawn = PartitionsOf(dataset, 4, {}, &used);
  EXPECT_EQ(used, (std::vector<double>{2, 1, 2}));
  for (const Partition& partition : drawn) {
    EXPECT_EQ(partition.test.cases.size(), 4u);
    for (const Dataset* part : {&partition.calibration, &partition.validation, &partition.test}) {
      for (const Case& c : part->cases) EXPECT_NE(c.group, "group5");  // of another split
    }
  }
}

TEST(Partition, LeavesOutCasesWithoutLabels) {
  Dataset dataset = PairedCases();
  dataset.cases[0].labels = {};
  std::vector<double> used;
  const auto partitions = PartitionsOf(dataset, 1, {}, &used);
  EXPECT_EQ(used, (std::vector<double>{0.4, 0.2, 0.4}));
  size_t cases = 0;
  for (const Dataset* part :
       {&partitions[0].calibration, &partitions[0].validation, &partitions[0].test})
    cases += part->cases.size();
  EXPECT_EQ(cases, 11u);
}

TEST(Partition, SaysWhatIsMissing) {
  std::vector<double> used;
  Dataset dataset = PairedCases();
  dataset.cases.resize(4);  // two groups
  ExpectError(ErrorCode::kInvalidArgument, {"\"pairs\"", "4 labelled cases in 2 groups"}, [&] {
    PartitionsOf(dataset, 1, {}, &used);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"split: 2 numbers", "three"}, [&] {
    PartitionsOf(PairedCases(), 1, {1, 2}, &used);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"0 repeats", "at least 1"}, [&] {
    PartitionsOf(PairedCases(), 0, {}, &used);
  });
}

TEST(Partition, DrawsGroupsForSmallerCalibrationSets) {
  const Dataset dataset = PairedCases();
  const Dataset few = FirstGroups(dataset, 2, 3);
  EXPECT_EQ(few.cases.size(), 4u);
  EXPECT_EQ(CountGroups(few), 2);
  EXPECT_EQ(CaseIds(FirstGroups(dataset, 2, 3)), CaseIds(few));
  EXPECT_EQ(FirstGroups(dataset, 99, 3).cases.size(), 12u);
  // A larger set holds the smaller one.
  const std::vector<std::string> more = CaseIds(FirstGroups(dataset, 4, 3));
  for (const std::string& id : CaseIds(few))
    EXPECT_NE(std::find(more.begin(), more.end(), id), more.end());
}

}  // namespace
}  // namespace segcal
