// SPDX-License-Identifier: Apache-2.0
#include "formats/zip.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "core/throw.h"

namespace segcal {
namespace {

constexpr uint32_t kLocalMark = 0x04034b50;
constexpr uint32_t kDirectoryMark = 0x02014b50;
constexpr uint32_t kEndMark = 0x06054b50;
constexpr uint32_t kEnd64Mark = 0x06064b50;
constexpr uint32_t kLocator64Mark = 0x07064b50;

constexpr int64_t kLocalBytes = 30;
constexpr int64_t kDirectoryBytes = 46;
constexpr int64_t kEndBytes = 22;
constexpr int64_t kEnd64Bytes = 56;
constexpr int64_t kLocator64Bytes = 20;

constexpr uint16_t kExtra64 = 1;  // id of the extra field with 64-bit sizes
constexpr uint32_t kMax32 = 0xFFFFFFFF;
constexpr int64_t kMaxDirectoryBytes = int64_t{1} << 24;

[[noreturn]] void FailZip(const InputFile& file, std::string_view what) {
  Throw(ErrorCode::kBadData, "{}: damaged zip archive: {}", file.path(), what);
}

Bytes ReadBytes(const InputFile& file, int64_t offset, int64_t size) {
  if (offset < 0 || size < 0 || offset > file.size() || size > file.size() - offset) {
    FailZip(file, "a record lies outside the file (truncated?)");
  }
  Bytes bytes(static_cast<size_t>(size));
  file.ReadAt(offset, bytes);
  return bytes;
}

int U16(const std::byte* at) { return LoadLittle<uint16_t>(at); }
uint32_t U32(const std::byte* at) { return LoadLittle<uint32_t>(at); }
// A number above 63 bits comes out negative and fails every range check.
int64_t I64(const std::byte* at) { return LoadLittle<int64_t>(at); }

struct Directory {
  int64_t offset = 0;
  int64_t bytes = 0;
  int64_t count = 0;
};

// Position of the end record: the last place whose comment reaches exactly to the end of the file.
int64_t FindEnd(const InputFile& file) {
  constexpr int64_t kMaxComment = 0xFFFF;
  const int64_t size = file.size();
  const int64_t start = std::max<int64_t>(0, size - kEndBytes - kMaxComment);
  const Bytes tail = ReadBytes(file, start, size - start);
  for (int64_t at = static_cast<int64_t>(tail.size()) - kEndBytes; at >= 0; --at) {
    const std::byte* end = tail.data() + at;
    if (U32(end) == kEndMark && start + at + kEndBytes + U16(end + 20) == size) return start + at;
  }
  FailZip(file, "it has no end record (truncated?)");
}

std::optional<Directory> FindDirectory64(const InputFile& file, int64_t end_offset) {
  if (end_offset < kLocator64Bytes) return std::nullopt;
  const Bytes locator = ReadBytes(file, end_offset - kLocator64Bytes, kLocator64Bytes);
  if (U32(locator.data()) != kLocator64Mark) return std::nullopt;
  const Bytes end = ReadBytes(file, I64(locator.data() + 8), kEnd64Bytes);
  if (U32(end.data()) != kEnd64Mark) FailZip(file, "its 64-bit end record is missing");
  return Directory{
      .offset = I64(end.data() + 48), .bytes = I64(end.data() + 40), .count = I64(end.data() + 32)};
}

Directory FindDirectory(const InputFile& file) {
  const int64_t end_offset = FindEnd(file);
  if (const auto directory = FindDirectory64(file, end_offset)) return *directory;
  const Bytes end = ReadBytes(file, end_offset, kEndBytes);
  if (U16(end.data() + 4) != 0 || U16(end.data() + 6) != 0) {
    Throw(ErrorCode::kUnsupported, "{}: a zip archive split over several files", file.path());
  }
  return {
      .offset = U32(end.data() + 16), .bytes = U32(end.data() + 12), .count = U16(end.data() + 10)};
}

// Replaces sizes that did not fit in 32 bits by those of the extra field, which holds only these.
void ApplyExtra64(const InputFile& file, std::span<const std::byte> extra, ZipMember* member) {
  while (extra.size() >= 4) {
    const int id = U16(extra.data());
    const auto size = static_cast<size_t>(U16(extra.data() + 2));
    if (size > extra.size() - 4) FailZip(file, "an extra field is too long");
    std::span<const std::byte> content = extra.subspan(4, size);
    extra = extra.subspan(4 + size);
    if (id != kExtra64) continue;
    for (int64_t* value : {&member->bytes, &member->stored_bytes, &member->header_offset}) {
      if (*value != int64_t{kMax32} || content.size() < 8) continue;
      *value = I64(content.data());
      content = content.subspan(8);
    }
  }
}

// Reads the directory entry at the front of `rest` and takes it off.
ZipMember TakeEntry(const InputFile& file, std::span<const std::byte>* rest) {
  if (rest->size() < static_cast<size_t>(kDirectoryBytes) || U32(rest->data()) != kDirectoryMark) {
    FailZip(file, "a directory entry is missing");
  }
  const std::byte* at = rest->data();
  const auto name_bytes = static_cast<size_t>(U16(at + 28));
  const auto extra_bytes = static_cast<size_t>(U16(at + 30));
  const auto comment_bytes = static_cast<size_t>(U16(at + 32));
  const size_t entry_bytes = kDirectoryBytes + name_bytes + extra_bytes + comment_bytes;
  if (entry_bytes > rest->size()) FailZip(file, "a directory entry is too long");
  ZipMember member{
      .name = std::string(reinterpret_cast<const char*>(at + kDirectoryBytes), name_bytes),
      .flags = U16(at + 8),
      .method = U16(at + 10),
      .crc = U32(at + 16),
      .stored_bytes = U32(at + 20),
      .bytes = U32(at + 24),
      .header_offset = U32(at + 42)};
  ApplyExtra64(file, rest->subspan(kDirectoryBytes + name_bytes, extra_bytes), &member);
  if (member.bytes < 0 || member.stored_bytes < 0) FailZip(file, "a size above 63 bits");
  *rest = rest->subspan(entry_bytes);
  return member;
}

// Fields that local header and directory entry share, from "version needed" to "extra length".
// Sizes are in the extra field where there is one.
void AppendShared(Bytes* out, const ZipMember& member, uint16_t extra) {
  constexpr uint16_t kVersion64 = 45;
  constexpr uint16_t kFirstDay = 0x0021;  // 1 January 1980: equal arrays give equal files
  AppendLittle(out, kVersion64);
  AppendLittle(out, uint16_t{0});  // flags
  AppendLittle(out, static_cast<uint16_t>(member.method));
  AppendLittle(out, uint16_t{0});  // time
  AppendLittle(out, kFirstDay);
  AppendLittle(out, member.crc);
  AppendLittle(out, extra > 0 ? kMax32 : static_cast<uint32_t>(member.stored_bytes));
  AppendLittle(out, extra > 0 ? kMax32 : static_cast<uint32_t>(member.bytes));
  AppendLittle(out, static_cast<uint16_t>(member.name.size()));
  AppendLittle(out, extra);
}

void AppendExtra64(Bytes* out, const ZipMember& member) {
  AppendLittle(out, kExtra64);
  AppendLittle(out, uint16_t{16});
  AppendLittle(out, member.bytes);
  AppendLittle(out, member.stored_bytes);
}

Bytes EncodeDirectory(const ZipMember& member) {
  constexpr uint16_t kMadeByUnix = 3 << 8 | 45;
  constexpr uint32_t kRegularFile = uint32_t{0100644} << 16;
  const bool large = std::max(member.bytes, member.stored_bytes) >= int64_t{kMax32};
  Bytes out;
  AppendLittle(&out, kDirectoryMark);
  AppendLittle(&out, kMadeByUnix);
  AppendShared(&out, member, large ? 20 : 0);
  AppendLittle(&out, uint16_t{0});  // comment
  AppendLittle(&out, uint16_t{0});  // disk
  AppendLittle(&out, uint16_t{0});  // internal attributes
  AppendLittle(&out, kRegularFile);
  AppendLittle(&out, uint32_t{0});  // offset of the local header
  AppendText(&out, member.name);
  if (large) AppendExtra64(&out, member);
  return out;
}

void AppendEnd64(Bytes* out, int64_t directory_offset, int64_t directory_bytes) {
  AppendLittle(out, kEnd64Mark);
  AppendLittle(out, kEnd64Bytes - 12);  // of what follows
  AppendLittle(out, uint16_t{45});
  AppendLittle(out, uint16_t{45});
  AppendLittle(out, uint64_t{0});  // disks
  AppendLittle(out, int64_t{1});
  AppendLittle(out, int64_t{1});
  AppendLittle(out, directory_bytes);
  AppendLittle(out, directory_offset);
  AppendLittle(out, kLocator64Mark);
  AppendLittle(out, uint32_t{0});
  AppendLittle(out, directory_offset + directory_bytes);
  AppendLittle(out, uint32_t{1});
}

}  // namespace

std::vector<ZipMember> ReadZipDirectory(const InputFile& file) {
  const Directory directory = FindDirectory(file);
  if (directory.bytes > kMaxDirectoryBytes) FailZip(file, "its directory is longer than 16 MiB");
  const Bytes bytes = ReadBytes(file, directory.offset, directory.bytes);
  std::vector<ZipMember> members;
  for (std::span<const std::byte> rest(bytes); !rest.empty();) {
    members.push_back(TakeEntry(file, &rest));
  }
  if (static_cast<int64_t>(members.size()) != directory.count) {
    FailZip(file, "its directory has another number of members than its end record says");
  }
  return members;
}

int64_t ZipDataOffset(const InputFile& file, const ZipMember& member) {
  const Bytes local = ReadBytes(file, member.header_offset, kLocalBytes);
  if (U32(local.data()) != kLocalMark || U16(local.data() + 8) != member.method) {
    FailZip(file, "a member's header does not fit its directory entry");
  }
  const int64_t offset =
      member.header_offset + kLocalBytes + U16(local.data() + 26) + U16(local.data() + 28);
  if (offset > file.size() || member.stored_bytes > file.size() - offset) {
    FailZip(file, "a member's data lies outside the file (truncated?)");
  }
  return offset;
}

Bytes EncodeZipLocalHeader(const ZipMember& member) {
  Bytes out;
  AppendLittle(&out, kLocalMark);
  AppendShared(&out, member, 20);
  AppendText(&out, member.name);
  AppendExtra64(&out, member);
  return out;
}

Bytes EncodeZipEnd(const ZipMember& member) {
  Bytes out = EncodeDirectory(member);
  const auto directory_bytes = static_cast<int64_t>(out.size());
  const auto local = static_cast<int64_t>(EncodeZipLocalHeader(member).size());
  const int64_t offset = local + member.stored_bytes;
  const bool large = offset >= int64_t{kMax32};
  if (large) AppendEnd64(&out, offset, directory_bytes);
  AppendLittle(&out, kEndMark);
  AppendLittle(&out, uint32_t{0});  // disks
  AppendLittle(&out, uint16_t{1});
  AppendLittle(&out, uint16_t{1});
  AppendLittle(&out, static_cast<uint32_t>(directory_bytes));
  AppendLittle(&out, large ? kMax32 : static_cast<uint32_t>(offset));
  AppendLittle(&out, uint16_t{0});  // comment
  return out;
}

}  // namespace segcal
