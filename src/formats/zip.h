// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/file.h"
#include "formats/bytes.h"

namespace segcal {

// One member of a zip archive, by the archive's central directory.
struct ZipMember {
  std::string name;
  int flags = 0;
  int method = 0;
  uint32_t crc = 0;
  int64_t stored_bytes = 0;
  int64_t bytes = 0;  // after decompression
  int64_t header_offset = 0;
};

constexpr int kZipEncrypted = 1;  // a flag
constexpr int kZipStored = 0;     // methods
constexpr int kZipDeflated = 8;

// The central directory, in both its classic and its 64-bit form.
std::vector<ZipMember> ReadZipDirectory(const InputFile& file);

// Where the stored bytes of a member start; they lie inside the file.
int64_t ZipDataOffset(const InputFile& file, const ZipMember& member);

// Local header of a member whose data follows it; always with 64-bit sizes, as numpy writes it, so
// that its length is known before the data is.
Bytes EncodeZipLocalHeader(const ZipMember& member);

// What follows the data of the only member of an archive: directory and end records, in the 64-bit
// form only where the sizes need it.
Bytes EncodeZipEnd(const ZipMember& member);

}  // namespace segcal
