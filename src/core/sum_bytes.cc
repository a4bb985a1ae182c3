// SPDX-License-Identifier: Apache-2.0
#include "core/sum_bytes.h"

#include "core/throw.h"

namespace segcal {

void SumReader::TakeRaw(char* to, size_t size) {
  if (size > left_.size())
    Throw(
        ErrorCode::kBadData, "packed sums: {} bytes are left, {} are required", left_.size(), size);
  std::memcpy(to, left_.data(), size);
  left_.remove_prefix(size);
}

int64_t SumReader::TakeCount() {
  const auto count = Take<int64_t>();
  if (count < 0 || count > static_cast<int64_t>(left_.size())) {
    Throw(ErrorCode::kBadData,
          "packed sums: a count of {}, at most {} is possible",
          count,
          left_.size());
  }
  return count;
}

void SumReader::ExpectEnd() const {
  if (!left_.empty())
    Throw(ErrorCode::kBadData, "packed sums: {} bytes after the end", left_.size());
}

void SumReader::Refuse(const char* what, size_t required, size_t found) const {
  Throw(ErrorCode::kBadData, "packed sums: {} of {}, {} required", what, found, required);
}

}  // namespace segcal
