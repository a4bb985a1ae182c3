// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/protobuf.h"

namespace segcal {

// A graph of the Open Neural Network Exchange as plain structs, and as the bytes of its file.
// Values that flow between nodes are known by name.

enum class OnnxType {
  kFloat32 = 1,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11
};
const char* Name(OnnxType type) noexcept;  // "float32"

struct OnnxTensor {
  std::string name;
  OnnxType type = OnnxType::kFloat32;
  std::vector<int64_t> dims;  // none: a single number
  std::string raw;            // the elements, little endian
};
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<float>& values);
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<double>& values);
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<int32_t>& values);
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<int64_t>& values);

struct OnnxAttribute {
  std::string name;
  std::variant<int64_t, std::vector<int64_t>> value;
};

struct OnnxNode {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;
};

// A size, or the name of one that is known when the graph runs.
using OnnxDim = std::variant<int64_t, std::string>;

struct OnnxValue {
  std::string name;
  OnnxType type = OnnxType::kFloat32;
  std::vector<OnnxDim> shape;
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<OnnxTensor> constants;
  std::vector<OnnxNode> nodes;  // each after those it depends on
};

using OnnxMetadata = std::vector<std::pair<std::string, std::string>>;

struct OnnxModel {
  int64_t opset = 0;
  std::string producer;
  std::string version;  // of the producer
  OnnxGraph graph;
  OnnxMetadata metadata;
};

// Versions of the operators that graphs of ours can be written in; the meaning of those we use is
// the same in all of them, but for where reductions have their axes.
inline constexpr int64_t kLowestOpset = 13;
inline constexpr int64_t kHighestOpset = 28;

// Fields of a ModelProto and a GraphProto.
struct OnnxFields {
  enum Model {
    kIrVersion = 1,
    kProducer = 2,
    kProducerVersion = 3,
    kGraph = 7,
    kOpset = 8,
    kMetadata = 14
  };
  enum Graph { kNode = 1, kGraphName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
};

// Adds nodes, constants, inputs and outputs as fields of a graph.
void WriteGraphParts(const OnnxGraph& graph, ProtoWriter* out);
void WriteMetadata(const OnnxMetadata& metadata, ProtoWriter* out);

// The bytes of the file.
std::string WriteOnnx(const OnnxModel& model);

}  // namespace segcal
