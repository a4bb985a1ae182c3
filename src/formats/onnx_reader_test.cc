// SPDX-License-Identifier: Apache-2.0
#include "formats/onnx_reader.h"

#include <gtest/gtest.h>

#include "formats/onnx_builder.h"
#include "segcal/error.h"

namespace segcal {
namespace {

// One node, one constant, a metadata entry.
OnnxModel SmallModel() {
  OnnxBuilder builder(13, 2, "net/");
  builder.graph().inputs = {
      {.name = "image", .type = OnnxType::kFloat32, .shape = {"n", int64_t{3}, "h", "w"}}};
  const std::string out = builder.Op("Mul", {"image", builder.Scalar(2.0)});
  builder.graph().outputs = {
      {.name = out, .type = OnnxType::kFloat32, .shape = {"n", int64_t{3}, "h", "w"}}};
  return {.opset = 13,
          .producer = "test",
          .version = "1",
          .graph = builder.graph(),
          .metadata = {{"key", "value"}}};
}

std::string ReadError(const std::string& bytes) {
  try {
    ReadOnnx(bytes, "file");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ReadOnnx, FindsWhatWasWritten) {
  const OnnxOutline outline = ReadOnnx(WriteOnnx(SmallModel()), "file");
  EXPECT_EQ(outline.opset, 13);
  EXPECT_EQ(outline.ir_version, 7);
  ASSERT_EQ(outline.inputs.size(), 1u);
  EXPECT_EQ(outline.inputs[0].name, "image");
  EXPECT_EQ(outline.inputs[0].type, 1);
  const std::vector<OnnxDim> shape = {"n", int64_t{3}, "h", "w"};
  EXPECT_EQ(outline.inputs[0].shape, shape);
  ASSERT_EQ(outline.outputs.size(), 1u);
  EXPECT_EQ(outline.outputs[0].name, "net/mul_1");
  EXPECT_EQ(outline.names, (std::set<std::string>{"image", "net/constant_0", "net/mul_1"}));
  EXPECT_EQ(outline.metadata, std::set<std::string>{"key"});
  EXPECT_FALSE(outline.external_data);
}

// Fields by hand: a model of a graph that holds `part` as its field `number`.
std::string WithGraphField(int number, const ProtoWriter& part) {
  ProtoWriter graph;
  graph.Message(number, part);
  ProtoWriter model;
  model.Message(OnnxFields::kGraph, graph);
  return model.Take();
}

TEST(ReadOnnx, SeesWeightsInOtherFiles) {
  ProtoWriter tensor;
  tensor.Text(8, "weights");
  tensor.Integer(14, 1);
  EXPECT_TRUE(ReadOnnx(WithGraphField(OnnxFields::kInitializer, tensor), "file").external_data);
  ProtoWriter attribute;
  attribute.Message(5, tensor);
  ProtoWriter node;
  node.Message(5, attribute);
  EXPECT_TRUE(ReadOnnx(WithGraphField(OnnxFields::kNode, node), "file").external_data);
}

// A loop's body is a graph in an attribute of a node.
ProtoWriter NestedGraph(int depth) {
  ProtoWriter node;
  node.Text(2, "inner" + std::to_string(depth));
  if (depth > 0) {
    ProtoWriter attribute;
    attribute.Message(6, NestedGraph(depth - 1));
    node.Message(5, attribute);
  }
  ProtoWriter graph;
  graph.Message(OnnxFields::kNode, node);
  return graph;
}

TEST(ReadOnnx, KnowsTheNamesOfInnerGraphsAndRefusesToGoDownForEver) {
  ProtoWriter model;
  model.Message(OnnxFields::kGraph, NestedGraph(3));
  EXPECT_EQ(ReadOnnx(model.bytes(), "file").names.size(), 4u);
  ProtoWriter deep;
  deep.Message(OnnxFields::kGraph, NestedGraph(1000));
  EXPECT_NE(ReadError(deep.bytes()).find("graphs inside graphs more than 32 deep"),
            std::string::npos);
}

TEST(ReadOnnx, SaysWhatIsNoModel) {
  EXPECT_EQ(ReadError(""), "file: 0 graphs; an ONNX file has one");
  const std::string twice = WithGraphField(3, {}) + WithGraphField(3, {});
  EXPECT_EQ(ReadError(twice), "file: 2 graphs; an ONNX file has one");
  EXPECT_NE(ReadError("\x89PNG\r\n\x1a\n").find("file: byte"), std::string::npos);
}

// Wherever a file is cut off, reading ends in an error, or what is left is a whole message.
TEST(ReadOnnx, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::string bytes = WriteOnnx(SmallModel());
  int refused = 0;
  for (size_t size = 0; size < bytes.size(); ++size)
    refused += ReadError(bytes.substr(0, size)).empty() ? 0 : 1;
  EXPECT_GT(refused, static_cast<int>(bytes.size()) / 2);
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\x00', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[at] = value;
      ReadError(changed);
    }
  }
}

TEST(JoinOnnx, KeepsEveryByteButTheDroppedOutput) {
  const std::string bytes = WriteOnnx(SmallModel());
  EXPECT_EQ(JoinOnnx(bytes, {}, {}, {}, "file"), bytes);
  OnnxBuilder more(13, 2, "more/");
  const std::string out = more.Op("Neg", {"net/mul_1"});
  more.graph().outputs = {{.name = out, .type = OnnxType::kFloat32, .shape = {"n"}}};
  const std::string joined =
      JoinOnnx(bytes, {"net/mul_1"}, more.graph(), {{"our", "words"}}, "file");
  const OnnxOutline outline = ReadOnnx(joined, "file");
  ASSERT_EQ(outline.outputs.size(), 1u);
  EXPECT_EQ(outline.outputs[0].name, "more/neg_0");
  EXPECT_EQ(outline.names.count("net/mul_1"), 1u);
  EXPECT_EQ(outline.metadata, (std::set<std::string>{"key", "our"}));
}

}  // namespace
}  // namespace segcal
