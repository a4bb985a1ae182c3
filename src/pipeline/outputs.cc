// SPDX-License-Identifier: Apache-2.0
#include "pipeline/outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "core/half.h"
#include "core/throw.h"
#include "kernels/emit.h"
#include "kernels/scores.h"

namespace segcal {
namespace {

void FillConfidence(const EmittedTile& emitted, float* out) {
  alignas(64) uint16_t predicted[kTileVoxels];
  TopLabelTile(emitted.probs.probs, emitted.tile.num_classes, out, predicted);
}

void FillLabels(const EmittedTile& emitted, float* out) {
  alignas(64) float confidence[kTileVoxels];
  alignas(64) uint16_t predicted[kTileVoxels];
  TopLabelTile(emitted.probs.probs, emitted.tile.num_classes, confidence, predicted);
  std::copy_n(predicted, kTileVoxels, out);
}

void FillEntropy(const EmittedTile& emitted, float* out) {
  for (int64_t v = 0; v < kTileVoxels; ++v) {
    double entropy = 0.0;
    for (int64_t c = 0; c < emitted.tile.num_classes; ++c) {
      const double q = emitted.probs.probs[c * kTileVoxels + v];
      if (q > 0.0) entropy -= q * std::log(q);
    }
    out[v] = static_cast<float>(entropy);
  }
}

void FillLogLabel(const EmittedTile& emitted, float* out) {
  std::copy_n(emitted.probs.log_label, kTileVoxels, out);
}

// CheckTemperature has seen that there is one.
void FillTemperature(const EmittedTile& emitted, float* out) {
  emitted.calibrator.Temperature(emitted.tile, out);
}

double One(int64_t) { return 1.0; }
double LogClasses(int64_t num_classes) {
  return num_classes > 1 ? std::log(static_cast<double>(num_classes)) : 1.0;
}
// Class indices are written as they are.
double AsItIs(int64_t) { return 65535.0; }

DType FileType(const OutputKind& kind,
               const FormatInfo& format,
               DType wanted,
               int64_t num_classes) {
  if (kind.whole_numbers) return num_classes <= 256 ? DType::kU8 : DType::kU16;
  return format.writes_floats ? wanted : DType::kU16;
}

// The formats that hold anything, for messages.
std::string FormatsForAll() {
  std::vector<std::string> names;
  for (const FormatInfo* format : Formats()) {
    if (format->writes_floats && format->writes_volumes) names.emplace_back(format->name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void CheckHolds(const FormatInfo& format,
                const OutputKind& kind,
                const ArrayInfo& info,
                const std::string& path) {
  if (!format.writes_floats && kind.full_scale == nullptr) {
    Throw(ErrorCode::kInvalidArgument,
          "{} cannot be written as {}, which has no floats; formats that do are {}",
          kind.name,
          format.name,
          FormatsForAll());
  }
  if (!format.writes_volumes && info.shape.size() != 2) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: the case has {} spatial axes, {} files have 2; formats for it are {}",
          path,
          info.shape.size(),
          format.name,
          FormatsForAll());
  }
}

// (C, spatial...), with axes of length one where the format needs more.
void AddClassAxis(const FormatInfo& format, int64_t channels, ArrayInfo* info) {
  while (std::ssize(info->shape) < format.axes_below_classes) {
    info->shape.insert(info->shape.begin(), 1);
    info->spacing.insert(info->spacing.begin(), 1.0);
  }
  info->shape.insert(info->shape.begin(), channels);
}

// nnU-Net's 2-D images are (1, H, W); formats of images have two axes.
void DropUnitAxes(ArrayInfo* info) {
  while (info->shape.size() > 2 && info->shape.front() == 1) {
    info->shape.erase(info->shape.begin());
    info->spacing.erase(info->spacing.begin());
  }
}

}  // namespace

const std::vector<OutputKind>& OutputKinds() {
  static const std::vector<OutputKind> kinds = {
      {"probabilities",
       "calibrated probability of every class",
       true,
       false,
       false,
       nullptr,
       nullptr},
      {"confidence", "largest probability", false, false, false, &One, &FillConfidence},
      {"labels", "class with the largest probability", false, false, true, &AsItIs, &FillLabels},
      {"entropy",
       "entropy of the probabilities, in nats",
       false,
       false,
       false,
       &LogClasses,
       &FillEntropy},
      {"temperature",
       "temperature of the calibrator",
       false,
       false,
       false,
       nullptr,
       &FillTemperature},
      {"log_label",
       "log-probability of the true label (needs labels)",
       false,
       true,
       false,
       nullptr,
       &FillLogLabel},
  };
  return kinds;
}

std::string OutputPath(const PlannedOutput& planned, const std::string& id) {
  return (std::filesystem::path(planned.folder) / (id + planned.extension)).string();
}

const OutputKind& FindOutputKind(const std::string& name) {
  std::vector<std::string> names;
  for (const OutputKind& kind : OutputKinds()) {
    if (name == kind.name) return kind;
    names.emplace_back(kind.name);
  }
  Throw(ErrorCode::kInvalidArgument,
        "cannot write \"{}\"; there are {}",
        name,
        fmt::join(names, ", "));
}

CaseOutput::CaseOutput(const PlannedOutput& planned,
                       const CaseReader& reader,
                       const std::string& reference,
                       const OutputOptions& options)
    : path_(OutputPath(planned, reader.id())),
      kind_(*planned.kind),
      channels_(kind_.per_class ? reader.num_classes() : 1),
      num_voxels_(reader.num_voxels()),
      dtype_(FileType(kind_, *planned.format, options.dtype, reader.num_classes())) {
  const FormatInfo& format = *planned.format;
  ArrayInfo info{.dtype = dtype_, .shape = reader.shape(), .spacing = reader.spacing()};
  if (!format.writes_volumes) DropUnitAxes(&info);
  CheckHolds(format, kind_, info, path_);
  if (dtype_ == DType::kU16 && !kind_.whole_numbers)
    scale_ = 65535.0 / kind_.full_scale(reader.num_classes());
  if (kind_.per_class) AddClassAxis(format, channels_, &info);
  writer_ = CreateArray(path_,
                        info,
                        {.key = kind_.per_class ? "probabilities" : kind_.name,
                         .compress = options.compress,
                         .reference = reference,
                         .memory_limit = options.memory,
                         .cache_dir = options.cache_dir,
                         .threads = options.threads});
}

const std::byte* RenderTile(const OutputKind& kind,
                            DType dtype,
                            double scale,
                            const EmittedTile& emitted,
                            bool keep_decision,
                            TileScratch* scratch) {
  const float* values = emitted.probs.probs;
  if (kind.fill != nullptr) {
    auto* filled =
        reinterpret_cast<float*>(scratch->values.Reserve(kTileVoxels * int64_t{sizeof(float)}));
    kind.fill(emitted, filled);
    values = filled;
  }
  if (dtype == DType::kF32) return reinterpret_cast<const std::byte*>(values);
  const int64_t channels = kind.per_class ? emitted.tile.num_classes : 1;
  const int64_t total = channels * kTileVoxels;
  const int64_t size = ElementSize(dtype);
  std::byte* out = scratch->converted.Reserve(total * size);
  auto* halves = reinterpret_cast<uint16_t*>(out);
  if (dtype == DType::kF16 && kind.per_class) {
    RoundToHalf(values, emitted.tile.decision, keep_decision, channels, halves);
  } else if (dtype == DType::kF16) {
    // The kernel is for probabilities; logarithms are negative.
    std::transform(values, values + total, halves, HalfFromFloat);
  } else {
    for (int64_t i = 0; i < total; ++i) {
      const auto whole = static_cast<uint32_t>(
          std::clamp(std::nearbyint(static_cast<double>(values[i]) * scale), 0.0, 65535.0));
      // Little endian: the low bytes first.
      std::memcpy(out + i * size, &whole, static_cast<size_t>(size));
    }
  }
  return out;
}

void CaseOutput::AddTile(const EmittedTile& emitted,
                         bool keep_decision,
                         int64_t index,
                         Scratch* scratch) const {
  const int64_t size = ElementSize(dtype_);
  std::byte* block = scratch->block.Reserve(channels_ * kBlockVoxels * size);
  const std::byte* rows = RenderTile(kind_, dtype_, scale_, emitted, keep_decision, &scratch->tile);
  for (int64_t c = 0; c < channels_; ++c) {
    std::memcpy(block + (c * kBlockVoxels + index * kTileVoxels) * size,
                rows + c * kTileVoxels * size,
                static_cast<size_t>(kTileVoxels * size));
  }
}

void CheckTemperature(const std::vector<const OutputKind*>& kinds,
                      const CaseReader& reader,
                      const Pooling& pooling,
                      const BoundCalibrator& calibrator,
                      const std::string& pipeline) {
  const bool wanted = std::any_of(kinds.begin(), kinds.end(), [](const OutputKind* kind) {
    return kind->fill == &FillTemperature;
  });
  if (!wanted) return;
  VoxelBlock block;
  block.Read(reader, 0, std::min<int64_t>(kTileVoxels, reader.num_voxels()));
  TileBuffer buffer;
  alignas(64) float temperature[kTileVoxels];
  if (calibrator.Temperature(block.PoolTileInto(0, pooling, &buffer, Excused::kMasked),
                             temperature))
    return;
  Throw(ErrorCode::kInvalidArgument,
        "{} does not divide by a temperature: there is none to write",
        pipeline);
}

void CaseOutput::WriteBlock(const VoxelBlock& block, Scratch* scratch) const {
  const int64_t stride = kBlockVoxels * ElementSize(dtype_);
  for (int64_t c = 0; c < channels_; ++c) {
    writer_->WriteAt(
        c * num_voxels_ + block.first(), block.count(), scratch->block.Reserve(0) + c * stride);
  }
}

}  // namespace segcal
