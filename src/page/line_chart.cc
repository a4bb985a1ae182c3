// SPDX-License-Identifier: Apache-2.0
#include "page/line_chart.h"

#include <algorithm>
#include <cmath>

#include "page/axis.h"
#include "report/colors.h"
#include "report/legend.h"
#include "report/svg.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kChartWidth = 620.0;
constexpr SvgBox kChartPlot{72.0, 24.0, 524.0, 280.0};
constexpr double kChartLegendTop = 362.0;

struct ChartAxes {
  Axis x;
  Axis y;
};

ChartAxes FindAxes(const LineChart& chart) {
  RangeOfValues x;
  RangeOfValues y;
  for (const ChartLine& line : chart.lines) {
    for (const LinePoint& point : line.points) {
      x.Add(point.x);
      for (const double value : {point.y, point.lower, point.upper}) y.Add(value);
    }
  }
  // Categories keep half a step free on both sides.
  const bool named = !chart.x_labels.empty();
  const double last = static_cast<double>(chart.x_labels.size()) - 1.0;
  return {
      .x = Axis(
          named ? -0.5 : x.low(), named ? last + 0.5 : x.high(), kChartPlot.x, kChartPlot.right()),
      .y = Axis(y.low(), y.high(), kChartPlot.bottom(), kChartPlot.y)};
}

void DrawChartX(const LineChart& chart, const Axis& axis, Svg* svg) {
  const auto label = [&](double x, const std::string& text) {
    svg->AddText({x, kChartPlot.bottom() + 17.0},
                 text,
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  };
  for (size_t i = 0; i < chart.x_labels.size(); ++i)
    label(axis.Pixel(static_cast<double>(i)), chart.x_labels[i]);
  if (chart.x_labels.empty()) {
    for (const double tick : axis.Ticks()) {
      const double x = axis.Pixel(tick);
      svg->AddLine({x, kChartPlot.y}, {x, kChartPlot.bottom()}, {.color = kRule});
      label(x, axis.Label(tick));
    }
  }
  svg->AddText({kChartPlot.x + kChartPlot.width / 2.0, kChartPlot.bottom() + 38.0},
               chart.x_name,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
}

void DrawChartY(const LineChart& chart, const Axis& axis, Svg* svg) {
  for (const double tick : axis.Ticks()) {
    const double y = axis.Pixel(tick);
    svg->AddLine({kChartPlot.x, y}, {kChartPlot.right(), y}, {.color = kRule});
    svg->AddText({kChartPlot.x - 8.0, y + 4.0},
                 axis.Label(tick),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
  }
  svg->AddText({18.0, kChartPlot.y + kChartPlot.height / 2.0},
               chart.y_name,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle, .upwards = true});
}

void DrawChartLine(const ChartLine& line, const ChartAxes& axes, Svg* svg) {
  const double width = line.strong ? 2.8 : 1.3;
  const LinePoint* before = nullptr;
  for (const LinePoint& point : line.points) {
    if (!std::isfinite(point.y)) continue;
    const Point at{axes.x.Pixel(point.x), axes.y.Pixel(point.y)};
    if (before != nullptr) {
      svg->AddLine({axes.x.Pixel(before->x), axes.y.Pixel(before->y)},
                   at,
                   {.color = line.color, .width = width});
    }
    before = &point;
    if (std::isfinite(point.lower) && std::isfinite(point.upper) && line.strong) {
      svg->AddLine({at.x, axes.y.Pixel(point.lower)},
                   {at.x, axes.y.Pixel(point.upper)},
                   {.color = line.color, .width = 1.2});
    }
    const double r = line.strong ? 4.0 : 2.5;
    if (line.marked)
      svg->AddRect({at.x - r, at.y - r, 2.0 * r, 2.0 * r}, {.fill = line.color, .radius = r});
  }
}

std::vector<LegendItem> ChartLegend(const LineChart& chart) {
  std::vector<LegendItem> items;
  for (const ChartLine& line : chart.lines)
    items.push_back({.text = line.name, .color = line.color, .sign = Sign::kLine});
  return items;
}

}  // namespace

std::string LineChartSvg(const LineChart& chart) {
  const std::vector<LegendItem> legend = ChartLegend(chart);
  const double height = kChartLegendTop + LegendHeight(legend, kChartWidth - 48.0) + 14.0;
  Svg svg(kChartWidth, height, chart.title);
  const ChartAxes axes = FindAxes(chart);
  DrawChartX(chart, axes.x, &svg);
  DrawChartY(chart, axes.y, &svg);
  for (const bool strong : {false, true}) {
    for (const ChartLine& line : chart.lines) {
      if (line.strong == strong) DrawChartLine(line, axes, &svg);
    }
  }
  DrawLegend(legend, {24.0, kChartLegendTop}, kChartWidth - 48.0, &svg);
  return std::move(svg).Finish();
}

}  // namespace segcal
