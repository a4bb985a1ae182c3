// SPDX-License-Identifier: Apache-2.0
#pragma once

// For our own bugs only; off in release builds. What a caller or a file can get wrong throws Error.
#if defined(SEGCAL_DCHECK_ENABLED)
#define SEGCAL_DCHECK(condition)      \
  ((condition) ? static_cast<void>(0) \
               : segcal::internal::DcheckFailed(#condition, __FILE__, __LINE__))
#else
#define SEGCAL_DCHECK(condition) static_cast<void>(0)
#endif

namespace segcal::internal {

// Prints and aborts.
[[noreturn]] void DcheckFailed(const char* condition, const char* file, int line);

}  // namespace segcal::internal
