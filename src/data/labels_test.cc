// SPDX-License-Identifier: Apache-2.0
#include "data/labels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/tile.h"
#include "tests/support/errors.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::ExpectError;

Dataset ThreeClasses() {
  Dataset dataset;
  dataset.classes = {"a", "b", "c"};
  dataset.ignore_label = 255;
  return dataset;
}

// Labels of all elements; `bytes` must outlive the call.
std::vector<int32_t> ReadLabelBytes(const Dataset& dataset,
                                    DType dtype,
                                    const std::vector<std::byte>& bytes) {
  const int64_t n = static_cast<int64_t>(bytes.size()) / ElementSize(dtype);
  const LabelReader reader(
      dataset,
      ArrayOverMemory("labels.png", {.dtype = dtype, .shape = {n}, .spacing = {}}, bytes.data()));
  std::vector<int32_t> labels(static_cast<size_t>(n));
  reader.Read(0, labels);
  return labels;
}
std::vector<int32_t> ReadLabels(const Dataset& dataset,
                                DType dtype,
                                const std::vector<float>& values) {
  return ReadLabelBytes(dataset, dtype, testing::ConvertTo(dtype, values));
}

template <class T>
std::vector<std::byte> BytesOf(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const std::byte*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}

TEST(LabelReader, ReadsEveryType) {
  const std::vector<int32_t> expected = {0, 2, 1, kNoLabel};
  for (const DType dtype : {DType::kU8,
                            DType::kU16,
                            DType::kI16,
                            DType::kU32,
                            DType::kI32,
                            DType::kU64,
                            DType::kI64,
                            DType::kF16,
                            DType::kF32,
                            DType::kF64}) {
    EXPECT_EQ(ReadLabels(ThreeClasses(), dtype, {0, 2, 1, 255}), expected) << Name(dtype);
  }
  Dataset with_negative_ignore = ThreeClasses();
  with_negative_ignore.ignore_label = -1;
  EXPECT_EQ(ReadLabels(with_negative_ignore, DType::kI8, {0, 2, 1, -1}), expected);
  EXPECT_EQ(ReadLabels(ThreeClasses(), DType::kBool, {0, 1, 1}), (std::vector<int32_t>{0, 1, 1}));
}

TEST(LabelReader, TheIgnoreLabelMayBeTheNumberOfAClass) {
  Dataset dataset = ThreeClasses();
  dataset.ignore_label = 1;
  for (const DType dtype : {DType::kU8, DType::kU16, DType::kI32, DType::kI64}) {
    EXPECT_EQ(ReadLabels(dataset, dtype, {0, 1, 2}), (std::vector<int32_t>{0, kNoLabel, 2}))
        << Name(dtype);
  }
}

TEST(LabelReader, MinusOneIsNoLabelUnlessItIsTheIgnoreLabel) {
  Dataset dataset = ThreeClasses();
  dataset.ignore_label.reset();
  for (const DType dtype : {DType::kI32, DType::kI64}) {
    ExpectError(ErrorCode::kBadData, {"label -1", "voxel (1)"}, [&] {
      ReadLabels(dataset, dtype, {0, -1, 2});
    });
  }
}

TEST(LabelReader, ReadsAnyStretch) {
  const std::vector<uint8_t> values = {0, 1, 2, 255, 1, 0};
  const LabelReader reader(
      ThreeClasses(),
      ArrayOverMemory("l", {.dtype = DType::kU8, .shape = {2, 3}, .spacing = {}}, values.data()));
  std::vector<int32_t> labels(3);
  reader.Read(2, labels);
  EXPECT_EQ(labels, (std::vector<int32_t>{2, kNoLabel, 1}));
}

// Files are read through a buffer, memory in place.
TEST(LabelReader, ReadsFilesAsMemory) {
  const testing::TempFolder folder;
  const std::vector<int16_t> values = {2, 0, 255, 1};
  SaveArray(
      folder.File("l.npy"), {.dtype = DType::kI16, .shape = {4}, .spacing = {}}, values.data());
  const LabelReader reader(ThreeClasses(), OpenArray(folder.File("l.npy")));
  std::vector<int32_t> labels(4);
  reader.Read(0, labels);
  EXPECT_EQ(labels, (std::vector<int32_t>{2, 0, kNoLabel, 1}));
}

TEST(LabelReader, RefusesFractionsAndWhatIsNoNumber) {
  for (const float bad : {1.5f, -0.25f, NAN, INFINITY}) {
    for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
      ExpectError(ErrorCode::kBadData, {"labels.png", "element 1", "whole numbers"}, [&] {
        ReadLabels(ThreeClasses(), dtype, {0, bad});
      });
    }
  }
  ExpectError(ErrorCode::kBadData, {"1e+30"}, [&] {
    ReadLabelBytes(ThreeClasses(), DType::kF64, BytesOf<double>({1e30}));
  });
}

TEST(LabelReader, NamesFileValueAndVoxelOfALabelOutOfRange) {
  for (const DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kI64, DType::kF32}) {
    ExpectError(ErrorCode::kBadData, {"labels.png", "label 3 at voxel (2)", "[0, 3)", "255"}, [&] {
      ReadLabels(ThreeClasses(), dtype, {0, 1, 3});
    });
    ExpectError(ErrorCode::kBadData, {"label -7 at voxel (0)"}, [&] {
      ReadLabels(ThreeClasses(), dtype, {-7});
    });
  }
  for (const DType dtype : {DType::kU8, DType::kU16, DType::kBool}) {
    ExpectError(ErrorCode::kBadData, {"labels.png", "label 9 at voxel (1)"}, [&] {
      ReadLabels(ThreeClasses(), dtype, {0, 9});
    });
  }
  Dataset without_ignore = ThreeClasses();
  without_ignore.ignore_label.reset();
  ExpectError(ErrorCode::kBadData, {"label 255", "label_map", "option ignore_label of index"}, [&] {
    ReadLabels(without_ignore, DType::kU8, {255});
  });
}

TEST(LabelReader, RefusesHugeValuesInsteadOfCuttingThem) {
  ExpectError(ErrorCode::kBadData, {"label 4294967296"}, [&] {
    ReadLabelBytes(ThreeClasses(), DType::kI64, BytesOf<int64_t>({int64_t{1} << 32}));
  });
  ExpectError(ErrorCode::kBadData, {"labels.png", "label 18446744073709551615 "}, [&] {
    ReadLabelBytes(
        ThreeClasses(), DType::kU64, BytesOf<uint64_t>({std::numeric_limits<uint64_t>::max()}));
  });
  ExpectError(ErrorCode::kBadData, {"label 9223372036854775808 "}, [&] {
    ReadLabelBytes(ThreeClasses(), DType::kU64, BytesOf<uint64_t>({uint64_t{1} << 63}));
  });
  ExpectError(ErrorCode::kBadData, {"label 65536"}, [&] {
    ReadLabelBytes(ThreeClasses(), DType::kU32, BytesOf<uint32_t>({65536}));
  });
}

TEST(LabelReader, AppliesTheLabelMap) {
  Dataset dataset = ThreeClasses();
  dataset.label_map = {{-1, 255}, {7, 0}, {8, 2}, {1000, 1}, {0, 255}};
  EXPECT_EQ(ReadLabels(dataset, DType::kI32, {7, 8, 1000, -1, 0}),
            (std::vector<int32_t>{0, 2, 1, kNoLabel, kNoLabel}));
  // The ignore label itself needs no entry.
  EXPECT_EQ(ReadLabels(dataset, DType::kU8, {255}), (std::vector<int32_t>{kNoLabel}));
}

TEST(LabelReader, RefusesAValueTheLabelMapDoesNotList) {
  Dataset dataset = ThreeClasses();
  dataset.label_map = {{7, 0}};
  ExpectError(ErrorCode::kBadData, {"label 1 at voxel (1)", "label_map"}, [&] {
    ReadLabels(dataset, DType::kU8, {7, 1});
  });
}

}  // namespace
}  // namespace segcal
