// SPDX-License-Identifier: Apache-2.0
#include "stats/ranking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/throw.h"
#include "measures/means.h"

namespace segcal {
namespace {

// Every metric must have the methods and cases of the first.
void CheckTables(const std::vector<MetricTable>& metrics) {
  for (const MetricTable& table : metrics) {
    if (table.goal == Goal::kNone) {
      Throw(ErrorCode::kInvalidArgument, "ranking: a metric has no better direction to rank by");
    }
    const auto& first = metrics[0].values;
    if (table.values.size() != first.size()) {
      Throw(ErrorCode::kInvalidArgument,
            "ranking: {} methods in one metric, {} in another",
            first.size(),
            table.values.size());
    }
    for (const std::vector<double>& cases : table.values) {
      if (cases.size() == first[0].size()) continue;
      Throw(ErrorCode::kInvalidArgument,
            "ranking: {} cases of one method, {} of another",
            first[0].size(),
            cases.size());
    }
  }
}

size_t NumMethods(const std::vector<MetricTable>& metrics) {
  return metrics.empty() ? 0 : metrics[0].values.size();
}

void AddTo(std::vector<double>* sums, const std::vector<double>& terms) {
  for (size_t i = 0; i < terms.size(); ++i) (*sums)[i] += terms[i];
}

}  // namespace

double Cost(double value, Goal goal) {
  if (goal == Goal::kHigh) return -value;
  return goal == Goal::kZero ? std::fabs(value) : value;
}

std::vector<double> AverageRanks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto tied = [&](size_t a, size_t b) {
    return values[a] == values[b] || (std::isnan(values[a]) && std::isnan(values[b]));
  };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (std::isnan(values[a]) || std::isnan(values[b]))
      return !std::isnan(values[a]) && std::isnan(values[b]);
    return values[a] < values[b];
  });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && tied(order[begin], order[end])) ++end;
    // Mean of begin + 1 .. end.
    const double rank = 0.5 * static_cast<double>(begin + 1 + end);
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
  }
  return ranks;
}

double TieTerm(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  double sum = 0.0;
  for (size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && values[end] == values[begin]) ++end;
    const auto t = static_cast<double>(end - begin);
    sum += t * t * t - t;
  }
  return sum;
}

std::vector<double> SumRank(const std::vector<MetricTable>& metrics) {
  CheckTables(metrics);
  std::vector<double> sums(NumMethods(metrics));
  for (const MetricTable& table : metrics) {
    std::vector<double> costs;
    for (size_t a = 0; a < sums.size(); ++a) {
      const double value =
          table.overall.empty() ? MeanOfDefined(table.values[a]) : table.overall[a];
      costs.push_back(Cost(value, table.goal));
    }
    AddTo(&sums, AverageRanks(costs));
  }
  return sums;
}

std::vector<double> MeanCaseRank(const std::vector<MetricTable>& metrics) {
  CheckTables(metrics);
  std::vector<double> sums(NumMethods(metrics));
  const size_t num_cases = sums.empty() ? 0 : metrics[0].values[0].size();
  for (size_t i = 0; i < num_cases; ++i) {
    for (const MetricTable& table : metrics) {
      std::vector<double> costs;
      for (const auto& cases : table.values) costs.push_back(Cost(cases[i], table.goal));
      AddTo(&sums, AverageRanks(costs));
    }
  }
  // Without a case 0 / 0: undefined.
  for (double& sum : sums) sum /= static_cast<double>(num_cases * metrics.size());
  return sums;
}

}  // namespace segcal
