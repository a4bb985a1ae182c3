// SPDX-License-Identifier: Apache-2.0
#include "data/label_maps.h"

#include <gtest/gtest.h>

#include <set>

#include "segcal/index.h"
#include "tests/support/errors.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

TEST(LabelMap, CityscapesHasNineteenClassesAndIgnoresTheRest) {
  const auto map = LoadLabelMap("cityscapes");
  std::set<int64_t> classes;
  for (int64_t id = -1; id <= 33; ++id) {
    ASSERT_TRUE(map.contains(id)) << id;
    if (map.at(id) == 255) continue;
    EXPECT_TRUE(classes.insert(map.at(id)).second) << id;
  }
  EXPECT_EQ(classes.size(), 19u);
  EXPECT_EQ(*classes.begin(), 0);
  EXPECT_EQ(*classes.rbegin(), 18);
  EXPECT_EQ(map.at(7), 0);    // road
  EXPECT_EQ(map.at(23), 10);  // sky
  EXPECT_EQ(map.at(26), 13);  // car
  EXPECT_EQ(map.at(33), 18);  // bicycle
  EXPECT_EQ(map.at(0), 255);  // unlabelled
  EXPECT_EQ(map.at(255), 255);
}

TEST(LabelMap, Ade20kShiftsByOneAndIgnoresZero) {
  const auto map = LoadLabelMap("ade20k");
  EXPECT_EQ(map.size(), 152u);
  EXPECT_EQ(map.at(0), 255);
  EXPECT_EQ(map.at(1), 0);
  EXPECT_EQ(map.at(150), 149);
}

TEST(LabelMap, ComesFromAFile) {
  const testing::TempFolder folder;
  const auto map = LoadLabelMap(folder.Put("map.json", R"({"7": 0, "-1": 255})"));
  EXPECT_EQ(map, (std::map<int64_t, int64_t>{{-1, 255}, {7, 0}}));
}

TEST(LabelMap, RefusesAFileOfAnythingElse) {
  const testing::TempFolder folder;
  const auto refused = [&](const char* content, const std::string& part) {
    const std::string path = folder.Put("map.json", content);
    ExpectError(ErrorCode::kBadData, {path, part}, [&] { LoadLabelMap(path); });
  };
  refused("[1, 2]", "an object");
  refused(R"({"road": 1})", "\"road\"");
  refused(R"({"": 1})", "whole number");
  refused(R"({"7": 1, "07": 2})", "7 is given twice");
  refused(R"({"7": "x"})", "\"7\"");
  refused(R"({"7": 1.5})", "1.5");
  refused(R"({"99999999999999999999": 1})", "99999999999999999999");
  ExpectError(ErrorCode::kIo, {"no-such-map"}, [] { LoadLabelMap("no-such-map"); });
}

}  // namespace
}  // namespace segcal
