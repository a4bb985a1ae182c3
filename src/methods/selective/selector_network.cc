// SPDX-License-Identifier: Apache-2.0
#include "methods/selective/selector_network.h"

#include <algorithm>
#include <cmath>

#include "core/rng.h"
#include "kernels/affine.h"
#include "kernels/channels.h"
#include "kernels/softmax.h"
#include "methods/shared/emit_buffer.h"

namespace segcal {
namespace {

constexpr uint64_t kWeightStream = 0x53454C4543540000;

}  // namespace

SelectorShape::SelectorShape(int64_t num_classes)
    : width_{num_classes, num_classes, 2 * num_classes, num_classes, 2}, offset_{} {
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    offset_[static_cast<size_t>(layer) + 1] = beta(layer) + outputs(layer);
  }
}

std::vector<double> SelectorStart(const SelectorShape& shape, uint64_t seed) {
  std::vector<double> start(static_cast<size_t>(shape.size()), 0.0);
  for (int64_t c = 0; c < shape.num_classes(); ++c) {
    start[static_cast<size_t>(shape.weights(0) + c * shape.num_classes() + c)] = 1.0;
  }
  for (int layer = 1; layer <= kHiddenLayers; ++layer) {
    Rng rng(seed, kWeightStream + static_cast<uint64_t>(layer));
    const double reach = 1.0 / std::sqrt(static_cast<double>(shape.inputs(layer)));
    const auto begin = start.begin() + shape.weights(layer);
    std::generate(begin, begin + shape.num_weights(layer), [&] {
      return reach * (2.0 * rng.Uniform() - 1.0);
    });
  }
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    std::fill_n(start.begin() + shape.gamma(layer), shape.outputs(layer), 1.0);
  }
  return start;
}

ChannelScale FoldScale(const SelectorShape& shape,
                       int layer,
                       std::span<const double> parameters,
                       const SelectorStatistics& statistics) {
  const auto l = static_cast<size_t>(layer);
  const auto channels = static_cast<size_t>(shape.outputs(layer));
  const double* gamma = parameters.data() + shape.gamma(layer);
  const double* beta = parameters.data() + shape.beta(layer);
  ChannelScale result{.scale = std::vector<float>(channels), .shift = std::vector<float>(channels)};
  for (size_t c = 0; c < channels; ++c) {
    const double scale = gamma[c] / std::sqrt(statistics.variance[l][c] + kVarianceFloor);
    result.scale[c] = static_cast<float>(scale);
    result.shift[c] = static_cast<float>(beta[c] - scale * statistics.mean[l][c]);
  }
  return result;
}

std::vector<float> FoldWeights(const SelectorShape& shape,
                               int layer,
                               std::span<const double> parameters,
                               bool transposed) {
  const int64_t rows = shape.outputs(layer);
  const int64_t columns = shape.inputs(layer);
  const double* weights = parameters.data() + shape.weights(layer);
  std::vector<float> result(static_cast<size_t>(rows * columns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t to = transposed ? k * rows + r : r * columns + k;
      result[static_cast<size_t>(to)] = static_cast<float>(weights[r * columns + k]);
    }
  }
  return result;
}

void SelectorFeatures(const Tile& tile, float* features) {
  EmitBuffer buffer;
  const TileProbs probs = buffer.Reserve(tile.num_classes);
  SoftmaxTile(tile, 1.0, probs);
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    float largest = 0.0f;
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      largest = std::max(largest, probs.probs[c * kTileVoxels + v]);
    }
    // Logits are z - max z, so the largest probability is exp of minus their log-sum-exp.
    const float log_sum = -std::log(largest);
    for (int64_t c = 0; c < tile.num_classes; ++c) {
      const float log_prob = tile.logits[c * kTileVoxels + v] - log_sum;
      features[c * kTileVoxels + v] =
          log_prob > kPlainLog
              ? log_prob
              : static_cast<float>(std::log(std::exp(static_cast<double>(log_prob)) + kTinyProb));
    }
  }
}

Selector::Selector(const SelectorShape& shape,
                   std::vector<double> parameters,
                   SelectorStatistics statistics)
    : shape_(shape), parameters_(std::move(parameters)), statistics_(std::move(statistics)) {
  for (int layer = 0; layer <= kHiddenLayers; ++layer) {
    weights_[static_cast<size_t>(layer)] = FoldWeights(shape_, layer, parameters_);
  }
  for (int layer = 0; layer < kHiddenLayers; ++layer) {
    // A layer whose statistics are still to be found is not passed through.
    if (statistics_.mean[static_cast<size_t>(layer)].empty()) continue;
    scales_[static_cast<size_t>(layer)] = FoldScale(shape_, layer, parameters_, statistics_);
  }
}

const float* Selector::Scores(const float* features, AlignedBuffer* memory, int up_to) const {
  const int64_t rows = 2 * shape_.num_classes() + 2;
  auto* dense =
      reinterpret_cast<float*>(memory->Reserve(2 * rows * kTileVoxels * int64_t{sizeof(float)}));
  float* active = dense + rows * kTileVoxels;
  for (int layer = 0; layer <= up_to; ++layer) {
    const auto l = static_cast<size_t>(layer);
    AffineTile(layer == 0 ? features : active,
               {.high = weights_[l].data(),
                .num_rows = shape_.outputs(layer),
                .num_columns = shape_.inputs(layer)},
               kTileVoxels,
               dense);
    if (layer == up_to) break;
    ScaleShiftRelu(
        dense, shape_.outputs(layer), scales_[l].scale.data(), scales_[l].shift.data(), active);
  }
  if (up_to < kHiddenLayers) return dense;
  for (int64_t k = 0; k < 2; ++k) {
    const auto bias = static_cast<float>(parameters_[static_cast<size_t>(shape_.bias() + k)]);
    for (int64_t v = 0; v < kTileVoxels; ++v) dense[k * kTileVoxels + v] += bias;
  }
  return dense;
}

void Selector::Flag(const Tile& tile, uint8_t* flagged) const {
  EmitBuffer buffer;
  float* features = buffer.Reserve(tile.num_classes).probs;
  SelectorFeatures(tile, features);
  AlignedBuffer memory;
  const float* scores = Scores(features, &memory);
  for (int64_t v = 0; v < kTileVoxels; ++v) flagged[v] = scores[kTileVoxels + v] > scores[v];
}

}  // namespace segcal
