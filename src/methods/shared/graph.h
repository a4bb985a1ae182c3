// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/onnx_builder.h"

namespace segcal {

// What a calibrator sees of a pooled prediction inside an ONNX graph: as in a Tile, names of values
// (N, C, spatial...).
struct GraphInput {
  int64_t num_classes = 0;
  std::vector<OnnxDim> shape;  // of a member
  std::string logits;          // float32: z - max z, not below the floor
  std::string offset;          // float32, one channel: max z
  std::string decision;        // int64, one channel
  std::string image;  // float32 (N, channels, spatial...); empty: the graph gets an input for it
};

// The input image of a graph: the given one, or a new input named "image".
std::string GraphImage(const GraphInput& in, int64_t channels, OnnxBuilder* g);

// Which channel is the decision: bool (N, C, spatial...).
std::string IsDecision(const std::string& decision, int64_t num_classes, OnnxBuilder* g);

// The winner rule (kernels/emit.h): the decision's probability is at least m (1 + 2^-23), m the
// largest of the others.
std::string KeepWinnerInGraph(const std::string& probs,
                              const std::string& decision,
                              int64_t num_classes,
                              OnnxBuilder* g);

// q = mapped / its sum over the classes; where that is 0, probs (IR5).
std::string RenormaliseInGraph(const std::string& mapped, const std::string& probs, OnnxBuilder* g);

// Ascending keys, one list for each class or one for all, and how a value is looked up in them.
struct GraphTable {
  std::vector<std::vector<float>> keys;
  bool count_equal = false;  // count keys <= x, else keys < x
};

// Binary search in a graph. Lists lie one after the other, `stride` numbers each.
class GraphSearch {
 public:
  // How many keys of its class are below x (N, C, spatial...).
  GraphSearch(const GraphTable& table, const std::string& x, OnnxBuilder* g);

  // numbers[class][k] of the last key that was counted, or the first one where none was.
  std::string AtLastBelow(const std::vector<std::vector<float>>& numbers);
  // numbers[class][k] of the first key that was not counted, or the last one where all were.
  std::string AtFirstAbove(const std::vector<std::vector<float>>& numbers);

 private:
  std::vector<int32_t> Firsts(int32_t ahead) const;
  std::string Lookup(const std::vector<std::vector<float>>& numbers, const std::string& at);

  OnnxBuilder* g_;
  size_t stride_ = 1;
  std::vector<size_t> sizes_;
  std::string count_;  // int32, the first number of the class added
};

}  // namespace segcal
