// SPDX-License-Identifier: Apache-2.0
#include "formats/element.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/half.h"

namespace segcal {
namespace {

template <class T>
double LoadAs(const std::byte* bytes) noexcept {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

template <class T>
void StoreAs(double value, std::byte* bytes) noexcept {
  const T converted = static_cast<T>(value);
  std::memcpy(bytes, &converted, sizeof(T));
}

template <class T>
void StoreWhole(double value, std::byte* bytes) noexcept {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  // Compared as doubles: the largest 64-bit numbers round up to one that no integer has.
  T converted = kMost;
  if (std::round(value) <= static_cast<double>(kLeast)) {
    converted = kLeast;
  } else if (std::round(value) < static_cast<double>(kMost)) {
    converted = static_cast<T>(std::round(value));
  }
  std::memcpy(bytes, &converted, sizeof(T));
}

}  // namespace

double LoadElement(DType dtype, const std::byte* bytes) noexcept {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return LoadAs<uint8_t>(bytes);
    case DType::kI8:
      return LoadAs<int8_t>(bytes);
    case DType::kU16:
      return LoadAs<uint16_t>(bytes);
    case DType::kI16:
      return LoadAs<int16_t>(bytes);
    case DType::kU32:
      return LoadAs<uint32_t>(bytes);
    case DType::kI32:
      return LoadAs<int32_t>(bytes);
    case DType::kU64:
      return LoadAs<uint64_t>(bytes);
    case DType::kI64:
      return LoadAs<int64_t>(bytes);
    case DType::kF32:
      return LoadAs<float>(bytes);
    case DType::kF64:
      return LoadAs<double>(bytes);
    case DType::kBF16:
      return LoadAs<BFloat16>(bytes);
    case DType::kF16:
      break;
  }
  uint16_t bits;
  std::memcpy(&bits, bytes, sizeof(bits));
  return static_cast<double>(FloatFromHalf(bits));
}

void StoreElement(DType dtype, double value, std::byte* bytes) noexcept {
  switch (dtype) {
    case DType::kBool:
      return StoreAs<uint8_t>(value >= 0.5 ? 1.0 : 0.0, bytes);
    case DType::kU8:
      return StoreWhole<uint8_t>(value, bytes);
    case DType::kI8:
      return StoreWhole<int8_t>(value, bytes);
    case DType::kU16:
      return StoreWhole<uint16_t>(value, bytes);
    case DType::kI16:
      return StoreWhole<int16_t>(value, bytes);
    case DType::kU32:
      return StoreWhole<uint32_t>(value, bytes);
    case DType::kI32:
      return StoreWhole<int32_t>(value, bytes);
    case DType::kU64:
      return StoreWhole<uint64_t>(value, bytes);
    case DType::kI64:
      return StoreWhole<int64_t>(value, bytes);
    case DType::kF32:
      return StoreAs<float>(value, bytes);
    case DType::kF64:
      return StoreAs<double>(value, bytes);
    case DType::kBF16: {
      const BFloat16 converted = BFloatFromFloat(static_cast<float>(value));
      std::memcpy(bytes, &converted, sizeof(converted));
      return;
    }
    case DType::kF16:
      break;
  }
  const uint16_t bits = HalfFromFloat(static_cast<float>(value));
  std::memcpy(bytes, &bits, sizeof(bits));
}

}  // namespace segcal
