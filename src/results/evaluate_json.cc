// SPDX-License-Identifier: Apache-2.0
#include "results/evaluate_json.h"

#include "core/json.h"
#include "core/throw.h"
#include "results/diagram_json.h"
#include "results/metrics_json.h"
#include "results/properties_json.h"
#include "results/statistics_json.h"
#include "segcal/evaluate.h"

namespace segcal {
namespace {

constexpr int64_t kMetricsVersion = 1;
constexpr const char* kMetricsKey = "segcal_metrics";

Json PipelineMetricsJson(const PipelineMetrics& pipeline, const std::vector<std::string>& classes) {
  Json json = {{"pipeline", pipeline.pipeline},
               {"properties", PropertiesToJson(pipeline.properties)},
               {"mean", MetricsToJson(pipeline.mean)},
               {"mean_per_class", PerClassToJson(pipeline.mean)},
               {"pooled", MetricsToJson(pipeline.pooled)},
               {"pooled_per_class", PerClassToJson(pipeline.pooled)},
               {"group_mean", MetricsToJson(pipeline.group_mean)},
               {"group_mean_per_class", PerClassToJson(pipeline.group_mean)},
               {"groups", JsonItems(pipeline.groups, GroupMetricsToJson)},
               {"metric_per_case", JsonItems(pipeline.cases, CaseMetricsToJson)}};
  AddDiagrams(pipeline.diagrams, classes, &json);
  return json;
}

// Case ids without the reasons, which hold paths of one machine.
Json SkippedIds(const std::vector<std::string>& skipped) {
  Json json = Json::array();
  for (const std::string& line : skipped) json.push_back(line.substr(0, line.find(": ")));
  return json;
}

// The metrics in `key`, with those of classes in `per_class`.
std::vector<MetricValue> ReadMetricsAt(JsonObject* object,
                                       const std::string& key,
                                       const std::string& per_class) {
  return ReadMetrics(object->Object(key), object->Object(per_class), object->where() + ": " + key);
}

PipelineMetrics ReadPipeline(const Json& json,
                             const std::vector<std::string>& classes,
                             const std::string& where) {
  JsonObject object(json, where);
  PipelineMetrics pipeline;
  pipeline.pipeline = object.String("pipeline");
  // Files of version 0.1 do not say: nothing is declared.
  if (object.Has("properties"))
    pipeline.properties = ReadProperties(object.Object("properties"), where + ": properties");
  pipeline.mean = ReadMetricsAt(&object, "mean", "mean_per_class");
  pipeline.pooled = ReadMetricsAt(&object, "pooled", "pooled_per_class");
  const bool complete = object.Has("group_mean_per_class");
  pipeline.group_mean = ReadMetrics(object.Object("group_mean"),
                                    complete ? object.Any("group_mean_per_class") : Json::object(),
                                    where + ": group_mean");
  pipeline.groups = object.Items("groups", ReadGroupMetrics);
  pipeline.cases = object.Items("metric_per_case", ReadCaseMetrics);
  pipeline.diagrams = ReadDiagrams(&object, classes);
  object.Finish();
  return pipeline;
}

// Statistics are of the same pipelines, in their order: tables rely on it.
// Tables, statistics and figures go by place: all lists name the same metrics in the same order,
// with one value per class or none, and classes are those of the result.
class MetricsCheck {
 public:
  MetricsCheck(const EvaluateResult& result, const std::string& where)
      : result_(result), where_(where) {}

  void Run() const {
    for (const PipelineMetrics& pipeline : result_.pipelines) {
      for (const auto* metrics : {&pipeline.mean, &pipeline.pooled}) CheckList(*metrics);
      if (!pipeline.groups.empty()) CheckList(pipeline.group_mean);
      for (const Diagram& diagram : pipeline.diagrams) CheckClass(diagram.class_index, -1);
      for (const GroupMetrics& group : pipeline.groups) {
        for (const auto* metrics : {&group.mean, &group.pooled}) CheckList(*metrics);
      }
      for (const CaseMetrics& c : pipeline.cases) {
        CheckList(c.metrics);
        for (const CellRow& cell : c.cells) CheckClass(cell.class_index, 0);
      }
    }
  }

 private:
  void CheckList(const std::vector<MetricValue>& metrics) const {
    const std::vector<MetricValue>& first = result_.pipelines.front().pooled;
    if (metrics.size() != first.size()) {
      Throw(ErrorCode::kBadData,
            "{}: lists of {} and {} metrics; all must name the same",
            where_,
            metrics.size(),
            first.size());
    }
    for (size_t m = 0; m < metrics.size(); ++m) CheckMetric(metrics[m], first[m].name);
  }
  void CheckMetric(const MetricValue& metric, const std::string& name) const {
    if (metric.name != name) {
      Throw(ErrorCode::kBadData, "{}: {} in the place of {}", where_, metric.name, name);
    }
    if (metric.per_class.empty() || metric.per_class.size() == result_.classes.size()) return;
    Throw(ErrorCode::kBadData,
          "{}: {} has {} values per class, there are {} classes",
          where_,
          name,
          metric.per_class.size(),
          result_.classes.size());
  }
  void CheckClass(int64_t c, int64_t lowest) const {
    if (c >= lowest && c < std::ssize(result_.classes)) return;
    Throw(ErrorCode::kBadData,
          "{}: class {}; one in [{}, {}) is required",
          where_,
          c,
          lowest,
          result_.classes.size());
  }

  const EvaluateResult& result_;
  const std::string& where_;
};

void CheckStatistics(const EvaluateResult& result, const std::string& where) {
  const auto& statistics = result.statistics->pipelines;
  bool same = statistics.size() == result.pipelines.size();
  for (size_t p = 0; same && p < statistics.size(); ++p)
    same = statistics[p].pipeline == result.pipelines[p].pipeline;
  if (!same) Throw(ErrorCode::kBadData, "{}: statistics of other pipelines", where);
}

}  // namespace

Json CaseMetricsToJson(const CaseMetrics& c) {
  Json json = {{"case", c.id},
               {"group", c.group.empty() ? Json(nullptr) : Json(c.group)},
               {"metrics", MetricsToJson(c.metrics)},
               {"per_class", PerClassToJson(c.metrics)},
               {"pooled_bins", PooledBinsToJson(c.pooled_bins)}};
  if (!c.cells.empty()) json["cells"] = CellsToJson(c.cells);
  return json;
}

Json GroupMetricsToJson(const GroupMetrics& group) {
  return {{"group", group.group},
          {"cases", group.cases},
          {"mean", MetricsToJson(group.mean)},
          {"mean_per_class", PerClassToJson(group.mean)},
          {"pooled", MetricsToJson(group.pooled)},
          {"pooled_per_class", PerClassToJson(group.pooled)}};
}

CaseMetrics ReadCaseMetrics(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  CaseMetrics c;
  c.id = object.String("case");
  c.group = object.StringOr("group", "");
  c.metrics = ReadMetricsAt(&object, "metrics", "per_class");
  if (object.Has("cells")) c.cells = ReadCells(object.Object("cells"), where + ": cells");
  if (object.Has("pooled_bins"))
    c.pooled_bins = ReadPooledBins(object.Object("pooled_bins"), where + ": pooled_bins");
  object.Finish();
  return c;
}

GroupMetrics ReadGroupMetrics(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  GroupMetrics group;
  group.group = object.String("group");
  group.cases = object.Integer("cases");
  group.mean = ReadMetricsAt(&object, "mean", "mean_per_class");
  group.pooled = ReadMetricsAt(&object, "pooled", "pooled_per_class");
  object.Finish();
  return group;
}

Json EvaluateResultToJson(const EvaluateResult& result) {
  Json json = {
      {kMetricsKey, kMetricsVersion},
      {"dataset", result.dataset},
      {"split", result.split.empty() ? Json(nullptr) : Json(result.split)},
      {"classes", result.classes},
      {"voxels", result.voxels},
      {"labelled", result.labelled},
      {"renormalised", result.renormalised},
      {"pipelines", Json::array()},
      {"statistics", result.statistics ? StatisticsToJson(*result.statistics) : Json(nullptr)},
      {"skipped", SkippedIds(result.skipped)},
      {"warnings", result.warnings}};
  for (const PipelineMetrics& pipeline : result.pipelines)
    json["pipelines"].push_back(PipelineMetricsJson(pipeline, result.classes));
  return json;
}

std::string ToJson(const EvaluateResult& result) { return DumpJson(EvaluateResultToJson(result)); }

EvaluateResult ReadEvaluateResult(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  object.CheckFormat(kMetricsKey, "metrics", kMetricsVersion);
  EvaluateResult result;
  result.dataset = object.String("dataset");
  result.split = object.StringOr("split", "");
  result.classes = object.Strings("classes");
  result.voxels = object.Integer("voxels");
  result.labelled = object.Integer("labelled");
  result.renormalised = object.Integer("renormalised");
  result.pipelines = object.Items("pipelines", [&](const Json& item, const std::string& at) {
    return ReadPipeline(item, result.classes, at);
  });
  MetricsCheck(result, where).Run();
  if (object.Has("statistics")) {
    result.statistics = ReadStatistics(object.Any("statistics"), where + ": statistics");
    CheckStatistics(result, where);
  }
  result.skipped = object.Strings("skipped");
  if (object.Has("warnings")) result.warnings = object.Strings("warnings");
  object.Finish();
  return result;
}

EvaluateResult EvaluateResultFromJson(const std::string& text, const std::string& where) {
  return ReadEvaluateResult(ParseJson(text, where), where);
}

}  // namespace segcal
