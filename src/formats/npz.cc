// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "core/throw.h"
#include "formats/deflate_blocks.h"
#include "formats/inflate_whole.h"
#include "formats/npy.h"
#include "formats/storage.h"
#include "formats/zip.h"

namespace segcal {
namespace {

constexpr std::string_view kSuffix = ".npy";

// Names under which frameworks store what we want, in order: nnU-Net 2, nnU-Net 1, raw outputs.
constexpr const char* kWellKnown[] = {"probabilities", "softmax", "logits"};

// Passes bytes on and sums them up.
class CrcStream : public ByteStream {
 public:
  explicit CrcStream(ByteStream* source) : source_(source) {}
  size_t Read(std::span<std::byte> out) override {
    const size_t got = source_->Read(out);
    crc_ = Crc32(crc_, out.first(got));
    return got;
  }
  uint32_t crc() const noexcept { return crc_; }

 private:
  ByteStream* source_;
  uint32_t crc_ = 0;
};

// A member's name without the suffix numpy adds.
std::string_view MemberKey(const ZipMember& member) {
  std::string_view key = member.name;
  if (key.ends_with(kSuffix)) key.remove_suffix(kSuffix.size());
  return key;
}

bool IsArray(const ZipMember& member) { return std::string_view(member.name).ends_with(kSuffix); }

// Names come from the file: control characters would garble a terminal.
std::string Printable(std::string_view text) {
  std::string out(text);
  std::replace_if(
      out.begin(),
      out.end(),
      [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; },
      '?');
  return out;
}

std::string ListKeys(const std::vector<ZipMember>& members) {
  constexpr size_t kMaxListed = 20;
  std::string list;
  size_t listed = 0;
  for (const ZipMember& member : members) {
    if (!IsArray(member)) continue;
    if (listed++ == kMaxListed) return list + ", ...";
    list += (list.empty() ? "" : ", ") + Printable(MemberKey(member));
  }
  return list.empty() ? "none" : list;
}

// The member with this key or full name, or null; twice is an error.
const ZipMember* FindKey(const std::string& path,
                         const std::vector<ZipMember>& members,
                         std::string_view key) {
  const ZipMember* found = nullptr;
  for (const ZipMember& member : members) {
    if (!IsArray(member) || (MemberKey(member) != key && member.name != key)) continue;
    if (found != nullptr)
      Throw(ErrorCode::kBadData, "{}: two arrays named {}", path, Printable(key));
    found = &member;
  }
  return found;
}

const ZipMember& ChooseMember(const std::string& path,
                              const std::vector<ZipMember>& members,
                              const std::string& key) {
  if (!key.empty()) {
    if (const ZipMember* found = FindKey(path, members, key)) return *found;
    Throw(ErrorCode::kBadData, "{}: no array '{}', found: {}", path, key, ListKeys(members));
  }
  for (const char* known : kWellKnown) {
    if (const ZipMember* found = FindKey(path, members, known)) return *found;
  }
  const auto only = std::find_if(members.begin(), members.end(), IsArray);
  if (only == members.end()) {
    Throw(ErrorCode::kBadData, "{}: the archive holds no array ({} files)", path, members.size());
  }
  if (std::count_if(members.begin(), members.end(), IsArray) != 1) {
    Throw(
        ErrorCode::kBadData, "{}: a key is required to choose among: {}", path, ListKeys(members));
  }
  return *only;
}

void CheckReadable(const std::string& name, const ZipMember& member) {
  if ((member.flags & kZipEncrypted) != 0) Throw(ErrorCode::kUnsupported, "{}: is encrypted", name);
  if (member.method != kZipStored && member.method != kZipDeflated) {
    Throw(ErrorCode::kUnsupported,
          "{}: compressed by method {}, 0 (stored) or 8 (deflate) is required",
          name,
          member.method);
  }
}

void CheckCrc(const std::string& name, const ZipMember& member, uint32_t found) {
  if (found == member.crc) return;
  Throw(ErrorCode::kBadData, "{}: checksum {:08x}, {:08x} is required", name, found, member.crc);
}

std::unique_ptr<Array> OpenStored(const std::string& name,
                                  InputFile file,
                                  const ZipMember& member,
                                  const OpenOptions& options) {
  if (member.stored_bytes != member.bytes) {
    Throw(ErrorCode::kBadData,
          "{}: stored in {} bytes, {} are required",
          name,
          member.stored_bytes,
          member.bytes);
  }
  const int64_t offset = ZipDataOffset(file, member);
  if (options.verify) CheckCrc(name, member, FileCrc32(file, offset, member.bytes, 1));
  return OpenNpyInPlace(name, std::move(file), offset, member.bytes, options);
}

// All of a deflated member at once; null where memory does not allow it or the member is not what
// it should be, which decoding it bit by bit then explains.
std::unique_ptr<Array> OpenAtOnce(const std::string& name,
                                  const InputFile& file,
                                  const ZipMember& member,
                                  const OpenOptions& options) {
  if (member.bytes + member.stored_bytes > options.memory_limit) return nullptr;
  AlignedBuffer stored;
  const std::span<std::byte> from(stored.Reserve(member.stored_bytes),
                                  static_cast<size_t>(member.stored_bytes));
  file.ReadAt(ZipDataOffset(file, member), from);
  AlignedBuffer decoded;
  const std::span<std::byte> to(decoded.Reserve(member.bytes), static_cast<size_t>(member.bytes));
  if (!InflateWhole(from, Compression::kDeflate, to) || Crc32(0, to) != member.crc) return nullptr;
  return OpenNpyInMemory(name, std::move(decoded), member.bytes, options);
}

std::unique_ptr<Array> OpenDeflated(const std::string& name,
                                    const InputFile& file,
                                    const ZipMember& member,
                                    const OpenOptions& options) {
  RequirePossibleSize(name, member.bytes, member.stored_bytes);
  const auto decoded = [&] {
    auto stored =
        std::make_unique<FileStream>(file, ZipDataOffset(file, member), member.stored_bytes);
    return InflateStream(name, std::move(stored), Compression::kDeflate);
  };
  {
    // A shape that is refused is not decoded.
    InflateStream head = decoded();
    ReadCheckedHeader(&head, name, member.bytes, options);
  }
  if (auto array = OpenAtOnce(name, file, member, options)) return array;
  InflateStream stream = decoded();
  CrcStream sum(&stream);
  std::unique_ptr<Array> array = OpenNpyStream(name, &sum, member.bytes, options);
  CheckCrc(name, member, sum.crc());
  return array;
}

std::unique_ptr<Array> OpenNpz(const std::string& path, const OpenOptions& options) {
  InputFile file(path);
  const std::vector<ZipMember> members = ReadZipDirectory(file);
  const ZipMember& member = ChooseMember(path, members, options.key);
  const std::string name = path + ":" + Printable(MemberKey(member));
  CheckReadable(name, member);
  if (member.method == kZipStored) return OpenStored(name, std::move(file), member, options);
  return OpenDeflated(name, file, member, options);
}

// Elements go straight to their place; the checksum, which precedes them in the file, is taken at
// the end by reading them back.
std::unique_ptr<ArrayWriter> CreateStored(const std::string& path,
                                          const ArrayInfo& info,
                                          const Bytes& npy_header,
                                          ZipMember member,
                                          int num_threads) {
  member.stored_bytes = member.bytes;
  Bytes head = EncodeZipLocalHeader(member);
  const auto offset = static_cast<int64_t>(head.size());
  head.insert(head.end(), npy_header.begin(), npy_header.end());
  return MakeDirectWriter(path, info, head, [=](OutputFile* file) {
    const InputFile written(path, ::dup(file->fd()));
    ZipMember complete = member;
    complete.crc = FileCrc32(written, offset, member.bytes, num_threads);
    file->WriteAt(0, EncodeZipLocalHeader(complete));
    file->WriteAt(offset + member.bytes, EncodeZipEnd(complete));
  });
}

// The local header, which precedes the data, gets checksum and compressed size at the end.
void EncodeDeflated(const Bytes& npy_header,
                    ZipMember member,
                    const Spool& elements,
                    int num_threads,
                    OutputFile* file) {
  file->Append(EncodeZipLocalHeader(member));
  const Deflated deflated = DeflateInBlocks(npy_header, elements, num_threads, file);
  member.crc = deflated.crc;
  member.stored_bytes = deflated.stored_bytes;
  file->WriteAt(0, EncodeZipLocalHeader(member));
  file->Append(EncodeZipEnd(member));
}

std::unique_ptr<ArrayWriter> CreateNpz(const std::string& path,
                                       const ArrayInfo& info,
                                       const WriteOptions& options) {
  if (options.key.empty() || options.key.size() > 1000) {
    Throw(ErrorCode::kInvalidArgument, "{}: a key of 1 to 1000 bytes is required", path);
  }
  const Bytes npy_header = EncodeNpyHeader(path, info);
  ZipMember member;
  member.name = options.key + std::string(kSuffix);
  member.method = options.compress ? kZipDeflated : kZipStored;
  member.bytes = static_cast<int64_t>(npy_header.size()) + CheckedNumBytes(path, info);
  if (!options.compress) return CreateStored(path, info, npy_header, member, options.threads);
  const int threads = options.threads;
  return MakeSpoolWriter(path, info, options, [=](const Spool& elements, OutputFile* file) {
    EncodeDeflated(npy_header, member, elements, threads, file);
  });
}

bool SniffNpz(const unsigned char* head, int64_t size) noexcept {
  // A local header, or the end record of an archive without members.
  return size >= 4 && head[0] == 'P' && head[1] == 'K' &&
         ((head[2] == 3 && head[3] == 4) || (head[2] == 5 && head[3] == 6));
}

}  // namespace

extern constinit const FormatInfo kNpz{
    .name = "npz",
    .summary =
        "Zip archive of NumPy arrays, stored or deflated; nnU-Net's keys are found by themselves.",
    .extensions = ".npz",
    .sniff = &SniffNpz,
    .open = &OpenNpz,
    .create = &CreateNpz,
    .writes_floats = true,
    .writes_float16 = true,
    .writes_volumes = true};

}  // namespace segcal
