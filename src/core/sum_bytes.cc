// SPDX-License-Identifier: Apache-2.0
#include "core/sum_bytes.h"

#include "core/throw.h"

namespace segcal {

void SumReader::TakeRaw(char* to, size_t size) {
  if (size > left_.size()) Refuse("bytes to come", size, left_.size());
  std::memcpy(to, left_.data(), size);
  left_.remove_prefix(size);
}

int64_t SumReader::TakeCount() {
  const auto count = Take<int64_t>();
  if (count < 0 || count > static_cast<int64_t>(left_.size()))
    Refuse("a count", left_.size(), static_cast<size_t>(count));
  return count;
}

void SumReader::ExpectEnd() const {
  if (!left_.empty()) Refuse("bytes after the end", 0, left_.size());
}

void SumReader::Refuse(const char* what, size_t required, size_t found) const {
  Throw(ErrorCode::kBadData, "packed sums: {} of {}, {} required", what, found, required);
}

}  // namespace segcal
