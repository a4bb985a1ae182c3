// SPDX-License-Identifier: Apache-2.0
#include "report/legend.h"

#include <gtest/gtest.h>

#include "report/svg_reader_for_test.h"
#include "report/text.h"

namespace segcal {
namespace {

std::string Draw(const std::vector<LegendItem>& items, double width) {
  Svg svg(width + 20.0, LegendHeight(items, width) + 20.0, "legend");
  DrawLegend(items, {10.0, 10.0}, width, &svg);
  return std::move(svg).Finish();
}

TEST(Legend, StaysInItsWidthAndHeight) {
  for (const size_t count : {1u, 2u, 7u, 40u}) {
    for (const double width : {150.0, 300.0, 900.0}) {
      std::vector<LegendItem> items;
      for (size_t i = 0; i < count; ++i) items.push_back({std::string(1 + 13 * (i % 5), 'n')});
      testing::ExpectGoodLayout(Draw(items, width));
    }
  }
}

TEST(Legend, CutsLongNames) {
  const auto texts = testing::Texts(testing::ReadSvg(Draw({{std::string(200, 'x')}}, 900.0)));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_LE(TextPixels(texts[0], 11.0), 210.0);
  EXPECT_EQ(texts[0].substr(texts[0].size() - 3), "…");
}

TEST(Legend, SharesItemsEvenlyBetweenRows) {
  // Four would fit in the first row; two rows of three leave none alone.
  const std::vector<LegendItem> items(6, LegendItem{"classes"});
  std::map<double, int> items_at;
  for (const auto& text : testing::Select(testing::ReadSvg(Draw(items, 330.0)), "text")) {
    ++items_at[text.Number("y")];
  }
  ASSERT_EQ(items_at.size(), 2u);
  for (const auto& [y, count] : items_at) EXPECT_EQ(count, 3) << y;
}

TEST(Legend, OfNothingIsEmpty) {
  EXPECT_EQ(LegendHeight({}, 300.0), 0.0);
  EXPECT_TRUE(testing::Texts(testing::ReadSvg(Draw({}, 300.0))).empty());
}

}  // namespace
}  // namespace segcal
