// SPDX-License-Identifier: Apache-2.0
#include "data/case_geometry.h"

#include <gtest/gtest.h>

#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

using testing::TempFolder;

// A case of 2 classes and 1 x 2 x 3 voxels without labels.
class CaseGeometryTest : public ::testing::Test {
 protected:
  CaseGeometryTest() {
    dataset_.folder = folder_.path();
    dataset_.classes = {"a", "b"};
    dataset_.input = InputKind::kLogits;
    entry_.id = "1";
    entry_.members = {"p.npy"};
    Put("p.npy", {2, 1, 2, 3});
  }
  void Put(const std::string& name, const std::vector<int64_t>& shape) {
    const std::vector<float> values(64);
    const std::vector<double> spacing(3, 2.0);
    SaveArray(folder_.File(name),
              {.dtype = DType::kF32, .shape = shape, .spacing = spacing},
              values.data());
  }
  std::string Find() const {
    const CaseReader reader(dataset_, entry_, {}, {.key = {}, .cache_dir = {}});
    const std::string path = GeometryFile(dataset_, entry_, reader);
    return path.empty() ? "" : std::filesystem::path(path).filename().string();
  }

  TempFolder folder_;
  Dataset dataset_;
  Case entry_;
};

TEST_F(CaseGeometryTest, IsUnknownWhereNoFileHasOne) {
  entry_.image = "image.npy";
  Put("image.npy", {1, 2, 3});
  EXPECT_EQ(Find(), "");
}

TEST_F(CaseGeometryTest, IsThatOfAFileBesideAMember) {
  Put("p.nii", {1, 2, 3});
  EXPECT_EQ(Find(), "p.nii");
  Put("p.nii.gz", {1, 2, 3});
  EXPECT_EQ(Find(), "p.nii.gz");
}

TEST_F(CaseGeometryTest, IsThatOfTheImageThenOfAMemberThenOfTheLabels) {
  Put("p.nii.gz", {1, 2, 3});
  Put("image.nii", {1, 2, 3});
  entry_.image = "image.nii";
  EXPECT_EQ(Find(), "image.nii");
  Put("soft.nii", {2, 1, 2, 3});
  entry_.members = {"soft.nii"};
  EXPECT_EQ(Find(), "soft.nii");
  Put("labels.nii", {1, 2, 3});
  entry_.labels = "labels.nii";
  EXPECT_EQ(Find(), "labels.nii");
}

TEST_F(CaseGeometryTest, IsNotTakenFromFilesOfAnotherSize) {
  entry_.image = "image.nii";
  Put("image.nii", {2, 1, 3});
  Put("p.nii.gz", {1, 3, 2});
  EXPECT_EQ(Find(), "");
}

}  // namespace
}  // namespace segcal
