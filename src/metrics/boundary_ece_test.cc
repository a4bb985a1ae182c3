// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/tiles_for_test.h"
#include "spatial/distance.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Value;
using testing::Voxel;

Voxel At(int32_t squared_distance, float confidence, bool correct) {
  Voxel voxel = testing::TopLabelVoxel(confidence, correct);
  voxel.squared_distance = squared_distance;
  return voxel;
}

// Bands [0, 3) with mean distance 1 and gap 1/4, [7, 15) with mean distance 9 and gap 1/2.
std::vector<Voxel> TwoBands() {
  return {At(0, 0.75f, true), At(4, 0.75f, false), At(81, 0.5f, true), At(81, 0.5f, true)};
}

TEST(BoundaryError, WeighsBandsByTheirMeanDistance) {
  const auto errors = Accumulate("boundary_ece", TwoBands());
  const double near = 1.0 / 2.0;
  const double far = 1.0 / 10.0;
  EXPECT_DOUBLE_EQ(Value(*errors, "ba_ece"), (near * 0.25 + far * 0.5) / (near + far));
  EXPECT_EQ(Value(*errors, "gap_0_3"), 0.25);
  EXPECT_TRUE(std::isnan(Value(*errors, "gap_3_7")));
  EXPECT_EQ(Value(*errors, "gap_7_15"), 0.5);
}

TEST(BoundaryError, BandsStartAtTheirEdges) {
  const auto band = [](int32_t squared) {
    const auto errors = Accumulate("boundary_ece", {At(squared, 0.75f, true)});
    for (const char* name : {"gap_0_3", "gap_3_7", "gap_7_15", "gap_15_inf"}) {
      if (!std::isnan(Value(*errors, name))) return std::string(name);
    }
    return std::string("none");
  };
  EXPECT_EQ(band(8), "gap_0_3");
  EXPECT_EQ(band(9), "gap_3_7");
  EXPECT_EQ(band(48), "gap_3_7");
  EXPECT_EQ(band(49), "gap_7_15");
  EXPECT_EQ(band(224), "gap_7_15");
  EXPECT_EQ(band(225), "gap_15_inf");
}

TEST(BoundaryError, WithoutBoundaryIsOneFarBand) {
  const auto errors =
      Accumulate("boundary_ece", {At(kNoSource, 0.75f, true), At(kNoSource, 0.75f, true)});
  EXPECT_EQ(Value(*errors, "ba_ece"), 0.25);
  EXPECT_EQ(Value(*errors, "gap_15_inf"), 0.25);
  EXPECT_EQ(Value(*errors, "no_boundary"), 1.0);
  EXPECT_TRUE(std::isnan(Value(*errors, "ece_boundary")));
}

// In voxels both are in the first band; 4 units away is the second, with weight 1/5.
TEST(BoundaryError, MeasuresBandsInUnitsOfTheSpacingWhenToldTo) {
  std::vector<Voxel> voxels = {At(0, 0.75f, true), At(1, 0.5f, true)};
  voxels[1].squared_length = 16.0;
  const auto errors = Accumulate("boundary_ece", voxels, {{"distance", "physical"}});
  EXPECT_EQ(Value(*errors, "gap_0_3"), 0.25);
  EXPECT_EQ(Value(*errors, "gap_3_7"), 0.5);
  EXPECT_DOUBLE_EQ(Value(*errors, "ba_ece"), (0.25 + 0.5 / 5.0) / (1.0 + 1.0 / 5.0));
  // Regions stay in voxels.
  EXPECT_DOUBLE_EQ(Value(*errors, "ece_boundary"), 0.375);
}

// TopLabelVoxel labels right voxels 0 and wrong ones 1; 0 is the background here.
TEST(BoundaryError, RegionsAreBoundaryAndForegroundEnlargedByIt) {
  const std::vector<Voxel> voxels = {At(4, 0.75f, true),    // background near the boundary
                                     At(5, 0.625f, true),   // background away from it
                                     At(5, 0.875f, false),  // foreground away from it
                                     At(1, 0.5f, false)};   // foreground near it
  const auto errors = Accumulate("boundary_ece", voxels, {}, /*background=*/0);
  EXPECT_EQ(Value(*errors, "ece_boundary"), (0.25 + 0.5) / 2.0);
  EXPECT_EQ(Value(*errors, "mce_boundary"), 0.5);
  EXPECT_DOUBLE_EQ(Value(*errors, "ece_all"), (0.25 + 0.875 + 0.5) / 3.0);
  EXPECT_EQ(Value(*errors, "mce_all"), 0.875);
}

TEST(BoundaryError, CellsAreByBandAndClass) {
  const std::vector<CellRow> cells = Accumulate("boundary_ece", TwoBands())->Cells();
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].band, 0);
  EXPECT_EQ(cells[0].count, 2);
  EXPECT_EQ(cells[0].correct, 1);
  EXPECT_EQ(cells[1].band, 2);
  EXPECT_EQ(cells[1].class_index, 0);
}

// TopLabelVoxel labels right voxels 0 and wrong ones 1; 0 is the background here.
TEST(BoundaryError, ForegroundLeavesOutVoxelsLabelledBackground) {
  const auto errors =
      Accumulate("boundary_ece", TwoBands(), {{"foreground", "true"}}, /*background=*/0);
  EXPECT_EQ(Value(*errors, "ba_ece"), 0.75);
  EXPECT_TRUE(std::isnan(Value(*errors, "gap_7_15")));
}

}  // namespace
}  // namespace segcal
