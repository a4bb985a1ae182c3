// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace segcal {

// Memory on a 64-byte boundary, contents not initialised; grows, never shrinks.
//
// Large memory asks for huge pages, as NumPy does for its arrays: a tile reads a row of every
// class, and rows of planes that are a power of two apart share the few entries of the page table's
// cache that small pages would need.
class AlignedBuffer {
 public:
  std::byte* Reserve(int64_t bytes) {
    if (bytes > size_) {
      data_.reset();
      const auto size = static_cast<size_t>(bytes);
      const std::align_val_t alignment = bytes >= kLarge ? kHugePage : kCacheLine;
      auto* memory = static_cast<std::byte*>(::operator new(size, alignment));
      data_ = std::unique_ptr<std::byte, Deleter>(memory, Deleter{alignment});
      // A request that may be declined, with nothing to do about it.
      if (bytes >= kLarge) ::madvise(data_.get(), size, MADV_HUGEPAGE);
      size_ = bytes;
    }
    return data_.get();
  }

  // What Reserve has given last.
  std::byte* Get() const noexcept { return data_.get(); }

 private:
  static constexpr std::align_val_t kCacheLine{64};
  static constexpr std::align_val_t kHugePage{size_t{2} << 20};
  static constexpr int64_t kLarge = int64_t{4} << 20;  // where NumPy begins
  struct Deleter {
    std::align_val_t alignment;
    void operator()(std::byte* p) const noexcept { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Deleter> data_{nullptr, Deleter{kCacheLine}};
  int64_t size_ = 0;
};

}  // namespace segcal
