// SPDX-License-Identifier: Apache-2.0
#include "report/field_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/svg_reader_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

TEST(FieldPanel, ScalesToTheFiniteValues) {
  const PicturePanel panel = FieldPanel({"F", {-1.5f, NAN, 4.0f, INFINITY}}, {2, 2});
  ASSERT_TRUE(panel.bar.has_value());
  EXPECT_EQ(panel.bar->low, "-1.5");
  EXPECT_EQ(panel.bar->high, "4");
  EXPECT_EQ(panel.raster.pixels[0], FindColors(ColorMap::kHeat).front());
  EXPECT_EQ(panel.raster.pixels[2], FindColors(ColorMap::kHeat).back());
}

TEST(FieldPanel, TakesTheGivenScale) {
  const ScalarField field{.caption = "T", .values = {1.0f}, .low = 1.0, .high = 3.0};
  const PicturePanel panel = FieldPanel(field, {1, 1});
  EXPECT_EQ(panel.bar->high, "3");
  EXPECT_EQ(panel.raster.pixels[0], FindColors(ColorMap::kHeat).front());
}

TEST(FieldPanel, WithoutAnyNumberShowsDashes) {
  const PicturePanel panel = FieldPanel({"F", {NAN}}, {1, 1});
  EXPECT_EQ(panel.bar->low, "–");
  EXPECT_EQ(panel.bar->high, "–");
}

TEST(FieldPicture, ShowsCaptionsAndScalesOfAllFields) {
  const std::string svg =
      FieldPictureSvg({.title = "case <1>",
                       .size = {2, 1},
                       .fields = {{"Free energy", {0.25f, 7.0f}}, {"T", {1.0f, 2.0f}}}});
  testing::ExpectGoodLayout(svg);
  const auto texts = testing::Texts(testing::ReadSvg(svg));
  for (const char* expected : {"case &lt;1&gt;", "Free energy", "T", "0.25", "7", "1", "2"}) {
    EXPECT_NE(std::find(texts.begin(), texts.end(), expected), texts.end()) << expected;
  }
}

TEST(FieldPicture, RefusesAFieldOfAnotherSize) {
  EXPECT_THROW(FieldPictureSvg({.title = "t", .size = {2, 2}, .fields = {{"F", {1.0f}}}}), Error);
}

}  // namespace
}  // namespace segcal
