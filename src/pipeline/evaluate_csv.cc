// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "core/json.h"
#include "segcal/evaluate.h"

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
  for (const MetricResult& metric : result.pipelines.front().pooled) {
    line += "," + metric.name;
    for (size_t c = 0; c < metric.per_class.size(); ++c)
      line += "," + Field(metric.name + ":" + result.classes[c]);
  }
  return line + "\n";
}

std::string Row(const std::string& pipeline,
                const char* level,
                const std::string& id,
                const std::string& group,
                const std::vector<MetricResult>& metrics) {
  std::string line = fmt::format("{},{},{},{}", Field(pipeline), level, Field(id), Field(group));
  for (const MetricResult& metric : metrics) {
    line += "," + Number(metric.value);
    for (const double value : metric.per_class) line += "," + Number(value);
  }
  return line + "\n";
}

std::string PipelineRows(const PipelineMetrics& pipeline) {
  const std::string& name = pipeline.pipeline;
  std::string rows;
  for (const CaseMetrics& c : pipeline.cases) rows += Row(name, "case", c.id, c.group, c.metrics);
  for (const GroupMetrics& group : pipeline.groups) {
    rows += Row(name, "group_mean", "", group.group, group.mean);
    rows += Row(name, "group_pooled", "", group.group, group.pooled);
  }
  rows += Row(name, "mean", "", "", pipeline.mean);
  rows += Row(name, "pooled", "", "", pipeline.pooled);
  if (!pipeline.groups.empty()) rows += Row(name, "mean_over_groups", "", "", pipeline.group_mean);
  return rows;
}

}  // namespace

std::string ToCsv(const EvaluateResult& result) {
  std::string text = Header(result);
  for (const PipelineMetrics& pipeline : result.pipelines) text += PipelineRows(pipeline);
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

}  // namespace segcal
