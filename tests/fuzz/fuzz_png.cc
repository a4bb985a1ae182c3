// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <vector>

#include "fuzz/fuzz_format.h"

namespace segcal {
extern const FormatInfo kPng;
}

namespace {

uint32_t BigEndian(const uint8_t* at) {
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

// Rights the checksum of every chunk; a fuzzer cannot guess them and would never get past the
// first.
void RepairChecksums(std::vector<uint8_t>* file) {
  for (size_t at = 8; at + 12 <= file->size();) {
    const size_t length = BigEndian(file->data() + at);
    if (length > file->size() - at - 12) return;
    const auto crc = static_cast<uint32_t>(crc32_z(0, file->data() + at + 4, length + 4));
    uint8_t* out = file->data() + at + 8 + length;
    for (int shift = 24; shift >= 0; shift -= 8) *out++ = static_cast<uint8_t>(crc >> shift);
    at += 12 + length;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  if (size % 8 != 0) RepairChecksums(&file);
  segcal::FuzzFormat(segcal::kPng, file.data(), file.size());
  return 0;
}
