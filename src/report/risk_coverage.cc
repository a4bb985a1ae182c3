// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/before.h"
#include "report/colors.h"
#include "report/legend.h"
#include "report/svg.h"
#include "report/text.h"
#include "segcal/figures.h"
#include "segcal/tables.h"

namespace segcal {
namespace {

constexpr double kRiskMargin = 24.0;
constexpr double kRiskTitle = 50.0;
constexpr double kRiskAxis = 62.0;
constexpr SvgBox kRiskPlot{kRiskMargin + kRiskAxis, kRiskMargin + kRiskTitle, 560.0, 380.0};
constexpr double kRiskFooter = 54.0;

// One line of the figure, from the smallest coverage to 1.
struct RiskCurve {
  std::string name;
  std::vector<std::pair<double, double>> points;  // coverage, risk
  LineStyle style;
};

std::vector<std::pair<double, double>> CurvePoints(const Diagram& diagram) {
  std::vector<std::pair<double, double>> points;
  for (const std::vector<double>& row : diagram.rows) points.emplace_back(row[0], row[1]);
  return points;
}

// "ts(z)  AURC 0.0312".
std::string CurveName(const PipelineMetrics& pipeline, const std::string& name) {
  const double area = FindValue(pipeline.pooled, "aurc");
  return std::isnan(area) ? name : fmt::format("{} · AURC {}", name, FormatNumber(area, 4));
}

// Uncalibrated predictions are dashed; the colour belongs to the place in the list.
std::vector<RiskCurve> PipelineCurves(const EvaluateResult& result) {
  const std::vector<std::string> names = ShownPipelines(result);
  std::vector<RiskCurve> curves;
  for (size_t p = 0; p < names.size(); ++p) {
    const PipelineMetrics& pipeline = result.pipelines[p];
    const Diagram* diagram = FindDiagram(pipeline.diagrams, DiagramKind::kRiskCoverage);
    if (diagram == nullptr || diagram->rows.empty()) continue;
    curves.push_back({.name = CurveName(pipeline, names[p]),
                      .points = CurvePoints(*diagram),
                      .style = {.color = ClassColor(static_cast<int64_t>(p)),
                                .width = 2.0,
                                .dashed = IsBaseline(pipeline.pipeline)}});
  }
  return curves;
}

// If every right voxel came before every wrong one, of a prediction with this error rate.
RiskCurve OracleCurve(double error_rate) {
  RiskCurve oracle{.name = "oracle", .points = {}, .style = {.color = kFaint, .width = 1.2}};
  for (int k = 1; k <= 100; ++k) {
    const double coverage = k / 100.0;
    oracle.points.emplace_back(coverage, std::max(0.0, 1.0 - (1.0 - error_rate) / coverage));
  }
  return oracle;
}

// A round number not below the largest risk.
double RiskCeiling(const std::vector<RiskCurve>& curves) {
  double largest = 0.0;
  for (const RiskCurve& curve : curves) {
    for (const auto& [coverage, risk] : curve.points) largest = std::max(largest, risk);
  }
  for (const double top : {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8}) {
    if (largest <= top) return top;
  }
  return 1.0;
}

void DrawRiskAxes(double ceiling, Svg* svg) {
  const SvgBox& plot = kRiskPlot;
  const int decimals = ceiling < 0.01 ? 4 : (ceiling < 0.1 ? 3 : 2);
  for (int i = 0; i <= 5; ++i) {
    const double share = i / 5.0;
    const double x = plot.x + plot.width * share;
    const double y = plot.bottom() - plot.height * share;
    svg->AddLine({plot.x, y}, {plot.right(), y}, {.color = kRule});
    svg->AddLine({x, plot.y}, {x, plot.bottom()}, {.color = kRule});
    svg->AddText({plot.x - 7.0, y + 3.8},
                 FormatNumber(ceiling * share, decimals),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kEnd});
    svg->AddText({x, plot.bottom() + 16.0},
                 FormatNumber(share, 1),
                 {.size = 11.0, .color = kFaint, .anchor = Anchor::kMiddle});
  }
  svg->AddText({kRiskMargin + 10.0, plot.y + 0.5 * plot.height},
               "error rate of these voxels",
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle, .upwards = true});
  svg->AddText({plot.x + 0.5 * plot.width, plot.bottom() + 36.0},
               "coverage: share of the voxels, the most confident first",
               {.size = 12.0, .color = kInk, .anchor = Anchor::kMiddle});
}

void DrawRiskCurve(const RiskCurve& curve, double ceiling, Svg* svg) {
  std::vector<Point> line;
  for (const auto& [coverage, risk] : curve.points) {
    line.push_back({kRiskPlot.x + kRiskPlot.width * coverage,
                    kRiskPlot.bottom() - kRiskPlot.height * std::min(1.0, risk / ceiling)});
  }
  svg->AddPolyline(line, curve.style);
}

std::vector<LegendItem> RiskLegend(const std::vector<RiskCurve>& curves) {
  std::vector<LegendItem> items;
  for (const RiskCurve& curve : curves) {
    items.push_back({.text = curve.name,
                     .color = curve.style.color,
                     .sign = curve.style.dashed ? Sign::kDashedLine : Sign::kLine});
  }
  return items;
}

}  // namespace

std::string RiskCoverageFigure(const EvaluateResult& result) {
  std::vector<RiskCurve> curves = PipelineCurves(result);
  if (curves.empty()) return {};
  curves.insert(curves.begin(), OracleCurve(curves.back().points.back().second));
  const double ceiling = RiskCeiling(curves);
  const std::vector<LegendItem> legend = RiskLegend(curves);
  const double legend_top = kRiskPlot.bottom() + kRiskFooter;
  Svg svg(kRiskPlot.right() + kRiskMargin,
          legend_top + LegendHeight(legend, kRiskPlot.width) + kRiskMargin,
          "Risk and coverage");
  svg.AddText({kRiskMargin, kRiskMargin + 14.0},
              FitPixels(result.dataset + ": risk and coverage", 17.0 * kBoldWidth, 620.0),
              {.size = 17.0, .color = kInk, .bold = true});
  svg.AddText({kRiskMargin, kRiskMargin + 35.0},
              "Which voxels to trust: an order by confidence is good where errors come last.",
              {.size = 12.0, .color = kFaint});
  DrawRiskAxes(ceiling, &svg);
  for (const RiskCurve& curve : curves) DrawRiskCurve(curve, ceiling, &svg);
  svg.AddRect(kRiskPlot, {.stroke = kFaint});
  DrawLegend(legend, {kRiskPlot.x, legend_top}, kRiskPlot.width, &svg);
  return std::move(svg).Finish();
}

}  // namespace segcal
