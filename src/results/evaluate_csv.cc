// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json.h"
#include "core/throw.h"
#include "segcal/evaluate.h"
#include "segcal/study.h"

namespace segcal {
namespace {

// A field of a CSV file: quoted where it must be.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// As in the JSON file; empty where it is not defined.
std::string Number(double value) { return std::isfinite(value) ? JsonNumber(value).dump() : ""; }

std::string Header(const EvaluateResult& result) {
  std::string line = "pipeline,level,case,group";
  for (const MetricValue& metric : result.pipelines.front().pooled) {
    line += "," + metric.name;
    for (size_t c = 0; c < metric.per_class.size(); ++c)
      line += "," + Field(metric.name + ":" + result.classes[c]);
  }
  return line + "\n";
}

std::string CsvRow(const std::string& pipeline,
                   const char* level,
                   const std::string& id,
                   const std::string& group,
                   const std::vector<MetricValue>& metrics) {
  std::string line = fmt::format("{},{},{},{}", Field(pipeline), level, Field(id), Field(group));
  for (const MetricValue& metric : metrics) {
    line += "," + Number(metric.value);
    for (const double value : metric.per_class) line += "," + Number(value);
  }
  return line + "\n";
}

std::string PipelineRows(const PipelineMetrics& pipeline) {
  const std::string& name = pipeline.pipeline;
  std::string rows;
  for (const CaseMetrics& c : pipeline.cases)
    rows += CsvRow(name, "case", c.id, c.group, c.metrics);
  for (const GroupMetrics& group : pipeline.groups) {
    rows += CsvRow(name, "group_mean", "", group.group, group.mean);
    rows += CsvRow(name, "group_pooled", "", group.group, group.pooled);
  }
  rows += CsvRow(name, "mean", "", "", pipeline.mean);
  rows += CsvRow(name, "pooled", "", "", pipeline.pooled);
  if (!pipeline.groups.empty())
    rows += CsvRow(name, "mean_over_groups", "", "", pipeline.group_mean);
  return rows;
}

// A row of statistics: a number for some metrics, in the columns of `like`; none for classes.
template <class List, class Name, class NumberOf>
std::string StatisticsRow(const PipelineMetrics& like,
                          const char* level,
                          const List& list,
                          const Name& name_of,
                          const NumberOf& number_of) {
  std::vector<MetricValue> row = like.pooled;
  for (MetricValue& metric : row) {
    metric.value = std::nan("");
    std::fill(metric.per_class.begin(), metric.per_class.end(), std::nan(""));
    for (const auto& entry : list) {
      if (name_of(entry) == metric.name) metric.value = number_of(entry);
    }
  }
  return CsvRow(like.pipeline, level, "", "", row);
}

std::string StatisticsRows(const PipelineMetrics& like, const PipelineStatistics& statistics) {
  std::string rows;
  const auto interval = [&](const char* level, double MetricInterval::*number) {
    rows += StatisticsRow(
        like,
        level,
        statistics.intervals,
        [](const MetricInterval& entry) { return entry.metric; },
        [&](const MetricInterval& entry) { return entry.*number; });
  };
  const auto comparison = [&](const char* level, const auto& number) {
    if (statistics.comparisons.empty()) return;
    rows += StatisticsRow(
        like,
        level,
        statistics.comparisons,
        [](const MetricComparison& entry) { return entry.difference.metric; },
        number);
  };
  interval("lower", &MetricInterval::lower);
  interval("upper", &MetricInterval::upper);
  comparison("difference", [](const MetricComparison& c) { return c.difference.estimate; });
  comparison("difference_lower", [](const MetricComparison& c) { return c.difference.lower; });
  comparison("difference_upper", [](const MetricComparison& c) { return c.difference.upper; });
  comparison("p", [](const MetricComparison& c) { return c.p; });
  comparison("p_adjusted", [](const MetricComparison& c) { return c.p_adjusted; });
  return rows;
}

}  // namespace

std::string ToCsv(const EvaluateResult& result) {
  if (result.pipelines.empty())
    Throw(ErrorCode::kInvalidArgument, "the result has no pipeline to make a table of");
  std::string text = Header(result);
  for (size_t p = 0; p < result.pipelines.size(); ++p) {
    text += PipelineRows(result.pipelines[p]);
    if (result.statistics)
      text += StatisticsRows(result.pipelines[p], result.statistics->pipelines[p]);
  }
  return text;
}

std::string CellsCsv(const EvaluateResult& result) {
  std::string text = "pipeline,case,kind,class,band,lower,upper,count,correct,confidence_sum\n";
  for (const PipelineMetrics& pipeline : result.pipelines) {
    for (const CaseMetrics& c : pipeline.cases) {
      for (const CellRow& cell : c.cells) {
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n",
                            Field(pipeline.pipeline),
                            Field(c.id),
                            cell.kind,
                            Field(result.classes[static_cast<size_t>(cell.class_index)]),
                            cell.band,
                            Number(cell.lower),
                            Number(cell.upper),
                            cell.count,
                            cell.correct,
                            Number(cell.confidence_sum));
      }
    }
  }
  return text;
}

std::string CasesCsv(const Study& study) {
  if (study.repeats.empty() || study.pipelines.empty())
    Throw(ErrorCode::kInvalidArgument, "the study has no results to make a table of");
  std::string text = "repeat," + Header(study.repeats.front().result);
  for (size_t r = 0; r < study.repeats.size(); ++r) {
    for (const PipelineMetrics& pipeline : study.repeats[r].result.pipelines) {
      for (const CaseMetrics& c : pipeline.cases)
        text +=
            fmt::format("{},{}", r, CsvRow(pipeline.pipeline, "case", c.id, c.group, c.metrics));
    }
  }
  return text;
}

}  // namespace segcal
