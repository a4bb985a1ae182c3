// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace segcal {

using Bytes = std::vector<std::byte>;

constexpr bool kLittleEndianMachine = std::endian::native == std::endian::little;

// Reverses the bytes of each element in place.
inline void SwapElements(std::span<std::byte> data, int64_t element_size) noexcept {
  if (element_size == 1) return;
  const auto step = static_cast<size_t>(element_size);
  for (size_t at = 0; at + step <= data.size(); at += step) {
    std::reverse(data.begin() + static_cast<ptrdiff_t>(at),
                 data.begin() + static_cast<ptrdiff_t>(at + step));
  }
}

// A number stored at `at`; `swap` where its byte order is not the machine's.
template <class T>
T Load(const std::byte* at, bool swap) noexcept {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, at, sizeof(T));
  if (swap) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

template <class T>
T LoadLittle(const std::byte* at) noexcept {
  return Load<T>(at, !kLittleEndianMachine);
}

template <class T>
void StoreLittle(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof(T));
  if (!kLittleEndianMachine) std::reverse(at, at + sizeof(T));
}

template <class T>
void AppendLittle(Bytes* out, T value) {
  out->resize(out->size() + sizeof(T));
  StoreLittle(out->data() + out->size() - sizeof(T), value);
}

inline void AppendText(Bytes* out, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  out->insert(out->end(), bytes.begin(), bytes.end());
}

}  // namespace segcal
