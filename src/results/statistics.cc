// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/progress.h"
#include "core/throw.h"
#include "pipeline/spec.h"
#include "results/study_values.h"
#include "segcal/evaluate.h"
#include "stats/mann_whitney.h"

namespace segcal {
namespace {

std::vector<std::string> ListPipelines(const EvaluateResult& result) {
  std::vector<std::string> names;
  names.reserve(result.pipelines.size());
  for (const PipelineMetrics& pipeline : result.pipelines) names.push_back(pipeline.pipeline);
  return names;
}

std::vector<std::string> ListMetrics(const EvaluateResult& result) {
  std::vector<std::string> names;
  names.reserve(result.pipelines.front().mean.size());
  for (const MetricValue& metric : result.pipelines.front().mean) names.push_back(metric.name);
  return names;
}

// Repeats must be of one study.
void CheckRepeats(std::span<const EvaluateResult> repeats) {
  if (repeats.empty()) Throw(ErrorCode::kInvalidArgument, "statistics: no repeat is given");
  for (size_t r = 0; r < repeats.size(); ++r) {
    if (repeats[r].pipelines.empty())
      Throw(ErrorCode::kInvalidArgument, "statistics: repeat {} has no pipeline", r);
    if (ListPipelines(repeats[r]) != ListPipelines(repeats[0]))
      Throw(ErrorCode::kInvalidArgument,
            "statistics: repeat {} has the pipelines {}, repeat 0 has {}",
            r,
            fmt::join(ListPipelines(repeats[r]), ", "),
            fmt::join(ListPipelines(repeats[0]), ", "));
    if (ListMetrics(repeats[r]) != ListMetrics(repeats[0]))
      Throw(ErrorCode::kInvalidArgument, "statistics: repeats 0 and {} have other metrics", r);
  }
}

struct ComparedMetric {
  const MetricNumber* number;
  size_t place;  // in the lists of results
};

// What is known about a metric; results of another version may have others.
const MetricNumber& KnownNumber(const std::string& name) {
  if (const MetricNumber* number = FindNumber(name)) return *number;
  Throw(ErrorCode::kInvalidArgument, "statistics: {} is not a metric of this version", name);
}

// Those named, or all, that have a best value; an Error if one was not computed.
std::vector<ComparedMetric> Compared(const std::vector<std::string>& computed,
                                     const std::vector<std::string>& named) {
  std::vector<ComparedMetric> chosen;
  for (const std::string& name : named.empty() ? computed : named) {
    const auto at = std::find(computed.begin(), computed.end(), name);
    if (at == computed.end())
      Throw(ErrorCode::kInvalidArgument, "statistics: {} was not computed", name);
    const MetricNumber& number = KnownNumber(name);
    if (number.goal != Goal::kNone)
      chosen.push_back({&number, static_cast<size_t>(at - computed.begin())});
  }
  return chosen;
}

std::vector<MetricComparison> Compare(const StudyValues& study,
                                      const std::vector<ComparedMetric>& compared,
                                      size_t pipeline,
                                      size_t reference) {
  std::vector<MetricComparison> comparisons;
  comparisons.reserve(compared.size());
  for (const ComparedMetric& c : compared) {
    comparisons.push_back({.difference = study.Difference(*c.number, pipeline, reference, c.place),
                           .p = study.RankTest(pipeline, reference, c.place)});
  }
  return comparisons;
}

void Rank(const StudyValues& study,
          const std::vector<ComparedMetric>& compared,
          std::vector<PipelineStatistics>* pipelines) {
  std::vector<MetricTable> tables;
  tables.reserve(compared.size());
  for (const ComparedMetric& c : compared) tables.push_back(study.Table(*c.number, c.place));
  const std::vector<double> undefined(pipelines->size(), std::nan(""));
  const std::vector<double> sums = tables.empty() ? undefined : SumRank(tables);
  const std::vector<double> means = tables.empty() ? undefined : MeanCaseRank(tables);
  for (size_t p = 0; p < pipelines->size(); ++p) {
    (*pipelines)[p].sum_rank = sums[p];
    (*pipelines)[p].mean_case_rank = means[p];
  }
}

void AdjustForTheirNumber(std::vector<PipelineStatistics>* pipelines) {
  std::vector<double> p;
  for (const PipelineStatistics& pipeline : *pipelines) {
    for (const MetricComparison& comparison : pipeline.comparisons) p.push_back(comparison.p);
  }
  const std::vector<double> adjusted = BenjaminiHochberg(p);
  size_t i = 0;
  for (PipelineStatistics& pipeline : *pipelines) {
    for (MetricComparison& comparison : pipeline.comparisons) comparison.p_adjusted = adjusted[i++];
  }
}

}  // namespace

size_t ReferenceIndex(const std::vector<std::string>& pipelines, const std::string& reference) {
  if (reference.empty()) return 0;
  const std::string name = FormatPipeline(ParsePipeline(reference));
  std::vector<std::string> names = pipelines;
  // Without options a pipeline may be meant that has some.
  if (std::find(names.begin(), names.end(), name) == names.end())
    std::transform(names.begin(), names.end(), names.begin(), ShortPipeline);
  const auto named = std::count(names.begin(), names.end(), name);
  if (named != 1) {
    Throw(ErrorCode::kInvalidArgument,
          "reference {}: {} of the pipelines have this name, one must; there are {}",
          name,
          named,
          fmt::join(pipelines, ", "));
  }
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

Statistics ComputeStatistics(std::span<const EvaluateResult> repeats,
                             const StatisticsOptions& options,
                             const ProgressCallback& progress) {
  const ProgressScope scope(progress);
  CheckRepeats(repeats);
  const std::vector<std::string> pipelines = ListPipelines(repeats[0]);
  const std::vector<std::string> metrics = ListMetrics(repeats[0]);
  const size_t reference = ReferenceIndex(pipelines, options.reference);
  const std::vector<ComparedMetric> compared = Compared(metrics, options.metrics);
  const StudyValues study(repeats, options);
  Statistics statistics{.options = options,
                        .unit = study.grouped() ? "group" : "case",
                        .repeats = static_cast<int64_t>(repeats.size()),
                        .units = study.num_units(),
                        .pipelines = {}};
  statistics.options.threads = 0;  // says nothing about the numbers
  statistics.options.reference = pipelines[reference];
  statistics.options.metrics.clear();
  for (const ComparedMetric& c : compared) statistics.options.metrics.emplace_back(c.number->name);
  for (size_t p = 0; p < pipelines.size(); ++p) {
    PipelineStatistics& mine = statistics.pipelines.emplace_back();
    mine.pipeline = pipelines[p];
    for (size_t m = 0; m < metrics.size(); ++m)
      mine.intervals.push_back(study.Interval(KnownNumber(metrics[m]), p, m));
    if (p != reference) mine.comparisons = Compare(study, compared, p, reference);
    ReportProgress({.stage = "statistics",
                    .done = static_cast<int64_t>(p) + 1,
                    .total = static_cast<int64_t>(pipelines.size())});
  }
  AdjustForTheirNumber(&statistics.pipelines);
  Rank(study, compared, &statistics.pipelines);
  return statistics;
}

}  // namespace segcal
