// SPDX-License-Identifier: Apache-2.0
#include "results/study_values.h"

#include <map>

#include "measures/means.h"
#include "stats/mann_whitney.h"
#include "stats/wilcoxon.h"

namespace segcal {
namespace {

// The values of a case or group in all repeats: by group or, where a case names none, by its id.
using UnitValues = std::map<std::pair<bool, std::string>, std::vector<double>>;

UnitValues::key_type UnitOf(const CaseMetrics& c) {
  return {c.group.empty(), c.group.empty() ? c.id : c.group};
}

// What is drawn: groups where cases name them, else cases, the same in every repeat that has them:
// [repeat][case]. Empty for the cases of a single repeat.
DrawUnits FindUnits(std::span<const EvaluateResult> repeats, bool grouped) {
  if (!grouped && repeats.size() == 1) return {};
  DrawUnits units;
  std::map<UnitValues::key_type, int64_t> known;
  for (const EvaluateResult& repeat : repeats) {
    std::vector<int64_t>& mine = units.emplace_back();
    for (const CaseMetrics& c : repeat.pipelines.front().cases)
      mine.push_back(known.emplace(UnitOf(c), static_cast<int64_t>(known.size())).first->second);
  }
  return units;
}

bool NamesGroups(std::span<const EvaluateResult> repeats) {
  for (const EvaluateResult& repeat : repeats) {
    for (const CaseMetrics& c : repeat.pipelines.front().cases) {
      if (!c.group.empty()) return true;
    }
  }
  return false;
}

std::vector<double> MeansOf(const UnitValues& units) {
  std::vector<double> means;
  means.reserve(units.size());
  for (const auto& [unit, values] : units) means.push_back(MeanOfDefined(values));
  return means;
}

void AddBins(const Diagram& diagram, std::vector<Bin>* bins) {
  const std::vector<ReliabilityRow> rows = ReliabilityRows(diagram);
  bins->resize(rows.size());
  for (size_t k = 0; k < rows.size(); ++k) {
    (*bins)[k].count += rows[k].count;
    (*bins)[k].correct += rows[k].correct;
    (*bins)[k].confidence.Add(rows[k].confidence_sum);
  }
}

}  // namespace

StudyValues::StudyValues(std::span<const EvaluateResult> repeats, const StatisticsOptions& options)
    : repeats_(repeats),
      grouped_(NamesGroups(repeats)),
      units_(FindUnits(repeats, grouped_)),
      options_{.replicates = options.replicates,
               .level = options.level,
               .seed = options.seed,
               .num_threads = options.threads} {}

int64_t StudyValues::num_units() const {
  int64_t count = 0;
  for (size_t r = 0; r < repeats_.size(); ++r)
    count += static_cast<int64_t>(CasesOfUnits(r).size());
  return count;
}

MetricInterval StudyValues::Interval(const MetricNumber& number,
                                     size_t pipeline,
                                     size_t metric) const {
  const BootstrapInterval interval = number.of_bins == nullptr
                                         ? BootstrapMean(Values(pipeline, metric), options_, units_)
                                         : Bootstrap(number, {Bins(number, pipeline)});
  return {number.name, Reported(pipeline, metric), interval.lower, interval.upper};
}

MetricInterval StudyValues::Difference(const MetricNumber& number,
                                       size_t pipeline,
                                       size_t reference,
                                       size_t metric) const {
  const BootstrapInterval interval =
      number.of_bins == nullptr
          ? BootstrapPairedDifference(
                Values(reference, metric), Values(pipeline, metric), options_, units_)
          : Bootstrap(number, {Bins(number, pipeline), Bins(number, reference)});
  return {number.name, interval.estimate, interval.lower, interval.upper};
}

double StudyValues::TestRanks(RankTest test,
                              size_t pipeline,
                              size_t reference,
                              size_t metric) const {
  // Differences as they are: low needs no change of sign.
  if (test == RankTest::kWilcoxon)
    return WilcoxonSignedRank(UnitDifferences(Goal::kLow, pipeline, reference, metric)).p;
  return MannWhitneyU(UnitMeans(pipeline, metric), UnitMeans(reference, metric)).p;
}

MetricTable StudyValues::Table(const MetricNumber& number, size_t metric) const {
  MetricTable table{.goal = number.goal, .values = {}};
  for (size_t p = 0; p < repeats_[0].pipelines.size(); ++p) {
    std::vector<double>& all = table.values.emplace_back();
    for (const std::vector<double>& repeat : Values(p, metric))
      all.insert(all.end(), repeat.begin(), repeat.end());
    table.overall.push_back(Reported(p, metric));
  }
  return table;
}

// The number that tables show, mean over repeats.
double StudyValues::Reported(size_t pipeline, size_t metric) const {
  std::vector<double> values;
  values.reserve(repeats_.size());
  for (const EvaluateResult& repeat : repeats_)
    values.push_back(repeat.pipelines[pipeline].mean[metric].value);
  return MeanOfDefined(values);
}

RepeatedValues StudyValues::Values(size_t pipeline, size_t metric) const {
  RepeatedValues values;
  for (const EvaluateResult& repeat : repeats_) {
    std::vector<double>& mine = values.emplace_back();
    for (const CaseMetrics& c : repeat.pipelines[pipeline].cases)
      mine.push_back(c.metrics[metric].value);
  }
  return values;
}

std::vector<std::vector<size_t>> StudyValues::CasesOfUnits(size_t repeat) const {
  std::map<int64_t, std::vector<size_t>> cases;
  for (size_t i = 0; i < repeats_[repeat].pipelines.front().cases.size(); ++i)
    cases[units_.empty() ? static_cast<int64_t>(i) : units_[repeat][i]].push_back(i);
  std::vector<std::vector<size_t>> lists;
  lists.reserve(cases.size());
  for (auto& [unit, list] : cases) lists.push_back(std::move(list));
  return lists;
}

std::vector<double> StudyValues::UnitMeans(size_t pipeline, size_t metric) const {
  UnitValues units;
  for (const EvaluateResult& repeat : repeats_) {
    for (const CaseMetrics& c : repeat.pipelines[pipeline].cases)
      units[UnitOf(c)].push_back(c.metrics[metric].value);
  }
  return MeansOf(units);
}

std::vector<double> StudyValues::UnitDifferences(Goal goal,
                                                 size_t pipeline,
                                                 size_t reference,
                                                 size_t metric) const {
  UnitValues units;
  for (const EvaluateResult& repeat : repeats_) {
    const std::vector<CaseMetrics>& mine = repeat.pipelines[pipeline].cases;
    const std::vector<CaseMetrics>& other = repeat.pipelines[reference].cases;
    for (size_t i = 0; i < mine.size(); ++i) {
      units[UnitOf(mine[i])].push_back(Cost(mine[i].metrics[metric].value, goal) -
                                       Cost(other[i].metrics[metric].value, goal));
    }
  }
  return MeansOf(units);
}

// Units without a labelled voxel take no part, nor do repeats without such units: the same in all
// pipelines.
StudyValues::UnitBins StudyValues::Bins(const MetricNumber& number, size_t pipeline) const {
  UnitBins units;
  for (size_t r = 0; r < repeats_.size(); ++r) {
    std::vector<std::vector<Bin>> repeat;
    for (const std::vector<size_t>& cases : CasesOfUnits(r)) {
      std::vector<Bin> bins;
      for (const size_t c : cases) {
        const std::vector<Diagram>& kept = repeats_[r].pipelines[pipeline].cases[c].pooled_bins;
        if (const Diagram* own = FindDiagram(kept, DiagramKind::kReliability, number.name))
          AddBins(*own, &bins);
      }
      if (TotalCount(bins) > 0) repeat.push_back(std::move(bins));
    }
    if (!repeat.empty()) units.push_back(std::move(repeat));
  }
  return units;
}

// The value of a pooled number in drawn units, mean over repeats.
double StudyValues::PooledValue(const MetricNumber& number,
                                const UnitBins& units,
                                std::span<const CaseDraw> draws) {
  double sum = 0.0;
  for (const CaseDraw& draw : draws) {
    const auto& repeat = units[static_cast<size_t>(draw.repeat)];
    std::vector<Bin> total(repeat.front().size());
    for (const int64_t drawn : draw.cases) {
      const std::vector<Bin>& bins = repeat[static_cast<size_t>(drawn)];
      MergeSums(bins, &total);
    }
    sum += number.of_bins(total);
  }
  return sum / static_cast<double>(draws.size());
}

// Of a pooled number: the first pipeline's, less the second's if there are two.
BootstrapInterval StudyValues::Bootstrap(const MetricNumber& number,
                                         const std::vector<UnitBins>& pipelines) const {
  std::vector<int64_t> sizes;
  sizes.reserve(pipelines[0].size());
  for (const auto& repeat : pipelines[0]) sizes.push_back(static_cast<int64_t>(repeat.size()));
  return BootstrapStatistic(
      sizes,
      [&](std::span<const CaseDraw> draws) {
        const double value = PooledValue(number, pipelines[0], draws);
        return pipelines.size() == 1 ? value : value - PooledValue(number, pipelines[1], draws);
      },
      options_);
}

}  // namespace segcal
