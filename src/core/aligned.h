// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace segcal {

// Memory on a 64-byte boundary, contents not initialised; grows, never shrinks.
class AlignedBuffer {
 public:
  std::byte* Reserve(int64_t bytes) {
    if (bytes > size_) {
      data_.reset(static_cast<std::byte*>(::operator new(static_cast<size_t>(bytes), kAlignment)));
      size_ = bytes;
    }
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Deleter {
    void operator()(std::byte* p) const noexcept { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, Deleter> data_;
  int64_t size_ = 0;
};

}  // namespace segcal
