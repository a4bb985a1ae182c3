// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/file.h"
#include "formats/storage.h"

namespace segcal {

// What compressing has written, and the checksum of what it compressed.
struct Deflated {
  int64_t stored_bytes = 0;
  uint32_t crc = 0;
};

// Appends to `file` one raw deflate stream of `head` and then the bytes of `elements`. Blocks of
// fixed size are compressed each on its own, by this thread and others that are free, and joined
// where deflate begins anew at a byte (a sync flush): the bytes do not depend on num_threads.
Deflated DeflateInBlocks(std::span<const std::byte> head,
                         const Spool& elements,
                         int num_threads,
                         OutputFile* file);

// The same as one gzip member, without a time or name so that equal data gives equal bytes.
void GzipInBlocks(std::span<const std::byte> head,
                  const Spool& elements,
                  int num_threads,
                  OutputFile* file);

}  // namespace segcal
