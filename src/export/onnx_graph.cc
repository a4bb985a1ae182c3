// SPDX-License-Identifier: Apache-2.0
#include "export/onnx_graph.h"

#include <algorithm>
#include <limits>

#include "core/json.h"
#include "core/throw.h"
#include "segcal/version.h"

namespace segcal {
namespace {

// What outputs are made of.
struct GraphResult {
  std::string probs;
  std::string decision;
};

std::string OneChannel(const std::string& x, OnnxBuilder* g) {
  return g->Op("Squeeze", {x, g->Integers({1})});
}
std::string AddProbabilities(const GraphResult& result, OnnxBuilder* g) {
  return g->Op("Identity", {result.probs});
}
std::string AddLabels(const GraphResult& result, OnnxBuilder* g) {
  return OneChannel(result.decision, g);
}
std::string AddConfidence(const GraphResult& result, OnnxBuilder* g) {
  return OneChannel(g->OverChannels("ReduceMax", result.probs), g);
}

struct GraphOutput {
  const char* name;
  OnnxType type;
  bool per_class;
  std::string (*add)(const GraphResult& result, OnnxBuilder* g);
};
constexpr GraphOutput kOutputs[] = {
    {"probabilities", OnnxType::kFloat32, true, &AddProbabilities},
    {"labels", OnnxType::kInt64, false, &AddLabels},
    {"confidence", OnnxType::kFloat32, false, &AddConfidence},
};

const GraphOutput& FindGraphOutput(const std::string& name) {
  for (const GraphOutput& output : kOutputs) {
    if (name == output.name) return output;
  }
  Throw(ErrorCode::kInvalidArgument,
        "a graph cannot put out \"{}\"; there are {}",
        name,
        fmt::join(ListOnnxOutputs(), ", "));
}

void CheckOutputs(const std::vector<std::string>& names) {
  if (names.empty())
    Throw(ErrorCode::kInvalidArgument,
          "no output; at least one of {} is required",
          fmt::join(ListOnnxOutputs(), ", "));
  for (auto name = names.begin(); name != names.end(); ++name) {
    FindGraphOutput(*name);
    if (std::find(names.begin(), name, *name) != name)
      Throw(ErrorCode::kInvalidArgument, "output \"{}\" is given twice", *name);
  }
}

// Gives the last node's output the name of an output.
void AddOutput(const GraphOutput& output,
               const GraphResult& result,
               const std::vector<OnnxDim>& shape,
               const std::string& prefix,
               OnnxBuilder* g) {
  output.add(result, g);
  OnnxGraph& graph = g->graph();
  OnnxValue value{.name = prefix + output.name, .type = output.type, .shape = shape};
  if (!output.per_class) value.shape.erase(value.shape.begin() + 1);
  graph.nodes.back().outputs = {value.name};
  graph.outputs.push_back(std::move(value));
}

}  // namespace

std::vector<std::string> ListOnnxOutputs() {
  std::vector<std::string> names;
  for (const GraphOutput& output : kOutputs) names.emplace_back(output.name);
  return names;
}

void CheckOnnxOptions(const ModelState& state, const OnnxOptions& options) {
  CheckOutputs(options.outputs);
  if (options.members < 1 || options.members > 1000)
    Throw(ErrorCode::kInvalidArgument, "members is {}, 1 to 1000 is required", options.members);
  if (state.spec.pooling.member >= 0 && options.members != 1)
    Throw(ErrorCode::kInvalidArgument,
          "{} looks at one member of the ensemble: its graph has a single input, not {}",
          state.pipeline,
          options.members);
  if (options.spatial_axes != 2 && options.spatial_axes != 3)
    Throw(ErrorCode::kInvalidArgument,
          "spatial_axes is {}, 2 or 3 is required",
          options.spatial_axes);
  if (options.opset < kLowestOpset || options.opset > kHighestOpset)
    Throw(ErrorCode::kInvalidArgument,
          "opset is {}, {} to {} is required",
          options.opset,
          kLowestOpset,
          kHighestOpset);
  if (options.input_type != DType::kF32 && options.input_type != DType::kF16)
    Throw(ErrorCode::kInvalidArgument,
          "input_type is {}, float32 or float16 is required",
          Name(options.input_type));
  if (options.pool_type != DType::kF32 && options.pool_type != DType::kF64)
    Throw(ErrorCode::kInvalidArgument,
          "pool_type is {}, float32 or float64 is required",
          Name(options.pool_type));
  // Before memory is used for it.
  const auto num_classes = static_cast<int64_t>(state.classes.size());
  CheckOnnxSize(state.calibrator->counts(num_classes).optimised * int64_t{sizeof(float)},
                "the parameters of " + state.pipeline);
}

void CheckOnnxSize(int64_t bytes, const std::string& what) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (bytes <= kMost) return;
  Throw(ErrorCode::kUnsupported, "{}: {} bytes; an ONNX file has at most {}", what, bytes, kMost);
}

OnnxGraph MakeOnnxGraph(const ModelState& state,
                        const GraphMembers& members,
                        const std::string& image,
                        OnnxBuilder* g,
                        const OnnxOptions& options) {
  GraphInput in = AddPooling(state, members, g);
  in.image = image;
  GraphResult result{.probs = state.calibrator->AddToGraph(in, g), .decision = in.decision};
  if (state.properties().preserves != Preserves::kNone) {
    result.probs = KeepWinnerInGraph(result.probs, in.decision, in.num_classes, g);
  } else {
    result.decision = g->ArgMax(result.probs);
  }
  std::vector<OnnxDim> shape = members.shape;
  shape[1] = in.num_classes;
  for (const std::string& name : options.outputs)
    AddOutput(FindGraphOutput(name), result, shape, options.prefix, g);
  return std::move(g->graph());
}

OnnxMetadata MakeOnnxMetadata(const ModelState& state, const std::string& prefix) {
  const Properties properties = state.properties();
  const Json declared = {{"translation_invariant", properties.translation_invariant},
                         {"preserves", Name(properties.preserves)}};
  OnnxMetadata metadata = {{"version", kVersion},
                           {"pipeline", state.pipeline},
                           {"input", Name(state.input)},
                           {"classes", Json(state.classes).dump()},
                           {"properties", declared.dump()}};
  if (state.fit.data.cases > 0) metadata.emplace_back("fit", ToJson(state.fit));
  for (auto& [key, value] : metadata) key.insert(0, prefix + "segcal.");
  return metadata;
}

}  // namespace segcal
