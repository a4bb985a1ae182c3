// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "formats/files_for_test.h"
#include "formats/npy.h"

namespace segcal {
namespace {

std::string Little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xff);
  return out;
}

// A member as an archiver would write it, each field of which a test may falsify.
struct Member {
  std::string name;
  std::string content;
  int method = 0;
  int flags = 0;
  bool descriptor = false;  // sizes and checksum after the data, zeros before it
  int64_t claimed_bytes = -1;
  uint32_t crc_error = 0;
};

// Written from the zip specification, independent of formats/zip.cc.
std::string Zip(const std::vector<Member>& members) {
  std::string out;
  std::string directory;
  for (const Member& member : members) {
    const std::string stored = member.method == 8 ? RawDeflate(member.content) : member.content;
    const auto* bytes = reinterpret_cast<const Bytef*>(member.content.data());
    const uint64_t crc = crc32_z(0, bytes, member.content.size()) ^ member.crc_error;
    const uint64_t size = member.claimed_bytes >= 0 ? static_cast<uint64_t>(member.claimed_bytes)
                                                    : member.content.size();
    const int flags = member.flags | (member.descriptor ? 8 : 0);
    const std::string kind = Little(20, 2) + Little(static_cast<uint64_t>(flags), 2) +
                             Little(static_cast<uint64_t>(member.method), 2) + Little(0, 4);
    const std::string sizes = Little(crc, 4) + Little(stored.size(), 4) + Little(size, 4);
    const std::string lengths = Little(member.name.size(), 2) + Little(0, 2);
    const std::string offset = Little(out.size(), 4);
    for (const std::string& part : {std::string("PK\1\2"),
                                    Little(20, 2),
                                    kind,
                                    sizes,
                                    lengths,
                                    std::string(10, '\0'),
                                    offset,
                                    member.name}) {
      directory += part;
    }
    const std::string early_sizes = member.descriptor ? std::string(12, '\0') : sizes;
    for (const std::string& part :
         {std::string("PK\3\4"), kind, early_sizes, lengths, member.name, stored}) {
      out += part;
    }
    if (member.descriptor) out += "PK\7\10" + sizes;
  }
  return out + directory + "PK\5\6" + Little(0, 4) + Little(members.size(), 2) +
         Little(members.size(), 2) + Little(directory.size(), 4) + Little(out.size(), 4) +
         Little(0, 2);
}

std::string NpyContent(float first) {
  const std::vector<float> values = {first, 1, 2, 3, 4, 5};
  return ToString(EncodeNpyHeader("a", {.dtype = DType::kF32, .shape = {2, 3}, .spacing = {}})) +
         RawBytes(values);
}

float FirstOf(const std::string& path, const std::string& key) {
  return ReadAll<float>(*OpenArray(path, {.key = key, .cache_dir = ""}))[0];
}

TEST(Npz, ReadsStoredAndDeflatedMembersWithAndWithoutDescriptors) {
  const TempFolder folder;
  for (const int method : {0, 8}) {
    for (const bool descriptor : {false, true}) {
      for (const int64_t limit : {0, 1000}) {
        Put(folder.File("a.npz"),
            Zip({{.name = "x.npy",
                  .content = NpyContent(9),
                  .method = method,
                  .descriptor = descriptor}}));
        const auto array =
            OpenArray(folder.File("a.npz"), {.key = "", .memory_limit = limit, .cache_dir = ""});
        EXPECT_EQ(array->name(), folder.File("a.npz") + ":x");
        EXPECT_EQ(ReadAll<float>(*array), (std::vector<float>{9, 1, 2, 3, 4, 5}));
      }
    }
  }
}

TEST(Npz, ChoosesTheKeyAskedForThenTheWellKnownThenTheOnly) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  Put(path,
      Zip({{.name = "other.npy", .content = NpyContent(1)},
           {.name = "logits.npy", .content = NpyContent(2)},
           {.name = "softmax.npy", .content = NpyContent(3)},
           {.name = "probabilities.npy", .content = NpyContent(4)}}));
  EXPECT_EQ(FirstOf(path, ""), 4);
  EXPECT_EQ(FirstOf(path, "softmax"), 3);
  EXPECT_EQ(FirstOf(path, "other.npy"), 1);
  EXPECT_HAS(OpenError(path, {.key = "nope", .cache_dir = ""}),
             "no array 'nope', found: other, logits, softmax, probabilities");
  Put(path,
      Zip({{.name = "logits.npy", .content = NpyContent(2)},
           {.name = "softmax.npy", .content = NpyContent(3)}}));
  EXPECT_EQ(FirstOf(path, ""), 3);
  Put(path,
      Zip({{.name = "notes.txt", .content = "hello"},
           {.name = "x.npy", .content = NpyContent(5)}}));
  EXPECT_EQ(FirstOf(path, ""), 5);
}

TEST(Npz, ListsTheMembersWhereAKeyIsNeeded) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  const std::string npy = NpyContent(1);
  EXPECT_HAS(
      ErrorOf(path, Zip({{.name = "b\n.npy", .content = npy}, {.name = "a.npy", .content = npy}})),
      "among: b?, a");
  EXPECT_HAS(ErrorOf(path, Zip({{.name = "notes.txt", .content = "hello"}})),
             "holds no array (1 files)");
  EXPECT_HAS(ErrorOf(path, Zip({})), "holds no array (0 files)");
  EXPECT_HAS(ErrorOf(path,
                     Zip({{.name = "a.npy", .content = npy}, {.name = "a.npy", .content = npy}}),
                     {.key = "a", .cache_dir = ""}),
             "two arrays named a");
}

TEST(Npz, RefusesEncryptionAndOtherMethods) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  EXPECT_HAS(ErrorOf(path, Zip({{.name = "a.npy", .content = NpyContent(1), .flags = 1}})),
             "encrypted");
  EXPECT_HAS(ErrorOf(path, Zip({{.name = "a.npy", .content = NpyContent(1), .method = 12}})),
             "method 12");
}

TEST(Npz, ChecksTheChecksum) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  for (const int method : {0, 8}) {
    const std::string bad =
        Zip({{.name = "a.npy", .content = NpyContent(1), .method = method, .crc_error = 1}});
    EXPECT_HAS(ErrorOf(path, bad), "checksum");
  }
  Put(path, Zip({{.name = "a.npy", .content = NpyContent(7), .crc_error = 1}}));
  EXPECT_EQ(ReadAll<float>(*OpenArray(path, {.key = "", .cache_dir = "", .verify = false}))[0], 7);
}

TEST(Npz, RefusesSizesThatLie) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  const std::string npy = NpyContent(1);
  const auto size = static_cast<int64_t>(npy.size());
  for (const int method : {0, 8}) {
    for (const int64_t claimed : {int64_t{0}, size - 1, size + 1, int64_t{4000000000}}) {
      Member member{.name = "a.npy", .content = npy, .method = method, .claimed_bytes = claimed};
      ErrorOf(path, Zip({member}));
    }
  }
}

// 16 MB of zeros in 16 kB: behind a small header, behind a header that claims them all, and claimed
// by the archive only.
TEST(Npz, StopsDecodingBombs) {
  const TempFolder folder;
  const std::string path = folder.File("a.npz");
  const std::string zeros(16 << 20, '\0');
  const std::string small = NpyContent(1) + zeros;
  const auto honest = static_cast<int64_t>(NpyContent(1).size());
  EXPECT_HAS(ErrorOf(path, Zip({{.name = "a.npy", .content = small, .method = 8}})),
             "after the last element");
  EXPECT_HAS(
      ErrorOf(path,
              Zip({{.name = "a.npy", .content = small, .method = 8, .claimed_bytes = honest}})),
      "more data");
  EXPECT_HAS(ErrorOf(path,
                     Zip({{.name = "a.npy",
                           .content = NpyContent(1),
                           .method = 8,
                           .claimed_bytes = 1 << 30}})),
             "compressed bytes can hold");
}

TEST(Npz, RefusesEveryPrefixAndSurvivesAnyChangedByte) {
  const TempFolder folder;
  for (const int method : {0, 8}) {
    const std::string archive =
        Zip({{.name = "a.npy", .content = NpyContent(1), .method = method}});
    ExpectEveryPrefixIsRefused(folder.File("a.npz"), archive);
    ExpectEveryByteMayChange(folder.File("a.npz"), archive);
  }
}

TEST(Npz, WritesTheSameReadableBytesEachTime) {
  const TempFolder folder;
  const std::vector<float> values = Counting<float>(24);
  const ArrayInfo info{.dtype = DType::kF32, .shape = {2, 3, 4}, .spacing = {}};
  WriteOptions options;
  options.key = "softmax";
  for (const char* name : {"a.npz", "b.npz"})
    SaveArray(folder.File(name), info, values.data(), options);
  const auto array = OpenArray(folder.File("a.npz"));
  EXPECT_EQ(array->name(), folder.File("a.npz") + ":softmax");
  EXPECT_EQ(array->info().shape, info.shape);
  EXPECT_EQ(ReadAll<float>(*array), values);
  EXPECT_EQ(ReadText(folder.File("a.npz"), 1 << 20), ReadText(folder.File("b.npz"), 1 << 20));
  ExpectEveryPrefixIsRefused(folder.File("c.npz"), ReadText(folder.File("a.npz"), 1 << 20));
}

TEST(Npz, WritesDeflatedMembersThatReadBack) {
  const TempFolder folder;
  const std::vector<float> values(1000, 0.25F);
  const ArrayInfo info{.dtype = DType::kF32, .shape = {2, 500}, .spacing = {}};
  WriteOptions options;
  options.compress = true;
  // The second is kept in a temporary file until it is encoded.
  for (const int64_t limit : {int64_t{1} << 20, int64_t{100}}) {
    options.memory_limit = limit;
    const std::string path = folder.File(fmt::format("{}.npz", limit));
    SaveArray(path, info, values.data(), options);
    EXPECT_LT(std::filesystem::file_size(path), 1000u);
    const std::unique_ptr<Array> array = OpenArray(path);
    EXPECT_EQ(array->name(), path + ":probabilities");
    EXPECT_EQ(array->info().shape, info.shape);
    EXPECT_EQ(ReadAll<float>(*array), values);
  }
  EXPECT_EQ(folder.Get("100.npz"), folder.Get("1048576.npz"));
  ExpectEveryPrefixIsRefused(folder.File("c.npz"), folder.Get("100.npz"));
}

}  // namespace
}  // namespace segcal
