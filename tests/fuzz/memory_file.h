// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <span>
#include <string>

#include "core/file.h"

namespace segcal {

// A file that exists in memory only, for readers that take a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> content) : fd_(::memfd_create("fuzz", 0)) {
    WriteFully(fd_, path(), 0, content);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(fd_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace segcal
