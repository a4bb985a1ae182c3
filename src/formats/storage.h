// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/aligned.h"
#include "core/file.h"
#include "formats/array.h"
#include "formats/bytes.h"
#include "formats/stream.h"

namespace segcal {

// Number of bytes of an array. A shape without axes, with a negative length, or with more bytes
// than 63 bits count is an Error naming `name`.
int64_t CheckedNumBytes(const std::string& name, const ArrayInfo& info);

// Lets whoever opens the array see what its file promises.
inline void CheckPromise(const OpenOptions& options,
                         const std::string& name,
                         const ArrayInfo& info) {
  if (options.check) options.check(name, info);
}

// Throws unless [first, first + count) lies inside the array.
void CheckRange(const std::string& name, const ArrayInfo& info, int64_t first, int64_t count);

// An array stored as it is at `offset` of a file; `swap` where the file has the other byte order.
// The caller has checked that the file is long enough.
std::unique_ptr<Array> MakeFileArray(
    std::string name, ArrayInfo info, InputFile file, int64_t offset, bool swap);

// An array whose elements lie in a buffer from byte `offset` on: there, or where the options want
// decoded data.
std::unique_ptr<Array> MakeDecodedArray(std::string name,
                                        ArrayInfo info,
                                        AlignedBuffer buffer,
                                        int64_t offset,
                                        bool swap,
                                        const OpenOptions& options);

// Bytes on their way into or out of a file: in memory up to a limit, else in an unlinked temporary
// file.
class Spool {
 public:
  Spool(std::string name, int64_t memory_limit, std::string cache_dir);
  // For what is decoded.
  Spool(std::string name, const OpenOptions& options);

  int64_t size() const noexcept { return size_; }
  // Adds bytes at the end. Memory grows with the bytes that came, not with what a header promised.
  void Append(std::span<const std::byte> data);
  // Makes the spool `size` bytes long, the new ones zero.
  void Resize(int64_t size);
  // Overwrites bytes inside the spool; safe from several threads for ranges that do not overlap.
  void WriteAt(int64_t offset, std::span<const std::byte> data);
  void ReadAt(int64_t offset, std::span<std::byte> out) const;
  // All bytes in order, a part at a time.
  void ForEachChunk(const std::function<void(std::span<const std::byte>)>& use) const;

  // The bytes as the elements of an array of exactly this size; leaves the spool empty.
  std::unique_ptr<Array> TakeArray(ArrayInfo info, bool swap);

 private:
  void MakeRoom(int64_t size);

  std::string name_;
  int64_t memory_limit_;
  std::string cache_dir_;
  int64_t size_ = 0;
  Bytes memory_;
  int fd_ = -1;  // owned by file_
  std::optional<InputFile> file_;
};

// Decodes exactly `bytes` bytes of a stream, in bounded memory.
void Fill(Spool* spool, ByteStream* stream, const std::string& name, int64_t bytes);

// An array with the order of its axes reversed, elements rearranged: what a Fortran-order file
// holds, seen as C order with the reversed shape, becomes C order with its own shape. O(1) memory
// beside the result.
std::unique_ptr<Array> Transposed(std::unique_ptr<Array> source, const OpenOptions& options);

// A writer that keeps all elements in a spool and hands it to `encode` at Commit.
using Encoder = std::function<void(const Spool& elements, OutputFile* file)>;
std::unique_ptr<ArrayWriter> MakeSpoolWriter(const std::string& path,
                                             const ArrayInfo& info,
                                             const WriteOptions& options,
                                             Encoder encode);

// A writer that puts elements straight to their place behind `head`; `finish` sees the file before
// it is committed.
using Finisher = std::function<void(OutputFile* file)>;
std::unique_ptr<ArrayWriter> MakeDirectWriter(const std::string& path,
                                              const ArrayInfo& info,
                                              std::span<const std::byte> head,
                                              Finisher finish);

}  // namespace segcal
