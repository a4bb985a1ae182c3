// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "segcal/error.h"

namespace segcal::testing {

// Expects an Error of this code whose message has all the parts.
inline void ExpectError(ErrorCode code,
                        const std::vector<std::string>& parts,
                        const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
    for (const std::string& part : parts) {
      EXPECT_NE(message.find(part), std::string::npos) << "no \"" << part << "\" in: " << message;
    }
    return;
  }
  ADD_FAILURE() << "no error; expected one with \"" << (parts.empty() ? "" : parts[0]) << "\"";
}

}  // namespace segcal::testing
