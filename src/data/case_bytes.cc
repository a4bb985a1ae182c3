// SPDX-License-Identifier: Apache-2.0
#include "data/case_bytes.h"

#include <filesystem>

#include "data/array_source.h"

namespace segcal {

int64_t SourceBytes(const Dataset& dataset, const ArraySource& source) {
  int64_t bytes = 0;
  if (source.in_memory()) {
    bytes = ElementSize(source.view().dtype);
    for (const int64_t side : source.view().shape) bytes *= side;
  }
  for (const std::string& path : FullPaths(dataset, source)) {
    std::error_code error;
    const auto size = std::filesystem::file_size(path, error);
    if (!error) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

int64_t PredictionBytes(const Dataset& dataset, const Case& entry) {
  int64_t bytes = 0;
  for (const ArraySource& member : entry.members) bytes += SourceBytes(dataset, member);
  return bytes;
}

}  // namespace segcal
