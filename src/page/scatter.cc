// SPDX-License-Identifier: Apache-2.0
#include "page/scatter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/axis.h"
#include "report/colors.h"
#include "report/svg.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kScatterWidth = 760.0;
constexpr SvgBox kScatterPlot{76.0, 24.0, 484.0, 380.0};
constexpr double kKeyLeft = 584.0;
constexpr double kKeyRow = 20.0;
constexpr double kBubble = 9.0;

bool IsFree(Point at, const std::vector<Point>& taken) {
  const bool inside = at.x > kScatterPlot.x + kBubble && at.x < kScatterPlot.right() - kBubble &&
                      at.y > kScatterPlot.y + kBubble && at.y < kScatterPlot.bottom() - kBubble;
  return inside && std::none_of(taken.begin(), taken.end(), [&](Point other) {
           return std::hypot(at.x - other.x, at.y - other.y) < 2.0 * kBubble + 1.0;
         });
}

// The nearest free place for a number: at rings of growing radius around its point.
Point PlaceBubble(Point at, const std::vector<Point>& taken) {
  for (int ring = 1; ring <= 12; ++ring) {
    for (int turn = 0; turn < 12; ++turn) {
      const double angle = 0.5235987755982988 * turn - 0.7853981633974483;
      const double radius = 8.0 + 9.0 * ring;
      const Point place{at.x + radius * std::cos(angle), at.y + radius * std::sin(angle)};
      if (IsFree(place, taken)) return place;
    }
  }
  return at;
}

Rgb PointColor(const ScatterPoint& point) {
  return point.strong ? kBlue : (point.baseline ? kFaint : kInk);
}

void DrawCross(const ScatterPoint& point, Point at, const Axis& x, const Axis& y, Svg* svg) {
  const LineStyle style{.color = kRule, .width = 1.4};
  if (std::isfinite(point.x_lower))
    svg->AddLine({x.Pixel(point.x_lower), at.y}, {x.Pixel(point.x_upper), at.y}, style);
  if (std::isfinite(point.y_lower))
    svg->AddLine({at.x, y.Pixel(point.y_lower)}, {at.x, y.Pixel(point.y_upper)}, style);
}

void DrawNumberedPoint(const ScatterPoint& point, size_t number, Point at, Point bubble, Svg* svg) {
  const Rgb color = PointColor(point);
  svg->AddLine(at, bubble, {.color = kFaint, .width = 0.8});
  svg->AddRect({at.x - 3.0, at.y - 3.0, 6.0, 6.0}, {.fill = color, .radius = 3.0});
  svg->AddRect({bubble.x - kBubble, bubble.y - kBubble, 2.0 * kBubble, 2.0 * kBubble},
               {.fill = point.strong ? kBlue : kPaper, .stroke = color, .radius = kBubble});
  svg->AddText({bubble.x, bubble.y + 3.8},
               std::to_string(number),
               {.size = 10.5,
                .color = point.strong ? kPaper : color,
                .anchor = Anchor::kMiddle,
                .bold = point.strong});
}

void DrawScatterAxes(const Scatter& scatter, const Axis& x, const Axis& y, Svg* svg) {
  for (const double tick : x.Ticks()) {
    svg->AddLine(
        {x.Pixel(tick), kScatterPlot.y}, {x.Pixel(tick), kScatterPlot.bottom()}, {.color = kCalm});
    svg->AddText({x.Pixel(tick), kScatterPlot.bottom() + 17.0},
                 x.Label(tick),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  for (const double tick : y.Ticks()) {
    svg->AddLine(
        {kScatterPlot.x, y.Pixel(tick)}, {kScatterPlot.right(), y.Pixel(tick)}, {.color = kCalm});
    svg->AddText({kScatterPlot.x - 8.0, y.Pixel(tick) + 4.0},
                 y.Label(tick),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
  }
  svg->AddText({kScatterPlot.x + kScatterPlot.width / 2.0, kScatterPlot.bottom() + 38.0},
               scatter.x_name,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
  svg->AddText({18.0, kScatterPlot.y + kScatterPlot.height / 2.0},
               scatter.y_name,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle, .upwards = true});
}

void DrawKey(const Scatter& scatter, Svg* svg) {
  double y = kScatterPlot.y + 10.0;
  for (size_t i = 0; i < scatter.points.size(); ++i, y += kKeyRow) {
    const ScatterPoint& point = scatter.points[i];
    svg->AddText({kKeyLeft + 16.0, y},
                 std::to_string(i + 1),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
    svg->AddText(
        {kKeyLeft + 24.0, y},
        FitPixels(
            point.name, 12.0 * (point.strong ? kBoldWidth : 1.0), kScatterWidth - kKeyLeft - 36.0),
        {.size = 12.0, .color = PointColor(point), .bold = point.strong});
  }
}

std::vector<Point> Positions(const Scatter& scatter, const Axis& x, const Axis& y) {
  std::vector<Point> positions;
  positions.reserve(scatter.points.size());
  for (const ScatterPoint& point : scatter.points)
    positions.push_back({x.Pixel(point.x), y.Pixel(point.y)});
  return positions;
}

}  // namespace

std::string ScatterSvg(const Scatter& scatter) {
  const double key = kScatterPlot.y + kKeyRow * static_cast<double>(scatter.points.size()) + 16.0;
  Svg svg(kScatterWidth, std::max(kScatterPlot.bottom() + 56.0, key), scatter.title);
  RangeOfValues x_range;
  RangeOfValues y_range;
  for (const ScatterPoint& point : scatter.points) {
    for (const double value : {point.x, point.x_lower, point.x_upper}) x_range.Add(value);
    for (const double value : {point.y, point.y_lower, point.y_upper}) y_range.Add(value);
  }
  const Axis x(x_range.low(), x_range.high(), kScatterPlot.x, kScatterPlot.right());
  const Axis y(y_range.low(), y_range.high(), kScatterPlot.bottom(), kScatterPlot.y);
  DrawScatterAxes(scatter, x, y, &svg);
  const std::vector<Point> positions = Positions(scatter, x, y);
  for (size_t i = 0; i < positions.size(); ++i)
    DrawCross(scatter.points[i], positions[i], x, y, &svg);
  std::vector<Point> taken = positions;
  for (size_t i = 0; i < positions.size(); ++i) {
    const Point bubble = PlaceBubble(positions[i], taken);
    taken.push_back(bubble);
    DrawNumberedPoint(scatter.points[i], i + 1, positions[i], bubble, &svg);
  }
  DrawKey(scatter, &svg);
  return std::move(svg).Finish();
}

}  // namespace segcal
