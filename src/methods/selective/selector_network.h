// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/aligned.h"
#include "core/json_fwd.h"
#include "kernels/tile.h"

namespace segcal {

struct GraphInput;
class OnnxBuilder;

// The selector of docs/methods/selective.md: three dense layers without bias, each normalised and
// rectified, then one with bias and two scores, "correct" and "mispredicted" (SS2-SS4).
inline constexpr int kHiddenLayers = 3;
// Added to a variance before its root (SS3).
inline constexpr double kVarianceFloor = 1e-5;
// Added to a probability before its logarithm (SS1). Above the second number that changes nothing
// in float32.
inline constexpr double kTinyProb = 1e-16;
inline constexpr float kPlainLog = -20.0f;

// Where the numbers of each layer stand in the one vector that training moves.
class SelectorShape {
 public:
  explicit SelectorShape(int64_t num_classes);

  int64_t num_classes() const noexcept { return width_[0]; }
  int64_t inputs(int layer) const noexcept { return width_[static_cast<size_t>(layer)]; }
  int64_t outputs(int layer) const noexcept { return width_[static_cast<size_t>(layer) + 1]; }
  int64_t num_weights(int layer) const noexcept { return inputs(layer) * outputs(layer); }
  int64_t size() const noexcept { return bias() + outputs(kHiddenLayers); }

  // Offsets: weights [outputs][inputs], then for a hidden layer gamma and beta [outputs], for the
  // last the bias.
  int64_t weights(int layer) const noexcept { return offset_[static_cast<size_t>(layer)]; }
  int64_t gamma(int layer) const noexcept { return weights(layer) + num_weights(layer); }
  int64_t beta(int layer) const noexcept { return gamma(layer) + outputs(layer); }
  int64_t bias() const noexcept { return gamma(kHiddenLayers); }

 private:
  std::array<int64_t, kHiddenLayers + 2> width_;
  std::array<int64_t, kHiddenLayers + 1> offset_;
};

// The first layer passes its input on; the others are uniform in +-1/sqrt(inputs), by seed; gamma
// is 1, beta and bias are 0.
std::vector<double> SelectorStart(const SelectorShape& shape, uint64_t seed);

// Mean and variance of each hidden channel before its normalisation.
struct SelectorStatistics {
  std::array<std::vector<double>, kHiddenLayers> mean;
  std::array<std::vector<double>, kHiddenLayers> variance;
};

// scale u + shift is the normalisation of a hidden layer (SS3).
struct ChannelScale {
  std::vector<float> scale;
  std::vector<float> shift;
};
ChannelScale FoldScale(const SelectorShape& shape,
                       int layer,
                       std::span<const double> parameters,
                       const SelectorStatistics& statistics);

// Weights of a layer in the kernels' type; transposed: [inputs][outputs].
std::vector<float> FoldWeights(const SelectorShape& shape,
                               int layer,
                               std::span<const double> parameters,
                               bool transposed = false);

// What the selector sees (SS1): log(softmax(z) + 1e-16), [num_classes][kTileVoxels].
void SelectorFeatures(const Tile& tile, float* features);

// The network with fixed statistics.
class Selector {
 public:
  Selector(const SelectorShape& shape,
           std::vector<double> parameters,
           SelectorStatistics statistics);

  const SelectorShape& shape() const noexcept { return shape_; }

  // Scores [2][kTileVoxels] of features; `up_to` < kHiddenLayers gives that layer before its
  // normalisation instead. The result is in `memory`.
  const float* Scores(const float* features,
                      AlignedBuffer* memory,
                      int up_to = kHiddenLayers) const;

  // 1 where the voxel is taken for a misprediction, [kTileVoxels].
  void Flag(const Tile& tile, uint8_t* flagged) const;

  // The same in a graph: bool, one channel.
  std::string AddToGraph(const GraphInput& in, OnnxBuilder* g) const;

  // With the numbers and statistics of every layer.
  Json ToJson() const;
  static Selector FromJson(const Json& json, int64_t num_classes, const std::string& where);

 private:
  SelectorShape shape_;
  std::vector<double> parameters_;
  SelectorStatistics statistics_;
  std::array<std::vector<float>, kHiddenLayers + 1> weights_;
  std::array<ChannelScale, kHiddenLayers> scales_;
};

}  // namespace segcal
