// SPDX-License-Identifier: Apache-2.0
#include "train/run/export.h"

#include <fmt/format.h>

#include "core/json.h"
#include "core/throw.h"
#include "export/onnx_graph.h"
#include "formats/onnx_builder.h"
#include "segcal/files.h"
#include "segcal/version.h"
#include "train/net/unet_graph.h"
#include "train/run/load.h"
#include "train/run/settings.h"

namespace segcal::train {
namespace {

constexpr const char* kImage = "image";

std::vector<OnnxDim> Shape(int64_t channels, int64_t spatial_axes) {
  std::vector<OnnxDim> shape = {"batch", channels};
  if (spatial_axes == 3) shape.emplace_back("depth");
  shape.emplace_back("height");
  shape.emplace_back("width");
  return shape;
}

// (x - mean) / spread, by the numbers of the training or, without them, of each image by itself,
// whose constant channels become 0.
std::string AddNormalisation(const Normalisation& numbers,
                             const std::string& image,
                             OnnxBuilder* g) {
  if (!numbers.mean.empty()) {
    const auto per_channel = [&](const std::vector<double>& values) {
      return g->PerChannel(std::vector<float>(values.begin(), values.end()));
    };
    const std::string gap = g->Op("Sub", {image, per_channel(numbers.mean)});
    return g->Op("Div", {gap, per_channel(numbers.spread)});
  }
  const std::string gap = g->Op("Sub", {image, g->OverSpace(image)});
  const std::string variance = g->OverSpace(g->Op("Mul", {gap, gap}));
  // As Normalisation::Of tells a constant channel from one that varies.
  const std::string squares = g->OverSpace(g->Op("Mul", {image, image}));
  const std::string least =
      g->Op("Mul", {g->Scalar(1e-12), g->Op("Max", {squares, g->Scalar(1.0)})});
  const std::string spread = g->Op(
      "Where", {g->Op("Greater", {variance, least}), g->Op("Sqrt", {variance}), g->Scalar(1.0)});
  return g->Op("Div", {gap, spread});
}

// Repeats the last voxel of an axis up to whole strides of the network.
std::string AddBorder(const std::string& x, int64_t axis, int64_t stride, OnnxBuilder* g) {
  const std::string size = g->Op("Gather", {g->Op("Shape", {x}), g->Integer(axis)});
  const std::string whole = g->Integer(stride);
  const std::string strides = g->Op("Div", {g->Op("Add", {size, g->Integer(stride - 1)}), whole});
  const std::string at =
      g->Op("Range", {g->Integer(0), g->Op("Mul", {strides, whole}), g->Integer(1)});
  const std::string last = g->Op("Sub", {size, g->Integer(1)});
  return g->Op("Gather", {x, g->Op("Min", {at, last})}, {{"axis", axis}});
}

// The first voxels of the axes from `first`, as many as x has.
std::string AddCut(
    const std::string& logits, const std::string& x, int64_t first, int64_t end, OnnxBuilder* g) {
  std::vector<int64_t> axes;
  for (int64_t axis = first; axis < end; ++axis) axes.push_back(axis);
  const std::string sizes =
      g->Op("Slice", {g->Op("Shape", {x}), g->Integers({first}), g->Integers({end})});
  return g->Op(
      "Slice",
      {logits, g->Integers(std::vector<int64_t>(axes.size(), 0)), sizes, g->Integers(axes)});
}

}  // namespace

ExportNetworksResult ExportNetworks(const std::string& folder,
                                    const std::string& path,
                                    int64_t opset) {
  if (opset < kLowestOpset || opset > kHighestOpset) {
    Throw(ErrorCode::kInvalidArgument,
          "opset {}: {} to {} is required",
          opset,
          kLowestOpset,
          kHighestOpset);
  }
  const RunDescription run = ReadRun(folder);
  const UNet net(run.network);
  const std::vector<NetworkKey> keys = ListNetworks(run.members, run.folds);
  OnnxBuilder g(opset, run.spatial_axes, "network/");
  g.graph().name = "network";
  g.graph().inputs = {{.name = kImage, .shape = Shape(run.network.channels, run.spatial_axes)}};
  const std::string normal = AddNormalisation(run.normalisation, kImage, &g);
  const int64_t end = run.spatial_axes + 2;
  const int64_t first = end - run.network.axes;
  std::string x = normal;
  for (int64_t axis = first; axis < end; ++axis) x = AddBorder(x, axis, net.stride(), &g);
  ExportNetworksResult result;
  for (const NetworkKey& key : keys) {
    const std::string logits = AddUNet(net, LoadNetwork(folder, key, net), x, &g);
    const std::string name =
        keys.size() == 1 ? "logits" : fmt::format("logits_{}", result.outputs.size());
    AddCut(logits, normal, first, end, &g);
    g.graph().nodes.back().outputs = {name};
    g.graph().outputs.push_back(
        {.name = name, .shape = Shape(run.network.classes, run.spatial_axes)});
    result.outputs.push_back(name);
  }
  const std::string bytes =
      WriteOnnx({.opset = opset,
                 .producer = "segcal",
                 .version = kVersion,
                 .graph = std::move(g.graph()),
                 .metadata = {{"segcal.network.classes", Json(run.classes).dump()}}});
  CheckOnnxSize(static_cast<int64_t>(bytes.size()), folder);
  WriteText(path, bytes);
  return result;
}

}  // namespace segcal::train
