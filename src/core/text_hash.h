// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace segcal {

// FNV-1a of 64 bits: tells texts apart, and is no proof against forgery.
constexpr uint64_t HashText(std::string_view text) noexcept {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace segcal
