// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "metrics/metric.h"

namespace segcal {

// The value with the sign, or for kZero the size, that makes low best.
double Cost(double value, Goal goal);

// Ranks of values in ascending order, from 1; equal values share the mean of their ranks (RK1), and
// NaN shares the last ones.
std::vector<double> AverageRanks(std::span<const double> values);

// Sum of t^3 - t over groups of t equal values, which corrects rank tests for ties.
double TieTerm(std::vector<double> values);

// One metric of several methods: values[method][case], NaN where undefined.
struct MetricTable {
  Goal goal = Goal::kLow;  // kNone cannot be ranked
  std::vector<std::vector<double>> values;
  // One per method: what sum-rank goes by where that is no mean over cases. Empty: the mean.
  std::vector<double> overall = {};
};

// The sum over metrics of each method's rank by its mean over cases (RK2), one per method; low is
// best. A method without any defined value of a metric shares its last ranks.
std::vector<double> SumRank(const std::vector<MetricTable>& metrics);

// The mean over cases of the mean over metrics of each method's rank in that case (RK3), one per
// method; low is best.
std::vector<double> MeanCaseRank(const std::vector<MetricTable>& metrics);

}  // namespace segcal
