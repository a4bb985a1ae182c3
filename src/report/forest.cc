// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "metrics/metric.h"
#include "pipeline/spec.h"
#include "report/colors.h"
#include "report/legend.h"
#include "report/svg.h"
#include "report/text.h"
#include "segcal/figures.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

constexpr double kForestMargin = 24.0;
constexpr double kForestTitle = 50.0;
constexpr double kForestHead = 26.0;
constexpr double kForestRow = 22.0;
constexpr double kForestPlot = 190.0;
constexpr double kForestGap = 26.0;
constexpr double kForestAxis = 30.0;
constexpr double kForestNames = 260.0;
constexpr size_t kForestColumns = 4;  // beside each other; more go below

// A pipeline or a pair and its differences.
struct ForestRow {
  std::string name;
  const std::vector<MetricComparison>* comparisons;
};

const MetricComparison* FindDifference(const ForestRow& row, const std::string& metric) {
  for (const MetricComparison& comparison : *row.comparisons) {
    if (comparison.difference.metric == metric) return &comparison;
  }
  return nullptr;
}

// The largest reach of a column to either side of zero; 1 where nothing can be drawn.
double FindReach(const std::vector<ForestRow>& rows, const std::string& metric) {
  double reach = 0.0;
  for (const ForestRow& row : rows) {
    const MetricComparison* found = FindDifference(row, metric);
    if (found == nullptr || found->equal_by_construction) continue;
    for (const double end :
         {found->difference.estimate, found->difference.lower, found->difference.upper})
      if (std::isfinite(end)) reach = std::max(reach, std::fabs(end));
  }
  return reach > 0.0 ? reach : 1.0;
}

// Blue where the interval says better, red where worse, grey where it says neither.
Rgb VerdictColor(const MetricComparison& comparison) {
  if (!ExcludesZero(comparison.difference)) return kHatchDark;
  const MetricNumber* number = FindNumber(comparison.difference.metric);
  const bool rises = comparison.difference.estimate > 0.0;
  if (number == nullptr || number->goal == Goal::kNone || number->goal == Goal::kZero) return kInk;
  return rises == (number->goal == Goal::kHigh) ? kBlue : kRed;
}

void DrawDifference(const MetricComparison& comparison, SvgBox plot, double reach, Svg* svg) {
  const double y = plot.y + 0.5 * kForestRow;
  const double zero = plot.x + 0.5 * plot.width;
  if (comparison.equal_by_construction) {
    svg->AddText({zero, y + 3.8},
                 "equal by construction",
                 {.size = 10.5, .color = kFaint, .anchor = Anchor::kMiddle});
    return;
  }
  const MetricInterval& difference = comparison.difference;
  if (!std::isfinite(difference.estimate)) return;
  const auto x = [&](double value) { return zero + 0.5 * plot.width * value / reach; };
  const Rgb color = VerdictColor(comparison);
  if (std::isfinite(difference.lower) && std::isfinite(difference.upper))
    svg->AddLine(
        {x(difference.lower), y}, {x(difference.upper), y}, {.color = color, .width = 2.5});
  svg->AddRect({x(difference.estimate) - 3.5, y - 3.5, 7.0, 7.0},
               {.fill = color, .stroke = kPaper});
}

void DrawForestColumn(const std::vector<ForestRow>& rows,
                      const MetricColumn& column,
                      Point corner,
                      Svg* svg) {
  const double reach = FindReach(rows, column.metric);
  const double height = kForestRow * static_cast<double>(rows.size());
  const double zero = corner.x + 0.5 * kForestPlot;
  svg->AddText({zero, corner.y - 9.0},
               FitPixels(column.header, 12.5 * kBoldWidth, kForestPlot),
               {.size = 12.5, .color = kInk, .anchor = Anchor::kMiddle, .bold = true});
  for (size_t r = 0; r < rows.size(); ++r) {
    const MetricComparison* found = FindDifference(rows[r], column.metric);
    const double y = corner.y + kForestRow * static_cast<double>(r);
    // Not through the words of a row that has no difference.
    if (found == nullptr || !found->equal_by_construction)
      svg->AddLine({zero, y}, {zero, y + kForestRow}, {.color = kFaint});
    if (found != nullptr)
      DrawDifference(*found, {corner.x, y, kForestPlot, kForestRow}, reach, svg);
  }
  svg->AddRect({corner.x - 6.0, corner.y, kForestPlot + 12.0, height}, {.stroke = kRule});
  const bool has_scale = std::any_of(rows.begin(), rows.end(), [&](const ForestRow& row) {
    const MetricComparison* found = FindDifference(row, column.metric);
    return found != nullptr && !found->equal_by_construction;
  });
  if (!has_scale) return;
  const double baseline = corner.y + height + 15.0;
  const auto tick = [&](double x, double value, Anchor anchor) {
    svg->AddText({x, baseline},
                 FormatShort(value * column.factor),
                 {.size = 10.5, .color = kFaint, .anchor = anchor});
  };
  tick(corner.x - 6.0, -reach, Anchor::kStart);
  tick(zero, 0.0, Anchor::kMiddle);
  tick(corner.x + kForestPlot + 6.0, reach, Anchor::kEnd);
}

// To the left of `corner`.
void DrawForestNames(const std::vector<ForestRow>& rows, Point corner, Svg* svg) {
  for (size_t r = 0; r < rows.size(); ++r) {
    svg->AddText({corner.x, corner.y + kForestRow * (static_cast<double>(r) + 0.5) + 4.0},
                 FitPixels(rows[r].name, 12.0, kForestNames),
                 {.size = 12.0, .color = kInk, .anchor = Anchor::kEnd});
  }
}

std::string ForestSvg(const std::string& title,
                      const std::string& note,
                      const std::vector<ForestRow>& rows,
                      const std::vector<MetricColumn>& columns) {
  double names = 60.0;
  for (const ForestRow& row : rows) names = std::max(names, TextPixels(row.name, 12.0));
  names = std::min(names, kForestNames) + 16.0;
  const double step = kForestPlot + kForestGap;
  const size_t most = std::min(kForestColumns, columns.size());
  const double inner = std::max(420.0, names + static_cast<double>(most) * step - kForestGap + 6.0);
  const double block = kForestHead + kForestRow * static_cast<double>(rows.size()) + kForestAxis;
  const auto block_top = [&](size_t c) {
    return kForestMargin + kForestTitle + kForestHead + static_cast<double>(c / most) * block;
  };
  const double bottom = block_top(columns.size() - 1) + block - kForestHead;
  const std::vector<LegendItem> legend = {
      {.text = "better: the interval excludes 0", .color = kBlue},
      {.text = "worse: the interval excludes 0", .color = kRed},
      {.text = "the interval holds 0", .color = kHatchDark}};
  Svg svg(inner + 2.0 * kForestMargin,
          bottom + 8.0 + LegendHeight(legend, inner) + kForestMargin,
          "Differences");
  svg.AddText({kForestMargin, kForestMargin + 14.0},
              FitPixels(title, 17.0 * kBoldWidth, inner),
              {.size = 17.0, .color = kInk, .bold = true});
  svg.AddText({kForestMargin, kForestMargin + 35.0},
              FitPixels(note, 12.0, inner),
              {.size = 12.0, .color = kFaint});
  for (size_t c = 0; c < columns.size(); ++c) {
    if (c % most == 0) DrawForestNames(rows, {kForestMargin + names - 16.0, block_top(c)}, &svg);
    const double x = kForestMargin + names + static_cast<double>(c % most) * step;
    DrawForestColumn(rows, columns[c], {x, block_top(c)}, &svg);
  }
  DrawLegend(legend, {kForestMargin, bottom + 8.0}, inner, &svg);
  return std::move(svg).Finish();
}

// "95 % bootstrap intervals of 14 cases".
std::string IntervalNote(const Statistics& statistics) {
  return fmt::format("{:.3g} % bootstrap intervals of {} {}s, {} repeat{}; paired by case",
                     100.0 * statistics.options.level,
                     statistics.units,
                     statistics.unit,
                     statistics.repeats,
                     statistics.repeats == 1 ? "" : "s");
}

}  // namespace

std::string ForestFigure(const EvaluateResult& result, const std::vector<MetricColumn>& columns) {
  if (!result.statistics || result.pipelines.size() < 2 || columns.empty()) return {};
  const Statistics& statistics = *result.statistics;
  const std::vector<std::string> names = ShownPipelines(result);
  std::vector<ForestRow> rows;
  std::string reference;
  for (size_t p = 0; p < names.size() && p < statistics.pipelines.size(); ++p) {
    if (statistics.pipelines[p].pipeline == statistics.options.reference) {
      reference = names[p];
    } else {
      rows.push_back({names[p], &statistics.pipelines[p].comparisons});
    }
  }
  return ForestSvg("Differences from " + reference, IntervalNote(statistics), rows, columns);
}

std::string PairForestFigure(const Statistics& statistics,
                             const std::vector<MetricColumn>& columns) {
  if (statistics.pairs.empty() || columns.empty()) return {};
  std::vector<ForestRow> rows;
  for (const PairStatistics& pair : statistics.pairs) {
    rows.push_back({ShortPipeline(pair.pair.first) + " → " + ShortPipeline(pair.pair.second),
                    &pair.comparisons});
  }
  return ForestSvg("Matched pairs: second less first", IntervalNote(statistics), rows, columns);
}

}  // namespace segcal
