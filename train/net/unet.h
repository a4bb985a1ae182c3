// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/rng.h"

namespace segcal::train {

using at::Tensor;

// The shape of a network.
struct UNetOptions {
  int64_t axes = 2;      // 2: planes, 3: volumes
  int64_t channels = 1;  // of the image
  int64_t classes = 2;
  int64_t width = 16;  // channels of the first level; each further one has twice as many
  int64_t depth = 4;   // levels; each halves the resolution

  bool operator==(const UNetOptions&) const = default;
};

// The numbers of a network: what is learned, and what is counted along (means and variances of the
// normalisations), each as one vector.
struct UNetState {
  Tensor weights;
  Tensor statistics;
};

// One map of a network, with the shape of its weights.
struct UNetLayer {
  enum class Kind { kConvolution, kUp, kLast } kind = Kind::kConvolution;
  int64_t in = 1;
  int64_t out = 1;
  int64_t level = 0;
  std::vector<int64_t> shape = {};
};

// An encoder and a decoder with skip connections [Ronneberger15]: two convolutions of 3 x 3 (x 3)
// with batch normalisation [Ioffe15] and ReLU per level, maximum pooling on the way down,
// transposed convolutions on the way up, and a linear map to the classes. The network itself holds
// no numbers.
class UNet {
 public:
  // Added to the variances of a normalisation.
  static constexpr double kEpsilon = 1e-5;

  explicit UNet(const UNetOptions& options);

  const UNetOptions& options() const noexcept { return options_; }
  int64_t num_weights() const noexcept { return num_weights_; }
  int64_t num_statistics() const noexcept { return num_statistics_; }
  // What the size of every axis of an input must be a multiple of.
  int64_t stride() const noexcept { return int64_t{1} << (options_.depth - 1); }

  // Weights of variance 2 / fan-in [He15], drawn from the generator alone.
  UNetState Initialise(const Rng& rng) const;

  enum class Mode { kTrain, kPredict };
  // Logits (N, C, spatial...) of images (N, channels, spatial...). In training, normalises by the
  // batch and updates the statistics; else by the statistics.
  Tensor Forward(const UNetState& state, const Tensor& images, Mode mode) const;

  // The maps in the order in which a walk meets them. In the weights, each has the part
  // `sizes()[2 * i]` and after it, of `sizes()[2 * i + 1]` numbers, a scale and an offset per
  // channel where it is normalised (kConvolution), else a bias. In the statistics, each normalised
  // map has means, then variances.
  const std::vector<UNetLayer>& layers() const noexcept { return layers_; }
  const std::vector<int64_t>& sizes() const noexcept { return sizes_; }

  // The way of x through the network, in the maps of whoever walks: tensors, nodes of a graph.
  template <class Maps, class Value>
  Value Walk(Maps* maps, Value x) const {
    const auto block = [&](const Value& y) { return maps->Normalised(maps->Normalised(y)); };
    std::vector<Value> skips;
    x = block(x);
    for (int64_t level = 1; level < options_.depth; ++level) {
      skips.push_back(x);
      x = block(maps->Down(x));
    }
    while (!skips.empty()) {
      x = block(maps->Join(skips.back(), maps->Up(x)));
      skips.pop_back();
    }
    return maps->Last(x);
  }

  // An estimate of the memory that a training step takes per voxel of the input, in bytes.
  double BytesPerVoxel() const noexcept;

 private:
  void AddLayer(UNetLayer layer);
  int64_t LevelChannels(int64_t level) const noexcept { return options_.width << level; }

  UNetOptions options_;
  std::vector<UNetLayer> layers_;
  std::vector<int64_t> sizes_;
  int64_t num_weights_ = 0;
  int64_t num_statistics_ = 0;
};

}  // namespace segcal::train
