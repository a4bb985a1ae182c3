// SPDX-License-Identifier: Apache-2.0
#include "train/run/predictor.h"

#include <algorithm>
#include <vector>

#include "core/progress.h"

namespace segcal::train {
namespace {

// Logits (1, C, spatial...) of (1, channels, spatial...), whose sides are brought to whole strides
// of the network by repeating the border.
Tensor PredictWhole(const UNet& net, const UNetState& state, const Tensor& image) {
  std::vector<int64_t> widths;  // last axis first
  for (int64_t axis = image.dim() - 1; axis >= 2; --axis) {
    const int64_t over = image.size(axis) % net.stride();
    widths.push_back(0);
    widths.push_back(over == 0 ? 0 : net.stride() - over);
  }
  const Tensor padded = at::pad(image, widths, "replicate");
  Tensor logits = net.Forward(state, padded, UNet::Mode::kPredict);
  for (int64_t axis = 2; axis < image.dim(); ++axis)
    logits = logits.narrow(axis, 0, image.size(axis));
  return logits;
}

Tensor PredictMirrored(const UNet& net, const UNetState& state, const Tensor& image, bool mirror) {
  if (!mirror) return PredictWhole(net, state, image);
  const int64_t axes = image.dim() - 2;
  const int64_t views = int64_t{1} << axes;
  Tensor sum;
  for (int64_t view = 0; view < views; ++view) {
    std::vector<int64_t> flipped;
    for (int64_t axis = 0; axis < axes; ++axis) {
      if (((view >> axis) & 1) == 1) flipped.push_back(axis + 2);
    }
    const Tensor logits = PredictWhole(net, state, image.flip(flipped)).flip(flipped);
    sum = sum.defined() ? sum + logits : logits;
  }
  return sum / static_cast<double>(views);
}

// First voxels of tiles that cover an axis and overlap by half; the last one ends with it.
std::vector<int64_t> TileStarts(int64_t size, int64_t tile) {
  std::vector<int64_t> starts = {0};
  while (starts.back() + tile < size)
    starts.push_back(std::min(starts.back() + std::max<int64_t>(tile / 2, 1), size - tile));
  return starts;
}

// What a tile counts along an axis: most in the middle, where it has seen most around.
Tensor TileWeights(int64_t size) {
  const Tensor at = at::arange(size, at::kFloat);
  return at::minimum(at + 1.0, static_cast<double>(size) - at);
}

class Blend {
 public:
  Blend(const UNet& net,
        const UNetState& state,
        const Tensor& image,
        const PredictorOptions& options)
      : net_(net), state_(state), image_(image), options_(options) {
    std::vector<int64_t> shape = image.sizes().vec();
    shape[1] = net.options().classes;
    sum_ = at::zeros(shape);
    shape[1] = 1;
    weight_ = at::zeros(shape);
  }

  Tensor Run() {
    Visit(2, image_, sum_, weight_, at::ones({}));
    return sum_ / weight_;
  }

 private:
  // Cuts axis after axis; at the end all are views of one tile.
  void Visit(int64_t axis,
             const Tensor& image,
             const Tensor& sum,
             const Tensor& weight,
             const Tensor& counts) {
    if (axis == image_.dim()) {
      PollProgress();
      const Tensor logits = PredictMirrored(net_, state_, image, options_.mirror);
      Tensor(sum).add_(logits * counts);
      Tensor(weight).add_(counts);
      return;
    }
    const int64_t side = std::min(options_.tile, image_.size(axis));
    for (const int64_t first : TileStarts(image_.size(axis), side)) {
      const auto cut = [&](const Tensor& whole) { return whole.narrow(axis, first, side); };
      Visit(axis + 1, cut(image), cut(sum), cut(weight), counts.unsqueeze(-1) * TileWeights(side));
    }
  }

  const UNet& net_;
  const UNetState& state_;
  Tensor image_;
  PredictorOptions options_;
  Tensor sum_;
  Tensor weight_;
};

Tensor PredictPart(const UNet& net,
                   const UNetState& state,
                   const Tensor& image,
                   const PredictorOptions& options) {
  if (options.tile == 0) return PredictMirrored(net, state, image, options.mirror);
  return Blend(net, state, image, options).Run();
}

}  // namespace

Tensor PredictImage(const UNet& net,
                    const UNetState& state,
                    const ImageCase& image,
                    const PredictorOptions& options) {
  const at::NoGradGuard no_gradients;
  const Extent& e = image.extent;
  // The values are read only; from_blob takes no const.
  const Tensor all = torch::from_blob(const_cast<float*>(image.values.data()),
                                      {1, image.channels, e[0], e[1], e[2]});
  if (net.options().axes == 3) return PredictPart(net, state, all, options).squeeze(0);
  std::vector<Tensor> planes;
  for (int64_t z = 0; z < e[0]; ++z) {
    PollProgress();
    planes.push_back(PredictPart(net, state, all.select(2, z), options).squeeze(0));
  }
  return at::stack(planes, 1);
}

}  // namespace segcal::train
