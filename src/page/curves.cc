// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/html.h"
#include "page/line_chart.h"
#include "page/sections.h"
#include "report/colors.h"

namespace segcal {
namespace {

Rgb LineColor(const StudyView& view, size_t pipeline) {
  if (view.name(pipeline) == view.study().recommendation.pipeline) return kBlue;
  // The first colour of the classes is close to the recommended one's.
  return ClassColor(static_cast<int64_t>(pipeline) + 1);
}

bool IsChosen(const StudyView& view, size_t pipeline) {
  return view.name(pipeline) == view.study().recommendation.pipeline;
}

ChartLine StartLine(const StudyView& view, size_t pipeline) {
  return {.name = view.name(pipeline),
          .color = LineColor(view, pipeline),
          .strong = IsChosen(view, pipeline),
          .points = {}};
}

LinePoint MakePoint(double x, const MetricInterval& interval, double factor) {
  return {.x = x,
          .y = interval.estimate * factor,
          .lower = interval.lower * factor,
          .upper = interval.upper * factor};
}

const char* AxisWords(Sensitivity about) {
  switch (about) {
    case Sensitivity::kCalibrationCases:
      return "calibration cases";
    case Sensitivity::kEceBins:
      return "bins of ECE";
    case Sensitivity::kAceBins:
      return "bins of ACE";
    case Sensitivity::kMembers:
      return "members of the ensemble";
  }
  return "";
}

// Every metric that a sensitivity has, as the main table shows it.
std::vector<MetricColumn> CurveColumns(const StudyView& view, Sensitivity about) {
  std::vector<MetricColumn> columns;
  for (const SensitivityPoint& point : view.study().sensitivity) {
    if (point.about != about) continue;
    for (const MetricInterval& interval : point.intervals) {
      const bool known = std::any_of(columns.begin(), columns.end(), [&](const auto& column) {
        return column.metric == interval.metric;
      });
      const auto& main = view.columns();
      const bool shown = std::any_of(main.begin(), main.end(), [&](const auto& column) {
        return column.metric == interval.metric;
      });
      if (!known && shown) columns.push_back(view.FindColumn(interval.metric));
    }
  }
  return columns;
}

LineChart SensitivityChart(const StudyView& view, Sensitivity about, const MetricColumn& column) {
  LineChart chart{.title = fmt::format("{} by {}", column.header, AxisWords(about)),
                  .x_name = AxisWords(about),
                  .y_name = column.header};
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    ChartLine line = StartLine(view, p);
    for (const SensitivityPoint& point : view.study().sensitivity) {
      if (point.about != about || point.pipeline != view.name(p)) continue;
      for (const MetricInterval& interval : point.intervals) {
        if (interval.metric == column.metric)
          line.points.push_back(MakePoint(point.value, interval, column.factor));
      }
    }
    std::sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) {
      return a.x < b.x;
    });
    if (!line.points.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

LineChart ShiftChart(const StudyView& view, const MetricColumn& column) {
  LineChart chart{.title = fmt::format("{} in domain and shifted", column.header),
                  .x_name = "data",
                  .y_name = column.header,
                  .x_labels = {"in domain"}};
  for (const StudyShift& shift : view.study().shifts) chart.x_labels.push_back(shift.name);
  for (size_t p = 0; p < view.num_pipelines(); ++p) {
    ChartLine line = StartLine(view, p);
    if (const MetricInterval* here = view.FindInterval(p, column.metric))
      line.points.push_back(MakePoint(0.0, *here, column.factor));
    for (size_t s = 0; s < view.study().shifts.size(); ++s) {
      for (const MetricInterval& interval :
           view.study().shifts[s].statistics.pipelines[p].intervals) {
        if (interval.metric == column.metric)
          line.points.push_back(MakePoint(static_cast<double>(s) + 1.0, interval, column.factor));
      }
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

std::vector<Choice> MetricChoices(const std::vector<MetricColumn>& columns) {
  std::vector<Choice> choices;
  choices.reserve(columns.size());
  for (const MetricColumn& column : columns) choices.push_back({column.metric, column.header});
  return choices;
}

// Charts by metric with the list to choose it from; the first one is shown.
std::string ChartSwitch(const std::string& id,
                        const std::vector<MetricColumn>& columns,
                        const std::string& caption,
                        const std::vector<std::string>& charts) {
  FigureStore store("store-" + id);
  for (size_t k = 0; k < columns.size(); ++k) store.Add(columns[k].metric, charts[k]);
  return "<div class=\"switch\">\n<div class=\"tools\">\n" +
         ChoiceHtml("metric", "metric", MetricChoices(columns), columns.front().metric) +
         "</div>\n<figure>" + store.Slot(columns.front().metric, "{metric}") + "<figcaption>" +
         EscapeHtml(caption) + "</figcaption></figure>\n</div>\n" + store.ToHtml();
}

}  // namespace

std::string SensitivitySection(const StudyView& view) {
  std::string body;
  for (const Sensitivity about : {Sensitivity::kCalibrationCases,
                                  Sensitivity::kEceBins,
                                  Sensitivity::kAceBins,
                                  Sensitivity::kMembers}) {
    const std::vector<MetricColumn> columns = CurveColumns(view, about);
    if (columns.empty()) continue;
    std::vector<std::string> charts;
    charts.reserve(columns.size());
    for (const MetricColumn& column : columns)
      charts.push_back(LineChartSvg(SensitivityChart(view, about, column)));
    body +=
        ChartSwitch(Name(about),
                    columns,
                    fmt::format("By {}; the recommended pipeline is thick and has its intervals.",
                                AxisWords(about)),
                    charts);
  }
  if (body.empty()) return {};
  return PageSection(
      "sensitivity",
      "Sensitivity",
      Paragraph("Whether the answer depends on how much was fitted on, or on how it is measured.") +
          body);
}

std::string ShiftSection(const StudyView& view) {
  if (view.study().shifts.empty() || view.columns().empty()) return {};
  std::vector<std::string> charts;
  charts.reserve(view.columns().size());
  for (const MetricColumn& column : view.columns())
    charts.push_back(LineChartSvg(ShiftChart(view, column)));
  return PageSection("shift",
                     "Under shift",
                     Paragraph("The same models, not fitted again, on other data.") +
                         ChartSwitch("shift",
                                     view.columns(),
                                     "The recommended pipeline is thick and has its intervals.",
                                     charts));
}

}  // namespace segcal
