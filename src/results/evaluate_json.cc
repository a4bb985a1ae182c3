// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "results/statistics.h"

namespace segcal {
namespace {

Json MetricsJson(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) json[metric.name] = JsonNumber(metric.value);
  return json;
}

Json PerClassJson(const std::vector<MetricValue>& metrics) {
  Json json = Json::object();
  for (const MetricValue& metric : metrics) {
    if (!metric.per_class.empty()) json[metric.name] = JsonNumbers(metric.per_class);
  }
  return json;
}

Json CasesJson(const std::vector<CaseMetrics>& cases) {
  Json json = Json::array();
  for (const CaseMetrics& c : cases) {
    json.push_back({{"case", c.id},
                    {"group", c.group.empty() ? Json(nullptr) : Json(c.group)},
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

Json GroupsJson(const std::vector<GroupMetrics>& groups) {
  Json json = Json::array();
  for (const GroupMetrics& group : groups) {
    json.push_back({{"group", group.group},
                    {"cases", group.cases},
                    {"mean", MetricsJson(group.mean)},
                    {"mean_per_class", PerClassJson(group.mean)},
                    {"pooled", MetricsJson(group.pooled)},
                    {"pooled_per_class", PerClassJson(group.pooled)}});
  }
  return json;
}

std::vector<ReliabilityRow> NonEmpty(std::vector<ReliabilityRow> rows) {
  std::erase_if(rows, [](const ReliabilityRow& row) { return row.count == 0; });
  return rows;
}

// {"one_vs_rest": {"sky": [rows]}}; empty bins, the most of them, are left out.
Json ClassReliabilityJson(const std::vector<ReliabilityDiagram>& diagrams,
                          const std::vector<std::string>& classes) {
  Json json = Json::object();
  for (const ReliabilityDiagram& diagram : diagrams) {
    json[diagram.kind][classes[static_cast<size_t>(diagram.class_index)]] =
        ReliabilityJson(NonEmpty(diagram.rows));
  }
  return json;
}

Json RegionReliabilityJson(const std::vector<ReliabilityDiagram>& diagrams) {
  Json json = Json::object();
  for (const ReliabilityDiagram& diagram : diagrams)
    json[diagram.kind] = ReliabilityJson(NonEmpty(diagram.rows));
  return json;
}

// A row per label.
Json ConfusionJson(const std::vector<int64_t>& confusion, size_t num_classes) {
  Json json = Json::array();
  for (size_t label = 0; label < num_classes && !confusion.empty(); ++label) {
    const auto row = confusion.begin() + static_cast<std::ptrdiff_t>(label * num_classes);
    json.push_back(std::vector<int64_t>(row, row + static_cast<std::ptrdiff_t>(num_classes)));
  }
  return json;
}

Json RiskJson(const std::vector<RiskRow>& rows) {
  Json json = Json::array();
  for (const RiskRow& row : rows) {
    json.push_back({{"coverage", row.coverage},
                    {"risk", JsonNumber(row.risk)},
                    {"confidence", row.confidence}});
  }
  return json;
}

// With the names that the numbers of one side have.
Json SweepJson(const std::vector<PatchRow>& rows) {
  Json json = Json::array();
  for (const PatchRow& row : rows) {
    json.push_back({{"patch", row.side},
                    {"ece_local_avg", JsonNumber(row.ece_avg)},
                    {"ece_local_max", JsonNumber(row.ece_max)},
                    {"mce_local_avg", JsonNumber(row.mce_avg)},
                    {"mce_local_max", JsonNumber(row.mce_max)}});
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
  Json json = {
      {"segcal_metrics", 1},
      {"dataset", result.dataset},
      {"split", result.split.empty() ? Json(nullptr) : Json(result.split)},
      {"classes", result.classes},
      {"voxels", result.voxels},
      {"labelled", result.labelled},
      {"renormalised", result.renormalised},
      {"pipelines", Json::array()},
      {"statistics", result.statistics ? StatisticsJson(*result.statistics) : Json(nullptr)},
      {"skipped", SkippedIds(result.skipped)}};
  const size_t num_classes = result.classes.size();
  for (const PipelineMetrics& pipeline : result.pipelines) {
    json["pipelines"].push_back(
        {{"pipeline", pipeline.pipeline},
         {"mean", MetricsJson(pipeline.mean)},
         {"mean_per_class", PerClassJson(pipeline.mean)},
         {"pooled", MetricsJson(pipeline.pooled)},
         {"pooled_per_class", PerClassJson(pipeline.pooled)},
         {"group_mean", MetricsJson(pipeline.group_mean)},
         {"groups", GroupsJson(pipeline.groups)},
         {"metric_per_case", CasesJson(pipeline.cases)},
         {"confusion", ConfusionJson(pipeline.confusion, num_classes)},
         {"risk_coverage", RiskJson(pipeline.risk_coverage)},
         {"patch_sweep", SweepJson(pipeline.patch_sweep)},
         {"reliability", ReliabilityJson(pipeline.reliability)},
         {"reliability_per_region", RegionReliabilityJson(pipeline.region_reliability)},
         {"reliability_per_class",
          ClassReliabilityJson(pipeline.class_reliability, result.classes)}});
  }
  return DumpJson(json);
}

}  // namespace segcal
