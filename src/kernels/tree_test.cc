// SPDX-License-Identifier: Apache-2.0
#include "kernels/tree.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/tiles_for_test.h"
#include "kernels/tree_reference_for_test.h"

namespace segcal {
namespace {

// A strip of random scores in [-spread, 0], labels and parameters.
struct RandomStrip {
  TreeShape shape;
  AlignedArray<float> scores;
  AlignedArray<float> image;
  std::vector<int32_t> labels = std::vector<int32_t>(kStripVoxels, kNoLabel);
  std::vector<double> parameters;
  TreeStrip strip;
  int64_t columns;

  static constexpr int64_t kRowStride = kStripColumns + 2 * kTreeHalo + 5;
  static constexpr int64_t kChannelStride = kRowStride * (kStripRows + 2 * kTreeHalo) + 3;

  RandomStrip(const TreeShape& of, int64_t rows, int64_t num_columns, double spread)
      : shape(of),
        scores(of.classes * kChannelStride),
        image(std::max<int64_t>(of.image_channels, 1) * kChannelStride),
        parameters(static_cast<size_t>(of.num_parameters())),
        strip{.scores = {of.classes, scores.data(), kRowStride, kChannelStride},
              .image = {of.image_channels, image.data(), kRowStride, kChannelStride},
              .rows = rows},
        columns(num_columns) {
    Rng rng(/*seed=*/5, static_cast<uint64_t>(of.num_parameters() + rows));
    for (int64_t i = 0; i < scores.size(); ++i)
      scores[i] = static_cast<float>(-spread * rng.Uniform());
    for (int64_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(rng.Normal());
    // Responses of size one.
    const double size = 1.0 / (spread * std::sqrt(static_cast<double>(kTreeTaps * of.classes)));
    for (double& p : parameters) p = static_cast<double>(static_cast<float>(size * rng.Normal()));
    for (int64_t v = 0; v < kStripVoxels; ++v) {
      if (rng.Uniform() > 0.2)
        labels[static_cast<size_t>(v)] = static_cast<int32_t>(rng.Below(of.classes));
    }
  }

  TreeWeights Weights() const {
    TreeWeights weights(shape);
    weights.Pack(parameters);
    return weights;
  }
};

const std::vector<TreeShape> kShapes = {{1, 0}, {2, 0}, {5, 0}, {20, 0}, {3, 1}, {4, 3}};

TEST(Tree, TemperaturesAgreeWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const TreeShape& shape : kShapes) {
      const RandomStrip random(shape, kStripRows, kStripColumns, 20.0);
      TreeValues values;
      TreeTemperatures(random.strip, random.Weights(), &values);
      for (int64_t v = 0; v < kStripVoxels; v += 7) {
        const reference::TreeVoxel exact = reference::Tree(
            shape, random.parameters, random.strip, v / kStripColumns, v % kStripColumns);
        ASSERT_NEAR(
            values.temperature[v], exact.temperature, exact.rounding + 1e-6 * exact.temperature)
            << target << " C " << shape.classes << " voxel " << v;
      }
    }
  });
}

struct FastSums {
  TreeLoss loss;
  std::vector<double> gradient;
};

// The three kernels one after the other, as training calls them.
FastSums Fast(const RandomStrip& random) {
  const TreeWeights weights = random.Weights();
  TreeValues values;
  alignas(64) float slopes[kStripVoxels];
  FastSums sums;
  std::vector<double> packed(static_cast<size_t>(weights.packed_size()), 0.0);
  TreeTemperaturesAndSlopes(random.strip, weights, &values);
  AddTreeLoss(random.strip,
              random.labels.data(),
              kStripColumns,
              random.columns,
              values.temperature,
              slopes,
              &sums.loss);
  AddTreeGradient(random.strip, weights, slopes, &values, packed.data());
  sums.gradient.assign(random.parameters.size(), 0.0);
  weights.AddUnpacked(packed, sums.gradient);
  return sums;
}

reference::TreeSums Exact(const RandomStrip& random, const std::vector<double>& parameters) {
  return reference::Trees(
      random.shape, parameters, random.strip, random.labels.data(), kStripColumns, random.columns);
}

TEST(Tree, LossAndGradientAgreeWithReference) {
  ForEveryTarget([](const std::string& target) {
    for (const TreeShape& shape : kShapes) {
      for (const auto& [rows, columns] :
           {std::pair<int64_t, int64_t>{kStripRows, kStripColumns}, {1, 1}, {5, 37}}) {
        SCOPED_TRACE(target + " C " + std::to_string(shape.classes) + " rows " +
                     std::to_string(rows));
        const RandomStrip random(shape, rows, columns, 20.0);
        const FastSums fast = Fast(random);
        const reference::TreeSums exact = Exact(random, random.parameters);
        EXPECT_EQ(fast.loss.count, exact.count);
        EXPECT_NEAR(fast.loss.loss, exact.loss, 2e-6 * exact.loss);
        for (size_t p = 0; p < exact.gradient.size(); ++p) {
          ASSERT_NEAR(fast.gradient[p], exact.gradient[p], 1e-5 * exact.scale[p] + 1e-12) << p;
        }
      }
    }
  });
}

// Property: the gradient (LT7) is the derivative of the loss, for every parameter.
TEST(Tree, GradientMatchesFiniteDifferences) {
  for (const TreeShape& shape : {TreeShape{2, 0}, TreeShape{2, 1}}) {
    const RandomStrip random(shape, 4, 30, 6.0);
    const FastSums fast = Fast(random);
    const reference::TreeSums exact = Exact(random, random.parameters);
    for (size_t p = 0; p < random.parameters.size(); ++p) {
      const double step = 1e-5;
      std::vector<double> moved = random.parameters;
      moved[p] += step;
      const double above = Exact(random, moved).loss;
      moved[p] -= 2.0 * step;
      const double below = Exact(random, moved).loss;
      ASSERT_NEAR(fast.gradient[p], (above - below) / (2.0 * step), 2e-5 * exact.scale[p] + 1e-6)
          << p;
    }
  }
}

// Property: the slope by a common change is the sum of the slopes.
TEST(Tree, LossSlopeMatchesFiniteDifference) {
  const RandomStrip random({5, 0}, kStripRows, 50, 8.0);
  const auto loss_at = [&](float temperature) {
    alignas(64) float temperatures[kStripVoxels];
    alignas(64) float slopes[kStripVoxels];
    std::fill_n(temperatures, kStripVoxels, temperature);
    TreeLoss total;
    AddTreeLoss(
        random.strip, random.labels.data(), kStripColumns, 50, temperatures, slopes, &total);
    return total;
  };
  for (const float temperature : {0.5f, 1.0f, 3.0f}) {
    const float step = temperature / 64.0f;
    const double slope = (loss_at(temperature + step).loss - loss_at(temperature - step).loss) /
                         (2.0 * static_cast<double>(step));
    const TreeLoss at = loss_at(temperature);
    EXPECT_NEAR(at.slope, slope, 2e-3 * std::fabs(slope)) << temperature;
  }
}

// Closed form: all zero, the softplus of log(e - 1) is 1; leaves of 0 + 1 are as well, but (LT4)
// adds the least temperature to them.
TEST(Tree, WithoutWeightsIsOneAndWithAnImageTheLeastTemperatureMore) {
  ForEveryTarget([](const std::string& target) {
    for (const TreeShape& shape : {TreeShape{3, 0}, TreeShape{3, 2}}) {
      RandomStrip random(shape, kStripRows, kStripColumns, 20.0);
      std::fill(random.parameters.begin(), random.parameters.end(), 0.0);
      TreeValues values;
      TreeTemperatures(random.strip, random.Weights(), &values);
      const double expected = shape.has_image() ? 1.0 + double{kMinTemperature} : 1.0;
      for (int64_t v = 0; v < kStripVoxels; ++v)
        ASSERT_NEAR(values.temperature[v], expected, 2e-7) << target;
    }
  });
}

// The symmetry of an all-zero start: equal gradients of the leaves, none of the gates.
TEST(Tree, WithoutWeightsLeavesMoveAlikeAndGatesDoNot) {
  RandomStrip random({4, 0}, kStripRows, kStripColumns, 10.0);
  std::fill(random.parameters.begin(), random.parameters.end(), 0.0);
  const FastSums fast = Fast(random);
  const size_t filter = static_cast<size_t>(kTreeTaps * 4 + 1);
  for (size_t p = 0; p < filter; ++p) {
    for (size_t leaf = 1; leaf < 4; ++leaf)
      ASSERT_EQ(fast.gradient[p], fast.gradient[leaf * filter + p]);
    for (size_t gate = 4; gate < 7; ++gate) ASSERT_EQ(fast.gradient[gate * filter + p], 0.0);
  }
  EXPECT_NE(fast.gradient[0], 0.0);
}

// Temperatures stay in range and slopes finite, whatever the responses.
TEST(Tree, StaysFiniteForHugeResponses) {
  ForEveryTarget([](const std::string& target) {
    for (const TreeShape& shape : {TreeShape{3, 0}, TreeShape{3, 2}}) {
      RandomStrip random(shape, kStripRows, kStripColumns, 87.0);
      for (double& p : random.parameters) p *= 1e6;
      TreeValues values;
      TreeTemperatures(random.strip, random.Weights(), &values);
      for (int64_t v = 0; v < kStripVoxels; ++v) {
        ASSERT_GE(values.temperature[v], kMinTemperature) << target;
        ASSERT_TRUE(std::isfinite(values.temperature[v])) << target;
      }
      const FastSums fast = Fast(random);
      EXPECT_TRUE(std::isfinite(fast.loss.loss)) << target;
      for (const double g : fast.gradient) ASSERT_TRUE(std::isfinite(g)) << target;
    }
  });
}

// A voxel's temperature does not depend on where in a strip it lies, to the bit.
TEST(Tree, TemperatureDoesNotDependOnThePlaceInTheStrip) {
  ForEveryTarget([](const std::string& target) {
    const RandomStrip random({5, 0}, kStripRows, kStripColumns, 20.0);
    const TreeWeights weights = random.Weights();
    TreeValues whole;
    TreeTemperatures(random.strip, weights, &whole);
    // The same voxels in a copy moved by (3, 5); what was not copied is zero.
    AlignedArray<float> moved(5 * RandomStrip::kChannelStride);
    for (int64_t c = 0; c < 5; ++c) {
      for (int64_t y = 3; y < kStripRows + 2 * kTreeHalo; ++y) {
        for (int64_t x = 5; x < kStripColumns + 2 * kTreeHalo; ++x) {
          const int64_t at = c * RandomStrip::kChannelStride;
          moved[at + (y - 3) * RandomStrip::kRowStride + x - 5] =
              random.scores[at + y * RandomStrip::kRowStride + x];
        }
      }
    }
    TreeStrip strip = random.strip;
    strip.scores.data = moved.data();
    TreeValues values;
    TreeTemperatures(strip, weights, &values);
    for (int64_t y = 3; y < kStripRows; ++y) {
      for (int64_t x = 5; x < kStripColumns; ++x) {
        ASSERT_EQ(values.temperature[(y - 3) * kStripColumns + x - 5],
                  whole.temperature[y * kStripColumns + x])
            << target;
      }
    }
  });
}

}  // namespace
}  // namespace segcal
