// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace segcal {

// Does `rounds` rounds of multiply-adds on vectors in registers, nothing else, on the calling
// thread and the instruction set that kernels use. Returns the multiply-adds of single numbers;
// *sink keeps the compiler from leaving them out.
int64_t MultiplyAdds(int64_t rounds, float* sink) noexcept;

}  // namespace segcal
