// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/file.h"
#include "formats/stream.h"

namespace segcal {

// Decodes all of `stored` at once, several times as fast as a stream does, if that gives exactly
// out.size() bytes; what may follow gzip members is as in InflateStream. False, with `out` in any
// state, where it does not: the stream will say why.
bool InflateWhole(std::span<const std::byte> stored,
                  Compression compression,
                  std::span<std::byte> out);

// The checksum of zip and gzip: of nothing 0, and of `data` after what had the checksum `before`.
uint32_t Crc32(uint32_t before, std::span<const std::byte> data) noexcept;
// Of bytes [offset, offset + size) of a file, by this thread and others that are free.
uint32_t FileCrc32(const InputFile& file, int64_t offset, int64_t size, int num_threads);
// Of two parts one after the other, the second of `size` bytes.
uint32_t JoinCrc32(uint32_t first, uint32_t second, int64_t size) noexcept;

}  // namespace segcal
