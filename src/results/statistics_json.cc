// SPDX-License-Identifier: Apache-2.0
#include "results/statistics_json.h"

#include "core/json.h"

namespace segcal {
namespace {

constexpr int64_t kStatisticsVersion = 1;
constexpr const char* kStatisticsKey = "segcal_statistics";

Json IntervalJson(const MetricInterval& interval, const char* name) {
  return {{name, JsonNumber(interval.estimate)},
          {"lower", JsonNumber(interval.lower)},
          {"upper", JsonNumber(interval.upper)}};
}

MetricInterval ReadInterval(JsonObject* object, const std::string& metric, const char* name) {
  return {.metric = metric,
          .estimate = object->AnyNumber(name),
          .lower = object->AnyNumber("lower"),
          .upper = object->AnyNumber("upper")};
}

Json PipelineJson(const PipelineStatistics& pipeline) {
  Json intervals = Json::object();
  for (const MetricInterval& interval : pipeline.intervals)
    intervals[interval.metric] = IntervalJson(interval, "estimate");
  Json comparisons = Json::object();
  for (const MetricComparison& comparison : pipeline.comparisons) {
    Json json = IntervalJson(comparison.difference, "difference");
    json["p"] = JsonNumber(comparison.p);
    json["p_adjusted"] = JsonNumber(comparison.p_adjusted);
    comparisons[comparison.difference.metric] = std::move(json);
  }
  return {{"pipeline", pipeline.pipeline},
          {"intervals", std::move(intervals)},
          {"comparisons", std::move(comparisons)},
          {"sum_rank", JsonNumber(pipeline.sum_rank)},
          {"mean_case_rank", JsonNumber(pipeline.mean_case_rank)}};
}

std::vector<MetricInterval> ReadIntervals(const Json& json, const std::string& where) {
  std::vector<MetricInterval> intervals;
  for (const auto& [metric, interval] : json.items()) {
    JsonObject object(interval, where + ": " + metric);
    intervals.push_back(ReadInterval(&object, metric, "estimate"));
    object.Finish();
  }
  return intervals;
}

std::vector<MetricComparison> ReadComparisons(const Json& json, const std::string& where) {
  std::vector<MetricComparison> comparisons;
  for (const auto& [metric, comparison] : json.items()) {
    JsonObject object(comparison, where + ": " + metric);
    comparisons.push_back({.difference = ReadInterval(&object, metric, "difference"),
                           .p = object.AnyNumber("p"),
                           .p_adjusted = object.AnyNumber("p_adjusted")});
    object.Finish();
  }
  return comparisons;
}

PipelineStatistics ReadPipelineStatistics(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  PipelineStatistics pipeline;
  pipeline.pipeline = object.String("pipeline");
  pipeline.intervals = ReadIntervals(object.Object("intervals"), where + ": intervals");
  pipeline.comparisons = ReadComparisons(object.Object("comparisons"), where + ": comparisons");
  pipeline.sum_rank = object.AnyNumber("sum_rank");
  pipeline.mean_case_rank = object.AnyNumber("mean_case_rank");
  object.Finish();
  return pipeline;
}

Statistics ReadStatisticsFields(JsonObject* object) {
  Statistics statistics;
  statistics.unit = object->String("unit");
  statistics.units = object->Integer("units");
  statistics.repeats = object->Integer("repeats");
  statistics.options.replicates = object->Integer("replicates");
  statistics.options.level = object->Number("level");
  statistics.options.seed = object->Unsigned("seed");
  statistics.options.reference = object->String("reference");
  statistics.options.metrics = object->Strings("compared");
  statistics.pipelines = object->Items("pipelines", ReadPipelineStatistics);
  object->Finish();
  return statistics;
}

}  // namespace

Json StatisticsToJson(const Statistics& statistics) {
  const StatisticsOptions& options = statistics.options;
  return {{"unit", statistics.unit},
          {"units", statistics.units},
          {"repeats", statistics.repeats},
          {"replicates", options.replicates},
          {"level", options.level},
          {"seed", options.seed},
          {"reference", options.reference},
          {"compared", options.metrics},
          {"pipelines", JsonItems(statistics.pipelines, PipelineJson)}};
}

Statistics ReadStatistics(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  return ReadStatisticsFields(&object);
}

std::string ToJson(const Statistics& statistics) {
  Json json = {{kStatisticsKey, kStatisticsVersion}};
  json.update(StatisticsToJson(statistics));
  return DumpJson(json);
}

Statistics StatisticsFromJson(const std::string& text, const std::string& where) {
  const Json json = ParseJson(text, where);
  JsonObject object(json, where);
  object.CheckFormat(kStatisticsKey, "statistics", kStatisticsVersion);
  return ReadStatisticsFields(&object);
}

}  // namespace segcal
