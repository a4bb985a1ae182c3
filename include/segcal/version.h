// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace segcal {

// As in CMakeLists.txt; a test compares the two.
inline constexpr const char* kVersion = "0.2.0";

}  // namespace segcal
