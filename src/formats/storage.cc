// SPDX-License-Identifier: Apache-2.0
#include "formats/storage.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "core/throw.h"

namespace segcal {
namespace {

class FileArray : public Array {
 public:
  FileArray(std::string name, ArrayInfo info, InputFile file, int64_t offset, bool swap)
      : Array(std::move(name), std::move(info)),
        file_(std::move(file)),
        offset_(offset),
        swap_(swap) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    const int64_t element = ElementSize(info().dtype);
    const std::span bytes(static_cast<std::byte*>(out), static_cast<size_t>(count * element));
    file_.ReadAt(offset_ + first * element, bytes);
    if (swap_) SwapElements(bytes, element);
  }
  const void* Direct(int64_t) const noexcept override { return nullptr; }

 private:
  InputFile file_;
  int64_t offset_;
  bool swap_;
};

class MemoryArray : public Array {
 public:
  MemoryArray(std::string name, ArrayInfo info, Bytes bytes)
      : Array(std::move(name), std::move(info)), bytes_(std::move(bytes)) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    if (count > 0)
      std::memcpy(out, Direct(first), static_cast<size_t>(count * ElementSize(info().dtype)));
  }
  const void* Direct(int64_t first) const noexcept override {
    return bytes_.data() + first * ElementSize(info().dtype);
  }
  int64_t resident_bytes() const noexcept override { return static_cast<int64_t>(bytes_.size()); }

 private:
  Bytes bytes_;
};

// The same in a buffer of which they are a part.
class BufferArray : public Array {
 public:
  BufferArray(std::string name, ArrayInfo info, AlignedBuffer buffer, int64_t offset)
      : Array(std::move(name), std::move(info)),
        buffer_(std::move(buffer)),
        offset_(offset),
        bytes_(Array::info().NumElements() * ElementSize(Array::info().dtype)) {}

  void Read(int64_t first, int64_t count, void* out) const override {
    if (count > 0)
      std::memcpy(out, Direct(first), static_cast<size_t>(count * ElementSize(info().dtype)));
  }
  const void* Direct(int64_t first) const noexcept override {
    return buffer_.Get() + offset_ + first * ElementSize(info().dtype);
  }
  int64_t resident_bytes() const noexcept override { return offset_ + bytes_; }

 private:
  AlignedBuffer buffer_;
  int64_t offset_;
  int64_t bytes_;
};

void Truncate(int fd, const std::string& path, int64_t size) {
  if (::ftruncate(fd, size) != 0) {
    Throw(
        ErrorCode::kIo, "{}: cannot make room for {} bytes: {}", path, size, std::strerror(errno));
  }
}

std::span<const std::byte> ElementBytes(const ArrayInfo& info, int64_t count, const void* data) {
  return {static_cast<const std::byte*>(data),
          static_cast<size_t>(count * ElementSize(info.dtype))};
}

class SpoolWriter : public ArrayWriter {
 public:
  SpoolWriter(const std::string& path, ArrayInfo info, const WriteOptions& options, Encoder encode)
      : info_(std::move(info)),
        file_(path),
        elements_(path, options.memory_limit, options.cache_dir),
        encode_(std::move(encode)) {
    elements_.Resize(CheckedNumBytes(path, info_));
  }

  void WriteAt(int64_t first, int64_t count, const void* data) override {
    CheckRange(file_.path(), info_, first, count);
    elements_.WriteAt(first * ElementSize(info_.dtype), ElementBytes(info_, count, data));
  }
  void Commit() override {
    encode_(elements_, &file_);
    file_.Commit();
  }

 private:
  ArrayInfo info_;
  OutputFile file_;
  Spool elements_;
  Encoder encode_;
};

class DirectWriter : public ArrayWriter {
 public:
  DirectWriter(const std::string& path,
               ArrayInfo info,
               std::span<const std::byte> head,
               Finisher finish)
      : info_(std::move(info)),
        file_(path),
        offset_(static_cast<int64_t>(head.size())),
        finish_(std::move(finish)) {
    file_.WriteAt(0, head);
    file_.MakeRoom(offset_ + CheckedNumBytes(path, info_));
  }

  void WriteAt(int64_t first, int64_t count, const void* data) override {
    CheckRange(file_.path(), info_, first, count);
    file_.WriteAt(offset_ + first * ElementSize(info_.dtype), ElementBytes(info_, count, data));
  }
  void Commit() override {
    if (finish_) finish_(&file_);
    file_.Commit();
  }

 private:
  ArrayInfo info_;
  OutputFile file_;
  int64_t offset_;
  Finisher finish_;
};

}  // namespace

int64_t CheckedNumBytes(const std::string& name, const ArrayInfo& info) {
  if (info.shape.empty()) {
    Throw(ErrorCode::kUnsupported, "{}: a single number without axes, an array is required", name);
  }
  int64_t bytes = ElementSize(info.dtype);
  for (const int64_t length : info.shape) {
    if (length < 0 || __builtin_mul_overflow(bytes, length, &bytes)) {
      Throw(ErrorCode::kBadData,
            "{}: shape ({}) is not possible",
            name,
            fmt::join(info.shape.begin(), info.shape.end(), ", "));
    }
  }
  return bytes;
}

void CheckRange(const std::string& name, const ArrayInfo& info, int64_t first, int64_t count) {
  const int64_t total = info.NumElements();
  if (first < 0 || count < 0 || first > total || count > total - first) {
    Throw(ErrorCode::kInvalidArgument,
          "{}: {} elements from number {} on, the array has {}",
          name,
          count,
          first,
          total);
  }
}

std::unique_ptr<Array> MakeFileArray(
    std::string name, ArrayInfo info, InputFile file, int64_t offset, bool swap) {
  return std::make_unique<FileArray>(
      std::move(name), std::move(info), std::move(file), offset, swap);
}

std::unique_ptr<Array> MakeDecodedArray(std::string name,
                                        ArrayInfo info,
                                        AlignedBuffer buffer,
                                        int64_t offset,
                                        bool swap,
                                        const OpenOptions& options) {
  const std::span<std::byte> elements(buffer.Get() + offset,
                                      static_cast<size_t>(CheckedNumBytes(name, info)));
  if (options.decoded_to_file) {
    Spool spool(name, options);
    spool.Append(elements);
    return spool.TakeArray(std::move(info), swap);
  }
  if (swap) SwapElements(elements, ElementSize(info.dtype));
  return std::make_unique<BufferArray>(std::move(name), std::move(info), std::move(buffer), offset);
}

Spool::Spool(std::string name, const OpenOptions& options)
    : Spool(
          std::move(name), options.decoded_to_file ? 0 : options.memory_limit, options.cache_dir) {}

Spool::Spool(std::string name, int64_t memory_limit, std::string cache_dir)
    : name_(std::move(name)), memory_limit_(memory_limit), cache_dir_(std::move(cache_dir)) {}

void Spool::MakeRoom(int64_t size) {
  if (file_ || size <= memory_limit_) return;
  fd_ = OpenTemporary(cache_dir_);
  file_.emplace(fmt::format("{} (temporary copy)", name_), fd_);
  WriteFully(fd_, file_->path(), 0, memory_);
  memory_ = Bytes();
}

void Spool::Append(std::span<const std::byte> data) {
  const int64_t size = size_ + static_cast<int64_t>(data.size());
  MakeRoom(size);
  if (file_) {
    WriteFully(fd_, file_->path(), size_, data);
  } else {
    memory_.insert(memory_.end(), data.begin(), data.end());
  }
  size_ = size;
}

void Spool::Resize(int64_t size) {
  MakeRoom(size);
  if (file_) {
    Truncate(fd_, file_->path(), size);
  } else {
    memory_.resize(static_cast<size_t>(size));
  }
  size_ = size;
}

void Spool::WriteAt(int64_t offset, std::span<const std::byte> data) {
  SEGCAL_DCHECK(offset >= 0 && offset + static_cast<int64_t>(data.size()) <= size_);
  if (file_) {
    WriteFully(fd_, file_->path(), offset, data);
  } else {
    std::copy(data.begin(), data.end(), memory_.begin() + offset);
  }
}

void Spool::ReadAt(int64_t offset, std::span<std::byte> out) const {
  SEGCAL_DCHECK(offset >= 0 && offset + static_cast<int64_t>(out.size()) <= size_);
  if (file_) {
    file_->ReadAt(offset, out);
  } else {
    std::copy_n(memory_.begin() + offset, out.size(), out.begin());
  }
}

void Spool::ForEachChunk(const std::function<void(std::span<const std::byte>)>& use) const {
  Bytes chunk(size_t{1} << 18);
  for (int64_t done = 0; done < size_;) {
    const int64_t count = std::min(static_cast<int64_t>(chunk.size()), size_ - done);
    const std::span part(chunk.data(), static_cast<size_t>(count));
    ReadAt(done, part);
    use(part);
    done += count;
  }
}

std::unique_ptr<Array> Spool::TakeArray(ArrayInfo info, bool swap) {
  SEGCAL_DCHECK(size_ == CheckedNumBytes(name_, info));
  size_ = 0;
  if (file_) return MakeFileArray(name_, std::move(info), std::move(*file_), 0, swap);
  if (swap) SwapElements(memory_, ElementSize(info.dtype));
  return std::make_unique<MemoryArray>(name_, std::move(info), std::move(memory_));
}

void Fill(Spool* spool, ByteStream* stream, const std::string& name, int64_t bytes) {
  constexpr int64_t kChunkBytes = int64_t{1} << 18;
  Bytes chunk(static_cast<size_t>(std::min(bytes, kChunkBytes)));
  for (int64_t left = bytes; left > 0;) {
    const std::span part(chunk.data(), static_cast<size_t>(std::min(left, kChunkBytes)));
    const size_t got = stream->Read(part);
    spool->Append(part.first(got));
    left -= static_cast<int64_t>(got);
    if (got < part.size()) {
      Throw(ErrorCode::kBadData,
            "{}: truncated in its elements: {} bytes found, {} required",
            name,
            bytes - left,
            bytes);
    }
  }
}

std::unique_ptr<ArrayWriter> MakeSpoolWriter(const std::string& path,
                                             const ArrayInfo& info,
                                             const WriteOptions& options,
                                             Encoder encode) {
  return std::make_unique<SpoolWriter>(path, info, options, std::move(encode));
}

std::unique_ptr<ArrayWriter> MakeDirectWriter(const std::string& path,
                                              const ArrayInfo& info,
                                              std::span<const std::byte> head,
                                              Finisher finish) {
  return std::make_unique<DirectWriter>(path, info, head, std::move(finish));
}

}  // namespace segcal
