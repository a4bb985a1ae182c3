// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "core/names.h"
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

// The pipeline that is meant by `given`, which messages call `what`.
size_t NamedPipeline(const std::vector<std::string>& pipelines,
                     const std::string& given,
                     const char* what) {
  const std::string name = FormatPipeline(ParsePipeline(given));
  std::vector<std::string> names = pipelines;
  // Without options a pipeline may be meant that has some.
  if (std::find(names.begin(), names.end(), name) == names.end())
    std::transform(names.begin(), names.end(), names.begin(), ShortPipeline);
  const auto named = std::count(names.begin(), names.end(), name);
  if (named != 1) {
    Throw(ErrorCode::kInvalidArgument,
          "{} {}: {} of the pipelines have this name, one must; there are {}",
          what,
          name,
          named,
          fmt::join(pipelines, ", "));
  }
  return static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

// Whether two pipelines leave a metric no difference, by what they declare.
bool CannotDiffer(const MetricNumber& number,
                  const PipelineMetrics& first,
                  const PipelineMetrics& second) {
  if (number.depends_on == DependsOn::kProbabilities) return false;
  for (const PipelineMetrics* pipeline : {&first, &second}) {
    if (pipeline->properties.preserves == Preserves::kNone) return false;
  }
  return number.depends_on == DependsOn::kFlips ||
         ParsePipeline(first.pipeline).pooling == ParsePipeline(second.pipeline).pooling;
}

// What is compared: the pipelines of all repeats, by some metrics.
struct Question {
  std::span<const EvaluateResult> repeats;
  const StudyValues& study;
  const std::vector<ComparedMetric>& compared;
  RankTest test;

  bool CannotDiffer(const MetricNumber& number, size_t first, size_t second) const {
    return std::all_of(repeats.begin(), repeats.end(), [&](const EvaluateResult& repeat) {
      return segcal::CannotDiffer(number, repeat.pipelines[first], repeat.pipelines[second]);
    });
  }
};

void CountUnits(const std::vector<double>& cost_differences, MetricComparison* comparison) {
  for (const double difference : cost_differences) {
    comparison->better += difference < 0.0 ? 1 : 0;
    comparison->worse += difference > 0.0 ? 1 : 0;
  }
}

MetricComparison CompareBy(const Question& question,
                           const ComparedMetric& metric,
                           size_t pipeline,
                           size_t reference) {
  const auto& [number, place] = metric;
  const StudyValues& study = question.study;
  MetricComparison comparison{.difference = study.Difference(*number, pipeline, reference, place)};
  CountUnits(study.UnitDifferences(number->goal, pipeline, reference, place), &comparison);
  // A declaration that does not hold must not hide a difference.
  comparison.equal_by_construction = question.CannotDiffer(*number, pipeline, reference) &&
                                     comparison.better + comparison.worse == 0;
  comparison.p = comparison.equal_by_construction
                     ? std::nan("")
                     : study.TestRanks(question.test, pipeline, reference, place);
  return comparison;
}

std::vector<MetricComparison> Compare(const Question& question, size_t pipeline, size_t reference) {
  std::vector<MetricComparison> comparisons;
  comparisons.reserve(question.compared.size());
  for (const ComparedMetric& metric : question.compared)
    comparisons.push_back(CompareBy(question, metric, pipeline, reference));
  return comparisons;
}

// The metrics by which some two of the pipelines can differ.
std::vector<ComparedMetric> Ranked(const Question& question) {
  std::vector<ComparedMetric> ranked;
  for (const ComparedMetric& metric : question.compared) {
    bool differ = false;
    for (size_t p = 1; p < question.repeats[0].pipelines.size(); ++p)
      differ = differ || !question.CannotDiffer(*metric.number, p, 0);
    if (differ) ranked.push_back(metric);
  }
  return ranked;
}

void Rank(const StudyValues& study,
          const std::vector<ComparedMetric>& ranked,
          std::vector<PipelineStatistics>* pipelines) {
  std::vector<MetricTable> tables;
  tables.reserve(ranked.size());
  for (const ComparedMetric& c : ranked) tables.push_back(study.Table(*c.number, c.place));
  const std::vector<double> undefined(pipelines->size(), std::nan(""));
  const std::vector<double> sums = tables.empty() ? undefined : SumRank(tables);
  const std::vector<double> means = tables.empty() ? undefined : MeanCaseRank(tables);
  for (size_t p = 0; p < pipelines->size(); ++p) {
    (*pipelines)[p].sum_rank = sums[p];
    (*pipelines)[p].mean_case_rank = means[p];
  }
}

// Of pipelines or pairs: all of their comparisons together.
template <class Compared>
void AdjustForTheirNumber(std::vector<Compared>* items) {
  std::vector<double> p;
  for (const Compared& item : *items) {
    for (const MetricComparison& comparison : item.comparisons) p.push_back(comparison.p);
  }
  const std::vector<double> adjusted = BenjaminiHochberg(p);
  size_t i = 0;
  for (Compared& item : *items) {
    for (MetricComparison& comparison : item.comparisons) comparison.p_adjusted = adjusted[i++];
  }
}

std::vector<std::string> NamesOf(const std::vector<ComparedMetric>& metrics) {
  std::vector<std::string> names;
  names.reserve(metrics.size());
  for (const ComparedMetric& metric : metrics) names.emplace_back(metric.number->name);
  return names;
}

std::vector<PairStatistics> ComparePairs(const Question& question,
                                         const std::vector<std::string>& pipelines,
                                         const std::vector<PipelinePair>& pairs) {
  std::vector<PairStatistics> compared;
  compared.reserve(pairs.size());
  for (const PipelinePair& pair : pairs) {
    const size_t first = NamedPipeline(pipelines, pair.first, "pair");
    const size_t second = NamedPipeline(pipelines, pair.second, "pair");
    compared.push_back({.pair = {pipelines[first], pipelines[second], pair.family},
                        .comparisons = Compare(question, second, first)});
  }
  AdjustForTheirNumber(&compared);
  return compared;
}

constexpr NameList<2> kRankTestNames = {"wilcoxon", "mann_whitney"};

}  // namespace

const char* Name(RankTest test) noexcept { return FindName(test, kRankTestNames); }

RankTest ParseRankTest(const std::string& name) {
  return ParseName<RankTest>("rank test", name, kRankTestNames);
}

bool ExcludesZero(const MetricInterval& interval) noexcept {
  return interval.lower > 0.0 || interval.upper < 0.0;
}

size_t ReferenceIndex(const std::vector<std::string>& pipelines, const std::string& reference) {
  return reference.empty() ? 0 : NamedPipeline(pipelines, reference, "reference");
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
  const Question question{repeats, study, compared, options.test};
  Statistics statistics{.options = options,
                        .unit = study.grouped() ? "group" : "case",
                        .repeats = static_cast<int64_t>(repeats.size()),
                        .units = study.num_units(),
                        .pipelines = {},
                        .pairs = ComparePairs(question, pipelines, options.pairs),
                        .ranked = {}};
  statistics.options.threads = 0;  // says nothing about the numbers
  statistics.options.reference = pipelines[reference];
  statistics.options.metrics = NamesOf(compared);
  for (size_t i = 0; i < statistics.pairs.size(); ++i)
    statistics.options.pairs[i] = statistics.pairs[i].pair;
  for (size_t p = 0; p < pipelines.size(); ++p) {
    PipelineStatistics& mine = statistics.pipelines.emplace_back();
    mine.pipeline = pipelines[p];
    for (size_t m = 0; m < metrics.size(); ++m)
      mine.intervals.push_back(study.Interval(KnownNumber(metrics[m]), p, m));
    if (p != reference) mine.comparisons = Compare(question, p, reference);
    ReportProgress({.stage = "statistics",
                    .done = static_cast<int64_t>(p) + 1,
                    .total = static_cast<int64_t>(pipelines.size())});
  }
  AdjustForTheirNumber(&statistics.pipelines);
  const std::vector<ComparedMetric> ranked = Ranked(question);
  statistics.ranked = NamesOf(ranked);
  Rank(study, ranked, &statistics.pipelines);
  return statistics;
}

}  // namespace segcal
