// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/file.h"
#include "core/throw.h"
#include "export/onnx_graph.h"
#include "formats/onnx_reader.h"

namespace segcal {
namespace {

// Before this version of the format, constants had to be inputs, too.
constexpr int64_t kLowestIrVersion = 4;

void CheckVersions(const OnnxOutline& outline, const std::string& where) {
  if (outline.opset < kLowestOpset)
    Throw(ErrorCode::kUnsupported,
          "{}: opset {}; {} or higher is required: export it with opset_version={}, or convert it "
          "with onnx.version_converter",
          where,
          outline.opset,
          kLowestOpset,
          kLowestOpset);
  if (outline.opset > kHighestOpset)
    Throw(ErrorCode::kUnsupported,
          "{}: opset {}; this segcal knows {} to {}",
          where,
          outline.opset,
          kLowestOpset,
          kHighestOpset);
  if (outline.ir_version < kLowestIrVersion)
    Throw(ErrorCode::kUnsupported,
          "{}: IR version {}; {} or higher is required",
          where,
          outline.ir_version,
          kLowestIrVersion);
}

std::string ListNames(const std::vector<OnnxPort>& ports) {
  std::vector<std::string> names;
  names.reserve(ports.size());
  for (const OnnxPort& port : ports) names.push_back(port.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const OnnxPort& FindOutput(const OnnxOutline& outline,
                           const std::string& name,
                           const std::string& where) {
  for (const OnnxPort& port : outline.outputs) {
    if (port.name == name) return port;
  }
  Throw(ErrorCode::kInvalidArgument,
        "{}: no output \"{}\"; its outputs are {}",
        where,
        name,
        ListNames(outline.outputs));
}

std::string FormatShape(const std::vector<OnnxDim>& shape) {
  std::vector<std::string> sizes;
  for (const OnnxDim& dim : shape) {
    const auto* fixed = std::get_if<int64_t>(&dim);
    sizes.push_back(fixed != nullptr ? std::to_string(*fixed) : std::get<std::string>(dim));
  }
  return fmt::format("({})", fmt::join(sizes, ", "));
}

// Whether an output can be what the model takes.
void CheckPort(const OnnxPort& port, const ModelState& state, const std::string& where) {
  const std::string name = fmt::format("{}: output \"{}\"", where, port.name);
  const bool is_float = port.type == static_cast<int64_t>(OnnxType::kFloat32) ||
                        port.type == static_cast<int64_t>(OnnxType::kFloat16) ||
                        port.type == static_cast<int64_t>(OnnxType::kFloat64);
  if (!is_float)
    Throw(ErrorCode::kInvalidArgument,
          "{} has elements of type {}; 1 (float32), 10 (float16) or 11 (float64) is required",
          name,
          port.type);
  if (!port.shape) return;
  if (port.shape->size() != 4 && port.shape->size() != 5)
    Throw(ErrorCode::kInvalidArgument,
          "{} has the shape {}; (N, C, height, width) or (N, C, depth, height, width) is required",
          name,
          FormatShape(*port.shape));
  const auto* classes = std::get_if<int64_t>(&port.shape->at(1));
  if (classes != nullptr && *classes != static_cast<int64_t>(state.classes.size()))
    Throw(ErrorCode::kInvalidArgument,
          "{} has {} classes in its shape {}, {} has {}",
          name,
          *classes,
          FormatShape(*port.shape),
          state.pipeline,
          state.classes.size());
}

// Sizes by name where the segmenter does not say anything.
std::vector<OnnxDim> UnknownShape(int64_t spatial_axes) {
  std::vector<OnnxDim> shape = {"batch", "classes"};
  for (int64_t axis = 0; axis < spatial_axes; ++axis)
    shape.emplace_back("axis_" + std::to_string(axis));
  return shape;
}

GraphMembers FindGraphMembers(const OnnxOutline& outline,
                              const ModelState& state,
                              const OnnxJoin& join,
                              const OnnxOptions& options,
                              const std::string& where) {
  GraphMembers members{.names = join.outputs,
                       .shape = UnknownShape(options.spatial_axes),
                       .in_float64 = options.pool_type == DType::kF64};
  bool known = false;
  for (const std::string& name : join.outputs) {
    const OnnxPort& port = FindOutput(outline, name, where);
    CheckPort(port, state, where);
    if (!port.shape) continue;
    if (known && port.shape->size() != members.shape.size())
      Throw(ErrorCode::kInvalidArgument,
            "{}: output \"{}\" has the shape {}, \"{}\" has {}",
            where,
            name,
            FormatShape(*port.shape),
            join.outputs.front(),
            FormatShape(members.shape));
    if (!known) members.shape = *port.shape;
    known = true;
  }
  return members;
}

// A beginning that no name of the segmenter has.
std::string FreePrefix(const OnnxOutline& outline, const std::string& wanted) {
  const auto taken = [&](const std::string& prefix) {
    const auto first = outline.names.lower_bound(prefix);
    return first != outline.names.end() && first->compare(0, prefix.size(), prefix) == 0;
  };
  std::string prefix = wanted + "segcal/";
  for (int k = 2; taken(prefix); ++k) prefix = wanted + "segcal" + std::to_string(k) + "/";
  return prefix;
}

void CheckNamesAreFree(const OnnxOutline& outline,
                       const OnnxGraph& graph,
                       const OnnxMetadata& metadata,
                       const std::string& where) {
  for (const OnnxValue& output : graph.outputs) {
    if (outline.names.count(output.name) != 0)
      Throw(ErrorCode::kInvalidArgument,
            "{}: has a value \"{}\" already; a prefix gives ours another name",
            where,
            output.name);
  }
  for (const OnnxValue& input : graph.inputs) {
    if (outline.names.count(input.name) != 0)
      Throw(ErrorCode::kInvalidArgument,
            "{}: has a value \"{}\" already; say which of its values is the image",
            where,
            input.name);
  }
  for (const auto& [key, value] : metadata) {
    if (outline.metadata.count(key) != 0)
      Throw(ErrorCode::kInvalidArgument,
            "{}: holds a calibrator already (metadata \"{}\"); a prefix lets it have another",
            where,
            key);
  }
}

void CheckJoin(const OnnxOutline& outline, const OnnxJoin& join, const std::string& where) {
  if (join.outputs.empty())
    Throw(ErrorCode::kInvalidArgument,
          "no output of {} is named; its outputs are {}",
          where,
          ListNames(outline.outputs));
  for (auto name = join.outputs.begin(); name != join.outputs.end(); ++name) {
    if (std::find(join.outputs.begin(), name, *name) != name)
      Throw(ErrorCode::kInvalidArgument, "output \"{}\" is named twice", *name);
  }
  if (!join.image.empty() && outline.names.count(join.image) == 0)
    Throw(ErrorCode::kInvalidArgument,
          "{}: no value \"{}\"; its inputs are {}",
          where,
          join.image,
          ListNames(outline.inputs));
}

std::string Join(const Model& model,
                 std::string_view segmenter,
                 const OnnxOutline& outline,
                 const OnnxJoin& join,
                 OnnxOptions options,
                 const std::string& where) {
  const ModelState& state = ModelAccess::State(model);
  CheckVersions(outline, where);
  CheckJoin(outline, join, where);
  options.members = static_cast<int64_t>(join.outputs.size());
  options.opset = outline.opset;
  CheckOnnxOptions(state, options);
  const GraphMembers members = FindGraphMembers(outline, state, join, options, where);
  OnnxBuilder builder(outline.opset,
                      static_cast<int64_t>(members.shape.size()) - 2,
                      FreePrefix(outline, options.prefix));
  const std::string image = join.image.empty() ? "" : builder.Cast(join.image, OnnxType::kFloat32);
  const OnnxGraph graph = MakeOnnxGraph(state, members, image, &builder, options);
  const OnnxMetadata metadata = MakeOnnxMetadata(state, options.prefix);
  CheckNamesAreFree(outline, graph, metadata, where);
  std::set<std::string> dropped;
  if (!join.keep_outputs) dropped.insert(join.outputs.begin(), join.outputs.end());
  std::string bytes = JoinOnnx(segmenter, dropped, graph, metadata, where);
  CheckOnnxSize(static_cast<int64_t>(bytes.size()), where + " with " + state.pipeline);
  return bytes;
}

// The folder of a file, whatever way it is written.
std::filesystem::path FolderOf(const std::string& file) {
  return std::filesystem::weakly_canonical(std::filesystem::absolute(file)).parent_path();
}

}  // namespace

std::string AppendToOnnx(const Model& model,
                         std::string_view segmenter,
                         const OnnxJoin& join,
                         const OnnxOptions& options,
                         const std::string& where) {
  return Join(model, segmenter, ReadOnnx(segmenter, where), join, options, where);
}

void AppendToOnnxFile(const Model& model,
                      const std::string& segmenter,
                      const std::string& path,
                      const OnnxJoin& join,
                      const OnnxOptions& options) {
  const std::string bytes = ReadText(segmenter, std::numeric_limits<int32_t>::max());
  const OnnxOutline outline = ReadOnnx(bytes, segmenter);
  if (outline.external_data && FolderOf(segmenter) != FolderOf(path))
    Throw(ErrorCode::kInvalidArgument,
          "{}: keeps weights in files beside it, which {} would not find; write it into the same "
          "folder",
          segmenter,
          path);
  WriteText(path, Join(model, bytes, outline, join, options, segmenter));
}

}  // namespace segcal
