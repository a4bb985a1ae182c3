// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "metrics/volumes_for_test.h"

namespace segcal {
namespace {

using testing::Accumulate;
using testing::Bits;
using testing::Image;
using testing::RandomImage;
using testing::Value;
using testing::Voxel;

constexpr int64_t kClasses = 3;

// Plain static error in ten bins of the labelled voxels that `inside` holds, by predicted class.
double PlainStaticError(const Image& image, const std::function<bool(size_t)>& inside) {
  double gap[kClasses][10] = {}, total = 0.0;
  for (size_t v = 0; v < image.voxels.size(); ++v) {
    const Voxel& voxel = image.voxels[v];
    if (voxel.label == kNoLabel || !inside(v)) continue;
    const int bin = static_cast<int>(std::ceil(10.0 * voxel.Confidence())) - 1;
    gap[voxel.Predicted()][bin] += voxel.Confidence() - (voxel.Correct() ? 1.0 : 0.0);
    total += 1.0;
  }
  double sum = 0.0;
  for (const auto& bins : gap) {
    for (const double g : bins) sum += std::fabs(g);
  }
  return sum / total;
}

TEST(Regional, OfAllVoxelsIsThatOfTheImage) {
  const Image image = RandomImage(3, {20, 30});  // without background: All is everything
  const auto sums = Accumulate("regional", image, {{"patch", "100"}, {"patches", "3"}});
  const double expected = PlainStaticError(image, [](size_t) { return true; });
  EXPECT_NEAR(Value(*sums, "sce_all"), expected, 1e-12);
  EXPECT_NEAR(Value(*sums, "sce_local_avg"), expected, 1e-12);
  EXPECT_NEAR(Value(*sums, "sce_local_max"), expected, 1e-12);
  EXPECT_NEAR(Value(*sums, "adaptive_all"), Value(*sums, "adaptive_local_max"), 1e-12);
}

TEST(Regional, OfTheBoundaryLooksTwoVoxelsFar) {
  Image image = RandomImage(4, {21, 30});
  image.background = 0;
  const auto near = [&](size_t v) { return image.voxels[v].squared_distance <= 4; };
  const auto sums = Accumulate("regional", image);
  EXPECT_NEAR(Value(*sums, "sce_boundary"), PlainStaticError(image, near), 1e-12);
  EXPECT_NEAR(
      Value(*sums, "sce_all"),
      PlainStaticError(image, [&](size_t v) { return near(v) || image.voxels[v].label != 0; }),
      1e-12);
}

// Four voxels of two labels; confidences 0.6 and 0.9 of label 0 (right, wrong), 0.6 and 0.8 of
// label 1 (wrong, right). F.5 with ten bins: (0.4 + 0.9) of label 0, (0.6 + 0.2) of label 1.
TEST(Regional, PrintedFormulasByHand) {
  const auto voxel = [](float p, int32_t label) {
    return Voxel{.probs = {p, 1.0f - p}, .label = label};
  };
  const Image image({2, 2}, {voxel(0.6f, 0), voxel(0.1f, 0), voxel(0.6f, 1), voxel(0.2f, 1)});
  const auto sums =
      Accumulate("regional", image, {{"regional_bins", "10"}, {"regional_form", "printed"}});
  EXPECT_NEAR(Value(*sums, "sce_f5"), (0.4 + 0.9 + 0.6 + 0.2) / (2.0 * 4.0), 1e-7);
  EXPECT_NEAR(Value(*sums, "sce_all"), Value(*sums, "sce_f5"), 1e-15);
  // F.6 with two bins: {0.6, 0.6} and {0.8, 0.9}; inside each one voxel of either label.
  const auto two = Accumulate("regional", image, {{"regional_bins", "2"}});
  EXPECT_NEAR(Value(*two, "adaptive_ece_f6"), (0.4 + 0.6 + 0.9 + 0.2) / (2.0 * 2.0), 1e-7);
  // With one bin a label has both: |1.5 - 1| / 2 and |1.4 - 1| / 2.
  const auto one = Accumulate("regional", image, {{"regional_bins", "1"}});
  EXPECT_NEAR(Value(*one, "adaptive_ece_f6"), (0.25 + 0.2) / 2.0, 1e-7);
}

// Four voxels of one confidence in three bins: an edge cuts the tie, and every bin has its share.
TEST(Regional, SharesOutTiesThatAnEdgeCuts) {
  const auto voxel = [](int32_t label) { return Voxel{.probs = {0.75f, 0.25f}, .label = label}; };
  const Image image({2, 2}, {voxel(0), voxel(0), voxel(0), voxel(1)});
  const auto sums = Accumulate("regional", image, {{"regional_bins", "3"}});
  EXPECT_NEAR(Value(*sums, "adaptive_ece_f6"), (0.25 + 0.75) / 2.0, 1e-15);
}

TEST(Regional, OfPartsIsThatOfTheWhole) {
  const Image image = RandomImage(5, {40, 41});
  const auto whole = Accumulate("regional", image, {{"patch", "16"}});
  auto first = Accumulate("regional", image, {{"patch", "16"}}, 0, 2);
  first->Merge(*Accumulate("regional", image, {{"patch", "16"}}, 1, 2));
  EXPECT_EQ(Bits(*first), Bits(*whole));
}

TEST(Regional, OfSeveralCasesIsTheMeanOfTheirPatches) {
  const Image a = RandomImage(6, {30, 30});
  const Image b = RandomImage(7, {25, 40});
  const auto of_a = Accumulate("regional", a, {{"patch", "9"}});
  const auto of_b = Accumulate("regional", b, {{"patch", "9"}});
  const auto pooled = testing::Family("regional").make({.num_classes = kClasses}, {{"patch", "9"}});
  pooled->MergeCase(*of_a);
  pooled->MergeCase(*of_b);
  EXPECT_NEAR(Value(*pooled, "sce_local_max"),
              (Value(*of_a, "sce_local_max") + Value(*of_b, "sce_local_max")) / 2.0,
              1e-12);
}

TEST(Regional, WithoutLabelsIsUndefined) {
  Image image = RandomImage(8, {10, 10});
  for (Voxel& voxel : image.voxels) voxel.label = kNoLabel;
  const auto sums = Accumulate("regional", image);
  for (const MetricValue& value : sums->Finish())
    EXPECT_TRUE(std::isnan(value.value)) << value.name;
}

}  // namespace
}  // namespace segcal
