// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace segcal {

// Tests over every float32 visit every one, or, where sanitizers make them ten times slower, every
// 61st.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr uint32_t kTestStep = 61;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr uint32_t kTestStep = 61;
#else
inline constexpr uint32_t kTestStep = 1;
#endif
#else
inline constexpr uint32_t kTestStep = 1;
#endif

}  // namespace segcal
