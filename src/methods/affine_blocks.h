// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "methods/affine_space.h"
#include "optim/implicit_metric.h"

namespace segcal {

// A stand-in for the Hessian of an affine map: rows do not know of each other.
class RowBlocks final : public AboutInverse {
 public:
  // `blocks` is [row][feature][feature].
  RowBlocks(const AffineShape& shape, std::vector<double> blocks);

  // The function may outlive this.
  Product On(const std::vector<char>& free) const override;

 private:
  AffineShape shape_;
  std::vector<double> blocks_;
  double least_curvature_;
};

}  // namespace segcal
