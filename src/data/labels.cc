// SPDX-License-Identifier: Apache-2.0
#include "data/labels.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/half.h"
#include "core/throw.h"
#include "kernels/tile.h"

namespace segcal {
namespace {

constexpr int32_t kUnknown = -2;
constexpr int64_t kSmallValues = 256;

template <class T>
void ConvertIntegers(
    const Array&, int64_t, const std::byte* bytes, std::span<int64_t> out, const char*) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = static_cast<int64_t>(value);
  }
}

// Labels stored as floats are common in NIfTI; they must still be whole numbers.
int64_t WholeNumber(const Array& array, int64_t element, double value, const char* what) {
  if (!(std::fabs(value) < 0x1p53) || value != std::trunc(value)) {
    Throw(ErrorCode::kBadData,
          "{}: element {} is {}, {} must be whole numbers",
          array.name(),
          element,
          value,
          what);
  }
  return static_cast<int64_t>(value);
}

template <class T>
void ConvertFloats(const Array& array,
                   int64_t first,
                   const std::byte* bytes,
                   std::span<int64_t> out,
                   const char* what) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    out[i] = WholeNumber(array, first + static_cast<int64_t>(i), static_cast<double>(value), what);
  }
}

struct Half {
  uint16_t bits;
  explicit operator double() const noexcept { return FloatFromHalf(bits); }
};

auto ConverterFor(DType dtype) {
  switch (dtype) {
    case DType::kU8:
    case DType::kBool:
      return &ConvertIntegers<uint8_t>;
    case DType::kI8:
      return &ConvertIntegers<int8_t>;
    case DType::kU16:
      return &ConvertIntegers<uint16_t>;
    case DType::kI16:
      return &ConvertIntegers<int16_t>;
    case DType::kU32:
      return &ConvertIntegers<uint32_t>;
    case DType::kI32:
      return &ConvertIntegers<int32_t>;
    case DType::kU64:  // values past 2^63 turn negative, which no label may be
    case DType::kI64:
      return &ConvertIntegers<int64_t>;
    case DType::kF16:
      return &ConvertFloats<Half>;
    case DType::kF32:
      return &ConvertFloats<float>;
    case DType::kF64:
      return &ConvertFloats<double>;
  }
  return &ConvertIntegers<uint8_t>;
}

}  // namespace

void ReadIntegers(const Array& array, int64_t first, std::span<int64_t> out, const char* what) {
  const DType dtype = array.info().dtype;
  const void* direct = array.Direct(first);
  std::vector<std::byte> bytes;
  if (direct == nullptr) {
    bytes.resize(out.size() * static_cast<size_t>(SizeOf(dtype)));
    array.Read(first, static_cast<int64_t>(out.size()), bytes.data());
    direct = bytes.data();
  }
  ConverterFor(dtype)(array, first, static_cast<const std::byte*>(direct), out, what);
}

LabelReader::LabelReader(const Dataset& dataset, std::unique_ptr<Array> array)
    : array_(std::move(array)),
      label_map_(dataset.label_map),
      ignore_label_(dataset.ignore_label),
      num_classes_(dataset.num_classes()),
      small_(kSmallValues, kUnknown) {
  for (int64_t value = 0; value < kSmallValues; ++value) {
    small_[static_cast<size_t>(value)] = Lookup(value);
  }
}

// Class of a value in the file; kUnknown where there is none.
int32_t LabelReader::Lookup(int64_t value) const {
  if (!label_map_.empty()) {
    const auto it = label_map_.find(value);
    if (it == label_map_.end())
      return ignore_label_ && value == *ignore_label_ ? kNoLabel : kUnknown;
    value = it->second;
  }
  if (ignore_label_ && value == *ignore_label_) return kNoLabel;
  if (value < 0 || value >= num_classes_) return kUnknown;
  return static_cast<int32_t>(value);
}

int32_t LabelReader::ClassOf(int64_t value, int64_t voxel) const {
  const int32_t label =
      value >= 0 && value < kSmallValues ? small_[static_cast<size_t>(value)] : Lookup(value);
  if (label != kUnknown) return label;
  Throw(ErrorCode::kBadData,
        "{}: label {} at voxel {}; {} in [0, {}){} is required",
        array_->name(),
        value,
        voxel,
        label_map_.empty() ? "a class" : "a value of label_map, giving a class",
        num_classes_,
        ignore_label_ ? fmt::format(" or the ignore label {}", *ignore_label_)
                      : " (no ignore_label is set)");
}

// The usual case, labels in bytes: one look-up per voxel. False if some value has no class.
bool LabelReader::ReadBytes(int64_t first, std::span<int32_t> out) const {
  const void* direct = array_->Direct(first);
  std::vector<uint8_t> bytes;
  if (direct == nullptr) {
    bytes.resize(out.size());
    array_->Read(first, static_cast<int64_t>(out.size()), bytes.data());
    direct = bytes.data();
  }
  const auto* values = static_cast<const uint8_t*>(direct);
  const int32_t* classes = small_.data();
  int32_t lowest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = classes[values[i]];
    lowest = std::min(lowest, out[i]);
  }
  return lowest > kUnknown;
}

void LabelReader::Read(int64_t first, std::span<int32_t> out) const {
  const DType dtype = array_->info().dtype;
  if ((dtype == DType::kU8 || dtype == DType::kBool) && ReadBytes(first, out)) return;
  std::vector<int64_t> values(out.size());
  ReadIntegers(*array_, first, values, "labels");
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = ClassOf(values[i], first + static_cast<int64_t>(i));
}

}  // namespace segcal
