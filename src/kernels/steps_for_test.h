// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>

namespace segcal {

// Tests over every float32 go through runs of neighbours. With SEGCAL_LONG_TESTS set, as
// scripts/verify-long does, they take every run, else one in seven.
inline uint32_t RunStep() { return std::getenv("SEGCAL_LONG_TESTS") != nullptr ? 1 : 7; }

}  // namespace segcal
