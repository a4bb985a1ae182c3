// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace segcal {

// Element types of arrays in files and of the caller's memory. Always native byte order in memory.
// bfloat16 is read from memory alone: no file has it, and nothing is written in it.
enum class DType { kF16, kF32, kF64, kU8, kI8, kU16, kI16, kU32, kI32, kU64, kI64, kBool, kBF16 };

constexpr int64_t ElementSize(DType dtype) noexcept {
  switch (dtype) {
    case DType::kU8:
    case DType::kI8:
    case DType::kBool:
      return 1;
    case DType::kF16:
    case DType::kBF16:
    case DType::kU16:
    case DType::kI16:
      return 2;
    case DType::kF32:
    case DType::kU32:
    case DType::kI32:
      return 4;
    case DType::kF64:
    case DType::kU64:
    case DType::kI64:
      return 8;
  }
  return 0;
}

constexpr bool IsFloat(DType dtype) noexcept {
  return dtype == DType::kF16 || dtype == DType::kF32 || dtype == DType::kF64 ||
         dtype == DType::kBF16;
}

constexpr const char* Name(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF16:
      return "float16";
    case DType::kF32:
      return "float32";
    case DType::kF64:
      return "float64";
    case DType::kU8:
      return "uint8";
    case DType::kI8:
      return "int8";
    case DType::kU16:
      return "uint16";
    case DType::kI16:
      return "int16";
    case DType::kU32:
      return "uint32";
    case DType::kI32:
      return "int32";
    case DType::kU64:
      return "uint64";
    case DType::kI64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kBF16:
      return "bfloat16";
  }
  return "?";
}

}  // namespace segcal
