// SPDX-License-Identifier: Apache-2.0
#include "data/labels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

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
    case DType::kU64:  // values past 2^63 turn negative, which no class is; ShownValue undoes it
    case DType::kI64:
      return &ConvertIntegers<int64_t>;
    case DType::kF16:
      return &ConvertFloats<Half>;
    case DType::kF32:
      return &ConvertFloats<float>;
    case DType::kF64:
      return &ConvertFloats<double>;
    case DType::kBF16:
      return &ConvertFloats<BFloat16>;
  }
  return &ConvertIntegers<uint8_t>;
}

// "(3, 17)", slowest axis first.
std::string Coordinates(const std::vector<int64_t>& shape, int64_t element) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return fmt::format("({})", fmt::join(index, ", "));
}

// As it is in the file.
std::string ShownValue(const Array& array, int64_t value) {
  if (array.info().dtype == DType::kU64) return std::to_string(static_cast<uint64_t>(value));
  return std::to_string(value);
}

// The elements from `first` on, where they lie or read into `buffer`.
const std::byte* ReadElements(const Array& array,
                              int64_t first,
                              int64_t count,
                              std::vector<std::byte>* buffer) {
  if (const void* direct = array.Direct(first)) return static_cast<const std::byte*>(direct);
  buffer->resize(static_cast<size_t>(count * ElementSize(array.info().dtype)));
  array.Read(first, count, buffer->data());
  return buffer->data();
}

}  // namespace

void ReadIntegers(const Array& array, int64_t first, std::span<int64_t> out, const char* what) {
  std::vector<std::byte> buffer;
  const std::byte* data = ReadElements(array, first, static_cast<int64_t>(out.size()), &buffer);
  ConverterFor(array.info().dtype)(array, first, data, out, what);
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

int32_t LabelReader::FindClass(int64_t value, int64_t voxel) const {
  const int32_t label =
      value >= 0 && value < kSmallValues ? small_[static_cast<size_t>(value)] : Lookup(value);
  if (label != kUnknown) return label;
  Throw(ErrorCode::kBadData,
        "{}: label {} at voxel {}; {} in [0, {}){} is required: option label_map of index turns "
        "other values into classes{}",
        array_->name(),
        ShownValue(*array_, value),
        Coordinates(array_->info().shape, voxel),
        label_map_.empty() ? "a class" : "a value of label_map, giving a class",
        num_classes_,
        ignore_label_ ? fmt::format(" or the ignore label {}", *ignore_label_) : "",
        ignore_label_ ? "" : ", option ignore_label of index leaves one out");
}

// Bytes with a label map: one look-up per voxel. False if some value has no class.
bool LabelReader::MapBytes(const std::byte* bytes, std::span<int32_t> out) const {
  const int32_t* classes = small_.data();
  int32_t lowest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = classes[static_cast<uint8_t>(bytes[i])];
    lowest = std::min(lowest, out[i]);
  }
  return lowest > kUnknown;
}

// No label map: comparisons, which the compiler makes into vectors. False if some value has no
// class.
template <class T>
bool LabelReader::CompareValues(const std::byte* bytes, std::span<int32_t> out) const {
  const auto num_classes = static_cast<int32_t>(num_classes_);
  const bool fits = ignore_label_ && std::in_range<int32_t>(*ignore_label_);
  const auto ignored = fits ? static_cast<int32_t>(*ignore_label_) : kNoLabel;
  const int32_t none = fits ? kNoLabel : kUnknown;
  int32_t lowest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    T element;
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    const auto value = static_cast<int32_t>(element);
    const int32_t known = ((value >= 0) & (value < num_classes)) ? value : kUnknown;
    out[i] = value == ignored ? none : known;
    lowest = std::min(lowest, out[i]);
  }
  return lowest > kUnknown;
}

// The types that labels mostly have. False if it is another, or if some value has no class.
bool LabelReader::ReadQuickly(int64_t first, std::span<int32_t> out) const {
  const DType dtype = array_->info().dtype;
  const bool bytes = dtype == DType::kU8 || dtype == DType::kBool;
  const bool plain = label_map_.empty();
  if (!bytes && !(plain && (dtype == DType::kU16 || dtype == DType::kI32))) return false;
  std::vector<std::byte> buffer;
  const std::byte* data = ReadElements(*array_, first, static_cast<int64_t>(out.size()), &buffer);
  if (!plain) return MapBytes(data, out);
  if (bytes) return CompareValues<uint8_t>(data, out);
  return dtype == DType::kU16 ? CompareValues<uint16_t>(data, out)
                              : CompareValues<int32_t>(data, out);
}

void LabelReader::Read(int64_t first, std::span<int32_t> out) const {
  if (ReadQuickly(first, out)) return;
  std::vector<int64_t> values(out.size());
  ReadIntegers(*array_, first, values, "labels");
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = FindClass(values[i], first + static_cast<int64_t>(i));
}

}  // namespace segcal
