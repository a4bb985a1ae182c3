// SPDX-License-Identifier: Apache-2.0
#include "page/box_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/quantile.h"
#include "page/axis.h"
#include "report/colors.h"
#include "report/svg.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kBoxWidth = 760.0;
constexpr double kBoxLeft = 130.0;
constexpr double kBoxRight = 730.0;
constexpr double kBoxTop = 22.0;
constexpr double kBoxRow = 22.0;
constexpr double kBoxFooter = 56.0;

void DrawBox(const BoxRow& row, const Axis& axis, double y, Svg* svg) {
  const Rgb color = row.strong ? kBlue : kFaint;
  svg->AddText({kBoxLeft - 12.0, y + 4.0},
               FitPixels(row.name, 12.0 * kBoldWidth, kBoxLeft - 24.0),
               {.size = 12.0,
                .color = row.strong ? kBlue : kInk,
                .anchor = Anchor::kEnd,
                .bold = row.strong});
  if (std::isnan(row.five[0])) return;
  const auto x = [&](size_t i) { return axis.Pixel(row.five[i]); };
  svg->AddLine({x(0), y}, {x(4), y}, {.color = color});
  svg->AddRect({x(1), y - 6.0, std::max(1.0, x(3) - x(1)), 12.0},
               {.fill = kCalm, .stroke = color, .radius = 2.0});
  svg->AddLine({x(2), y - 6.0}, {x(2), y + 6.0}, {.color = color, .width = 2.4});
}

std::string BoxTitle(const BoxPlot& plot) {
  std::string title = plot.title;
  for (const BoxRow& row : plot.rows) {
    title += fmt::format("; {}: median {}, from {} to {}",
                         row.name,
                         FormatNumber(row.five[2], 4),
                         FormatNumber(row.five[0], 4),
                         FormatNumber(row.five[4], 4));
  }
  return title + ".";
}

}  // namespace

FiveNumber FiveNumbers(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  FiveNumber five;
  for (size_t i = 0; i < five.size(); ++i)
    five[i] = Quantile(values, 0.25 * static_cast<double>(i));
  return five;
}

std::string BoxPlotSvg(const BoxPlot& plot) {
  const double bottom = kBoxTop + kBoxRow * static_cast<double>(plot.rows.size());
  Svg svg(kBoxWidth, bottom + kBoxFooter, BoxTitle(plot));
  RangeOfValues range;
  range.Add(0.0);
  for (const BoxRow& row : plot.rows) {
    range.Add(row.five.front());
    range.Add(row.five.back());
  }
  const Axis axis(range.low(), range.high(), kBoxLeft, kBoxRight);
  for (const double tick : axis.Ticks()) {
    const double x = axis.Pixel(tick);
    svg.AddLine({x, kBoxTop - 8.0}, {x, bottom}, {.color = kRule});
    svg.AddText({x, bottom + 16.0},
                axis.Label(tick),
                {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  for (size_t i = 0; i < plot.rows.size(); ++i)
    DrawBox(plot.rows[i], axis, kBoxTop + kBoxRow * (static_cast<double>(i) + 0.5), &svg);
  svg.AddText({(kBoxLeft + kBoxRight) / 2.0, bottom + 38.0},
              plot.x_name,
              {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
  return std::move(svg).Finish();
}

}  // namespace segcal
