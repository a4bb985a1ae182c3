// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kSizes[] = {1, 2, 3, 4, 5, 7, 20, 33};
constexpr int64_t kCounts[] = {1, 31, 32, 200, kTileVoxels};

AlignedArray<float> RandomRows(uint64_t seed, int64_t rows, double spread) {
  Rng rng(seed, 1);
  AlignedArray<float> values(rows * kTileVoxels);
  for (int64_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(spread * rng.Normal());
  }
  return values;
}

// Bit for bit what one voxel after the other gives, at any place and count; nothing is written
// behind the end.
TEST(ShiftRow, RoundsOnceAndKeepsToTheLimit) {
  ForEveryTarget([](const std::string& target) {
    const AlignedArray<float> from = RandomRows(4, 1, 3.0);
    Rng rng(5, 0);
    std::vector<double> shift;
    for (int64_t v = 0; v < kTileVoxels; ++v) shift.push_back(40.0 * rng.Normal());
    shift[2] = 1e30;
    shift[3] = -1e300;
    for (const int64_t count : {1, 3, 4, 7, 8, 31, 200}) {
      std::vector<float> to(static_cast<size_t>(kTileVoxels), 7.0f);
      ShiftRow(from.data() + 1, shift.data(), count, 1e28, to.data() + 1);
      for (int64_t i = 0; i < count; ++i) {
        const double exact = static_cast<double>(from[i + 1]) + shift[static_cast<size_t>(i)];
        const auto expected = static_cast<float>(std::min(1e28, std::max(-1e28, exact)));
        ASSERT_EQ(to[static_cast<size_t>(i + 1)], expected) << target << " " << count << " " << i;
      }
      EXPECT_EQ(to[static_cast<size_t>(count + 1)], 7.0f) << target;
    }
  });
}

// Property: rows agree with the same sums in double within the stated bound, low parts included.
TEST(AffineTile, AgreesWithDoubleArithmetic) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t features : kSizes) {
      for (const int64_t rows : kSizes) {
        const AlignedArray<float> x = RandomRows(2, features, 10.0);
        Rng rng(3, 0);
        std::vector<double> weights;
        std::vector<float> high;
        std::vector<float> low;
        for (int64_t i = 0; i < features * rows; ++i) {
          weights.push_back(rng.Normal());
          high.push_back(static_cast<float>(weights.back()));
          low.push_back(static_cast<float>(weights.back() - static_cast<double>(high.back())));
        }
        AlignedArray<float> out(rows * kTileVoxels);
        AffineTile(
            x.data(),
            {.high = high.data(), .low = low.data(), .num_rows = rows, .num_columns = features},
            kTileVoxels,
            out.data());
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t v = 0; v < kTileVoxels; ++v) {
            double sum = 0.0;
            double size = 0.0;
            for (int64_t k = 0; k < features; ++k) {
              const double term = weights[static_cast<size_t>(r * features + k)] *
                                  static_cast<double>(x[k * kTileVoxels + v]);
              sum += term;
              size += std::fabs(term);
            }
            ASSERT_NEAR(static_cast<double>(out[r * kTileVoxels + v]),
                        sum,
                        static_cast<double>(features + 1) * 0x1p-24 * size)
                << target << " " << features << " features, row " << r;
          }
        }
      }
    }
  });
}

TEST(SoftmaxScores, AgreesWithDoubleArithmeticForAnyScores) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kSizes) {
      for (const double spread : {1e-3, 5.0, 1e30}) {
        AlignedArray<float> scores = RandomRows(5, num_classes, spread);
        AlignedArray<int32_t> labels(kTileVoxels);
        Rng rng(6, 0);
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          labels[v] = static_cast<int32_t>(rng.Below(num_classes + 1)) - 1;
        }
        AlignedArray<float> probs(num_classes * kTileVoxels);
        AlignedArray<float> log_label(kTileVoxels);
        SoftmaxScores(scores.data(),
                      labels.data(),
                      num_classes,
                      kTileVoxels,
                      {probs.data(), log_label.data()});
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          double largest = static_cast<double>(scores[v]);
          for (int64_t c = 0; c < num_classes; ++c) {
            largest = std::max(largest, static_cast<double>(scores[c * kTileVoxels + v]));
          }
          double sum = 0.0;
          for (int64_t c = 0; c < num_classes; ++c) {
            sum += std::exp(static_cast<double>(scores[c * kTileVoxels + v]) - largest);
          }
          for (int64_t c = 0; c < num_classes; ++c) {
            const double log_q =
                static_cast<double>(scores[c * kTileVoxels + v]) - largest - std::log(sum);
            ASSERT_NEAR(static_cast<double>(probs[c * kTileVoxels + v]), std::exp(log_q), 2e-6)
                << target;
            if (labels[v] != c) continue;
            ASSERT_NEAR(static_cast<double>(log_label[v]), log_q, 1e-6 * (1.0 - log_q)) << target;
          }
          if (labels[v] == kNoLabel) {
            ASSERT_EQ(log_label[v], 0.0f);
          }
        }
      }
    }
  });
}

TEST(ResidualTile, SubtractsTheLabelAndLeavesOutTheUnlabelled) {
  ForEveryTarget([](const std::string&) {
    AlignedArray<float> probs = RandomRows(7, 4, 1.0);
    const AlignedArray<float> before = RandomRows(7, 4, 1.0);
    AlignedArray<int32_t> labels(kTileVoxels);
    for (int64_t v = 0; v < kTileVoxels; ++v) labels[v] = static_cast<int32_t>(v % 5) - 1;
    ResidualTile(labels.data(), 4, kTileVoxels, probs.data());
    for (int64_t v = 0; v < kTileVoxels; ++v) {
      for (int64_t c = 0; c < 4; ++c) {
        const float own = labels[v] == c ? 1.0f : 0.0f;
        const float expected = labels[v] == kNoLabel ? 0.0f : before[c * kTileVoxels + v] - own;
        ASSERT_EQ(probs[c * kTileVoxels + v], expected);
      }
    }
  });
}

// Property: products agree with double within the stated bound, for every count of voxels; lanes
// past the count do not matter as long as they are zero in one factor.
TEST(AddOuterProduct, AgreesWithDoubleArithmetic) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t rows : kSizes) {
      for (const int64_t count : kCounts) {
        AlignedArray<float> a = RandomRows(8, rows, 1.0);
        const AlignedArray<float> b = RandomRows(9, 6, 10.0);
        for (int64_t r = 0; r < rows; ++r) {
          std::fill(a.data() + r * kTileVoxels + count, a.data() + (r + 1) * kTileVoxels, 0.0f);
        }
        std::vector<double> sums(static_cast<size_t>(rows * 6), 0.25);
        AddOuterProduct(a.data(), rows, b.data(), 6, count, sums.data());
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t k = 0; k < 6; ++k) {
            double sum = 0.25;
            double size = 0.0;
            for (int64_t v = 0; v < count; ++v) {
              const double term = static_cast<double>(a[r * kTileVoxels + v]) *
                                  static_cast<double>(b[k * kTileVoxels + v]);
              sum += term;
              size += std::fabs(term);
            }
            ASSERT_NEAR(sums[static_cast<size_t>(r * 6 + k)], sum, 0x1p-19 * size) << target;
          }
        }
      }
    }
  });
}

// Columns that some group of rows has and another has not, none at all, and a last group that is
// not full.
struct SparseMatrix {
  SparseMatrix(int64_t num_rows, int64_t num_columns) {
    Rng rng(21, 0);
    weights.resize(static_cast<size_t>(num_rows * num_columns), 0.0f);
    pattern.begin.push_back(0);
    for (int64_t first = 0; first < num_rows; first += kSparseRows) {
      for (int64_t k = 0; k < num_columns; ++k) {
        if ((first / kSparseRows + k) % 3 != 0) continue;
        pattern.columns.push_back(static_cast<int32_t>(k));
        for (int64_t r = first; r < std::min(first + kSparseRows, num_rows); ++r) {
          weights[static_cast<size_t>(r * num_columns + k)] = static_cast<float>(rng.Normal());
        }
      }
      pattern.begin.push_back(static_cast<int32_t>(pattern.columns.size()));
    }
  }
  std::vector<float> weights;
  SparsePattern pattern;
};

TEST(AffineTile, HasTheSameBitsWithAPattern) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t features : kSizes) {
      for (const int64_t rows : kSizes) {
        const AlignedArray<float> x = RandomRows(2, features, 10.0);
        const SparseMatrix matrix(rows, features);
        std::vector<float> low = matrix.weights;
        for (float& w : low) w *= 0x1p-25f;
        for (const bool precise : {false, true}) {
          WeightMatrix weights{.high = matrix.weights.data(),
                               .low = precise ? low.data() : nullptr,
                               .num_rows = rows,
                               .num_columns = features};
          AlignedArray<float> dense(rows * kTileVoxels);
          AlignedArray<float> sparse(rows * kTileVoxels);
          AffineTile(x.data(), weights, kTileVoxels, dense.data());
          weights.pattern = &matrix.pattern;
          AffineTile(x.data(), weights, kTileVoxels, sparse.data());
          for (int64_t i = 0; i < rows * kTileVoxels; ++i) ASSERT_EQ(sparse[i], dense[i]) << target;
        }
      }
    }
  });
}

TEST(AddOuterProduct, AddsTheSameInsideAPatternAndNothingOutside) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t rows : kSizes) {
      for (const int64_t columns : kSizes) {
        const AlignedArray<float> a = RandomRows(8, rows, 1.0);
        const AlignedArray<float> b = RandomRows(9, columns, 10.0);
        const SparseMatrix matrix(rows, columns);
        std::vector<double> dense(matrix.weights.size(), 0.25);
        std::vector<double> sparse(matrix.weights.size(), 0.25);
        AddOuterProduct(a.data(), rows, b.data(), columns, kTileVoxels, dense.data());
        AddOuterProduct(
            a.data(), rows, b.data(), columns, kTileVoxels, sparse.data(), &matrix.pattern);
        for (size_t i = 0; i < sparse.size(); ++i) {
          ASSERT_EQ(sparse[i], matrix.weights[i] != 0.0f ? dense[i] : 0.25) << target;
        }
      }
    }
  });
}

}  // namespace
}  // namespace segcal
