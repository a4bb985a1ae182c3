// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json_fwd.h"
#include "methods/shared/prob_cells.h"

namespace segcal {

class OnnxBuilder;

// A non-decreasing function of a probability (IR2): constant on the stretches [lower, upper] of its
// blocks, linear between them, constant beyond the ends.
class MonotoneMap {
 public:
  // The identity on nothing: value 1/2 everywhere.
  MonotoneMap();
  // The smoothed isotonic fit of the cells (IR1, IR3); at least one.
  MonotoneMap(const std::vector<ProbCell>& cells, double smoothing);

  // In double, and monotone there: each operation is.
  double At(float p) const noexcept;

  int64_t num_blocks() const noexcept { return static_cast<int64_t>(values_.size()); }
  // The smallest difference of neighbouring values, 0 for a single block: not negative.
  double SmallestRise() const noexcept;

  // Every class of x (N, C, spatial...) through its map, or all through a single one.
  static std::string AddToGraph(const std::vector<MonotoneMap>& maps,
                                const std::string& x,
                                OnnxBuilder* g);

  Json ToJson() const;
  // Strict: as many of each, stretches ascending and apart, values ascending in [0, 1].
  static MonotoneMap FromJson(const Json& json, const std::string& where);

 private:
  void Index();

  std::vector<float> lower_;
  std::vector<float> upper_;
  std::vector<double> values_;
  // first_[k]: blocks whose lower end has a key below k << kBucketShift. Shortens the search.
  std::vector<int32_t> first_;
};

}  // namespace segcal
