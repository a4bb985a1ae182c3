// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "metrics/volumes_for_test.h"
#include "segcal/error.h"
#include "spatial/regions.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Bits;
using testing::Image;
using testing::RandomImage;
using testing::Value;
using testing::Voxel;

// Plain ECE and largest gap in ten bins of the labelled voxels that `inside`
// holds.
struct Errors {
  double ece = 0.0;
  double mce = 0.0;
};
Errors PlainLocalErrors(const Image& image, const std::function<bool(int64_t)>& inside) {
  double gap[10] = {}, count[10] = {}, total = 0.0;
  for (size_t v = 0; v < image.voxels.size(); ++v) {
    const Voxel& voxel = image.voxels[v];
    if (voxel.label == kNoLabel || !inside(static_cast<int64_t>(v))) continue;
    const int bin = static_cast<int>(std::ceil(10.0 * voxel.Confidence())) - 1;
    gap[bin] += voxel.Confidence() - (voxel.Correct() ? 1.0 : 0.0);
    count[bin] += 1.0;
    total += 1.0;
  }
  Errors errors{.ece = total > 0.0 ? 0.0 : std::nan(""), .mce = std::nan("")};
  for (int k = 0; k < 10; ++k) {
    if (count[k] == 0.0) continue;
    errors.ece += std::fabs(gap[k]) / total;
    errors.mce = std::fmax(errors.mce, std::fabs(gap[k]) / count[k]);
  }
  return errors;
}

bool InBox(const Image& image, const VoxelBox& box, int64_t v) {
  const int64_t at[] = {v / image.grid.stride(0),
                        v / image.grid.stride(1) % image.grid.size[1],
                        v % image.grid.size[2]};
  for (size_t axis = 0; axis < 3; ++axis) {
    if (at[axis] < box.begin[axis] || at[axis] >= box.end[axis]) return false;
  }
  return true;
}

TEST(Local, IsTheMeanAndTheWorstOfThePatches) {
  const Image image = RandomImage(6, {9, 20, 25});
  double sum = 0.0;
  double worst = 0.0;
  for (const VoxelBox& patch : LocalPatches(image.grid, 8, 5, 3, 0)) {
    const Errors errors =
        PlainLocalErrors(image, [&](int64_t v) { return InBox(image, patch, v); });
    sum += errors.ece;
    worst = std::fmax(worst, errors.ece);
  }
  const auto sums =
      Accumulate("local", image, {{"patch", "8"}, {"patches", "5"}, {"patch_seed", "3"}});
  EXPECT_NEAR(Value(*sums, "ece_local_avg"), sum / 5.0, 1e-12);
  EXPECT_NEAR(Value(*sums, "ece_local_max"), worst, 1e-12);
  EXPECT_GE(Value(*sums, "mce_local_max"), Value(*sums, "mce_local_avg"));
}

TEST(Local, OfPatchesLargerThanTheImageIsThatOfTheImage) {
  const Image image = RandomImage(7, {20, 30});
  const auto sums = Accumulate("local", image, {{"patch", "100"}});
  const double expected = PlainLocalErrors(image, [](int64_t) { return true; }).ece;
  EXPECT_NEAR(Value(*sums, "ece_local_avg"), expected, 1e-12);
  EXPECT_NEAR(Value(*sums, "ece_local_max"), expected, 1e-12);
}

TEST(Local, OfSeveralCasesIsTheMeanOverCases) {
  const auto first = Accumulate("local", RandomImage(8, {90, 100}));
  const auto second = Accumulate("local", RandomImage(9, {80, 120}));
  const auto total = testing::Family("local").make({.num_classes = 3}, {});
  total->MergeCase(*first);
  total->MergeCase(*second);
  for (const char* name : {"ece_local_avg", "ece_local_max", "mce_local_max"}) {
    EXPECT_NEAR(Value(*total, name), 0.5 * (Value(*first, name) + Value(*second, name)), 1e-15);
  }
}

TEST(Local, LeavesPatchesWithoutLabelledVoxelsOut) {
  Image image = RandomImage(10, {10, 40});
  for (size_t v = 0; v < 400; ++v) {
    if (v % 40 >= 10) image.voxels[v].label = kNoLabel;  // most patches see nothing
  }
  double sum = 0.0;
  int count = 0;
  for (const VoxelBox& patch : LocalPatches(image.grid, 5, 10, 0, 0)) {
    const double ece =
        PlainLocalErrors(image, [&](int64_t v) { return InBox(image, patch, v); }).ece;
    if (std::isnan(ece)) continue;
    sum += ece;
    ++count;
  }
  ASSERT_GT(count, 0);
  ASSERT_LT(count, 10);
  EXPECT_NEAR(
      Value(*Accumulate("local", image, {{"patch", "5"}}), "ece_local_avg"), sum / count, 1e-12);
  for (Voxel& voxel : image.voxels) voxel.label = kNoLabel;
  for (const MetricValue& number : Accumulate("local", image)->Finish()) {
    EXPECT_TRUE(std::isnan(number.value)) << number.name;
  }
}

TEST(Local, SweepsOverSidesInOnePass) {
  const Image image = RandomImage(12, {30, 40});
  const auto swept = Accumulate("local", image, {{"patch", "7"}, {"patch_sweep", "5,20"}});
  EXPECT_EQ(Value(*swept, "ece_local_avg"),
            Value(*Accumulate("local", image, {{"patch", "7"}}), "ece_local_avg"));
  const std::vector<Diagram> diagrams = swept->Diagrams();
  const Diagram* sweep = FindDiagram(diagrams, DiagramKind::kPatchSweep);
  ASSERT_NE(sweep, nullptr);
  ASSERT_EQ(sweep->rows.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const char* side = i == 0 ? "5" : "20";
    EXPECT_EQ(sweep->rows[i][0], std::stod(side));
    const auto alone = Accumulate("local", image, {{"patch", side}});
    for (size_t k = 1; k < sweep->columns.size(); ++k)
      EXPECT_EQ(sweep->rows[i][k], Value(*alone, sweep->columns[k].name)) << side;
  }
  EXPECT_THROW(Accumulate("local", image, {{"patch_sweep", "5,x"}}), Error);
  EXPECT_THROW(Accumulate("local", image, {{"patch_sweep", "0"}}), Error);
}

// The patch as large as the image: every patch, and the worst one, is the image.
TEST(Local, DiagramsAreOfAllPatchesAndOfTheWorst) {
  const Image image = RandomImage(13, {20, 20});
  const auto whole = Accumulate("calibration_error", image, {{"bins", "10"}});
  const auto sums = Accumulate("local", image, {{"patch", "20"}, {"patches", "3"}});
  const auto twice = testing::Family("local").make({.num_classes = 3}, {});
  twice->MergeCase(*Accumulate("local", image, {{"patch", "20"}}));
  twice->MergeCase(*Accumulate("local", image, {{"patch", "20"}}));
  const std::vector<ReliabilityRow> expected = testing::TopLabelBins(*whole);
  const std::vector<Diagram> found = sums->Diagrams();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].about, "local_avg");
  EXPECT_EQ(found[1].about, "local_max");
  const std::vector<ReliabilityRow> all = ReliabilityRows(found[0]);
  const std::vector<ReliabilityRow> worst = ReliabilityRows(found[1]);
  const std::vector<ReliabilityRow> worst_twice = ReliabilityRows(twice->Diagrams()[1]);
  for (size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(all[k].count, 3 * expected[k].count) << k;
    EXPECT_EQ(worst[k].count, expected[k].count) << k;
    EXPECT_EQ(worst[k].correct, expected[k].correct) << k;
    EXPECT_EQ(worst_twice[k].count, 2 * expected[k].count) << k;
  }
}

TEST(Local, DoesNotDependOnTheOrderOfMerging) {
  const Image image = RandomImage(11, {40, 50});
  const auto even = Accumulate("local", image, {}, 0, 2);
  const auto odd = Accumulate("local", image, {}, 1, 2);
  const auto other_even = Accumulate("local", image, {}, 0, 2);
  even->Merge(*odd);
  odd->Merge(*other_even);
  EXPECT_EQ(Bits(*even), Bits(*odd));
}

}  // namespace
}  // namespace segcal
