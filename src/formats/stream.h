// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/file.h"
#include "formats/bytes.h"

namespace segcal {

// Bytes one after another.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Fills `out`; returns fewer bytes only at the end of the stream.
  virtual size_t Read(std::span<std::byte> out) = 0;
};

// Bytes [offset, offset + size) of a file that outlives the stream.
class FileStream : public ByteStream {
 public:
  FileStream(const InputFile& file, int64_t offset, int64_t size)
      : file_(file), offset_(offset), left_(size) {}
  size_t Read(std::span<std::byte> out) override;

 private:
  const InputFile& file_;
  int64_t offset_;
  int64_t left_;
};

enum class Compression {
  kDeflate,  // one raw deflate stream, which must end where its source ends
  kGzip,     // one or more gzip members, checksums included, then at most zero padding
};

// The decoded bytes of another stream.
class InflateStream : public ByteStream {
 public:
  InflateStream(std::string name, std::unique_ptr<ByteStream> source, Compression compression);
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
  ~InflateStream() override;
  size_t Read(std::span<std::byte> out) override;

 private:
  void Refill();
  void Step();
  void FinishMember();
  void RequirePadding();

  std::string name_;
  std::unique_ptr<ByteStream> source_;
  Compression compression_;
  Bytes buffer_;
  z_stream zlib_{};
  bool done_ = false;
};

// Bytes that are in memory, which outlives the stream.
class MemoryStream : public ByteStream {
 public:
  explicit MemoryStream(std::span<const std::byte> bytes) : left_(bytes) {}
  size_t Read(std::span<std::byte> out) override;

 private:
  std::span<const std::byte> left_;
};

// Fills `out` or throws: `name` is truncated in its `part`.
void ReadExactly(ByteStream* stream,
                 const std::string& name,
                 const char* part,
                 std::span<std::byte> out);

// Throws unless the stream has no byte left.
void RequireEnd(ByteStream* stream, const std::string& name);

// Deflate cannot shrink data by more than a factor of 1032. A header that promises more than that
// from the bytes there are is lying, and is refused before anything is decoded.
void RequirePossibleSize(const std::string& name, int64_t decoded_bytes, int64_t stored_bytes);

}  // namespace segcal
