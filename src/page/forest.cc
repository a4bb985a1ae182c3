// SPDX-License-Identifier: Apache-2.0
#include "page/forest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/axis.h"
#include "report/colors.h"
#include "report/svg.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kForestWidth = 800.0;
constexpr double kForestLeft = 226.0;
constexpr double kForestRight = 560.0;
constexpr double kForestTop = 44.0;
constexpr double kRowHeight = 34.0;
constexpr double kThinHeight = 19.0;
constexpr double kForestFooter = 62.0;

Rgb FindingColor(Finding finding) noexcept {
  if (finding == Finding::kFavours) return kBlue;
  if (finding == Finding::kAgainst) return kRed;
  return kFaint;
}

double HeightOf(const ForestRow& row) {
  return kRowHeight + kThinHeight * static_cast<double>(row.published.size());
}

Axis ForestAxis(const Forest& forest) {
  RangeOfValues range;
  range.Add(0.0);
  for (const ForestRow& row : forest.rows) {
    for (const double value : {row.own.lower, row.own.estimate, row.own.upper}) range.Add(value);
    for (const ForestMark& mark : row.published) {
      range.Add(mark.lower);
      range.Add(mark.upper);
    }
  }
  return {range.low(), range.high(), kForestLeft, kForestRight};
}

// The interval and its estimate: a square, filled where the finding is one.
void DrawMark(const ForestMark& mark, const Axis& axis, double y, double size, Svg* svg) {
  if (!std::isfinite(mark.estimate)) return;
  const Rgb color = FindingColor(mark.finding);
  if (std::isfinite(mark.lower) && std::isfinite(mark.upper)) {
    svg->AddLine({axis.Pixel(mark.lower), y},
                 {axis.Pixel(mark.upper), y},
                 {.color = color, .width = size / 4.0});
  }
  const bool filled = mark.finding == Finding::kFavours || mark.finding == Finding::kAgainst;
  svg->AddRect(
      {axis.Pixel(mark.estimate) - size / 2.0, y - size / 2.0, size, size},
      {.fill = filled ? color : kPaper, .stroke = color, .stroke_width = 1.6, .radius = 1.0});
}

std::string NumbersText(const ForestMark& mark, int decimals) {
  if (std::isnan(mark.lower)) return FormatNumber(mark.estimate, decimals);
  return fmt::format("{} [{}, {}]",
                     FormatNumber(mark.estimate, decimals),
                     FormatNumber(mark.lower, decimals),
                     FormatNumber(mark.upper, decimals));
}

void DrawRow(const ForestRow& row, const Axis& axis, int decimals, double top, Svg* svg) {
  double y = top + kRowHeight / 2.0;
  svg->AddText({16.0, y + 4.0},
               FitPixels(row.label, 13.0, kForestLeft - 30.0),
               {.size = 13.0, .color = kInk});
  DrawMark(row.own, axis, y, 10.0, svg);
  svg->AddText({kForestRight + 18.0, y - 2.0},
               Words(row.own.finding),
               {.size = 12.0, .color = FindingColor(row.own.finding), .bold = true});
  svg->AddText({kForestRight + 18.0, y + 12.0},
               NumbersText(row.own, decimals),
               {.size = 11.0, .color = kFaint});
  y = top + kRowHeight;
  for (const ForestMark& mark : row.published) {
    svg->AddText({kForestLeft - 14.0, y + 4.0},
                 mark.label,
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
    DrawMark(mark, axis, y, 6.0, svg);
    svg->AddText({kForestRight + 18.0, y + 4.0},
                 NumbersText(mark, decimals),
                 {.size = 11.0, .color = kFaint});
    y += kThinHeight;
  }
}

std::string ForestTitle(const Forest& forest) {
  std::string title = forest.title;
  for (const ForestRow& row : forest.rows) {
    title += fmt::format(
        "; {}: {}, {}", row.label, NumbersText(row.own, forest.decimals), Words(row.own.finding));
  }
  return title + ".";
}

void DrawForestAxis(const Forest& forest, const Axis& axis, double bottom, Svg* svg) {
  for (const double tick : axis.Ticks()) {
    const double x = axis.Pixel(tick);
    svg->AddLine({x, kForestTop - 8.0}, {x, bottom}, {.color = kRule});
    svg->AddText({x, bottom + 16.0},
                 axis.Label(tick),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  const double zero = axis.Pixel(0.0);
  svg->AddLine({zero, kForestTop - 8.0}, {zero, bottom}, {.color = kInk, .width = 1.2});
  svg->AddText({(kForestLeft + kForestRight) / 2.0, bottom + 38.0},
               fmt::format("difference in {}, {}", forest.metric, forest.better),
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
}

}  // namespace

const char* Words(Finding finding) noexcept {
  switch (finding) {
    case Finding::kFavours:
      return "favours";
    case Finding::kAgainst:
      return "against";
    case Finding::kEqual:
      return "equal by construction";
    case Finding::kNotSignificant:
      break;
  }
  return "not significant";
}

std::string ForestSvg(const Forest& forest) {
  double height = kForestTop + kForestFooter;
  for (const ForestRow& row : forest.rows) height += HeightOf(row);
  Svg svg(kForestWidth, height, ForestTitle(forest));
  const Axis axis = ForestAxis(forest);
  svg.AddText({16.0, 24.0}, "first → second", {.size = 11.0, .color = kFaint});
  DrawForestAxis(forest, axis, height - kForestFooter, &svg);
  double top = kForestTop;
  for (const ForestRow& row : forest.rows) {
    DrawRow(row, axis, forest.decimals, top, &svg);
    top += HeightOf(row);
  }
  return std::move(svg).Finish();
}

}  // namespace segcal
