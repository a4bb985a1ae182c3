// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include "segcal/error.h"

namespace segcal::cli {

// throw Error(code, message), the message formatted.
template <class... Args>
[[noreturn]] void Throw(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace segcal::cli
