// SPDX-License-Identifier: Apache-2.0
#include "train/net/unet.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/throw.h"

namespace segcal::train {
namespace {

constexpr double kMomentum = 0.1;

int64_t Product(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

void CheckOptions(const UNetOptions& options) {
  const auto check = [](const char* name, int64_t value, int64_t low, int64_t high) {
    if (value >= low && value <= high) return;
    Throw(ErrorCode::kInvalidArgument, "{} {}: {} to {} is required", name, value, low, high);
  };
  check("network axes", options.axes, 2, 3);
  check("network width", options.width, 1, 1024);
  check("network depth", options.depth, 1, 8);
}

// The maps as operations on tensors; takes the numbers of each layer in turn.
class TensorMaps {
 public:
  TensorMaps(const UNet& net, const UNetState& state, UNet::Mode mode)
      : net_(net),
        mode_(mode),
        // One operation for all layers: its gradient is put together once.
        parts_(state.weights.split_with_sizes(net.sizes())),
        statistics_(state.statistics) {}

  Tensor Normalised(const Tensor& x) {
    const Tensor y = Convolve(x, 1, 1, false);
    const int64_t channels = layer().out;
    const Tensor& affine = parts_[2 * at_ + 1];
    Tensor mean = statistics_.narrow(0, counted_, channels);
    Tensor variance = statistics_.narrow(0, counted_ + channels, channels);
    counted_ += 2 * channels;
    ++at_;
    return at::batch_norm(y,
                          affine.narrow(0, 0, channels),
                          affine.narrow(0, channels, channels),
                          mean,
                          variance,
                          mode_ == UNet::Mode::kTrain,
                          kMomentum,
                          UNet::kEpsilon,
                          false)
        .relu();
  }
  Tensor Up(const Tensor& x) { return Convolve(x, 2, 0, true); }
  Tensor Last(const Tensor& x) { return Convolve(x, 1, 0, false); }
  Tensor Down(const Tensor& x) const {
    return net_.options().axes == 2 ? at::max_pool2d(x, {2, 2}) : at::max_pool3d(x, {2, 2, 2});
  }
  Tensor Join(const Tensor& skipped, const Tensor& x) const { return at::cat({skipped, x}, 1); }

 private:
  std::vector<int64_t> Axes(int64_t value) const {
    return std::vector<int64_t>(static_cast<size_t>(net_.options().axes), value);
  }
  const UNetLayer& layer() const { return net_.layers()[at_]; }

  Tensor Convolve(const Tensor& x, int64_t stride, int64_t padding, bool transposed) {
    const bool biased = layer().kind != UNetLayer::Kind::kConvolution;
    const c10::optional<Tensor> bias =
        biased ? c10::make_optional(parts_[2 * at_ + 1]) : c10::nullopt;
    Tensor y = at::convolution(x,
                               parts_[2 * at_].view(layer().shape),
                               bias,
                               Axes(stride),
                               Axes(padding),
                               Axes(1),
                               transposed,
                               Axes(0),
                               1);
    if (biased) ++at_;
    return y;
  }

  const UNet& net_;
  UNet::Mode mode_;
  std::vector<Tensor> parts_;
  Tensor statistics_;
  size_t at_ = 0;
  int64_t counted_ = 0;
};

}  // namespace

UNet::UNet(const UNetOptions& options) : options_(options) {
  CheckOptions(options_);
  int64_t in = options_.channels;
  for (int64_t level = 0; level < options_.depth; ++level) {
    const int64_t out = LevelChannels(level);
    AddLayer({.in = in, .out = out, .level = level});
    AddLayer({.in = out, .out = out, .level = level});
    in = out;
  }
  for (int64_t level = options_.depth - 2; level >= 0; --level) {
    const int64_t out = LevelChannels(level);
    AddLayer({.kind = UNetLayer::Kind::kUp, .in = 2 * out, .out = out, .level = level});
    AddLayer({.in = 2 * out, .out = out, .level = level});
    AddLayer({.in = out, .out = out, .level = level});
  }
  AddLayer({.kind = UNetLayer::Kind::kLast, .in = options_.width, .out = options_.classes});
}

void UNet::AddLayer(UNetLayer layer) {
  const bool up = layer.kind == UNetLayer::Kind::kUp;
  const int64_t side = layer.kind == UNetLayer::Kind::kConvolution ? 3 : (up ? 2 : 1);
  // Transposed convolutions have the input's channels first.
  layer.shape = up ? std::vector{layer.in, layer.out} : std::vector{layer.out, layer.in};
  layer.shape.insert(layer.shape.end(), static_cast<size_t>(options_.axes), side);
  const bool normalised = layer.kind == UNetLayer::Kind::kConvolution;
  sizes_.push_back(Product(layer.shape));
  sizes_.push_back(normalised ? 2 * layer.out : layer.out);  // scale and offset, or a bias
  num_weights_ += sizes_[sizes_.size() - 2] + sizes_.back();
  if (normalised) num_statistics_ += 2 * layer.out;
  layers_.push_back(std::move(layer));
}

UNetState UNet::Initialise(const Rng& rng) const {
  UNetState state{.weights = at::zeros({num_weights_}), .statistics = at::zeros({num_statistics_})};
  auto* weights = state.weights.data_ptr<float>();
  auto* statistics = state.statistics.data_ptr<float>();
  Rng draws = rng;
  for (const UNetLayer& layer : layers_) {
    const int64_t count = Product(layer.shape);
    // Every output of a transposed convolution has one tap per input channel.
    const int64_t fan_in = layer.kind == UNetLayer::Kind::kUp ? layer.in : count / layer.out;
    const double spread = std::sqrt(2.0 / static_cast<double>(fan_in));
    for (int64_t i = 0; i < count; ++i) *weights++ = static_cast<float>(spread * draws.Normal());
    const bool normalised = layer.kind == UNetLayer::Kind::kConvolution;
    if (normalised) std::fill_n(weights, layer.out, 1.0f);  // scales; offsets are 0
    weights += normalised ? 2 * layer.out : layer.out;
    if (!normalised) continue;
    std::fill_n(statistics + layer.out, layer.out, 1.0f);  // variances; means are 0
    statistics += 2 * layer.out;
  }
  return state;
}

Tensor UNet::Forward(const UNetState& state, const Tensor& images, Mode mode) const {
  TensorMaps maps(*this, state, mode);
  return Walk(&maps, images);
}

// Every convolution keeps its result, its normalised result and a mask or copy of it, and as much
// again for gradients passes through; inputs of up-sampled levels are joined, which is a copy more.
double UNet::BytesPerVoxel() const noexcept {
  double values = static_cast<double>(options_.channels + 4 * options_.classes);
  for (const UNetLayer& layer : layers_) {
    const double share = std::pow(0.5, static_cast<double>(options_.axes * layer.level));
    values += 4.0 * share * static_cast<double>(layer.out);
  }
  return values * sizeof(float);
}

}  // namespace segcal::train
