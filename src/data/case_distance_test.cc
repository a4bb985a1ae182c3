// SPDX-License-Identifier: Apache-2.0
#include "data/case_distance.h"

#include <gtest/gtest.h>

#include "spatial/distance.h"
#include "tests/support/scene_files.h"
#include "tests/support/temp_folder.h"

namespace segcal {
namespace {

// A line of voxels: `first` of class 0, then class 1 to the end.
std::vector<int32_t> DistancesOnALine(int64_t voxels, int64_t first) {
  testing::Scene scene =
      testing::RandomScene({.num_cases = 1, .num_classes = 2, .shape = {voxels}, .ignored = 0.0});
  for (int64_t v = 0; v < voxels; ++v) scene.labels[0][static_cast<size_t>(v)] = v < first ? 0 : 1;
  return SquaredCaseDistances(*scene.Stream(1)->Open(0), /*with_lengths=*/false).voxels;
}

TEST(SquaredCaseDistances, CountFromBothSidesOfABoundary) {
  EXPECT_EQ(DistancesOnALine(6, 2), (std::vector<int32_t>{1, 0, 0, 1, 4, 9}));
}

TEST(SquaredCaseDistances, OfLongImagesAreTheSameUpToALimit) {
  const std::vector<int32_t> found = DistancesOnALine(60000, 2);
  EXPECT_EQ(found[2], 0);
  EXPECT_EQ(found[1002], 1000 * 1000);
  EXPECT_EQ(found[59999], kNoSource - 1);
}

TEST(SquaredCaseDistances, LengthsAreInUnitsOfTheSpacing) {
  testing::Scene scene =
      testing::RandomScene({.num_cases = 1, .num_classes = 2, .shape = {2, 3}, .ignored = 0.0});
  scene.labels[0] = {0, 1, 1, 0, 1, 1};
  const testing::TempFolder folder;
  Dataset dataset = testing::WriteScene(scene, folder.path());
  dataset.cases[0].spacing = {0.5, 2.0};
  const CaseStream stream(dataset, std::vector<Pooling>(), {});
  const CaseDistances distances = SquaredCaseDistances(*stream.Open(0), /*with_lengths=*/true);
  EXPECT_EQ(distances.voxels, (std::vector<int32_t>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(distances.lengths, (std::vector<double>{0.0, 0.0, 4.0, 0.0, 0.0, 4.0}));
}

TEST(SquaredCaseDistances, WithoutBoundaryThereAreNone) {
  EXPECT_EQ(DistancesOnALine(3, 0), (std::vector<int32_t>(3, kNoSource)));
  EXPECT_EQ(DistancesOnALine(60000, 0)[5], kNoSource);
}

}  // namespace
}  // namespace segcal
