// SPDX-License-Identifier: Apache-2.0
#include "report/reliability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "report/colors.h"
#include "report/legend.h"
#include "report/reliability_bars.h"
#include "report/svg.h"
#include "report/text.h"

namespace segcal {
namespace {

constexpr double kDiagramMargin = 20.0;
constexpr double kHeading = 34.0;
constexpr double kPanelWidth = 430.0;
constexpr double kAxisRoom = 70.0;  // left of the plots: tick labels and the name of the axis
constexpr double kPlotSide = 340.0;
constexpr double kHistogramGap = 16.0;
constexpr double kHistogramHeight = 78.0;
constexpr double kFooter = 48.0;  // tick labels, name of the axis, room below
constexpr double kTitle = 26.0;
constexpr double kTileHeight = 40.0;
constexpr size_t kTilesPerRow = 4;
constexpr double kSummary = 26.0;

struct Totals {
  int64_t count = 0;
  double accuracy = 0.0;
  double confidence = 0.0;
  double least_share = 1.0;  // of the non-empty bins
};

Totals Summarize(const std::vector<ReliabilityRow>& bins) {
  Totals totals;
  int64_t correct = 0;
  int64_t least = std::numeric_limits<int64_t>::max();
  double confidence_sum = 0.0;
  for (const ReliabilityRow& bin : bins) {
    totals.count += bin.count;
    correct += bin.correct;
    confidence_sum += bin.confidence_sum;
    if (bin.count > 0) least = std::min(least, bin.count);
  }
  if (totals.count == 0) return totals;
  const auto count = static_cast<double>(totals.count);
  totals.accuracy = static_cast<double>(correct) / count;
  totals.confidence = confidence_sum / count;
  totals.least_share = static_cast<double>(least) / count;
  return totals;
}

// Where the parts of one panel are.
struct Frame {
  Point corner;
  SvgBox plot;
  SvgBox histogram;

  UnitPlot unit() const noexcept { return {plot}; }
  double X(double confidence) const noexcept { return unit().X(confidence); }
  double Y(double accuracy) const noexcept { return unit().Y(accuracy); }
};

double HeaderHeight(const std::vector<ReliabilityPanel>& panels) {
  size_t rows = 0;
  for (const auto& panel : panels) {
    rows = std::max(rows, (panel.numbers.size() + kTilesPerRow - 1) / kTilesPerRow);
  }
  return kTitle + static_cast<double>(rows) * kTileHeight + kSummary;
}

Frame FrameAt(Point corner, double header) {
  const SvgBox plot{corner.x + kAxisRoom, corner.y + header, kPlotSide, kPlotSide};
  return {corner, plot, {plot.x, plot.bottom() + kHistogramGap, kPlotSide, kHistogramHeight}};
}

double PanelHeight(double header) {
  return header + kPlotSide + kHistogramGap + kHistogramHeight + kFooter;
}

void DrawNumbers(const ReliabilityPanel& panel, Point corner, Svg* svg) {
  const double width = kPlotSide / static_cast<double>(kTilesPerRow);
  for (size_t i = 0; i < panel.numbers.size(); ++i) {
    const size_t row = i / kTilesPerRow;
    const size_t column = i % kTilesPerRow;
    const double x = corner.x + static_cast<double>(column) * width;
    const double y = corner.y + static_cast<double>(row) * kTileHeight;
    const auto& [name, value] = panel.numbers[i];
    svg->AddText(
        {x, y + 12.0}, FitPixels(name, 11.0, width - 6.0), {.size = 11.0, .color = kFaint});
    svg->AddText({x, y + 30.0},
                 FitPixels(FormatNumber(value, 4), 15.5 * kBoldWidth, width),
                 {.size = 15.5, .color = kInk, .bold = true});
  }
}

void DrawHeader(const ReliabilityPanel& panel,
                const ReliabilityWords& words,
                const Totals& totals,
                const Frame& frame,
                Svg* svg) {
  svg->AddText({frame.plot.x, frame.corner.y + 15.0},
               FitPixels(panel.title, 16.0 * kBoldWidth, kPlotSide),
               {.size = 16.0, .color = kInk, .bold = true});
  DrawNumbers(panel, {frame.plot.x, frame.corner.y + kTitle}, svg);
  if (totals.count == 0) return;
  const std::string summary = fmt::format("{} {} · {} {} · n = {}",
                                          words.rate,
                                          FormatNumber(totals.accuracy, 3),
                                          words.mean,
                                          FormatNumber(totals.confidence, 3),
                                          FormatCount(totals.count));
  svg->AddText({frame.plot.x, frame.plot.y - 11.0},
               FitPixels(summary, 10.5, kPlotSide + 15.0),
               {.size = 10.5, .color = kFaint});
}

void DrawAxes(const ReliabilityWords& words, const Frame& frame, Svg* svg) {
  const SvgBox& plot = frame.plot;
  for (int i = 0; i <= 5; ++i) {
    const double tick = i / 5.0;
    const double x = frame.X(tick);
    const double y = frame.Y(tick);
    svg->AddLine({plot.x, y}, {plot.right(), y}, {.color = kRule});
    svg->AddLine({x, plot.y}, {x, plot.bottom()}, {.color = kRule});
    svg->AddText({plot.x - 7.0, y + 3.8},
                 FormatNumber(tick, 1),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
    svg->AddText({x, frame.histogram.bottom() + 16.0},
                 FormatNumber(tick, 1),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  svg->AddText({frame.corner.x + 14.0, frame.Y(0.5)},
               words.rate,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle, .upwards = true});
  svg->AddText({frame.X(0.5), frame.histogram.bottom() + 34.0},
               words.mean,
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
}

// The bottom of the logarithmic axis, 10^exponent: even, so that the middle tick is a whole power.
int FloorExponent(double least_share) {
  const int exponent = static_cast<int>(std::floor(std::log10(least_share) / 2.0)) * 2;
  return std::clamp(exponent, -6, -2);
}

std::string PercentLabel(int exponent) {
  return FormatNumber(100.0 * std::pow(10.0, exponent), std::max(0, -2 - exponent)) + "%";
}

void DrawHistogramAxis(const Frame& frame, int exponent, Svg* svg) {
  const SvgBox& box = frame.histogram;
  for (int i = 0; i <= 2; ++i) {
    const double y = box.y + box.height * i / 2.0;
    svg->AddLine({box.x, y}, {box.right(), y}, {.color = kRule});
    svg->AddText({box.x - 7.0, y + 3.8},
                 PercentLabel(exponent * i / 2),
                 {.size = 10.5, .color = kFaint, .anchor = Anchor::kEnd});
  }
  svg->AddText({frame.corner.x + 14.0, box.y + box.height / 2.0},
               "voxels",
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle, .upwards = true});
}

void DrawHistogram(const ReliabilityPanel& panel,
                   const Totals& totals,
                   const Frame& frame,
                   Svg* svg) {
  const SvgBox& box = frame.histogram;
  const int exponent = FloorExponent(totals.least_share);
  DrawHistogramAxis(frame, exponent, svg);
  for (const ReliabilityRow& bin : panel.bins) {
    if (bin.count == 0) continue;
    const double share = static_cast<double>(bin.count) / static_cast<double>(totals.count);
    // At least a line: rare is not empty.
    const double height = std::max(1.5, box.height * (1.0 - std::log10(share) / exponent));
    const double left = frame.X(bin.lower);
    const double width = frame.X(bin.upper) - left;
    const double gap = std::min(1.0, 0.15 * width);
    svg->AddRect({left + gap / 2.0, box.bottom() - height, width - gap, height},
                 {.fill = kHatchDark});
  }
  const auto mark = [&](double at, Rgb color, bool dashed) {
    const double x = frame.X(std::clamp(at, 0.0, 1.0));
    svg->AddLine(
        {x, box.y - 5.0}, {x, box.bottom()}, {.color = color, .width = 2.0, .dashed = dashed});
  };
  mark(totals.accuracy, kInk, false);
  mark(totals.confidence, kRed, true);
}

void DrawDiagonal(const Frame& frame, Svg* svg) {
  svg->AddLine({frame.X(0.0), frame.Y(0.0)},
               {frame.X(1.0), frame.Y(1.0)},
               {.color = kInk, .width = 1.2, .dashed = true});
}

void DrawPanel(const ReliabilityPanel& panel,
               const ReliabilityWords& words,
               const Frame& frame,
               Svg* svg) {
  const Totals totals = Summarize(panel.bins);
  DrawHeader(panel, words, totals, frame, svg);
  DrawAxes(words, frame, svg);
  if (totals.count > 0) {
    DrawBars(panel.bins, frame.unit(), svg);
    DrawBefore(panel.before, frame.unit(), svg);
    DrawDiagonal(frame, svg);
    DrawHistogram(panel, totals, frame, svg);
  } else {
    svg->AddText({frame.X(0.5), frame.Y(0.5)},
                 "no labelled voxels",
                 {.size = 14.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  svg->AddRect(frame.plot, {.stroke = kFaint});
  svg->AddRect(frame.histogram, {.stroke = kRule});
}

// A line of every panel, or a kind of bin in one of them.
bool AnyPanel(const std::vector<ReliabilityPanel>& panels,
              const std::function<bool(const ReliabilityPanel&)>& has) {
  return std::any_of(panels.begin(), panels.end(), has);
}

bool HasFewVoxels(const ReliabilityPanel& panel) {
  return std::any_of(panel.bins.begin(), panel.bins.end(), [](const ReliabilityRow& bin) {
    return bin.count > 0 && WilsonInterval(bin.correct, bin.count).width() > kFewVoxels;
  });
}

std::vector<LegendItem> Legend(const std::vector<ReliabilityPanel>& panels,
                               const ReliabilityWords& words) {
  std::vector<LegendItem> items = {
      {.text = words.rate + " of the bin", .color = kBlue},
      {.text = "over-confident gap", .color = kRed},
      {.text = "under-confident gap", .color = kAmber},
      {.text = "perfect calibration", .color = kInk, .sign = Sign::kDashedLine},
      {.text = "overall " + words.rate, .color = kInk, .sign = Sign::kLine},
      {.text = "mean " + words.mean, .color = kRed, .sign = Sign::kDashedLine}};
  if (AnyPanel(panels, [](const auto& panel) { return !panel.before.empty(); }))
    items.push_back({.text = words.before, .color = kBefore, .sign = Sign::kLine});
  if (AnyPanel(panels, HasFewVoxels)) {
    items.push_back(
        {.text = "faint: few voxels, 95 % interval", .color = Mix(kBlue, kPaper, 0.68)});
  }
  return items;
}

}  // namespace

size_t PanelColumns(size_t count) noexcept {
  // Width over height of a page that fills a screen, and what an empty place costs beside it.
  constexpr double kGoodAspect = 1.4;
  constexpr double kEmptyPlace = 0.3;
  constexpr size_t kMostColumns = 6;
  size_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (size_t columns = 1; columns <= std::min(kMostColumns, count); ++columns) {
    const size_t rows = (count + columns - 1) / columns;
    const double aspect = static_cast<double>(columns) * kPanelWidth /
                          (static_cast<double>(rows) * PanelHeight(kTitle + kTileHeight));
    const double cost = std::fabs(std::log(aspect / kGoodAspect)) +
                        kEmptyPlace * static_cast<double>(rows * columns - count);
    if (cost < least) {
      least = cost;
      best = columns;
    }
  }
  return best;
}

std::string ReliabilitySvg(const std::vector<ReliabilityPanel>& panels,
                           const std::string& heading,
                           const ReliabilityWords& words) {
  const size_t columns = PanelColumns(panels.size());
  const size_t rows = (panels.size() + columns - 1) / columns;
  const double header = HeaderHeight(panels);
  const double inner_width = static_cast<double>(columns) * kPanelWidth;
  const double top = kDiagramMargin + (heading.empty() ? 0.0 : kHeading);
  const double legend_top = top + static_cast<double>(rows) * PanelHeight(header);
  const std::vector<LegendItem> legend = Legend(panels, words);
  const double legend_width = inner_width - kAxisRoom;
  const double legend_height = LegendHeight(legend, legend_width);
  Svg svg(inner_width + 2.0 * kDiagramMargin,
          legend_top + legend_height + kDiagramMargin,
          "Reliability diagram");
  if (!heading.empty()) {
    svg.AddText({kDiagramMargin, kDiagramMargin + 14.0},
                FitPixels(heading, 17.0 * kBoldWidth, inner_width),
                {.size = 17.0, .color = kInk, .bold = true});
  }
  for (size_t i = 0; i < panels.size(); ++i) {
    const size_t row = i / columns;
    const size_t column = i % columns;
    const Point corner{kDiagramMargin + static_cast<double>(column) * kPanelWidth,
                       top + static_cast<double>(row) * PanelHeight(header)};
    DrawPanel(panels[i], words, FrameAt(corner, header), &svg);
  }
  DrawLegend(legend, {kDiagramMargin + kAxisRoom, legend_top}, legend_width, &svg);
  return std::move(svg).Finish();
}

}  // namespace segcal
