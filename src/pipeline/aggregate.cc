// SPDX-License-Identifier: Apache-2.0
#include "pipeline/aggregate.h"

#include <algorithm>
#include <map>

#include "measures/means.h"

namespace segcal {
namespace {

// Mean of metric m over rows of results, each of which lists the same metrics.
MetricValue MeanOfMetric(const std::vector<const std::vector<MetricValue>*>& rows, size_t m) {
  const MetricValue& like = (*rows[0])[m];
  MetricValue mean{.name = like.name, .per_class = std::vector<double>(like.per_class.size())};
  std::vector<double> values;
  values.reserve(rows.size());
  for (const auto* row : rows) values.push_back((*row)[m].value);
  mean.value = MeanOfDefined(values);
  for (size_t c = 0; c < mean.per_class.size(); ++c) {
    values.clear();
    for (const auto* row : rows) values.push_back((*row)[m].per_class[c]);
    mean.per_class[c] = MeanOfDefined(values);
  }
  return mean;
}

std::vector<MetricValue> MeanOfRows(const std::vector<const std::vector<MetricValue>*>& rows) {
  std::vector<MetricValue> means;
  for (size_t m = 0; m < rows[0]->size(); ++m) means.push_back(MeanOfMetric(rows, m));
  return means;
}

// Means, but the pooled value of metrics that are one of all voxels.
std::vector<MetricValue> MeanOrPooled(const std::vector<const std::vector<MetricValue>*>& rows,
                                      const MetricSelection& selection,
                                      const std::vector<MetricValue>& pooled) {
  std::vector<MetricValue> means = MeanOfRows(rows);
  const std::vector<Aggregate> aggregates = ListAggregates(selection);
  for (size_t m = 0; m < means.size(); ++m) {
    if (aggregates[m] == Aggregate::kPooled) means[m] = pooled[m];
  }
  return means;
}

}  // namespace

std::vector<MetricValue> MeanOverCases(const std::vector<CaseMetrics>& cases,
                                       const MetricSelection& selection,
                                       const std::vector<MetricValue>& pooled) {
  std::vector<const std::vector<MetricValue>*> rows;
  rows.reserve(cases.size());
  for (const CaseMetrics& c : cases) rows.push_back(&c.metrics);
  return MeanOrPooled(rows, selection, pooled);
}

std::vector<MetricValue> MeanOverGroups(const std::vector<GroupMetrics>& groups) {
  if (groups.empty()) return {};
  std::vector<const std::vector<MetricValue>*> rows;
  rows.reserve(groups.size());
  for (const GroupMetrics& group : groups) rows.push_back(&group.pooled);
  return MeanOfRows(rows);
}

bool NamesGroups(const Dataset& dataset) {
  return std::any_of(
      dataset.cases.begin(), dataset.cases.end(), [](const Case& c) { return !c.group.empty(); });
}

GroupSums::GroupSums(const Dataset& dataset,
                     bool grouped,
                     size_t num_models,
                     const MetricContext& context,
                     MetricSelection selection)
    : context_(context), selection_(std::move(selection)) {
  if (!grouped) return;
  std::map<std::string, size_t> known;
  for (const Case& c : dataset.cases) {
    size_t g = groups_.size();
    if (!c.group.empty()) g = known.emplace(c.group, g).first->second;
    if (g == groups_.size()) {
      groups_.push_back({.name = c.group.empty() ? c.id : c.group, .cases = {}, .models = {}});
      groups_.back().models.resize(num_models);
    }
    groups_[g].cases.push_back(group_of_.size());
    group_of_.push_back(g);
  }
}

void GroupSums::AddCase(int64_t case_index, size_t model, const Accumulators& total) {
  if (group_of_.empty()) return;
  Group& group = groups_[group_of_[static_cast<size_t>(case_index)]];
  ModelSums& mine = group.models[model];
  if (mine.sums == nullptr) mine.sums = std::make_unique<Accumulators>(context_, selection_);
  mine.sums->MergeCase(total);
  mine.added += 1;
  if (mine.added < static_cast<int64_t>(group.cases.size())) return;
  mine.sums->Complete();
  mine.pooled = mine.sums->Finish();
  mine.sums.reset();
}

std::vector<GroupMetrics> GroupSums::Finish(size_t model,
                                            const std::vector<CaseMetrics>& cases) const {
  std::vector<GroupMetrics> finished;
  for (const Group& group : groups_) {
    std::vector<const std::vector<MetricValue>*> rows;
    for (const size_t c : group.cases) rows.push_back(&cases[c].metrics);
    const std::vector<MetricValue>& pooled = group.models[model].pooled;
    finished.push_back({.group = group.name,
                        .cases = static_cast<int64_t>(rows.size()),
                        .mean = MeanOrPooled(rows, selection_, pooled),
                        .pooled = pooled});
  }
  return finished;
}

}  // namespace segcal
