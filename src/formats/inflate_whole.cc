// SPDX-License-Identifier: Apache-2.0
#include "formats/inflate_whole.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/parallel.h"

namespace segcal {
namespace {

struct FreeDecoder {
  void operator()(libdeflate_decompressor* decoder) const noexcept {
    libdeflate_free_decompressor(decoder);
  }
};
using Decoder = std::unique_ptr<libdeflate_decompressor, FreeDecoder>;

bool InflateRaw(libdeflate_decompressor* decoder,
                std::span<const std::byte> stored,
                std::span<std::byte> out) {
  size_t used = 0;
  size_t made = 0;
  return libdeflate_deflate_decompress_ex(
             decoder, stored.data(), stored.size(), out.data(), out.size(), &used, &made) ==
             LIBDEFLATE_SUCCESS &&
         used == stored.size() && made == out.size();
}

// Members one after the other, then zeros.
bool InflateGzip(libdeflate_decompressor* decoder,
                 std::span<const std::byte> stored,
                 std::span<std::byte> out) {
  do {
    size_t used = 0;
    size_t made = 0;
    if (libdeflate_gzip_decompress_ex(
            decoder, stored.data(), stored.size(), out.data(), out.size(), &used, &made) !=
        LIBDEFLATE_SUCCESS)
      return false;
    stored = stored.subspan(used);
    out = out.subspan(made);
  } while (!stored.empty() && stored.front() == std::byte{0x1f});
  return out.empty() && std::all_of(stored.begin(), stored.end(), [](std::byte byte) {
           return byte == std::byte{0};
         });
}

}  // namespace

bool InflateWhole(std::span<const std::byte> stored,
                  Compression compression,
                  std::span<std::byte> out) {
  const Decoder decoder(libdeflate_alloc_decompressor());
  if (!decoder) return false;
  return compression == Compression::kGzip ? InflateGzip(decoder.get(), stored, out)
                                           : InflateRaw(decoder.get(), stored, out);
}

uint32_t Crc32(uint32_t before, std::span<const std::byte> data) noexcept {
  return libdeflate_crc32(before, data.data(), data.size());
}

uint32_t JoinCrc32(uint32_t first, uint32_t second, int64_t size) noexcept {
  return static_cast<uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(size)));
}

uint32_t FileCrc32(const InputFile& file, int64_t offset, int64_t size, int num_threads) {
  constexpr int64_t kPart = int64_t{1} << 20;
  const int64_t num_parts = (size + kPart - 1) / kPart;
  const auto size_of = [&](int64_t k) { return std::min(kPart, size - k * kPart); };
  std::vector<uint32_t> sums(static_cast<size_t>(num_parts));
  std::vector<Bytes> buffers(static_cast<size_t>(num_threads));
  ParallelForSpare(num_parts, num_threads, [&](int64_t k, int worker) {
    Bytes& buffer = buffers[static_cast<size_t>(worker)];
    buffer.resize(static_cast<size_t>(size_of(k)));
    file.ReadAt(offset + k * kPart, buffer);
    sums[static_cast<size_t>(k)] = Crc32(0, buffer);
  });
  uint32_t sum = 0;
  for (int64_t k = 0; k < num_parts; ++k)
    sum = JoinCrc32(sum, sums[static_cast<size_t>(k)], size_of(k));
  return sum;
}

}  // namespace segcal
