// SPDX-License-Identifier: Apache-2.0
#include "formats/stream.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/progress.h"
#include "core/throw.h"

namespace segcal {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 16;

// zlib counts in 32 bits.
uInt Clamped(size_t size) noexcept {
  return static_cast<uInt>(std::min<size_t>(size, std::numeric_limits<uInt>::max()));
}

Bytef* AsZlib(std::byte* data) noexcept { return reinterpret_cast<Bytef*>(data); }

}  // namespace

size_t FileStream::Read(std::span<std::byte> out) {
  const auto count = std::min(out.size(), static_cast<size_t>(left_));
  file_.ReadAt(offset_, out.first(count));
  offset_ += static_cast<int64_t>(count);
  left_ -= static_cast<int64_t>(count);
  return count;
}

size_t MemoryStream::Read(std::span<std::byte> out) {
  const size_t count = std::min(out.size(), left_.size());
  std::copy_n(left_.begin(), count, out.begin());
  left_ = left_.subspan(count);
  return count;
}

InflateStream::InflateStream(std::string name,
                             std::unique_ptr<ByteStream> source,
                             Compression compression)
    : name_(std::move(name)),
      source_(std::move(source)),
      compression_(compression),
      buffer_(kBufferBytes) {
  // zlib's window argument: negative for raw deflate, plus 16 for gzip.
  const int window = compression == Compression::kGzip ? MAX_WBITS + 16 : -MAX_WBITS;
  if (inflateInit2(&zlib_, window) != Z_OK) {
    Throw(ErrorCode::kIo, "{}: cannot start decompression: not enough memory", name_);
  }
}

InflateStream::~InflateStream() { inflateEnd(&zlib_); }

size_t InflateStream::Read(std::span<std::byte> out) {
  size_t filled = 0;
  while (filled < out.size() && !done_) {
    const uInt room = Clamped(out.size() - filled);
    zlib_.next_out = AsZlib(out.data() + filled);
    zlib_.avail_out = room;
    Step();
    filled += room - zlib_.avail_out;
  }
  return filled;
}

void InflateStream::Refill() {
  PollProgress();  // a large file takes seconds
  zlib_.next_in = AsZlib(buffer_.data());
  zlib_.avail_in = static_cast<uInt>(source_->Read(buffer_));
}

void InflateStream::Step() {
  if (zlib_.avail_in == 0) Refill();
  const bool starved = zlib_.avail_in == 0;
  const int status = inflate(&zlib_, Z_NO_FLUSH);
  if (status == Z_STREAM_END) return FinishMember();
  if (status == Z_MEM_ERROR) Throw(ErrorCode::kIo, "{}: not enough memory to decompress", name_);
  if (status == Z_BUF_ERROR && starved) {
    Throw(ErrorCode::kBadData, "{}: truncated: the compressed data ends too early", name_);
  }
  if (status != Z_OK && status != Z_BUF_ERROR) {
    Throw(ErrorCode::kBadData,
          "{}: damaged compressed data: {}",
          name_,
          zlib_.msg != nullptr ? zlib_.msg : "a preset dictionary is required");
  }
}

void InflateStream::FinishMember() {
  if (zlib_.avail_in == 0) Refill();
  if (zlib_.avail_in == 0) {
    done_ = true;
  } else if (compression_ == Compression::kGzip && *zlib_.next_in == 0x1f) {
    inflateReset(&zlib_);
  } else {
    RequirePadding();
    done_ = true;
  }
}

void InflateStream::RequirePadding() {
  while (zlib_.avail_in > 0) {
    const bool zeros = std::all_of(
        zlib_.next_in, zlib_.next_in + zlib_.avail_in, [](Bytef byte) { return byte == 0; });
    if (compression_ != Compression::kGzip || !zeros) {
      Throw(ErrorCode::kBadData,
            "{}: there is other data after the end of the compressed data",
            name_);
    }
    Refill();
  }
}

void ReadExactly(ByteStream* stream,
                 const std::string& name,
                 const char* part,
                 std::span<std::byte> out) {
  const size_t got = stream->Read(out);
  if (got < out.size()) {
    Throw(ErrorCode::kBadData,
          "{}: truncated in its {}: {} bytes found, {} required",
          name,
          part,
          got,
          out.size());
  }
}

void RequireEnd(ByteStream* stream, const std::string& name) {
  std::byte extra[1];
  if (stream->Read(extra) != 0) {
    Throw(ErrorCode::kBadData, "{}: more data than the header announces", name);
  }
}

void RequirePossibleSize(const std::string& name, int64_t decoded_bytes, int64_t stored_bytes) {
  constexpr int64_t kMaxRatio = 1032;
  if (decoded_bytes / kMaxRatio > stored_bytes) {
    Throw(ErrorCode::kBadData,
          "{}: the header announces {} bytes, more than {} compressed bytes can hold",
          name,
          decoded_bytes,
          stored_bytes);
  }
}

}  // namespace segcal
