// SPDX-License-Identifier: Apache-2.0
#include "report/svg.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/svg_reader_for_test.h"

namespace segcal {
namespace {

TEST(SvgNumber, IsShortAndFinite) {
  EXPECT_EQ(SvgNumber(1.0), "1");
  EXPECT_EQ(SvgNumber(100.0), "100");
  EXPECT_EQ(SvgNumber(1.25), "1.25");
  EXPECT_EQ(SvgNumber(-0.0004), "0");
  EXPECT_EQ(SvgNumber(2.0 / 3.0), "0.667");
  EXPECT_EQ(SvgNumber(-12.5), "-12.5");
  EXPECT_EQ(SvgNumber(0.0), "0");
  EXPECT_EQ(SvgNumber(std::nan("")), "0");
  EXPECT_EQ(SvgNumber(std::numeric_limits<double>::infinity()), "0");
}

TEST(EscapeXml, LeavesNoMarkupAndNoControls) {
  EXPECT_EQ(EscapeXml("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(EscapeXml("x\x01y\xFF"), "x y\uFFFD");
}

TEST(Svg, IsWellFormedWithHostileText) {
  Svg svg(100, 50, "</title><script>alert(1)</script>");
  svg.AddText({1, 2}, "]]> & <g> \" \xC3", {});
  const auto elements = testing::ReadSvg(std::move(svg).Finish());
  ASSERT_EQ(elements.size(), 4u);  // svg, title, card, text
  EXPECT_EQ(elements[1].text, "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;");
  EXPECT_EQ(elements[3].text, "]]&gt; &amp; &lt;g&gt; &quot; \uFFFD");
}

TEST(Svg, WritesWhatItIsGiven) {
  Svg svg(100, 50, "t");
  svg.AddRect({1, 2, 3, 4}, {.fill = Rgb{255, 0, 0}});
  svg.AddLine({5, 6}, {7, 8}, {.color = {0, 0, 255}, .width = 2.0, .dashed = true});
  svg.AddText(
      {9, 10}, "words", {.size = 11, .anchor = Anchor::kEnd, .bold = true, .upwards = true});
  const auto elements = testing::ReadSvg(std::move(svg).Finish());
  EXPECT_TRUE(elements[0].Has("viewBox", "0 0 100 50"));
  const auto& rect = elements[3];
  EXPECT_TRUE(rect.Has("fill", "#ff0000"));
  EXPECT_EQ(rect.box().bottom(), 6.0);
  EXPECT_TRUE(elements[4].Has("stroke", "#0000ff"));
  EXPECT_EQ(elements[4].attributes.count("stroke-dasharray"), 1u);
  EXPECT_TRUE(elements[5].Has("text-anchor", "end"));
  EXPECT_TRUE(elements[5].Has("transform", "rotate(-90 9 10)"));
}

TEST(Svg, EmbedsPicturesAndKeepsPixelsVisibleWhenEnlarged) {
  RgbImage image(2, 1);
  image.pixels = {{1, 2, 3}, {4, 5, 6}};
  Svg svg(100, 50, "t");
  svg.AddImage({0, 0, 20, 10}, image);
  svg.AddImage({0, 0, 1, 1}, image);
  const auto images = testing::Select(testing::ReadSvg(std::move(svg).Finish()), "image");
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(testing::DecodeImage(images[0]).pixels, image.pixels);
  EXPECT_TRUE(images[0].Has("style", "image-rendering:pixelated"));
  EXPECT_EQ(images[1].attributes.count("style"), 0u);
}

}  // namespace
}  // namespace segcal
