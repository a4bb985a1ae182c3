// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "segcal/export.h"

namespace segcal {

// Who has to act: the caller (a wrong argument), whoever made the data, or whoever runs the
// machine.
enum class ErrorCode {
  kInvalidArgument,  // unknown method, option out of range, a view without data
  kBadData,          // a file or array whose content cannot be right
  kIo,               // a file cannot be opened, read or written
  kUnsupported,      // well formed, but not something segcal handles
  kCancelled,        // a progress callback asked to stop
};

// The only exception segcal throws on purpose. The message names the file or field, the value found
// and the value required.
class SEGCAL_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace segcal
