// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "segcal/evaluate.h"

namespace segcal {

// A mean of paired differences, and its standard error; NaN where fewer than two groups have both.
struct PairedScore {
  double mean = 0.0;
  double standard_error = 0.0;
  int64_t groups = 0;
};

// One metric of every pipeline by group: the mean over the group's cases in all repeats that have
// it. Groups are independent of each other, cases and repeats are not.
class GroupScores {
 public:
  GroupScores(const std::vector<const EvaluateResult*>& repeats, const std::string& metric);

  int64_t num_groups() const noexcept { return static_cast<int64_t>(values_.size()); }
  // Over groups.
  double Mean(size_t pipeline) const;
  // The pipeline's less the other's.
  PairedScore Difference(size_t pipeline, size_t other) const;

 private:
  std::vector<std::vector<double>> values_;  // [group][pipeline]
};

}  // namespace segcal
