// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_format.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/file.h"
#include "segcal/error.h"

namespace segcal {
namespace {

// Small, so that the way through the temporary file is taken as well.
constexpr int64_t kMemoryLimit = 4096;
constexpr int64_t kMaxRead = int64_t{1} << 24;

void OpenAndRead(const FormatInfo& format, const std::string& path) {
  OpenOptions options;
  options.memory_limit = kMemoryLimit;
  options.cache_dir = "/dev/shm";
  const auto array = format.open(path, options);
  const int64_t count = array->info().NumElements();
  if (count > kMaxRead) return;
  std::vector<std::byte> elements(static_cast<size_t>(count * ElementSize(array->info().dtype)));
  array->Read(0, count, elements.data());
}

}  // namespace

void FuzzFormat(const FormatInfo& format, const uint8_t* data, size_t size) {
  const int fd = ::memfd_create("fuzz", 0);
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  WriteFully(fd, path, 0, {reinterpret_cast<const std::byte*>(data), size});
  try {
    OpenAndRead(format, path);
  } catch (const Error&) {
  }
  ::close(fd);
}

}  // namespace segcal
