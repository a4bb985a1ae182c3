// SPDX-License-Identifier: Apache-2.0
#include "formats/files_for_test.h"

namespace segcal {
namespace {

// JPEGs written by hand, coefficient by coefficient, so that the pixels are known in closed form.
// All entries of the quantisation table are 8, so that a block whose only coefficient is DC = d has
// the value 128 + d everywhere. Codes: DC difference 0 is "0", a difference of 5 bits is "10" and
// its bits; the end of a block is "0".
std::string Segment(int marker, const std::string& content) {
  const size_t length = content.size() + 2;
  return std::string("\xff") + static_cast<char>(marker) + static_cast<char>(length >> 8) +
         static_cast<char>(length & 0xff) + content;
}

std::string Tables() {
  const std::string dc = std::string("\0\1\1", 3) + std::string(14, '\0') + std::string("\0\5", 2);
  const std::string ac = std::string("\x10\1", 2) + std::string(15, '\0') + std::string(1, '\0');
  return Segment(0xdb, std::string(1, '\0') + std::string(64, '\x08')) + Segment(0xc4, dc) +
         Segment(0xc4, ac);
}

std::string Frame(int marker, int height, int width, int channels) {
  std::string content = {8,
                         static_cast<char>(height >> 8),
                         static_cast<char>(height & 0xff),
                         static_cast<char>(width >> 8),
                         static_cast<char>(width & 0xff),
                         static_cast<char>(channels)};
  for (int id = 1; id <= channels; ++id) content += {static_cast<char>(id), 0x11, 0};
  return Segment(marker, content);
}

// Coefficients first to last, down to bit `low`; bits above `high` came before.
std::string Scan(int channels, int first, int last, int high, int low, const std::string& data) {
  std::string content(1, static_cast<char>(channels));
  for (int id = 1; id <= channels; ++id) content += {static_cast<char>(id), 0};
  content +=
      {static_cast<char>(first), static_cast<char>(last), static_cast<char>(high << 4 | low)};
  return Segment(0xda, content) + data;
}

const std::string kStart = "\xff\xd8";
const std::string kEnd = "\xff\xd9";

// Two blocks: +20 is "10" "10100" "0", then -20 is "10" "01011" "0".
std::string Gray() {
  return kStart + Tables() + Frame(0xc0, 8, 16, 1) + Scan(1, 0, 63, 0, 0, "\xa8\x96") + kEnd;
}

// One block per channel: Y +20, Cb 0, Cr +20.
std::string Color() {
  return kStart + Tables() + Frame(0xc0, 8, 8, 3) + Scan(3, 0, 63, 0, 0, "\xa8\x2a\x3f") + kEnd;
}

TEST(Jpeg, ReadsGray) {
  const TempFolder folder;
  Put(folder.File("a.jpg"), Gray());
  for (const int64_t limit : {10, 1000000}) {
    const auto array =
        OpenArray(folder.File("a.jpg"), {.key = "", .memory_limit = limit, .cache_dir = ""});
    EXPECT_EQ(array->info().dtype, DType::kU8);
    EXPECT_EQ(array->info().shape, (std::vector<int64_t>{8, 16}));
    const std::vector<uint8_t> pixels = ReadAll<uint8_t>(*array);
    for (size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(pixels[i], i % 16 < 8 ? 148 : 128) << i;
  }
}

// R = Y + 1.402 Cr, G = Y - 0.344 Cb - 0.714 Cr, B = Y + 1.772 Cb.
TEST(Jpeg, ReadsColorAsRgb) {
  const TempFolder folder;
  Put(folder.File("a.jpg"), Color());
  const auto array = OpenArray(folder.File("a.jpg"));
  EXPECT_EQ(array->info().shape, (std::vector<int64_t>{8, 8, 3}));
  const std::vector<uint8_t> pixels = ReadAll<uint8_t>(*array);
  const uint8_t expected[] = {176, 134, 148};
  for (size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(pixels[i], expected[i % 3]) << i;
}

TEST(Jpeg, ReadsProgressive) {
  const TempFolder folder;
  // "10" "10100", then the second block without difference: "0".
  Put(folder.File("a.jpg"),
      kStart + Tables() + Frame(0xc2, 8, 16, 1) + Scan(1, 0, 0, 0, 0, "\xa8") + kEnd);
  EXPECT_EQ(ReadAll<uint8_t>(*OpenArray(folder.File("a.jpg"))), std::vector<uint8_t>(128, 148));
}

TEST(Jpeg, RefusesAFileOfVeryManyScans) {
  const TempFolder folder;
  std::string file = kStart + Tables() + Frame(0xc2, 8, 8, 1) + Scan(1, 0, 0, 0, 0, "\xa8");
  for (int low = 3; low >= 0; --low) {
    for (int k = 1; k < 64; ++k) file += Scan(1, k, k, low == 3 ? 0 : low + 1, low, "\x7f");
  }
  EXPECT_HAS(ErrorOf(folder.File("a.jpg"), file + kEnd), "more than 200 scans");
}

TEST(Jpeg, RefusesFourChannels) {
  const TempFolder folder;
  const std::string file =
      kStart + Tables() + Frame(0xc0, 8, 8, 4) + Scan(4, 0, 63, 0, 0, std::string(1, '\0')) + kEnd;
  EXPECT_HAS(ErrorOf(folder.File("a.jpg"), file), "4 channels");
}

// One byte of data for a square image of `length` pixels.
std::string Starved(int marker, int length) {
  const int last = marker == 0xc0 ? 63 : 0;
  return kStart + Tables() + Frame(marker, length, length, 1) + Scan(1, 0, last, 0, 0, "\xa8") +
         kEnd;
}

TEST(Jpeg, RefusesSizesThatAreNotThere) {
  const TempFolder folder;
  for (const int marker : {0xc0, 0xc2}) {
    EXPECT_HAS(ErrorOf(folder.File("a.jpg"), Starved(marker, 65000)), "4225000000 pixels in");
    EXPECT_HAS(ErrorOf(folder.File("a.jpg"), Starved(marker, 700)), "JPEG: ");
  }
}

TEST(Jpeg, RefusesEveryPrefixAndSurvivesAnyChangedByte) {
  const TempFolder folder;
  for (const std::string& file : {Gray(), Color()}) {
    ExpectEveryPrefixIsRefused(folder.File("a.jpg"), file);
    ExpectEveryByteMayChange(folder.File("a.jpg"), file);
  }
}

}  // namespace
}  // namespace segcal
