// SPDX-License-Identifier: Apache-2.0
#include "pipeline/memory_output.h"

#include <algorithm>

#include "core/throw.h"
#include "data/array_source.h"
#include "kernels/emit.h"

namespace segcal {
namespace {

std::vector<int64_t> WantedShape(const OutputKind& kind, const CaseReader& reader) {
  std::vector<int64_t> shape = reader.shape();
  if (kind.per_class) shape.insert(shape.begin(), reader.num_classes());
  return shape;
}

void CheckType(const OutputKind& kind,
               DType dtype,
               const CaseReader& reader,
               const std::string& name) {
  if (!kind.whole_numbers) {
    if (dtype == DType::kF16 || dtype == DType::kF32) return;
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} values; float16 or float32 is required",
          name,
          Name(dtype));
  }
  const bool fits = dtype == DType::kU16 || dtype == DType::kI32 ||
                    (dtype == DType::kU8 && reader.num_classes() <= 256);
  if (fits) return;
  Throw(ErrorCode::kInvalidArgument,
        "{}: {} values for {} classes; uint8 (up to 256 classes), uint16 or int32 is required",
        name,
        Name(dtype),
        reader.num_classes());
}

// A range of addresses and what lies there.
struct NamedRange {
  std::string name;
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

NamedRange FindRange(const std::string& name, const void* data, const StridedElements& elements) {
  const auto start = reinterpret_cast<uintptr_t>(data);
  const ByteRange covered = CoveredBytes(elements);
  return {.name = name,
          .begin = start + static_cast<uintptr_t>(covered.begin),
          .end = start + static_cast<uintptr_t>(covered.end)};
}

NamedRange FindRange(const MemoryOutput& output) {
  return FindRange(output.name(), output.data(), output.elements());
}

void AddRange(const ArraySource& source, const std::string& name, std::vector<NamedRange>* ranges) {
  if (!source.in_memory()) return;
  const ArrayView& view = source.view();
  ranges->push_back(
      FindRange(name,
                view.data,
                {.shape = view.shape,
                 .strides = view.strides.empty() ? RowMajorStrides(view.shape) : view.strides,
                 .element_size = ElementSize(view.dtype)}));
}

// What of a case is in memory.
std::vector<NamedRange> InputRanges(const Case& entry) {
  std::vector<NamedRange> ranges;
  for (size_t m = 0; m < entry.members.size(); ++m)
    AddRange(entry.members[m], fmt::format("member {}", m), &ranges);
  AddRange(entry.mask, "the mask", &ranges);
  AddRange(entry.image, "the image", &ranges);
  return ranges;
}

}  // namespace

MemoryOutput::MemoryOutput(const OutputKind& kind, const ArraySpan& span, const CaseReader& reader)
    : kind_(kind),
      name_(fmt::format("case {}: output {}", reader.id(), kind.name)),
      dtype_(span.dtype),
      data_(static_cast<std::byte*>(span.data)),
      num_voxels_(reader.num_voxels()) {
  // A span is checked as the view of it.
  OpenView({.data = span.data, .dtype = span.dtype, .shape = span.shape, .strides = span.strides},
           name_);
  const std::vector<int64_t> wanted = WantedShape(kind, reader);
  if (span.shape != wanted) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: shape ({}), ({}) is required",
          name_,
          fmt::join(span.shape, ", "),
          fmt::join(wanted, ", "));
  }
  CheckType(kind, dtype_, reader, name_);
  elements_ = {.shape = span.shape,
               .strides = span.strides.empty() ? RowMajorStrides(span.shape) : span.strides,
               .element_size = ElementSize(dtype_)};
  voxels_ = CollapseAxes(elements_.shape, elements_.strides, kind.per_class ? 1 : 0);
}

// Whole rows of float32 go past the caches.
bool MemoryOutput::CanStream() const noexcept {
  return kind_.per_class && dtype_ == DType::kF32 && voxels_.exists && voxels_.stride == 1 &&
         reinterpret_cast<uintptr_t>(data_) % sizeof(float) == 0;
}

void MemoryOutput::Write(const EmittedTile& emitted,
                         bool keep_decision,
                         TileScratch* scratch) const {
  const Tile& tile = emitted.tile;
  if (CanStream()) {
    StreamRows(emitted.probs.probs,
               tile.num_classes,
               tile.count,
               elements_.strides[0],
               reinterpret_cast<float*>(data_) + tile.first_voxel);
    return;
  }
  const int64_t channels = kind_.per_class ? tile.num_classes : 1;
  const std::byte* rows = RenderTile(kind_, dtype_, /*scale=*/1.0, emitted, keep_decision, scratch);
  for (int64_t c = 0; c < channels; ++c) {
    ScatterElements(elements_,
                    rows + c * kTileVoxels * elements_.element_size,
                    c * num_voxels_ + tile.first_voxel,
                    tile.count,
                    data_);
  }
}

std::vector<MemoryOutput> OpenOutputs(const ApplyOutputs& out, const CaseReader& reader) {
  std::vector<MemoryOutput> outputs;
  const auto add = [&](const char* kind, const ArraySpan& span) {
    // A shape without data is a mistake, not an output that nobody wants.
    if (span.data != nullptr || !span.shape.empty())
      outputs.emplace_back(FindOutputKind(kind), span, reader);
  };
  add("probabilities", out.probabilities);
  add("labels", out.labels);
  add("confidence", out.confidence);
  add("entropy", out.entropy);
  add("temperature", out.temperature);
  if (outputs.empty()) {
    Throw(ErrorCode::kInvalidArgument,
          "case {}: no output has data; at least one array to write to is required",
          reader.id());
  }
  return outputs;
}

void CheckApart(const std::vector<MemoryOutput>& outputs, const Case& entry) {
  std::vector<NamedRange> taken = InputRanges(entry);
  for (const MemoryOutput& output : outputs) {
    if (!ElementsAreApart(output.elements())) {
      Throw(ErrorCode::kInvalidArgument,
            "{}: strides ({}) put several elements at one place",
            output.name(),
            fmt::join(output.elements().strides, ", "));
    }
    const NamedRange range = FindRange(output);
    for (const NamedRange& other : taken) {
      if (range.begin >= other.end || other.begin >= range.end) continue;
      Throw(ErrorCode::kInvalidArgument,
            "{}: overlaps the memory of {}; an array of its own is required",
            output.name(),
            other.name);
    }
    taken.push_back(range);
  }
}

}  // namespace segcal
