// SPDX-License-Identifier: Apache-2.0
#include "report/panels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "report/svg_reader_for_test.h"
#include "segcal/error.h"

namespace segcal {
namespace {

PanelPage PageOf(size_t count, int64_t width, int64_t height) {
  PanelPage page{.title =
                     "a title that is long enough to need cutting on a narrow page, I suppose"};
  for (size_t i = 0; i < count; ++i) {
    PicturePanel panel{.caption = "Panel", .raster = RgbImage(width, height)};
    if (i % 3 == 1) panel.bar = ColorBar{ColorMap::kHeat, "-123.5", "1.2e+05"};
    if (i % 3 == 2) panel.key = {{"corrected"}, {"spoiled"}, {"other"}};
    page.panels.push_back(panel);
  }
  return page;
}

// Wide enough for a caption; scales are also images, and always this flat.
std::vector<testing::Element> Pictures(const std::string& svg) {
  std::vector<testing::Element> pictures = testing::Select(testing::ReadSvg(svg), "image");
  pictures.erase(std::remove_if(pictures.begin(),
                                pictures.end(),
                                [](const auto& image) { return image.Number("height") == 10.0; }),
                 pictures.end());
  return pictures;
}

TEST(PanelPage, KeepsTextApartForAnyShapeAndNumberOfPanels) {
  for (const auto& [width, height] : {std::pair<int64_t, int64_t>{1, 1},
                                      {512, 256},
                                      {40, 400},
                                      {900, 30},
                                      {1, 2000},
                                      {2000, 1}}) {
    for (const size_t count : {1u, 5u, 6u, 9u}) {
      SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
      testing::ExpectGoodLayout(PanelPageSvg(PageOf(count, width, height)));
    }
  }
}

TEST(PanelPage, PutsThreePicturesInARowAndPanoramasTwo) {
  const auto rows_of = [](const std::string& svg) {
    std::map<double, int> rows;
    for (const auto& picture : Pictures(svg)) ++rows[picture.Number("y")];
    return rows.size();
  };
  EXPECT_EQ(rows_of(PanelPageSvg(PageOf(6, 512, 256))), 2u);
  EXPECT_EQ(rows_of(PanelPageSvg(PageOf(6, 900, 60))), 3u);
  EXPECT_EQ(rows_of(PanelPageSvg(PageOf(5, 40, 400))), 1u);
}

TEST(PanelPage, DrawsPixelsInTheirTrueShape) {
  PanelPage page = PageOf(1, 60, 50);
  page.pixel_aspect = 2.0;
  const auto pictures = Pictures(PanelPageSvg(page));
  ASSERT_EQ(pictures.size(), 1u);
  EXPECT_NEAR(pictures[0].Number("height") / pictures[0].Number("width"), 100.0 / 60.0, 1e-4);
}

TEST(PanelPage, EnlargesSmallRastersByWholeFactors) {
  PanelPage page = PageOf(1, 2, 1);
  page.panels[0].raster.pixels = {{10, 20, 30}, {40, 50, 60}};
  const RgbImage drawn = testing::DecodeImage(Pictures(PanelPageSvg(page)).at(0));
  EXPECT_GE(drawn.width, 280);
  EXPECT_EQ(drawn.width, 2 * drawn.height);
  EXPECT_EQ(Thin(drawn, 2).pixels, page.panels[0].raster.pixels);
}

TEST(PanelPage, ThinsLargeRasters) {
  const RgbImage drawn = testing::DecodeImage(Pictures(PanelPageSvg(PageOf(1, 4000, 2000))).at(0));
  EXPECT_EQ(drawn.width, 1334);
  EXPECT_EQ(drawn.height, 667);
}

TEST(PanelPage, DrawsTheWholeMapAsScale) {
  PanelPage page = PageOf(2, 64, 64);
  RgbImage strip;
  for (const auto& image : testing::Select(testing::ReadSvg(PanelPageSvg(page)), "image")) {
    if (image.Number("height") == 10.0) strip = testing::DecodeImage(image);
  }
  const MapColors colors = FindColors(ColorMap::kHeat);
  EXPECT_EQ(strip.pixels, std::vector<Rgb>(colors.begin(), colors.end()));
}

TEST(PanelPage, RefusesAnAspectThatIsNotPositive) {
  PanelPage page = PageOf(1, 4, 4);
  for (const double aspect : {0.0, -1.0, std::nan("")}) {
    page.pixel_aspect = aspect;
    EXPECT_THROW(PanelPageSvg(page), Error) << aspect;
  }
}

}  // namespace
}  // namespace segcal
