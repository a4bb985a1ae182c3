// SPDX-License-Identifier: Apache-2.0
#include "pipeline/outputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/half.h"
#include "core/parallel.h"
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

void FillTemperature(const EmittedTile& emitted, float* out) {
  if (emitted.calibrator.Temperature(emitted.tile, out)) return;
  Throw(ErrorCode::kInvalidArgument,
        "this calibrator does not divide by a temperature: there is none to write");
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
                const CaseReader& reader,
                const std::string& path) {
  if (!format.writes_floats && kind.full_scale == nullptr) {
    Throw(ErrorCode::kInvalidArgument,
          "{} cannot be written as {}, which has no floats; formats that do are {}",
          kind.name,
          format.name,
          FormatsForAll());
  }
  if (!format.writes_volumes && reader.shape().size() != 2) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: the case has {} spatial axes, {} files have 2; formats for it are {}",
          path,
          reader.shape().size(),
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

// What the outputs of all threads may keep in memory until they are encoded: a quarter in all.
int64_t WriterMemory(const ApplyOptions& options) {
  const int64_t threads = options.run.threads > 0 ? options.run.threads : AvailableThreads();
  return options.run.memory / 4 / (threads * static_cast<int64_t>(options.write.size()));
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

CaseOutput::CaseOutput(std::string path,
                       const OutputKind& kind,
                       const CaseReader& reader,
                       const FormatInfo& format,
                       const ApplyOptions& options)
    : path_(std::move(path)),
      kind_(kind),
      channels_(kind.per_class ? reader.num_classes() : 1),
      num_voxels_(reader.num_voxels()),
      dtype_(FileType(kind, format, options.dtype, reader.num_classes())) {
  CheckHolds(format, kind, reader, path_);
  if (dtype_ == DType::kU16 && !kind.whole_numbers)
    scale_ = 65535.0 / kind.full_scale(reader.num_classes());
  ArrayInfo info{.dtype = dtype_, .shape = reader.shape(), .spacing = reader.spacing()};
  if (kind.per_class) AddClassAxis(format, channels_, &info);
  const std::string key = kind.per_class ? "probabilities" : kind.name;
  writer_ = CreateArray(path_,
                        info,
                        {.key = key,
                         .reference = reader.geometry_file(),
                         .memory_limit = WriterMemory(options),
                         .cache_dir = options.run.cache_dir});
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

void CaseOutput::WriteBlock(const VoxelBlock& block, Scratch* scratch) const {
  const int64_t stride = kBlockVoxels * ElementSize(dtype_);
  for (int64_t c = 0; c < channels_; ++c) {
    writer_->WriteAt(
        c * num_voxels_ + block.first(), block.count(), scratch->block.Reserve(0) + c * stride);
  }
}

}  // namespace segcal
