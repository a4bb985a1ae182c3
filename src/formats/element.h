// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "core/dtype.h"

namespace segcal {

// One element of an array as a number; whole numbers beyond 2^53 are rounded.
double LoadElement(DType dtype, const std::byte* bytes) noexcept;

// Stores the value of the type that is nearest to a finite number; what a whole-number type cannot
// hold becomes its largest or smallest value.
void StoreElement(DType dtype, double value, std::byte* bytes) noexcept;

}  // namespace segcal
