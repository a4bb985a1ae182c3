// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "formats/files_for_test.h"

namespace segcal {
namespace {

// Puts a number into a header, in the byte order asked for.
template <class T>
void Set(std::string* header, size_t at, T value, bool big) {
  std::byte raw[sizeof(T)];
  StoreLittle(raw, value);
  if (big) std::reverse(raw, raw + sizeof(T));
  std::memcpy(header->data() + at, raw, sizeof(T));
}

// Headers of a volume of int16 with 3 x 2 x 2 voxels, written from the format's field tables and
// independent of formats/nifti_header.cc.
std::string Header1(bool big) {
  std::string header(352, '\0');
  Set<int32_t>(&header, 0, 348, big);
  const int16_t dim[] = {3, 3, 2, 2, 1, 1, 1, 1};
  for (size_t i = 0; i < 8; ++i) Set(&header, 40 + 2 * i, dim[i], big);
  Set<int16_t>(&header, 70, 4, big);
  Set<int16_t>(&header, 72, 16, big);
  const float pixdim[] = {1, 0.5f, 0.75f, 2, 0, 0, 0, 0};
  for (size_t i = 0; i < 8; ++i) Set(&header, 76 + 4 * i, pixdim[i], big);
  Set<float>(&header, 108, 352, big);
  header.replace(344, 4, "n+1", 4);
  return header;
}

std::string Header2(bool big) {
  std::string header(544, '\0');
  Set<int32_t>(&header, 0, 540, big);
  header.replace(4, 8, "n+2\0\r\n\x1a\n", 8);
  Set<int16_t>(&header, 12, 4, big);
  Set<int16_t>(&header, 14, 16, big);
  const int64_t dim[] = {3, 3, 2, 2, 1, 1, 1, 1};
  for (size_t i = 0; i < 8; ++i) Set(&header, 16 + 8 * i, dim[i], big);
  const double pixdim[] = {1, 0.5, 0.75, 2, 0, 0, 0, 0};
  for (size_t i = 0; i < 8; ++i) Set(&header, 104 + 8 * i, pixdim[i], big);
  Set<int64_t>(&header, 168, 544, big);
  return header;
}

std::string Voxels(bool big) {
  std::string data(24, '\0');
  for (size_t i = 0; i < 12; ++i) Set(&data, 2 * i, static_cast<int16_t>(i * 300), big);
  return data;
}

std::vector<int16_t> ExpectedVoxels() {
  return {0, 300, 600, 900, 1200, 1500, 1800, 2100, 2400, 2700, 3000, 3300};
}

TEST(Nifti, ReadsBothVersionsByteOrdersAndGzip) {
  const TempFolder folder;
  for (const bool big : {false, true}) {
    for (const std::string& header : {Header1(big), Header2(big)}) {
      const std::string file = header + Voxels(big);
      for (const std::string& stored :
           {file, Gzip(file), Gzip(file.substr(0, 300)) + Gzip(file.substr(300))}) {
        for (const int64_t limit : {0, 1000}) {
          Put(folder.File("a.nii.gz"), stored);
          const auto array = OpenArray(folder.File("a.nii.gz"),
                                       {.key = "", .memory_limit = limit, .cache_dir = ""});
          EXPECT_EQ(array->info().shape, (std::vector<int64_t>{2, 2, 3}));
          EXPECT_EQ(array->info().spacing, (std::vector<double>{2, 0.75, 0.5}));
          EXPECT_EQ(ReadAll<int16_t>(*array), ExpectedVoxels());
        }
      }
    }
  }
}

TEST(Nifti, AppliesSlopeAndIntercept) {
  const TempFolder folder;
  std::string header = Header1(false);
  Set<float>(&header, 112, 0.25f, false);
  Set<float>(&header, 116, -3.0f, false);
  for (const std::string& stored : {header + Voxels(false), Gzip(header + Voxels(false))}) {
    Put(folder.File("a.nii"), stored);
    const auto array = OpenArray(folder.File("a.nii"));
    EXPECT_EQ(array->info().dtype, DType::kF32);
    float values[2];
    array->Read(3, 2, values);
    EXPECT_EQ(values[0], 900 * 0.25f - 3);
    EXPECT_EQ(values[1], 1200 * 0.25f - 3);
  }
}

TEST(Nifti, TakesSlopeOneZeroOrNanAsStored) {
  const TempFolder folder;
  for (const float slope : {0.0f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    std::string header = Header1(false);
    Set<float>(&header, 112, slope, false);
    Put(folder.File("a.nii"), header + Voxels(false));
    EXPECT_EQ(ReadAll<int16_t>(*OpenArray(folder.File("a.nii"))), ExpectedVoxels());
  }
  std::string header = Header1(false);
  Set<float>(&header, 112, std::numeric_limits<float>::infinity(), false);
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), header + Voxels(false)), "scl_slope inf");
}

TEST(Nifti, HonoursTheDataOffset) {
  const TempFolder folder;
  std::string header = Header1(false);
  Set<float>(&header, 108, 400, false);
  header += std::string(48, 'x');
  for (const std::string& stored : {header + Voxels(false), Gzip(header + Voxels(false))}) {
    Put(folder.File("a.nii"), stored);
    EXPECT_EQ(ReadAll<int16_t>(*OpenArray(folder.File("a.nii"))), ExpectedVoxels());
  }
}

// Each lie is told in a plain and in a compressed file.
TEST(Nifti, RefusesHeadersThatLie) {
  const TempFolder folder;
  const auto refuse = [&](size_t at, auto value, const char* message) {
    std::string header = Header1(false);
    Set(&header, at, value, false);
    EXPECT_HAS(ErrorOf(folder.File("a.nii"), header + Voxels(false)), message);
    EXPECT_HAS(ErrorOf(folder.File("a.nii"), Gzip(header + Voxels(false))), message);
  };
  refuse(40, int16_t{0}, "dim[0] is 0");
  refuse(40, int16_t{8}, "dim[0] is 8");
  refuse(42, int16_t{0}, "dim[1] is 0");
  refuse(44, int16_t{-2}, "dim[2] is -2");
  refuse(70, int16_t{32}, "data type 32");
  refuse(72, int16_t{8}, "8 bits per voxel");
  refuse(80, 0.0f, "pixdim[1] is 0");
  refuse(108, 0.0f, "vox_offset is 0");
  refuse(108, 352.5f, "vox_offset is 352.5");
  refuse(108, -1e30f, "vox_offset is");
  refuse(108, 1e15f, "truncated");
  refuse(344, int32_t{0}, "ANALYZE");
  refuse(344, 0x0031696e, ".hdr/.img pair");
}

TEST(Nifti, RefusesSizesThatAreNotThere) {
  const TempFolder folder;
  std::string header = Header2(false);
  for (const size_t axis : {1, 2, 3}) Set<int64_t>(&header, 16 + 8 * axis, 100000, false);
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), header + Voxels(false)), "truncated");
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), Gzip(header + Voxels(false))),
             "compressed bytes can hold");
  Set<int64_t>(&header, 24, int64_t{1} << 62, false);
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), header + Voxels(false)), "not possible");
}

TEST(Nifti, RefusesDataAfterTheVoxels) {
  const TempFolder folder;
  const std::string file = Header1(false) + Voxels(false);
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), file + "x"), "after the last voxel");
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), Gzip(file + "x")), "more data");
  EXPECT_HAS(ErrorOf(folder.File("a.nii"), Gzip(file + std::string(16 << 20, '\0'))), "more data");
}

TEST(Nifti, RefusesEveryPrefixAndSurvivesAnyChangedByte) {
  const TempFolder folder;
  for (const std::string& file : {Header1(true) + Voxels(true), Header2(false) + Voxels(false)}) {
    ExpectEveryPrefixIsRefused(folder.File("a.nii"), file);
    ExpectEveryPrefixIsRefused(folder.File("a.nii"), Gzip(file));
    ExpectEveryByteMayChange(folder.File("a.nii"), file);
    ExpectEveryByteMayChange(folder.File("a.nii"), Gzip(file));
  }
}

TEST(Nifti, WritesVolumesAndSoftMapsWithTheirSpacing) {
  const TempFolder folder;
  const std::vector<float> values = Counting<float>(120);
  for (const char* name : {"a.nii", "a.nii.gz"}) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{5, 4, 6}, {2, 5, 4, 3}, {12, 10}}) {
      std::vector<double> spacing = {2.5, 0.75, 0.5};
      if (shape.size() == 2) spacing.pop_back();
      SaveArray(folder.File(name),
                {.dtype = DType::kF32, .shape = shape, .spacing = spacing},
                values.data());
      const auto array = OpenArray(folder.File(name));
      EXPECT_EQ(array->info().shape, shape);
      EXPECT_EQ(array->info().spacing, spacing);
      EXPECT_EQ(ReadAll<float>(*array), values);
    }
  }
}

TEST(Nifti, TakesOverTheGeometryOfItsReference) {
  const TempFolder folder;
  std::string header = Header1(true);
  header[123] = 2;
  Set<int16_t>(&header, 252, 1, true);
  Set<int16_t>(&header, 254, 4, true);
  for (size_t i = 0; i < 18; ++i) Set(&header, 256 + 4 * i, static_cast<float>(i) / 4, true);
  Put(folder.File("reference.nii.gz"), Gzip(header + Voxels(true)));
  WriteOptions options;
  options.reference = folder.File("reference.nii.gz");
  const std::vector<float> values = Counting<float>(24);
  SaveArray(folder.File("a.nii"),
            {.dtype = DType::kF32, .shape = {2, 2, 2, 3}, .spacing = {9, 9, 9}},
            values.data(),
            options);
  const std::string written = ReadText(folder.File("a.nii"), 1 << 20);
  const auto* bytes = reinterpret_cast<const std::byte*>(written.data());
  EXPECT_EQ(LoadLittle<int16_t>(bytes + 252), 1);
  EXPECT_EQ(LoadLittle<int16_t>(bytes + 254), 4);
  for (size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(LoadLittle<float>(bytes + 256 + 4 * i), static_cast<float>(i) / 4);
  }
  EXPECT_EQ(OpenArray(folder.File("a.nii"))->info().spacing, (std::vector<double>{2, 0.75, 0.5}));
  const ArrayInfo other{.dtype = DType::kF32, .shape = {2, 2, 4}, .spacing = {}};
  EXPECT_THROW(SaveArray(folder.File("b.nii"), other, values.data(), options), Error);
}

TEST(Nifti, RefusesToWriteWhatItCannotHold) {
  const TempFolder folder;
  const std::vector<double> values(64);
  for (const ArrayInfo& info :
       {ArrayInfo{.dtype = DType::kF16, .shape = {2, 2}, .spacing = {}},
        ArrayInfo{.dtype = DType::kF32, .shape = {1, 2, 2, 2, 2}, .spacing = {}},
        ArrayInfo{.dtype = DType::kF32, .shape = {2, 0}, .spacing = {}}}) {
    EXPECT_THROW(SaveArray(folder.File("a.nii"), info, values.data()), Error);
  }
  EXPECT_EQ(folder.NumFiles(), 0u);
}

}  // namespace
}  // namespace segcal
