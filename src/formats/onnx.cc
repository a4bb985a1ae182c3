// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx.h"

#include "formats/bytes.h"

namespace segcal {
namespace {

// Version of the file format that came with a version of the operators.
int64_t IrVersion(int64_t opset) {
  if (opset <= 14) return 7;
  if (opset <= 18) return 8;
  if (opset <= 20) return 9;
  if (opset <= 22) return 10;
  if (opset <= 23) return 11;
  if (opset <= 24) return 12;
  return opset <= 27 ? 13 : 14;
}

template <class T>
OnnxTensor PackTensor(OnnxType type, std::vector<int64_t> dims, const std::vector<T>& values) {
  Bytes bytes;
  bytes.reserve(values.size() * sizeof(T));
  for (const T value : values) AppendLittle(&bytes, value);
  return {.name = {},
          .type = type,
          .dims = std::move(dims),
          .raw = {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
}

ProtoWriter TensorMessage(const OnnxTensor& tensor) {
  ProtoWriter out;
  out.Integers(1, tensor.dims);
  out.Integer(2, static_cast<int64_t>(tensor.type));
  out.Text(8, tensor.name);
  out.Text(9, tensor.raw);
  return out;
}

// The number in field 20 says which of the fields holds the value.
ProtoWriter AttributeMessage(const OnnxAttribute& attribute) {
  ProtoWriter out;
  out.Text(1, attribute.name);
  if (const auto* one = std::get_if<int64_t>(&attribute.value)) {
    out.Integer(3, *one);
    out.Integer(20, 2);
  } else {
    out.Integers(8, std::get<std::vector<int64_t>>(attribute.value));
    out.Integer(20, 7);
  }
  return out;
}

// A node has the name of its first output.
ProtoWriter NodeMessage(const OnnxNode& node) {
  ProtoWriter out;
  for (const std::string& input : node.inputs) out.Text(1, input);
  for (const std::string& output : node.outputs) out.Text(2, output);
  out.Text(3, node.outputs.front());
  out.Text(4, node.op);
  for (const OnnxAttribute& attribute : node.attributes)
    out.Message(5, AttributeMessage(attribute));
  return out;
}

ProtoWriter ValueMessage(const OnnxValue& value) {
  ProtoWriter shape;
  for (const OnnxDim& dim : value.shape) {
    ProtoWriter size;
    if (const auto* fixed = std::get_if<int64_t>(&dim)) size.Integer(1, *fixed);
    if (const auto* name = std::get_if<std::string>(&dim)) size.Text(2, *name);
    shape.Message(1, size);
  }
  ProtoWriter tensor;
  tensor.Integer(1, static_cast<int64_t>(value.type));
  tensor.Message(2, shape);
  ProtoWriter type;
  type.Message(1, tensor);
  ProtoWriter out;
  out.Text(1, value.name);
  out.Message(2, type);
  return out;
}

}  // namespace

const char* Name(OnnxType type) noexcept {
  switch (type) {
    case OnnxType::kFloat32:
      return "float32";
    case OnnxType::kInt32:
      return "int32";
    case OnnxType::kInt64:
      return "int64";
    case OnnxType::kBool:
      return "bool";
    case OnnxType::kFloat16:
      return "float16";
    case OnnxType::kFloat64:
      return "float64";
  }
  return "?";
}

OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<float>& values) {
  return PackTensor(OnnxType::kFloat32, std::move(dims), values);
}
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<double>& values) {
  return PackTensor(OnnxType::kFloat64, std::move(dims), values);
}
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<int32_t>& values) {
  return PackTensor(OnnxType::kInt32, std::move(dims), values);
}
OnnxTensor MakeTensor(std::vector<int64_t> dims, const std::vector<int64_t>& values) {
  return PackTensor(OnnxType::kInt64, std::move(dims), values);
}

void WriteGraphParts(const OnnxGraph& graph, ProtoWriter* out) {
  for (const OnnxNode& node : graph.nodes) out->Message(OnnxFields::kNode, NodeMessage(node));
  for (const OnnxTensor& tensor : graph.constants)
    out->Message(OnnxFields::kInitializer, TensorMessage(tensor));
  for (const OnnxValue& input : graph.inputs) out->Message(OnnxFields::kInput, ValueMessage(input));
  for (const OnnxValue& output : graph.outputs)
    out->Message(OnnxFields::kOutput, ValueMessage(output));
}

void WriteMetadata(const OnnxMetadata& metadata, ProtoWriter* out) {
  for (const auto& [key, value] : metadata) {
    ProtoWriter entry;
    entry.Text(1, key);
    entry.Text(2, value);
    out->Message(OnnxFields::kMetadata, entry);
  }
}

std::string WriteOnnx(const OnnxModel& model) {
  ProtoWriter graph;
  graph.Text(OnnxFields::kGraphName, model.graph.name);
  WriteGraphParts(model.graph, &graph);
  ProtoWriter opset;
  opset.Text(1, "");
  opset.Integer(2, model.opset);
  ProtoWriter out;
  out.Integer(OnnxFields::kIrVersion, IrVersion(model.opset));
  out.Text(OnnxFields::kProducer, model.producer);
  out.Text(OnnxFields::kProducerVersion, model.version);
  out.Message(OnnxFields::kGraph, graph);
  out.Message(OnnxFields::kOpset, opset);
  WriteMetadata(model.metadata, &out);
  return out.Take();
}

}  // namespace segcal
