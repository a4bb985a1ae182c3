// SPDX-License-Identifier: Apache-2.0
#include "formats/files_for_test.h"
#include "formats/nifti_for_test.h"
#include "formats/nifti_header.h"

namespace segcal {
namespace {

TEST(EncodeNiftiHeader, IsVersion1AsLongAsAxesFit) {
  NiftiHeader header = SmallHeader();
  EXPECT_EQ(EncodeNiftiHeader(header).size(), 352u);
  header.dim[1] = 32767;
  EXPECT_EQ(EncodeNiftiHeader(header).size(), 352u);
  header.dim[1] = 32768;
  EXPECT_EQ(EncodeNiftiHeader(header).size(), 544u);
}

TEST(EncodeNiftiHeader, ReadsBackInBothVersions) {
  const TempFolder folder;
  for (const int64_t length : {100, 100000}) {
    NiftiHeader header = SmallHeader();
    header.dim[2] = length;
    header.geometry.qform_code = 1;
    header.geometry.sform_code = 4;
    header.geometry.qform = {0.5, 0.25, 0.125, -1, 2, 3};
    for (size_t i = 0; i < 12; ++i) header.geometry.sform[i] = static_cast<double>(i) - 4.5;
    const Bytes bytes = EncodeNiftiHeader(header);
    Put(folder.File("a.nii"), ToString(bytes));
    const InputFile file(folder.File("a.nii"));
    FileStream stream(file, 0, file.size());
    int64_t consumed = 0;
    const NiftiHeader read = ReadNiftiHeader(&stream, "a.nii", &consumed);
    EXPECT_EQ(consumed + 4, static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(read.data_offset, static_cast<int64_t>(bytes.size()));
    EXPECT_EQ(read.dim, header.dim);
    EXPECT_EQ(read.dtype, header.dtype);
    EXPECT_EQ(read.slope, 0.0);
    EXPECT_EQ(read.geometry.pixdim, header.geometry.pixdim);
    EXPECT_EQ(read.geometry.units, 2);
    EXPECT_EQ(read.geometry.qform_code, 1);
    EXPECT_EQ(read.geometry.sform_code, 4);
    EXPECT_EQ(read.geometry.qform, header.geometry.qform);
    EXPECT_EQ(read.geometry.sform, header.geometry.sform);
  }
}

TEST(PlainGeometry, PutsSpacingOnTheDiagonal) {
  const NiftiGeometry geometry =
      PlainGeometry({.dtype = DType::kU8, .shape = {6, 5, 4}, .spacing = {2, 0.75, 0.5}});
  EXPECT_EQ(geometry.sform, (std::array<double, 12>{0.5, 0, 0, 0, 0, 0.75, 0, 0, 0, 0, 2, 0}));
  EXPECT_EQ(geometry.pixdim, (std::array<double, 8>{1, 0.5, 0.75, 2, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace segcal
