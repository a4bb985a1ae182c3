// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "optim/implicit_model.h"

namespace segcal {

// A preconditioner that knows a diagonal only.
class Diagonal final : public Preconditioner {
 public:
  explicit Diagonal(std::vector<double> diagonal) : diagonal_(std::move(diagonal)) {}
  Product Inverse(const std::vector<char>& free) const override {
    return [free, diagonal = diagonal_](std::vector<double> v) {
      for (size_t i = 0; i < v.size(); ++i) v[i] = free[i] != 0 ? v[i] / diagonal[i] : 0.0;
      return v;
    };
  }
  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& slope) const override {
    std::vector<double> end = point;
    for (size_t i = 0; i < end.size(); ++i) end[i] -= slope[i] / diagonal_[i];
    box.Clamp(&end);
    for (size_t i = 0; i < end.size(); ++i) end[i] -= point[i];
    return end;
  }

 private:
  std::vector<double> diagonal_;
};

}  // namespace segcal
