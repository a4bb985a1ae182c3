// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/export.h"

namespace segcal {

struct StatisticsOptions {
  // Metrics to compare and rank pipelines by; those without a best value are left out. Empty: all.
  std::vector<std::string> metrics = {};
  std::string reference = {};  // pipeline that the others are compared with; empty: the first
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

// A pipeline against the reference, by one metric.
struct MetricComparison {
  MetricInterval difference;  // of this pipeline less the reference, paired by case
  double p = 0.0;             // Mann-Whitney U, two-sided; NaN without values
  double p_adjusted = 0.0;    // Benjamini-Hochberg, over all comparisons of the statistics
};

struct PipelineStatistics {
  std::string pipeline;
  std::vector<MetricInterval> intervals;      // of every metric
  std::vector<MetricComparison> comparisons;  // none for the reference
  double sum_rank = 0.0;                      // low is best
  double mean_case_rank = 0.0;
};

struct Statistics {
  StatisticsOptions options;  // `metrics` and `reference` as they were used; `threads` is 0
  std::string unit;           // what was drawn: "case", or "group" where cases name groups
  int64_t repeats = 0;
  int64_t units = 0;  // over all repeats
  std::vector<PipelineStatistics> pipelines;
};

// The object "statistics" of the metrics file with a format version, and back; `where` names the
// text in messages.
SEGCAL_EXPORT std::string ToJson(const Statistics& statistics);
SEGCAL_EXPORT Statistics StatisticsFromJson(const std::string& text,
                                            const std::string& where = "statistics");

}  // namespace segcal
