// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/export.h"

namespace segcal {

// The rank test beside the interval of a difference.
enum class RankTest {
  kWilcoxon,     // signed ranks of the differences of cases: paired, as the design is
  kMannWhitney,  // ranks of the values of both, as if their cases were not the same
};
SEGCAL_EXPORT const char* Name(RankTest test) noexcept;  // "wilcoxon", "mann_whitney"
// An unknown name is an Error that lists the known ones.
SEGCAL_EXPORT RankTest ParseRankTest(const std::string& name);

// Two pipelines of a study that are compared: how `second` differs from `first`.
struct PipelinePair {
  std::string first;  // in any spelling that `reference` may have
  std::string second;
  std::string family = {};  // what the pair is about, for tables: "translation invariance"
};

struct StatisticsOptions {
  // Metrics to compare and rank pipelines by; those without a best value are left out. Empty: all.
  std::vector<std::string> metrics = {};
  std::string reference = {};  // pipeline that the others are compared with; empty: the first
  // Matched comparisons besides, each by all metrics.
  std::vector<PipelinePair> pairs = {};
  RankTest test = RankTest::kWilcoxon;
  int64_t replicates = 2000;
  double level = 0.95;
  uint64_t seed = 0;
  int threads = 0;  // 0: all available; results do not depend on it
};

// A number with its bootstrap interval; bounds are NaN where there are fewer than two cases.
struct MetricInterval {
  std::string metric;
  double estimate = 0.0;
  double lower = 0.0;
  double upper = 0.0;
};

// Whether zero lies outside the interval: of a difference, evidence that there is one.
SEGCAL_EXPORT bool ExcludesZero(const MetricInterval& interval) noexcept;

// A pipeline against another, by one metric.
struct MetricComparison {
  MetricInterval difference;  // of this pipeline less the other, paired by case
  double p = 0.0;             // of the rank test, two-sided; NaN without values
  // Benjamini-Hochberg, over all comparisons with the reference, or over all pairs.
  double p_adjusted = 0.0;
  int64_t better = 0;  // cases or groups that are better with this pipeline, and those worse
  int64_t worse = 0;
  // Both pipelines declare what leaves no difference (flips, accuracy or Dice score of pipelines
  // that keep the decision), and there is none: no test, both p are NaN.
  bool equal_by_construction = false;
};

struct PipelineStatistics {
  std::string pipeline;
  std::vector<MetricInterval> intervals;      // of every metric
  std::vector<MetricComparison> comparisons;  // none for the reference
  double sum_rank = 0.0;                      // low is best
  double mean_case_rank = 0.0;
};

struct PairStatistics {
  PipelinePair pair;                          // by the names of the pipelines
  std::vector<MetricComparison> comparisons;  // of the second with the first
};

struct Statistics {
  // `metrics`, `reference` and `pairs` as they were used; `threads` is 0.
  StatisticsOptions options;
  std::string unit;  // what was drawn: "case", or "group" where cases name groups
  int64_t repeats = 0;
  int64_t units = 0;  // over all repeats
  std::vector<PipelineStatistics> pipelines;
  std::vector<PairStatistics> pairs;  // in the order of the options
  // The compared metrics that ranks go by: those by which some pipelines can differ.
  std::vector<std::string> ranked;
};

// The object "statistics" of the metrics file with a format version, and back; `where` names the
// text in messages.
SEGCAL_EXPORT std::string ToJson(const Statistics& statistics);
SEGCAL_EXPORT Statistics StatisticsFromJson(const std::string& text,
                                            const std::string& where = "statistics");

}  // namespace segcal
