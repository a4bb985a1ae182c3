// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine_exact.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kExactSizes[] = {1, 2, 4, 7, 20};
constexpr int64_t kExactCounts[] = {1, 32, 200, kTileVoxels};

template <class T>
AlignedArray<T> RandomLines(uint64_t seed, int64_t lines, double spread) {
  Rng rng(seed, 2);
  AlignedArray<T> values(lines * kTileVoxels);
  for (int64_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(spread * rng.Normal());
  return values;
}

// Weights that are zero but in some columns of every group of rows, or nowhere.
struct SomeWeights {
  SomeWeights(int64_t rows, int64_t columns, bool sparse) {
    Rng rng(3, 0);
    for (int64_t i = 0; i < rows * columns; ++i) values.push_back(rng.Normal());
    pattern.begin.push_back(0);
    for (int64_t r = 0; r < rows; r += kSparseRows) {
      for (int64_t k = 0; k < columns; ++k) {
        const bool kept = (r / kSparseRows + k) % 3 != 0;
        if (kept) pattern.columns.push_back(static_cast<int32_t>(k));
        for (int64_t i = r; sparse && !kept && i < std::min(r + kSparseRows, rows); ++i)
          values[static_cast<size_t>(i * columns + k)] = 0.0;
      }
      pattern.begin.push_back(static_cast<int32_t>(pattern.columns.size()));
    }
  }
  std::vector<double> values;
  SparsePattern pattern;
};

TEST(AffineTileExact, AgreesWithPlainSumsWithAndWithoutAPattern) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t columns : kExactSizes) {
      for (const int64_t rows : kExactSizes) {
        for (const bool sparse : {false, true}) {
          const AlignedArray<float> x = RandomLines<float>(2, columns, 10.0);
          const SomeWeights weights(rows, columns, sparse);
          AlignedArray<double> out(rows * kTileVoxels);
          AffineTileExact(x.data(),
                          weights.values.data(),
                          rows,
                          columns,
                          kTileVoxels,
                          sparse ? &weights.pattern : nullptr,
                          out.data());
          for (int64_t r = 0; r < rows; ++r) {
            for (int64_t v = 0; v < kTileVoxels; ++v) {
              double sum = 0.0;
              double absolute = 0.0;
              for (int64_t k = 0; k < columns; ++k) {
                const double term = weights.values[static_cast<size_t>(r * columns + k)] *
                                    static_cast<double>(x[k * kTileVoxels + v]);
                sum += term;
                absolute += std::fabs(term);
              }
              ASSERT_NEAR(out[r * kTileVoxels + v],
                          sum,
                          2.0 * static_cast<double>(columns + 1) * 0x1p-53 * absolute)
                  << target << " " << rows << " rows, " << columns << " columns";
            }
          }
        }
      }
    }
  });
}

TEST(ResidualExact, IsSoftmaxWithoutTheLabel) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t num_classes : kExactSizes) {
      for (const double spread : {1e-3, 5.0, 1e30}) {
        const AlignedArray<double> scores = RandomLines<double>(5, num_classes, spread);
        AlignedArray<double> residual = RandomLines<double>(5, num_classes, spread);
        AlignedArray<double> log_label(kTileVoxels);
        AlignedArray<int32_t> labels(kTileVoxels);
        Rng rng(6, 0);
        for (int64_t v = 0; v < kTileVoxels; ++v)
          labels[v] = static_cast<int32_t>(rng.Below(num_classes + 1)) - 1;
        ResidualExact(labels.data(), num_classes, kTileVoxels, residual.data(), log_label.data());
        for (int64_t v = 0; v < kTileVoxels; ++v) {
          double largest = scores[v];
          for (int64_t c = 0; c < num_classes; ++c)
            largest = std::max(largest, scores[c * kTileVoxels + v]);
          double sum = 0.0;
          for (int64_t c = 0; c < num_classes; ++c)
            sum += std::exp(scores[c * kTileVoxels + v] - largest);
          for (int64_t c = 0; c < num_classes; ++c) {
            const double log_q = scores[c * kTileVoxels + v] - largest - std::log(sum);
            const double own = labels[v] == c ? 1.0 : 0.0;
            const double expected = labels[v] == kNoLabel ? 0.0 : std::exp(log_q) - own;
            ASSERT_NEAR(residual[c * kTileVoxels + v], expected, 0x1p-50) << target;
            if (labels[v] == c) {
              ASSERT_NEAR(log_label[v], log_q, 1e-14 * (1.0 - log_q)) << target;
            }
          }
          if (labels[v] == kNoLabel) {
            ASSERT_EQ(log_label[v], 0.0);
          }
        }
      }
    }
  });
}

TEST(AddOuterProductExact, AgreesWithPlainSums) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t rows : kExactSizes) {
      for (const int64_t count : kExactCounts) {
        AlignedArray<double> a = RandomLines<double>(8, rows, 1.0);
        const AlignedArray<float> b = RandomLines<float>(9, 6, 10.0);
        for (int64_t r = 0; r < rows; ++r)
          std::fill(a.data() + r * kTileVoxels + count, a.data() + (r + 1) * kTileVoxels, 0.0);
        std::vector<double> sums(static_cast<size_t>(rows * 6), 0.25);
        AddOuterProductExact(a.data(), rows, b.data(), 6, count, sums.data());
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t k = 0; k < 6; ++k) {
            double sum = 0.25;
            double absolute = 0.25;
            for (int64_t v = 0; v < count; ++v) {
              const double term =
                  a[r * kTileVoxels + v] * static_cast<double>(b[k * kTileVoxels + v]);
              sum += term;
              absolute += std::fabs(term);
            }
            ASSERT_NEAR(sums[static_cast<size_t>(r * 6 + k)], sum, 1e-13 * absolute) << target;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace segcal
