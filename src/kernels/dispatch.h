// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "segcal/methods.h"

namespace segcal {

namespace internal {

// Applies SEGCAL_TARGET at its first call.
void EnsureTarget() noexcept;

}  // namespace internal

// Calls the active target's version of an exported (HWY_EXPORT) function.
#define SEGCAL_DISPATCH(function) \
  (::segcal::internal::EnsureTarget(), HWY_DYNAMIC_DISPATCH(function))

}  // namespace segcal
