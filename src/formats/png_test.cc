// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include "formats/files_for_test.h"

namespace segcal {
namespace {

std::string Big(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xff);
  return out;
}

std::string Chunk(const std::string& type, const std::string& data) {
  const std::string body = type + data;
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(body.data()), body.size());
  return Big(static_cast<uint32_t>(data.size())) + body + Big(static_cast<uint32_t>(crc));
}

std::string Compressed(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string out(size, '\0');
  compress(reinterpret_cast<Bytef*>(out.data()),
           &size,
           reinterpret_cast<const Bytef*>(text.data()),
           text.size());
  return out.substr(0, size);
}

struct Image {
  uint32_t width = 0;
  uint32_t height = 0;
  int depth = 8;
  int color = 0;          // 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGBA
  std::string rows = {};  // each with its filter byte
  int interlace = 0;
  std::string extra = {};  // chunks before the image data
};

// Written from the PNG specification, without libpng.
std::string Png(const Image& image) {
  const std::string kind = {static_cast<char>(image.depth),
                            static_cast<char>(image.color),
                            0,
                            0,
                            static_cast<char>(image.interlace)};
  return std::string("\x89PNG\r\n\x1a\n") +
         Chunk("IHDR", Big(image.width) + Big(image.height) + kind) + image.extra +
         Chunk("IDAT", Compressed(image.rows)) + Chunk("IEND", "");
}

const std::string kFilter(1, '\0');

std::vector<uint8_t> ReadBack(const TempFolder& folder,
                              const Image& image,
                              const std::vector<int64_t>& shape) {
  Put(folder.File("a.png"), Png(image));
  const auto array = OpenArray(folder.File("a.png"));
  EXPECT_EQ(array->info().shape, shape);
  return ReadAll<uint8_t>(*array);
}

TEST(Png, ReadsGrayAndColorAsStored) {
  const TempFolder folder;
  EXPECT_EQ(
      ReadBack(
          folder, {.width = 3, .height = 2, .rows = kFilter + "abc" + kFilter + "def"}, {2, 3}),
      (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  for (const auto& [color, channels] : {std::pair{2, 3}, {4, 2}, {6, 4}}) {
    const std::string row = std::string("abcdefgh").substr(0, 2 * static_cast<size_t>(channels));
    EXPECT_EQ(ReadBack(folder,
                       {.width = 2, .height = 1, .color = color, .rows = kFilter + row},
                       {1, 2, channels}),
              std::vector<uint8_t>(row.begin(), row.end()));
  }
}

TEST(Png, ReadsSixteenBitsInTheMachinesOrder) {
  const TempFolder folder;
  Put(folder.File("a.png"),
      Png({.width = 2,
           .height = 1,
           .depth = 16,
           .rows = kFilter + std::string("\1\2\xff\xfe", 4)}));
  const auto array = OpenArray(folder.File("a.png"));
  EXPECT_EQ(array->info().dtype, DType::kU16);
  EXPECT_EQ(ReadAll<uint16_t>(*array), (std::vector<uint16_t>{258, 65534}));
}

// 1 bit: 1010 0000. 2 bits: 11 01 00 10. 4 bits: 15 9.
TEST(Png, GivesRawValuesOfFewBitsAndPaletteIndices) {
  const TempFolder folder;
  const auto palette = [](int color, size_t size) {
    return color == 3 ? Chunk("PLTE", std::string(3 * size, 'x')) : std::string();
  };
  for (const int color : {0, 3}) {
    Image image{.width = 3, .height = 1, .depth = 1, .color = color, .rows = kFilter + "\xa0"};
    image.extra = palette(color, 2);
    EXPECT_EQ(ReadBack(folder, image, {1, 3}), (std::vector<uint8_t>{1, 0, 1}));
    image = {.width = 4, .height = 1, .depth = 2, .color = color, .rows = kFilter + "\xd2"};
    image.extra = palette(color, 4);
    EXPECT_EQ(ReadBack(folder, image, {1, 4}), (std::vector<uint8_t>{3, 1, 0, 2}));
    image = {.width = 2, .height = 1, .depth = 4, .color = color, .rows = kFilter + "\xf9"};
    image.extra = palette(color, 16);
    EXPECT_EQ(ReadBack(folder, image, {1, 2}), (std::vector<uint8_t>{15, 9}));
  }
  const std::string transparent = palette(3, 16) + Chunk("tRNS", std::string(16, '\x20'));
  const Image eight{
      .width = 2, .height = 1, .color = 3, .rows = kFilter + "\x07\x0b", .extra = transparent};
  EXPECT_EQ(ReadBack(folder, eight, {1, 2}), (std::vector<uint8_t>{7, 11}));
}

// 3 x 2 pixels: pass 1 holds (0, 0), pass 4 (2, 0), pass 6 (1, 0), pass 7 row 1.
TEST(Png, ReadsInterlacedImages) {
  const TempFolder folder;
  const Image image{.width = 3,
                    .height = 2,
                    .rows = kFilter + "a" + kFilter + "c" + kFilter + "b" + kFilter + "def",
                    .interlace = 1};
  EXPECT_EQ(ReadBack(folder, image, {2, 3}), (std::vector<uint8_t>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_HAS(OpenError(folder.File("a.png"), {.key = "", .memory_limit = 5, .cache_dir = ""}),
             "interlaced");
}

TEST(Png, RefusesWrongChecksumsAlsoInSideChunks) {
  const TempFolder folder;
  std::string text = Chunk("tEXt", std::string("Title\0x", 7));
  text.back() = static_cast<char>(text.back() ^ 1);
  const Image image{.width = 1, .height = 1, .rows = kFilter + "a", .extra = text};
  EXPECT_HAS(ErrorOf(folder.File("a.png"), Png(image)), "CRC");
}

TEST(Png, RefusesSizesThatAreNotThere) {
  const TempFolder folder;
  for (const uint32_t length : {0u, 900000u, 2000000u, 0x7fffffffu}) {
    for (const int interlace : {0, 1}) {
      const Image image{
          .width = length, .height = length, .rows = kFilter + "a", .interlace = interlace};
      ErrorOf(folder.File("a.png"), Png(image));
    }
  }
  ErrorOf(folder.File("a.png"), Png({.width = 3, .height = 2, .rows = kFilter + "abc"}));
}

TEST(Png, RefusesEveryPrefixAndSurvivesAnyChangedByte) {
  const TempFolder folder;
  const std::string file =
      Png({.width = 3, .height = 2, .rows = kFilter + "abc" + kFilter + "def"});
  ExpectEveryPrefixIsRefused(folder.File("a.png"), file);
  ExpectEveryByteMayChange(folder.File("a.png"), file);
}

TEST(Png, WritesGrayAndColorBitForBit) {
  const TempFolder folder;
  const std::vector<uint8_t> bytes = Counting<uint8_t>(60);
  for (const ArrayInfo& info :
       {ArrayInfo{.dtype = DType::kU8, .shape = {6, 10}, .spacing = {}},
        ArrayInfo{.dtype = DType::kU16, .shape = {5, 6}, .spacing = {}},
        ArrayInfo{.dtype = DType::kU8, .shape = {4, 5, 3}, .spacing = {}}}) {
    for (const int64_t limit : {0, 1000}) {
      WriteOptions options;
      options.memory_limit = limit;
      SaveArray(folder.File("a.png"), info, bytes.data(), options);
      const auto array = OpenArray(folder.File("a.png"));
      EXPECT_EQ(array->info().dtype, info.dtype);
      EXPECT_EQ(array->info().shape, info.shape);
      std::vector<uint8_t> read(60);
      array->Read(0, info.NumElements(), read.data());
      EXPECT_EQ(read, bytes);
    }
  }
}

TEST(Png, RefusesToWriteWhatItCannotHold) {
  const TempFolder folder;
  const std::vector<float> values(100);
  for (const ArrayInfo& info : {ArrayInfo{.dtype = DType::kF32, .shape = {2, 2}, .spacing = {}},
                                ArrayInfo{.dtype = DType::kI16, .shape = {2, 2}, .spacing = {}},
                                ArrayInfo{.dtype = DType::kU8, .shape = {2, 2, 2}, .spacing = {}},
                                ArrayInfo{.dtype = DType::kU8, .shape = {4}, .spacing = {}},
                                ArrayInfo{.dtype = DType::kU8, .shape = {0, 4}, .spacing = {}}}) {
    EXPECT_THROW(SaveArray(folder.File("a.png"), info, values.data()), Error);
  }
  EXPECT_EQ(folder.NumFiles(), 0u);
}

}  // namespace
}  // namespace segcal
