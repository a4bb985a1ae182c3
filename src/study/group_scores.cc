// SPDX-License-Identifier: Apache-2.0
#include "study/group_scores.h"

#include <cmath>
#include <map>

#include "measures/means.h"

namespace segcal {

GroupScores::GroupScores(const std::vector<const EvaluateResult*>& repeats,
                         const std::string& metric) {
  // By group or, where a case names none, by its id: [group][pipeline][value].
  std::map<std::pair<bool, std::string>, std::vector<std::vector<double>>> groups;
  for (const EvaluateResult* repeat : repeats) {
    for (size_t p = 0; p < repeat->pipelines.size(); ++p) {
      for (const CaseMetrics& c : repeat->pipelines[p].cases) {
        auto& group = groups[{c.group.empty(), c.group.empty() ? c.id : c.group}];
        group.resize(repeat->pipelines.size());
        group[p].push_back(FindValue(c.metrics, metric));
      }
    }
  }
  for (const auto& [name, group] : groups) {
    std::vector<double>& means = values_.emplace_back();
    for (const std::vector<double>& values : group) means.push_back(MeanOfDefined(values));
  }
}

double GroupScores::Mean(size_t pipeline) const {
  std::vector<double> values;
  for (const auto& group : values_) values.push_back(group[pipeline]);
  return MeanOfDefined(values);
}

PairedScore GroupScores::Difference(size_t pipeline, size_t other) const {
  std::vector<double> differences;
  for (const auto& group : values_) {
    const double difference = group[pipeline] - group[other];
    if (!std::isnan(difference)) differences.push_back(difference);
  }
  PairedScore score{.mean = MeanOfDefined(differences),
                    .standard_error = std::nan(""),
                    .groups = static_cast<int64_t>(differences.size())};
  if (score.groups < 2) return score;
  double squares = 0.0;
  for (const double difference : differences) squares += std::pow(difference - score.mean, 2);
  const auto n = static_cast<double>(score.groups);
  score.standard_error = std::sqrt(squares / (n - 1.0) / n);
  return score;
}

}  // namespace segcal
