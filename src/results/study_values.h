// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "metrics/metric.h"
#include "segcal/evaluate.h"
#include "stats/bootstrap.h"
#include "stats/ranking.h"

namespace segcal {

// Evaluations of the same pipelines and metrics, seen as values of cases: what statistics are made
// of. `metric` is a place in the lists of results.
class StudyValues {
 public:
  // The repeats must outlive this.
  StudyValues(std::span<const EvaluateResult> repeats, const StatisticsOptions& options);

  // Whether groups of cases are drawn, because cases name them.
  bool grouped() const noexcept { return grouped_; }
  // Cases or groups, over all repeats.
  int64_t num_units() const;

  MetricInterval Interval(const MetricNumber& number, size_t pipeline, size_t metric) const;
  // Of a pipeline less the reference, paired by case.
  MetricInterval Difference(const MetricNumber& number,
                            size_t pipeline,
                            size_t reference,
                            size_t metric) const;
  // The two-sided p of a rank test on cases or groups, which are independent: each once, as the
  // mean over its repeats.
  double TestRanks(RankTest test, size_t pipeline, size_t reference, size_t metric) const;
  // One per case or group: the mean over its cases and repeats of how the pipeline differs from the
  // reference where both are defined, in values that `goal` makes low is best of.
  std::vector<double> UnitDifferences(Goal goal,
                                      size_t pipeline,
                                      size_t reference,
                                      size_t metric) const;
  // Of all pipelines, every case of every repeat.
  MetricTable Table(const MetricNumber& number, size_t metric) const;

 private:
  // The bins of a pooled number, summed over the cases of every unit: [repeat][unit][bin].
  using UnitBins = std::vector<std::vector<std::vector<Bin>>>;

  static double PooledValue(const MetricNumber& number,
                            const UnitBins& units,
                            std::span<const CaseDraw> draws);
  double Reported(size_t pipeline, size_t metric) const;
  RepeatedValues Values(size_t pipeline, size_t metric) const;
  std::vector<std::vector<size_t>> CasesOfUnits(size_t repeat) const;
  std::vector<double> UnitMeans(size_t pipeline, size_t metric) const;
  UnitBins Bins(const MetricNumber& number, size_t pipeline) const;
  BootstrapInterval Bootstrap(const MetricNumber& number,
                              const std::vector<UnitBins>& pipelines) const;

  std::span<const EvaluateResult> repeats_;
  bool grouped_;
  DrawUnits units_;  // empty: cases of a single repeat
  BootstrapOptions options_;
};

}  // namespace segcal
