// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx_builder.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace segcal {
namespace {

// From this version on, "ReduceMax" and "ReduceMean" have their axes as an input, as "ReduceSum"
// always had.
constexpr int64_t kAxesAreInputs = 18;

}  // namespace

std::string OnnxBuilder::NewName(const std::string& base) {
  std::string name = prefix_ + base;
  std::transform(name.begin() + static_cast<ptrdiff_t>(prefix_.size()),
                 name.end(),
                 name.begin() + static_cast<ptrdiff_t>(prefix_.size()),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name + "_" + std::to_string(graph_.nodes.size() + graph_.constants.size());
}

std::vector<std::string> OnnxBuilder::Ops(const char* op,
                                          int num_outputs,
                                          std::vector<std::string> inputs,
                                          std::vector<OnnxAttribute> attributes) {
  OnnxNode node{.op = op,
                .inputs = std::move(inputs),
                .outputs = {NewName(op)},
                .attributes = std::move(attributes)};
  for (int k = 1; k < num_outputs; ++k)
    node.outputs.push_back(node.outputs.front() + "_" + std::to_string(k));
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

std::string OnnxBuilder::Op(const char* op,
                            std::vector<std::string> inputs,
                            std::vector<OnnxAttribute> attributes) {
  return Ops(op, 1, std::move(inputs), std::move(attributes)).front();
}

std::string OnnxBuilder::Constant(OnnxTensor tensor) {
  tensor.name = NewName("constant");
  graph_.constants.push_back(std::move(tensor));
  return graph_.constants.back().name;
}

std::string OnnxBuilder::Scalar(double value) {
  return Constant(MakeTensor({}, std::vector<float>{static_cast<float>(value)}));
}
std::string OnnxBuilder::Scalar64(double value) {
  return Constant(MakeTensor({}, std::vector<double>{value}));
}
std::string OnnxBuilder::Integer(int64_t value) {
  return Constant(MakeTensor({}, std::vector<int64_t>{value}));
}
std::string OnnxBuilder::Integers(const std::vector<int64_t>& values) {
  return Constant(MakeTensor({static_cast<int64_t>(values.size())}, values));
}

std::vector<int64_t> OnnxBuilder::ChannelShape(size_t channels) const {
  std::vector<int64_t> shape(static_cast<size_t>(spatial_axes_ + 2), 1);
  shape[1] = static_cast<int64_t>(channels);
  return shape;
}
std::string OnnxBuilder::PerChannel(const std::vector<float>& values) {
  return Constant(MakeTensor(ChannelShape(values.size()), values));
}
std::string OnnxBuilder::PerChannel(const std::vector<int32_t>& values) {
  return Constant(MakeTensor(ChannelShape(values.size()), values));
}
std::string OnnxBuilder::PerChannel(const std::vector<int64_t>& values) {
  return Constant(MakeTensor(ChannelShape(values.size()), values));
}

std::string OnnxBuilder::Cast(const std::string& x, OnnxType type) {
  return Op("Cast", {x}, {{"to", static_cast<int64_t>(type)}});
}

std::string OnnxBuilder::Reduce(const char* reduce,
                                const std::string& x,
                                std::vector<int64_t> axes) {
  if (opset_ >= kAxesAreInputs || std::string(reduce) == "ReduceSum")
    return Op(reduce, {x, Integers(axes)}, {{"keepdims", int64_t{1}}});
  return Op(reduce, {x}, {{"axes", std::move(axes)}, {"keepdims", int64_t{1}}});
}
std::string OnnxBuilder::OverChannels(const char* reduce, const std::string& x) {
  return Reduce(reduce, x, {1});
}
std::string OnnxBuilder::OverSpace(const std::string& x) {
  std::vector<int64_t> axes(static_cast<size_t>(spatial_axes_));
  std::iota(axes.begin(), axes.end(), 2);
  return Reduce("ReduceMean", x, std::move(axes));
}

std::string OnnxBuilder::ArgMax(const std::string& x) {
  return Op("ArgMax", {x}, {{"axis", int64_t{1}}, {"keepdims", int64_t{1}}});
}

std::string OnnxBuilder::Channels(const std::string& x, int64_t begin, int64_t end) {
  return Op("Slice", {x, Integers({begin}), Integers({end}), Integers({1})});
}

// A convolution whose window is one voxel.
std::string OnnxBuilder::Affine(const std::string& x,
                                int64_t rows,
                                const std::vector<float>& weights,
                                const std::vector<float>& bias) {
  std::vector<int64_t> shape = ChannelShape(weights.size() / static_cast<size_t>(rows));
  shape[0] = rows;
  return Op(
      "Conv",
      {x, Constant(MakeTensor(std::move(shape), weights)), Constant(MakeTensor({rows}, bias))});
}

// log(s) x / (s - 1) with s = 1 + x rounded: what is wrong with s is the same in both.
std::string OnnxBuilder::LogOnePlus(const std::string& x) {
  const std::string one = Scalar(1.0);
  const std::string sum = Op("Add", {x, one});
  const std::string seen = Op("Sub", {sum, one});
  const std::string scaled = Op("Mul", {Op("Log", {sum}), Op("Div", {x, seen})});
  return Op("Where", {Op("Greater", {seen, Scalar(0.0)}), scaled, x});
}

}  // namespace segcal
