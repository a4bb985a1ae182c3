// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/throw.h"
#include "metrics/metric.h"
#include "segcal/tables.h"
#include "stats/ranking.h"

namespace segcal {
namespace {

template <class T>
void Reorder(const std::vector<size_t>& order, std::vector<T>* items) {
  std::vector<T> sorted;
  sorted.reserve(items->size());
  for (const size_t i : order) sorted.push_back(std::move((*items)[i]));
  *items = std::move(sorted);
}

}  // namespace

EvaluateResult SortedBy(const EvaluateResult& result, const std::string& metric) {
  const MetricNumber* number = FindNumber(metric);
  if (number == nullptr)
    Throw(ErrorCode::kInvalidArgument, "sort by {}: it is not a metric of this version", metric);
  if (number->goal == Goal::kNone)
    Throw(ErrorCode::kInvalidArgument, "sort by {}: it has no best value", metric);
  std::vector<double> costs;
  for (const PipelineMetrics& pipeline : result.pipelines) {
    if (FindMetric(pipeline.mean, metric) == nullptr)
      Throw(ErrorCode::kInvalidArgument, "sort by {}: it was not computed", metric);
    costs.push_back(Cost(FindValue(pipeline.mean, metric), number->goal));
  }
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // What is not defined comes last.
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (std::isnan(costs[a]) || std::isnan(costs[b]))
      return !std::isnan(costs[a]) && std::isnan(costs[b]);
    return costs[a] < costs[b];
  });
  EvaluateResult sorted = result;
  Reorder(order, &sorted.pipelines);
  if (sorted.statistics && sorted.statistics->pipelines.size() == order.size())
    Reorder(order, &sorted.statistics->pipelines);
  return sorted;
}

}  // namespace segcal
