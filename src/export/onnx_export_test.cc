// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>

#include "core/file.h"
#include "formats/onnx_builder.h"
#include "formats/onnx_reader.h"
#include "segcal/error.h"
#include "segcal/onnx.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::RandomScene;
using testing::TempFolder;

Model SmallTemperatureModel(const std::string& pooling = "z") {
  return testing::TemperatureModel(RandomScene({.num_classes = 4}).dataset, 0.5, pooling);
}

template <class Call>
std::string MessageOf(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}
std::string ExportError(const OnnxOptions& options, const std::string& pooling = "z") {
  return MessageOf([&] { ToOnnx(SmallTemperatureModel(pooling), options); });
}

TEST(ToOnnx, SaysWhichOptionIsWrong) {
  EXPECT_EQ(ExportError({.outputs = {}}),
            "no output; at least one of probabilities, labels, confidence is required");
  EXPECT_EQ(ExportError({.outputs = {"entropy"}}),
            "a graph cannot put out \"entropy\"; there are probabilities, labels, confidence");
  EXPECT_EQ(ExportError({.outputs = {"labels", "labels"}}), "output \"labels\" is given twice");
  EXPECT_EQ(ExportError({.members = 0}), "members is 0, 1 to 1000 is required");
  EXPECT_EQ(ExportError({.spatial_axes = 4}), "spatial_axes is 4, 2 or 3 is required");
  EXPECT_EQ(ExportError({.opset = 12}), "opset is 12, 13 to 28 is required");
  EXPECT_EQ(ExportError({.input_type = DType::kF64}),
            "input_type is float64, float32 or float16 is required");
  EXPECT_EQ(ExportError({.pool_type = DType::kF16}),
            "pool_type is float16, float32 or float64 is required");
  EXPECT_EQ(ExportError({.members = 2}, "z1"),
            "ts(z1) looks at one member of the ensemble: its graph has a single input, not 2");
}

TEST(ToOnnx, NamesInputsByKindAndMember) {
  const auto inputs = [](const OnnxOptions& options) {
    std::vector<std::string> names;
    for (const OnnxPort& port : ReadOnnx(ToOnnx(SmallTemperatureModel(), options), "graph").inputs)
      names.push_back(port.name);
    return names;
  };
  EXPECT_EQ(inputs({}), std::vector<std::string>{"logits"});
  EXPECT_EQ(inputs({.members = 2}), (std::vector<std::string>{"logits_0", "logits_1"}));
}

TEST(ToOnnx, HasAnAxisMoreForVolumes) {
  const OnnxOutline outline = ReadOnnx(
      ToOnnx(SmallTemperatureModel(), {.outputs = {"probabilities", "labels"}, .spatial_axes = 3}),
      "graph");
  EXPECT_EQ(outline.inputs[0].shape->size(), 5u);
  EXPECT_EQ(outline.outputs[0].shape->size(), 5u);
  EXPECT_EQ(outline.outputs[1].shape->size(), 4u);
  EXPECT_EQ(std::get<int64_t>(outline.outputs[0].shape->at(1)), 4);
}

// A network of one node: an output "seg" of this type and shape.
struct Network {
  int64_t opset = 13;
  OnnxType type = OnnxType::kFloat32;
  std::vector<OnnxDim> shape = {"n", int64_t{4}, "h", "w"};
  OnnxMetadata metadata = {};
  std::string value = "seg";

  std::string Bytes() const {
    OnnxModel model{
        .opset = opset, .producer = "test", .version = "", .graph = {}, .metadata = metadata};
    const OnnxValue in{.name = "input", .type = type, .shape = shape};
    model.graph.inputs = {in};
    model.graph.nodes = {
        {.op = "Identity", .inputs = {"input"}, .outputs = {value}, .attributes = {}}};
    model.graph.outputs = {{.name = value, .type = type, .shape = shape}};
    return WriteOnnx(model);
  }
};

std::string AppendError(const Network& network,
                        const OnnxJoin& join = {.outputs = {"seg"}},
                        const OnnxOptions& options = {}) {
  return MessageOf(
      [&] { AppendToOnnx(SmallTemperatureModel(), network.Bytes(), join, options, "net.onnx"); });
}

TEST(AppendToOnnx, PutsProbabilitiesInThePlaceOfLogits) {
  const std::string joined =
      AppendToOnnx(SmallTemperatureModel(), Network{.opset = 17}.Bytes(), {.outputs = {"seg"}});
  const OnnxOutline outline = ReadOnnx(joined, "joined");
  EXPECT_EQ(outline.opset, 17);
  ASSERT_EQ(outline.outputs.size(), 1u);
  EXPECT_EQ(outline.outputs[0].name, "probabilities");
  EXPECT_EQ(outline.outputs[0].shape, Network().shape);
  EXPECT_EQ(outline.metadata.count("segcal.pipeline"), 1u);
  const std::string kept = AppendToOnnx(
      SmallTemperatureModel(), Network().Bytes(), {.outputs = {"seg"}, .keep_outputs = true});
  EXPECT_EQ(ReadOnnx(kept, "kept").outputs.size(), 2u);
}

TEST(AppendToOnnx, SaysWhyANetworkDoesNotFit) {
  EXPECT_EQ(AppendError({}, {}), "net.onnx: no output \"logits\"; its outputs are seg");
  EXPECT_EQ(AppendError({}, {.outputs = {}}),
            "no output of net.onnx is named; its outputs are seg");
  EXPECT_EQ(AppendError({}, {.outputs = {"seg", "seg"}}), "output \"seg\" is named twice");
  EXPECT_EQ(AppendError({.type = OnnxType::kInt64}),
            "net.onnx: output \"seg\" has elements of type 7; 1 (float32), 10 (float16) or 11 "
            "(float64) is required");
  EXPECT_EQ(AppendError({.shape = {"n", int64_t{4}}}),
            "net.onnx: output \"seg\" has the shape (n, 4); (N, C, height, width) or (N, C, depth, "
            "height, width) is required");
  EXPECT_EQ(AppendError({.shape = {"n", int64_t{21}, "h", int64_t{64}}}),
            "net.onnx: output \"seg\" has 21 classes in its shape (n, 21, h, 64), ts(z) has 4");
  EXPECT_EQ(AppendError({.opset = 11}),
            "net.onnx: opset 11; 13 or higher is required: export it with opset_version=13, or "
            "convert it with onnx.version_converter");
  EXPECT_EQ(AppendError({.opset = 99}), "net.onnx: opset 99; this segcal knows 13 to 28");
  EXPECT_EQ(AppendError({}, {.outputs = {"seg"}, .image = "photo"}),
            "net.onnx: no value \"photo\"; its inputs are input");
}

TEST(AppendToOnnx, DoesNotMeetTheNamesOfTheNetwork) {
  EXPECT_EQ(AppendError({.value = "probabilities"}, {.outputs = {"probabilities"}}),
            "net.onnx: has a value \"probabilities\" already; a prefix gives ours another name");
  EXPECT_EQ(
      AppendError({.value = "probabilities"}, {.outputs = {"probabilities"}}, {.prefix = "our_"}),
      "no error");
  EXPECT_EQ(AppendError({.metadata = {{"segcal.version", "0.2"}}}),
            "net.onnx: holds a calibrator already (metadata \"segcal.version\"); a prefix lets it "
            "have another");
  // Names inside are ours alone, also behind a network that uses the same beginning.
  const std::string joined = AppendToOnnx(
      SmallTemperatureModel(), Network{.value = "segcal/x"}.Bytes(), {.outputs = {"segcal/x"}});
  EXPECT_NE(joined.find("segcal2/"), std::string::npos);
}

TEST(AppendToOnnxFile, KeepsWeightsOfOtherFilesInReach) {
  ProtoWriter tensor;
  tensor.Text(8, "weights");
  tensor.Integer(14, 1);
  const std::string bytes = Network().Bytes();
  // An initializer whose elements are elsewhere, as another field of the graph.
  ProtoWriter graph;
  graph.Message(OnnxFields::kInitializer, tensor);
  ProtoWriter out;
  ProtoReader reader(bytes, "net");
  for (ProtoField field; reader.Next(&field);) {
    if (field.number != OnnxFields::kGraph) {
      out.Copy(field.whole);
      continue;
    }
    ProtoWriter both;
    both.Copy(field.bytes);
    both.Copy(graph.bytes());
    out.Message(OnnxFields::kGraph, both);
  }
  const TempFolder folder;
  std::filesystem::create_directories(folder.File("other"));
  WriteText(folder.File("net.onnx"), out.bytes());
  const OnnxJoin join{.outputs = {"seg"}};
  EXPECT_NO_THROW(AppendToOnnxFile(
      SmallTemperatureModel(), folder.File("net.onnx"), folder.File("all.onnx"), join));
  const std::string message = MessageOf([&] {
    AppendToOnnxFile(
        SmallTemperatureModel(), folder.File("net.onnx"), folder.File("other/all.onnx"), join);
  });
  EXPECT_NE(message.find("keeps weights in files beside it"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder.File("other/all.onnx")));
}

}  // namespace
}  // namespace segcal
