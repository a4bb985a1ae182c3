// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "methods/affine/affine_shape.h"
#include "optim/implicit_model.h"

namespace segcal {

// A preconditioner for the Hessian of an affine map: blocks do not know of each other. For one
// thread.
class AffineBlocks final : public Preconditioner {
 public:
  // `blocks` is [block][size][size] of the shape's layout.
  AffineBlocks(const AffineShape& shape, std::vector<double> blocks);

  // The function may outlive this.
  Product Inverse(const std::vector<char>& free) const override;
  std::vector<double> Step(const Box& box,
                           const std::vector<double>& point,
                           const std::vector<double>& slope) const override;

 private:
  Product MakeInverse(const std::vector<char>& free) const;

  AffineShape shape_;
  std::vector<double> blocks_;
  double least_curvature_;
  // The inverse asked for last: most steps have the same free parameters.
  mutable std::vector<char> known_free_;
  mutable Product known_;
};

}  // namespace segcal
