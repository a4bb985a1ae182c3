// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "segcal/parts.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

class ComparePartTest : public ::testing::Test {
 protected:
  ComparePartTest()
      : dataset_(testing::WriteScene(
            testing::RandomScene({.num_cases = 8, .num_members = 2, .num_classes = 3}),
            folder_.File("data"))) {
    options_.pipelines = {"ts(z)", "vs(p)"};
    options_.repeats = 2;
    options_.replicates = 20;
    options_.ece_bins = {20};
    options_.calibration_cases = {2};
  }

  CompareOptions In(const std::string& name, bool resume = false) const {
    CompareOptions options = options_;
    options.folder = folder_.File(name);
    options.resume = resume;
    return options;
  }
  // The names of the units in a folder, which are hashes of what determines them.
  std::set<std::string> Units(const std::string& name) const {
    std::set<std::string> units;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.File(name + "/units")))
      units.insert(entry.path().filename().string());
    return units;
  }

  testing::TempFolder folder_;
  Dataset dataset_;
  CompareOptions options_;
};

TEST_F(ComparePartTest, AllPartsLeaveTheUnitsOfOneProcess) {
  const Study whole = Compare(dataset_, In("whole"));
  std::set<std::string> apart;
  int64_t units = 0;
  for (const int64_t index : {3, 1, 2}) {
    CompareOptions options = In("part" + std::to_string(index));
    options.run.threads = static_cast<int>(index);
    const StudyPart done = ComparePart(dataset_, options, {index, 3});
    EXPECT_TRUE(done.failures.empty());
    units += done.units;
    for (const std::string& unit : Units("part" + std::to_string(index)))
      EXPECT_TRUE(apart.insert(unit).second) << "done twice";
  }
  // A study fits the recommended pipeline once more.
  const std::set<std::string> all = Units("whole");
  EXPECT_EQ(apart.size() + 1, all.size());
  for (const std::string& unit : apart) EXPECT_TRUE(all.contains(unit));
  EXPECT_EQ(units, std::ssize(apart));
}

TEST_F(ComparePartTest, TheStudyOfThemIsThatOfOneProcess) {
  options_.shifts = {{"same", dataset_}};
  const Study whole = Compare(dataset_, In("whole"));
  for (const int64_t index : {2, 4, 1, 3}) ComparePart(dataset_, In("parts"), {index, 4});
  EXPECT_EQ(ToJson(Compare(dataset_, In("parts", /*resume=*/true))), ToJson(whole));
  EXPECT_EQ(folder_.Get("parts/recommended.json"), folder_.Get("whole/recommended.json"));
}

TEST_F(ComparePartTest, WhatIsMissingIsDoneAtTheEnd) {
  const Study whole = Compare(dataset_, In("whole"));
  ComparePart(dataset_, In("parts"), {2, 3});
  EXPECT_EQ(ToJson(Compare(dataset_, In("parts", /*resume=*/true))), ToJson(whole));
}

TEST_F(ComparePartTest, NeedsAFolderAndAPart) {
  ExpectError(ErrorCode::kInvalidArgument, {"no folder"}, [&] {
    ComparePart(dataset_, options_, {1, 2});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"3/2"}, [&] {
    ComparePart(dataset_, In("x"), {3, 2});
  });
}

}  // namespace
}  // namespace segcal
