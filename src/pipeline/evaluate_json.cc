// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "segcal/evaluate.h"

namespace segcal {
namespace {

Json NumbersJson(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(JsonNumber(value));
  return json;
}

Json MetricsJson(const std::vector<MetricResult>& metrics) {
  Json json = Json::object();
  for (const MetricResult& metric : metrics) json[metric.name] = JsonNumber(metric.value);
  return json;
}

Json PerClassJson(const std::vector<MetricResult>& metrics) {
  Json json = Json::object();
  for (const MetricResult& metric : metrics) {
    if (!metric.per_class.empty()) json[metric.name] = NumbersJson(metric.per_class);
  }
  return json;
}

Json CasesJson(const std::vector<CaseMetrics>& cases) {
  Json json = Json::array();
  for (const CaseMetrics& c : cases) {
    json.push_back({{"case", c.id},
                    {"metrics", MetricsJson(c.metrics)},
                    {"per_class", PerClassJson(c.metrics)}});
  }
  return json;
}

Json ReliabilityJson(const std::vector<ReliabilityRow>& rows) {
  Json json = Json::array();
  for (const ReliabilityRow& row : rows) {
    json.push_back({{"lower", row.lower},
                    {"upper", row.upper},
                    {"count", row.count},
                    {"correct", row.correct},
                    {"confidence_sum", row.confidence_sum}});
  }
  return json;
}

// Case ids without the reasons, which hold paths of one machine.
Json SkippedIds(const std::vector<std::string>& skipped) {
  Json json = Json::array();
  for (const std::string& line : skipped) json.push_back(line.substr(0, line.find(": ")));
  return json;
}

}  // namespace

std::string ToJson(const EvaluateResult& result) {
  Json json = {{"segcal_metrics", 1},
               {"dataset", result.dataset},
               {"split", result.split.empty() ? Json(nullptr) : Json(result.split)},
               {"voxels", result.voxels},
               {"labelled", result.labelled},
               {"renormalised", result.renormalised},
               {"pipelines", Json::array()},
               {"skipped", SkippedIds(result.skipped)}};
  for (const PipelineMetrics& pipeline : result.pipelines) {
    json["pipelines"].push_back({{"pipeline", pipeline.pipeline},
                                 {"mean", MetricsJson(pipeline.mean)},
                                 {"mean_per_class", PerClassJson(pipeline.mean)},
                                 {"pooled", MetricsJson(pipeline.pooled)},
                                 {"pooled_per_class", PerClassJson(pipeline.pooled)},
                                 {"metric_per_case", CasesJson(pipeline.cases)},
                                 {"reliability", ReliabilityJson(pipeline.reliability)}});
  }
  return DumpJson(json);
}

}  // namespace segcal
