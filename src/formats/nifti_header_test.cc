// SPDX-License-Identifier: Apache-2.0
#include "formats/nifti_header.h"

#include <cmath>
#include <limits>

#include "formats/files_for_test.h"
#include "formats/nifti_for_test.h"

namespace segcal {
namespace {

ArrayInfo InfoWithDim(std::array<int64_t, 8> dim) {
  NiftiHeader header = SmallHeader();
  header.dim = dim;
  return NiftiArrayInfo(header, "a.nii");
}

TEST(NiftiArrayInfo, ReversesAxesAndSpacing) {
  const ArrayInfo info = NiftiArrayInfo(SmallHeader(), "a.nii");
  EXPECT_EQ(info.shape, (std::vector<int64_t>{6, 5, 4}));
  EXPECT_EQ(info.spacing, (std::vector<double>{2, 0.75, 0.5}));
}

TEST(NiftiArrayInfo, PutsTheClassAxisFirstAndDropsUnitAxes) {
  using Shape = std::vector<int64_t>;
  EXPECT_EQ(InfoWithDim({4, 4, 5, 6, 3, 0, 0, 0}).shape, (Shape{3, 6, 5, 4}));
  EXPECT_EQ(InfoWithDim({5, 4, 5, 6, 1, 3, 0, 0}).shape, (Shape{3, 6, 5, 4}));
  EXPECT_EQ(InfoWithDim({4, 4, 5, 6, 1, 0, 0, 0}).shape, (Shape{6, 5, 4}));
  EXPECT_EQ(InfoWithDim({7, 4, 5, 6, 1, 1, 1, 1}).shape, (Shape{6, 5, 4}));
  EXPECT_EQ(InfoWithDim({3, 4, 5, 1, 1, 1, 1, 1}).shape, (Shape{1, 5, 4}));
  EXPECT_EQ(InfoWithDim({4, 4, 5, 1, 3, 1, 1, 1}).shape, (Shape{3, 1, 5, 4}));
  EXPECT_EQ(InfoWithDim({2, 4, 5, 9, 9, 9, 9, 9}).shape, (Shape{5, 4}));
  EXPECT_THROW(InfoWithDim({5, 4, 5, 6, 2, 3, 1, 1}), Error);
  EXPECT_THROW(InfoWithDim({6, 4, 5, 6, 1, 1, 3, 1}), Error);
}

TEST(NiftiArrayInfo, GivesSpacingInMillimetresAndPositive) {
  NiftiHeader header = SmallHeader();
  header.geometry.pixdim[1] = -0.5;
  header.geometry.units = 3 | 8;  // micrometres, seconds
  EXPECT_DOUBLE_EQ(NiftiArrayInfo(header, "a").spacing[2], 0.5e-3);
  header.geometry.units = 1;
  EXPECT_DOUBLE_EQ(NiftiArrayInfo(header, "a").spacing[0], 2000);
}

TEST(NiftiArrayInfo, RefusesSpacingOfZeroExceptAlongOneVoxel) {
  for (const double bad : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    NiftiHeader header = SmallHeader();
    header.geometry.pixdim[3] = bad;
    EXPECT_THROW(NiftiArrayInfo(header, "a"), Error) << bad;
    header.dim[3] = 1;
    EXPECT_EQ(NiftiArrayInfo(header, "a").spacing[0], 1.0) << bad;
  }
}

}  // namespace
}  // namespace segcal
