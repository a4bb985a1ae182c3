// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "segcal/index.h"
#include "tests/support/errors.h"

namespace segcal {
namespace {

using testing::ExpectError;

TEST(LabelSets, FitADataSet) {
  for (const LabelSet& set : ListLabelSets()) {
    SCOPED_TRACE(set.name);
    Dataset dataset{.name = set.name, .classes = set.classes, .colors = set.colors};
    dataset.input = InputKind::kLogits;
    dataset.ignore_label = set.ignore_label;
    dataset.background = set.background;
    dataset.label_map = set.label_map;
    EXPECT_NO_THROW(CheckDataset(dataset, set.name));
    EXPECT_EQ(std::set<std::string>(set.classes.begin(), set.classes.end()).size(),
              set.classes.size());
    EXPECT_FALSE(set.source.empty());
    EXPECT_EQ(FindLabelSet(set.name).classes, set.classes);
  }
}

// Class index and colour, as the data sets publish them.
TEST(LabelSets, HaveTheirClassesInOrder) {
  const auto expect =
      [](const char* name, size_t size, size_t at, const char* what, const char* color) {
        const LabelSet set = FindLabelSet(name);
        ASSERT_EQ(set.classes.size(), size) << name;
        EXPECT_EQ(set.classes[at], what);
        EXPECT_EQ(set.colors[at], color);
      };
  expect("cityscapes", 19, 0, "road", "#804080");
  expect("cityscapes", 19, 13, "car", "#00008e");
  expect("cityscapes_train_ids", 19, 18, "bicycle", "#770b20");
  expect("camvid", 11, 4, "pavement", "#3c28de");
  expect("ade20k", 150, 0, "wall", "#787878");
  expect("ade20k", 150, 149, "flag", "#5c00ff");
  expect("voc", 21, 15, "person", "#c08080");
}

// VOC: bit j of the index's triplets becomes bit 7 - j of red, green and blue.
TEST(LabelSets, ColoursOfVocFollowTheirRule) {
  const LabelSet voc = FindLabelSet("voc");
  for (size_t i = 0; i < voc.colors.size(); ++i) {
    int value[3] = {0, 0, 0};
    for (int j = 0; j < 8; ++j) {
      for (int channel = 0; channel < 3; ++channel)
        value[channel] |= static_cast<int>((i >> (3 * j + channel)) & 1u) << (7 - j);
    }
    char text[8];
    std::snprintf(text, sizeof text, "#%02x%02x%02x", value[0], value[1], value[2]);
    EXPECT_EQ(voc.colors[i], text);
  }
}

TEST(LabelSets, MapPublishedValues) {
  EXPECT_EQ(FindLabelSet("cityscapes").label_map.at(7), 0);
  EXPECT_EQ(FindLabelSet("cityscapes").label_map.at(0), 255);
  EXPECT_TRUE(FindLabelSet("cityscapes_train_ids").label_map.empty());
  EXPECT_EQ(FindLabelSet("camvid").label_map.at(11), 255);
  EXPECT_EQ(FindLabelSet("voc").background, 0);
  ExpectError(ErrorCode::kInvalidArgument, {"\"coco\"", "ade20k, camvid, cityscapes"}, [] {
    FindLabelSet("coco");
  });
}

TEST(Colors, OfADataSetAreCheckedAndKept) {
  Dataset dataset{.name = "d", .classes = {"a", "b"}, .colors = {"#00ff00", "#0000FF"}};
  dataset.input = InputKind::kLogits;
  EXPECT_NO_THROW(CheckDataset(dataset, "d"));
  dataset.colors[1] = "blue";
  ExpectError(ErrorCode::kBadData, {"colors[1] is \"blue\"", "#rrggbb"}, [&] {
    CheckDataset(dataset, "d");
  });
  dataset.colors.pop_back();
  ExpectError(ErrorCode::kBadData, {"1 colors for 2 classes"}, [&] { CheckDataset(dataset, "d"); });
}

}  // namespace
}  // namespace segcal
