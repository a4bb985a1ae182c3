// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/reliability.h"

#include <algorithm>
#include <iterator>

#include "kernels/bins.h"

namespace segcal {
namespace {

constexpr float kUpperEdges[] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f, 0.7f, 0.8f, 0.9f, 1.0f};

}  // namespace

Reliability::Reliability() : bins_(std::size(kUpperEdges)) {}

void Reliability::Add(const float* confidence, const uint8_t* correct, int64_t n) {
  uint16_t bin[kTileVoxels];
  FindBins(confidence, n, {.upper = kUpperEdges}, bin);
  for (int64_t i = 0; i < n; ++i) {
    Bin& own = bins_[bin[i]];
    ++own.count;
    own.correct += correct[i];
    own.confidence.Add(static_cast<double>(confidence[i]));
  }
}

float LargestProb(const Tile& tile, int64_t v, const float* probs) {
  float largest = probs[v];
  for (int64_t c = 1; c < tile.num_classes; ++c) {
    largest = std::max(largest, probs[c * kTileVoxels + v]);
  }
  return largest;
}

}  // namespace segcal
