// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx_reader.h"

#include "core/throw.h"

namespace segcal {
namespace {

// Graphs inside graphs, for loops and branches.
constexpr int kMaxGraphDepth = 32;

// Calls use(field) for every field of a message.
template <class Use>
void ForEachField(ProtoReader reader, const Use& use) {
  ProtoField field;
  while (reader.Next(&field)) use(reader, field);
}

OnnxDim ReadDim(ProtoReader message) {
  OnnxDim dim = std::string("?");
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 1) dim = reader.Integer(field);
    if (field.number == 2) dim = std::string(reader.Text(field));
  });
  return dim;
}

std::vector<OnnxDim> ReadShape(ProtoReader message) {
  std::vector<OnnxDim> shape;
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 1) shape.push_back(ReadDim(reader.Message(field, "dim")));
  });
  return shape;
}

void ReadType(ProtoReader message, OnnxPort* port) {
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number != 1) return;  // not a tensor
    ForEachField(reader.Message(field, "tensor_type"),
                 [&](const ProtoReader& inner, const ProtoField& part) {
                   if (part.number == 1) port->type = inner.Integer(part);
                   if (part.number == 2) port->shape = ReadShape(inner.Message(part, "shape"));
                 });
  });
}

OnnxPort ReadPort(ProtoReader message) {
  OnnxPort port;
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 1) port.name = reader.Text(field);
    if (field.number == 2) ReadType(reader.Message(field, "type"), &port);
  });
  return port;
}

// The name of a tensor, and whether its elements are elsewhere.
void ReadTensor(ProtoReader message, OnnxOutline* outline) {
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 8) outline->names.emplace(reader.Text(field));
    if (field.number == 13 || (field.number == 14 && reader.Integer(field) == 1))
      outline->external_data = true;
  });
}

void ReadGraph(const ProtoReader& message, int depth, OnnxOutline* outline);

// Tensors and graphs that a node keeps.
void ReadAttribute(ProtoReader message, int depth, OnnxOutline* outline) {
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 5 || field.number == 10)
      ReadTensor(reader.Message(field, "tensor"), outline);
    if (field.number == 6 || field.number == 11)
      ReadGraph(reader.Message(field, "graph"), depth + 1, outline);
  });
}

void ReadNode(ProtoReader message, int depth, OnnxOutline* outline) {
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 2) outline->names.emplace(reader.Text(field));
    if (field.number == 5) ReadAttribute(reader.Message(field, "attribute"), depth, outline);
  });
}

void ReadGraph(const ProtoReader& message, int depth, OnnxOutline* outline) {
  if (depth > kMaxGraphDepth)
    Throw(ErrorCode::kBadData,
          "{}: graphs inside graphs more than {} deep",
          message.where(),
          kMaxGraphDepth);
  ForEachField(message, [&](const ProtoReader& reader, const ProtoField& field) {
    switch (field.number) {
      case OnnxFields::kNode:
        ReadNode(reader.Message(field, "node"), depth, outline);
        break;
      case OnnxFields::kInitializer:
        ReadTensor(reader.Message(field, "initializer"), outline);
        break;
      case OnnxFields::kInput:
      case OnnxFields::kOutput: {
        OnnxPort port = ReadPort(reader.Message(field, "value"));
        outline->names.insert(port.name);
        std::vector<OnnxPort>& ports =
            field.number == OnnxFields::kInput ? outline->inputs : outline->outputs;
        if (depth == 0) ports.push_back(std::move(port));
        break;
      }
      default:
        break;
    }
  });
}

void ReadOpset(ProtoReader message, OnnxOutline* outline) {
  std::string domain;
  int64_t version = 0;
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 1) domain = reader.Text(field);
    if (field.number == 2) version = reader.Integer(field);
  });
  if (domain.empty() || domain == "ai.onnx") outline->opset = version;
}

void ReadMetadataKey(ProtoReader message, OnnxOutline* outline) {
  ForEachField(std::move(message), [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number == 1) outline->metadata.emplace(reader.Text(field));
  });
}

}  // namespace

OnnxOutline ReadOnnx(std::string_view bytes, const std::string& where) {
  OnnxOutline outline;
  int graphs = 0;
  ForEachField({bytes, where}, [&](const ProtoReader& reader, const ProtoField& field) {
    switch (field.number) {
      case OnnxFields::kIrVersion:
        outline.ir_version = reader.Integer(field);
        break;
      case OnnxFields::kGraph:
        ++graphs;
        ReadGraph(reader.Message(field, "graph"), 0, &outline);
        break;
      case OnnxFields::kOpset:
        ReadOpset(reader.Message(field, "opset_import"), &outline);
        break;
      case OnnxFields::kMetadata:
        ReadMetadataKey(reader.Message(field, "metadata_props"), &outline);
        break;
      default:
        break;
    }
  });
  if (graphs != 1) Throw(ErrorCode::kBadData, "{}: {} graphs; an ONNX file has one", where, graphs);
  return outline;
}

std::string JoinOnnx(std::string_view bytes,
                     const std::set<std::string>& dropped,
                     const OnnxGraph& graph,
                     const OnnxMetadata& metadata,
                     const std::string& where) {
  ProtoWriter out;
  ForEachField({bytes, where}, [&](const ProtoReader& reader, const ProtoField& field) {
    if (field.number != OnnxFields::kGraph) return out.Copy(field.whole);
    ProtoWriter joined;
    ForEachField(reader.Message(field, "graph"),
                 [&](const ProtoReader& inner, const ProtoField& part) {
                   const bool output = part.number == OnnxFields::kOutput;
                   if (output && dropped.count(ReadPort(inner.Message(part, "value")).name) != 0)
                     return;
                   joined.Copy(part.whole);
                 });
    WriteGraphParts(graph, &joined);
    out.Message(OnnxFields::kGraph, joined);
  });
  WriteMetadata(metadata, &out);
  return out.Take();
}

}  // namespace segcal
