// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "formats/files_for_test.h"
#include "formats/nifti_for_test.h"
#include "formats/nifti_place.h"

namespace segcal {
namespace {

// The affine map whose first three columns are the axes of the array.
NiftiGeometry WithSform(std::array<double, 12> rows) {
  NiftiGeometry geometry = SmallHeader().geometry;
  geometry.sform_code = 1;
  geometry.sform = rows;
  return geometry;
}

// A rotation by `degrees` about the third axis.
NiftiGeometry WithQform(double degrees, double mirror) {
  NiftiGeometry geometry = SmallHeader().geometry;
  geometry.qform_code = 1;
  geometry.pixdim[0] = mirror;
  geometry.qform[2] = std::sin(degrees * std::acos(-1.0) / 360.0);
  return geometry;
}

TEST(IsRasOrder, HoldsWhereEveryAxisRunsAlongItsOwnOfSpace) {
  EXPECT_TRUE(IsRasOrder(WithSform({0.5, 0, 0, 9, 0, 0.75, 0, 9, 0, 0, 2, 9})));
  EXPECT_TRUE(IsRasOrder(WithSform({0.5, -0.3, 0, 0, 0.3, 0.7, 0, 0, 0, 0, 2, 0})));
  EXPECT_FALSE(IsRasOrder(WithSform({-0.5, 0, 0, 0, 0, 0.75, 0, 0, 0, 0, 2, 0})));
  EXPECT_FALSE(IsRasOrder(WithSform({0, 0.5, 0, 0, 0.75, 0, 0, 0, 0, 0, 2, 0})));
  EXPECT_FALSE(IsRasOrder(WithSform({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(IsRasOrder, ReadsTheQuaternionWhereThereIsNoMatrix) {
  EXPECT_TRUE(IsRasOrder(WithQform(0, 1)));
  EXPECT_TRUE(IsRasOrder(WithQform(44, 1)));
  EXPECT_FALSE(IsRasOrder(WithQform(46, 1)));
  EXPECT_FALSE(IsRasOrder(WithQform(180, 1)));
  EXPECT_FALSE(IsRasOrder(WithQform(0, -1)));
  EXPECT_FALSE(IsRasOrder(SmallHeader().geometry));  // neither
}

TEST(ReadNiftiPlace, IsEmptyForOtherFormats) {
  const TempFolder folder;
  const std::vector<uint8_t> voxels(6);
  const ArrayInfo info{.dtype = DType::kU8, .shape = {1, 2, 3}, .spacing = {3, 2, 1}};
  SaveArray(folder.File("a.nii.gz"), info, voxels.data());
  SaveArray(folder.File("a.npy"), info, voxels.data());
  const auto place = ReadNiftiPlace(folder.File("a.nii.gz"));
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->lengths, (std::array<int64_t, 3>{3, 2, 1}));
  EXPECT_TRUE(place->is_ras);
  EXPECT_FALSE(ReadNiftiPlace(folder.File("a.npy")).has_value());
}

}  // namespace
}  // namespace segcal
