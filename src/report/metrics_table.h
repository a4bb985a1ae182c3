// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "segcal/evaluate.h"

namespace segcal {

// A metric as tables show it.
struct MetricColumn {
  std::string metric;
  std::string header;
  int decimals = 4;
  double factor = 1.0;  // 100 for percentages
};

// The pipelines as tables and pictures name them: without options, unless two would then be the
// same.
std::vector<std::string> ShownPipelines(const EvaluateResult& result);

// The columns for `names`, as in EvaluateOptions::families: a metric is itself, a family all of its
// metrics; none, or "all", is the choice of the main paper's tables and a little more.
std::vector<MetricColumn> MetricColumns(const EvaluateResult& result,
                                        const std::vector<std::string>& names);

// One row per pipeline, the best values bold where there are several. `intervals`: behind every
// value, if the result has statistics.
Table MetricsTable(const EvaluateResult& result,
                   const std::vector<MetricColumn>& columns,
                   bool intervals);

// A row per metric and pipeline: the value and its interval, how it differs from the reference, and
// the rank test, marked where the adjusted p is at most 0.05. The result must have statistics.
Table StatisticsTable(const EvaluateResult& result, const std::vector<MetricColumn>& columns);

// The sweep over sides of random patches: a row per pipeline and side; no rows without one.
Table PatchTable(const EvaluateResult& result);

// Sum-rank and mean-case-rank of every pipeline. The result must have statistics.
Table RankTable(const EvaluateResult& result);

}  // namespace segcal
