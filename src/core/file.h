// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "segcal/files.h"

namespace segcal {

// A file opened for reading at any position from several threads. pread, not mmap: a file cut short
// while we read it gives an Error, not a signal, and pages of the file do not count as ours.
class InputFile {
 public:
  explicit InputFile(std::string path);
  InputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}  // takes over fd
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  const std::string& path() const noexcept { return path_; }
  int64_t size() const;
  // Fills `out` from byte `offset`; a short file is an Error naming it.
  void ReadAt(int64_t offset, std::span<std::byte> out) const;

 private:
  std::string path_;
  int fd_ = -1;
};

// The whole file as text; longer than max_bytes is an Error.
std::string ReadText(const std::string& path, int64_t max_bytes);

// A file being written in the folder of its final name, without a name where the file system can do
// that: nothing is left then even of a process that is killed. Elsewhere it has a temporary name.
// Commit syncs and gives it its final name; without Commit it is removed. WriteAt is safe from
// several threads.
class OutputFile {
 public:
  enum class Until { kUnnamed, kNamed };  // before Commit; the second is for file systems of old
  explicit OutputFile(const std::string& path, Until until = Until::kUnnamed);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void WriteAt(int64_t offset, std::span<const std::byte> data);
  void Append(std::span<const std::byte> data);  // after the last appended byte
  // Makes the file `size` bytes long, the new ones zero, with its place on disk where the file
  // system can say at once whether there is one.
  void MakeRoom(int64_t size);
  void Commit();
  int fd() const noexcept { return fd_; }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::string temporary_;
  bool has_name_ = false;  // the temporary one
  int fd_ = -1;
  int64_t appended_ = 0;
  std::atomic<int64_t> unsynced_{0};  // bytes written since the disk was last set to work
};

// Whether there is a regular file or a folder of that name; not where that cannot be told.
bool IsFile(const std::string& path);
bool IsFolder(const std::string& path);

// The path without links and dots, as far as it is there; as given where that cannot be told. Two
// paths of one file become the same.
std::string ResolvedPath(const std::string& path);

// Copies a file byte for byte; the copy appears under its name complete, or not at all.
void CopyFile(const std::string& from, const std::string& to);

// An unlinked temporary file in `folder` (empty: the system's), read and write; the caller owns the
// fd.
int OpenTemporary(const std::string& folder);

// Writes all of `data` at `offset` of an open file; `path` is for messages.
void WriteFully(int fd, const std::string& path, int64_t offset, std::span<const std::byte> data);

}  // namespace segcal
