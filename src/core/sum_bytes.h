// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace segcal {

// Numbers one after the other, little-endian, for core/sums.h.
class SumWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void Put(T number) {
    char raw[sizeof(T)];
    std::memcpy(raw, &number, sizeof(T));
    if (std::endian::native != std::endian::little) std::reverse(raw, raw + sizeof(T));
    bytes_.append(raw, sizeof(T));
  }
  // Their number, which is known or put before, is not among the bytes.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void PutRow(const T* numbers, int64_t count) {
    if (std::endian::native == std::endian::little) {
      bytes_.append(reinterpret_cast<const char*>(numbers), static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) Put(numbers[i]);
    }
  }
  const std::string& Bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

// The same back. Bytes may come from anywhere: what cannot be is an Error.
class SumReader {
 public:
  explicit SumReader(std::string_view bytes) : left_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T Take() {
    char raw[sizeof(T)];
    TakeRaw(raw, sizeof(T));
    if (std::endian::native != std::endian::little) std::reverse(raw, raw + sizeof(T));
    if constexpr (std::same_as<T, bool>) {
      return raw[0] != 0;
    } else {
      T number;
      std::memcpy(&number, raw, sizeof(T));
      return number;
    }
  }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void TakeRow(T* numbers, int64_t count) {
    if (std::endian::native == std::endian::little) {
      TakeRaw(reinterpret_cast<char*>(numbers), static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) numbers[i] = Take<T>();
    }
  }
  // Of things that take at least a byte each: no more than there are bytes left.
  int64_t TakeCount();
  void ExpectEnd() const;
  [[noreturn]] void Refuse(const char* what, size_t required, size_t found) const;

 private:
  void TakeRaw(char* to, size_t size);

  std::string_view left_;
};

}  // namespace segcal
