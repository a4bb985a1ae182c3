// SPDX-License-Identifier: Apache-2.0
#include "formats/deflate_blocks.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "core/parallel.h"
#include "core/progress.h"
#include "core/throw.h"
#include "formats/inflate_whole.h"

namespace segcal {
namespace {

// Of what is compressed. What a block cannot refer to in the one before costs less than a
// thousandth at this size.
constexpr int64_t kBlockBytes = int64_t{1} << 19;
// Blocks of one batch per thread: compressed side by side, then written.
constexpr int64_t kBlocksPerThread = 8;

// `head` and `elements` as one run of bytes.
class Input {
 public:
  Input(std::span<const std::byte> head, const Spool& elements)
      : head_(head), elements_(elements) {}

  int64_t size() const { return std::ssize(head_) + elements_.size(); }
  int64_t num_blocks() const {
    return std::max<int64_t>(1, (size() + kBlockBytes - 1) / kBlockBytes);
  }

  void ReadBlock(int64_t block, Bytes* out) const {
    const int64_t begin = block * kBlockBytes;
    out->resize(static_cast<size_t>(std::min(kBlockBytes, size() - begin)));
    const int64_t in_head = std::clamp<int64_t>(std::ssize(head_) - begin, 0, std::ssize(*out));
    std::copy_n(head_.begin() + std::min(begin, std::ssize(head_)), in_head, out->begin());
    const auto rest = std::span(*out).subspan(static_cast<size_t>(in_head));
    if (!rest.empty()) elements_.ReadAt(begin + in_head - std::ssize(head_), rest);
  }

 private:
  std::span<const std::byte> head_;
  const Spool& elements_;
};

// One block, compressed, with what it was.
struct Block {
  Bytes bytes;
  Bytes stored;
  uint32_t crc = 0;
};

void Compress(const std::string& path, bool is_last, Block* block) {
  // The fastest level: soft maps are close to noise in their low bits, more effort gains a few
  // percent for many times the time.
  z_stream zlib{};
  if (deflateInit2(&zlib, Z_BEST_SPEED, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    Throw(ErrorCode::kIo, "{}: cannot start compression: not enough memory", path);
  // The bound is for a stream that ends; a flush in its place writes no more than five bytes.
  block->stored.resize(deflateBound(&zlib, static_cast<uLong>(block->bytes.size())) + 5);
  zlib.next_in = reinterpret_cast<Bytef*>(block->bytes.data());
  zlib.avail_in = static_cast<uInt>(block->bytes.size());
  zlib.next_out = reinterpret_cast<Bytef*>(block->stored.data());
  zlib.avail_out = static_cast<uInt>(block->stored.size());
  const int status = deflate(&zlib, is_last ? Z_FINISH : Z_SYNC_FLUSH);
  const bool done = is_last ? status == Z_STREAM_END : status == Z_OK && zlib.avail_out > 0;
  block->stored.resize(block->stored.size() - zlib.avail_out);
  deflateEnd(&zlib);
  if (!done) Throw(ErrorCode::kIo, "{}: compression ended early, zlib says {}", path, status);
}

void AppendNumber(uint32_t number, OutputFile* file) {
  Bytes bytes;
  AppendLittle(&bytes, number);
  file->Append(bytes);
}

}  // namespace

Deflated DeflateInBlocks(std::span<const std::byte> head,
                         const Spool& elements,
                         int num_threads,
                         OutputFile* file) {
  const Input input(head, elements);
  const int64_t num_blocks = input.num_blocks();
  std::vector<Block> batch(
      static_cast<size_t>(std::min(num_blocks, kBlocksPerThread * num_threads)));
  Deflated deflated;
  for (int64_t first = 0; first < num_blocks; first += std::ssize(batch)) {
    const int64_t count = std::min(std::ssize(batch), num_blocks - first);
    ParallelForSpare(count, num_threads, [&](int64_t k, int) {
      Block& block = batch[static_cast<size_t>(k)];
      input.ReadBlock(first + k, &block.bytes);
      block.crc = Crc32(0, block.bytes);
      Compress(file->path(), first + k + 1 == num_blocks, &block);
    });
    for (int64_t k = 0; k < count; ++k) {
      const Block& block = batch[static_cast<size_t>(k)];
      file->Append(block.stored);
      deflated.stored_bytes += std::ssize(block.stored);
      deflated.crc = JoinCrc32(deflated.crc, block.crc, std::ssize(block.bytes));
    }
  }
  return deflated;
}

void GzipInBlocks(std::span<const std::byte> head,
                  const Spool& elements,
                  int num_threads,
                  OutputFile* file) {
  // Method deflate, no flags, no time, the fastest level, Unix: what zlib writes.
  constexpr uint8_t kHeader[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
  file->Append(std::as_bytes(std::span(kHeader)));
  const Deflated deflated = DeflateInBlocks(head, elements, num_threads, file);
  AppendNumber(deflated.crc, file);
  AppendNumber(static_cast<uint32_t>(std::ssize(head) + elements.size()), file);  // modulo 2^32
}

}  // namespace segcal
