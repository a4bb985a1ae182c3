// SPDX-License-Identifier: Apache-2.0
#include "report/legend.h"

#include <algorithm>
#include <cmath>

#include "report/colors.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kFontSize = 11.0;
constexpr double kRowHeight = 18.0;
constexpr double kSignWidth = 12.0;
constexpr double kTextOffset = 18.0;  // from the left of the sign
constexpr double kColumnGap = 16.0;
constexpr double kMaxTextWidth = 210.0;  // a longer name is cut, not the page widened

struct Grid {
  int64_t columns = 1;
  int64_t rows = 0;
  double column_width = 0.0;
  double text_width = 0.0;
};

Grid Arrange(const std::vector<LegendItem>& items, double width) {
  Grid grid;
  const auto count = static_cast<int64_t>(items.size());
  for (const LegendItem& item : items) {
    grid.text_width = std::max(grid.text_width, TextPixels(item.text, kFontSize));
  }
  grid.text_width = std::min({grid.text_width, kMaxTextWidth, width - kTextOffset});
  grid.column_width = kTextOffset + grid.text_width + kColumnGap;
  const double fitting = std::floor((width + kColumnGap) / grid.column_width);
  grid.columns = std::clamp<int64_t>(static_cast<int64_t>(fitting), 1, std::max<int64_t>(1, count));
  grid.rows = (count + grid.columns - 1) / grid.columns;
  // No last row of one item.
  grid.columns = grid.rows == 0 ? 1 : (count + grid.rows - 1) / grid.rows;
  return grid;
}

void DrawSign(const LegendItem& item, const SvgBox& box, Svg* svg) {
  const double middle = box.y + box.height / 2.0;
  switch (item.sign) {
    case Sign::kSquare:
      svg->AddRect(box, {.fill = item.color, .stroke = kRule, .radius = 2.0});
      break;
    case Sign::kHatch:
      svg->AddRect(box, {.fill = kHatchLight, .radius = 2.0});
      svg->AddLine(
          {box.x, box.bottom()}, {box.right(), box.y}, {.color = kHatchDark, .width = 4.0});
      break;
    case Sign::kLine:
    case Sign::kDashedLine:
      svg->AddLine({box.x - 2.0, middle},
                   {box.right() + 2.0, middle},
                   {.color = item.color, .width = 2.0, .dashed = item.sign == Sign::kDashedLine});
      break;
  }
}

}  // namespace

double LegendHeight(const std::vector<LegendItem>& items, double width) {
  return static_cast<double>(Arrange(items, width).rows) * kRowHeight;
}

void DrawLegend(const std::vector<LegendItem>& items, Point corner, double width, Svg* svg) {
  const Grid grid = Arrange(items, width);
  for (size_t i = 0; i < items.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const int64_t row = index / grid.columns;
    const int64_t column = index % grid.columns;
    const double x = corner.x + static_cast<double>(column) * grid.column_width;
    const double y = corner.y + static_cast<double>(row) * kRowHeight;
    DrawSign(items[i], {x, y + 3.0, kSignWidth, kSignWidth}, svg);
    svg->AddText({x + kTextOffset, y + 13.0},
                 FitPixels(items[i].text, kFontSize, grid.text_width),
                 {.size = kFontSize, .color = kInk});
  }
}

}  // namespace segcal
