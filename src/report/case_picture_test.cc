// SPDX-License-Identifier: Apache-2.0
#include "report/case_picture.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rng.h"
#include "report/svg_reader_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

// Random labels, every eleventh ignored, predictions right about half the time.
CasePicture RandomCase(int64_t width, int64_t height, int64_t num_classes) {
  CasePicture picture{.title = "case 1", .note = "NLL 0.4 → 0.3", .size = {width, height}};
  for (int64_t c = 0; c < num_classes; ++c) picture.classes.push_back("class " + std::to_string(c));
  Rng rng(5, 0);
  for (int64_t i = 0; i < picture.size.count(); ++i) {
    const auto label = static_cast<int32_t>(rng.Below(num_classes));
    picture.labels.push_back(i % 11 == 10 ? -1 : label);
    picture.predicted.push_back(rng.Uniform() < 0.5 ? label
                                                    : static_cast<int32_t>(rng.Below(num_classes)));
    picture.confidence_before.push_back(static_cast<float>(rng.Uniform()));
    picture.confidence_after.push_back(static_cast<float>(rng.Uniform()));
  }
  return picture;
}

std::vector<std::string> TextsOf(const CasePicture& picture) {
  return testing::Texts(testing::ReadSvg(CasePictureSvg(picture)));
}

bool Contains(const std::vector<std::string>& texts, const std::string& text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

TEST(CasePicture, ShowsAPanelForEachArray) {
  CasePicture picture = RandomCase(20, 12, 12);
  picture.image.assign(240, Rgb{9, 9, 9});
  picture.fields = {{"Free energy", std::vector<float>(240, 1.0f)}};
  picture.predicted_after = picture.predicted;
  picture.predicted_after[0] = (picture.predicted[0] + 1) % 12;
  picture.before = "none(z)";
  picture.after = "ts(z)";
  const auto texts = TextsOf(picture);
  for (const char* caption : {"Image",
                              "Labels",
                              "Prediction",
                              "Errors",
                              "Confidence, none(z)",
                              "Confidence, ts(z)",
                              "Flips, ts(z)",
                              "Free energy",
                              "case 1"}) {
    EXPECT_TRUE(Contains(texts, caption)) << caption;
  }
}

TEST(CasePicture, LeavesOutWhatIsNotThere) {
  CasePicture picture = RandomCase(5, 4, 2);
  picture.labels.clear();
  picture.confidence_after.clear();
  picture.predicted_after = picture.predicted;  // no decision changed
  const auto texts = TextsOf(picture);
  EXPECT_TRUE(Contains(texts, "Prediction"));
  EXPECT_TRUE(Contains(texts, "Confidence, before"));
  for (const char* caption :
       {"Image", "Labels", "Errors", "Confidence, after", "Flips, after", "ignored"}) {
    EXPECT_FALSE(Contains(texts, caption)) << caption;
  }
}

TEST(CasePicture, LegendNamesOnlyClassesThatOccur) {
  CasePicture picture = RandomCase(2, 2, 150);
  picture.labels = {3, 3, 149, -1};
  picture.predicted = {3, 7, 3, 3};
  const auto texts = TextsOf(picture);
  for (const char* name : {"class 3", "class 7", "class 149", "ignored"}) {
    EXPECT_TRUE(Contains(texts, name)) << name;
  }
  EXPECT_FALSE(Contains(texts, "class 0"));
}

TEST(CasePicture, LegendHasTheColorsOfThePanel) {
  CasePicture picture = RandomCase(2, 1, 3);
  picture.labels = {0, 2};
  picture.predicted = {0, 2};
  picture.background = 0;
  const auto elements = testing::ReadSvg(CasePictureSvg(picture));
  const RgbImage labels = testing::DecodeImage(testing::Select(elements, "image").at(0));
  EXPECT_EQ(labels.pixels.front(), kCalm);
  EXPECT_EQ(labels.pixels.back(), ClassColor(2));
  EXPECT_EQ(testing::Select(elements, "rect", HexColor(ClassColor(2))).size(), 1u);
}

TEST(CasePicture, ErrorPanelMatchesAPixelByPixelComparison) {
  const CasePicture picture = RandomCase(31, 17, 4);
  const auto images = testing::Select(testing::ReadSvg(CasePictureSvg(picture)), "image");
  const RgbImage drawn = Thin(testing::DecodeImage(images.at(2)), 31);
  ASSERT_EQ(drawn.pixels.size(), picture.labels.size());
  for (size_t i = 0; i < drawn.pixels.size(); ++i) {
    const bool is_wrong = picture.labels[i] >= 0 && picture.labels[i] != picture.predicted[i];
    EXPECT_EQ(drawn.pixels[i] == kRed, is_wrong) << i;
  }
}

TEST(CasePicture, LayoutHoldsForManyShapesClassesAndLongNames) {
  for (const auto& [width, height] :
       {std::pair<int64_t, int64_t>{1, 1}, {64, 48}, {10, 90}, {300, 9}}) {
    for (const int64_t num_classes : {1, 2, 12, 60}) {
      CasePicture picture = RandomCase(width, height, num_classes);
      picture.classes.back() =
          "a very long class name, such as \"vegetation & terrain\" <other>, in full";
      testing::ExpectGoodLayout(CasePictureSvg(picture));
    }
  }
}

TEST(CasePicture, HasTheSameBytesEachTime) {
  EXPECT_EQ(CasePictureSvg(RandomCase(16, 16, 5)), CasePictureSvg(RandomCase(16, 16, 5)));
}

TEST(CasePicture, RefusesClassesAndSizesThatDoNotFit) {
  CasePicture picture = RandomCase(4, 4, 3);
  picture.labels[5] = 3;
  EXPECT_THROW(CasePictureSvg(picture), Error);
  picture = RandomCase(4, 4, 3);
  picture.predicted[0] = -1;
  EXPECT_THROW(CasePictureSvg(picture), Error);
  picture = RandomCase(4, 4, 3);
  picture.confidence_after.pop_back();
  EXPECT_THROW(CasePictureSvg(picture), Error);
  picture = RandomCase(4, 4, 3);
  picture.image.resize(15);
  EXPECT_THROW(CasePictureSvg(picture), Error);
}

TEST(ConfidenceFloor, IsOneOverCDownToATenth) {
  EXPECT_EQ(ConfidenceFloor(1), 0.5);
  EXPECT_EQ(ConfidenceFloor(2), 0.5);
  EXPECT_EQ(ConfidenceFloor(3), 0.3);
  EXPECT_EQ(ConfidenceFloor(10), 0.1);
  EXPECT_EQ(ConfidenceFloor(11), 0.0);
}

}  // namespace
}  // namespace segcal
