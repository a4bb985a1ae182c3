// SPDX-License-Identifier: Apache-2.0
#include "core/json.h"
#include "results/statistics.h"

namespace segcal {
namespace {

Json IntervalJson(const MetricInterval& interval, const char* name) {
  return {{name, JsonNumber(interval.estimate)},
          {"lower", JsonNumber(interval.lower)},
          {"upper", JsonNumber(interval.upper)}};
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

}  // namespace

Json StatisticsJson(const Statistics& statistics) {
  const StatisticsOptions& options = statistics.options;
  Json pipelines = Json::array();
  for (const PipelineStatistics& pipeline : statistics.pipelines)
    pipelines.push_back(PipelineJson(pipeline));
  return {{"unit", statistics.unit},
          {"units", statistics.units},
          {"repeats", statistics.repeats},
          {"replicates", options.replicates},
          {"level", options.level},
          {"seed", options.seed},
          {"reference", options.reference},
          {"compared", options.metrics},
          {"pipelines", std::move(pipelines)}};
}

}  // namespace segcal
