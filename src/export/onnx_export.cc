// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"
#include "export/onnx_graph.h"
#include "segcal/version.h"

namespace segcal {
namespace {

const char* InputName(InputKind kind) {
  switch (kind) {
    case InputKind::kLogits:
      return "logits";
    case InputKind::kLogProbs:
      return "log_probs";
    case InputKind::kProbs:
      return "probs";
  }
  return "?";
}

std::vector<OnnxDim> InputShape(int64_t num_classes, int64_t spatial_axes) {
  std::vector<OnnxDim> shape = {"batch", num_classes};
  if (spatial_axes == 3) shape.emplace_back("depth");
  shape.emplace_back("height");
  shape.emplace_back("width");
  return shape;
}

std::vector<OnnxValue> MemberInputs(const ModelState& state, const OnnxOptions& options) {
  std::vector<OnnxValue> inputs;
  const auto num_classes = static_cast<int64_t>(state.classes.size());
  for (int64_t k = 0; k < options.members; ++k) {
    std::string name = InputName(state.input);
    if (options.members > 1) name += "_" + std::to_string(k);
    inputs.push_back(
        {.name = std::move(name),
         .type = options.input_type == DType::kF16 ? OnnxType::kFloat16 : OnnxType::kFloat32,
         .shape = InputShape(num_classes, options.spatial_axes)});
  }
  return inputs;
}

}  // namespace

std::string ToOnnx(const Model& model, const OnnxOptions& options) {
  const ModelState& state = ModelAccess::State(model);
  CheckOnnxOptions(state, options);
  OnnxBuilder builder(options.opset, options.spatial_axes, options.prefix + "segcal/");
  builder.graph().inputs = MemberInputs(state, options);
  GraphMembers members{.names = {},
                       .shape = builder.graph().inputs.front().shape,
                       .in_float64 = options.pool_type == DType::kF64};
  for (const OnnxValue& input : builder.graph().inputs) members.names.push_back(input.name);
  OnnxModel onnx{.opset = options.opset,
                 .producer = "segcal",
                 .version = kVersion,
                 .graph = MakeOnnxGraph(state, members, /*image=*/{}, &builder, options),
                 .metadata = MakeOnnxMetadata(state, options.prefix)};
  onnx.graph.name = "segcal";
  std::string bytes = WriteOnnx(onnx);
  CheckOnnxSize(static_cast<int64_t>(bytes.size()), state.pipeline);
  return bytes;
}

void ExportOnnx(const Model& model, const std::string& path, const OnnxOptions& options) {
  WriteText(path, ToOnnx(model, options));
}

}  // namespace segcal
