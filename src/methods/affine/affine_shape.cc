// SPDX-License-Identifier: Apache-2.0
#include "methods/affine/affine_shape.h"

namespace segcal {

BlockLayout::BlockLayout(const AffineShape& shape)
    : by_feature(shape.space == AffineSpace::kSortedGaps),
      num_features(shape.num_features()),
      num_blocks(by_feature ? num_features : shape.num_rows()),
      size(by_feature ? shape.num_rows() : num_features) {}

}  // namespace segcal
