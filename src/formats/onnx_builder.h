// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx.h"

namespace segcal {

// Adds nodes to a graph whose values are (N, channels, spatial...), and gives them names. Values
// are passed as their names.
class OnnxBuilder {
 public:
  // All names start with `prefix`, so that they do not meet those of another graph.
  OnnxBuilder(int64_t opset, int64_t spatial_axes, std::string prefix)
      : opset_(opset), spatial_axes_(spatial_axes), prefix_(std::move(prefix)) {}

  int64_t spatial_axes() const noexcept { return spatial_axes_; }
  OnnxGraph& graph() noexcept { return graph_; }

  // The first output of a new node.
  std::string Op(const char* op,
                 std::vector<std::string> inputs,
                 std::vector<OnnxAttribute> attributes = {});
  // All outputs of a new node with several.
  std::vector<std::string> Ops(const char* op,
                               int num_outputs,
                               std::vector<std::string> inputs,
                               std::vector<OnnxAttribute> attributes = {});

  std::string Constant(OnnxTensor tensor);
  std::string Scalar(double value);    // float32
  std::string Scalar64(double value);  // float64
  std::string Integer(int64_t value);  // int64
  std::string Integers(const std::vector<int64_t>& values);
  // (1, n, 1...): a number for every channel.
  std::string PerChannel(const std::vector<float>& values);
  std::string PerChannel(const std::vector<int32_t>& values);
  std::string PerChannel(const std::vector<int64_t>& values);

  std::string Cast(const std::string& x, OnnxType type);
  // Over the channels, which become one: "ReduceMax", "ReduceSum".
  std::string OverChannels(const char* reduce, const std::string& x);
  // The mean over the spatial axes, each of which becomes one.
  std::string OverSpace(const std::string& x);
  // The largest channel, int64, the lowest of equal ones: (N, 1, spatial...).
  std::string ArgMax(const std::string& x);
  std::string Softmax(const std::string& x) { return Op("Softmax", {x}, {{"axis", int64_t{1}}}); }
  std::string LogSoftmax(const std::string& x) {
    return Op("LogSoftmax", {x}, {{"axis", int64_t{1}}});
  }
  // Channels [begin, end).
  std::string Channels(const std::string& x, int64_t begin, int64_t end);
  // Rows of weights [rows][columns] times the channels of every voxel, and a bias per row.
  std::string Affine(const std::string& x,
                     int64_t rows,
                     const std::vector<float>& weights,
                     const std::vector<float>& bias);
  // log(1 + x), x >= 0, also where 1 + x rounds to 1.
  std::string LogOnePlus(const std::string& x);

 private:
  std::string Reduce(const char* reduce, const std::string& x, std::vector<int64_t> axes);
  std::vector<int64_t> ChannelShape(size_t channels) const;
  std::string NewName(const std::string& base);

  int64_t opset_;
  int64_t spatial_axes_;
  std::string prefix_;
  OnnxGraph graph_;
};

}  // namespace segcal
