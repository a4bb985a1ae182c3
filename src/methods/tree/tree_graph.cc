// SPDX-License-Identifier: Apache-2.0
#include "methods/shared/graph.h"
#include "methods/tree/tree_calibrator.h"

namespace segcal {
namespace {

// Indices of a side of n voxels with its halo, as ReflectedIndex has them: n is known when the
// graph runs.
std::string AddHaloIndices(const std::string& x, int64_t axis, OnnxBuilder* g) {
  const std::string size = g->Op("Gather", {g->Op("Shape", {x}), g->Integer(axis)});
  const std::string zero = g->Integer(0);
  const std::string last = g->Op("Sub", {size, g->Integer(1)});
  const std::string at =
      g->Op("Range",
            {g->Integer(-kTreeHalo), g->Op("Add", {size, g->Integer(kTreeHalo)}), g->Integer(1)});
  const std::string repeated = g->Op("Min", {g->Op("Max", {at, zero}), last});
  const std::string from_last = g->Op("Abs", {g->Op("Sub", {last, g->Op("Abs", {at})})});
  const std::string is_short = g->Op("Less", {last, g->Integer(kTreeHalo)});
  return g->Op("Where", {is_short, repeated, g->Op("Sub", {last, from_last})});
}

// Planes with their halo: the last two axes.
std::string AddHalo(std::string x, OnnxBuilder* g) {
  const int64_t axes = g->spatial_axes() + 2;
  for (const int64_t axis : {axes - 2, axes - 1})
    x = g->Op("Gather", {x, AddHaloIndices(x, axis, g)}, {{"axis", axis}});
  return x;
}

// Responses (LT1) of filters with 25 `channels` weights and a bias each, one after the other.
std::string AddFilters(const std::string& x,
                       int64_t channels,
                       std::span<const double> parameters,
                       OnnxBuilder* g) {
  const auto size = static_cast<size_t>(kTreeTaps * channels);
  std::vector<float> weights;
  std::vector<float> bias;
  for (size_t at = 0; at < parameters.size(); at += size + 1) {
    for (size_t i = 0; i < size; ++i) weights.push_back(static_cast<float>(parameters[at + i]));
    bias.push_back(static_cast<float>(parameters[at + size]));
  }
  const auto filters = static_cast<int64_t>(bias.size());
  // Planes along the first of three axes do not see each other.
  const bool stack = g->spatial_axes() == 3;
  std::vector<int64_t> shape = {filters, channels};
  if (stack) shape.push_back(1);
  shape.insert(shape.end(), {5, 5});
  const std::vector<int64_t> two = {2, 2};
  const std::vector<int64_t> one_two = {1, 2, 2};
  return g->Op("Conv",
               {AddHalo(x, g),
                g->Constant(MakeTensor(shape, weights)),
                g->Constant(MakeTensor({filters}, bias))},
               {{"dilations", stack ? one_two : two}});
}

// Each channel at mean 0 and variance 1, constant ones 0, as CaseImage has them. Counted from its
// first voxel, so that a constant channel has a variance of exactly 0.
std::string AddStandardImage(std::string image, OnnxBuilder* g) {
  std::string first = image;
  for (int64_t axis = 2; axis < g->spatial_axes() + 2; ++axis)
    first = g->Op("Gather", {first, g->Integers({0})}, {{"axis", axis}});
  image = g->Op("Sub", {image, first});
  const std::string gap = g->Op("Sub", {image, g->OverSpace(image)});
  const std::string variance = g->OverSpace(g->Op("Mul", {gap, gap}));
  const std::string zero = g->Scalar(0.0);
  const std::string scaled = g->Op("Div", {gap, g->Op("Sqrt", {variance})});
  return g->Op("Where", {g->Op("Greater", {variance, zero}), scaled, zero});
}

// first where the gate is open, second where it is closed.
std::string AddMix(const std::string& gate,
                   const std::string& first,
                   const std::string& second,
                   OnnxBuilder* g) {
  const std::string open = g->Op("Sigmoid", {gate});
  return g->Op("Add", {g->Op("Mul", {open, g->Op("Sub", {first, second})}), second});
}

// max(x, 0) + log(1 + exp(-|x|))
std::string AddSoftplus(const std::string& x, OnnxBuilder* g) {
  const std::string decay = g->Op("Exp", {g->Op("Neg", {g->Op("Abs", {x})})});
  return g->Op("Add", {g->Op("Max", {x, g->Scalar(0.0)}), g->LogOnePlus(decay)});
}

// Temperatures (LT3), or with an image leaf (LT4), one channel.
std::string AddTemperatures(const std::string& responses,
                            const std::string& image_leaf,
                            OnnxBuilder* g) {
  const auto filter = [&](int64_t k) { return g->Channels(responses, k, k + 1); };
  const std::string left = AddMix(filter(4), filter(0), filter(1), g);
  const std::string right = AddMix(filter(5), filter(2), filter(3), g);
  const std::string both = AddMix(filter(6), left, right, g);
  const std::string least = g->Scalar(kMinTemperature);
  if (image_leaf.empty()) {
    const std::string shifted = g->Op("Add", {both, g->Scalar(0.54132485461291807)});  // log(e - 1)
    return g->Op("Max", {AddSoftplus(shifted, g), least});
  }
  const std::string top = AddMix(filter(7), image_leaf, both, g);
  const std::string root = g->Op("Add", {top, g->Scalar(1.0)});
  return g->Op("Add", {g->Op("Max", {root, g->Scalar(0.0)}), least});
}

}  // namespace

std::string TreeCalibrator::AddToGraph(const GraphInput& in, OnnxBuilder* g) const {
  if (shape_.classes == 0) return g->Softmax(in.logits);
  std::string scores = g->LogSoftmax(in.logits);
  if (variant_.scores == ScoreKind::kRaw) {
    scores = g->Op(
        "Clip",
        {g->Op("Add", {in.logits, in.offset}), g->Scalar(-kScoreLimit), g->Scalar(kScoreLimit)});
  }
  const auto own = static_cast<size_t>(shape_.score_filters() * (kTreeTaps * shape_.classes + 1));
  const std::span<const double> weights(weights_);
  const std::string responses = AddFilters(scores, shape_.classes, weights.first(own), g);
  std::string image_leaf;
  if (shape_.has_image()) {
    const std::string image = AddStandardImage(GraphImage(in, shape_.image_channels, g), g);
    image_leaf = AddFilters(image, shape_.image_channels, weights.subspan(own), g);
  }
  std::string temperature = AddTemperatures(responses, image_leaf, g);
  if (variant_.whole_case) temperature = g->OverSpace(temperature);
  return g->Softmax(g->Op("Div", {in.logits, temperature}));
}

}  // namespace segcal
