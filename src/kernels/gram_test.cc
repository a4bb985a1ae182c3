// SPDX-License-Identifier: Apache-2.0
#include "kernels/gram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/tiles_for_test.h"

namespace segcal {
namespace {

constexpr int64_t kGramSizes[] = {1, 2, 5, 6, 7, 15, 16, 17, 31, 33, 64, 70};

AlignedArray<float> RandomGramRows(int64_t count, int64_t size) {
  Rng rng(31, static_cast<uint64_t>(size));
  const int64_t stride = GramStride(size);
  AlignedArray<float> rows(std::max<int64_t>(1, count * stride));
  for (int64_t i = 0; i < rows.size(); ++i)
    rows[i] = i % stride < size ? static_cast<float>(rng.Normal()) : 0.0f;
  return rows;
}

// Property: sums of products agree with double within the stated bound, and are added to what is
// there.
TEST(AddGram, AgreesWithDoubleArithmetic) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t size : kGramSizes) {
      const int64_t stride = GramStride(size);
      for (const int64_t count : {0, 1, 3, 100}) {
        const AlignedArray<float> rows = RandomGramRows(count, size);
        AlignedArray<float> gram(size * stride);
        std::fill_n(gram.data(), gram.size(), 0.25f);
        AddGram(rows.data(), count, size, stride, gram.data());
        for (int64_t i = 0; i < size; ++i) {
          for (int64_t j = i; j < size; ++j) {
            double sum = 0.25;
            double absolute = 0.25;
            for (int64_t k = 0; k < count; ++k) {
              const double term = static_cast<double>(rows[k * stride + i]) *
                                  static_cast<double>(rows[k * stride + j]);
              sum += term;
              absolute += std::fabs(term);
            }
            ASSERT_NEAR(static_cast<double>(gram[i * stride + j]),
                        sum,
                        static_cast<double>(count + 1) * 0x1p-24 * absolute)
                << target << " " << size << " " << i << " " << j;
          }
        }
      }
    }
  });
}

// X^T X + I, positive definite; what lies before the diagonal does not matter.
AlignedArray<double> RandomMatrix(int64_t size) {
  const int64_t stride = GramStride(size);
  const AlignedArray<float> rows = RandomGramRows(3, size);
  AlignedArray<double> matrix(size * stride);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < stride; ++j) {
      double& entry = matrix[i * stride + j];
      entry = j < i ? 7.0 : i == j ? 1.0 : 0.0;
      for (int64_t k = 0; k < 3 && j >= i; ++k)
        entry +=
            static_cast<double>(rows[k * stride + i]) * static_cast<double>(rows[k * stride + j]);
    }
  }
  return matrix;
}

TEST(SolveCholesky, SolvesWhatWasFactored) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t size : kGramSizes) {
      const int64_t stride = GramStride(size);
      const AlignedArray<double> matrix = RandomMatrix(size);
      AlignedArray<double> factor = RandomMatrix(size);
      AlignedArray<double> x(stride);
      for (int64_t i = 0; i < size; ++i) {
        for (int64_t j = 0; j < size; ++j) {
          const double entry = matrix[std::min(i, j) * stride + std::max(i, j)];
          x[i] += entry * std::sin(static_cast<double>(j));
        }
      }
      ASSERT_TRUE(FactorCholesky(size, stride, factor.data())) << target;
      SolveCholesky(size, stride, factor.data(), x.data());
      for (int64_t i = 0; i < stride; ++i) {
        const double expected = i < size ? std::sin(static_cast<double>(i)) : 0.0;
        ASSERT_NEAR(x[i], expected, 1e-12) << target << " " << size << " " << i;
      }
    }
  });
}

TEST(FactorCholesky, RefusesWhatIsNotPositiveDefinite) {
  ForEveryTarget([](const std::string& target) {
    for (const int64_t size : kGramSizes) {
      const int64_t stride = GramStride(size);
      AlignedArray<double> matrix = RandomMatrix(size);
      matrix[(size - 1) * stride + size - 1] = 0.0;
      EXPECT_FALSE(FactorCholesky(size, stride, matrix.data())) << target << " " << size;
    }
  });
}

}  // namespace
}  // namespace segcal
