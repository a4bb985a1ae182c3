// SPDX-License-Identifier: Apache-2.0
#include "core/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/throw.h"

namespace segcal {
namespace {

[[noreturn]] void ThrowErrno(const std::string& path, const char* what) {
  const int error = errno;
  Throw(ErrorCode::kIo, "{}: cannot {}: {}", path, what, std::strerror(error));
}

// Where a link points, so that writing goes through it; a target that is there must be a plain
// file: renaming over a device or a folder would destroy it.
std::string PlainTarget(const std::string& path) {
  std::error_code error;
  const auto target = std::filesystem::weakly_canonical(path, error);
  if (error) return path;
  const auto status = std::filesystem::status(target, error);
  if (!error && std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    Throw(ErrorCode::kIo, "{}: cannot write: it exists and is not a regular file", path);
  }
  return target.string();
}

std::string TemporaryNameFor(const std::string& path) {
  static std::atomic<int> serial{0};
  return fmt::format("{}.{}.{}.tmp", path, ::getpid(), serial.fetch_add(1));
}

std::string ParentFolder(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// A file without a name gets one through its number in this folder.
constexpr const char* kOpenFiles = "/proc/self/fd";

// In the folder of `path`; negative where the file system has no such files.
int OpenUnnamed(const std::string& path) {
  if (::access(kOpenFiles, X_OK) != 0) return -1;
  return ::open(ParentFolder(path).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
}

// The new name survives a loss of power only once its folder is on disk, too. Some file systems
// cannot sync folders; the file itself is safe there.
void SyncParentFolder(const std::string& path) {
  const int fd = ::open(ParentFolder(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not hold us up
  if (fd_ < 0) ThrowErrno(path_, "open");
  struct stat status {};
  if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    Throw(ErrorCode::kIo, "{}: not a regular file", path_);
  }
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

int64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) ThrowErrno(path_, "read the size");
  return status.st_size;
}

void InputFile::ReadAt(int64_t offset, std::span<std::byte> out) const {
  while (!out.empty()) {
    const ssize_t got = ::pread(fd_, out.data(), out.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowErrno(path_, "read");
    if (got == 0) {
      Throw(ErrorCode::kBadData,
            "{}: truncated: the file ends at byte {}, {} more bytes are required",
            path_,
            offset,
            out.size());
    }
    out = out.subspan(static_cast<size_t>(got));
    offset += got;
  }
}

std::string ReadText(const std::string& path, int64_t max_bytes) {
  const InputFile file(path);
  const int64_t size = file.size();
  if (size > max_bytes) {
    Throw(ErrorCode::kBadData, "{}: {} bytes, at most {} are allowed here", path, size, max_bytes);
  }
  std::string text(static_cast<size_t>(size), '\0');
  file.ReadAt(0, std::as_writable_bytes(std::span(text)));
  return text;
}

void WriteFully(int fd, const std::string& path, int64_t offset, std::span<const std::byte> data) {
  while (!data.empty()) {
    const ssize_t put = ::pwrite(fd, data.data(), data.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) ThrowErrno(path, "write");
    data = data.subspan(static_cast<size_t>(put));
    offset += put;
  }
}

OutputFile::OutputFile(const std::string& path, Until until)
    : path_(PlainTarget(path)), temporary_(TemporaryNameFor(path_)) {
  if (until == Until::kUnnamed) fd_ = OpenUnnamed(path_);
  if (fd_ >= 0) return;
  fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) ThrowErrno(path_, "create");
  has_name_ = true;
}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (has_name_) ::unlink(temporary_.c_str());
}

void OutputFile::WriteAt(int64_t offset, std::span<const std::byte> data) {
  WriteFully(fd_, path_, offset, data);
  // The disk begins while more is computed: Commit would wait for all of it. A hint, no promise.
  constexpr int64_t kWorthwhile = int64_t{16} << 20;
  const int64_t written = unsynced_.fetch_add(std::ssize(data)) + std::ssize(data);
  if (written < kWorthwhile) return;
  if (unsynced_.exchange(0) < kWorthwhile) return;  // another thread was faster
  ::sync_file_range(fd_, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void OutputFile::MakeRoom(int64_t size) {
  if (size > 0 && ::fallocate(fd_, 0, 0, size) == 0) return;
  const bool is_full = size > 0 && errno == ENOSPC;
  if (!is_full && ::ftruncate(fd_, size) == 0) return;
  const int error = errno;
  Throw(ErrorCode::kIo, "{}: cannot make room for {} bytes: {}", path_, size, std::strerror(error));
}

void OutputFile::Append(std::span<const std::byte> data) {
  WriteAt(appended_, data);
  appended_ += static_cast<int64_t>(data.size());
}

void OutputFile::Commit() {
  if (::fsync(fd_) != 0) ThrowErrno(path_, "sync");
  if (!has_name_) {
    // A link cannot replace a file, a rename can.
    const std::string open_file = fmt::format("{}/{}", kOpenFiles, fd_);
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
      ThrowErrno(path_, "name");
    has_name_ = true;
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) ThrowErrno(path_, "rename into place");
  ::close(fd_);
  fd_ = -1;
  SyncParentFolder(path_);
}

void WriteText(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.Append(std::as_bytes(std::span(text)));
  file.Commit();
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::string ResolvedPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, error);
  if (error) return path;
  // What is not there yet keeps a slash at its end, which says nothing.
  return resolved.has_filename() ? resolved.string() : resolved.parent_path().string();
}

void CopyFile(const std::string& from, const std::string& to) {
  const InputFile input(from);
  OutputFile output(to);
  const int64_t size = input.size();
  std::vector<std::byte> chunk(size_t{1} << 18);
  for (int64_t done = 0; done < size;) {
    const int64_t count = std::min(static_cast<int64_t>(chunk.size()), size - done);
    const std::span part(chunk.data(), static_cast<size_t>(count));
    input.ReadAt(done, part);
    output.Append(part);
    done += count;
  }
  output.Commit();
}

void CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) Throw(ErrorCode::kIo, "{}: cannot create the folder: {}", path, error.message());
}

void CreateParentFolder(const std::string& file) { CreateFolder(ParentFolder(file)); }

NewFolders::~NewFolders() {
  std::error_code error;  // one that holds something by now stays
  for (auto it = made_.rbegin(); it != made_.rend(); ++it) std::filesystem::remove(*it, error);
}

void NewFolders::Make(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> missing;
  for (auto at = std::filesystem::absolute(folder); !std::filesystem::exists(at, error);
       at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at.string());
  }
  made_.insert(made_.end(), missing.rbegin(), missing.rend());
  CreateFolder(folder);
}

void NewFolders::MakeParent(const std::string& file) { Make(ParentFolder(file)); }

int OpenTemporary(const std::string& folder) {
  std::error_code error;
  const std::string where =
      folder.empty() ? std::filesystem::temp_directory_path(error).string() : folder;
  if (error) Throw(ErrorCode::kIo, "no temporary folder (is TMPDIR right?): {}", error.message());
  // mkostemp replaces the six X by a name that is free; the form is its requirement.
  std::string name = where + "/segcal-XXXXXX";
  const int fd = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd < 0) ThrowErrno(where, "create a temporary file");
  ::unlink(name.c_str());
  return fd;
}

}  // namespace segcal
