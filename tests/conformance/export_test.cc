// SPDX-License-Identifier: Apache-2.0
// Every calibrator can be exported, including ones added tomorrow; what the graph computes is
// compared with `apply` by tests/oracle/test_onnx.py.
#include <gtest/gtest.h>

#include <set>

#include "formats/onnx_reader.h"
#include "segcal/onnx.h"
#include "tests/conformance/method_test.h"

namespace segcal {
namespace {

using testing::Scene;

class ExportOfEveryCalibrator : public testing::MethodTest {};

// What a graph puts out for each node: names of inputs and outputs, in order.
struct NodeNames {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
};

template <class Use>
void ForEachPart(std::string_view message, int number, const Use& use) {
  ProtoReader reader(message, "graph");
  for (ProtoField field; reader.Next(&field);) {
    if (field.number == number) use(reader.Text(field));
  }
}

std::vector<NodeNames> ListNodes(const std::string& bytes) {
  std::vector<NodeNames> nodes;
  ForEachPart(bytes, OnnxFields::kGraph, [&](std::string_view graph) {
    ForEachPart(graph, OnnxFields::kNode, [&](std::string_view node) {
      NodeNames& names = nodes.emplace_back();
      ForEachPart(node, 1, [&](std::string_view name) { names.inputs.emplace_back(name); });
      ForEachPart(node, 2, [&](std::string_view name) { names.outputs.emplace_back(name); });
    });
  });
  return nodes;
}

// Every value is made before it is used, and by one node only.
void ExpectInOrder(const std::string& bytes) {
  const OnnxOutline outline = ReadOnnx(bytes, "graph");
  std::set<std::string> known = outline.names;
  const std::vector<NodeNames> nodes = ListNodes(bytes);
  for (const NodeNames& node : nodes) {
    for (const std::string& name : node.outputs) known.erase(name);
  }
  for (const NodeNames& node : nodes) {
    for (const std::string& name : node.inputs) EXPECT_EQ(known.count(name), 1u) << name;
    for (const std::string& name : node.outputs) EXPECT_TRUE(known.insert(name).second) << name;
  }
  for (const OnnxPort& port : outline.outputs) EXPECT_EQ(known.count(port.name), 1u) << port.name;
}

TEST_P(ExportOfEveryCalibrator, MakesAGraphForEveryShapeAndPooling) {
  const Scene scene = MakeScene({.num_members = 2, .num_classes = 4, .shape = {21, 23}});
  for (const char* pooling : {"z", "p", "z1"}) {
    const Model model = FitTo(scene, 2, pooling);
    const int64_t members = pooling[0] == 'z' && pooling[1] != '\0' ? 1 : 2;
    for (const int64_t axes : {2, 3}) {
      const OnnxOptions options{
          .outputs = ListOnnxOutputs(), .members = members, .spatial_axes = axes};
      const std::string bytes = ToOnnx(model, options);
      ExpectInOrder(bytes);
      EXPECT_EQ(ToOnnx(Model::FromJson(model.ToJson()), options), bytes);
      EXPECT_EQ(ReadOnnx(bytes, "graph").inputs.size(),
                static_cast<size_t>(members + (NeedsImage() ? 1 : 0)));
    }
  }
}

TEST_P(ExportOfEveryCalibrator, MakesAGraphOfASingleClass) {
  const Model model = FitTo(MakeScene({.num_classes = 1, .shape = {21, 23}}));
  ExpectInOrder(ToOnnx(model, {.outputs = ListOnnxOutputs()}));
}

INSTANTIATE_TEST_SUITE_P(List,
                         ExportOfEveryCalibrator,
                         ::testing::ValuesIn(Calibrators()),
                         [](const auto& param) { return std::string(param.param->name); });

}  // namespace
}  // namespace segcal
