// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "core/throw.h"

namespace segcal {

// The names of an enum whose values count from 0, in that order: one list for writing and reading.
template <size_t kCount>
using NameList = std::array<const char*, kCount>;

template <class Enum, size_t kCount>
const char* FindName(Enum value, const NameList<kCount>& names) noexcept {
  return names[static_cast<size_t>(value)];
}

// The value of a name; an unknown one is an Error about a `what` that lists the known ones.
template <class Enum, size_t kCount>
Enum ParseName(const char* what, const std::string& name, const NameList<kCount>& names) {
  for (size_t i = 0; i < kCount; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  Throw(ErrorCode::kInvalidArgument,
        "unknown {} \"{}\", one of {} is required",
        what,
        name,
        fmt::join(names, ", "));
}

}  // namespace segcal
