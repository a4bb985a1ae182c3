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

Json ComparisonsJson(const std::vector<MetricComparison>& comparisons) {
  Json json = Json::object();
  for (const MetricComparison& comparison : comparisons) {
    Json& mine = json[comparison.difference.metric];
    mine = IntervalJson(comparison.difference, "difference");
    mine["p"] = JsonNumber(comparison.p);
    mine["p_adjusted"] = JsonNumber(comparison.p_adjusted);
    mine["better"] = comparison.better;
    mine["worse"] = comparison.worse;
    mine["equal_by_construction"] = comparison.equal_by_construction;
  }
  return json;
}

Json PairJson(const PairStatistics& pair) {
  return {{"first", pair.pair.first},
          {"second", pair.pair.second},
          {"family", pair.pair.family},
          {"comparisons", ComparisonsJson(pair.comparisons)}};
}

Json PipelineJson(const PipelineStatistics& pipeline) {
  Json intervals = Json::object();
  for (const MetricInterval& interval : pipeline.intervals)
    intervals[interval.metric] = IntervalJson(interval, "estimate");
  return {{"pipeline", pipeline.pipeline},
          {"intervals", std::move(intervals)},
          {"comparisons", ComparisonsJson(pipeline.comparisons)},
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
    MetricComparison& mine = comparisons.emplace_back();
    mine.difference = ReadInterval(&object, metric, "difference");
    mine.p = object.AnyNumber("p");
    mine.p_adjusted = object.AnyNumber("p_adjusted");
    // Files of version 0.1 neither count nor tell what cannot differ.
    if (object.Has("better")) mine.better = object.Integer("better");
    if (object.Has("worse")) mine.worse = object.Integer("worse");
    if (object.Has("equal_by_construction"))
      mine.equal_by_construction = object.Bool("equal_by_construction");
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

PairStatistics ReadPair(const Json& json, const std::string& where) {
  JsonObject object(json, where);
  PairStatistics pair;
  pair.pair = {.first = object.String("first"),
               .second = object.String("second"),
               .family = object.String("family")};
  pair.comparisons = ReadComparisons(object.Object("comparisons"), where + ": comparisons");
  object.Finish();
  return pair;
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
  // Files of version 0.1 know one test, rank by all they compare and have no pairs.
  statistics.options.test =
      object->Has("test") ? object->Parse("test", ParseRankTest) : RankTest::kMannWhitney;
  statistics.ranked =
      object->Has("ranked") ? object->Strings("ranked") : statistics.options.metrics;
  statistics.pipelines = object->Items("pipelines", ReadPipelineStatistics);
  if (object->Has("pairs")) statistics.pairs = object->Items("pairs", ReadPair);
  for (const PairStatistics& pair : statistics.pairs) statistics.options.pairs.push_back(pair.pair);
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
          {"test", Name(options.test)},
          {"compared", options.metrics},
          {"ranked", statistics.ranked},
          {"pipelines", JsonItems(statistics.pipelines, PipelineJson)},
          {"pairs", JsonItems(statistics.pairs, PairJson)}};
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
