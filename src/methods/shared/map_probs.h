// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/softmax.h"
#include "kernels/tile.h"

namespace segcal {

// q_c = g(c, p_c) / sum_k g(k, p_k) with p = softmax(z) (IR5): softmax, then each class through its
// map, then rows renormalised in double. Where all g are 0 the row is p. The label's
// log-probability is not below that of the smallest normal float32.
//
// If g does not depend on the class and never decreases, neither does q in p_c: one divisor per
// row, and rounding is monotone.
template <class ClassMap>
void MapProbsTile(const Tile& tile, const ClassMap& g, const TileProbs& out) {
  SoftmaxTile(tile, 1.0, out);
  std::vector<double> mapped(static_cast<size_t>(tile.num_classes));
  for (int64_t v = 0; v < tile.count; ++v) {
    double sum = 0.0;
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      double& value = mapped[static_cast<size_t>(c)];
      value = g(c, out.probs[c * kTileVoxels + v]);
      sum += value;
    }
    if (!(sum > 0.0)) continue;
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      out.probs[c * kTileVoxels + v] = static_cast<float>(mapped[static_cast<size_t>(c)] / sum);
    }
    const int32_t label = tile.labels[v];
    if (label == kNoLabel) continue;
    const double own = mapped[static_cast<size_t>(label)] / sum;
    out.log_label[v] = static_cast<float>(std::log(std::max(own, 0x1p-126)));
  }
}

}  // namespace segcal
