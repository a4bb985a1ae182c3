// SPDX-License-Identifier: Apache-2.0
#include "train/net/unet_graph.h"

#include <utility>

namespace segcal::train {
namespace {

// The maps as nodes; takes the numbers of each layer in turn.
class NodeMaps {
 public:
  NodeMaps(const UNet& net, const UNetState& state, OnnxBuilder* g)
      : net_(net),
        state_(state),
        // Axes that windows do not extend over: planes of a volume.
        single_(static_cast<size_t>(g->spatial_axes() - net.options().axes)),
        g_(g) {}

  std::string Normalised(const std::string& x) {
    std::vector<int64_t> pads = Axes(0, 1);
    const std::vector<int64_t> ends = pads;
    pads.insert(pads.end(), ends.begin(), ends.end());
    const std::string y = g_->Op("Conv", {x, Weights()}, {{"pads", std::move(pads)}});
    const int64_t channels = net_.layers()[at_++].out;
    const std::string scale = Take(state_.weights, &weight_, {channels});
    const std::string offset = Take(state_.weights, &weight_, {channels});
    const std::string mean = Take(state_.statistics, &statistic_, {channels});
    const std::string variance = Take(state_.statistics, &statistic_, {channels});
    static_assert(UNet::kEpsilon == 1e-5, "what a node has unless told otherwise");
    return g_->Op("Relu", {g_->Op("BatchNormalization", {y, scale, offset, mean, variance})});
  }
  std::string Up(const std::string& x) {
    const std::string weights = Weights();
    return g_->Op("ConvTranspose", {x, weights, Bias()}, {{"strides", Axes(1, 2)}});
  }
  std::string Last(const std::string& x) {
    const std::string weights = Weights();
    return g_->Op("Conv", {x, weights, Bias()});
  }
  std::string Down(const std::string& x) {
    return g_->Op("MaxPool", {x}, {{"kernel_shape", Axes(1, 2)}, {"strides", Axes(1, 2)}});
  }
  std::string Join(const std::string& skipped, const std::string& x) {
    return g_->Op("Concat", {skipped, x}, {{"axis", int64_t{1}}});
  }

 private:
  std::vector<int64_t> Axes(int64_t of_single, int64_t of_others) const {
    std::vector<int64_t> axes(single_, of_single);
    axes.insert(axes.end(), static_cast<size_t>(net_.options().axes), of_others);
    return axes;
  }

  // The next numbers of a vector.
  std::string Take(const Tensor& vector, int64_t* at, std::vector<int64_t> shape) {
    int64_t count = 1;
    for (const int64_t size : shape) count *= size;
    const auto* values = vector.data_ptr<float>() + *at;
    *at += count;
    return g_->Constant(MakeTensor(std::move(shape), std::vector<float>(values, values + count)));
  }
  std::string Weights() {
    std::vector<int64_t> shape = net_.layers()[at_].shape;
    shape.insert(shape.begin() + 2, single_, 1);
    return Take(state_.weights, &weight_, std::move(shape));
  }
  std::string Bias() { return Take(state_.weights, &weight_, {net_.layers()[at_++].out}); }

  const UNet& net_;
  const UNetState& state_;
  size_t single_;
  OnnxBuilder* g_;
  size_t at_ = 0;
  int64_t weight_ = 0;
  int64_t statistic_ = 0;
};

}  // namespace

std::string AddUNet(const UNet& net, const UNetState& state, std::string x, OnnxBuilder* g) {
  NodeMaps maps(net, state, g);
  return net.Walk(&maps, std::move(x));
}

}  // namespace segcal::train
