// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/svg.h"

namespace segcal {

enum class Sign { kSquare, kHatch, kLine, kDashedLine };

// What a colour or line means.
struct LegendItem {
  std::string text;
  Rgb color = {};
  Sign sign = Sign::kSquare;
};

// Height of the items in columns of equal width that fill `width`.
double LegendHeight(const std::vector<LegendItem>& items, double width);

// Draws them, rows first, with the top left corner at `corner`.
void DrawLegend(const std::vector<LegendItem>& items, Point corner, double width, Svg* svg);

}  // namespace segcal
